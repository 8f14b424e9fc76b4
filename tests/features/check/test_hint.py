"""What comes next in an unfinished solution, in more words each time, and without its numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attncli.cli.main import run
from tests.cases import in_one_test

INPUTS = Path(__file__).parents[3] / "inputs"
S = "scores: [[1, 5, 3], [3, 3, 3], [2, 4, 3]]\n"
Z = "scaled: [[0.58, 2.89, 1.73], [1.73, 1.73, 1.73], [1.15, 2.31, 1.73]]\n"
A = "weights: [[0.07, 0.71, 0.22], [0.33, 0.33, 0.33], [0.19, 0.60, 0.21]]\n"
# Each with what the first hint says, and which step it is of.
HINTS = [
    ("X: null\n", "Q is next: queries.", "Q"),
    (S, "Z is next: scaled scores.", "scaled"),
    ("scores: [[1, 5, 3], [3]]\n", "S is next: 5 numbers of it to go.", "scores"),
    (S + "scaled: [[0.58, _, _]]\n", "Z is next: 8 numbers of it to go.", "scaled"),
    (S + Z, "E is next: exponentials.", "exp"),
    (S + "scaled: [[1, 5, 3]]\n", "Z has a number that is not right: look at it", "scaled"),
]


def hint(answers: str, words: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    (tmp_path / "a.yaml").write_text(answers, encoding="utf-8")
    problem = str(INPUTS / "i_love_ai.yaml")
    code = run(["check", problem, str(tmp_path / "a.yaml"), "--hint", str(words)])
    out, err = capsys.readouterr()
    assert code in (0, 1), err
    return out


@in_one_test(("answers", "said", "step"), HINTS)
def test_the_first_hint_names_the_step(
    answers: str, said: str, step: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in hint(answers, 1, tmp_path, capsys)
    run(["check", str(INPUTS / "i_love_ai.yaml"), str(tmp_path / "a.yaml"), "--hint", "1",
         "--format", "json"])  # fmt: skip
    assert json.loads(capsys.readouterr().out) == {"next": step}


def test_each_hint_says_more_and_none_has_a_number_of_the_solution(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = [hint(S, words, tmp_path, capsys) for words in (1, 2, 3)]
    assert "square root of d_k" not in pages[0]
    assert "square root of d_k" in pages[1]
    assert "Z = S / √d_k" not in pages[1]
    assert "Z = S / √d_k" in pages[2]
    for page in pages:
        assert "0.577" not in page
        assert "2.887" not in page


def test_a_finished_solution_has_nothing_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["compute", str(INPUTS / "i_love_ai.yaml"), "--steps", "output", "--format", "json"])
    output = json.loads(capsys.readouterr().out)["steps"]["output"]["value"]
    page = hint(f"output: {output}\n", 3, tmp_path, capsys)
    assert "All steps are there." in page


@in_one_test("options", [["--marks", "20"], ["--feedback", "pages"], ["--time-limit", "5"]])
def test_a_hint_is_for_one_solution_and_judges_nothing(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(S, encoding="utf-8")
    problem = str(INPUTS / "i_love_ai.yaml")
    assert run(["check", problem, str(tmp_path / "a.yaml"), "--hint", "1", *options]) == 2
    assert "--hint" in capsys.readouterr().err
