"""A whole block of equations of a problem's own, against the same in NumPy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import attncli
from attncli.tracing import run
from tests.tools.benchmarks.figures import Figure, figure

BLOCK = Path(__file__).parents[3] / "inputs" / "equations" / "transformer_block_2017.yaml"
WIDTH, INNER, HEADS = 64, 256, 4
Given = dict[str, np.ndarray]


def drawn(tokens: int) -> tuple[attncli.Problem, Given]:
    """The block of inputs/equations in another size, and its arrays by name."""
    random = np.random.default_rng(0)
    keys: dict[str, Any] = yaml.safe_load(BLOCK.read_text(encoding="utf-8"))
    del keys["tokens"]
    keys["heads"] = HEADS
    keys["X"] = random.standard_normal((tokens, WIDTH))
    for name in ("W_Q", "W_K", "W_V", "W_O"):
        keys[name] = random.standard_normal((WIDTH, WIDTH)) / math.sqrt(WIDTH)
    given = {name: keys[name] for name in ("X", "W_Q", "W_K", "W_V", "W_O")}
    lengths = {"d": WIDTH, "f": INNER}
    for cell in keys["arrays"]:
        name, _, letters = cell.partition("[")
        shape = [lengths[letter] for letter in letters if letter in lengths]
        if shape:
            given[name] = random.standard_normal(shape) / math.sqrt(WIDTH)
            keys["arrays"][cell] = given[name]
    return attncli.problem(**keys), given


def norm(rows: np.ndarray, gain: np.ndarray, bias: np.ndarray) -> np.ndarray:
    centred = rows - rows.mean(-1, keepdims=True)
    variance = (centred**2).mean(-1, keepdims=True)
    return gain * centred / np.sqrt(variance + 1e-5) + bias


def by_hand(given: Given) -> np.ndarray:
    """The block as one would write it in NumPy."""
    x = given["X"]
    q, k, v = (
        (x @ given[name]).reshape(len(x), HEADS, -1).swapaxes(0, 1)
        for name in ("W_Q", "W_K", "W_V")
    )
    scaled = q @ k.swapaxes(1, 2) / math.sqrt(WIDTH // HEADS)
    exp = np.exp(scaled - scaled.max(-1, keepdims=True))
    weights = exp / exp.sum(-1, keepdims=True)
    output = (weights @ v).swapaxes(0, 1).reshape(x.shape) @ given["W_O"]
    first = norm(x + output, given["gain_1"], given["bias_1"])
    inner = np.maximum(first @ given["W_in"] + given["b_in"], 0)
    return norm(first + inner @ given["W_out"] + given["b_out"], given["gain_2"], given["bias_2"])


def figures(quick: bool) -> Iterator[Figure]:
    tokens, rounds = (16, 1) if quick else (128, 101)
    problem, given = drawn(tokens)
    np.testing.assert_allclose(run(problem)["block"], by_hand(given), rtol=1e-9, atol=1e-9)
    what = f"all steps of a block of {tokens} tokens × {WIDTH} features; NumPy by hand"
    yield figure(what, lambda: run(problem), lambda: by_hand(given), 3, rounds=rounds)
