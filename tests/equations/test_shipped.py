"""Each problem of inputs/equations against the formula of its paper, written in plain NumPy: the
result to 1e-9, and its gradients against difference quotients of that formula.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

import attncli
from attncli.cli.main import run
from attncli.tracing.model import Trace
from tests.cases import in_one_test

Array: TypeAlias = NDArray[np.float64]
Given: TypeAlias = Mapping[str, Array]

INPUTS = Path(__file__).parents[2] / "inputs" / "equations"
# Half the width of a difference quotient; and by how much it may be off, which is its own error.
STEP, ERROR = 1e-6, 1e-7


def softmax(logits: Array) -> Array:
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def projected(given: Given, x: Array) -> tuple[Array, Array, Array]:
    return x @ given["W_Q"], x @ given["W_K"], x @ given["W_V"]


def scaled_scores(q: Array, k: Array) -> Array:
    return q @ k.T / np.sqrt(q.shape[-1])


def qk_norm(given: Given) -> Array:
    q, k, v = projected(given, given["X"])

    def normalised(rows: Array, gain: Array) -> Array:
        return rows / np.sqrt(np.mean(rows**2, -1, keepdims=True) + given["eps"]) * gain

    q, k = normalised(q, given["gain_q"]), normalised(k, given["gain_k"])
    return softmax(scaled_scores(q, k)) @ v


def sigmoid_attention(given: Given) -> Array:
    q, k, v = projected(given, given["X"])
    return sigmoid(scaled_scores(q, k) - np.log(len(k))) @ v


def output_gate(given: Given) -> Array:
    q, k, v = projected(given, given["X"])
    return softmax(scaled_scores(q, k)) @ v * sigmoid(given["X"] @ given["W_G"])


def differential(given: Given) -> Array:
    q, k, v = projected(given, given["X"])
    second_q, second_k = given["X"] @ given["W_P"], given["X"] @ given["W_R"]
    up = np.exp(given["lam_q"] @ given["lam_k"])
    share = up - np.exp(given["lam_p"] @ given["lam_r"]) + given["lam_first"]
    first, second = softmax(scaled_scores(q, k)), softmax(scaled_scores(second_q, second_k))
    return (first - share * second) @ v


def linear(given: Given) -> Array:
    q, k, v = projected(given, given["X"])

    def features(rows: Array) -> Array:
        elu = np.where(rows > 0, rows, np.expm1(rows))
        return elu + 1

    # As in the paper's first form, with a weight for each pair of a query and a key.
    pairs = features(q) @ features(k).T
    return pairs / pairs.sum(-1, keepdims=True) @ v


def relative_bias(given: Given) -> Array:
    queries, keys = np.indices((len(given["Q"]), len(given["K"])))
    distance = np.clip(keys - queries, -2, 2)
    return softmax(given["Q"] @ given["K"].T + given["bias_of"][distance + 2]) @ given["V"]


def temperature(given: Given) -> Array:
    q, k, v = projected(given, given["X"])
    of_each = np.log(1 + np.exp(given["X"] @ given["w_t"]))
    return softmax(q @ k.T / of_each[:, None]) @ v


def sinusoidal(given: Given) -> Array:
    n, width = given["X"].shape
    table = np.zeros((n, width))
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    q, k, v = projected(given, given["X"] + table)
    return softmax(scaled_scores(q, k)) @ v


def entropy(given: Given) -> Array:
    q, k = given["X"] @ given["W_Q"], given["X"] @ given["W_K"]
    weights = softmax(scaled_scores(q, k))
    return -np.sum(weights * np.log2(weights), -1)


def cosine(given: Given) -> Array:
    q = given["Q"] / np.linalg.norm(given["Q"], axis=-1, keepdims=True)
    k = given["K"] / np.linalg.norm(given["K"], axis=-1, keepdims=True)
    return softmax(q @ k.T / given["tau"]) @ given["V"]


def latent_keys(given: Given) -> Array:
    q, latent = given["X"] @ given["W_Q"], given["X"] @ given["W_down"]
    k, v = latent @ given["W_up_K"], latent @ given["W_up_V"]
    return softmax(scaled_scores(q, k)) @ v


def of_heads(x: Array, weights: Array) -> Array:
    """One matrix for each head; the weights of all heads are stacked."""
    return np.stack([x @ of_head for of_head in weights])


def side_by_side(outputs: Array) -> Array:
    return np.concatenate([*outputs], axis=-1)


def transformer_block_2017(given: Given) -> Array:
    def layer_norm(rows: Array, gain: Array, bias: Array) -> Array:
        deviation = np.sqrt(rows.var(-1, keepdims=True) + given["eps"])
        return gain * (rows - rows.mean(-1, keepdims=True)) / deviation + bias

    x = given["X"]
    q, k, v = (of_heads(x, given[name]) for name in ("W_Q", "W_K", "W_V"))
    found = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])) @ v
    attended = side_by_side(found) @ given["W_O"]
    x = layer_norm(x + attended, given["gain_1"], given["bias_1"])
    inner = np.maximum(x @ given["W_in"] + given["b_in"], 0)
    return layer_norm(x + inner @ given["W_out"] + given["b_out"], given["gain_2"], given["bias_2"])


def turned(rows: Array) -> Array:
    """Rotary positions of features 0 and 1, as a complex number that is turned."""
    turn = np.exp(1j * np.arange(rows.shape[-2]))
    found = (rows[..., 0] + 1j * rows[..., 1]) * turn
    return np.stack([found.real, found.imag], axis=-1)


def block_llama(given: Given) -> Array:
    def rms_norm(rows: Array, gain: Array) -> Array:
        return gain * rows / np.sqrt(np.mean(rows**2, -1, keepdims=True) + given["eps"])

    x = given["X"]
    normed = rms_norm(x, given["gain_1"])
    q, k, v = (of_heads(normed, given[name]) for name in ("W_Q", "W_K", "W_V"))
    # One head of keys and values serves both heads of queries.
    k, v = k[[0, 0]], v[[0, 0]]
    scores = turned(q) @ turned(k).transpose(0, 2, 1) / np.sqrt(2)
    is_seen = np.tril(np.ones(scores.shape[-2:])) == 1
    found = softmax(np.where(is_seen, scores, -np.inf)) @ v
    x = x + side_by_side(found) @ given["W_O"]
    normed = rms_norm(x, given["gain_2"])
    opened = normed @ given["W_gate"]
    return x + (opened * sigmoid(opened) * (normed @ given["W_up"])) @ given["W_down"]


def rms(rows: Array, axes: int | tuple[int, ...], eps: Array) -> Array:
    """The roots of the mean squares along some axes."""
    return np.sqrt(np.mean(rows**2, axes, keepdims=True) + eps)


def causal_weights(q: Array, k: Array) -> Array:
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    is_seen = np.tril(np.ones(scores.shape[-2:])) == 1
    return softmax(np.where(is_seen, scores, -np.inf))


def qk_norm_of_all_heads(given: Given) -> Array:
    q, k, v = (of_heads(given["X"], given[name]) for name in ("W_Q", "W_K", "W_V"))
    q = q / rms(q, (0, 2), given["eps"]) * given["gain_q"][:, None]
    k = k / rms(k, (0, 2), given["eps"]) * given["gain_k"][:, None]
    # One head of keys and values serves both heads of queries.
    k, v = k[[0, 0]], v[[0, 0]]
    return side_by_side(causal_weights(turned(q), turned(k)) @ v)


def qk_layer_norm(given: Given) -> Array:
    def normalised(rows: Array, gain: Array) -> Array:
        deviation = np.sqrt(rows.var(-1, keepdims=True) + given["eps"])
        return gain[:, None] * (rows - rows.mean(-1, keepdims=True)) / deviation

    q, k, v = (of_heads(given["X"], given[name]) for name in ("W_Q", "W_K", "W_V"))
    q, k = normalised(q, given["gain_q"]), normalised(k, given["gain_k"])
    return side_by_side(causal_weights(turned(q), turned(k)) @ v)


def turned_in_neighbours(rows: Array) -> Array:
    """Rotary positions of pairs of neighbours, each as a complex number that is turned."""
    pairs = rows[:, 0::2] + 1j * rows[:, 1::2]
    speeds = 10000.0 ** -(np.arange(pairs.shape[1]) / pairs.shape[1])
    pairs = pairs * np.exp(1j * np.arange(len(rows))[:, None] * speeds)
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(rows.shape)


def qk_norm_after_rope(given: Given) -> Array:
    q, k, v = projected(given, given["X"])
    q, k = (rows / rms(rows, -1, given["eps"]) for rows in map(turned_in_neighbours, (q, k)))
    return causal_weights(q, k) @ v


def temperature_by_position(given: Given) -> Array:
    places = np.arange(len(given["Q"])) + 1.0
    steps = np.floor(places / given["floor_scale"])
    factor = np.log1p(steps) * given["attn_scale"] + 1
    return causal_weights(given["Q"] * factor[:, None], given["K"]) @ given["V"]


def top_k(given: Given) -> Array:
    products = np.einsum("iae,je->iaj", given["index_Q"], given["index_K"])
    products = np.maximum(products / np.sqrt(given["index_K"].shape[-1]), 0)
    index = np.einsum("ia,iaj->ij", given["index_weight"], products)
    scores = given["Q"] @ given["K"].T / np.sqrt(given["Q"].shape[-1])
    for query, row in enumerate(scores):
        row[query + 1 :] = -np.inf
        # The lowest of the best scores of past keys, or of all of them where there are fewer.
        best = np.sort(index[query, : query + 1])[::-1][: int(given["top"])]
        row[index[query] < best[-1]] = -np.inf
    return softmax(scores) @ given["V"]


def gate_of_heads(given: Given) -> Array:
    q, k, v = (of_heads(given["X"], given[name]) for name in ("W_Q", "W_K", "W_V"))
    gate = sigmoid(of_heads(given["X"], given["W_G"]))
    return side_by_side(causal_weights(q, k) @ v * gate) @ given["W_O"]


def linear_with_decay(given: Given) -> Array:
    """As a model has it: a memory for each head, which forgets at each step."""

    def silu(rows: Array) -> Array:
        return rows * sigmoid(rows)

    q, k, v = (silu(of_heads(given["X"], given[name])) for name in ("W_Q", "W_K", "W_V"))
    memory = np.zeros((len(q), q.shape[-1], v.shape[-1]))
    rows = []
    for at in range(q.shape[1]):
        new = k[:, at, :, None] * v[:, at, None, :]
        memory = np.exp(-given["rate"])[:, None, None] * memory + new
        rows.append(np.einsum("hk,hkc->hc", q[:, at], memory))
    mixed = np.stack(rows, axis=1)
    gate = sigmoid(of_heads(given["X"], given["W_G"]))
    normed = gate * given["gain"][:, None] * mixed / rms(mixed, (0, 2), given["eps"])
    return side_by_side(normed) @ given["W_O"]


def differential_heads(given: Given) -> Array:
    q, k, v = (of_heads(given["X"], given[name]) for name in ("W_Q", "W_K", "W_V"))
    found = causal_weights(turned(q), turned(k)) @ v
    share = np.exp(given["lam_q"] @ given["lam_k"]) - np.exp(given["lam_p"] @ given["lam_r"])
    first, second = (np.einsum("hp,hic->pic", given[name], found) for name in ("first", "second"))
    rows = first - (share + given["lam_first"]) * second
    rows = (1 - given["lam_first"]) * rows / rms(rows, -1, given["eps"])
    return np.einsum("pic,pcd->id", rows, given["W_join"])


def mla(given: Given) -> Array:
    x = given["X"]

    def latent(down: str, gain: str) -> Array:
        rows = x @ given[down]
        return rows / rms(rows, -1, given["eps"]) * given[gain]

    of_queries, of_keys = latent("W_DQ", "gain_Q"), latent("W_DKV", "gain_KV")
    content, turning = of_heads(of_queries, given["W_UQ"]), of_heads(of_queries, given["W_QR"])
    keys, values = of_heads(of_keys, given["W_UK"]), of_heads(of_keys, given["W_UV"])
    q = np.concatenate([content, turned(turning)], axis=-1)
    # All heads have the same rotated part.
    shared = np.broadcast_to(turned(x @ given["W_KR"]), (len(keys), *turning.shape[1:]))
    k = np.concatenate([keys, shared], axis=-1)
    # It is 0.5, and so is that of four features.
    return side_by_side(causal_weights(q, k) @ values) @ given["W_O"]


# These count, and how they are compared jumps: a quotient at them says nothing.
COUNTS = ("top", "floor_scale")
PAPERS: dict[str, Callable[[Given], Array]] = {
    "block_llama": block_llama,
    "cosine": cosine,
    "differential": differential,
    "differential_heads": differential_heads,
    "entropy": entropy,
    "gate_of_heads": gate_of_heads,
    "latent_keys": latent_keys,
    # It says that it is the same.
    "latent_keys_absorbed": latent_keys,
    "linear": linear,
    "linear_with_decay": linear_with_decay,
    "mla": mla,
    # It says that it is the same.
    "mla_absorbed": mla,
    "output_gate": output_gate,
    "qk_layer_norm": qk_layer_norm,
    "qk_norm": qk_norm,
    "qk_norm_after_rope": qk_norm_after_rope,
    "qk_norm_of_all_heads": qk_norm_of_all_heads,
    "relative_bias": relative_bias,
    "sigmoid": sigmoid_attention,
    "sinusoidal": sinusoidal,
    "temperature": temperature,
    "temperature_by_position": temperature_by_position,
    "top_k": top_k,
    "transformer_block_2017": transformer_block_2017,
}


@cache
def traced(name: str) -> Trace:
    return attncli.trace(INPUTS / f"{name}.yaml", gradient=True)


def given_in(trace: Trace) -> dict[str, Array]:
    """The arrays and numbers that the problem gives, by name."""
    return {name: trace[name] for name, step in trace.steps.items() if step.rule.given}


def quotients(formula: Callable[[Given], Array], given: Given, name: str) -> Array:
    """How much the sum of the result grows with each number of an array."""
    found = np.zeros(given[name].shape)
    for index in np.ndindex(found.shape):
        sums = []
        for by in (STEP, -STEP):
            changed = given[name].copy()
            changed[index] += by
            sums.append(formula({**given, name: changed}).sum())
        found[index] = (sums[0] - sums[1]) / (2 * STEP)
    return found


def test_every_shipped_problem_has_its_paper() -> None:
    assert sorted(PAPERS) == sorted(file.stem for file in INPUTS.iterdir())


@pytest.mark.sampled(12, "long")
@pytest.mark.parametrize("name", PAPERS)
def test_the_result_is_that_of_the_paper(name: str) -> None:
    trace = traced(name)
    np.testing.assert_allclose(
        trace[trace.result], PAPERS[name](given_in(trace)), rtol=1e-9, atol=1e-9
    )


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", PAPERS)
def test_its_gradients_are_quotients_of_the_paper_s_formula(name: str) -> None:
    trace = traced(name)
    given = given_in(trace)
    # Only the way back begins with it.
    del given["d_" + trace.result]
    for array in given:
        if array in COUNTS:
            assert trace[f"d_{array}"] == 0
            continue
        expected = quotients(PAPERS[name], given, array)
        np.testing.assert_allclose(
            trace[f"d_{array}"], expected, rtol=ERROR, atol=ERROR, err_msg=array
        )


@in_one_test("name", PAPERS)
def test_it_opens_with_three_sentences(name: str) -> None:
    first, *opening = (INPUTS / f"{name}.yaml").read_text(encoding="utf-8").splitlines()[:5]
    assert first.startswith("# yaml-language-server: ")
    assert all(line.startswith("# ") and line.endswith(".") for line in opening[:3])
    assert opening[3].startswith("title: ")


@pytest.mark.long
@pytest.mark.sampled(4)
@pytest.mark.each_choice
@pytest.mark.parametrize("name", PAPERS)
@pytest.mark.parametrize(
    "options",
    [
        "compute --format html",
        "compute --format latex",
        "compute --format json",
        "compute --rounding exact",
        "compute --rounding paper",
        "gradient --verify",
    ],
)
def test_commands_work_it_out(name: str, options: str, capsys: pytest.CaptureFixture[str]) -> None:
    command, *others = options.split()
    assert run([command, str(INPUTS / f"{name}.yaml"), *others]) == 0
    printed, warnings = capsys.readouterr()
    assert printed != ""
    assert warnings == ""
