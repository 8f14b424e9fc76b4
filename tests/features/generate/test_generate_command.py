"""`attncli generate` writes a set of problems whole or not at all, and says what a problem can
show.
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import attncli
from attncli.cli.input import change
from attncli.cli.main import run
from attncli.cli.overrides import Overrides
from attncli.errors import Exit, usage_error
from attncli.features.generate.drawing import Draws
from attncli.features.generate.search import Search
from attncli.problem.parts.masks import forms
from tests.paper import printed

LOVE = str(Path(__file__).parents[3] / "inputs" / "i_love_ai.yaml")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def contents(folder: str) -> dict[str, bytes]:
    found = (path for path in Path(folder).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.mark.long
def test_a_set(capsys: pytest.CaptureFixture[str]) -> None:
    Path("names.csv").write_text(
        'group,name\nA,Ada Lovelace\nB,"=cmd();\'x"\nB,李\n', encoding="utf-8"
    )
    line = [
        "generate",
        "--seed",
        "midterm",
        "--roster",
        "names.csv",
        "--ask",
        "weights,output",
        "--mask",
        "causal",
    ]
    assert run([*line, "-d", "set", "--title", "Midterm"]) == 0
    assert capsys.readouterr() == (
        "",
        (
            "attncli: warning: TeX's basic fonts lack letters of some names, so the .tex files of"
            " 李 have a line for the name instead; the .html files show all letters\n"
        ),
    )
    sheets = [Path(f"set/worksheets/{file}") for file in ("01-ada-lovelace.tex", "03-李.tex")]
    ada, li = (sheet.read_text(encoding="utf-8") for sheet in sheets)
    assert "Midterm -- Ada Lovelace" in ada
    assert "Name:" not in ada
    assert "Date: ..." in ada
    # TeX has no letters for this name, so its line is there.
    assert r"{\LARGE\bfseries Midterm\par}" in li
    assert "Name: ..." in li
    assert "Name:" not in Path("set/worksheets/03-李.md").read_text(encoding="utf-8")
    assert run([*line, "-d", "set2", "-q"]) == 0
    assert capsys.readouterr() == ("", "")
    files = contents("set")
    bases = ["01-ada-lovelace", "02-cmd-x", "03-李"]
    assert {name.split("/")[0] for name in files} == {
        "problems",
        "answers",
        "worksheets",
        "keys",
        "manifest.csv",
        "marking.yaml",
        "sheets.tex",
        "sheets.html",
        "keys.tex",
        "keys.html",
    }
    for name in ("sheets", "keys"):
        whole = files[f"{name}.tex"].decode()
        assert [
            f"{who} page" in whole.replace("\\quad", "") for who in ("01 Ada Lovelace", "03")
        ] == [
            True,
            True,
        ]
        assert "李" not in whole
        assert "03 李" in files[f"{name}.html"].decode()
    for base in bases:
        for name in (
            f"problems/{base}.yaml",
            f"answers/{base}.yaml",
            f"worksheets/{base}.tex",
            f"keys/{base}.md",
        ):
            assert name in files
    rows = list(csv.reader(files["manifest.csv"].decode().splitlines()))
    assert rows[0] == ["student", "problem", "answers", "group"]
    assert [row[3] for row in rows[1:]] == ["A", "B", "B"]
    assert [row[0] for row in rows[1:]] == ["Ada Lovelace", "'=cmd();'x", "李"]
    assert [row[1:3] for row in rows[1:]] == [
        [f"problems/{base}.yaml", f"answers/{base}.yaml"] for base in bases
    ]
    assert yaml.safe_load(files["marking.yaml"]) == {
        "marks": 20,
        "decimals": 2,
        "steps": {"weights": 9, "output": 11},
        "mistake": 2,
        "slip": 1,
        "digit": 0.5,
    }
    problem = yaml.safe_load(files["problems/02-cmd-x.yaml"])
    assert (problem["title"], problem["mask"]) == ("Midterm – =cmd();'x", "causal")
    assert list(yaml.safe_load(files["answers/03-李.yaml"])) == ["weights", "output"]
    # The mask hides keys, so the sheet and the file say what is written there.
    assert b"# Where the mask hides a key, write 0" in files["answers/03-李.yaml"]
    sheet = files["worksheets/01-ada-lovelace.tex"].decode()
    assert "the weight is 0: write 0." in " ".join(sheet.split())
    sheet, key = (
        files["worksheets/01-ada-lovelace.md"].decode(),
        files["keys/01-ada-lovelace.md"].decode(),
    )
    assert "mistake" not in sheet
    assert "## What the numbers say about mistakes" in key
    both = "the scores were divided by $`d_{k}`$, not by its root · the scores were scaled twice"
    assert both in key
    assert "Give 2 decimals, as in 0.12;" in sheet
    # Of 20 marks, 16 numbers have 9, and 20 have 11.
    asked = "Hand in the attention weights (9 marks) and the output (11 marks). The other steps"
    assert asked in sheet
    assert "But an error in one of them costs marks, once." in sheet
    assert "Marks: ........ of 20" in sheet


@pytest.mark.long
def test_the_answers_are_read_and_the_key_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["generate", "--seed", "s", "--count", "1", "-d", "set", "--ask", "output"]) == 0
    trace = attncli.trace("set/problems/student-01.yaml")
    rows = [[f"{number:.2f}" for number in row] for row in trace["output"].tolist()]
    Path("right.yaml").write_text(yaml.safe_dump({"output": rows}), encoding="utf-8")
    assert run(["check", "set/problems/student-01.yaml", "right.yaml"]) == 0
    # all blank
    assert run(["check", "set/problems/student-01.yaml", "set/answers/student-01.yaml"]) == 1
    capsys.readouterr()


MASKS = {  # every form and shape of a mask of four tokens
    "causal": "causal",
    "none": "none",
    "corner": "causal: true\ncorner: bottom-right",
    "window": "{window: [1, 0]}",
    "several": "[causal, {window: [2, -1]}]",
    "lengths": "{lengths: 3}",
    "documents": "[causal, {documents: [0, 0, 1, 1]}]",
    "chunk": "{causal: true, chunk: 2}",
    "any": "{any: [{window: [0, 0]}, {first: 1}]}",
    "padding": "{padding: [1, 1, 1, 0]}",
    "keep": "{keep: [[1, 1, 0, 0], [1, 1, 0, 1], [1, 1, 1, 0], [1, 1, 1, 1]]}",
    "keep of a head": "{keep: [[[1, 1, 0, 0], [1, 1, 0, 1], [1, 1, 1, 0], [1, 1, 1, 1]]]}",
    "hide of an entry": "{hide: [[[[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0]]]]}",
    "numbers": "[[0, -1, 0, 0.25], [0, 0, 1/3, 0], [0, 0, 0.5, 0], [-.inf, 0, 0, 0]]",
    "drawn": "{additive: {random: [4, 4], seed: 1}}",
    "pasted": "|\n 0 1 0 0\n 0 0 2 0\n 0 0 0 0.5\n 0 0 0 0",
    "in a file": "{keep: {file: mask.npy}}",
}
LAYERS = {
    "": [],
    "heads": ["--heads", "2"],
    "qkv": ["--given", "qkv"],
    "qkv, heads": ["--given", "qkv", "--heads", "2"],
}


def test_every_form_of_a_mask_is_tried() -> None:
    assert not {form for form in forms() if not any(form in text for text in MASKS.values())}


def every_mask_in_turn() -> Iterator[Any]:
    """Each mask with two layers, one of them in the slow tier."""
    layers = [*LAYERS]
    for number, mask in enumerate(MASKS):
        yield pytest.param(mask, layers[number % len(layers)])
        yield pytest.param(mask, layers[(number + 1) % len(layers)], marks=pytest.mark.slow)


@pytest.mark.long
@pytest.mark.sampled(4)
@pytest.mark.parametrize(("mask", "layer"), [*every_mask_in_turn()])
def test_a_set_with_any_mask_is_whole_and_its_keys_are_right(
    mask: str, layer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every problem has the mask that was asked for, though the set is in another folder than a
    file that it names.
    """
    np.save("mask.npy", np.tri(4) > 0)
    line = [
        "generate",
        "--seed",
        "s",
        "--count",
        "1",
        "-d",
        "set",
        "--mask",
        MASKS[mask],
        *LAYERS[layer],
    ]
    assert run(line) == 0
    assert capsys.readouterr() == ("", "")
    problem = "set/problems/student-01.yaml"
    asked = attncli.trace(problem)
    given = change(
        attncli.load({**yaml.safe_load(Path(problem).read_text()), "mask": "none"}),
        Overrides(mask=MASKS[mask]),
    )
    assert np.array_equal(asked["weights"], attncli.trace(given)["weights"])
    for suffix in (".md", ".tex"):
        assert run(["check", problem, f"set/keys/student-01{suffix}"]) == 0
        assert (
            run(
                [
                    "check",
                    problem,
                    f"set/worksheets/student-01{suffix}",
                    "-o",
                    f"sheet{suffix}.json",
                ]
            )
            == 1
        )
        counts = json.loads(Path(f"sheet{suffix}.json").read_text())["counts"]
        # A mask that is given as a matrix is filled in.
        assert {verdict for verdict, cells in counts.items() if cells} <= {"missing", "right"}
        assert counts["missing"] >= asked["output"].size


