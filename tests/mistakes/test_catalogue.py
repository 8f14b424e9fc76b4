"""Which mistakes can be made in a problem, and the equations that they make of its steps."""

from __future__ import annotations

import pytest

from attncli.mistakes.catalogue import MISTAKES, applicable
from attncli.problem.loader import loads
from attncli.tracing import Trace, run

PLAIN = "Q: [[1, 2], [3, 4], [5, 6]]\nK: [[1, 0], [0, 1], [1, 1]]\nV: [[1], [2], [3]]\n"


def traced(problem: str) -> Trace:
    return run(loads(problem.encode(), "p.yaml"))


def test_every_mistake_has_a_name_of_its_own() -> None:
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES)


@pytest.mark.parametrize(
    ("mistake", "problem", "can_be_made"),
    [
        ("the mask was forgotten", PLAIN, False),
        ("the mask was forgotten", f"{PLAIN}mask: causal", True),
        ("the scores were not scaled", PLAIN, True),
        ("the scores were not scaled", f"{PLAIN}score: dot", False),
        ("W_O was transposed", PLAIN, False),
        ("the loss was added up, not averaged", PLAIN, False),  # a trace without its gradient
    ],
)
def test_a_mistake_applies_where_it_can_be_made(mistake: str, problem: str, can_be_made: bool) -> None:
    assert (mistake in {each.name for each, _ in applicable(traced(problem))}) is can_be_made


def test_a_trace_has_the_equations_of_a_mistake_and_its_own_values() -> None:
    trace = traced(PLAIN)
    mistake = next(each for each in MISTAKES if each.name == "the scores were divided by d_k, not by its root")
    made = mistake.made_in(trace)
    assert made is not None
    assert made.steps["scaled"].rule.source == "scaled[i, j] = scores[i, j] / d_k"
    assert made["scaled"] is trace["scaled"]
    assert mistake.made_in(traced(f"{PLAIN}score: dot")) is None
