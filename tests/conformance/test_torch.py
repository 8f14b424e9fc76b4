"""PyTorch with heads and batches in double precision, against the program and the reference
alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.cases import in_one_test
from tests.conformance.problems import arrays, heads_of, problem_file

pytestmark = pytest.mark.torch
Solve = Callable[[dict[str, Any]], dict[str, np.ndarray]]
SEEDS = range(8)


def agree(ours: np.ndarray, theirs: Any) -> None:
    np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-10, atol=1e-10)


def sdpa(torch: Any, given: dict[str, np.ndarray], **choices: Any) -> Any:
    tensors = (torch.from_numpy(array) for array in given.values())
    if isinstance(mask := choices.get("attn_mask"), np.ndarray):
        choices["attn_mask"] = torch.from_numpy(mask)
    return torch.nn.functional.scaled_dot_product_attention(*tensors, enable_gqa=True, **choices)


@in_one_test("kv_heads", [1, 2, 4])
@in_one_test("seed", SEEDS)
def test_grouped_queries(torch: Any, solve: Solve, kv_heads: int, seed: int) -> None:
    given = arrays(np.random.default_rng(seed), kv_heads=kv_heads)
    for choices in ({}, {"scale": 0.3}):
        agree(heads_of(solve(problem_file(**given, **choices))), sdpa(torch, given, **choices))


@in_one_test("n", [1, 3, 7])
def test_causal_from_the_top_left(torch: Any, solve: Solve, n: int) -> None:
    given = arrays(np.random.default_rng(n), n=n)
    agree(heads_of(solve(problem_file(**given, mask="causal"))), sdpa(torch, given, is_causal=True))


@in_one_test("leading", [(), (4,), (1,), (1, 1), (2, 1), (1, 4), (2, 4)])
@in_one_test("seed", SEEDS)
def test_masks_of_every_rank(torch: Any, solve: Solve, leading: tuple[int, ...], seed: int) -> None:
    random = np.random.default_rng(seed)
    given = arrays(random)
    keep = random.random((*leading, 3, 5)) < 0.5
    bias = random.choice([0, 1.5, -3, -np.inf], size=keep.shape)
    for mask, attn_mask in (
        (keep, keep), ({"keep": keep}, keep), ({"hide": ~keep}, keep), ({"additive": bias}, bias),
        ([{"keep": keep}, {"additive": bias}], np.where(keep, bias, -np.inf)),
    ):  # fmt: skip
        agree(
            heads_of(solve(problem_file(**given, mask=mask))),
            sdpa(torch, given, attn_mask=attn_mask),
        )


@in_one_test("seed", SEEDS)
def test_lengths_of_each_entry(torch: Any, solve: Solve, seed: int) -> None:
    random = np.random.default_rng(seed)
    given, lengths = arrays(random), random.integers(0, 6, size=2)
    exists = np.arange(5) < lengths[:, None]
    theirs = sdpa(torch, given, attn_mask=exists[:, None, None])
    agree(heads_of(solve(problem_file(**given, mask={"lengths": lengths}))), theirs)
    agree(heads_of(solve(problem_file(**given, mask={"padding": exists}))), theirs)


@in_one_test("seed", SEEDS)
def test_a_sink_is_one_more_key_that_brings_nothing(torch: Any, solve: Solve, seed: int) -> None:
    random = np.random.default_rng(seed)
    given, sink = arrays(random), random.normal(size=4)
    extra = {
        name: np.pad(given[name], ((0, 0), (0, 0), (0, name != "Q"), (0, 0))) for name in "QKV"
    }
    bias = np.zeros((4, 3, 6))
    bias[:, :, -1] = sink[:, None]
    agree(heads_of(solve(problem_file(**given, sink=sink))), sdpa(torch, extra, attn_mask=bias))


@in_one_test("seed", SEEDS)
def test_a_decode_step_is_the_last_row(torch: Any, solve: Solve, seed: int) -> None:
    given = arrays(np.random.default_rng(seed), n=5)
    full = sdpa(torch, given, is_causal=True)
    for past in (1, 3, 4):
        old, new = (
            {name: given[name][:, :, part] for name in "KV"}
            for part in (slice(past), slice(past, None))
        )
        step = problem_file(Q=given["Q"][:, :, past:], **new, past=old, mask="causal")
        agree(heads_of(solve(step)), full[:, :, past:])
