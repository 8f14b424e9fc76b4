"""The examples of heads, caches, positions and scores give what a pencil gives, or loops that share
nothing with us.
"""

from __future__ import annotations

from math import cos, exp, log, tanh
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from attncli.problem.loader import load
from attncli.tracing import Trace, run

INPUTS = Path(__file__).parents[2] / "inputs"


def worked(name: str) -> Trace:
    return run(load(str(INPUTS / name)))


def given(name: str) -> dict[str, Any]:
    """What the file holds, without our reader."""
    return yaml.safe_load((INPUTS / name).read_text(encoding="utf-8"))


def softmax(logits: Any) -> np.ndarray:
    powers = np.exp(np.array(logits, dtype=float))
    return powers / powers.sum(axis=-1, keepdims=True)


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, np.array(expected, dtype=float), rtol=1e-12, atol=1e-12)


def by_loops(
    data: dict[str, Any], heads: int, kv_heads: int
) -> tuple[list[np.ndarray], np.ndarray]:
    """The weights of each head and the outputs of all heads, side by side: column by column, head
    by head.
    """
    x = np.array(data["X"], dtype=float)
    context = np.array(data.get("context", data["X"]), dtype=float)
    q = x @ data["W_Q"] + data.get("b_Q", 0)
    k, v = context @ data["W_K"], context @ data["W_V"]
    wide, weights, outputs = q.shape[1] // heads, [], []
    for head in range(heads):
        kv = head * kv_heads // heads
        own = slice(head * wide, (head + 1) * wide)
        shared = slice(kv * wide, (kv + 1) * wide)
        weights.append(softmax(q[:, own] @ k[:, shared].T / np.sqrt(wide)))
        outputs.append(weights[-1] @ v[:, shared])
    return weights, np.hstack(outputs)


def test_multi_head() -> None:
    trace = worked("multi_head.yaml")
    close(trace["scores"][0], [[0, 4, 0], [3, 1, 3], [0, 4, 0]])
    close(trace["scores"][1], [[0, -3, 0], [3, 0, -3], [0, 3, 0]])
    data = given("multi_head.yaml")
    weights, joined = by_loops(data, heads=2, kv_heads=2)
    close(trace["weights"], weights)
    close(trace["concat"], joined)
    close(trace["output"], joined @ np.array(data["W_O"]) + data["b_O"])
    close(trace["output"][:, 0] + trace["output"][:, 1], [0, 0, 0])


def test_grouped_query() -> None:
    trace = worked("grouped_query.yaml")
    close(trace["K"], [[[1, 0], [0, 1], [1, 0]], [[1, 0], [0, 1], [-1, 0]]])
    close(trace["scores"][1], [[3, 0, 3], [0, 3, 0], [3, 0, 3]])
    close(trace["scores"][3], [[0, 3, 0], [-3, 0, 3], [0, -3, 0]])
    weights, joined = by_loops(given("grouped_query.yaml"), heads=4, kv_heads=2)
    close(trace["weights"], weights)
    close(trace["output"], joined)


def test_cross_attention_heads() -> None:
    trace = worked("cross_attention_heads.yaml")
    close(trace["scores"], [[[0, 3, 0], [3, 0, 0]], [[0, 0, 3], [0, 3, 0]]])
    data = given("cross_attention_heads.yaml")
    weights, joined = by_loops(data, heads=2, kv_heads=2)
    close(trace["weights"], weights)
    close(trace["output"], joined @ data["W_O"])


def test_batch() -> None:
    """Each entry is a problem of its own; keys that only fill up get nothing."""
    trace = worked("batch.yaml")
    data = given("batch.yaml")
    for entry, length in enumerate(data["mask"]["lengths"]):
        x = np.array(data["X"][entry], dtype=float)
        weights = softmax(x @ data["W_Q"] @ (x @ data["W_K"])[:length].T / np.sqrt(2))
        close(trace["weights"][entry][:, :length], weights)
        close(trace["output"][entry], weights @ (x @ data["W_V"])[:length])
    most = 1 / (1 + exp(-(2**0.5)))
    close(trace["weights"][1], [[1 - most, most, 0], [most, 1 - most, 0], [0.5, 0.5, 0]])


