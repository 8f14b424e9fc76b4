"""What a plan hands to the equations, whatever is added to the format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from attncli.attention.plan import plan_for
from attncli.problem import keys
from attncli.problem.model import Problem, Scalar

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
    gated = GatedProblem(known.title, known.tokens, known.context_tokens, known.given, gate=Scalar.of(3.0))
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
