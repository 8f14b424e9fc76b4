"""Drawn problems with equations of their own, against the same system worked out number by number:
the values of all steps, and the gradients of all that is given.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

import numpy as np
import pytest
from numpy.typing import NDArray

import attncli
from attncli.tracing.model import Trace
from attncli.tracing.serialization import from_dict, to_dict
from tests.cases import in_one_test
from tests.equations.drawn_systems import draw_system
from tests.equations.systems_in_loops import Loops, Number, Unclear, go_back

FEW, MANY, IN_ONE = 40, 2000, 100
# Relative to the largest number of the array, or 1.
ERROR, ERROR_OF_GRADIENTS = 1e-10, 1e-8
LARGEST = 1e4


def array(loops: Loops, name: str, numbers: Iterable[float]) -> NDArray[np.float64]:
    letters = (*loops.leading(name), *loops.letters(name))
    return np.array([*numbers]).reshape([loops.lengths[letter] for letter in letters])


def require_near(found: NDArray[np.float64], expected: NDArray[np.float64], error: float) -> None:
    finite = np.abs(expected[np.isfinite(expected)])
    largest = max(1.0, finite.max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=error * largest)


def require_axes_of_steps(trace: Trace) -> None:
    """Each gradient has the axes of its step, whatever letters its equation has for them."""
    for step in trace.steps.values():
        of = trace.steps.get(step.name.removeprefix("d_"))
        if of is not None:
            assert (step.labels, step.rule.axis_names) == (of.labels, of.rule.axis_names)


def require_readable(trace: Trace) -> None:
    """Each equation is the one that is read from its text."""
    again = from_dict(json.loads(json.dumps(to_dict(trace))))
    for step in trace.computed():
        assert again.steps[step.name].rule.equation == step.rule.equation, step.name


def check(seed: int) -> bool:
    """Whether the drawn problem could be worked out; AssertionError where both sides differ."""
    drawn = draw_system(seed)
    loops = drawn.loops
    try:
        cells = {
            name: [loops.number(name, place) for place in loops.places(name)]
            for name in loops.steps
        }
    except (ArithmeticError, ValueError, Unclear):
        return False
    for name, numbers in cells.items():
        values = [abs(each.value) for each in numbers if name != "masked"]
        if any(math.isnan(value) or value > LARGEST for value in values):
            return False
    trace = attncli.trace(drawn.data, gradient=True)
    require_axes_of_steps(trace)
    require_readable(trace)
    # Exponentials of scores that are shifted first are others.
    unlike = ("exp", "row_sum") if "shifted" in trace else ()
    for name in cells:
        if name in trace and name not in unlike:
            require_near(trace[name], array(loops, name, (x.value for x in cells[name])), ERROR)
    go_back([(number, 1.0) for number in cells[drawn.result]])
    gradients: dict[str, list[Number]] = {
        name: [*given.numbers.values()] for name, given in loops.given.items() if name != "added"
    }
    for name, numbers in gradients.items():
        expected = array(loops, name, (x.gradient for x in numbers))
        if f"d_{name}" not in trace:
            assert not expected.any(), name
            continue
        if not math.isfinite(expected.sum()):
            return False
        require_near(trace[f"d_{name}"], expected, ERROR_OF_GRADIENTS)
    return True


def check_all(seeds: Iterable[int]) -> int:
    worked = 0
    for seed in seeds:
        try:
            worked += check(seed)
        except (AssertionError, attncli.AttncliError) as error:
            written = json.dumps(draw_system(seed).data)
            raise AssertionError(f"seed {seed}: {written}\n{error}") from error
    return worked


@pytest.mark.long
def test_a_few_drawn_systems() -> None:
    worked = check_all(range(FEW))
    assert worked > 0.9 * FEW


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, MANY, IN_ONE))
def test_many_drawn_systems(first: int) -> None:
    worked = check_all(range(first, first + IN_ONE))
    assert worked > 0.9 * IN_ONE


@pytest.mark.long
def test_the_drawn_systems_differ() -> None:
    """They replace every built-in step, with heads, batches, masks and functions of all kinds."""
    drawn = [draw_system(seed).data for seed in range(150)]
    written = [" ".join(data["equations"]) for data in drawn]
    for step in ("Q", "K", "V", "K_T", "scores", "scaled", "capped", "masked", "exp", "row_sum"):
        assert any(source.startswith(f"{step}[") for data in drawn for source in data["equations"])
    for word in ("softmax(", "mean(", "max(", "min(", "where(", "//", "%", "**", "[h, ", "[b, "):
        assert any(word in source for source in written), word
    assert {"heads", "mask", "scale", "softcap", "result", "arrays"} <= {
        key for data in drawn for key in data
    }


@in_one_test(
    ("equation", "expected"),
    [
        # A cell on the diagonal, a sum of equal numbers, and of a product with a bare number.
        ("it[i] = Q[i, i]", [1.0, 5.0]),
        ("it[i] = Q[(i + 1) % 2, i]", [4.0, 2.0]),
        ("it[i] = sum(k, Q[i, 0])", [2.0, 8.0]),
        ("it[i] = sum(k, Q[i, 0] * Q[i, 1])", [4.0, 40.0]),
        ("it[i] = sum(k, 3)", [6.0, 6.0]),
        ("it[i] = sum(k, 3 * Q[i, k])", [9.0, 27.0]),
        ("it[i] = max(k, 3 * Q[i, 0])", [3.0, 12.0]),
        ("it[i] = mean(k, Q[0, i])", [1.0, 2.0]),
        ("it[i] = sum(j, where(j <= i, 1, 0))", [1.0, 2.0]),
    ],
)
def test_cells_and_sums_of_an_unusual_form(equation: str, expected: list[float]) -> None:
    problem = attncli.problem(
        Q=[[1, 2], [4, 5]], K=[[1, 0], [0, 1]], V=[[1], [2]], equations=[equation], result="it"
    )
    for rounding in ("shown", "exact", "paper"):
        assert attncli.trace(problem, rounding=rounding)["it"].tolist() == expected
