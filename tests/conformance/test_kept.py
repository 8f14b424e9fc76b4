"""A trace of which only some steps are kept tells what the whole trace tells, whatever the problem
and its format.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.attention.fused import outputs as fused
from attncli.attention.plan import plan_for
from attncli.backend import CPU, Backend
from attncli.dtypes import DTYPES
from attncli.problem.loader import loads
from attncli.problem.model import Problem
from attncli.tracing import chunked, run
from attncli.tracing.model import Settings, Trace
from attncli.tracing.shift import Shift
from tests.conformance.drawn import problem_files

USUAL, MANY = (
    settings(
        settings.get_profile(name), suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    for name in ("usual", "many")
)
formats = st.sampled_from(list(DTYPES))


@pytest.fixture(autouse=True)
def _small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a problem of a few tokens has several tiles, most of them not whole."""
    monkeypatch.setattr(fused, "ROWS", 2)
    monkeypatch.setattr(fused, "COLUMNS", 3)  # the edge of a mask is worked in pieces of ROWS
    monkeypatch.setattr(chunked, "CELLS_IN_CACHES", 1)
    monkeypatch.setattr(chunked, "CELLS_OF_A_BUSY_GPU", 1)


@pytest.fixture
def device(backend: Backend) -> Backend:
    """Each array namespace, as if it were a device: NumPy, too, one query after the other and in
    one thread.
    """
    return Backend(backend.xp, "device", backend.to_host) if backend is CPU else backend


def read(problem: dict[str, Any]) -> Problem:
    return loads(json.dumps(problem).encode(), "p.json")


def keeping(
    problem: Problem, dtype: str, keep: Collection[str], backend: Backend = CPU
) -> Trace | None:
    plan, shift = plan_for(problem), Shift.at(3, problem, DTYPES[dtype])
    settings = Settings.of(plan, dtype=dtype, device=backend.device)
    with np.errstate(all="ignore"):
        return chunked.run_chunked(plan, shift, settings, keep, backend=backend)


def agree(some: Trace, whole: Trace, dtype: str, device: str = "cpu") -> None:
    assert list(some.steps) == list(whole.steps)
    assert (some.warnings, some.fully_masked) == (whole.warnings, whole.fully_masked)
    assert some.settings == whole.settings._replace(device=device)
    for name, step in some.steps.items():
        other = whole.steps[name]
        assert (step.rule, step.shape, step.labels) == (other.rule, other.shape, other.labels)
        if step.kept:
            assert step.value.dtype == other.value.dtype
            tolerance = 64 * DTYPES[dtype].epsilon
            size = np.abs(
                other.value, where=np.isfinite(other.value), out=np.zeros(other.shape)
            ).max(initial=1)
            np.testing.assert_allclose(
                step.value, other.value, rtol=tolerance, atol=tolerance * size, err_msg=name
            )


@USUAL
@given(
    problem=problem_files() | problem_files(mixed=True) | problem_files(settings_of_rope=True),
    dtype=formats,
)
def test_the_output_alone(problem: dict[str, Any], dtype: str) -> None:
    whole, some = run(read(problem), dtype=dtype), keeping(read(problem), dtype, ("output",))
    if some is None:
        assert names_a_step(whole)
        return
    agree(some, whole, dtype)
    assert some.steps["output"].kept
    assert not some.steps["weights"].kept


@MANY
@given(problem=problem_files() | problem_files(mixed=True), dtype=formats, data=st.data())
def test_any_steps(problem: dict[str, Any], dtype: str, data: st.DataObject) -> None:
    whole = run(read(problem), dtype=dtype)
    keep = data.draw(st.sets(st.sampled_from(list(whole.steps)), min_size=1))
    some = keeping(read(problem), dtype, keep)
    if some is None:
        assert names_a_step(whole)
        return
    agree(some, whole, dtype)
    assert all(some.steps[name].kept for name in keep)


@pytest.mark.long
@MANY
@given(
    problem=problem_files(small=True),
    dtype=st.sampled_from(["float32", "float64"]),
    keep=st.sampled_from(["scores", "weights", "scores weights"]),
)
def test_scores_and_weights(problem: dict[str, Any], dtype: str, keep: str) -> None:
    whole, some = run(read(problem), dtype=dtype), keeping(read(problem), dtype, keep.split())
    if some is None:
        assert names_a_step(whole)
        return
    agree(some, whole, dtype)
    assert all(some.steps[name].kept for name in keep.split())


@USUAL
@given(problem=problem_files() | problem_files(mixed=True), dtype=formats, data=st.data())
def test_any_steps_on_a_device(
    problem: dict[str, Any], dtype: str, data: st.DataObject, device: Backend
) -> None:
    whole = run(read(problem), dtype=dtype)
    keep = data.draw(st.sets(st.sampled_from(list(whole.steps)), min_size=1))
    some = keeping(read(problem), dtype, keep, device)
    if some is None:
        assert names_a_step(whole)
        return
    agree(some, whole, dtype, device.device)
    assert all(some.steps[name].kept for name in keep)


def names_a_step(whole: Trace) -> bool:
    """Whether there is more to tell than of rows without keys, or may be: then the whole trace
    tells it.
    """
    return len(whole.warnings) > 0 or any("additive" in name for name in whole.parameters)
