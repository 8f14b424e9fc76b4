"""The loss and the gradients of a problem without a batch, step by step as people work them: what
follows the steps of `in_arrays.py` on a sheet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.reference.in_arrays import (
    FORWARD,
    Problem,
    Sheet,
    Steps,
    cut,
    hidden_layer,
    joined,
    repeated,
    t,
    there,
    turned,
)
from tests.reference.in_arrays import sheet_of as sheet_of_arrays


def sheet_of(problem: Problem) -> Sheet:
    """What a problem gives, with the gradient of its output or its loss."""
    s = sheet_of_arrays(problem)
    loss = problem.get("loss", {})
    s |= {"target": np.array(loss["target"], dtype=float)} if "target" in loss else {}
    s |= {"targets": np.array(loss["targets"])} if "targets" in loss else {}
    if "d_output" in problem:
        s["d_output_given"] = np.array(problem["d_output"], dtype=float)
    return s


def loss_number(s: Sheet) -> int:
    """The N of the mean."""
    if "target" in s:
        return int(s.output.size)
    return len(s.output) if "targets" in s else 1


def summed_loss(s: Sheet) -> Any:
    if "target" in s:
        return np.asarray((s.error**2).sum())
    return -np.asarray((one_hot(s) * np.log(probabilities(s))).sum())


def probabilities(s: Sheet) -> Any:
    exp = np.exp(s.output)
    return exp / exp.sum(axis=-1, keepdims=True)


def one_hot(s: Sheet) -> Any:
    return np.eye(s.output.shape[-1])[s.targets]


def d_summed_loss(s: Sheet) -> Any:
    """The gradient of the loss added up, or the one given."""
    if "target" in s:
        return 2 * s.error
    return probabilities(s) - one_hot(s) if "targets" in s else s.d_output_given


def of_mixture(s: Sheet) -> Any:
    return s.d_heads_output if "d_heads_output" in s else s.d_output


def d_heads_output(s: Sheet) -> Any:
    back = s.d_output @ s.W_O.T if "W_O" in s else s.d_output
    return cut(s.get("d_concat", back), s.heads) if s.apart else back


def through_softmax(s: Sheet) -> Any:
    return s.weights * (s.d_weights - s.delta[..., None]) * math.log(s.base)


def d_scaled(s: Sheet) -> Any:
    if "d_capped" in s:
        before = s.scaled if "scaled" in s else s.scores
        return s.d_capped * (1 - np.tanh(before / s.softcap) ** 2)
    return s.d_masked if "d_masked" in s else through_softmax(s)


def d_hidden(s: Sheet) -> Any:
    return s.d_scores[..., None] * s.v * (1 - hidden_layer(s) ** 2)


def d_queries(s: Sheet) -> Any:
    """Of the queries that were compared with keys."""
    if "d_hidden" in s:
        return s.d_hidden.sum(axis=-2) @ s.W_1.T
    return s.d_scores @ repeated(s.keys_read, s)


def d_keys(s: Sheet) -> Any:
    if "d_hidden" in s:
        return s.d_hidden.sum(axis=-3) @ s.W_2.T
    return handed_back(t(s.d_scores) @ s.queries, s)


def handed_back(array: Any, s: Sheet) -> Any:
    """What the heads that share keys and values hand back."""
    return by_group(array, s).sum(axis=1) if s.apart else array


def by_group(array: Any, s: Sheet) -> Any:
    return array.reshape(s.kv_heads, s.group, *array.shape[1:])


def into_input(
    s: Sheet, source: str = "X", of: Mapping[str, str] = {}, *, transposed: str = ""
) -> dict[str, Any]:
    """What comes back into an input through Q, K and V, with the weights `of` another, or without
    their being transposed.
    """
    parts = {}
    for name in "QKV":
        own = "context" if "context" in s and name != "Q" else "X"
        if own == source:
            w = s[f"W_{of.get(name, name)}"]
            d_rows = joined(s[f"d_{name}"]) if s.apart else s[f"d_{name}"]
            parts[name] = d_rows @ (w if name in transposed else w.T)
    return parts


BACKWARD: Steps = {
    "error": lambda s: s.output - s.target,
    "loss": lambda s: summed_loss(s) / loss_number(s),
    "d_output": lambda s: d_summed_loss(s) / loss_number(s),
    "d_W_O": lambda s: s.mixed.T @ s.d_output,
    "d_concat": lambda s: s.d_output @ s.W_O.T,
    "d_heads_output": d_heads_output,
    "d_weights": lambda s: of_mixture(s) @ t(repeated(s.V, s)),
    "delta": lambda s: (s.weights * s.d_weights).sum(axis=-1),
    "d_masked": through_softmax,
    "d_capped": lambda s: s.d_masked if "d_masked" in s else through_softmax(s),
    "d_scaled": d_scaled,
    "d_scores": lambda s: s.d_scaled * s.factor if "d_scaled" in s else through_softmax(s),
    "d_hidden": d_hidden,
    "d_Q_rot": d_queries,
    "d_K_rot": d_keys,
    "d_Q": lambda s: turned(s, s.d_Q_rot, "queries", way=-1) if "d_Q_rot" in s else d_queries(s),
    "d_K": lambda s: turned(s, s.d_K_rot, "keys", way=-1) if "d_K_rot" in s else d_keys(s),
    "d_V": lambda s: handed_back(t(s.weights) @ of_mixture(s), s),
    "d_W_Q": lambda s: s.read.T @ s.d_Q,
    "d_W_K": lambda s: s.source.T @ s.d_K,
    "d_W_V": lambda s: s.source.T @ s.d_V,
    "d_X": lambda s: sum(into_input(s).values()),
    "d_context": lambda s: sum(into_input(s, "context").values()),
}
RIGHT: Steps = FORWARD | BACKWARD


def steps_of(s: Sheet) -> Steps:
    """The steps of a problem, in the order of work."""
    has_loss = "target" in s or "targets" in s
    forward = there(s, FORWARD)
    if not has_loss and "d_output_given" not in s:
        return forward
    is_there = {
        "error": "target" in s,
        "loss": has_loss,
        "d_W_O": "W_O" in s,
        "d_concat": "concat" in forward and "W_O" in s,
        "d_heads_output": "heads_output" in forward,
        "d_hidden": "v" in s,
        "d_X": "X" in s,
        "d_context": "context" in s,
    }
    like = ("masked", "capped", "scaled", "Q_rot", "K_rot")
    is_there |= {f"d_{name}": name in forward for name in like}
    is_there |= {f"d_W_{letter}": f"W_{letter}" in s for letter in "QKV"}
    backward = {name: work for name, work in BACKWARD.items() if is_there.get(name, True)}
    return forward | backward
