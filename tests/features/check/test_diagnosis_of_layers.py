"""Mistakes with heads, groups of heads and turned positions, made in NumPy: named from matrices and
from outputs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from attncli.mistakes.catalogue import known_mistakes
from tests.features.check.mistaken import shares
from tests.features.check.test_diagnosis import CASES as OF_ONE_HEAD
from tests.features.check.test_diagnosis import UNSEEN, diagnosed, written
from tests.features.check.test_diagnosis_of_gradients import CASES as ON_THE_WAY_BACK

Array = NDArray[np.float64]

_RANDOM = np.random.default_rng(4)
X, W_Q, W_K, W_V = (
    _RANDOM.uniform(-1, 1, size=size).round(1) for size in ((3, 5), (5, 8), (5, 4), (5, 4))
)
W_O = _RANDOM.uniform(-1, 1, size=(8, 8)).round(1)
THETA = 100.0


def heads_of(array: Array, heads: int, *, by_rows: bool = False) -> Array:
    """(rows, heads·width) -> (heads, rows, width)."""
    rows, width = array.shape[0], array.shape[1] // heads
    return (
        array.reshape(heads, rows, width)
        if by_rows
        else array.reshape(rows, heads, width).swapaxes(0, 1)
    )


def turned(array: Array, pairing: str, way: int = 1) -> Array:
    rows, width = array.shape[-2:]
    angles = way * np.arange(rows)[:, None] / THETA ** (2 * np.arange(width // 2) / width)
    found = np.empty_like(array)
    first, second = (slice(0, None, 2), slice(1, None, 2)) if pairing == "interleaved" else (
        slice(0, width // 2), slice(width // 2, None))  # fmt: skip
    found[..., first] = array[..., first] * np.cos(angles) - array[..., second] * np.sin(angles)
    found[..., second] = array[..., first] * np.sin(angles) + array[..., second] * np.cos(angles)
    return found


def solution(
    did: str, *, heads: int = 2, kv_heads: int = 1, rope: bool = False
) -> dict[str, Array]:
    """Every step of a layer of heads; `did` says which mistake is made."""
    by_rows = did == "split by rows"
    keys, values = W_K[:, : 2 * kv_heads * 2], W_V[:, : 2 * kv_heads * 2]
    width = keys.shape[1] // kv_heads
    q, k, v = (
        heads_of(X @ w, n, by_rows=by_rows)
        for w, n in ((W_Q[:, : heads * width], heads), (keys, kv_heads), (values, kv_heads))
    )
    found = {"Q": q, "K": k, "V": v}
    if rope and did != "left out":
        pairing, way = (
            ("interleaved" if did == "pairing" else "half"),
            (-1 if did == "other way" else 1),
        )
        q, k = turned(q, pairing, way), turned(k, pairing, way)
    if rope:
        found |= {"Q_rot": q, "K_rot": k}
    group = heads // kv_heads
    k, v = (
        np.tile(a, (group, 1, 1)) if did == "tiled" else np.repeat(a, group, axis=0) for a in (k, v)
    )
    found["scores"] = q @ k.swapaxes(-1, -2)
    found["scaled"] = found["scores"] / (width * (heads if did == "joined root" else 1)) ** 0.5
    exp = np.exp(found["scaled"])
    found["weights"] = shares(exp, exp.sum(axis=-1, keepdims=True))
    mixed = found["heads_output"] = found["weights"] @ v
    rows = X.shape[0]
    joined = mixed if did == "joined by rows" else mixed.swapaxes(0, 1)
    found["concat"] = np.ascontiguousarray(joined).reshape(rows, -1)
    w_o = W_O[: heads * width, : heads * width]
    used = {"W_O transposed": w_o.T, "no W_O": np.eye(len(w_o))}.get(did, w_o)
    found["output"] = found["concat"] @ used
    if kv_heads == 1:
        found |= {name: found[name][0] for name in ("K", "V", "K_rot") if name in found}
    return found


def problem(heads: int, kv_heads: int, rope: bool) -> str:
    width = 4 if kv_heads == 1 else 2
    used = W_Q[:, : heads * width], W_K[:, : width * kv_heads], W_V[:, : width * kv_heads]
    lines = [
        f"{name}: {written(array)}" for name, array in zip(("W_Q", "W_K", "W_V"), used, strict=True)
    ]
    lines += [
        f"X: {written(X)}",
        f"W_O: {written(W_O[: heads * width, : heads * width])}",
        f"heads: {heads}",
    ]
    lines += [f"kv_heads: {kv_heads}"] if kv_heads < heads else []
    return "\n".join([*lines, *(["position: {rope: {theta: 100, pairing: half}}"] if rope else [])])


CASES: list[tuple[str, str, dict[str, Any]]] = [
    (
        "heads were split by rows, without moving their axis",
        "split by rows",
        {"heads": 2, "kv_heads": 2},
    ),
    (
        "heads were joined without moving their axis back",
        "joined by rows",
        {"heads": 2, "kv_heads": 2},
    ),
    ("KV heads were tiled, not repeated", "tiled", {"heads": 4, "kv_heads": 2}),
    ("W_O was transposed", "W_O transposed", {"heads": 2, "kv_heads": 2}),
    ("W_O was left out", "no W_O", {"heads": 2, "kv_heads": 2}),
    (
        "the scores were divided by the root of d_k of all heads together",
        "joined root",
        {"heads": 4, "kv_heads": 2},
    ),
    (
        "RoPE rotated the wrong pairs of features",
        "pairing",
        {"heads": 2, "kv_heads": 1, "rope": True},
    ),
    ("RoPE was left out", "left out", {"heads": 2, "kv_heads": 1, "rope": True}),
    ("RoPE rotated in the wrong direction", "other way", {"heads": 2, "kv_heads": 1, "rope": True}),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("name", "did", "sizes"), CASES, ids=[case[1] for case in CASES])
@pytest.mark.parametrize("whole", [True, False], ids=["matrices", "output"])
def test_named(name: str, did: str, sizes: dict[str, Any], whole: bool) -> None:
    answers = solution(did, **sizes)
    text = problem(sizes["heads"], sizes["kv_heads"], sizes.get("rope", False))
    assert diagnosed(text, solution("", **sizes)) == ()
    found = diagnosed(text, answers if whole else {"output": answers["output"]})
    assert found[0].mistakes == (name,)


def test_every_mistake_is_made_in_a_test() -> None:
    made = {name for name, *_ in (*CASES, *OF_ONE_HEAD, *UNSEEN, *ON_THE_WAY_BACK)}
    assert {mistake.name for mistake in known_mistakes()} == made


@pytest.mark.parametrize("whole", [True, False], ids=["matrices", "output"])
def test_heads_that_are_given_and_split_by_rows(whole: bool) -> None:
    """Q, K and V themselves: two heads side by side, cut where the rows end."""
    answers, right = (
        solution("split by rows", heads=2, kv_heads=2),
        {"Q": X @ W_Q[:, :4], "K": X @ W_K, "V": X @ W_V},
    )
    lines = [f"{name}: {written(array)}" for name, array in {**right, "W_O": W_O[:4, :4]}.items()]
    later = {name: answers[name] for name in ("scores", "scaled", "weights", "output")}
    found = diagnosed(
        "\n".join([*lines, "heads: 2"]), later if whole else {"output": answers["output"]}
    )
    assert found[0].mistakes == ("heads were split by rows, without moving their axis",)
