"""What other software calls the keys of a problem, and what says the same here: for help with keys
that are none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from attncli.english import shorten
from attncli.errors import did_you_mean
from attncli.problem.keys import KEYS

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
    "mask": ("attn_mask", "attention_mask", "masks"),
    "mask: causal": ("causal", "is_causal", "use_causal_mask"),
    "mask: {causal: true, corner: bottom-right}": ("corner",),
    "mask: {lengths: [2, 3]}": (
        "lengths",
        "seq_lens",
        "seqlens",
        "key_value_seq_lengths",
        "nonpad_kv_seqlen",
    ),
    "mask: {padding: [1, 1, 0]}": ("padding", "padding_mask", "key_padding_mask"),
    "mask: {window: [2, 0]}": ("window", "window_size", "sliding_window", "local_window_size"),
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
# Longer masks are not written out in a line of help.
_MOST_KEYS = 32


def _documents_between(bounds: list[int]) -> str | None:
    """Where each document begins, and where the last one ends, as the number of its document for
    every key; None where these are no such places.
    """
    is_in_order = bounds == sorted(bounds)
    if not is_in_order or bounds[:1] != [0] or bounds[-1] > _MOST_KEYS:
        return None
    numbers: list[int] = []
    for document, (begin, end) in enumerate(pairwise(bounds)):
        length = end - begin
        numbers += [document] * length
    return _documents(numbers)


def _documents(numbers: list[int]) -> str | None:
    if not 0 < len(numbers) <= _MOST_KEYS:
        return None
    return f"mask: {{documents: {numbers}}}"


def _chunk(numbers: list[int]) -> str | None:
    return f"mask: {{causal: true, chunk: {numbers[0]}}}" if numbers and numbers[0] > 0 else None


def _first(numbers: list[int]) -> str | None:
    return f"mask: {{any: [causal, {{first: {numbers[0]}}}]}}" if numbers else None


# What says the same with the numbers that stand there, by what is written without them.
_WITH_NUMBERS: Mapping[str, Callable[[list[int]], str | None]] = {
    "mask: {documents: [0, 0, 1]}": _documents,
    "mask: {causal: true, chunk: 4}": _chunk,
    "mask: {any: [causal, {first: 1}]}": _first,
}
_BY_NAME = {name: written for written, names in SYNONYMS.items() for name in names}


def unknown_key_help(key: str, numbers: list[int] | None = None) -> str:
    """A help line for a key that is none: what says the same here, with the whole `numbers` behind
    the key, the nearest key, or where all of them are.

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
    if written := equivalent(key, numbers):
        return f"did you mean {written}?" if written in KEYS else f"write {written}"
    return did_you_mean(key, list(KEYS), "attncli schema problem lists the keys", cutoff=0.75)


def equivalent(key: str, numbers: list[int] | None = None) -> str:
    """What is written here for a key of other software, `heads` or `mask: causal`, with the numbers
    behind the key where they can be taken over; empty for a key that is unknown.

    >>> equivalent("cu_seqlens", [0, 2, 3])
    'mask: {documents: [0, 0, 1]}'
    """
    written = _BY_NAME.get(_plain(key), "")
    take_over = _WITH_NUMBERS.get(written)
    if _plain(key).startswith(("cu_seqlens", "cu_seq_lens")):
        take_over = _documents_between
    if numbers is None or take_over is None:
        return written
    return take_over(numbers) or written


def _plain(key: str) -> str:
    return key.lower().replace("-", "_")
