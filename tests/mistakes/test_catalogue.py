"""Which mistakes can be made in a problem, and the equations that they make of its steps."""

from __future__ import annotations

import inspect
import re

import pytest

from attncli.mistakes.catalogue import applicable, changes_of, known_mistakes
from attncli.mistakes.model import with_changes
from attncli.problem.loader import loads
from attncli.tracing import Trace, run
from tests.cases import in_one_test

PLAIN = "Q: [[1, 2], [3, 4], [5, 6]]\nK: [[1, 0], [0, 1], [1, 1]]\nV: [[1], [2], [3]]\n"


def traced(problem: str) -> Trace:
    return run(loads(problem.encode(), "p.yaml"))


def test_every_mistake_has_a_name_of_its_own() -> None:
    assert len({mistake.name for mistake in known_mistakes()}) == len(known_mistakes())


def test_every_mistake_has_an_id_of_its_own() -> None:
    ids = [mistake.id for mistake in known_mistakes()]
    assert len({*ids}) == len(ids)
    assert [id for id in ids if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", id)] == []


def test_python_gets_the_list() -> None:
    """Also after an import of the package that has the same name."""
    import attncli
    import attncli.mistakes

    listed = attncli.mistakes()
    assert [(each.id, each.name) for each in listed] == [
        (mistake.id, mistake.name) for mistake in known_mistakes()
    ]
    assert ("scale-twice", "the scores were scaled twice") in listed
    assert str(inspect.signature(attncli.mistakes)) == "() -> 'tuple[KnownMistake, ...]'"


@in_one_test(
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
def test_a_mistake_applies_where_it_can_be_made(
    mistake: str, problem: str, can_be_made: bool
) -> None:
    assert (mistake in {each.name for each, _ in applicable(traced(problem))}) is can_be_made


def test_a_trace_has_the_equations_of_a_mistake_and_its_own_values() -> None:
    trace = traced(PLAIN)
    mistake = next(
        each
        for each in known_mistakes()
        if each.name == "the scores were divided by d_k, not by its root"
    )
    made = with_changes(trace, mistake.change(trace))
    assert made.steps["scaled"].rule.source == "scaled[i, j] = scores[i, j] / d_k"
    assert made["scaled"] is trace["scaled"]
    assert mistake.change(traced(f"{PLAIN}score: dot")) == {}


def test_changes_by_name() -> None:
    trace = traced(PLAIN)
    assert list(changes_of("the scores were not scaled", trace)) == ["scaled"]
    assert changes_of("the mask was forgotten", trace) == {}
    assert changes_of("a sign was lost", trace) == {}


def test_what_only_a_trace_with_its_gradient_can_have() -> None:
    backward = [
        mistake.name
        for mistake in known_mistakes()
        if mistake not in known_mistakes(gradient=False)
    ]
    assert "the loss was added up, not averaged" in backward
    problem = loads(f"{PLAIN}loss: {{kind: mse, target: [[1], [2], [3]]}}".encode(), "p.yaml")
    assert all(
        not mistake.change(run(problem)) for mistake in known_mistakes() if mistake.name in backward
    )
    assert "the loss was added up, not averaged" in {
        each.name for each, _ in applicable(run(problem, gradient=True))
    }


@pytest.mark.filterwarnings("error")
def test_numbers_too_large_to_be_rounded() -> None:
    """What is near the largest float64 has no hundredths: trying them warns of nothing."""
    names = {
        mistake.name for mistake, _ in applicable(traced("Q: [[1e300]]\nK: [[3e7]]\nV: [[1]]\n"))
    }
    rounded = {name for name in names if name.startswith("the scores were rounded to ")}
    assert rounded == {"the scores were rounded to whole numbers first"}
