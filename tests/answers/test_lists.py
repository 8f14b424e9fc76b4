"""Answers in YAML as people write them: in percent, with decimal commas, with their names."""

from __future__ import annotations

import pytest

from attncli.answers.reader import read_answers
from attncli.errors import AttncliError
from attncli.problem.model import Problem
from attncli.problem.text.source import Source
from attncli.tracing import run
from attncli.tracing.model import Trace
from tests.cases import in_one_test

BLANK = [None, None, None]
S = [["1", "5", "3"], ["3", "3", "3"], ["2", "4", "3"]]
SCORES = "scores: [[1, 5, 3], [3, 3, 3], [2, 4, 3]]\n"


@pytest.fixture(scope="module")
def trace(love: Problem) -> Trace:
    return run(love)


def answered(text: str, trace: Trace, name: str = "a.yaml") -> dict[str, list[object]]:
    """The texts of each step, None for a blank."""
    steps = read_answers(Source(name, text), trace).steps
    return {
        step: [[cell and cell.text for cell in row] for row in found.cells]
        if found.cells.ndim > 1
        else [cell and cell.text for cell in found.cells]
        for step, found in steps.items()
    }


A = [["0.07", "0.707", "0.223"], ["0.33", "0.330", "0.33"], BLANK]
IN_PERCENT = [
    ("a.yaml", 'A: [["7 %", 70.7%, 22.3 %], [0.33, 33.0 %, 33%]]'),
    ("a.json", '{"A": [["7 %", "70.7%", "22.3 %"], [0.33, "33.0 %", "33%"]]}'),
    ("a.yaml", "A: |\n  7 % 70.7 % 22.3 %\n  33% 33.0% 33%\n"),
    ("a.txt", "A =\n7 % 70.7 % 22.3 %\n33 % 33.0 % 33 %\n"),
    ("a.txt", "A:\n7 %; 70,7 %; 22,3 %\n33 %; 33,0 %; 33 %\n"),
    ("a.tex", r"$A = \begin{pmatrix} 7\,\% & 70.7\% & 22.3 \% \\ 33\% & 33.0\% & 33\%"
     r" \end{pmatrix}$"),
    ("a.md", "| A | I | love | AI |\n|-|-|-|-|\n| I | 7 % | 70.7% | 22.3 % |\n"
     "| love | 33 % | 33.0 % | 33 % |\n"),
]  # fmt: skip


@in_one_test(("name", "text"), IN_PERCENT)
def test_numbers_in_percent(name: str, text: str, trace: Trace) -> None:
    assert answered(text, trace, name) == {"weights": A}


Z = [["0.58", "2.89", "1.73"], ["1.73", "2", "1.73"], BLANK]
SEPARATED = [
    ("a.yaml", "Z:\n  - [0,58; 2,89; 1,73]\n  - [1,73; 2; 1,73]\n"),
    ("a.yaml", "Z: [[0,58; 2,89; 1,73], [1,73; 2; 1,73]]\n"),
    ("a.yaml", "Z: [[0,58;2,89;1,73],\n    [1,73;2;1,73]]\n"),
    ("a.txt", "Z = [[0,58; 2,89; 1,73], [1,73; 2; 1,73]]\n"),
]


@in_one_test(("name", "text"), SEPARATED)
def test_a_semicolon_between_the_cells_of_a_row_leaves_commas_to_decimals(
    name: str, text: str, trace: Trace
) -> None:
    assert answered(text, trace, name) == {"scaled": Z}


def test_a_semicolon_between_the_numbers_of_a_vector(trace: Trace) -> None:
    found = answered("row_sum: [25,37; 16,96; 18,89]", trace)
    assert found == {"row_sum": ["25.37", "16.96", "18.89"]}


def test_a_semicolon_between_rows_in_one_list(trace: Trace) -> None:
    assert answered("scores: [1, 5, 3; 3, 3, 3; 2, 4, 3]", trace) == {"scores": S}


def test_one_list_with_commas_and_semicolons_can_be_read_in_two_ways(trace: Trace) -> None:
    with pytest.raises(AttncliError) as error:
        answered("scaled: [1,5; 2,5; 3,5]", trace)
    assert "1,5 can be read as 1.5, or as the two numbers 1 and 5" in str(error.value)


REMARKS = [
    "name: Jonas Koch\n",
    "Name: Jonas Koch\nDate: 2026-11-30\n",
    '"student name": Jonas\nmatriculation-number: 4711\ngroup: 3\n',
    "E-Mail: jonas@x.org\ncourse: Attention\nclass: 2b\nnumber: 12 345\n",
    "title: My answers\ncomment:\n",
    "note: |\n  I was ill on Monday, and\n  2 of 3 lessons I was there.\n",
]


@in_one_test("text", REMARKS)
def test_names_and_notes_are_no_steps(text: str, trace: Trace) -> None:
    assert answered(text + SCORES, trace) == {"scores": S}
    assert answered(SCORES + text, trace) == {"scores": S}


NO_REMARKS = [
    ("name: [[1, 2], [3, 4]]\n", "no step is called name"),
    ("note: |\n  1 2\n  3 4\n", "no step is called note"),
    ("names: Jonas\n", "no step is called names"),
    ("scors: Jonas\n", "no step is called scors"),
    ("title: {of: Jonas}\n", "title is a key of a problem, not a step"),
]


@in_one_test(("text", "message"), NO_REMARKS)
def test_no_matrix_and_no_other_key_is_passed_over(text: str, message: str, trace: Trace) -> None:
    with pytest.raises(AttncliError) as error:
        answered(text + SCORES, trace)
    assert message in str(error.value)


def test_a_name_alone_is_no_answer(trace: Trace) -> None:
    with pytest.raises(AttncliError) as error:
        answered("name: Jonas Koch\n", trace)
    assert str(error.value) == "there are no answers here"
