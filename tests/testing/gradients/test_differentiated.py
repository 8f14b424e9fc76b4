"""The gradients of what comes out with a mistake, by central differences of what comes out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from attncli.mistakes.catalogue import applicable
from attncli.mistakes.mistaken_trace import MistakenTrace
from attncli.testing.battery import all_cases, drawn_numbers
from attncli.testing.case import Case
from attncli.testing.gradients.judgement import ExpectedGradients, differentiated
from attncli.testing.gradients.upstream import with_upstream
from attncli.testing.judgement import Expected
from attncli.tracing.difference import Doubles

STEP = 1e-5
CASES = {each.name: with_upstream(each) for each in all_cases()}
# Of every kind of equation.
SOME = ["plain", "a mask of truth values", "causal", "two KV heads of four", "a softcap", "RoPE"]


def along(case: Case, size: float) -> Case:
    """The case with its arrays moved in a direction that is drawn."""
    moved = {}
    for name in ("queries", "keys", "values"):
        array = getattr(case, name)
        moved[name] = array + size * drawn_numbers(f"a direction of {name}", *array.shape)
    return replace(case, **moved)


def output_with(case: Case, mistake: str) -> Doubles:
    expected = Expected.of(case, case.meanings[0], "float64")
    return MistakenTrace(expected.trace, expected.changes[mistake])["output"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", SOME)
def test_gradients_with_a_mistake_are_those_of_what_comes_out(name: str) -> None:
    case = CASES[name]
    right = ExpectedGradients.of(case, case.meanings[0], "float64")
    known = Expected.of(case, case.meanings[0], "float64").changes
    compared = 0
    for mistake, changes in applicable(right.trace):
        own = differentiated(right.trace, changes)
        if mistake.name not in known or own is None:
            continue
        there, back = (output_with(along(case, size), mistake.name) for size in (STEP, -STEP))
        by_differences = (case.upstream * (there - back)).sum() / (2 * STEP)
        trace = MistakenTrace(right.trace, own)
        gradients = zip(("d_Q", "d_K", "d_V"), ("queries", "keys", "values"), strict=True)
        by_equations = 0.0
        for step, of in gradients:
            shape = getattr(case, of).shape
            by_equations += (trace[step] * drawn_numbers(f"a direction of {of}", *shape)).sum()
        if np.isfinite(by_differences):
            assert by_equations == pytest.approx(by_differences, rel=1e-5, abs=1e-5), mistake.name
            compared += 1
    assert compared >= 4
