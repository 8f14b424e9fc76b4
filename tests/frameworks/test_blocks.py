"""The whole blocks of inputs/equations against layers of PyTorch and Transformers with the same
weights, in double precision: what comes out, and every gradient by autograd, to 1e-9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import yaml
from software import Array, imported

import attncli

INPUTS = Path(__file__).parents[2] / "inputs" / "equations"


class Sizes(NamedTuple):
    """How many tokens and features a block has that is drawn."""

    tokens: int = 5
    d_model: int = 8
    heads: int = 4
    kv_heads: int = 2
    inner: int = 12


def shipped(name: str) -> dict[str, Any]:
    """What the file of a block holds."""
    return dict(yaml.safe_load((INPUTS / f"{name}.yaml").read_text(encoding="utf-8")))


def drawn(name: str) -> dict[str, Any]:
    """The same block with other numbers, in other sizes; a number stays as it is."""
    random = np.random.default_rng(17)
    sizes = Sizes()
    problem = shipped(name)
    del problem["tokens"]
    problem["heads"] = sizes.heads
    of_head = sizes.d_model // sizes.heads
    columns_of_keys = sizes.d_model
    if "kv_heads" in problem:
        problem["kv_heads"] = sizes.kv_heads
        columns_of_keys = sizes.kv_heads * of_head
    problem["X"] = random.normal(size=(sizes.tokens, sizes.d_model))
    for key, columns in (
        ("W_Q", sizes.d_model),
        ("W_K", columns_of_keys),
        ("W_V", columns_of_keys),
        ("W_O", sizes.d_model),
    ):
        problem[key] = random.normal(size=(sizes.d_model, columns))
    lengths = {"d": sizes.d_model, "f": sizes.inner}
    arrays = {}
    for cell, numbers in problem["arrays"].items():
        _, _, letters = cell.partition("[")
        shape = [lengths[letter] for letter in letters if letter in lengths]
        arrays[cell] = random.normal(size=shape) if shape else numbers
    return problem | {"arrays": arrays}


class Block(NamedTuple):
    """A layer of theirs: its parameters by our names, and what it makes of an input.

    Their weights have a row for each column of ours.
    """

    weights: Mapping[str, Any]
    vectors: Mapping[str, Any]
    forward: Callable[[Any], Any]


def encoder_layer(arrays: Mapping[str, Array], heads: int) -> Block:
    torch = imported("torch")
    d_model, inner = arrays["W_in"].shape
    layer = torch.nn.TransformerEncoderLayer(
        d_model, heads, inner, dropout=0.0, layer_norm_eps=1e-5, dtype=torch.float64
    )
    attention = layer.self_attn
    # The block of the paper adds nothing in the attention.
    torch.nn.init.zeros_(attention.in_proj_bias)
    torch.nn.init.zeros_(attention.out_proj.bias)
    fused = np.concatenate([arrays[name].T for name in ("W_Q", "W_K", "W_V")])
    attention.in_proj_weight.data = torch.from_numpy(fused)
    weights = {
        "W_O": attention.out_proj.weight,
        "W_in": layer.linear1.weight,
        "W_out": layer.linear2.weight,
        # The three parts of this one are taken apart below.
        "W_Q W_K W_V": attention.in_proj_weight,
    }
    vectors = {
        "b_in": layer.linear1.bias,
        "b_out": layer.linear2.bias,
        "gain_1": layer.norm1.weight,
        "bias_1": layer.norm1.bias,
        "gain_2": layer.norm2.weight,
        "bias_2": layer.norm2.bias,
    }
    return Block(weights, vectors, lambda x: layer(x[:, None])[:, 0])


def llama_layer(arrays: Mapping[str, Array], heads: int) -> Block:
    """Transformers' layer with two parts that would work in single precision in double: PyTorch's
    norm, and angles that are handed over.
    """
    torch = imported("torch")
    llama = imported("transformers.models.llama.modeling_llama")
    d_model, inner = arrays["W_up"].shape
    of_head = d_model // heads
    config = llama.LlamaConfig(
        hidden_size=d_model,
        intermediate_size=inner,
        num_attention_heads=heads,
        num_key_value_heads=arrays["W_K"].shape[1] // of_head,
        rms_norm_eps=1e-6,
        attn_implementation="sdpa",
    )
    layer = llama.LlamaDecoderLayer(config, layer_idx=0).double()
    for norm in ("input_layernorm", "post_attention_layernorm"):
        setattr(layer, norm, torch.nn.RMSNorm(d_model, eps=1e-6, dtype=torch.float64))
    weights = {
        "W_Q": layer.self_attn.q_proj.weight,
        "W_K": layer.self_attn.k_proj.weight,
        "W_V": layer.self_attn.v_proj.weight,
        "W_O": layer.self_attn.o_proj.weight,
        "W_gate": layer.mlp.gate_proj.weight,
        "W_up": layer.mlp.up_proj.weight,
        "W_down": layer.mlp.down_proj.weight,
    }
    vectors = {
        "gain_1": layer.input_layernorm.weight,
        "gain_2": layer.post_attention_layernorm.weight,
    }

    def forward(x: Any) -> Any:
        pairs = torch.arange(0, of_head, 2, dtype=torch.float64)
        of_pairs = torch.arange(len(x))[:, None] / 10000 ** (pairs / of_head)
        angles = torch.cat([of_pairs, of_pairs], dim=-1)[None]
        found = layer(x[None], position_embeddings=(angles.cos(), angles.sin()))
        return (found[0] if isinstance(found, tuple) else found).reshape(x.shape)

    return Block(weights, vectors, forward)


BLOCKS = {"transformer_block_2017": encoder_layer, "block_llama": llama_layer}


def by_name(problem: Mapping[str, Any]) -> dict[str, Array]:
    """All arrays of a problem as NumPy's, by name."""
    found = {name: problem[name] for name in ("X", "W_Q", "W_K", "W_V", "W_O")}
    for cell, numbers in problem["arrays"].items():
        name, _, _ = cell.partition("[")
        found[name] = numbers
    return {name: np.array(numbers, dtype=np.float64) for name, numbers in found.items()}


