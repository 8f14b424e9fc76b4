"""Multi-head latent attention of Transformers: a recorded call begins at X, with the steps from its
latent vectors, and gives the recorded output, also where no keys and values are made of these.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.cli.main import run

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "intermediate_size": 48,
    "vocab_size": 60,
    "max_position_embeddings": 64,
    "q_lora_rank": 12,
    "kv_lora_rank": 10,
    "qk_nope_head_dim": 6,
    "qk_rope_head_dim": 4,
    "v_head_dim": 5,
    "head_dim": 4,
    "n_routed_experts": 2,
    "num_local_experts": 2,
    "num_experts_per_tok": 1,
    "moe_intermediate_size": 8,
    "n_group": 1,
    "topk_group": 1,
    "n_shared_experts": 1,
}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 16,
    "mscale": 1.0,
    "mscale_all_dim": 0.7,
}
CONFIGS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "queries of the input": {"q_lora_rank": None},
    "yarn": {"rope_parameters": YARN},
    "biases": {"attention_bias": True},
}
NAMES = ("deepseek_v3", "deepseek_v2", "deepseek_v32", "glm4_moe_lite", "minicpm3")
# Outputs are near 1, and so many times the rounding of single precision.
ROUNDING = 1e-6

Recording = Callable[..., Any]


def model_of(name: str, kind: str = "sdpa", **config: Any) -> Any:
    """A model in which all numbers are drawn, also gains and biases."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers", reason="Transformers is not installed")
    torch.manual_seed(3)
    chosen = transformers.AutoConfig.for_model(name, **{**SIZES, **config})
    model = transformers.AutoModel.from_config(chosen, attn_implementation=kind).eval()
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model


def recorded(torch: Any, recording: Recording, name: str, kind: str = "sdpa", **config: Any) -> Any:
    """The call of the second layer, in a batch of two texts."""
    model = model_of(name, kind, **config)
    with torch.no_grad(), recording() as calls:
        model(input_ids=torch.arange(5, 17).reshape(2, 6))
    return calls[1]


def cases() -> list[Any]:
    found = []
    for name in NAMES:
        for config in CONFIGS:
            # It has no such queries.
            if (name, config) == ("deepseek_v32", "queries of the input"):
                continue
            is_fast = name == "deepseek_v3" or (name, config) == ("deepseek_v2", "as it is")
            marks = [] if is_fast else [pytest.mark.slow]
            found.append(pytest.param(name, config, marks=marks))
    return found


@pytest.mark.at_most(30)
@pytest.mark.parametrize(("name", "config"), cases())
def test_every_step_from_latent_vectors(
    name: str, config: str, torch: Any, recording: Recording
) -> None:
    call = recorded(torch, recording, name, **CONFIGS[config])
    expected = call.output.numpy()
    plain, absorbed = call.trace(latent=True), call.trace(absorbed=True)
    for trace in (plain, absorbed):
        np.testing.assert_allclose(trace["heads_output"], expected, rtol=0, atol=ROUNDING)
    # It is the same, and not only nearly so.
    for step in ("weights", "output"):
        np.testing.assert_allclose(absorbed[step], plain[step], rtol=0, atol=1e-13)
    # No key or value of a head is made.
    assert {"k_C", "V"} <= plain.steps.keys()
    assert {"k_C", "V"}.isdisjoint(absorbed.steps)
    assert plain["c_KV"].shape == (2, 6, 10)
    # One key for all heads is rotated.
    assert plain["K_rot"].shape == (2, 6, 4)
    assert ("c_Q" in plain) == (config != "queries of the input")


@pytest.mark.parametrize("kind", ["sdpa", "eager"])
@pytest.mark.parametrize("options", [{"latent": True}, {"absorbed": True}])
def test_what_is_saved_gives_the_output(
    kind: str, options: dict[str, bool], torch: Any, recording: Recording, tmp_path: Path
) -> None:
    call = recorded(torch, recording, "deepseek_v3", kind)
    words = list("abcdef")
    for number, part in enumerate(({}, {"head": 2}, {"entry": 1}, {"head": 3, "entry": 0})):
        file = tmp_path / f"mla{number}.yaml"
        assert call.write(file, tokens=words, **options, **part) == ""
        trace = attncli.trace(file)
        expected = call.output.numpy()
        if "entry" in part:
            expected = expected[part["entry"]]
        if "head" in part:
            expected = expected[..., part["head"], :, :]
        step = "output" if "head" in part else "heads_output"
        np.testing.assert_allclose(trace[step], expected, rtol=0, atol=ROUNDING)
        assert trace.tokens == tuple(words)


def test_other_weights_are_told(torch: Any, recording: Recording, tmp_path: Path) -> None:
    """The weights are those of the model, which training may have changed."""
    model = model_of("deepseek_v3")
    with torch.no_grad(), recording() as calls:
        model(input_ids=torch.arange(5, 11)[None])
    model.layers[0].self_attn.kv_b_proj.weight.data *= 2
    with pytest.warns(UserWarning, match="does not give the output that was recorded"):
        calls[0].save(tmp_path / "mla.yaml", latent=True)
    # What was recorded itself is as it was.
    assert calls[0].check()


