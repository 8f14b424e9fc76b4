"""`attncli compute` refuses what makes no sense before it works, and puts the page where it was
asked for.
"""

import json
import os
import sys
from pathlib import Path

import pytest

from attncli.cli.main import run
from attncli.render import PAGES, Format

PROBLEM = "tokens: [a, b]\nQ: [[1, 0], [0, 1]]\nK: [[1, 0], [0, 1]]\nV: [[1, 2], [3, 4]]\n"


@pytest.fixture
def problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a small problem in it."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "p.yaml"
    path.write_text(PROBLEM)
    return path


@pytest.mark.parametrize(
    ("options", "message", "help"),
    [
        ("--precision 16", "--precision cannot be '16'", "give a whole number from 0 to 15"),
        ("--detail all", "--detail cannot be 'all'", "choose brief, rows or cells"),
        ("--detail=", "--detail cannot be ''", "choose brief, rows or cells"),
        ("--math=", "--math cannot be ''", "choose fences or dollars"),
        ("--dtype flaot32", "--dtype cannot be 'flaot32'", "did you mean float32?"),
        ("--device gpu0", "--device cannot be 'gpu0'", "did you mean gpu?"),
        ("--as tourch", "--as cannot be 'tourch'", "did you mean torch?"),
        ("--color no", "--color cannot be 'no'", "choose auto, always or never"),
        ("--head one", "--head cannot be 'one'", "give a whole number: --head 0 is the first"),
        ("--head 0", "--head needs a problem with a head axis", "leave out --head"),
        ("--entry -1", "--entry needs a problem with an entry axis", "leave out --entry"),
        (
            "--steps ,",
            "--steps has an empty name in ','",
            "put one comma between names: --steps weights,output",
        ),
        (
            "--cell scores[0,0] --steps scores",
            "--cell cannot be used with --steps",
            "--cell works one cell in full; leave out one of the two",
        ),
        (
            "--cell scores[0,0] --detail rows",
            "--cell cannot be used with --detail",
            "--cell works one cell in full; leave out one of the two",
        ),
        (
            "--math dollars",
            "--math cannot be used with --format table",
            "--math is for --format markdown",
        ),
        (
            "--no-title",
            "--no-title cannot be used with --format table",
            "--no-title is for --format markdown, latex, html or pdf",
        ),
        (
            "-o step-{n}.tex",
            "-o step-{n}.tex cannot be used with a page in one file",
            "--fragment writes each section to a file of its own: -o step-{n}.tex",
        ),
        (
            "--fragment -o a.txt",
            "--fragment cannot be used with --format table",
            "--fragment is for --format markdown, latex or html",
        ),
        (
            "--heatmap --format json",
            "--heatmap cannot be used with --format json",
            "JSON holds the numbers themselves; leave out --heatmap",
        ),
        (
            "--rounding paper --dtype float32",
            "--rounding paper cannot be used with --dtype float32",
            "paper uses decimal numbers on the CPU; leave out one of the two",
        ),
        (
            "--rounding paper --device gpu",
            "--rounding paper cannot be used with --device gpu",
            "paper uses decimal numbers on the CPU; leave out one of the two",
        ),
        (
            "--rounding exact --dtype float16",
            "--rounding exact cannot be used with --dtype float16",
            "exact numbers have no number format and need the CPU; leave out one of the two",
        ),
        (
            "--rounding exact --device gpu",
            "--rounding exact cannot be used with --device gpu",
            "exact numbers have no number format and need the CPU; leave out one of the two",
        ),
        (
            "-o p.yaml --format json",
            "-o p.yaml would write over the problem itself",
            "give the output another name",
        ),
    ],
)
def test_wrong_usage(
    options: str, message: str, help: str, problem: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compute", "p.yaml", *options.split(" ")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"attncli: error: {message}\nhelp: {help}\n"
    assert problem.read_text() == PROBLEM
    assert os.listdir() == ["p.yaml"]


def test_an_output_that_cannot_be_written_is_told_before_any_work(
    problem: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compute", "missing.yaml", "-o", "no/a.md"]) == 4
    assert (
        capsys.readouterr().err
        == "attncli: error: cannot write no/a.md: there is no folder no\nhelp: make the folder with"
        " mkdir no, or write to another place with -o FILE\n"
    )


def test_a_page_on_standard_output(problem: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compute", "p.yaml", "--steps", "scores", "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["steps"]["scores"]["value"] == [[1, 0], [0, 1]]
    assert err == ""


@pytest.mark.parametrize(
    ("name", "start"),
    [("a.txt", ""), ("a.md", "# "), ("a.tex", "\\documentclass"), ("a.json", "{\n"), ("a", "")],
)
def test_a_page_in_a_file(
    name: str, start: str, problem: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compute", "p.yaml", "-o", name]) == 0
    assert capsys.readouterr() == ("", "")
    text = Path(name).read_text("utf-8")
    assert text.removeprefix("% ").lstrip().startswith(start) or start in text[:400]
    assert text.endswith("\n")
    assert "\x1b" not in text
    assert sorted(os.listdir()) == sorted([name, "p.yaml"])


def test_the_problem_on_standard_input(
    problem: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with problem.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert run(["compute", "-", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["tokens"] == ["a", "b"]


def test_mask_and_scale_replace_those_of_the_file(
    problem: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compute", "p.yaml", "--mask", "causal", "--scale", "2", "--format", "json"]) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert steps["masked"]["value"] == [[2, "-Infinity"], [0, 2]]


BLIND = PROBLEM + "mask: {hide: [[true, true], [false, false]]}\n"
BLIND_WARNING = (
    'attncli: warning: query "a" (row 0) sees no key: its weights and its output are 0\n'
)


@pytest.mark.parametrize(("quiet", "err"), [([], BLIND_WARNING), (["-q"], "")])
def test_warnings_are_told_beside_the_data(
    quiet: list[str], err: str, problem: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem.write_text(BLIND)
    assert run(["compute", "p.yaml", "--format", "json", *quiet]) == 0
    captured = capsys.readouterr()
    assert captured.err == err
    assert json.loads(captured.out)["fully_masked"] == [0]


@pytest.mark.parametrize(
    ("option", "message", "help"),
    [
        ("--steps=weihgts", "no step is called 'weihgts'", "did you mean weights?"),
        (
            "--steps=masked",
            "this problem has no step masked",
            "its steps are Q, K, V, K_T, scores, ",
        ),
        (
            "--cell=scores",
            "--cell 'scores' is not of the form step[row,column]",
            "for example --cell 'scores[0,1]'",
        ),
    ],
)
def test_a_step_that_is_not_there(
    option: str, message: str, help: str, problem: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem.rename("q.yaml")
    assert run(["compute", "q.yaml", option, "-o", "a.md"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    first, second = err.splitlines()
    assert first == f"attncli: error: {message}"
    assert second.startswith(f"help: {help}")
    assert os.listdir() == ["q.yaml"]


def test_bad_input_writes_nothing_and_keeps_the_old_file(
    problem: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem.write_text("Q: [[1, x]]\nK: [[1, 0]]\nV: [[1]]\n")
    Path("a.md").write_text("old")
    assert run(["compute", "p.yaml", "-o", "a.md"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[0].startswith("attncli: error: p.yaml:1:9: Q[0][1]: ")
    assert Path("a.md").read_text() == "old"
    assert sorted(os.listdir()) == ["a.md", "p.yaml"]


@pytest.mark.parametrize(("convention", "mask"), [("onnx", "additive"), ("keras", "keep")])
def test_as_is_told_on_the_page_and_in_the_settings(
    problem: Path, capsys: pytest.CaptureFixture[str], convention: str, mask: str
) -> None:
    problem.write_text(f"{PROBLEM}mask: [[1, 0], [1, 1]]\n")
    assert run(["compute", "p.yaml"]) == 3
    assert run(["compute", "p.yaml", "--as", convention, "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["settings"]["mask"], data["settings"]["convention"]) == ([mask], convention)
    assert run(["compute", "p.yaml", "--as", convention]) == 0
    assert f"mask: {mask}, as {convention} reads it." in " ".join(capsys.readouterr().out.split())


def test_without_as_no_convention_is_told(
    problem: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compute", "p.yaml", "--mask", "causal", "--format", "json"]) == 0
    assert "convention" not in json.loads(capsys.readouterr().out)["settings"]


@pytest.mark.parametrize(("head", "there"), [("-1", "-1"), ("4", "4"), ("0999999", "999999")])
def test_a_head_that_is_not_there_is_told_with_those_that_are(
    head: str, there: str, problem: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem.write_text("heads: 4\nQ: {random: [2, 8]}\nK: {random: [2, 8]}\nV: {random: [2, 8]}\n")
    assert run(["compute", "p.yaml", "--head", head]) == 2
    assert (
        capsys.readouterr().err
        == f"attncli: error: --head {there} does not exist: there are 4 heads\nhelp: use 0 to 3\n"
    )


@pytest.mark.parametrize(
    ("is_data", "help"),
    [
        (False, "--heatmap is for --format table, markdown, latex, html or pdf"),
        (True, "RST holds the numbers themselves; leave out --heatmap"),
    ],
)
def test_a_format_that_says_nothing_of_shades_takes_no_heatmap(
    is_data: bool,
    help: str,
    problem: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(PAGES, "rst", Format("attncli.render.markdown", (".rst",), is_data=is_data))
    assert run(["compute", "p.yaml", "--heatmap", "-o", "a.rst"]) == 2
    assert (
        capsys.readouterr().err
        == f"attncli: error: --heatmap cannot be used with --format rst\nhelp: {help}\n"
    )