def side_by_side(array: Array) -> Array:
    """The weights of all heads as one matrix, which has their columns side by side."""
    return array if array.ndim < 3 else np.concatenate([*array], axis=-1)


def their_gradients(block: Block) -> Iterator[tuple[str, Array]]:
    for names, parameter in block.weights.items():
        parts = names.split()
        for name, part in zip(parts, np.split(parameter.grad.numpy(), len(parts)), strict=True):
            yield name, part.T
    for name, parameter in block.vectors.items():
        yield name, parameter.grad.numpy()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what transformers imports
@pytest.mark.parametrize("numbers", [shipped, drawn])
@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_is_that_of_the_framework(
    name: str, numbers: Callable[[str], dict[str, Any]]
) -> None:
    torch = imported("torch")
    problem = numbers(name)
    arrays = by_name(problem)
    block = BLOCKS[name](arrays, problem["heads"])
    for each, parameter in (*block.weights.items(), *block.vectors.items()):
        if " " not in each:
            parameter.data = torch.from_numpy(arrays[each].T.copy())
    x = torch.from_numpy(arrays["X"]).requires_grad_()
    # Of ones alone, the gradient of a norm would be 0.
    slope = np.random.default_rng(3).normal(size=x.shape)
    result = block.forward(x)
    result.backward(torch.from_numpy(slope))

    trace = attncli.trace(**problem, d_output=slope, gradient=True)

    np.testing.assert_allclose(trace["block"], result.detach().numpy(), rtol=1e-9, atol=1e-9)
    found = dict(their_gradients(block)) | {"X": x.grad.numpy()}
    assert {*arrays} - {*found} <= {"eps"}
    for each, gradient in found.items():
        ours = side_by_side(trace[f"d_{each}"])
        np.testing.assert_allclose(ours, gradient, rtol=1e-9, atol=1e-9, err_msg=each)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what transformers imports
def test_the_layer_of_transformers_as_it_is_gives_the_same_in_single_precision() -> None:
    torch = imported("torch")
    llama = imported("transformers.models.llama.modeling_llama")
    problem = drawn("block_llama")
    arrays = by_name(problem)
    block = llama_layer(arrays, problem["heads"])
    config = llama.LlamaConfig(
        hidden_size=8,
        intermediate_size=12,
        num_attention_heads=4,
        num_key_value_heads=2,
        rms_norm_eps=1e-6,
        attn_implementation="sdpa",
    )
    layer = llama.LlamaDecoderLayer(config, layer_idx=0)
    own = {
        "self_attn.q_proj": "W_Q",
        "self_attn.k_proj": "W_K",
        "self_attn.v_proj": "W_V",
        "self_attn.o_proj": "W_O",
        "mlp.gate_proj": "W_gate",
        "mlp.up_proj": "W_up",
        "mlp.down_proj": "W_down",
        "input_layernorm": "gain_1",
        "post_attention_layernorm": "gain_2",
    }
    assert {*own.values()} == {*block.weights, *block.vectors}
    state = {
        f"{module}.weight": torch.from_numpy(arrays[each].T.copy()).float()
        for module, each in own.items()
    }
    layer.load_state_dict(state, strict=True)
    x = torch.from_numpy(arrays["X"]).float()[None]
    rotation = llama.LlamaRotaryEmbedding(config)(x, torch.arange(5)[None])
    found = layer(x, position_embeddings=rotation)
    found = found[0] if isinstance(found, tuple) else found
    expected = attncli.trace(**problem)["block"]
    np.testing.assert_allclose(found.detach().numpy().reshape(5, 8), expected, rtol=1e-4, atol=1e-4)