@pytest.mark.long
@pytest.mark.at_most(10)
@pytest.mark.sampled(2)
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("step", ["mask", "masked", "exp", "weights", "output"])
def test_any_step_can_be_asked_for(
    step: str, layer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also one that is the same for all students, and one with cells that a mask hides."""
    line = ["generate", "--seed", "s", "--count", "1", "-d", "set", "--mask", "causal"]
    assert run([*line, "--ask", step, *LAYERS[layer]]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.long
def test_the_same_seed_gives_the_same_bytes_and_others_do_not() -> None:
    for folder, seed, count in (("one", "a", "1"), ("two", "a", "2"), ("three", "b", "1")):
        assert run(["generate", "--seed", seed, "--count", count, "-d", folder]) == 0
    one, two, three = contents("one"), contents("two"), contents("three")
    of_each = {name: data for name, data in one.items() if "student-01" in name}
    assert len(of_each) == 8
    assert {name: two[name] for name in of_each} == of_each
    assert two["problems/student-01.yaml"] != two["problems/student-02.yaml"]
    assert one["problems/student-01.yaml"] != three["problems/student-01.yaml"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--count", "2", "-d", "set"], "--seed is missing"),
        (["--seed", "a", "--count", "2"], "-d is missing"),
        (["--seed", "a", "-d", "set"], "--count or --roster is missing"),
        (
            ["--seed", "a", "-d", "set", "--count", "2", "--roster", "names.csv"],
            "--count cannot be used with --roster",
        ),
        (["--seed", "a", "-d", "set", "--count", "0"], "--count cannot be '0'"),
        (
            ["--seed", "a", "-d", "set", "--count", "2", "--dims", "4,2,3"],
            "--dims has 3 sizes, not 4",
        ),
        (
            ["--seed", "a", "-d", "set", "--count", "2", "--dims", "1,2,3,4"],
            "--dims: n cannot be '1'",
        ),
        (["--seed", "a", "-d", "set", "--count", "2", "--ask", "loss"], "loss"),
        (["--seed", "a", "-d", "set", "--count", "2", "--ask", "X"], "X cannot be blank"),
        (["--seed", "a", "-d", "set", "--count", "2", "--mask", "[[true]]"], "mask"),
        (["--seed", "a", "-d", "full", "--count", "2"], "-d full: this folder is not empty"),
        (["--seed", "a", "-d", "", "--count", "2"], "-d needs the name of a folder"),
        (
            ["--seed", "a", "-d", "set", "--count", "2", "-o", "x.md"],
            "-o cannot be used with a set of problems",
        ),
        (["--audit", LOVE, "--seed", "a"], "--audit cannot be used with --seed"),
        (["--audit", LOVE, "--ask", "nothing"], "nothing"),
    ],
)
def test_wrong_usage(options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("full").mkdir()
    Path("full/mine.txt").write_text("mine")
    assert run(["generate", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert sorted(path.name for path in Path().rglob("*")) == ["full", "mine.txt"]


@pytest.mark.long
def test_a_set_is_written_whole_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = Search.problem

    def second_fails(self: Search, key: list[object], title: str) -> object:
        if key[-1] == "2":
            raise usage_error("no problem serves")
        return drawn(self, key, title)

    monkeypatch.setattr(Search, "problem", second_fails)
    assert run(["generate", "--seed", "a", "--count", "2", "-d", "in/set"]) == 2
    assert "no problem serves" in capsys.readouterr().err
    assert list(Path().iterdir()) == []


@pytest.mark.long
def test_a_place_where_nothing_can_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    Path("file").write_text("mine")
    assert run(["generate", "--seed", "a", "--count", "1", "-d", "file"]) == Exit.FILE
    assert run(["generate", "--seed", "a", "--count", "1", "-d", "file/set"]) == Exit.FILE
    assert capsys.readouterr().err.count("cannot write") == 2


def test_sizes_that_cannot_serve(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("attncli.features.generate.search._BLOCKS_WITHOUT", 1)
    assert run(["generate", "--seed", "a", "--count", "1", "-d", "set", "--dims", "16,1,1,1"]) == 2
    assert "no problem of 1,024 that were drawn has small scores" in capsys.readouterr().err


@pytest.mark.long
def test_sizes_that_can_be_known_not_to_serve_are_refused_after_one_block(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = []
    block_of = Search._block

    def counted(self: Search, key: Sequence[object], block: int) -> Draws:
        blocks.append(block)
        return block_of(self, key, block)

    monkeypatch.setattr(Search, "_block", counted)
    sizes = ["--dims", "16,16,16,16", "--heads", "8", "--mask", "causal"]
    assert run(["generate", "--seed", "a", "--count", "1", "-d", "set", *sizes]) == Exit.USAGE
    assert blocks == [0]
    assert "no problem of 1,024 that were drawn has small scores" in capsys.readouterr().err


def test_why_a_division_does_not_show(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.yaml").write_text(
        "X: [[1, 0, 2, 1], [0, 1, 1, 2], [2, 1, 0, 1]]\nW_Q: [[1, 0], [0, 1], [1, 0], [0, 1]]\n"
        "W_K: [[0, 1], [1, 0], [1, 1], [0, 1]]\nW_V: [[1, 0], [0, 2], [1, 0], [0, 1]]\n"
    )
    assert run(["generate", "--audit", "p.yaml"]) == 0
    page = capsys.readouterr().out
    assert "hide some divisions: the root of d_model is d_k = 2." in page
    assert "n = d_k" not in page


def test_what_a_problem_can_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["generate", "--audit", LOVE]) == 0
    page = capsys.readouterr().out
    same = page.partition("the right numbers here:")[2].partition("These change")[0]
    assert "the scores were divided by √n\n" in same
    assert "Sizes that are equal hide some divisions: n = d_k = 3." in page
    assert (
        run(
            [
                "generate",
                "--audit",
                LOVE,
                "--format",
                "json",
                "--ask",
                "weights,output",
                "--decimals",
                "3",
            ]
        )
        == 0
    )
    data = json.loads(capsys.readouterr().out)
    assert (data["title"], data["step"], data["decimals"]) == ("I love AI", "output", 3)
    assert "the scores were divided by the root of n" in data["same"]
    assert ["W_Q and W_K were swapped", "K Q^T was worked out instead of Q K^T"] in data["alike"]


@pytest.mark.parametrize("quiet", [[], ["-q"], ["--quiet"]])
def test_an_audit_warns_like_other_commands(
    quiet: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("p.yaml").write_text(
        "Q: [[1, 2], [0, 1]]\nK: [[1, 2], [0, 1]]\nV: [[1, 2], [0, 1]]\nmask: {hide: [[true, true],"
        " [false, false]]}\n"
    )
    assert run(["generate", "--audit", "p.yaml", *quiet]) == 0
    assert ('query "t1" (row 0) sees no key' in capsys.readouterr().err) == (not quiet)


@pytest.mark.long
@pytest.mark.parametrize("there", [True, False])
def test_a_class_as_pdf(
    there: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without TeX nothing is drawn; with it, a student has two pages at most, and a key one."""
    if not there:
        monkeypatch.setenv("PATH", "")
    elif not (shutil.which("pdflatex") and shutil.which("pdfinfo")):
        pytest.skip("no TeX, or no pdfinfo")
    done = run(["generate", "--seed", "s", "--count", "2", "-d", "set", "--pdf"])
    if not there:
        assert done == Exit.MISSING
        assert "needs TeX" in capsys.readouterr().err
        assert not Path("set").exists()
        return
    assert done == 0
    for name, most in (("sheets.pdf", 4), ("keys.pdf", 2)):
        said = subprocess.run(["pdfinfo", f"set/{name}"], capture_output=True, check=True).stdout
        assert 2 <= int(said.partition(b"Pages:")[2].split()[0]) <= most


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("given", ["x", "qkv"])
def test_a_class_on_paper_by_a_browser(given: str, tmp_path: Path) -> None:
    """A student has two pages, and begins on a new one."""
    folder = tmp_path / "set"
    drawn = ["--seed", "s", "--count", "3", "--given", given]
    assert run(["generate", *drawn, "-d", str(folder)]) == 0
    for name in ("sheets", "keys"):
        assert len(printed(folder / f"{name}.html")) == 3 * 2
    [first, *_] = sorted((folder / "worksheets").glob("*.html"))
    assert len(printed(first)) == 2
