"""The way back through attention worked out by NumPy alone, with one mistake made on the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.features.check.mistaken import Array, causal, exponentials

_RANDOM = np.random.default_rng(11)


def drawn(*shape: int, size: float = 1.5) -> Array:
    return _RANDOM.uniform(-size, size, shape).round(1)


PLAIN = {
    "X": drawn(3, 4),
    "W_Q": drawn(4, 2),
    "W_K": drawn(4, 2),
    "W_V": drawn(4, 2),
    "d_output": drawn(3, 2, size=9),
}
SQUARE = {
    "X": drawn(3, 3, size=1),
    "W_Q": drawn(3, 3, size=1),
    "W_K": drawn(3, 3, size=1),
    "W_V": drawn(3, 3),
    "d_output": drawn(3, 3, size=9),
}
SQUARE_O = {**SQUARE, "W_O": drawn(3, 3)}
CROSSED = {**PLAIN, "context": drawn(5, 4)}
CAUSAL = {**PLAIN, "mask": causal(3, 3)}
CAPPED = {**CAUSAL, "softcap": 2.0}
BASE_TWO = {**PLAIN, "exp_base": 2}
SCALED = {**PLAIN, "scale": 0.25}
TURNED = {**PLAIN, "rope": 100}
ADDITIVE = {**PLAIN, "W_1": drawn(2, 2), "W_2": drawn(2, 2), "v": drawn(2)}
LAYER = {
    "X": drawn(3, 4),
    "W_Q": drawn(4, 4),
    "W_K": drawn(4, 4),
    "W_V": drawn(4, 4),
    "W_O": drawn(4, 4),
    "heads": 2,
    "d_output": drawn(3, 4, size=9),
}
SHARED = {
    "X": drawn(3, 4),
    "W_Q": drawn(4, 8),
    "W_K": drawn(4, 4),
    "W_V": drawn(4, 4),
    "heads": 4,
    "kv_heads": 2,
    "d_output": drawn(3, 8, size=9),
}
SQUARES = {name: array for name, array in PLAIN.items() if name != "d_output"} | {
    "target": drawn(3, 2, size=9)
}
CLASSES = {name: array for name, array in PLAIN.items() if name != "d_output"} | {
    "W_O": drawn(2, 4), "targets": np.array([2, 0, 3])}  # fmt: skip
CROSSED_LAYER = {**LAYER, "context": drawn(5, 4)}
TURNED_PAIRS = {name: array for name, array in LAYER.items() if name not in ("heads", "W_O")} | {
    "rope": 100, "pairing": "interleaved"}  # fmt: skip


def cut(array: Array, heads: int) -> Array:
    """(rows, heads·width) -> (heads, rows, width)."""
    return array.reshape(len(array), heads, -1).swapaxes(0, 1)


def joined(array: Array) -> Array:
    return array.swapaxes(0, 1).reshape(array.shape[1], -1)


def rotated(array: Array, given: dict[str, Any], way: int = 1) -> Array:
    half = array.shape[-1] // 2
    angles = (
        way
        * np.arange(array.shape[-2])[:, None]
        / given["rope"] ** (2 * np.arange(half) / (2 * half))
    )
    first, second = (
        (slice(0, None, 2), slice(1, None, 2))
        if "pairing" in given
        else (slice(0, half), slice(half, None))
    )
    one, two, found = array[..., first], array[..., second], np.empty_like(array)
    found[..., first] = one * np.cos(angles) - two * np.sin(angles)
    found[..., second] = one * np.sin(angles) + two * np.cos(angles)
    return found


def _t(array: Array) -> Array:
    return array.swapaxes(-1, -2)


def softmax(logits: Array, base: float = np.e) -> Array:
    exp = exponentials(base, logits)
    return exp / exp.sum(axis=-1, keepdims=True)


def gradients(given: dict[str, Any], did: str = "") -> dict[str, Array]:
    """The gradients of all steps, by name, and the loss; `did` says which mistake is made."""
    x, context, heads = given["X"], given.get("context", given["X"]), given.get("heads", 1)
    kv_heads = given.get("kv_heads", heads)
    group = heads // kv_heads
    q, k, v = (
        cut(x @ given["W_Q"], heads),
        cut(context @ given["W_K"], kv_heads),
        cut(context @ given["W_V"], kv_heads),
    )
    if "rope" in given:
        q, k = rotated(q, given), rotated(k, given)
    keys, values = (
        np.tile(a, (group, 1, 1)) if did == "tiled" else np.repeat(a, group, axis=0) for a in (k, v)
    )
    if "v" in given:
        hidden = np.tanh((q @ given["W_1"])[:, :, None] + (keys @ given["W_2"])[:, None])
        logits = hidden @ given["v"]
    else:
        scale = given.get("scale", k.shape[-1] ** -0.5)
        logits = q @ _t(keys) * scale
    if "softcap" in given:
        tanh = np.tanh(logits / given["softcap"])
        logits = given["softcap"] * tanh
    seen = logits if "mask" not in given else np.where(given["mask"] == 0, logits, -np.inf)
    base = given.get("exp_base", np.e)
    weights = softmax(seen, base)
    concat = joined(weights @ values)
    output = concat @ given["W_O"] if "W_O" in given else concat

    found = _from_the_loss(given, did, output)
    d_heads = found["d_output"]
    if "W_O" in given:
        found["d_W_O"] = _product(concat, d_heads, did == "dW_O^T")
        d_heads = d_heads @ (given["W_O"] if did == "W_O" else given["W_O"].T)
        if heads > 1:
            found["d_concat"] = d_heads
    d_heads = cut(d_heads, heads)
    found["d_heads_output"] = d_heads
    if did == "no mask":
        weights = softmax(logits, base)

    d_weights = found["d_weights"] = d_heads @ (values if did == "dO V" else _t(values))
    by_weight = {"added": d_weights, "averaged": d_weights / d_weights.shape[-1]}.get(
        did, weights * d_weights
    )
    delta = found["delta"] = by_weight.sum(axis=-1)
    if did == "columns":
        found["delta"] = by_weight.sum(axis=-2)
    by_column = by_weight.sum(axis=-2, keepdims=True)
    d_seen = {
        "no mean": lambda: weights * d_weights,
        "neither": lambda: weights * d_weights,
        "diagonal": lambda: weights * (1 - weights) * d_weights,
        "no softmax": lambda: d_weights,
        "columns": lambda: weights * (d_weights - by_column),
        "lost axis": lambda: weights * (d_weights - delta[..., None, :]),
    }.get(did, lambda: weights * (d_weights - delta[..., None]))()
    d_seen = d_seen * (1 if did == "no log" else np.log(base))
    if "v" in given:
        found["d_scores"] = d_seen
        return found | _from_additive(given, did, d_seen, hidden, q, k)
    if "mask" in given:
        found["d_masked"] = d_seen
    if "softcap" in given:
        found["d_capped"] = d_seen
        d_seen = d_seen if did == "no slope" else d_seen * (1 - tanh**2)
    found["d_scaled"] = d_seen
    factors = {"no scale": 1, "neither": 1, "twice": scale**2, "undone": 1 / scale}
    d_scores = found["d_scores"] = d_seen * factors.get(did, scale)

    by_queries = _t(d_scores) if did == "dS^T K" else d_scores
    by_keys = d_scores if did == "dS Q" else _t(d_scores)
    d_q, d_k = (
        by_queries @ (q if did == "dQ of Q" else keys),
        by_keys @ (keys if did == "dK of K" else q),
    )
    if did == "scaled later":
        found["d_scores"] = d_seen
    d_k = _handed_back(d_k, kv_heads, did)
    if "rope" in given:
        found |= {"d_Q_rot": d_q, "d_K_rot": d_k}
        way = {"forward": 1, "no rotation": 0}.get(did, -1)
        d_q, d_k = rotated(d_q, given, way), rotated(d_k, given, way)
    d_v = _handed_back((weights if did == "A dO" else _t(weights)) @ d_heads, kv_heads, did)
    found |= {"d_Q": d_q, "d_K": d_k, "d_V": d_v}
    return found | _from_projections(given, did, (d_q, d_k, d_v))


def _from_the_loss(given: dict[str, Any], did: str, output: Array) -> dict[str, Array]:
    """The gradient of the output, with the loss where there is one."""
    sign = -1 if did == "sign" else 1
    if "target" in given:
        error = output - given["target"]
        number = {"no mean of gradients": 1, "rows": len(output)}.get(did, output.size)
        loss = (error**2).sum() / (1 if did == "sum" else output.size)
        return {"loss": loss, "d_output": sign * (1 if did == "no 2" else 2) * error / number}
    if "targets" in given:
        probs, right = softmax(output), np.eye(output.shape[1])[given["targets"]]
        loss = -(right * np.log(probs)).sum() / (1 if did == "sum" else len(output))
        number = {"no mean of gradients": 1, "numbers": output.size}.get(did, len(output))
        return {
            "loss": loss,
            "d_output": sign * (probs - (0 if did == "no target" else right)) / number,
        }
    return {"d_output": given["d_output"]}


def _from_additive(
    given: dict[str, Any], did: str, d_scores: Array, hidden: Array, q: Array, k: Array
) -> dict[str, Array]:
    slope = 1 if did == "no tanh" else 1 - hidden**2
    d_hidden = d_scores[..., None] * given["v"] * slope
    to_queries, to_keys = d_hidden.sum(axis=2), d_hidden.sum(axis=1)
    return {
        "d_hidden": d_hidden, "d_Q": to_queries @ given["W_1"].T, "d_K": to_keys @ given["W_2"].T,
        "d_W_1": _t(q[0]) @ to_queries[0], "d_W_2": _t(k[0]) @ to_keys[0],
    }  # fmt: skip


def _handed_back(array: Array, kv_heads: int, did: str) -> Array:
    """What the heads that share keys or values hand back."""
    if did == "tiled":
        return array.reshape(-1, kv_heads, *array.shape[1:]).sum(axis=0)
    groups = array.reshape(kv_heads, -1, *array.shape[1:])
    if did in ("first head", "last head"):
        return groups[:, 0 if did == "first head" else -1]
    return groups.mean(axis=1) if did == "mean of heads" else groups.sum(axis=1)


def _from_projections(
    given: dict[str, Any], did: str, received: tuple[Array, Array, Array]
) -> dict[str, Array]:
    """The gradients of the weights and of what they projected."""
    found: dict[str, Array] = {}
    handed: dict[str, Array] = {}
    for name, gradient in zip("QKV", received, strict=True):
        source = "context" if "context" in given and name != "Q" else "X"
        found[f"d_W_{name}"] = _product(given[source], gradient, did == f"dW_{name}^T")
        if did != f"no {name}" and (not did.startswith("only ") or did == f"only {name}"):
            w = cut(given[f"W_{_of(name, did)}"], len(gradient))
            back = (gradient @ (w if did in (f"W_{name}", "W_QKV") else _t(w))).sum(axis=0)
            handed[source] = handed.get(source, 0) + back
    return found | {f"d_{source}": array for source, array in handed.items()}


def _of(name: str, did: str) -> str:
    """Whose weights are taken for those of Q, K or V on the way into the input: with "Q for K" each
    has the other's.
    """
    one, _, other = did.partition(" for ")
    return {one: other, other: one}.get(name, name) if other else name


def _product(source: Array, gradient: Array, transposed: bool) -> Array:
    return _t(gradient) @ source if transposed else source.T @ gradient
