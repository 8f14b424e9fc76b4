"""Wrong ports of models of Transformers, each with one thing that people get wrong, and silently:
comparing the recorded calls names it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

from tests.recording.architectures import MODELS, imported

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

PARTS = ("q_proj", "k_proj", "v_proj")


class Port(NamedTuple):
    """A model and what is wrong with its port: what is changed in it, in its config, or in the
    module of its code. `first` is the step that differs first, and `named` what is found.
    """

    kind: str
    first: str
    named: tuple[str, ...]
    change: Callable[[Any], None] = lambda _: None
    config: Mapping[str, Any] = {}
    code: Mapping[str, str] = {}
    more: Mapping[str, Any] = {}


def attention(port: Any) -> Any:
    return port.layers[0].self_attn


def with_rows(rows: Callable[[Any, int], Any], *parts: str) -> Callable[[Any], None]:
    """The weights of these linear layers with their rows in another order, head by head."""

    def change(port: Any) -> None:
        for part in parts:
            weight = getattr(attention(port), part).weight
            width = attention(port).head_dim
            heads = weight.detach().clone().unflatten(0, (-1, width))
            weight.copy_(rows(heads, width).reshape(weight.shape))

    return change


def permuted(heads: Any, width: int) -> Any:
    """As the script that converts Llama's weights does it, here once too often."""
    return heads.unflatten(1, (width // 2, 2)).transpose(1, 2)


def unpermuted(heads: Any, width: int) -> Any:
    return heads.unflatten(1, (2, width // 2)).transpose(1, 2)


def fused(order: Callable[[Any], Any]) -> Callable[[Any], None]:
    """Another order of one matrix for queries, keys and values, given as out × …."""

    def change(port: Any) -> None:
        gpt = hasattr(port, "h")
        layer = port.h[0].attn.c_attn if gpt else port.layers[0].attention.query_key_value
        weight = layer.weight.T if gpt else layer.weight
        for array in (weight, layer.bias):
            array.copy_(order(array.detach().clone()))

    return change


def keys_first(rows: Any) -> Any:
    return rows.unflatten(0, (3, -1))[[1, 0, 2]].reshape(rows.shape)


def in_parts(rows: Any) -> Any:
    """All queries, all keys and all values, from a matrix that has them head by head."""
    return rows.unflatten(0, (4, 3, -1)).transpose(0, 1).reshape(rows.shape)


def each(**values: Any) -> Callable[[Any], None]:
    """Settings of the attention of all layers."""

    def change(port: Any) -> None:
        for layer in port.layers:
            for name, value in values.items():
                own = getattr(layer.self_attn, name)
                setattr(layer.self_attn, name, value(own) if callable(value) else value)

    return change


def without_biases(port: Any) -> None:
    for part in PARTS:
        getattr(attention(port), part).bias = None


def without_sinks(port: Any) -> None:
    for layer in port.layers:
        layer.self_attn.sinks.fill_(-1e9)


ALL_TURN = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0}
OTHER_THETA = {"rope_type": "default", "rope_theta": 500000.0}
# Sizes that no two lengths have in common.
APART = {"hidden_size": 48, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}
PORTS = {
    "GPT-2: the fused matrix has keys first": Port(
        "gpt2", "W_Q", ("Q and K were exchanged, with their biases",), fused(keys_first)
    ),
    "GPT-NeoX: a matrix in parts": Port(
        "gpt_neox",
        "W_Q",
        ("one matrix was cut head by head into Q, K and V, though it had all of Q first",),
        fused(in_parts),
    ),
    "Llama: rows are permuted for RoPE twice": Port(
        "llama",
        "W_Q",
        ("the features of W_Q and W_K were reordered for the halves of RoPE once too often",),
        with_rows(permuted, "q_proj", "k_proj"),
    ),
    "Llama: rows are not permuted for RoPE": Port(
        "llama",
        "W_Q",
        ("the features of W_Q and W_K stood as interleaved pairs of RoPE, not as halves",),
        with_rows(unpermuted, "q_proj", "k_proj"),
    ),
    "Llama: the heads are in reverse": Port(
        "llama",
        "W_Q",
        ("the heads of W_Q (3, 2, 1, 0) and W_K (1, 0) were put in another order",),
        with_rows(lambda heads, _: heads.flip(0), "q_proj", "k_proj"),
    ),
    "Llama: the values are not loaded": Port(
        "llama",
        "W_V",
        ("W_V was not loaded: all cells are 0",),
        lambda port: attention(port).v_proj.weight.zero_(),
    ),
    "Llama: the keys are not loaded": Port(
        "llama",
        "W_K",
        ("W_K was not loaded: all cells are 0",),
        lambda port: attention(port).k_proj.weight.zero_(),
    ),
    "Llama: a square matrix is transposed": Port(
        "llama",
        "W_Q",
        ("W_Q was transposed",),
        lambda port: attention(port).q_proj.weight.copy_(
            attention(port).q_proj.weight.detach().clone().T
        ),
    ),
    "Llama: the scale is that of the hidden size": Port(
        "llama",
        "scaled",
        ("the scores were divided by the root of d_model",),
        each(scaling=48**-0.5),
        more=APART,
    ),
    "Llama: the scale is given twice": Port(
        "llama",
        "scaled",
        (
            "the scores were divided by d_k, not by its root",
            "the scores were scaled twice",
        ),
        each(scaling=lambda own: own**2),
        more=APART,
    ),
    "Llama: another theta": Port(
        "llama", "angles", ("RoPE's theta was 500000",), config={"rope_parameters": OTHER_THETA}
    ),
    "Llama: interleaved pairs": Port(
        "llama",
        "Q_rot",
        ("RoPE rotated the wrong pairs of features by the angles of the right pairing",),
        code={"rotate_half": "cohere"},
    ),
    "Cohere: halves": Port(
        "cohere",
        "Q_rot",
        ("RoPE rotated the wrong pairs of features by the angles of the right pairing",),
        code={"rotate_half": "llama"},
    ),
    "Gemma 2: no softcap": Port(
        "gemma2", "masked", ("the softcap was left out",), each(attn_logit_softcapping=None)
    ),
    "Mistral: the window is one too wide": Port(
        "mistral", "mask", ("the window was one key too wide",), config={"sliding_window": 4}
    ),
    "Mistral: no window": Port(
        "mistral", "mask", ("the window was ignored",), config={"sliding_window": None}
    ),
    "Qwen 2: no biases": Port(
        "qwen2", "Q", ("the biases of all projections were left out",), without_biases
    ),
    "Phi: all features turn": Port(
        "phi",
        "angles",
        ("RoPE rotated all features, not the share that partial_rotary_factor says",),
        config={"rope_parameters": ALL_TURN},
    ),
    "gpt-oss: no sinks": Port(
        "gpt_oss", "sink", ("the sink got no share of the weights",), without_sinks
    ),
}


def calls_of(model: Any, torch: Any, recording: Any) -> Any:
    ids = (torch.arange(7) * 7 % 27 + 5)[None]
    with torch.no_grad(), recording() as calls:
        model(input_ids=ids)
    return calls


def model_of(kind: str, config: Mapping[str, Any]) -> Any:
    transformers = imported()
    made = transformers.AutoConfig.for_model(kind, **config)
    return transformers.AutoModel.from_config(made, attn_implementation="eager").eval()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", PORTS)
def test_a_wrong_port_is_named(
    name: str, torch: Any, recording: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = PORTS[name]
    config = {**MODELS[wrong.kind], **wrong.more}
    model = model_of(wrong.kind, config)
    torch.manual_seed(3)
    for weights in model.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    port = model_of(wrong.kind, {**config, **wrong.config})
    port.load_state_dict(model.state_dict())
    with torch.no_grad():
        wrong.change(port)
    calls = calls_of(model, torch, recording)
    for function, other in wrong.code.items():
        own, others = (
            importlib.import_module(f"transformers.models.{kind}.modeling_{kind}")
            for kind in (wrong.kind, other)
        )
        monkeypatch.setattr(own, function, getattr(others, function))
    found = calls.compare(calls_of(port, torch, recording))
    assert found.first is not None
    assert found.first.ours.number == 0
    assert found.first.first.name == wrong.first
    assert found.mistakes == wrong.named


def test_positions_that_begin_with_1_change_no_output(torch: Any, recording: Any) -> None:
    model = model_of("llama", MODELS["llama"])
    ids = torch.arange(5, 12)[None]
    calls = []
    for first in (0, 1):
        positions = torch.arange(first, first + 7)[None]
        with torch.no_grad(), recording() as recorded:
            model(input_ids=ids, position_ids=positions)
        calls.append(recorded)
    found = calls[0].compare(calls[1])
    assert found.mistakes == ("RoPE counted all positions one further",)
    said = "both sides agree: what differs has no effect on the output."
    assert said in found.to_markdown()


def test_a_norm_between_is_said(torch: Any, recording: Any) -> None:
    """Of queries and keys that are normed, attncli does not know the steps before."""
    calls = []
    for width in (1.0, 0.5):
        torch.manual_seed(3)
        model = model_of("qwen3", MODELS["qwen3"])
        with torch.no_grad():
            attention(model).q_norm.weight.fill_(width)
        calls.append(calls_of(model, torch, recording))
    found = calls[0].compare(calls[1])
    assert found.first.first.name == "Q"
    assert "So Q and K are normed and rotated already" in found.to_markdown()


def test_one_matrix_that_has_groups(torch: Any, recording: Any) -> None:
    """Two query heads and the head of keys and of values that they share stand together, as in
    Falcon: the problem begins at X.
    """

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fused = torch.nn.Linear(8, 8 * 4)

        def forward(self, x: Any) -> Any:
            groups = self.fused(x).unflatten(-1, (2, 4, 4))
            query = groups[..., :2, :].flatten(2, 3).transpose(1, 2)
            key, value = (groups[..., at, :].transpose(1, 2) for at in (2, 3))
            return torch.nn.functional.scaled_dot_product_attention(
                query, key, value, enable_gqa=True
            )

    layer = Layer().eval()
    with torch.no_grad(), recording() as calls:
        layer(torch.randn(1, 5, 8))
    trace = calls[0].trace()
    assert trace["W_Q"].shape == (4, 8, 4)
    rows = layer.fused.weight.detach().numpy()
    # The second group begins after two queries, a key and a value of 4 rows each.
    assert (trace["W_Q"][2] == rows[16:20].T).all()
    assert (trace["W_K"][1] == rows[24:28].T).all()
    assert (trace["b_V"][0] == layer.fused.bias.detach().numpy()[12:16]).all()
    assert calls[0].check()
