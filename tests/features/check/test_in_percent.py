"""Weights in percent, without its sign, are one mistake; what follows from them is judged by what
was meant, or by what was written.
"""

from __future__ import annotations

from typing import Any

import pytest

import attncli
from tests.cases import in_one_test

GIVEN = {"Q": [[1, 2], [2, 1]], "K": [[1, 1], [2, 1]], "V": [[1, 2, 0], [3, 0, 1]]}
# Of two numbers that differ by d, the first has the weight 1/(1 + e^d).
RIGHT: dict[str, list[list[Any]]] = {
    "scores": [[3, 4], [3, 5]],
    "scaled": [["2.12", "2.83"], ["2.12", "3.54"]],
    "weights": [["0.33", "0.67"], ["0.20", "0.80"]],
    "output": [["2.34", "0.66", "0.67"], ["2.61", "0.39", "0.80"]],
}
MARKING = {
    "marks": 20,
    "decimals": 2,
    "steps": {"scores": 4, "scaled": 4, "weights": 6, "output": 6},
    "mistake": 2,
}
SAID = "the weights were written in percent"
ALL = [["33", "67"], ["20", "80"]]


@in_one_test(
    ("changed", "cells"),
    [
        ({"weights": ALL}, 4),
        ({"weights": [["33.0", "67.0"], ["19.6", "80.4"]]}, 4),
        # 33 and 66 are a matter of rounding, also in percent.
        ({"weights": [["33", "66"], ["20", "80"]]}, 4),
        ({"weights": [["0.33", "0.67"], ["20", "80"]]}, 2),
        # Somebody went on with 33 for 33 %: 33·1 + 67·3 = 234.
        ({"weights": ALL, "output": [[234, 66, 67], [260, 40, 80]]}, 4),
    ],
)
def test_weights_in_percent_are_one_mistake(changed: dict[str, Any], cells: int) -> None:
    found = attncli.check(GIVEN, {**RIGHT, **changed}, marking=MARKING)
    assert [(each.step, each.mistakes) for each in found.diagnoses] == [("weights", (SAID,))]
    assert len(found.diagnoses[0].cells) == cells
    assert found.solution.verdicts.counts["wrong"] == cells
    assert found.earned is not None
    assert [(each.said, each.taken_off) for each in found.earned.mistakes] == [(SAID, 2)]
    assert found.earned.points == 18


def test_percent_after_a_slip_is_carried_but_for_the_mistake() -> None:
    """With 2 for 3, the first row has the weights 1/(1 + e^√2) = 0.196 and 0.804."""
    answers = {
        "scores": [[2, 4], [3, 5]],
        "scaled": [["1.41", "2.83"], ["2.12", "3.54"]],
        "weights": [["20", "80"], ["20", "80"]],
        "output": [["2.61", "0.39", "0.80"], ["2.61", "0.39", "0.80"]],
    }
    found = attncli.check(GIVEN, answers, marking=MARKING)
    assert found.earned is not None
    assert [each.said for each in found.earned.mistakes] == [SAID]
    assert found.earned.points == 20 - 2 - 1


def test_without_a_marking_it_is_named_as_well() -> None:
    found = attncli.check(GIVEN, {"weights": ALL})
    assert [each.mistakes for each in found.diagnoses] == [(SAID,)]
    page = found.to_markdown()
    assert f"weights: {SAID}. This explains all 4 cells." in page
    assert "You wrote $33$." in page
    assert "add up to 1" not in page
    cells = found.to_dict()["steps"]["weights"]["cells"]
    assert [cell["given"] for row in cells for cell in row] == [33, 67, 20, 80]


def test_nothing_in_percent_is_nothing() -> None:
    """Of the weights 0.99995 and 0.00005, the second is 0 either way."""
    given = {"Q": [[10, 0]], "K": [[1, 0], [0, 1]], "V": [[1], [2]], "score": "dot"}
    found = attncli.check(given, {"weights": [[100, 0]]})
    verdicts = [cell.verdict for cell in found.solution.verdicts.steps["weights"].flat]
    assert verdicts == ["wrong", "right"]
    assert [each.mistakes for each in found.diagnoses] == [(SAID,)]


@pytest.mark.parametrize(
    ("weights", "cells"),
    [
        # These add up to 100, and are wrong in percent, too.
        ([["50", "50"], ["30", "70"]], 0),
        ([["50", "50"], ["20", "80"]], 2),
        # And these do not.
        ([["33", "33"], ["0.20", "0.80"]], 0),
        ([["33", None], ["0.20", "0.80"]], 0),
        ([["-33", "133"], ["0.20", "0.80"]], 0),
    ],
)
def test_what_is_wrong_in_percent_is_none(weights: list[list[Any]], cells: int) -> None:
    found = attncli.check(GIVEN, {**RIGHT, "weights": weights})
    named = [each for each in found.diagnoses if SAID in each.mistakes]
    assert sum(len(each.cells) for each in named) == cells


def test_weights_that_were_meant_to_add_up_to_less_are_none() -> None:
    """A sink takes a part of each row."""
    given = {**GIVEN, "sink": 1}
    found = attncli.check(given, {"weights": ALL})
    assert all(SAID not in each.mistakes for each in found.diagnoses)
