"""`attncli export`: where it writes, and what it refuses before it writes anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from exports import INPUTS

from attncli.cli.main import run

LOVE, CAUSAL = str(INPUTS / "i_love_ai.yaml"), str(INPUTS / "causal.yaml")


@pytest.mark.parametrize(
    ("name", "begins"),
    [("q.xml", "<?xml"), ("q.Rmd", "Question\n========"), ("q.txt", "Quiz title: Attention")],
)
def test_the_name_says_the_platform(tmp_path: Path, name: str, begins: str) -> None:
    assert run(["export", LOVE, "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)


def test_a_file_for_each_problem(tmp_path: Path) -> None:
    assert run(["export", LOVE, CAUSAL, "-o", str(tmp_path / "p-{n}.Rmd")]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p-1.Rmd", "p-2.Rmd"]
    assert "exname: I love AI from left to right" in (tmp_path / "p-2.Rmd").read_text(
        encoding="utf-8"
    )


def test_warnings_name_their_file(capsys: pytest.CaptureFixture[str]) -> None:
    masked = str(INPUTS / "fully_masked.yaml")
    assert run(["export", LOVE, masked, "--to", "moodle"]) == 0
    assert capsys.readouterr().err.startswith(f"attncli: warning: {masked}: ")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([LOVE], 2, "--to is missing\nhelp: choose a platform: --to moodle, rexams or canvas"),
        ([LOVE, "-o", "q.zip"], 2, "-o q.zip: this command does not write .zip files"),
        ([LOVE, "--to", "blackboard"], 2, "--to cannot be 'blackboard'"),
        ([LOVE, CAUSAL, "--to", "rexams"], 2, "R/exams has one problem in a file"),
        (["-", "-", "--to", "moodle"], 2, "standard input cannot be several files"),
        (
            [LOVE, "--to", "canvas", "--precision", "4"],
            2,
            "--precision 4 cannot be used with --to canvas",
        ),
        ([LOVE, "--to", "moodle", "--precision", "0"], 2, "--precision cannot be '0'"),
        ([LOVE, "--to", "moodle", "--tolerance", "0"], 2, "--tolerance cannot be '0'"),
        ([LOVE, "--to", "moodle", "--category", " "], 2, "--category is empty"),
        (
            [LOVE, "--to", "moodle", "--ask", "X"],
            2,
            f"{LOVE}: X cannot be asked for: the problem gives it",
        ),
        ([LOVE, "--to", "moodle", "--ask", "wieghts"], 2, "no step is called 'wieghts'"),
        ([LOVE, "--to", "moodle", "-o", LOVE], 2, f"-o {LOVE} would write over the problem itself"),
        (["missing.yaml", "--to", "moodle"], 4, "missing.yaml"),
    ],
)
def test_what_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    assert run(["export", *arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def refused(tmp_path: Path, problem: str, *arguments: str) -> int:
    file, output = tmp_path / "p.yaml", tmp_path / "q.xml"
    file.write_text(problem)
    code = run(["export", str(file), "-o", str(output), *arguments])
    assert not output.exists()
    return code


def test_too_many_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "[[1]" + ", [1]" * 19 + "]"
    assert refused(tmp_path, f"Q: {rows}\nK: {rows}\nV: {rows}\n") == 2
    assert (
        "420 numbers would be asked for, and a question has at most 300" in capsys.readouterr().err
    )


def test_numbers_that_nobody_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(tmp_path, "Q: [[1]]\nK: [[1]]\nV: [[1e12]]\n") == 3
    assert "output[0, 0] is 1e+12, which is too large to be typed" in capsys.readouterr().err


def test_no_number_to_ask_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hidden = "Q: [[1]]\nK: [[1]]\nV: [[1]]\nmask: [[false]]\n"
    assert refused(tmp_path, hidden, "--ask", "masked", "-q") == 2
    assert "these steps have no number to ask for" in capsys.readouterr().err