def test_positions_that_are_not_from_0_are_told(
    torch: Any, recording: Recording, tmp_path: Path
) -> None:
    model = model_of("deepseek_v3")
    with torch.no_grad(), recording() as calls:
        model(input_ids=torch.arange(5, 11)[None], position_ids=torch.tensor([[0, 1, 2, 3, 9, 7]]))
    with pytest.warns(UserWarning, match="does not give the output that was recorded"):
        calls[0].save(tmp_path / "mla.yaml", latent=True)


def test_a_cache_has_no_latent_vectors_to_show(torch: Any, recording: Recording) -> None:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(3)
    config = transformers.AutoConfig.for_model("deepseek_v3", **SIZES)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    with recording() as calls:
        model.generate(torch.tensor([[5, 6, 7]]), max_new_tokens=2, do_sample=False)
    assert calls[0].trace(latent=True)["c_KV"].shape == (3, 10)
    with pytest.raises(attncli.AttncliError, match="call 2 reads keys of a cache") as told:
        calls[2].problem(latent=True)
    assert told.value.help == "record the run that fills the cache: steps=1"


def test_two_models_from_their_latent_vectors_on(torch: Any, recording: Recording) -> None:
    calls = []
    for gain in (1.0, 0.5):
        torch.manual_seed(3)
        model = model_of("deepseek_v3")
        with torch.no_grad():
            model.layers[0].self_attn.kv_a_layernorm.weight.fill_(gain)
        with torch.no_grad(), recording() as recorded:
            model(torch.tensor([[5, 6, 7]]))
        calls.append(recorded)
    ours, theirs = calls
    found = ours.compare(theirs)
    assert found.first.first.name == "K"
    assert "With --latent, or latent=True in Python" in found.to_markdown()
    assert ours.compare(theirs, latent=True).first.first.name == "gain_KV"
    with pytest.raises(attncli.AttncliError, match="two ways to write the same call"):
        ours.compare(theirs, latent=True, absorbed=True)


def test_a_call_without_them_says_so(torch: Any, recording: Recording) -> None:
    layer = torch.nn.MultiheadAttention(8, 2).eval()
    x = torch.randn(3, 1, 8)
    with torch.no_grad(), recording() as calls:
        layer(x, x, x)
    for options in ({"latent": True}, {"absorbed": True}):
        with pytest.raises(attncli.AttncliError, match="call 0 has no latent keys and values"):
            calls[0].problem(**options)


def test_gradients_run_through_the_latent_vectors(torch: Any, recording: Recording) -> None:
    """Those of both forms are the same, and those of the input are PyTorch's."""
    model = model_of("deepseek_v3", "eager", num_hidden_layers=1).double()
    attention = model.layers[0].self_attn
    seen: list[Any] = []
    attention.register_forward_hook(
        lambda module, args, kwargs, result: seen.append(kwargs), with_kwargs=True
    )
    with recording() as calls:
        model(input_ids=torch.arange(5, 11)[None])
    trace = calls[0].trace(latent=True, gradient=True)
    other = calls[0].trace(absorbed=True, gradient=True)
    for name in ("d_X", "d_W_UK", "d_W_UV", "d_W_DKV", "d_W_KR", "d_gain_KV", "d_W_UQ", "d_W_QR"):
        np.testing.assert_allclose(trace[name], other[name], rtol=0, atol=1e-12, err_msg=name)

    given = seen[0]
    x = given["hidden_states"].detach().requires_grad_()
    # What o_proj gives back is the sum of what the heads found, in every feature.
    width = attention.o_proj.in_features
    attention.o_proj = torch.nn.Identity()
    result, _ = attention(**{**given, "hidden_states": x, "past_key_values": None})
    assert result.shape[-1] == width
    result.sum().backward()
    np.testing.assert_allclose(trace["d_X"], x.grad[0].numpy(), rtol=0, atol=1e-5)


def test_from_the_command_line(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    words = {word: number for number, word in enumerate(["[UNK]", "I", "love", "AI"])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made, unk_token="[UNK]")
    folder = str(tmp_path / "model")
    tokenizer.save_pretrained(folder)
    model_of("deepseek_v3", bos_token_id=0, eos_token_id=0).save_pretrained(folder)
    # Transformers shows how far it has come.
    capsys.readouterr()
    of_model = ["record", folder, "--text", "I love AI", "--layer", "1"]
    traces = []
    for option in ("--latent", "--absorbed"):
        file = str(tmp_path / f"{option.strip('-')}.yaml")
        assert run([*of_model, option, "-o", file]) == 0
        assert capsys.readouterr().err == ""
        traces.append(attncli.trace(file))
    plain, absorbed = traces
    assert plain.tokens == ("I", "love", "AI")
    assert "c_KV" in plain
    assert "V" not in absorbed
    np.testing.assert_allclose(plain["output"], absorbed["output"], rtol=0, atol=1e-13)
    against = ["record", folder, "--text", "I love AI", "--against", "eager", "--latent"]
    assert run(against) == 0
    assert "2 calls of attention agree" in capsys.readouterr().out
    assert run(["record", folder, "--text", "I love AI", "--latent"]) == 2
    assert "--latent and --absorbed say what -o saves" in capsys.readouterr().err
