"""What other software calls the keys of a problem, and what says the same here: for help with keys
that are none.
"""

from __future__ import annotations

from attncli.english import shorten
from attncli.errors import did_you_mean
from attncli.problem.keys import KEYS
from attncli.problem.taken_over import TAKEN_OVER, Advice
from attncli.problem.text.nodes import Node

# What is written here, and the words for it elsewhere: a key alone, or a key with what it says.
SYNONYMS = {
    "tokens": ("words", "labels"),
    "X": ("input", "inputs", "embeddings", "hidden_states"),
    "context": ("memory", "encoder_hidden_states", "kv_input"),
    "heads": (
        "num_heads",
        "n_heads",
        "n_head",
        "nheads",
        "num_attention_heads",
        "num_q_heads",
        "q_num_heads",
    ),
    "kv_heads": (
        "num_kv_heads",
        "n_kv_heads",
        "n_head_kv",
        "num_key_value_heads",
        "kv_num_heads",
        "num_groups",
        "kv_groups",
    ),
    "W_Q": ("q_proj", "query_weight"),
    "W_K": ("k_proj", "key_weight"),
    "W_V": ("v_proj", "value_weight"),
    "W_O": ("o_proj", "out_proj", "c_proj"),
    "Q": ("query", "queries"),
    "K": ("key", "keys"),
    "V": ("value", "values"),
    "past": (
        "cache",
        "kv_cache",
        "past_kv",
        "past_key_values",
        "past_key",
        "past_value",
        "past_k",
        "past_v",
    ),
    "mask": ("attn_mask", "attention_mask", "src_mask", "tgt_mask", "memory_mask", "masks"),
    "mask: causal": ("causal", "is_causal", "use_causal_mask"),
    "mask: {causal: true, corner: bottom-right}": ("corner",),
    "mask: {lengths: [2, 3]}": (
        "lengths",
        "seq_lens",
        "seqlens",
        "key_value_seq_lengths",
        "nonpad_kv_seqlen",
    ),
    "mask: {padding: [1, 1, 0]}": (
        "padding",
        "padding_mask",
        "key_padding_mask",
        "src_key_padding_mask",
        "tgt_key_padding_mask",
        "memory_key_padding_mask",
    ),
    "mask: {window: [2, 0]}": (
        "window",
        "window_size",
        "sliding_window",
        "sliding_window_size",
        "local_window_size",
    ),
    "mask: {documents: [0, 0, 1]}": (
        "documents",
        "document_id",
        "document_ids",
        "doc_ids",
        "segment_ids",
        "sequence_ids",
        "cu_seqlens",
        "cu_seqlens_q",
        "cu_seqlens_k",
        "cu_seq_lens",
        "cu_seq_lens_q",
        "cu_seq_lens_k",
    ),
    "mask: {causal: true, chunk: 4}": (
        "chunk",
        "chunk_size",
        "chunk_length",
        "attention_chunk_size",
    ),
    "mask: {any: [causal, {first: 1}]}": (
        "any",
        "any_of",
        "first",
        "prefix",
        "prefix_length",
        "prefix_len",
        "num_sink_tokens",
    ),
    "mask: {keep: …}": ("keep",),
    "mask: {hide: …}": ("hide",),
    "mask: {additive: …}": ("additive", "attn_bias"),
    "softcap": ("logit_cap", "attn_logit_softcapping", "logits_soft_cap"),
    "scale": ("scaling", "sm_scale", "scale_factor"),
    "position: {rope: true}": ("rope", "rotary", "rotary_emb"),
    "position: {rope: {theta: 10000}}": ("theta", "rope_theta", "rope_base"),
    "position: {rope: {pairing: interleaved}}": ("pairing", "interleaved"),
    "position: {alibi: true}": ("alibi",),
    "position: {alibi: {slopes: [0.5, 0.25]}}": ("slopes", "alibi_slopes"),
    "position: {sinusoidal: true}": (
        "sinusoidal",
        "pe",
        "positional_encoding",
        "position_encoding",
        "sinusoidal_pos_embds",
    ),
    "sink": ("s_aux", "softmax_sink"),
    "loss": ("mse", "cross_entropy", "criterion", "target", "targets"),
}
_OPTIONS = ("dtype", "device", "precision", "rounding", "detail", "steps", "format", "as")
_SIZES = (
    "d_model",
    "d_k",
    "d_v",
    "d_head",
    "head_dim",
    "n",
    "m",
    "batch",
    "batch_size",
    "n_embd",
    "hidden_size",
)
_BY_NAME = {name: written for written, names in SYNONYMS.items() for name in names}


def unknown_key_help(key: str, node: Node | None = None) -> str:
    """A help line for a key that is none: what says the same here as the key with the `node`
    behind it, the nearest key, or where all of them are.

    >>> unknown_key_help("maks")
    'did you mean mask?'
    """
    name, colon, value = key.partition(":")
    if colon and name in KEYS:
        return f"put a blank after the colon: {name}: {shorten(value)}"
    word = _plain(key)
    if word in _OPTIONS:
        return f"this is an option, not a key: --{word}"
    if word in _SIZES:
        return f"remove {key}: sizes are those of the arrays"
    if advice := equivalent(key, node):
        return f"did you mean {advice.written}?" if advice.written in KEYS else str(advice)
    return did_you_mean(key, list(KEYS), "attncli schema problem lists the keys", cutoff=0.75)


def equivalent(key: str, node: Node | None = None) -> Advice | None:
    """What is written here for a key of other software, `heads` or `mask: causal`, with what stands
    behind the key where that can be taken over; None for a key that is unknown.

    >>> equivalent("num_heads")
    Advice(written='heads', remark='')
    """
    word = _plain(key)
    written = _BY_NAME.get(word)
    if written is None:
        return None
    take_over = TAKEN_OVER.get(written)
    taken_over = take_over(word, node) if take_over and node else None
    return taken_over or Advice(written)


def _plain(key: str) -> str:
    return key.lower().replace("-", "_")
