"""PyTorch's own attention in double precision: the same to 12 decimals, on random problems of every
shape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attncli.backend import Backend
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.keep_and_hide import Hide, Keep
from attncli.tracing import run
from tests.cases import in_one_test

pytestmark = pytest.mark.torch
Build = Callable[..., Problem]


def attention(
    torch: Any, q: np.ndarray, k: np.ndarray, v: np.ndarray, **choices: Any
) -> np.ndarray:
    if isinstance(mask := choices.get("attn_mask"), np.ndarray):
        choices["attn_mask"] = torch.from_numpy(mask)
    tensors = (torch.from_numpy(array) for array in (q, k, v))
    return torch.nn.functional.scaled_dot_product_attention(*tensors, **choices).numpy()


def random_arrays(seed: int) -> tuple[np.random.Generator, dict[str, np.ndarray]]:
    random = np.random.default_rng(seed)
    n, m, d_k, d_v = random.integers(1, 9, size=4)
    spread = random.choice([0.1, 1, 5])
    sizes = {"Q": (n, d_k), "K": (m, d_k), "V": (m, d_v)}
    return random, {name: random.normal(scale=spread, size=size) for name, size in sizes.items()}


def agree(ours: np.ndarray, theirs: np.ndarray) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@in_one_test("seed", range(40))
def test_cross_attention(torch: Any, problem: Build, backend: Backend, seed: int) -> None:
    _, arrays = random_arrays(seed)
    agree(run(problem(**arrays), backend=backend)["output"], attention(torch, *arrays.values()))


@in_one_test("seed", range(20))
def test_a_scale_of_its_own(torch: Any, problem: Build, seed: int) -> None:
    random, arrays = random_arrays(seed)
    scale = float(random.uniform(0.1, 2))
    agree(
        run(problem(**arrays, scale=scale))["output"],
        attention(torch, *arrays.values(), scale=scale),
    )


@in_one_test("seed", range(20))
def test_causal_from_the_top_left(torch: Any, problem: Build, seed: int) -> None:
    _, arrays = random_arrays(seed)
    trace = run(problem(**arrays, mask=(Causal(),)))
    agree(trace["output"], attention(torch, *arrays.values(), is_causal=True))


@in_one_test("polarity", [Keep, Hide])
@in_one_test("seed", range(20))
def test_boolean_masks_and_rows_that_see_nothing(
    torch: Any, problem: Build, seed: int, polarity: Any
) -> None:
    random, arrays = random_arrays(seed)
    keep = random.random((len(arrays["Q"]), len(arrays["K"]))) < 0.5
    trace = run(problem(**arrays, mask=(polarity(keep if polarity is Keep else ~keep),)))
    agree(trace["output"], attention(torch, *arrays.values(), attn_mask=keep))


@in_one_test("seed", range(20))
def test_numbers_added_to_the_scores(torch: Any, problem: Build, seed: int) -> None:
    random, arrays = random_arrays(seed)
    bias = random.choice([0, 1.5, -3, -1e9, -np.inf], size=(len(arrays["Q"]), len(arrays["K"])))
    trace = run(problem(**arrays, mask=(Additive(Matrix(bias)),)))
    agree(trace["output"], attention(torch, *arrays.values(), attn_mask=bias))


@in_one_test("seed", range(10))
def test_from_the_words_on(torch: Any, problem: Build, seed: int) -> None:
    random = np.random.default_rng(seed)
    x = random.normal(size=(5, 4))
    weights = {f"W_{name}": random.normal(size=(4, 3)) for name in "QKV"}
    trace = run(problem(X=x, **weights))
    agree(trace["output"], attention(torch, *(x @ weights[f"W_{name}"] for name in "QKV")))


@in_one_test("dtype", ["float16", "bfloat16"])
def test_numbers_are_rounded_as_pytorch_rounds_them(
    torch: Any, backend: Backend, dtype: str
) -> None:
    from attncli.dtypes import DTYPES

    numbers = np.random.default_rng(0).normal(scale=100, size=2000).astype(np.float32)
    theirs = torch.from_numpy(numbers).to(getattr(torch, dtype)).to(torch.float32).numpy()
    ours = backend.to_host(backend.asarray(numbers, DTYPES[dtype]))
    np.testing.assert_array_equal(ours, theirs)
