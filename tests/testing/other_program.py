"""A program of somebody else that works the exported cases out: it reads `cases.json` and the raw
arrays with NumPy alone, and knows every setting.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
STORED = {"float32": "<f4", "uint8": "u1"}


def cases_in(folder: Path) -> list[dict[str, Any]]:
    """The cases, as `cases.json` has them."""
    data = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = data["cases"]
    return found


def arrays_of(folder: Path, case: dict[str, Any]) -> dict[str, Array]:
    """The arrays of a case by their names."""
    found = {}
    for name, said in case["arrays"].items():
        data = (folder / said["file"]).read_bytes()
        array = np.frombuffer(data, STORED[said["type"]]).reshape(said["shape"])
        found[name] = array.astype(bool if said["type"] == "uint8" else np.float64)
    return found


def attention(
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None = None,
    bias: Array | None = None,
    causal: bool = False,
    scale: float | None = None,
    window: int | None = None,
    softcap: float | None = None,
    sinks: Array | None = None,
    alibi_slopes: Array | None = None,
    rope_theta: float | None = None,
    offset: int = 0,
    rope_parameters: dict[str, Any] | None = None,
) -> Array:
    """Attention by the book: causal from the last token, a window that counts the token itself."""
    n, m = q.shape[-2], k.shape[-2]
    group = q.shape[1] // k.shape[1]
    if rope_theta is not None:
        q, k = rotated(q, rope_theta, offset), rotated(k, rope_theta, 0)
    if rope_parameters is not None:
        q, k = slowed(q, rope_parameters), slowed(k, rope_parameters)
    k, v = (np.repeat(each, group, axis=1) for each in (k, v))
    scores = q @ np.swapaxes(k, -1, -2) * (scale or q.shape[-1] ** -0.5)
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    if bias is not None:
        scores = scores + bias
    behind = np.arange(m) - (np.arange(n)[:, None] + m - n)
    if alibi_slopes is not None:
        scores = scores - alibi_slopes[:, None, None] * np.abs(behind)
    seen = np.ones((n, m), bool) if mask is None else mask
    if causal or window is not None:
        seen = seen & (behind <= 0)
    if window is not None:
        seen = seen & (behind > -window)
    return weighted(np.where(seen, scores, -np.inf), v, sinks)


def weighted(scores: Array, v: Array, sinks: Array | None) -> Array:
    """The softmax of the scores, with a score for each head beside them, times the values; 0 for
    a query that sees no key.
    """
    largest = np.max(scores, axis=-1, keepdims=True)
    if sinks is not None:
        largest = np.maximum(largest, sinks[:, None, None])
    shares = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = shares.sum(axis=-1, keepdims=True)
    if sinks is not None:
        total = total + np.exp(sinks[:, None, None] - largest)
    return np.asarray(shares / np.where(total == 0, 1, total) @ v)


def rotated(array: Array, theta: float, first: int) -> Array:
    """RoPE that turns each feature of the first half with that of the second."""
    width = array.shape[-1]
    return turned(array, theta ** (-2 * np.arange(width // 2) / width), first)


def slowed(array: Array, said: dict[str, Any]) -> Array:
    """Rotated with YaRN, whose factor multiplies what is rotated."""
    factor = 1 + np.log(said["factor"]) / 10
    rotated_slowly: Array = factor * turned(array, speeds_of_yarn(said, array.shape[-1]), 0)
    return rotated_slowly


def speeds_of_yarn(said: dict[str, Any], width: int) -> Array:
    """Pairs that make few turns in a text of training are slowed down by the factor, those that
    make many are not, and those between by a share, in whole pairs.
    """
    assert said["rope_type"] == "yarn"
    pairs = np.arange(width // 2)
    plain = said["rope_theta"] ** (-2 * pairs / width)
    turns = said["original_max_position_embeddings"] * plain / (2 * np.pi)
    # One pair more has so much less turns.
    less = np.log(turns[0] / turns[1])
    pair_of_few = np.log(turns[0] / said["beta_slow"]) / less
    pair_of_many = np.log(turns[0] / said["beta_fast"]) / less
    low, high = max(np.floor(pair_of_many), 0), min(np.ceil(pair_of_few), width - 1)
    share = np.minimum(np.maximum((pairs - low) / (high - low), 0), 1)
    speeds: Array = share * plain / said["factor"] + (1 - share) * plain
    return speeds


def turned(array: Array, speeds: Array, first: int) -> Array:
    """Each feature of the first half turned with that of the second, by its place times a speed."""
    *_, tokens, width = array.shape
    half = width // 2
    angle = (first + np.arange(tokens))[:, None] * speeds
    one, other = array[..., :half], array[..., half:]
    both = (
        one * np.cos(angle) - other * np.sin(angle),
        other * np.cos(angle) + one * np.sin(angle),
    )
    return np.concatenate(both, axis=-1)


def answer_all(
    cases: Path,
    to: Path,
    function: Callable[..., Array] = attention,
    stored: str = "<f4",
    suffix: str = "f32",
) -> None:
    """Work every case out that the function has arguments for, and write the outputs."""
    to.mkdir(exist_ok=True)
    for case in cases_in(cases):
        try:
            output = function(**arrays_of(cases, case), **case["settings"])
        except TypeError:
            continue
        stem = case["output"]["file"].removesuffix(".output.f32")
        np.ascontiguousarray(output, stored).tofile(to / f"{stem}.output.{suffix}")
