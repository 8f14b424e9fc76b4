"""Attention that is written out in drawn ways: whatever is kept gives attncli the same output."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.torch

ENTRIES, HEADS, QUERIES, KEYS = 2, 3, 4, 5


def product(way: str, q: Any, k: Any, torch: Any) -> Any:
    """The scores, whose last two axes are those of queries and keys."""
    if way == "einsum":
        return torch.einsum("bhid,bhjd->bhij", q, k)
    if way == "bmm":
        return torch.bmm(q.flatten(0, 1), k.flatten(0, 1).mT)
    if way == "baddbmm":
        added = torch.randn(ENTRIES * HEADS, QUERIES, KEYS, dtype=q.dtype)
        return torch.baddbmm(added, q.flatten(0, 1), k.flatten(0, 1).mT, beta=0.5, alpha=0.3)
    return q @ k.mT


def changed(scores: Any, change: str, draw: random.Random, torch: Any) -> Any:
    """One of the things that models do to scores."""
    keep = torch.ones(QUERIES, KEYS).tril(draw.randint(0, 2)).bool()
    limit = draw.choice([1.0, 5.0, 50.0])
    changes: dict[str, Callable[[], Any]] = {
        "multiply": lambda: scores * draw.choice([0.3, 2.0, -1.0]),
        "divide": lambda: scores / math.sqrt(8),
        "in place": lambda: scores.mul_(0.5),
        "add": lambda: scores + torch.randn(QUERIES, KEYS, dtype=scores.dtype),
        "subtract from": lambda: torch.randn(KEYS, dtype=scores.dtype) - scores,
        "fill": lambda: scores.masked_fill(~keep, -math.inf),
        "add low": lambda: scores + (~keep).to(scores.dtype) * -1e4,
        "where": lambda: torch.where(keep, scores, torch.finfo(scores.dtype).min),
        "softcap": lambda: limit * torch.tanh(scores / limit),
        "clamp": lambda: scores.clamp(-3, 30),
        "upcast": lambda: scores.float(),
        "copy": lambda: scores.transpose(0, 1).contiguous().transpose(0, 1),
        "heads": lambda: scores.reshape(ENTRIES, HEADS, QUERIES, KEYS),
    }
    return changes[change]()


CHANGES = [
    "multiply",
    "divide",
    "in place",
    "add",
    "subtract from",
    "fill",
    "add low",
    "where",
    "softcap",
    "clamp",
    "upcast",
    "copy",
    "heads",
]


@pytest.mark.filterwarnings("ignore")
@settings(settings.get_profile("usual"))
@given(
    seed=st.integers(0, 10**6),
    way=st.sampled_from(["matmul", "einsum", "bmm", "baddbmm"]),
    changes=st.lists(st.sampled_from(CHANGES), max_size=5),
    dtype=st.sampled_from(["float32", "float64", "bfloat16", "float16"]),
)
def test_what_is_kept_agrees(
    torch: Any, seed: int, way: str, changes: list[str], dtype: str
) -> None:
    import attncli.torch

    def attend() -> Any:
        torch.manual_seed(seed)
        draw = random.Random(seed)
        number_format = getattr(torch, dtype)
        shapes = [(ENTRIES, HEADS, n, 4) for n in (QUERIES, KEYS, KEYS)]
        q, k, v = (torch.randn(shape).to(number_format) for shape in shapes)
        scores = product(way, q, k, torch)
        for change in changes:
            scores = changed(scores, change, draw, torch)
        weights = torch.softmax(scores, dim=-1).to(number_format)
        return weights.reshape(ENTRIES, HEADS, QUERIES, KEYS) @ v

    expected = attend()
    with attncli.torch.recording() as calls:
        assert torch.equal(attend().nan_to_num(), expected.nan_to_num())
    (call,) = calls
    # A clamp, and a softcap after something was added, have no place in a problem.
    may_be_refused = {"clamp", "softcap"} & {*changes}
    assert not call.reason or may_be_refused, call.reason
    if not call.reason:
        assert call.check(), call.check()
