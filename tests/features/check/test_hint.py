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


# By hand: 2·0.7070 + 0.2228 and 0.0702 in the first row; 2·0.5329 + 0.2992 and 0.1679 in the last.
O = "output: [[1.00, {}, 0.07], [1.00, 1.00, 0.33], [1.00, {}, 0.17]]\n"
AT_THE_END = [
    (O.format("1.64", "1.36"), "All steps are there.\n", None),
    (
        O.format("1.63", "1.36"),
        "All steps are there. 1 number of O is off by one in its last digit: round again.",
        "output",
    ),
    (
        O.format("1.63", "1.37"),
        "All steps are there. 2 numbers of O are off by one in the last digit: round again.",
        "output",
    ),
    (
        f"scores: [[1, 5, _], [3, 3, 3], [2, 4, 3]]\n{O.format('1.64', '1.36')}",
        "All steps are there, but S is not finished: 1 number of it to go.",
        "scores",
    ),
]


def hint(answers: str, words: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    (tmp_path / "a.yaml").write_text(answers, encoding="utf-8")
    problem = str(INPUTS / "i_love_ai.yaml")
    code = run(["check", problem, str(tmp_path / "a.yaml"), "--hint", str(words)])
    out, err = capsys.readouterr()
    assert code in (0, 1), err
    return out


@in_one_test(("answers", "said", "step"), [*HINTS, *AT_THE_END])
def test_the_first_hint_names_the_step(
    answers: str, said: str, step: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = hint(answers, 1, tmp_path, capsys)
    assert " ".join(said.split()) in " ".join(page.split())
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
