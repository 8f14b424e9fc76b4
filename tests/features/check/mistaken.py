"""Attention worked out by NumPy alone, with one mistake made on the way: what a wrong solution
looks like.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

X = np.array([[1.0, 0.5, -0.2, 0.8, 0.4], [0.3, 0.9, 0.1, -0.4, -1.1], [-0.7, 0.2, 0.6, 0.3, 0.5]])
W_Q = np.array([[0.5, 0.3], [-0.2, 0.4], [0.1, 0.6], [0.7, -0.2], [0.2, 0.8]])
W_K = np.array([[0.4, -0.1], [0.3, 0.5], [0.6, 0.2], [-0.2, 0.9], [0.5, -0.6]])
W_V = np.array([[0.6, 0.3], [0.2, -0.7], [0.4, 0.1], [0.3, 0.5], [-0.4, 0.9]])
SQUARE = {
    "X": np.array([[1.0, 0.5], [-0.2, 0.8], [0.3, -0.9]]),
    "W_Q": np.array([[0.5, 0.3], [-0.2, 0.4]]),
    "W_K": np.array([[0.4, -0.1], [0.7, 0.5]]),
    "W_V": np.array([[0.6, 0.3], [0.2, -0.7]]),
}
PLAIN = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V}


def exponentials(base: float, scores: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.where(scores == -np.inf, 0.0, base ** np.where(scores == -np.inf, 0.0, scores))


def half_up(array: Array, decimals: float) -> Array:
    """Rounded, halves upwards."""
    return np.floor(array * 10**decimals + 0.5) / 10**decimals


def shares(part: Array, whole: Array) -> Array:
    return part / np.where(whole == 0, 1, whole)


def causal(n: int, m: int, offset: int = 0) -> Array:
    return np.where(np.arange(m) <= np.arange(n)[:, None] + offset, 0.0, -np.inf)


def solution(given: dict[str, Any], did: str = "", number: float = 0.0) -> dict[str, Array]:
    """Every step of one head; `did` says which mistake is made, `number` of which size."""
    x, context = given["X"], given.get("context", given["X"])
    w = {name: given[f"W_{name}"] for name in "QKV"}
    if did == "swap":
        one, other = str(given["swap"])
        w[one], w[other] = w[other], w[one]
    if did == "transpose":
        w |= {name: w[name].T for name in str(given["transpose"])}
    found: dict[str, Array] = {"Q": x @ w["Q"], "K": context @ w["K"], "V": context @ w["V"]}
    for name, array in found.items():
        if f"b_{name}" in given and did != f"no b_{name}":
            found[name] = array + given[f"b_{name}"]
    q, k, v = found.values()
    d_k, d_model, n, m = k.shape[1], x.shape[1], len(q), len(k)
    found["K_T"] = k if did == "K not transposed" else k.T
    factors = {
        "K Q^T": (k, q), "Q Q^T": (q, q), "K K^T": (k, k), "Q V^T": (q, v), "X X^T": (x, context),
        "Q W_K^T": (q, w["K"]),
    }.get(did)  # fmt: skip
    scores = q @ found["K_T"] if factors is None else factors[0] @ factors[1].T
    found["scores"] = half_up(scores, number) if did == "rounded" else scores
    factor = {
        "unscaled": 1.0,
        "d_k": 1 / d_k,
        "d_model": d_model**-0.5,
        "n": n**-0.5,
        "by n": 1 / n,
        "times": d_k**0.5,
        "twice": 1 / d_k,
        "scale after": 1.0,
    }.get(did, d_k**-0.5)
    logits = found["scaled"] = found["scores"] * factor
    if given.get("score") == "dot":  # which has no step for what is scaled
        logits = found.pop("scaled") if did == "unasked" else found["scores"]
    if did == "scaled rounded":
        logits = found["scaled"] = half_up(logits, number)
    mask = given.get("mask")
    softcap = given.get("softcap")
    if softcap and did == "no softcap":
        found["capped"] = logits
    elif softcap:
        logits = found["capped"] = softcap * np.tanh(logits / softcap)
    if mask is not None:
        mask = {
            "inverted": np.where(mask == 0, -np.inf, 0.0),
            "mask transposed": mask.T,
            "self": causal(n, m, -1),
            "next": causal(n, m, 1),
            "corner": causal(n, m, m - n),
            "added": np.where(mask == 0, 0.0, number),
            "1 and 0": np.where(mask == 0, 1.0, 0.0),
            "0 and 1": np.where(mask == 0, 0.0, 1.0),
        }.get(did, mask)
        found["mask"] = mask
        if did == "softcap last":
            logits = softcap * np.tanh((found["scaled"] + mask) / softcap)
        elif did == "set":
            logits = np.where(mask == 0, logits, number)
        elif did not in ("forgotten", "mask after"):
            logits = np.where(mask == -np.inf, mask, logits + mask)
        found["masked"] = logits
    base = number if did == "base" else given.get("exp_base", np.e)
    exp = found["exp"] = logits**2 if did == "squares" else exponentials(base, logits)
    found["row_sum"] = exp.max(axis=1) if did == "largest" else exp.sum(axis=1)
    if did == "plain":
        weights = shares(logits, logits.sum(axis=1, keepdims=True))
    elif did == "columns":
        weights = shares(exp, exp.sum(axis=0, keepdims=True))
    elif did == "whole":
        weights = exp / exp.sum()
    else:
        weights = exp if did == "undivided" else shares(exp, found["row_sum"][:, None])
    if did == "mask after":
        weights = np.where(mask == 0, weights, 0.0)
    found["weights"] = weights / d_k**0.5 if did == "scale after" else weights
    if did == "weights rounded":
        found["weights"] = half_up(weights, number)
    mixed = {"A X": context, "A K": k, "A Q": q}.get(did, v)
    found["output"] = (found["weights"].T if did == "A^T" else found["weights"]) @ mixed
    if "W_O" in given:
        found["output"] = found["output"] @ given["W_O"] + (0 if did == "no b_O" else given["b_O"])
    return found
