"""Whatever the contract allows: every step is what the reference finds, to 10 decimals."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import attncli
from tests.conformance.drawn import problem_files
from tests.reference import in_arrays

MANY = settings.get_profile("many")


def agree(ours: np.ndarray, theirs: np.ndarray, name: str) -> None:
    if name != "output":  # may lack the axes along which it repeats
        ours = np.broadcast_to(ours, np.broadcast_shapes(ours.shape, theirs.shape))
        theirs = np.broadcast_to(theirs, ours.shape)
    assert ours.shape == theirs.shape, name
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10, err_msg=name)


@MANY
@given(
    problem=problem_files()
    | problem_files(mixed=True)
    | problem_files(mixed=True, settings_of_rope=True)
)
def test_every_step_agrees(
    program: Callable[..., dict[str, np.ndarray]], problem: dict[str, Any]
) -> None:
    ours, theirs = program(problem), in_arrays.attention(problem)
    if ours["output"].ndim == 4:  # the heads stay apart
        theirs["output"] = theirs["heads_output"]
    for name in in_arrays.STEPS:
        if name in ours:
            agree(ours[name], theirs[name], name)
    assert {"Q", "K", "V", "scores", "weights", "output"} <= {*ours}


@given(problem=problem_files())
def test_rows_of_weights_are_shares(
    trace: Callable[..., attncli.Trace], problem: dict[str, Any]
) -> None:
    found, theirs = trace(problem), in_arrays.attention(problem)
    weights = found["weights"]
    unseen = np.broadcast_to(theirs.unseen, theirs["weights"].shape)
    sums = weights.sum(axis=-1)
    blind = unseen.all(axis=-1).reshape(sums.shape)
    assert (weights >= 0).all()
    assert (sums[blind] == 0).all()
    if "sink" in problem:
        assert (sums <= 1 + 1e-12).all()
    else:
        np.testing.assert_allclose(sums[~blind], 1, rtol=1e-12)
    listed = [tuple(np.atleast_1d(row)) for row in found.fully_masked]
    assert sorted(listed) == sorted(map(tuple, np.argwhere(blind)))
    assert not [sentence for sentence in found.warnings if "fit into" in sentence]
    assert (weights[unseen.reshape(weights.shape)] == 0).all()


@pytest.mark.slow
@settings.get_profile("few")
@given(problem=problem_files(mixed=True) | problem_files(settings_of_rope=True))
def test_a_trace_survives_json(
    trace: Callable[..., attncli.Trace], problem: dict[str, Any]
) -> None:
    found = trace(problem)
    written = json.dumps(found.to_dict(), allow_nan=False)
    read = attncli.Trace.from_dict(json.loads(written))
    assert json.dumps(read.to_dict(), allow_nan=False) == written
    assert read.to_markdown() == found.to_markdown()
    for name, step in found.steps.items():
        np.testing.assert_array_equal(read[name], step.value)
        assert read.steps[name].labels == step.labels
        assert read.steps[name].rule == step.rule
