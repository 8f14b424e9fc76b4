"""The examples that name a framework give what that framework gives: the same problem, worked out
by its own code.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import yaml
from software import Array, imported, onnx_attention, onnx_weights, torch_weights

from attncli.problem.loader import load
from attncli.tracing import run

INPUTS = Path(__file__).parents[2] / "inputs"
Given: TypeAlias = dict[str, Any]
Steps: TypeAlias = dict[str, Array]


def given(name: str) -> Given:
    """What the file holds, its lists of numbers as arrays."""
    data = yaml.safe_load((INPUTS / name).read_text(encoding="utf-8"))
    numeric = {
        key for key in data if key in ("X", "Q", "K", "V", "sink") or key[:2] in ("W_", "b_")
    }
    return data | {key: np.array(data[key], dtype=np.float64) for key in numeric}


def tensors(problem: Given, *names: str) -> list[Any]:
    """These arrays as a batch of one."""
    torch = imported("torch")
    return [torch.from_numpy(problem[name])[None] for name in names]


def numpy(tensor: Any) -> Array:
    return tensor.detach().numpy()[0]


def causal(tokens: int) -> Any:
    """A causal mask with the sentinel of Transformers."""
    torch = imported("torch")
    return torch.full((tokens, tokens), torch.finfo(torch.float64).min, dtype=torch.float64).triu(1)


def is_causal(problem: Given) -> Steps:
    return {"weights": torch_weights(problem["Q"], problem["K"], causal=True)}


def gemma2_softcap(problem: Given) -> Steps:
    mask = np.tril(np.ones((3, 3), dtype=bool))
    return {"weights": onnx_weights(problem["Q"], problem["K"], mask, scale=1 / 16, softcap=50.0)}


def gemma2_softcap_of_transformers(problem: Given) -> Steps:
    gemma = imported("transformers.models.gemma2.modeling_gemma2")
    q, k, v = (tensor[None] for tensor in tensors(problem, "Q", "K", "V"))
    module = type("Module", (), {"num_key_value_groups": 1, "training": False})
    output, weights = gemma.eager_attention_forward(
        module, q, k, v, causal(3), scaling=256**-0.5, softcap=50.0
    )
    return {"weights": numpy(weights)[0], "output": numpy(output)[:, 0]}


def torch_sdpa_gqa(problem: Given) -> Steps:
    torch = imported("torch")
    q, k, v = tensors(problem, "Q", "K", "V")
    attention = torch.nn.functional.scaled_dot_product_attention
    eye = torch.eye(k.shape[2], dtype=torch.float64).expand(1, k.shape[1], -1, -1)
    weights, output = (attention(q, k, values, enable_gqa=True) for values in (eye, v))
    return {"weights": numpy(weights), "output": numpy(output)}


def jax_gqa(problem: Given) -> Steps:
    jax = imported("jax")
    q, k, v = (np.moveaxis(problem[name], 0, 1) for name in "QKV")  # token × head × feature
    return {"output": np.moveaxis(np.asarray(jax.nn.dot_product_attention(q, k, v)), 1, 0)}


def onnx_gqa(problem: Given) -> Steps:
    steps = onnx_attention({name: problem[name][None] for name in "QKV"})
    return {"output": steps[0]}


def torch_mha(problem: Given) -> Steps:
    torch = imported("torch")
    layer = torch.nn.MultiheadAttention(4, 2, batch_first=True, dtype=torch.float64).eval()
    fused = {name: np.concatenate([problem[f"{name}_{each}"].T for each in "QKV"]) for name in "Wb"}
    layer.in_proj_weight.data, layer.in_proj_bias.data = (
        torch.from_numpy(fused[name]) for name in "Wb"
    )
    layer.out_proj.weight.data = torch.from_numpy(problem["W_O"].T.copy())
    layer.out_proj.bias.data = torch.from_numpy(problem["b_O"])
    (x,) = tensors(problem, "X")
    ignored = torch.tensor([[not exists for exists in problem["mask"]["padding"]]])
    output, weights = layer(x, x, x, key_padding_mask=ignored, average_attn_weights=False)
    return {"weights": numpy(weights), "output": numpy(output)}


def keras_mha(problem: Given) -> Steps:
    imported("torch")
    layer = imported("keras").layers.MultiHeadAttention(2, 2, dtype="float64")
    x = problem["X"][None]
    layer(x, x)
    given = [problem[f"{kind}_{name}"] for name in "QKVO" for kind in "Wb"]
    layer.set_weights(
        [array.reshape(weight.shape) for array, weight in zip(given, layer.weights, strict=True)]
    )
    mask = np.array([[problem["mask"]["padding"]] * 3])
    output, weights = layer(x, x, attention_mask=mask, return_attention_scores=True)
    return {"weights": numpy(weights), "output": numpy(output)}


def llama_layer(problem: Given) -> Steps:
    torch, llama = imported("torch"), imported("transformers.models.llama.modeling_llama")
    config = llama.LlamaConfig(
        hidden_size=4,
        head_dim=4,
        num_attention_heads=2,
        num_key_value_heads=1,
        attn_implementation="eager",
    )
    layer = llama.LlamaAttention(config, 0).double().eval()
    for name in "QKVO":
        getattr(layer, f"{name.lower()}_proj").weight.data = torch.from_numpy(
            problem[f"W_{name}"].T.copy()
        )
    (x,) = tensors(problem, "X")
    rotation = llama.LlamaRotaryEmbedding(config)(x, torch.arange(3)[None])
    output, weights = layer(x, rotation, causal(3))
    return {"weights": numpy(weights), "output": numpy(output)}


def gpt_oss_sink(problem: Given) -> Steps:
    torch, model = imported("torch"), imported("transformers.models.gpt_oss.modeling_gpt_oss")
    sinks = torch.from_numpy(problem["sink"])
    module = type("Module", (), {"num_key_value_groups": 2, "training": False, "sinks": sinks})
    q, k, v = tensors(problem, "Q", "K", "V")
    output, weights = model.eager_attention_forward(module, q, k, v, causal(3), scaling=2**-0.5)
    return {"weights": numpy(weights), "output": np.moveaxis(numpy(output), 0, 1)}


def bloom_alibi(problem: Given) -> Steps:
    """As in BLOOM, where the bias grows with the key's place: the weights are the same as with
    distances.
    """
    torch, bloom = imported("torch"), imported("transformers.models.bloom.modeling_bloom")
    q, k, v = tensors(problem, "Q", "K", "V")
    alibi = bloom.build_alibi_tensor(torch.ones(1, 4), 2, torch.float64)
    weights = (q @ k.mT / 2**0.5 + alibi + causal(4)).softmax(-1)
    return {"weights": numpy(weights), "output": numpy(weights @ v)}


def mpt_alibi(problem: Given) -> Steps:
    torch, mpt = imported("torch"), imported("transformers.models.mpt.modeling_mpt")
    q, k, v = tensors(problem, "Q", "K", "V")
    weights = (
        q @ k.mT / 2**0.5 + mpt.build_mpt_alibi_tensor(2, 4).to(torch.float64) + causal(4)
    ).softmax(-1)
    return {"weights": numpy(weights), "output": numpy(weights @ v)}


def gpt2_layer(problem: Given) -> Steps:
    torch, gpt2 = imported("torch"), imported("transformers.models.gpt2.modeling_gpt2")
    config = gpt2.GPT2Config(n_embd=4, n_head=2, attn_implementation="eager")
    layer = gpt2.GPT2Attention(config, layer_idx=0).double().eval()
    for kind, name in (("W", "weight"), ("b", "bias")):
        fused = np.concatenate([problem[f"{kind}_{each}"] for each in "QKV"], axis=-1)
        getattr(layer.c_attn, name).data = torch.from_numpy(fused)
        getattr(layer.c_proj, name).data = torch.from_numpy(problem[f"{kind}_O"])
    output, weights, *_ = layer(*tensors(problem, "X"), attention_mask=causal(3))
    return {"weights": numpy(weights), "output": numpy(output)}


EXAMPLES: dict[str, tuple[Callable[[Given], Steps], ...]] = {
    "is_causal.yaml": (is_causal,),
    "gemma2_softcap.yaml": (gemma2_softcap, gemma2_softcap_of_transformers),
    "torch_sdpa_gqa.yaml": (torch_sdpa_gqa, jax_gqa, onnx_gqa),
    "torch_mha.yaml": (torch_mha, keras_mha),
    "llama_layer.yaml": (llama_layer,),
    "gpt_oss_sink.yaml": (gpt_oss_sink,),
    "bloom_alibi.yaml": (bloom_alibi, mpt_alibi),
    "gpt2_layer.yaml": (gpt2_layer,),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what transformers imports
@pytest.mark.parametrize(
    ("name", "theirs"), [(name, each) for name, them in EXAMPLES.items() for each in them]
)
def test_example(name: str, theirs: Callable[[Given], Steps]) -> None:
    steps = theirs(given(name))
    trace = run(load(str(INPUTS / name)))
    for step, value in steps.items():  # some of their softmaxes are always in float32
        np.testing.assert_allclose(trace[step], value, atol=1e-6, err_msg=f"{name}: {step}")
