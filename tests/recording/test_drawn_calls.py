"""Random calls: attncli, the problem that is saved and read again, and PyTorch in float64 give the same output."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import attncli
from tests.recording.drawn_calls import Drawn, drawn

pytestmark = pytest.mark.torch


@settings.get_profile("many")
@given(seed=st.integers(0, 10**6))
def test_what_is_saved_gives_the_output_of_pytorch(
    torch: Any, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    case = drawn(torch, seed)
    path = tmp_path_factory.mktemp("drawn") / "call.yaml"
    alone = case.run()
    with attncli.torch.recording() as calls:
        recorded = case.run()
    assert type(recorded) is type(alone)
    assert torch.equal(recorded.nan_to_num(), alone.nan_to_num()), case.words
    (call,) = calls
    assert call.check(), (case.words, call.check())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call.save(path)
    require_same(torch, case, attncli.trace(attncli.load(path)))


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
    # digits of float32 are read as those of float64: as far as scores are off by that, so are weights
    scores = float(query.detach().double().norm(dim=-1).max() * key.detach().double().norm(dim=-1).max())
    size = max(1.0, scores * (case.words["scale"] or 1.0))
    assert ours[~blind] == pytest.approx(expected[~blind], abs=1e-5 * size), case.words


def may_be_blind(torch: Any, mask: Any, shape: tuple[int, ...]) -> Any:
    """Which queries see no key, whatever is meant by low numbers: true and false, for each head of each entry."""
    if mask is None or hasattr(mask, "variant"):
        return np.zeros(shape, dtype=bool)
    hidden = ~mask if mask.dtype == torch.bool else mask <= -60000
    return np.broadcast_to(hidden.all(dim=-1).numpy(), shape)
