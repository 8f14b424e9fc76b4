"""Mistakes in the weights of a model: what NumPy makes of a matrix that is cut or put in order in
another way is what the mistakes say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.mistakes.catalogue import known_mistakes
from attncli.mistakes.in_weights import in_weights
from attncli.mistakes.mistaken_trace import MistakenTrace
from attncli.mistakes.model import Changes
from attncli.mistakes.weights import WEIGHT_MISTAKES
from attncli.tracing import Trace

Array = np.ndarray[Any, Any]
# Of each head: heads × d_model × features.
Parts = dict[str, Array]
D_MODEL, WIDTH = 12, 4
WEIGHTS = ("W_Q", "W_K", "W_V")


def problem(groups: int = 3, **more: Any) -> attncli.Problem:
    """Three query heads, and as many of keys and values or fewer."""
    random = np.random.default_rng(7)
    columns = {"Q": 3 * WIDTH, "K": groups * WIDTH, "V": groups * WIDTH}
    weights = {f"W_{name}": random.normal(size=(D_MODEL, n)) for name, n in columns.items()}
    heads = {"heads": 3} | ({} if groups == 3 else {"kv_heads": groups})
    return attncli.problem(X=random.normal(size=(5, D_MODEL)), **weights, **heads, **more)


def trace_and_changes(id: str, **more: Any) -> tuple[Trace, Changes]:
    trace = attncli.trace(problem(**more))
    [mistake] = [each for each in known_mistakes() if each.id == id]
    return trace, mistake.change(trace)


def parts_of(trace: Trace) -> list[Array]:
    return [trace[name] for name in WEIGHTS]


def all_of(parts: list[Array]) -> Array:
    """One matrix as torch.nn.Linear has it: all queries, all keys, all values, row by row."""
    return np.concatenate([each.transpose(0, 2, 1).reshape(-1, D_MODEL) for each in parts])


def heads_of(rows: Array) -> Array:
    return rows.reshape(-1, WIDTH, D_MODEL).transpose(0, 2, 1)


def head_by_head(parts: list[Array]) -> list[Array]:
    """As GPT-NeoX reads a matrix, which has other parts first."""
    cut = all_of(parts).reshape(3, 3, WIDTH, D_MODEL)
    return [heads_of(cut[:, part]) for part in range(3)]


def part_by_part(parts: list[Array]) -> list[Array]:
    """As GPT-2 reads a matrix, which has the heads one after the other."""
    fused = np.stack([each.transpose(0, 2, 1) for each in parts], axis=1).reshape(-1, D_MODEL)
    return [heads_of(rows) for rows in np.split(fused, 3)]


def by_features(parts: list[Array]) -> list[Array]:
    """view(..., d, heads) for view(..., heads, d)."""
    found = []
    for each in parts:
        heads = len(each)
        rows = each.transpose(0, 2, 1).reshape(WIDTH, heads, D_MODEL)
        found.append(rows.transpose(1, 2, 0))
    return found


def rotated_rows(weights: Array) -> Array:
    """`permute` of the script that converts Llama's weights, for W of out × in."""
    heads = len(weights)
    rows = weights.transpose(0, 2, 1).reshape(heads, WIDTH // 2, 2, D_MODEL)
    return rows.transpose(0, 2, 1, 3).reshape(heads, WIDTH, D_MODEL).transpose(0, 2, 1)


def back_to_pairs(weights: Array) -> Array:
    heads = len(weights)
    rows = weights.transpose(0, 2, 1).reshape(heads, 2, WIDTH // 2, D_MODEL)
    return rows.transpose(0, 2, 1, 3).reshape(heads, WIDTH, D_MODEL).transpose(0, 2, 1)


HALVES = {"position": {"rope": {"pairing": "half"}}}
PAIRS = {"position": {"rope": {"pairing": "interleaved"}}}
# The biases of Q, K and V.
BIASES = {f"b_{name}": np.arange(12.0) + number for number, name in enumerate("QKV")}
MADE: dict[str, tuple[dict[str, Any], Callable[[list[Array]], list[Array]]]] = {
    "w-q-w-k-swapped": ({}, lambda w: [w[1], w[0], w[2]]),
    "k-v-q-for-q-k-v": ({}, lambda w: [w[1], w[2], w[0]]),
    "v-q-k-for-q-k-v": ({}, lambda w: [w[2], w[0], w[1]]),
    "fused-cut-by-heads": ({}, head_by_head),
    "fused-cut-by-parts": ({}, part_by_part),
    "heads-cut-by-features": ({"groups": 1}, by_features),
    "w-q-transposed": ({}, lambda w: [heads_of(all_of(w)[:D_MODEL].T), *w[1:]]),
    "rope-features-as-pairs": (
        HALVES,
        lambda w: [back_to_pairs(w[0]), back_to_pairs(w[1]), w[2]],
    ),
    "rope-features-to-halves-twice": (
        HALVES,
        lambda w: [rotated_rows(w[0]), rotated_rows(w[1]), w[2]],
    ),
    "rope-features-to-pairs-twice": (
        PAIRS,
        lambda w: [back_to_pairs(w[0]), back_to_pairs(w[1]), w[2]],
    ),
    "rope-features-as-halves": (PAIRS, lambda w: [rotated_rows(w[0]), rotated_rows(w[1]), w[2]]),
}


def test_each_mistake_of_weights_is_made_here() -> None:
    made = {"all-biases-left-out", *EXCHANGED, *MADE}
    assert {mistake.id for mistake in WEIGHT_MISTAKES} <= made


@pytest.mark.parametrize("id", MADE)
def test_the_weights_are_those_that_numpy_makes(id: str) -> None:
    more, make = MADE[id]
    trace, changes = trace_and_changes(id, **more)
    found = in_weights(trace, changes)
    expected = make(parts_of(trace))
    assert found
    for name, weights in zip(WEIGHTS, expected, strict=True):
        np.testing.assert_array_equal(found.get(name, trace[name]), weights)
    # Read so, the right weights give the same queries as the wrong ones would.
    mistaken = MistakenTrace(trace, changes)
    queries = np.einsum("id,hdk->hik", trace["X"], expected[0])
    np.testing.assert_allclose(mistaken["Q"], queries, rtol=0, atol=1e-12)


def test_groups_of_queries_that_share_keys() -> None:
    """A single group of three queries, a key and a value has both orders in one."""
    trace, changes = trace_and_changes("fused-cut-by-heads", groups=1)
    found = in_weights(trace, changes)
    for name in WEIGHTS:
        np.testing.assert_array_equal(found[name], trace[name])


EXCHANGED = {"q-k-exchanged": "QK", "q-v-exchanged": "QV"}


@pytest.mark.parametrize("id", EXCHANGED)
def test_parts_are_exchanged_with_their_biases(id: str) -> None:
    trace, changes = trace_and_changes(id, **BIASES)
    found = in_weights(trace, changes)
    one, other = EXCHANGED[id]
    assert sorted(found) == sorted(f"{kind}_{name}" for kind in "Wb" for name in EXCHANGED[id])
    for kind in ("W", "b"):
        np.testing.assert_array_equal(found[f"{kind}_{one}"], trace[f"{kind}_{other}"])
        np.testing.assert_array_equal(found[f"{kind}_{other}"], trace[f"{kind}_{one}"])


def test_a_bias_that_is_left_out_is_0() -> None:
    trace, changes = trace_and_changes("all-biases-left-out", **BIASES)
    found = in_weights(trace, changes)
    assert sorted(found) == ["b_K", "b_Q", "b_V"]
    assert not any(np.any(numbers) for numbers in found.values())


@pytest.mark.parametrize("id", ["scale-left-out", "a-x-for-a-v", "heads-split-by-rows"])
def test_what_is_no_mistake_of_weights(id: str) -> None:
    """The scale reads no weights, and rows of X have no room in them."""
    trace, changes = trace_and_changes(id, groups=3)
    assert in_weights(trace, changes) == {}
