"""Small models of Transformers with random weights: how each is built, and what it reads."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

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
FALCON = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 60,
}
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
T5 = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "vocab_size": 60}
DISENTANGLED = {
    **SIZES,
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "max_relative_positions": 8,
}
MODELS: dict[str, dict[str, Any]] = {
    "gpt2": GPT,
    "llama": GROUPED,
    "mistral": {**GROUPED, "sliding_window": 3},
    "gemma2": {**GROUPED, "sliding_window": 4, "query_pre_attn_scalar": 8},
    "gpt_oss": {**GROUPED, "num_local_experts": 2, "num_experts_per_tok": 1, "sliding_window": 4},
    "bert": SIZES,
    "t5": T5,
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
    "nanochat": GROUPED,
    "starcoder2": GROUPED,
    "olmo3": GROUPED,
    "biogpt": SIZES,
    "gpt_bigcode": GPT,
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
    "clip_text_model": {**SIZES, "eos_token_id": 16},
    "falcon": FALCON,
    "gptj": {**GPT, "rotary_dim": 4},
    "gpt_neo": {
        "hidden_size": 32,
        "num_layers": 2,
        "num_heads": 4,
        "intermediate_size": 48,
        "vocab_size": 60,
        "max_position_embeddings": 64,
        "attention_types": [[["global", "local"], 1]],
        "window_size": 3,
    },
    "bloom": {"hidden_size": 32, "n_layer": 2, "n_head": 4, "vocab_size": 60},
    "mpt": {
        "d_model": 32,
        "n_layers": 2,
        "n_heads": 4,
        "vocab_size": 60,
        "max_seq_len": 64,
        "expansion_ratio": 2,
    },
    "deberta": DISENTANGLED,
    "deberta-v2": {**DISENTANGLED, "position_biased_input": False, "share_att_key": True},
    "xlnet": {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48, "vocab_size": 60},
    "codegen": {**GPT, "rotary_dim": 4},
    "ctrl": {**GPT, "dff": 48},
    "xglm": {
        "d_model": 32,
        "num_layers": 2,
        "attention_heads": 4,
        "ffn_dim": 48,
        "vocab_size": 60,
    },
    "swin": {
        "image_size": 16,
        "patch_size": 2,
        "embed_dim": 16,
        "depths": [2, 1],
        "num_heads": [2, 4],
        "window_size": 4,
    },
    "deepseek_v3": {
        **SIZES,
        "num_key_value_heads": 4,
        "q_lora_rank": 16,
        "kv_lora_rank": 16,
        "qk_nope_head_dim": 8,
        "qk_rope_head_dim": 4,
        "v_head_dim": 8,
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "n_group": 2,
        "topk_group": 1,
        "moe_intermediate_size": 16,
        "first_k_dense_replace": 1,
    },
    "granite": {**SIZES, "num_key_value_heads": 2},
    "modernbert": {**SIZES, "pad_token_id": 0, "local_attention": 4, "cls_token_id": 1},
    "llama4_text": {
        **GROUPED,
        "attention_chunk_size": 4,
        "num_local_experts": 2,
        "intermediate_size_mlp": 48,
        "interleave_moe_layer_step": 2,
    },
    "diffllama": GROUPED,
    "mixtral": {**GROUPED, "num_local_experts": 4, "num_experts_per_tok": 2},
    "esm": {**SIZES, "position_embedding_type": "rotary", "pad_token_id": 0},
    "mobilebert": {
        **SIZES,
        "embedding_size": 32,
        "intra_bottleneck_size": 32,
        "true_hidden_size": 32,
    },
    "roformer": {**SIZES, "embedding_size": 32},
    "rembert": {**SIZES, "input_embedding_size": 32, "output_embedding_size": 32},
    "fsmt": {**SEQ2SEQ, "src_vocab_size": 60, "tgt_vocab_size": 60},
    "switch_transformers": {
        **T5,
        "num_decoder_layers": 2,
        "num_experts": 2,
        "num_sparse_encoder_layers": 1,
        "num_sparse_decoder_layers": 1,
    },
}
# Others of the same kind, by what is set besides.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2, upcast": ("gpt2", {"reorder_and_upcast_attn": True}),
    "gpt2, scaled by layer": ("gpt2", {"scale_attn_by_inverse_layer_idx": True}),
    "falcon, ALiBi": ("falcon", {"alibi": True}),
    "falcon, new": ("falcon", {"new_decoder_architecture": True, "num_kv_heads": 2}),
    "gemma2, softcap 2": ("gemma2", {"attn_logit_softcapping": 2.0}),
}
# What each has besides "eager". Sinks cannot be run with flex_attention on a CPU.
ONLY_EAGER = {
    "gpt_oss",
    "gptj",
    "gpt_neo",
    "bloom",
    "mpt",
    "deberta",
    "deberta-v2",
    "xlnet",
    "codegen",
    "xglm",
    "roformer",
    "rembert",
    "fsmt",
    "switch_transformers",
}
WITHOUT_SDPA = ONLY_EAGER | {"gemma2"}
WITHOUT_FLEX = ONLY_EAGER | {"gpt2", "gpt_bigcode", "falcon", "swin"}
# How often attention is called; others have two layers that call it once.
CALLS = {
    "t5": 6,
    "switch_transformers": 6,
    "whisper": 6,
    "bart": 6,
    "fsmt": 6,
    "swin": 3,
    "diffllama": 4,
}
DECODERS = ("t5", "bart", "fsmt", "switch_transformers")


def family(name: str) -> str:
    """Whose variant it is."""
    return VARIANTS[name][0] if name in VARIANTS else name


def kinds(name: str) -> list[str]:
    """The attention functions of Transformers that a model has."""
    found = ["eager"]
    if family(name) not in WITHOUT_SDPA:
        found.append("sdpa")
    if family(name) not in WITHOUT_FLEX:
        found.append("flex_attention")
    return found


def imported() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformers = pytest.importorskip("transformers", reason="Transformers is not installed")
    transformers.logging.set_verbosity_error()
    return transformers


def model_of(name: str, attention: str, std: float | None = None) -> Any:
    """A model with random weights, ready to be run; `std` says how much they differ."""
    import torch

    transformers = imported()
    kind, more = VARIANTS.get(name, (name, {}))
    config = transformers.AutoConfig.for_model(kind, **MODELS[kind] | more)
    model = transformers.AutoModel.from_config(config, attn_implementation=attention).eval()
    if std is not None:
        for weights in model.parameters():
            torch.nn.init.normal_(weights, std=std)
    return model


def inputs_of(name: str, torch: Any) -> dict[str, Any]:
    """Two sentences, of which one is padded; an image; or sounds with what was said."""
    kind = family(name)
    ids = torch.arange(5, 17).reshape(2, 6)
    mask = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])
    if kind in ("vit", "clip_vision_model", "swin"):
        return {"pixel_values": torch.randn(1, 3, 16, 16)}
    if kind == "whisper":
        return {"input_features": torch.randn(1, 8, 20), "decoder_input_ids": ids[:1]}
    decoder = {"decoder_input_ids": ids[:, :4]} if kind in DECODERS else {}
    return {"input_ids": ids, "attention_mask": mask, **decoder}
