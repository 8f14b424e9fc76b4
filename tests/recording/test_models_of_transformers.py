"""Models of Transformers, small and with random weights: every call is seen, and gives attncli the
same output.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytestmark = pytest.mark.torch

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "vocab_size": 60,
    "max_position_embeddings": 64,
}
GROUPED = {**SIZES, "num_key_value_heads": 2, "head_dim": 8}
GPT = {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 60, "n_positions": 64}
SEQ2SEQ = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "vocab_size": 60,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
}
IMAGES = {**SIZES, "image_size": 16, "patch_size": 8}
MODELS: dict[str, dict[str, Any]] = {
    "gpt2": GPT,
    "llama": GROUPED,
    "mistral": {**GROUPED, "sliding_window": 3},
    "gemma2": {**GROUPED, "sliding_window": 4, "query_pre_attn_scalar": 8},
    "gpt_oss": {**GROUPED, "num_local_experts": 2, "num_experts_per_tok": 1, "sliding_window": 4},
    "bert": SIZES,
    "t5": {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "vocab_size": 60},
    "vit": IMAGES,
    "whisper": {
        **SEQ2SEQ,
        "num_mel_bins": 8,
        "max_source_positions": 10,
        "max_target_positions": 20,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 1,
    },
    "gemma3_text": {**GROUPED, "sliding_window": 4},
    "roberta": SIZES,
    "distilbert": {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48, "vocab_size": 60},
    "albert": {**SIZES, "embedding_size": 16},
    "electra": {**SIZES, "embedding_size": 16},
    "phi": SIZES,
    "phi3": {**SIZES, "num_key_value_heads": 2, "pad_token_id": 0},
    "qwen2": GROUPED,
    "qwen3": GROUPED,
    "gpt_neox": SIZES,
    "opt": {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "ffn_dim": 48,
        "vocab_size": 60,
        "max_position_embeddings": 64,
        "word_embed_proj_dim": 32,
    },
    "bart": {**SEQ2SEQ, "max_position_embeddings": 64},
    "cohere": {**SIZES, "num_key_value_heads": 2},
    "olmo2": {**SIZES, "num_key_value_heads": 2},
    "clip_vision_model": IMAGES,
    "falcon": {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "vocab_size": 60,
    },
}
WITHOUT_SDPA = ("gemma2", "gpt_oss")  # a softcap and sinks, which PyTorch's function does not have
# a model with linear layers of its own, a softcap, sinks, and biases
FAST = ("gpt2", "gemma2", "gpt_oss", "t5")


def model_of(name: str, attention: str) -> Any:
    """A model with random weights, ready to be run."""
    transformers = imported()
    config = transformers.AutoConfig.for_model(name, **MODELS[name])
    return transformers.AutoModel.from_config(config, attn_implementation=attention).eval()


def imported() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformers = pytest.importorskip("transformers", reason="Transformers is not installed")
    transformers.logging.set_verbosity_error()
    return transformers


def inputs_of(name: str, torch: Any) -> dict[str, Any]:
    """Two sentences, of which one is padded; an image; or sounds with what was said."""
    ids = torch.arange(5, 17).reshape(2, 6)
    mask = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])
    if name in ("vit", "clip_vision_model"):
        return {"pixel_values": torch.randn(1, 3, 16, 16)}
    if name == "whisper":
        return {"input_features": torch.randn(1, 8, 20), "decoder_input_ids": ids[:1]}
    decoder = {"decoder_input_ids": ids[:, :4]} if name in ("t5", "bart") else {}
    return {"input_ids": ids, "attention_mask": mask, **decoder}


def cases() -> list[Any]:
    pairs = [(name, kind) for name in MODELS for kind in ("sdpa", "eager")]
    known = [(name, kind) for name, kind in pairs if kind == "eager" or name not in WITHOUT_SDPA]
    return [
        pytest.param(*pair, marks=[] if pair[0] in FAST else [pytest.mark.slow]) for pair in known
    ]


# The way a call takes is that of its kind, not that of its model.
@pytest.mark.at_most(30)
@pytest.mark.filterwarnings("ignore")  # of Transformers
@pytest.mark.parametrize(("name", "kind"), cases())
def test_every_call_of_a_model(
    name: str, kind: str, torch: Any, recording: Callable[..., Any]
) -> None:
    model, inputs = model_of(name, kind), inputs_of(name, torch)
    with torch.no_grad():
        expected = model(**inputs)[0]
        with recording() as calls:
            output = model(**inputs)[0]
    assert torch.equal(output, expected)
    assert len(calls) == (6 if name in ("t5", "whisper", "bart") else 2)
    for call in calls:
        agreement = call.check()
        assert agreement, f"{call.where}: {agreement}"
        assert agreement.comparison["output"].difference.absolute < 1e-6
    assert calls[0].where in dict(model.named_modules())


@pytest.mark.filterwarnings("ignore")
def test_what_each_kind_of_model_has_besides(torch: Any, recording: Callable[..., Any]) -> None:
    def first(name: str) -> dict[str, Any]:
        model = model_of(name, "eager")
        with torch.no_grad(), recording() as calls:
            model(**inputs_of(name, torch))
        found: dict[str, Any] = calls[0].keys(head=1, entry=0)
        return found

    assert first("gemma2")["softcap"] == 50
    assert first("gemma2")["mask"] == {"causal": True, "window": [3, 0]}
    assert "sink" in first("gpt_oss")
    assert "additive" in first("t5")["mask"]
    assert first("t5")["scale"] == 1
    assert {"X", "W_Q", "b_V"} <= first("gpt2").keys()
    assert first("gpt2")["mask"] == "causal"


@pytest.mark.filterwarnings("ignore")
def test_generating_with_a_cache(torch: Any, recording: Callable[..., Any]) -> None:
    transformers = imported()
    config = transformers.AutoConfig.for_model("llama", **GROUPED)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    asked = {"max_new_tokens": 3, "do_sample": False}
    expected = model.generate(torch.tensor([[5, 6, 7]]), **asked)
    with recording() as calls:
        assert torch.equal(model.generate(torch.tensor([[5, 6, 7]]), **asked), expected)
    assert [(call.step, call.layer, call.shapes[1][-2]) for call in calls] == [
        (0, 0, 3), (0, 1, 3), (1, 0, 4), (1, 1, 4), (2, 0, 5), (2, 1, 5),
    ]  # fmt: skip
    assert all(call.check() for call in calls)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["sdpa", "eager"])
def test_text_that_is_generated_in_a_thread(
    kind: str, torch: Any, recording: Callable[..., Any]
) -> None:
    """As a TextIteratorStreamer needs it."""
    transformers = imported()
    config = transformers.AutoConfig.for_model("llama", **GROUPED)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation=kind).eval()

    class Streamer:
        def put(self, tokens: Any) -> None:
            put.append(tokens)

        def end(self) -> None:
            put.append(None)

    put: list[Any] = []
    asked = {
        "inputs": torch.tensor([[5, 6, 7]]),
        "max_new_tokens": 3,
        "do_sample": False,
        "streamer": Streamer(),
    }
    with recording() as calls:
        thread = threading.Thread(target=model.generate, kwargs=asked)
        thread.start()
        thread.join()
    assert put[-1] is None
    assert [(call.step, call.layer, call.shapes[1][-2]) for call in calls] == [
        (0, 0, 3), (0, 1, 3), (1, 0, 4), (1, 1, 4), (2, 0, 5), (2, 1, 5),
    ]  # fmt: skip
    assert all(call.check() for call in calls)


@pytest.mark.filterwarnings("ignore")
def test_a_model_of_another_thread_is_not_recorded(
    torch: Any, recording: Callable[..., Any]
) -> None:
    """The registry is that of all threads, and what another one takes from it is its own."""
    model, mine = model_of("llama", "eager"), torch.nn.MultiheadAttention(8, 2).eval()
    inputs, x = inputs_of("llama", torch), torch.randn(3, 1, 8)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        with recording() as calls:
            pool.submit(model, **inputs).result()
            mine(x, x, x)
    assert [call.where for call in calls] == ["MultiheadAttention"]


@pytest.mark.filterwarnings("ignore")
def test_the_registry_is_put_back(torch: Any, recording: Callable[..., Any]) -> None:
    imported()
    from transformers.modeling_utils import AttentionInterface

    before = AttentionInterface.get_interface
    with pytest.raises(RuntimeError, match="mine"), recording():
        raise RuntimeError("mine")
    assert AttentionInterface.get_interface is before
