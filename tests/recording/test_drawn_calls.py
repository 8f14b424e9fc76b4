"""Random calls: attncli, the problem that is saved and read again, and PyTorch in float64 give the
same output.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import attncli
from tests.recording.drawn_calls import Drawn, drawn, drawn_layer

pytestmark = pytest.mark.torch


@settings.get_profile("many")
@given(seed=st.integers(0, 10**6))
def test_what_is_saved_gives_the_output_of_pytorch(
    torch: Any, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    case = drawn(torch, seed)
    path = tmp_path_factory.mktemp("drawn") / "call.yaml"
    alone = case.run()
    calls, recorded = case.recorded(torch)
    assert type(recorded) is type(alone)
    assert torch.equal(recorded.nan_to_num(), alone.nan_to_num()), case.words
    (call,) = calls
    assert call.check(), (case.words, call.check())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call.save(path)
    require_same(torch, case, attncli.trace(attncli.load(path)))


@settings.get_profile("many")
@given(seed=st.integers(0, 10**6))
def test_what_is_saved_of_a_layer_gives_its_output(
    torch: Any, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    module, inputs, asked = drawn_layer(torch, seed)
    path = tmp_path_factory.mktemp("drawn") / "call.yaml"
    alone, weights = module(*inputs, **asked)
    with attncli.torch.recording() as calls:
        recorded, again = module(*inputs, **asked)
    assert torch.equal(recorded, alone)
    assert weights is None or torch.equal(weights, again)
    (call,) = calls
    assert call.check(), call.check()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for part in (
            {"head": call.heads - 1, "entry": 0},
            {"entry": call.entries - 1},
            {"from_inputs": False},
            {},
        ):
            call.save(path, **part)
    trace = attncli.trace(attncli.load(path))
    if "W_O" in trace:
        rows = alone if alone.ndim == 2 or module.batch_first else alone.transpose(0, 1)
        expected = rows.detach().numpy()
        assert np.array(trace["output"]).reshape(expected.shape) == pytest.approx(
            expected, abs=1e-5
        )
    if weights is not None:
        means = (
            np.array(trace["weights"])
            .reshape(call.entries, call.heads, *weights.shape[-2:])
            .mean(axis=1)
        )
        assert means.reshape(weights.shape) == pytest.approx(weights.detach().numpy(), abs=1e-5)


def require_same(torch: Any, case: Drawn, trace: attncli.Trace) -> None:
    """The output of a trace is that of PyTorch in float64, but for queries that see no key."""
    query, key, *_, mask = case.arguments
    expected = case.in_double(torch).numpy()
    ours = np.array(trace["output"]).reshape(expected.shape)
    blind = np.zeros(np.shape(trace["weights"])[:-1], dtype=bool)
    for row in trace.fully_masked:
        blind[row] = True
    blind = blind.reshape(expected.shape[:-1])
    assert not (blind & ~may_be_blind(torch, mask, blind.shape)).any(), case.words
    # digits of float32 are read as those of float64: as far as scores are off by that, so are
    # weights
    scores = float(
        query.detach().double().norm(dim=-1).max() * key.detach().double().norm(dim=-1).max()
    )
    size = max(1.0, scores * (case.words["scale"] or 1.0))
    assert ours[~blind] == pytest.approx(expected[~blind], abs=1e-5 * size), case.words


def may_be_blind(torch: Any, mask: Any, shape: tuple[int, ...]) -> Any:
    """Which queries see no key, whatever is meant by low numbers: true and false, for each head of
    each entry.
    """
    if mask is None or hasattr(mask, "variant"):
        return np.zeros(shape, dtype=bool)
    hidden = ~mask if mask.dtype == torch.bool else mask <= -60000
    return np.broadcast_to(hidden.all(dim=-1).numpy(), shape)
