"""All steps of a problem, its gradient, and many small heads, against NumPy by hand and PyTorch (rows 16 to 19)."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from attend import WIDTH, output
from versus import Figure, versus

from attncli.problem.masks.causal import Causal
from attncli.problem.model import Mask, Matrix, Problem
from attncli.tracing import run

ENTRIES, HEADS, TOKENS = 64, 8, 128


def arrays(*shape: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    return {name: random.standard_normal((*shape, WIDTH)) for name in "QKV"}


def problem(given: dict[str, np.ndarray], causal: bool = False) -> Problem:
    labels = tuple(f"t{place + 1}" for place in range(given["Q"].shape[-2]))
    matrices = {name: Matrix(array) for name, array in given.items()}
    return Problem("", labels, labels, matrices, Mask((Causal(),) * causal))


def by_hand(given: dict[str, np.ndarray], causal: bool) -> tuple[np.ndarray, ...]:
    """Every step that a trace keeps, as one would write them in NumPy."""
    scores = given["Q"] @ given["K"].T
    scaled = scores / math.sqrt(WIDTH)
    masked = scaled
    if causal:
        places = np.arange(len(scores))
        mask = np.where(places <= places[:, None], 0.0, -np.inf)
        masked = scaled + mask
    exp = np.exp(masked)
    sums = exp.sum(axis=1)
    weights = exp / sums[:, None]
    return scores, scaled, masked, exp, sums, weights, weights @ given["V"]


def figures(tokens: int, rounds: int) -> Iterator[Figure]:
    given = arrays(tokens)
    for number, causal, goal in ((16, False, 1.5), (17, True, 2.5)):
        what = f"all steps in float64{', causal' if causal else ''}, n = {tokens}, against the same by hand in NumPy"
        ours = problem(given, causal)
        yield versus(
            number, what, lambda ours=ours: run(ours), lambda causal=causal: by_hand(given, causal), goal, rounds=rounds
        )
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(int(os.environ.get("OPENBLAS_NUM_THREADS", os.cpu_count() or 1)))
    yield from _against_torch(torch, tokens // 4, rounds)


def _against_torch(torch: Any, tokens: int, rounds: int) -> Iterator[Figure]:
    given = arrays(tokens)
    ours = problem(given)
    inputs = [torch.from_numpy(array).requires_grad_() for array in given.values()]

    def autograd() -> object:
        q, k, v = inputs
        attended = torch.softmax(q @ k.T / math.sqrt(WIDTH), dim=-1) @ v
        return torch.autograd.grad(attended.sum(), inputs)

    what = f"gradient in float64, n = {tokens}, against torch's autograd"
    yield versus(18, what, lambda: run(ours, gradient=True), autograd, 1.2, rounds=4 * rounds)

    many = {name: array.astype(np.float32) for name, array in arrays(ENTRIES, HEADS, TOKENS).items()}
    entries = problem({name: array.astype(np.float64) for name, array in many.items()})
    q, k, v = (torch.from_numpy(array) for array in many.values())

    def attend() -> object:
        with torch.no_grad():
            return torch.nn.functional.scaled_dot_product_attention(q, k, v)

    what = f"output of {ENTRIES} entries of {HEADS} heads of {TOKENS} tokens, float32, against torch"
    yield versus(19, what, lambda: output(entries), attend, 1.5, rounds=2 * rounds)


if __name__ == "__main__":
    for figure in figures(2048, 7):
        print(figure.row(), flush=True)
