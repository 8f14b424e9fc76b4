"""What the backward pass refuses: steps that its gradients would be lost in, or wrong of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from attncli.attention import first_steps as plans
from attncli.attention import variants
from attncli.equation.rule import Rule
from attncli.problem.model import Problem
from attncli.tracing import run

ROWS = [[1.0, 0.5], [0.25, 1.0]]
Build = Callable[..., Problem]


@pytest.mark.parametrize(
    ("step", "formula"),
    [
        ("exp", "exp[i, j] = exp(2 * logits[i, j])"),
        ("row_sum", "row_sum[i] = 1 + sum(j, exp[i, j])"),
        ("weights", "weights[i, j] = exp[i, j] / row_sum[i] + 1"),
    ],
)
def test_a_softmax_of_another_equation(
    problem: Build, monkeypatch: pytest.MonkeyPatch, step: str, formula: str
) -> None:
    """Its gradient is written for the known ones."""
    monkeypatch.setitem(
        variants.COMPUTED_RULES, step, replace(variants.COMPUTED_RULES[step], formula=formula)
    )
    with pytest.raises(
        ValueError, match=rf"gradient of the softmax is not that of this equation: {step}\["
    ):
        run(problem(Q=ROWS, K=ROWS, V=ROWS), gradient=True)


def test_a_step_that_was_forgotten_in_the_order(
    problem: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    gated = Rule("gated", "G", "Gated scores", "gated[i, j] = scaled[i, j] * tanh(scaled[i, j])")
    scores = plans._scores
    monkeypatch.setattr(plans, "_scores", lambda problem: (*scores(problem), gated))
    with pytest.raises(
        ValueError,
        match="the gradient of scaled goes through gated, which is not in BACKWARD_ORDER",
    ):
        run(problem(Q=ROWS, K=ROWS, V=ROWS), gradient=True)
