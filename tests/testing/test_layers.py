"""Layers with weights of their own, through `attncli test`: right ones and wrong ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attncli.cli.main import run
from attncli.errors import Exit
from attncli.testing.layers.weight_names import key_of
from tests.cases import in_one_test

# A layer of several heads in NumPy, and what is wrong in its children.
LAYERS = """
import numpy as np

def softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)

class Layer:
    def __init__(self, width, heads):
        self.num_heads = heads
        self.W_q, self.W_k, self.W_v, self.W_o = np.ones((4, width, width))
        self.b_q, self.b_k, self.b_v, self.b_o = np.ones((4, width))

    def split(self, rows):
        entries, tokens, width = rows.shape
        return rows.reshape(entries, tokens, self.num_heads, -1).swapaxes(1, 2)

    def join(self, heads):
        entries, _, tokens, _ = heads.shape
        return heads.swapaxes(1, 2).reshape(entries, tokens, -1)

    def scale(self, width):
        return 1 / np.sqrt(width / self.num_heads)

    def seen(self, scores, mask):
        return scores if mask is None else np.where(mask, scores, -np.inf)

    def last(self, rows):
        return rows @ self.W_o + self.b_o

    def __call__(self, x, mask=None):
        q, k, v = x @ self.W_q + self.b_q, x @ self.W_k + self.b_k, x @ self.W_v + self.b_v
        q, k, v = self.split(q), self.split(k), self.split(v)
        scores = q @ k.swapaxes(-1, -2) * self.scale(x.shape[-1])
        return self.last(self.join(softmax(self.seen(scores, mask)) @ v))

class HeadsUnknown(Layer):
    def __init__(self, width, heads):
        super().__init__(width, heads)
        self.split_into = self.__dict__.pop("num_heads")

    def split(self, rows):
        return rows.reshape(*rows.shape[:2], self.split_into, -1).swapaxes(1, 2)

    def scale(self, width):
        return 1 / np.sqrt(width / self.split_into)

class AlwaysCausal(Layer):
    def __call__(self, x):
        tokens = x.shape[1]
        return super().__call__(x, np.tri(tokens, dtype=bool))

class JoinedByRows(Layer):
    def join(self, heads):
        entries, count, tokens, width = heads.shape
        return heads.reshape(entries, tokens, count * width)

class WidthOfModel(Layer):
    def scale(self, width):
        return 1 / np.sqrt(width)

class Inverted(Layer):
    def seen(self, scores, mask):
        return scores if mask is None else np.where(mask, -np.inf, scores)

class OutputTransposed(Layer):
    def last(self, rows):
        return rows @ self.W_o.T + self.b_o

class BiasForgotten(Layer):
    def last(self, rows):
        return rows @ self.W_o

class JoinedUnscaled(JoinedByRows):
    def scale(self, width):
        return 1

class Nameless:
    def __init__(self, width):
        self.ask, self.offer, self.tell = np.ones((3, width, width))

    def __call__(self, x):
        q, k, v = x @ self.ask, x @ self.offer, x @ self.tell
        return softmax(q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])) @ v
"""


@pytest.fixture
def layers(tmp_path: Path) -> str:
    file = tmp_path / "layers.py"
    file.write_text(LAYERS, encoding="utf-8")
    return str(file)


def data_of(target: str, *options: str, code: int, capsys: pytest.CaptureFixture[str]) -> dict:
    assert run(["test", target, *options, "--format", "json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize(
    ("layer", "heads", "causal"),
    [
        ("Layer(6, 2)", "2 heads", "no"),
        ("HeadsUnknown(6, 3)", "3 heads", "no"),
        ("AlwaysCausal(6, 2)", "2 heads", "yes"),
    ],
)
def test_a_right_layer_agrees(
    layer: str, heads: str, causal: str, layers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_of(f"{layers}:{layer}", code=Exit.OK, capsys=capsys)
    assert data["facts"]["layout"] == f"entries × tokens × features; {heads}"
    assert data["facts"]["always causal"] == causal
    assert data["facts"]["scale"] == "1/sqrt(d_k)"


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("layer", "mistake"),
    [
        ("JoinedByRows", "heads were joined without moving their axis back"),
        ("WidthOfModel", "the scores were divided by the root of d_model"),
        ("Inverted", "the mask was inverted"),
        ("OutputTransposed", "W_O was transposed"),
        ("BiasForgotten", "the bias was left out of the output"),
    ],
)
def test_the_mistake_of_a_layer_is_named(
    layer: str, mistake: str, layers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_of(f"{layers}:{layer}(6, 2)", code=Exit.DIFFERENCE, capsys=capsys)
    assert mistake in data["mistakes"]
    explained = {name for each in data["explanations"] for name in each["cases"]}
    differing = {case["name"] for case in data["cases"] if case["result"] == "differs"}
    assert explained == differing


@pytest.mark.long
def test_two_mistakes_that_no_case_shows_alone_are_both_named(
    layers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_of(f"{layers}:JoinedUnscaled(6, 2)", code=Exit.DIFFERENCE, capsys=capsys)
    joined = "heads were joined without moving their axis back"
    assert data["mistakes"] == ["the scores were not scaled", joined]
    one, other = data["explanations"]
    assert (one["beside"], other["beside"]) == ([joined], ["the scores were not scaled"])
    assert data["unexplained"]["cases"] == []


@pytest.mark.long
def test_weights_may_be_named(layers: str, capsys: pytest.CaptureFixture[str]) -> None:
    layer = f"{layers}:Nameless(4)"
    assert run(["test", layer]) == Exit.INPUT
    error = capsys.readouterr().err
    assert "ask, offer and tell" in error
    assert "--weights W_Q=" in error
    named = ("--weights", "W_Q=ask,W_K=offer,W_V=tell")
    assert data_of(layer, *named, code=Exit.OK, capsys=capsys)["agrees"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("W_Q", "W_Q is no weight of attention"),
        ("W_X=ask", "W_X=ask is no weight of attention"),
        ("W_Q=missing", "the layer has no missing"),
    ],
)
def test_weights_that_are_none(
    value: str, said: str, layers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["test", f"{layers}:Nameless(4)", "--weights", value]) == Exit.USAGE
    assert said in capsys.readouterr().err


@in_one_test(
    ("name", "axes", "key"),
    [
        ("q_proj.weight", 2, "W_Q"),
        ("self_attn.k_proj.bias", 1, "b_K"),
        ("in_proj_weight", 2, "W_QKV"),
        ("in_proj_bias", 1, "b_QKV"),
        ("attn.c_attn.weight", 2, "W_QKV"),
        ("c_proj.bias", 1, "b_O"),
        ("to_out.0.weight", 2, "W_O"),
        ("linears.3.bias", 1, "b_O"),
        ("W_q", 2, "W_Q"),
        ("b_q", 1, "b_Q"),
        ("wo", 2, "W_O"),
        ("norm.weight", 1, None),
        ("query_norm.weight", 1, None),
    ],
)
def test_the_names_of_weights(name: str, axes: int, key: str | None) -> None:
    assert key_of(name, axes) == key
