"""The kinds of attention in the table of docs/how-to/real-models.md: each row as it is written
there, beside the layer of Transformers that has it, with the same weights.

The models are small, and all their numbers are drawn, those of norms, too. They calculate in single
precision. What the files of inputs/equations say is used as it is: only the numbers change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import yaml
from software import Array, imported

import attncli

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what it imports

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "real-models.md"
HEADS, KV_HEADS, D_K, D_MODEL, TOKENS = 4, 2, 8, 32, 9
SIZES = {
    "hidden_size": D_MODEL,
    "num_hidden_layers": 2,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "head_dim": D_K,
    "intermediate_size": 48,
    "vocab_size": 60,
    "max_position_embeddings": 64,
}
EXPERTS = {"num_local_experts": 2, "num_experts_per_tok": 1}
# Outputs are near 1, and so many times the rounding of single precision.
ROUNDING = 3e-6


class Layer(NamedTuple):
    """A layer of attention as its model ran it: what it was given, and what it gave back."""

    module: Any
    x: Array
    output: Array


def model_of(name: str, **config: Any) -> Any:
    """A model in which every number is drawn, also the gains, which are 1 in a new one."""
    torch, transformers = imported("torch"), imported("transformers")
    torch.manual_seed(3)
    chosen = transformers.AutoConfig.for_model(name, **{**SIZES, **config})
    model = transformers.AutoModel.from_config(chosen, attn_implementation="eager").eval()
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model


def layer_of(
    name: str, number: int = 0, positions: list[int] | None = None, **config: Any
) -> Layer:
    """The layer of a model, on nine tokens."""
    torch = imported("torch")
    model = model_of(name, **config)
    layers = [each for each in model.modules() if type(each).__name__.endswith("Attention")]
    module = layers[number]
    seen: list[Layer] = []

    def keep(module: Any, args: Any, kwargs: Any, result: Any) -> None:
        given = kwargs["hidden_states"] if "hidden_states" in kwargs else args[0]
        seen.append(Layer(module, doubles(given[0]), doubles(result[0][0])))

    module.register_forward_hook(keep, with_kwargs=True)
    at = {} if positions is None else {"position_ids": torch.tensor([positions])}
    with torch.no_grad():
        model(input_ids=torch.arange(5, 5 + TOKENS)[None], use_cache=False, **at)
    [layer] = seen
    return layer


def doubles(tensor: Any) -> Array:
    return tensor.detach().double().numpy()


def problem_of(layer: Layer, **keys: Any) -> dict[str, Any]:
    """A layer as a causal problem: its input and its four weights, and these keys besides."""
    problem = {"X": layer.x, "heads": HEADS, "kv_heads": KV_HEADS, "mask": "causal"}
    for letter in "QKVO":
        linear = getattr(layer.module, f"{letter.lower()}_proj")
        problem[f"W_{letter}"] = doubles(linear.weight).T
        if linear.bias is not None:
            problem[f"b_{letter}"] = doubles(linear.bias)
    return problem | keys


def rope_of(layer: Layer, **more: Any) -> dict[str, Any]:
    """The key for the rotation that the config of the model has."""
    return {"rope": {**layer.module.config.rope_parameters, **more}}


def shipped(name: str) -> list[Any]:
    """The equations of a file of inputs/equations."""
    text = (ROOT / "inputs" / "equations" / f"{name}.yaml").read_text(encoding="utf-8")
    return list(yaml.safe_load(text)["equations"])


def of_heads(norm: Any, heads: int) -> Array:
    """A gain for each feature of each head."""
    return doubles(norm.weight).reshape(heads, D_K)


def require_same(problem: dict[str, Any], output: Array) -> None:
    trace = attncli.trace(**problem)
    np.testing.assert_allclose(trace[trace.result], output, rtol=0, atol=ROUNDING)


def test_plain_and_grouped_heads() -> None:
    layer = layer_of("llama")
    require_same(problem_of(layer, position=rope_of(layer)), layer.output)


def test_window() -> None:
    layer = layer_of("mistral", sliding_window=3)
    mask = {"causal": True, "window": [2, 0]}
    require_same(problem_of(layer, position=rope_of(layer), mask=mask), layer.output)


def test_chunks_and_a_norm_after_the_rotation() -> None:
    layer = layer_of("llama4_text", **EXPERTS, attention_chunk_size=4, intermediate_size_mlp=48)
    problem = problem_of(
        layer,
        position=rope_of(layer, pairing="interleaved"),
        mask={"causal": True, "chunk": 4},
        equations=shipped("qk_norm_after_rope"),
        arrays={"eps": layer.module.qk_norm.eps},
    )
    require_same(problem, layer.output)


def test_softcap_and_scale() -> None:
    layer = layer_of("gemma2", number=1, attn_logit_softcapping=0.5, query_pre_attn_scalar=4)
    problem = problem_of(layer, position=rope_of(layer), softcap=0.5, scale=0.5)
    require_same(problem, layer.output)


def test_scale() -> None:
    layer = layer_of("granite", attention_multiplier=0.1)
    require_same(problem_of(layer, position=rope_of(layer), scale=0.1), layer.output)


def test_sinks() -> None:
    layer = layer_of("gpt_oss", number=1, **EXPERTS)
    sinks = doubles(layer.module.sinks).tolist()
    require_same(problem_of(layer, position=rope_of(layer), sink=sinks), layer.output)


def test_rope_of_each_kind_of_layer() -> None:
    kinds = ["sliding_attention", "full_attention"]
    for number, kind in enumerate(kinds):
        layer = layer_of(
            "gemma3_text", number, layer_types=kinds, sliding_window=3, query_pre_attn_scalar=8
        )
        mask = {"causal": True, "window": [2, 0]} if number == 0 else "causal"
        arrays = {
            # In Gemma, a gain is one more than its weight.
            "gain_q[k]": 1 + doubles(layer.module.q_norm.weight),
            "gain_k[k]": 1 + doubles(layer.module.k_norm.weight),
            "eps": layer.module.q_norm.eps,
        }
        problem = problem_of(
            layer,
            position={"rope": {"rope_parameters": rope_of(layer)["rope"], "layer": kind}},
            mask=mask,
            equations=shipped("qk_norm"),
            arrays=arrays,
        )
        require_same(problem, layer.output)


def test_qk_norm() -> None:
    layer = layer_of("qwen3")
    module = layer.module
    arrays = {
        "gain_q[k]": doubles(module.q_norm.weight),
        "gain_k[k]": doubles(module.k_norm.weight),
        "eps": module.q_norm.variance_epsilon,
    }
    problem = problem_of(layer, position=rope_of(layer), equations=shipped("qk_norm"))
    require_same(problem | {"arrays": arrays}, layer.output)


@pytest.mark.parametrize(
    ("name", "file", "pairing", "config"),
    [
        ("olmo2", "qk_norm_of_all_heads", "half", {}),
        (
            "cohere",
            "qk_layer_norm",
            "interleaved",
            {"use_qk_norm": True, "num_key_value_heads": HEADS},
        ),
    ],
)
def test_qk_norm_with_a_gain_for_each_head(
    name: str, file: str, pairing: str, config: dict[str, Any]
) -> None:
    layer = layer_of(name, **config)
    module = layer.module
    kv_heads = config.get("num_key_value_heads", KV_HEADS)
    letter = "h" if kv_heads == HEADS else "g"
    arrays = {
        "gain_q[h, k]": of_heads(module.q_norm, HEADS),
        f"gain_k[{letter}, k]": of_heads(module.k_norm, kv_heads),
        "eps": module.q_norm.variance_epsilon,
    }
    problem = problem_of(layer, position=rope_of(layer, pairing=pairing), equations=shipped(file))
    if kv_heads == HEADS:
        del problem["kv_heads"]
    require_same(problem | {"arrays": arrays}, layer.output)


def test_packed_texts_and_positions() -> None:
    positions = [0, 1, 2, 3, 0, 1, 2, 0, 1]
    layer = layer_of("llama", positions=positions)
    problem = problem_of(
        layer,
        position=rope_of(layer, positions=positions),
        mask=["causal", {"documents": [0, 0, 0, 0, 1, 1, 1, 2, 2]}],
    )
    require_same(problem, layer.output)


def test_a_layer_without_positions() -> None:
    layer = layer_of("smollm3", number=1, no_rope_layers=[1, 0], pad_token_id=0)
    require_same(problem_of(layer), layer.output)


def test_temperature_by_position() -> None:
    layer = layer_of(
        "llama4_text",
        number=1,
        **EXPERTS,
        no_rope_layers=[1, 0],
        intermediate_size_mlp=48,
        floor_scale=2,
        attn_scale=0.3,
    )
    problem = problem_of(
        layer,
        equations=shipped("temperature_by_position"),
        arrays={"attn_scale": 0.3, "floor_scale": 2},
    )
    require_same(problem, layer.output)


def test_temperature_by_position_from_0() -> None:
    """Ministral 3 counts from 0, and rotates besides."""
    layer = layer_of(
        "ministral3",
        rope_parameters={
            "rope_type": "default",
            "rope_theta": 100.0,
            "original_max_position_embeddings": 2,
            "llama_4_scaling_beta": 0.3,
        },
    )
    factor, scores = shipped("temperature_by_position")
    equation = factor["equation"].replace("(i + 1)", "i")
    problem = problem_of(
        layer,
        position={"rope": {"rope_theta": 100}},
        equations=[equation, scores],
        arrays={"attn_scale": 0.3, "floor_scale": 2},
    )
    require_same(problem, layer.output)


def test_gate_of_each_head() -> None:
    """The columns of the gate stand beside those of the queries, and a gain is one more than its
    weight.
    """
    layer = layer_of(
        "qwen3_next",
        num_hidden_layers=1,
        layer_types=["full_attention"],
        num_experts=2,
        num_experts_per_tok=1,
        moe_intermediate_size=8,
        shared_expert_intermediate_size=8,
    )
    module = layer.module
    problem = problem_of(layer, position=rope_of(layer))
    both = problem["W_Q"].reshape(D_MODEL, HEADS, 2, D_K)
    problem["W_Q"] = both[:, :, 0].reshape(D_MODEL, HEADS * D_K)
    problem["equations"] = shipped("qk_norm") + shipped("gate_of_heads")
    problem["arrays"] = {
        "W_G[h, d, c]": both[:, :, 1].transpose(1, 0, 2),
        "gain_q[k]": 1 + doubles(module.q_norm.weight),
        "gain_k[k]": 1 + doubles(module.k_norm.weight),
        "eps": module.q_norm.eps,
    }
    require_same(problem, layer.output)


def test_differential_heads() -> None:
    layer = layer_of("diffllama", number=1, num_key_value_heads=HEADS)
    module = layer.module
    problem = problem_of(layer, position=rope_of(layer), equations=shipped("differential_heads"))
    del problem["kv_heads"]
    pairs = HEADS // 2
    values = problem["W_V"].reshape(D_MODEL, HEADS, D_K)
    wide = np.concatenate([values[:, :pairs], values[:, pairs:]], axis=-1)
    problem["W_V"] = np.concatenate([wide, wide], axis=1).reshape(D_MODEL, -1)
    first, second = np.split(np.eye(HEADS), 2, axis=1)
    problem["arrays"] = {
        "first[h, p]": first,
        "second[h, p]": second,
        "lam_q[k]": doubles(module.lambda_q1),
        "lam_k[k]": doubles(module.lambda_k1),
        "lam_p[k]": doubles(module.lambda_q2),
        "lam_r[k]": doubles(module.lambda_k2),
        "lam_first": module.lambda_init,
        "W_join[p, c, d]": problem.pop("W_O").reshape(pairs, 2 * D_K, D_MODEL),
        "eps": module.groupnorm.eps,
    }
    require_same(problem | {"result": "joined"}, layer.output)


def test_linear_attention_with_decay() -> None:
    """Their memory, which is filled block by block, gives what pairs of tokens give."""
    kinds = ["linear_attention", "linear_attention"]
    layer = layer_of("minimax", layer_types=kinds, **EXPERTS, block_size=4)
    module = layer.module
    fused = doubles(module.qkv_proj.weight).T.reshape(D_MODEL, HEADS, 3, D_K)
    weights = {
        f"W_{letter}": fused[:, :, at].reshape(D_MODEL, -1) for at, letter in enumerate("QKV")
    }
    gate = doubles(module.output_gate.weight).T.reshape(D_MODEL, HEADS, D_K)
    arrays = {
        "rate[h]": doubles(module.slope_rate).ravel(),
        "W_G[h, d, c]": gate.transpose(1, 0, 2),
        "gain[h, c]": of_heads(module.norm, HEADS),
        "eps": module.norm.variance_epsilon,
    }
    problem = {
        "X": layer.x,
        "heads": HEADS,
        **weights,
        "W_O": doubles(module.out_proj.weight).T,
        "equations": shipped("linear_with_decay"),
        "arrays": arrays,
    }
    require_same(problem, layer.output)


def test_top_k_by_index_scores() -> None:
    """The queries and keys of the indexer are its own, with the rotation of the model."""
    torch = imported("torch")
    their = imported("transformers.models.deepseek_v32.modeling_deepseek_v32")
    recording = imported("attncli.torch").recording
    heads, width, rotated, top = 2, 8, 4, 3
    model = model_of(
        "deepseek_v32",
        num_key_value_heads=HEADS,
        q_lora_rank=12,
        kv_lora_rank=10,
        qk_nope_head_dim=6,
        qk_rope_head_dim=rotated,
        v_head_dim=5,
        index_n_heads=heads,
        index_head_dim=width,
        index_topk=top,
        **EXPERTS,
        n_routed_experts=2,
        moe_intermediate_size=8,
        n_group=1,
        topk_group=1,
    )
    indexer = model.layers[0].self_attn.indexer
    given: list[Any] = []
    indexer.register_forward_hook(lambda module, args, result: given.extend(args[:3]))
    with torch.no_grad(), recording(layers=[0]) as calls:
        model(input_ids=torch.arange(5, 5 + TOKENS)[None])
    x, q_latent, (cos, sin) = given
    with torch.no_grad():
        queries = indexer.wq_b(q_latent).view(1, TOKENS, heads, width)
        keys = indexer.k_norm(indexer.wk(x)).unsqueeze(2)
        turned = their.apply_rotary_pos_emb(
            queries[..., :rotated], keys[..., :rotated], cos, sin, unsqueeze_dim=2
        )
        weights = indexer.weights_proj(x) / heads**0.5
    queries, keys = (
        torch.cat([new, old[..., rotated:]], dim=-1)
        for new, old in zip(turned, (queries, keys), strict=True)
    )
    problem = calls[0].keys(from_inputs=False) | {
        "mask": "causal",
        "equations": shipped("top_k"),
        "arrays": {
            "index_Q[i, a, e]": doubles(queries[0]),
            "index_K[j, e]": doubles(keys[0, :, 0]),
            "index_weight[i, a]": doubles(weights[0]),
            "top": top,
        },
    }
    require_same(problem, doubles(calls[0].output[0]))


def t5_layer() -> Layer:
    torch, transformers = imported("torch"), imported("transformers")
    torch.manual_seed(3)
    config = transformers.T5Config(
        d_model=D_MODEL,
        d_kv=D_K,
        d_ff=48,
        num_layers=1,
        num_heads=HEADS,
        vocab_size=60,
        relative_attention_num_buckets=8,
        relative_attention_max_distance=12,
    )
    module = transformers.T5EncoderModel(config).encoder.block[0].layer[0].SelfAttention.eval()
    x = torch.randn(1, TOKENS, D_MODEL)
    with torch.no_grad():
        return Layer(module, doubles(x[0]), doubles(module(x)[0][0]))


def test_relative_bias() -> None:
    """Once as a mask that adds a number for each head, query and key, and once with a number for
    each distance.
    """
    layer = t5_layer()
    module = layer.module
    table = doubles(module.compute_bias(TOKENS, TOKENS))[0]
    problem = {
        "X": layer.x,
        "heads": HEADS,
        "scale": "none",
        **{f"W_{letter}": doubles(getattr(module, letter.lower()).weight).T for letter in "QKVO"},
    }
    require_same({**problem, "mask": {"additive": table}}, layer.output)

    last = TOKENS - 1
    distances = range(-last, last + 1)
    # Distance 2 is from query 0 to key 2, and -2 from query 2 to key 0.
    of_each = [table[:, max(0, -distance), max(0, distance)] for distance in distances]
    [equation] = shipped("relative_bias")
    equations = [
        equation["equation"]
        .replace("bias_of[", "bias_of[h, ")
        .replace("-2), 2) + 2", f"-{last}), {last}) + {last}")
    ]
    arrays = {"bias_of[h, r]": np.stack(of_each, axis=-1)}
    require_same({**problem, "equations": equations, "arrays": arrays}, layer.output)


def test_alibi() -> None:
    """BLOOM adds what came into the layer to what attention gives back."""
    torch = imported("torch")
    model = model_of("bloom", n_head=HEADS, n_layer=1)
    module = model.h[0].self_attention
    seen: list[Any] = []
    module.register_forward_hook(lambda module, args, result: seen.extend([*args[:2], result[0]]))
    with torch.no_grad():
        model(input_ids=torch.arange(5, 5 + TOKENS)[None])
    x, residual, output = (doubles(each[0]) for each in seen)
    weights = doubles(module.query_key_value.weight).T.reshape(D_MODEL, HEADS, 3, D_K)
    biases = doubles(module.query_key_value.bias).reshape(HEADS, 3, D_K)
    problem: dict[str, Any] = {
        "X": x,
        "heads": HEADS,
        "mask": "causal",
        "position": {"alibi": True},
        "W_O": doubles(module.dense.weight).T,
        "b_O": doubles(module.dense.bias),
    }
    for at, letter in enumerate("QKV"):
        problem[f"W_{letter}"] = weights[:, :, at].reshape(D_MODEL, -1)
        problem[f"b_{letter}"] = biases[:, at].ravel()
    require_same(problem, output - residual)


def test_keys_of_an_earlier_layer() -> None:
    torch, recording = imported("torch"), imported("attncli.torch").recording
    model = model_of(
        "gemma3n_text",
        num_hidden_layers=4,
        num_kv_shared_layers=2,
        layer_types=["sliding_attention", "full_attention"] * 2,
        hidden_size_per_layer_input=8,
        vocab_size_per_layer_input=60,
        laurel_rank=4,
        sliding_window=4,
        activation_sparsity_pattern=None,
    )
    with torch.no_grad(), recording() as calls:
        model(input_ids=torch.arange(5, 5 + TOKENS)[None])
    earlier, later = calls[1].keys(from_inputs=False), calls[3].keys(from_inputs=False)
    problem = {**later, "K": earlier["K"], "V": earlier["V"]}
    assert not np.array_equal(earlier["Q"], later["Q"])
    require_same(problem, doubles(calls[3].output[0]))


# A row of the table, and in its last cell the tests of it: [`test_window`](../../tests/….py)
ROW = re.compile(r"^\| (?P<what>.+?) \|.*\| (?P<tests>[^|]*) \|$", re.MULTILINE)
TEST = re.compile(r"\[`(?P<name>test_\w+)`\]\((?P<file>[^)]+)\)")


def rows() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """What each row is about, and the tests that it names with their files."""
    _, section = PAGE.read_text(encoding="utf-8").split("\n## Variants of attention\n")
    section, *_ = section.split("\n## ")
    _, _, *found = ROW.finditer(section)
    for row in found:
        yield row["what"], TEST.findall(row["tests"])


def test_every_row_names_tests_that_there_are() -> None:
    found = dict(rows())
    assert len(found) > 20
    for what, tests in found.items():
        assert tests, f"{what} names no test"
        for name, file in tests:
            text = (PAGE.parent / file).read_text(encoding="utf-8")
            assert f"\ndef {name}(" in text, f"{what} names {name}, which is not in {file}"


def test_every_test_of_a_variant_is_in_the_table() -> None:
    named = {name for _, tests in rows() for name, _ in tests}
    own = re.findall(r"^def (test_\w+)", Path(__file__).read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name in own if name not in named and not name.startswith("test_every")] == []