def test_a_step_with_a_cache_is_the_last_row_of_the_whole() -> None:
    step, whole = worked("kv_cache.yaml"), worked("causal.yaml")
    for name in ("Q", "scores", "scaled", "mask", "exp", "weights", "output"):
        close(step[name], whole[name][2:])
    close(step["K"], whole["K"])
    close(step["weights"], [softmax(np.array([2, 4, 3]) / 3**0.5)])


@pytest.mark.parametrize("name", ["rope.yaml", "rope_interleaved.yaml"])
def test_rope_knows_distances_only(name: str) -> None:
    """Two points of a plane at an angle: 2·1·cos of it, once for each pair."""
    scores = [[2 * cos(i - j) + 2 * cos((i - j) / 10) for j in range(4)] for i in range(4)]
    trace = worked(name)
    close(trace["scores"], scores)
    close(trace["weights"], softmax(np.array(scores) / 2))


def test_alibi() -> None:
    trace = worked("alibi.yaml")
    for head, slope in enumerate((2, 0.25)):
        for i in range(4):
            row = softmax([-slope * (i - j) for j in range(i + 1)])
            close(trace["weights"][head, i], [*row, *[0] * (3 - i)])
    close(trace["weights"][0, 1, 1], 1 / (1 + exp(-2)))


def test_sink() -> None:
    trace = worked("sink.yaml")
    close(trace["row_sum"], [4, 3 + exp(3), 2 + 2 * exp(2)])
    close(trace["weights"][0], [0.25] * 3)
    close(trace["output"][0], [3, 3])
    close(trace["weights"].sum(axis=1), [1 - 1 / total for total in trace["row_sum"]])


def test_luong() -> None:
    trace = worked("luong.yaml")
    close(trace["scores"], [[0, 2, 1], [0, 0, 2]])
    close(trace["weights"], softmax([[0, 2, 1], [0, 0, 2]]))


def test_bahdanau() -> None:
    trace = worked("bahdanau.yaml")
    one, both, full = 2 * tanh(2), 4 * tanh(2), 2 * tanh(4)
    close(trace["scores"], [[one, both, full], [one, full, both]])
    close(trace["weights"], softmax(trace["scores"]))


def test_base_two_is_exact() -> None:
    trace = worked("base_two.yaml")
    assert trace["exp"].tolist() == [[2, 1, 2], [2, 2, 4], [0.5, 0.5, 0.25]]
    assert trace["row_sum"].tolist() == [5, 8, 1.25]
    assert trace["weights"].tolist() == [[0.4, 0.2, 0.4], [0.25, 0.25, 0.5], [0.4, 0.4, 0.2]]
    close(trace["output"], [[12, 10], [12.5, 12.5], [8, 8]])


def test_head_masks() -> None:
    trace = worked("head_masks.yaml")
    data = given("head_masks.yaml")
    # both heads hold the same numbers
    q, k, v = (np.array(data[name], dtype=float)[:, :2] for name in "QKV")
    for head, keep in enumerate(data["mask"]["keep"]):
        for i, row in enumerate(keep):
            seen = [j for j, sees in enumerate(row) if sees]
            weights = np.zeros(4)
            weights[seen] = softmax([q[i] @ k[j] / np.sqrt(2) for j in seen])
            close(trace["weights"][head, i], weights)
            close(trace["heads_output"][head, i], weights @ v)
            close(trace["output"][i, 2 * head : 2 * head + 2], weights @ v)


def test_sentinel() -> None:
    """As -inf where something else can be seen; a row of nothing else is as without a mask, up to
    lost digits.
    """
    trace = worked("sentinel.yaml")
    scores = np.array([[1, 1, 0], [1, 0, 1], [2, 1, 1]]) / np.sqrt(2)
    close(trace["weights"][:2], [[1, 0, 0], [*softmax(scores[1, :2]), 0]])
    np.testing.assert_allclose(trace["weights"][2], softmax(scores[2]), atol=1e-7)
    assert trace.fully_masked == ()
    assert log(trace["weights"][2, 0] / trace["weights"][2, 1]) == pytest.approx(2**-0.5, abs=1e-6)
