"""What a plan hands to the equations, whatever is added to the format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from attncli.attention.plan import plan_for
from attncli.problem import keys
from attncli.problem.matrix import Scalar
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.window import Window
from attncli.problem.parts.positions import Alibi, Rope

ROWS = [[1.0, 0.0], [0.0, 1.0]]


@dataclass(frozen=True, eq=False)
class GatedProblem(Problem):
    """A problem with one setting more."""

    gate: Scalar | None = None


def test_a_new_setting_that_is_a_number_is_read_by_equations(
    problem: Callable[..., Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(keys.KEYS, "gate", keys.Key("positive", setting=True))  # type: ignore[arg-type]  # a dict
    known = problem(Q=ROWS, K=ROWS, V=ROWS, softcap=5.0)
    gated = GatedProblem(
        title=known.title,
        tokens=known.tokens,
        context_tokens=known.context_tokens,
        given=known.given,
        gate=Scalar.of(3.0),
    )
    assert plan_for(gated).parameters["gate"].value == 3.0
    assert "gate" not in plan_for(known).parameters


def test_the_logits_are_what_the_last_rule_makes(problem: Callable[..., Problem]) -> None:
    for settings, logits in (
        ({"scale": "none"}, "scores"),
        ({}, "scaled"),
        ({"softcap": 5.0}, "capped"),
        (
            {"alibi": True, "softcap": 5.0},
            "masked",
        ),
    ):
        assert plan_for(problem(Q=ROWS, K=ROWS, V=ROWS, **settings)).logits == logits


@dataclass(frozen=True, slots=True)
class Lean(Alibi):
    """A second kind of positions that calls a parameter as the first does."""

    name = "lean"


@dataclass(frozen=True, slots=True)
class Turned(Rope):
    """A second kind of positions that stands for the queries and keys."""

    name = "turned"


def test_two_kinds_of_positions_may_not_call_a_parameter_alike(
    problem: Callable[..., Problem],
) -> None:
    known = problem(Q=ROWS, K=ROWS, V=ROWS, alibi=True)
    with pytest.raises(ValueError, match="two parts of the problem have a parameter slopes"):
        plan_for(replace(known, positions=(*known.positions, Lean())))


def test_two_kinds_of_positions_may_not_both_replace_the_queries(
    problem: Callable[..., Problem],
) -> None:
    known = problem(Q=ROWS, K=ROWS, V=ROWS, rope=(10000.0, "half"))
    with pytest.raises(ValueError, match="rope and turned both replace Q in the scores"):
        plan_for(replace(known, positions=(*known.positions, Turned(Scalar.of(2.0), "half"))))


def test_the_offset_is_one_parameter_of_all_that_count_from_it(
    problem: Callable[..., Problem],
) -> None:
    """A bias and two parts of a mask read it."""
    mask = (Causal(), Window(1, 0))
    plan = plan_for(
        problem(Q=ROWS[:1], K=ROWS, V=ROWS, alibi=True, mask=mask, corner="bottom-right")
    )
    assert plan.parameters["offset"].value == 1
