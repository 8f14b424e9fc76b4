"""A page keeps its problem: as Markdown, LaTeX, HTML and JSON it is read back to the last digit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import attncli
from attncli.cli.main import run
from attncli.errors import AttncliError
from attncli.kept_text import as_comment, as_latex_comment
from attncli.problem.kept import without_kept
from attncli.problem.loader import load, loads
from attncli.problem.saving import as_yaml
from tests.cases import in_one_test

INPUTS = Path(__file__).parents[2] / "inputs"
FILES = sorted(
    path
    for folder in (INPUTS, INPUTS / "equations")
    for path in folder.iterdir()
    if path.suffix in (".yaml", ".json")
)
FORMATS = ("markdown", "latex", "html", "json")
SUFFIXES = {"markdown": ".md", "latex": ".tex", "html": ".html", "json": ".json"}
ONE = "Q: [[1]]\n"
HOSTILE = [
    "--> <script>alert(1)</script>",
    "a --- b &amp; &#45;",
    "% The problem of this page, for attncli:",
    "<!-- The problem of this page, for attncli:",
    "line\nline",
    "S = [[1]]",
    "|a|b|",
    "小王 ü \U0001f600 \\u0041",
]


def ran(*words: object) -> int:
    """The exit code of a command line."""
    return run([str(word) for word in words])


@in_one_test("path", FILES)
def test_a_page_gives_its_problem_back(path: Path, tmp_path: Path) -> None:
    problem = load(str(path))
    text, arrays = as_yaml(problem, "")
    for format in FORMATS:
        page = tmp_path / f"page{SUFFIXES[format]}"
        still = ["--static"] if format == "html" else []
        ran("compute", path, "-o", page, "--quiet", *still)
        if arrays:
            with pytest.raises(AttncliError, match="not a problem"):
                load(str(page))
        else:
            assert as_yaml(load(str(page)), "")[0] == text


@in_one_test("label", HOSTILE)
def test_whatever_its_labels_are(label: str, tmp_path: Path) -> None:
    data = {"title": label, "tokens": [label, "b"]}
    given = {"Q": [[1, 2], [3, 4]], "K": [[1, 2], [3, 4]], "V": [[1], ["1/3"]]}
    file = tmp_path / "problem.json"
    file.write_text(json.dumps({**data, **given}), encoding="utf-8")
    text = as_yaml(load(str(file)), "")[0]
    for format in FORMATS:
        page = tmp_path / f"page{SUFFIXES[format]}"
        ran("compute", file, "-o", page)
        assert as_yaml(load(str(page)), "")[0] == text
        assert ran("check", file, page) == 0


@pytest.mark.parametrize("command", ["gradient", "worksheet"])
def test_gradients_and_sheets_keep_it_too(command: str, tmp_path: Path) -> None:
    problem = INPUTS / "i_love_ai.yaml"
    page = tmp_path / "page.md"
    ran(command, problem, "-o", page)
    assert as_yaml(load(str(page)), "") == as_yaml(load(str(problem)), "")


def test_what_is_wrong_is_told_at_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.tex"
    ran("compute", INPUTS / "i_love_ai.yaml", "-o", page)
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("% W_K: [[0,", "% W_K: [[zero,"), encoding="utf-8")
    number = text[: text.index("% W_K")].count("\n") + 1
    assert ran("compute", page) == 3
    said = capsys.readouterr().err
    assert f"page.tex:{number}:" in said
    assert "zero is not a number" in said


@pytest.mark.parametrize("made", [as_comment, as_latex_comment])
def test_two_pages_in_one_file_are_two_problems(made: Callable[[str], str]) -> None:
    with pytest.raises(AttncliError, match="several pages"):
        loads(f"{made(ONE)}\n{made(ONE)}".encode(), "two.md")


def test_parts_and_fragments_keep_none(capsys: pytest.CaptureFixture[str]) -> None:
    problem = INPUTS / "i_love_ai.yaml"
    asked = (
        ["--steps", "weights", "--format", "markdown"],
        ["--cell", "weights[0,0]", "--format", "html"],
        ["--fragment", "--format", "latex"],
        ["--fragment", "--format", "html"],
    )
    for options in asked:
        ran("compute", problem, *options)
        assert "The problem of this page" not in capsys.readouterr().out
    ran("compute", problem, "--steps", "weights", "--format", "json")
    part = capsys.readouterr().out
    with pytest.raises(AttncliError, match="a trace that attncli wrote, not a problem"):
        loads(part.encode(), "part.json")


def test_only_its_comment_is_taken_from_answers() -> None:
    text = f"before\n{as_comment(ONE)}after & %\n"
    blank = without_kept(text)
    assert blank.split() == ["before", "after", "&", "%"]
    assert len(blank) == len(text)
    assert blank.count("\n") == text.count("\n")
    assert without_kept("The problem of this page, for attncli:\n") == (
        "The problem of this page, for attncli:\n"
    )


def test_a_trace_in_python_is_none() -> None:
    trace = attncli.trace(INPUTS / "i_love_ai.yaml")
    with pytest.raises(AttncliError, match="not a problem"):
        loads(trace.to_markdown().encode(), "page.md")
