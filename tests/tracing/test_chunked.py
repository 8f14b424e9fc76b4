"""What is looked for on a device is what the whole trace tells: numbers that do not fit, and rows
without keys.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.backend import Backend
from attncli.dtypes import DTYPES
from attncli.problem.model import Problem
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.causal import Causal
from attncli.tracing import run
from attncli.tracing.chunked import ChunkCheck
from attncli.tracing.model import Step, Trace
from attncli.tracing.warnings import blind_rows, overflows
from tests.cases import in_one_test

Build = Callable[..., Problem]
QUIET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
FAR = [0.0, 0.0, 0.0, 1.0, -np.inf, -np.inf, np.inf, np.nan]


def watched(steps: dict[str, Step], backend: Backend) -> ChunkCheck:
    weights = steps["weights"]
    watch = ChunkCheck(backend, weights.rule, weights.shape)
    for step in sorted(steps.values(), key=lambda step: step.name != "mask"):
        watch.see(step.rule, backend.asarray(step.value, DTYPES["float64"]))
    return watch


def inner(trace: Trace) -> dict[str, Step]:
    names = (
        "scores",
        "scaled",
        "mask",
        "masked",
        "row_max",
        "shifted",
        "exp",
        "row_sum",
        "weights",
        "output",
    )
    return {name: trace.steps[name] for name in names if name in trace.steps}


@pytest.fixture(
    scope="module", params=["no mask", "one head", "a mask for all heads", "a mask for each head"]
)
def trace(request: pytest.FixtureRequest, problem: Build, matrix: Callable[[Any], Any]) -> Trace:
    """Two queries of three keys, shifted."""
    random = np.random.default_rng(1)
    heads = (2,) if "heads" in request.param or "each" in request.param else ()
    arrays = {
        name: random.normal(size=(*heads, rows, 2)) for name, rows in (("Q", 2), ("K", 3), ("V", 3))
    }
    own = Additive(matrix(np.zeros((2, 2, 3)))) if "each" in request.param else Causal()
    return run(problem(**arrays, mask=() if request.param == "no mask" else (own,)), shifted=True)


@pytest.mark.each_choice
@QUIET
@given(data=st.data())
def test_it_finds_what_the_whole_trace_tells(
    trace: Trace, backend: Backend, data: st.DataObject
) -> None:
    steps = inner(trace)
    altered = data.draw(st.sets(st.sampled_from(sorted(steps)), max_size=3))
    for name in sorted(altered):
        cells = st.lists(
            st.sampled_from(FAR), min_size=steps[name].value.size, max_size=steps[name].value.size
        )
        steps[name] = replace(
            steps[name], value=np.array(data.draw(cells)).reshape(steps[name].shape)
        )
    watch = watched(steps, backend)
    assert watch.all_fit() == (not any(overflows(steps, DTYPES["float64"])))
    assert [row[0] if len(row) == 1 else row for row in watch.fully_masked()] == list(
        blind_rows(steps)
    )


@in_one_test(
    ("name", "cell", "number", "fits"),
    [
        ("masked", (0, 2), -np.inf, True),  # hidden by the mask, which is causal
        ("masked", (1, 1), -np.inf, False),
        ("masked", (0, 2), np.nan, False),
        ("masked", (0, 2), np.inf, False),
        ("scores", (0, 2), -np.inf, True),  # no weight comes of it
        ("scores", (0, 2), np.inf, False),
        ("exp", (1, 0), np.nan, False),
        ("row_max", (0,), -np.inf, False),  # which sees a key
        ("row_sum", (1,), np.inf, False),
        ("output", (1, 1), -np.inf, False),
        ("output", (1, 1), 1e308, True),
    ],
)
def test_one_cell(
    problem: Build, backend: Backend, name: str, cell: tuple[int, ...], number: float, fits: bool
) -> None:
    ones = {"Q": np.ones((2, 2)), "K": np.ones((3, 2)), "V": np.ones((3, 2))}
    steps = inner(run(problem(**ones, mask=(Causal(),)), shifted=True))
    value = steps[name].value.copy()
    value[cell] = number
    assert watched(steps, backend).all_fit()
    assert watched({**steps, name: replace(steps[name], value=value)}, backend).all_fit() == fits
