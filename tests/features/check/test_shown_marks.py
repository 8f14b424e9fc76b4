"""Marks as they are shown: the parts add up to the points, on pages, in JSON and in results."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import attncli
from attncli.features.check.marks.model import LostShare, Marks, TakenOff
from attncli.features.check.marks.page import marks_blocks
from attncli.features.check.marks.shown import in_hundredths
from attncli.page.document import Paragraph
from tests.features.check.solutions_by_hand import written

WORTH = {"scores": 4.5, "scaled": 4.5, "weights": 4.5, "output": 6.5}
THREE_ROWS = {
    "Q": [[1, 2], [2, 1], [3, 1]],
    "K": [[1, 1], [2, 1], [1, 3]],
    "V": [[1, 2, 0], [3, 0, 1], [0, 2, 2]],
}


def of_losses(*taken: float, **lost: float) -> Marks:
    shares = [LostShare(step, "too coarse", 1, Fraction(each)) for step, each in lost.items()]
    worth = {step: Fraction(each) for step, each in WORTH.items()}
    slips = [TakenOff("", (("scores", (0,)),), Fraction(each)) for each in taken]
    return Marks(20, worth, tuple(shares), (), tuple(slips))


def shown_losses(marks: Marks) -> list[float]:
    return [float(each.marks) for each in in_hundredths(marks).lost]


def shown_steps(marks: Marks) -> list[float]:
    return [float(each) for each in in_hundredths(marks).steps.values()]


def test_a_slip_that_shows_in_two_steps_is_told_with_both() -> None:
    judgement = attncli.check(THREE_ROWS, written(THREE_ROWS)).solution.verdicts
    cells = (("weights", (0, 0)), ("weights", (0, 2)), ("output", (0, 1)))
    slip = TakenOff("exp of t1 → t1 is wrong", cells, Fraction(1))
    [first, *_] = marks_blocks(judgement, replace(of_losses(), slips=(slip,)))
    assert isinstance(first, Paragraph)
    said = "(weights, t1 → t1; t1 → t3; output, t1, d2: exp of t1 → t1 is wrong)"
    assert said in str(first.text)


def test_what_is_lost_adds_up_to_what_the_points_lack() -> None:
    """15 of 16, 13 of 16 and 19 of 20 numbers lose half their share: 20 − 7.025 is 12.975.

    Rounded down, the losses are 2.10, 1.82 and 3.08. What is missing of 7.02 goes to the first two,
    which rounding down takes 0.9375 and 0.8125 hundredths from, and 0.75 from the last.
    """
    marks = of_losses(scaled=2.109375, weights=1.828125, output=3.0875)
    assert float(in_hundredths(marks).points) == 12.98
    assert shown_losses(marks) == [2.11, 1.83, 3.08]
    assert shown_steps(marks) == [4.5, 2.39, 2.67, 3.42]


def test_steps_add_up_to_the_points() -> None:
    """4 of 16 numbers are missing, and 5 of 20: 20 − 1.125 − 1.625 is 17.25."""
    marks = of_losses(weights=1.125, output=1.625)
    assert shown_steps(marks) == [4.5, 4.5, 3.37, 4.88]
    assert float(in_hundredths(marks).points) == 17.25


def test_several_losses_of_a_step_are_no_more_than_it_is_worth() -> None:
    """10 of 16 numbers are wrong, and 6 show nothing: 2.8125 and 1.6875."""
    weights = (
        LostShare("weights", "wrong", 10, Fraction(45, 16)),
        LostShare("weights", "shows nothing", 6, Fraction(27, 16)),
    )
    marks = of_losses(0.125, scaled=0.375)
    marks = Marks(20, marks.worth, (*weights, *marks.lost), (), marks.slips)
    assert shown_steps(marks) == [4.5, 4.12, 0, 6.5]
    assert shown_losses(marks) == [2.81, 1.69, 0.38]
    assert float(in_hundredths(marks).taken_off) == 0.12
    assert float(in_hundredths(marks).points) == 15


def test_marks_below_nothing_are_shown_as_they_are() -> None:
    marks = of_losses(6, 5, scaled=4.5, output=6.5)
    assert shown_losses(marks) == [4.5, 6.5]
    assert in_hundredths(marks).points == 0
    assert in_hundredths(marks).balance == -2


def test_thirds_of_marks_add_up_too() -> None:
    third = Fraction(20, 3)
    marks = Marks(20, dict.fromkeys("abc", third), (LostShare("c", "missing", 9, third),), (), ())
    shown = in_hundredths(marks)
    assert [float(each) for each in shown.worth.values()] == [6.67, 6.67, 6.66]
    assert float(shown.lost[0].marks) == 6.67
    assert shown.steps["c"] == 0
    assert float(shown.points) == 13.33


PARTS = st.fractions(0, 1, max_denominator=400)


@given(st.lists(st.tuples(PARTS, PARTS), min_size=4, max_size=4), st.lists(PARTS, max_size=4))
def test_drawn_marks_add_up(parts: list[tuple[Fraction, Fraction]], costs: list[Fraction]) -> None:
    """Each step loses a part of its marks, and then a part of what is left."""
    lost = []
    worth = {step: Fraction(each) for step, each in WORTH.items()}
    for (step, of), (first, second) in zip(worth.items(), parts, strict=True):
        lost.append(LostShare(step, "missing", 1, first * of))
        lost.append(LostShare(step, "wrong", 1, second * (1 - first) * of))
    taken = [TakenOff("M", (), cost) for cost in costs]
    exact = Marks(20, worth, tuple(lost), (TakenOff("first", (), Fraction(2)),), tuple(taken))
    shown = in_hundredths(exact)
    assert shown.worth == exact.worth
    assert abs(shown.balance - exact.balance) <= Fraction(1, 200)
    assert shown.balance == sum(shown.steps.values()) - shown.taken_off
    assert min(shown.steps.values()) >= 0
    assert shown.mistakes == exact.mistakes
    for one, other in zip(shown.lost, exact.lost, strict=True):
        assert (100 * one.marks).denominator == 1
        assert abs(one.marks - other.marks) < Fraction(1, 100)
    assert in_hundredths(shown) == shown


def test_the_page_its_json_and_the_row_show_the_same_parts() -> None:
    """A number of each step is missing: two ninths of 7, and one of 6, are 2.222."""
    answers: Any = written(THREE_ROWS)
    for step in ("scores", "weights", "output"):
        answers[step][2][2] = None
    marking = {"marks": 20, "steps": {"S": 7, "A": 7, "O": 6}, "mistake": 2}
    checked = attncli.check(THREE_ROWS, answers, marking=marking)
    page = checked.to_markdown()
    amounts = ["0.78", "0.78", "0.66"]
    (said,) = re.findall("Marks: 20.* of 20", page)
    assert re.findall(r"(\S+) \(\w+: 1 number", said) == amounts
    assert said.endswith(" = 17.78 of 20")
    steps = [cells.split("|")[2].strip() for cells in page.split("\n") if cells.count("|") == 4]
    assert steps[2:6] == ["6.22", "6.22", "5.34", "17.78"]
    data = checked.to_dict()["marks"]
    assert [f"{each['marks']:g}" for each in data["lost"]] == amounts
    assert data["steps"] == {"scores": 6.22, "weights": 6.22, "output": 5.34}
    (row,) = attncli.check_many([("Ada", THREE_ROWS, answers)], marking=marking)
    assert [f"{marks:g}" for marks, _ in row.taken_off] == amounts


WITH_WORDS = {
    "tokens": ["the", "of", "t3"],
    "Q": [[1, 2], [0, -1], [2, 1]],
    "K": [[1, 0], [2, 1], [1, -1]],
    "V": [[1, 2], [-1, 1], [3, 0]],
}


def test_a_token_that_is_a_word_stands_in_quotes_in_sentences() -> None:
    """Not: rows the of V and of of V. What is no word, such as t3, has none, nor have tables."""
    answers = {
        # The row "of" of the scores is that of t3, and "of" adds up to 0.90 in the weights.
        "scores": [[1, 4, -1], [2, 5, 1], [2, 5, 1]],
        "weights": [["0.10", "0.87", "0.03"], ["0.50", "0.30", "0.10"], ["0.10", "0.85", "0.05"]],
        "output": [["0.86", "1.84"], ["0.10", "0.90"], ["0.90", "1.80"]],
    }
    said = attncli.check(WITH_WORDS, answers).to_markdown()
    assert 'The first wrong number is in scores, at "of" $\\to$ "the".' in said
    assert 'row "of" of scores was copied from t3 of scores' in said
    assert 'Yours do not in row "of" (0.90).' in said
    assert "| of $\\to$ the | wrong" in said
    [found, *_] = attncli.check(WITH_WORDS, answers).to_dict()["diagnoses"]
    assert found["mistake"] == "row scores[1] was copied from scores[2]"
