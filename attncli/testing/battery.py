"""The cases that functions are tested with: small problems, no two lengths of which are the same,
in which each mistake shows and no two look alike.

Each of them is the only one that shows something. All numbers are multiples of a quarter and at
most 2, so that every number format has them as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import shake_256
from math import inf, prod
from types import MappingProxyType
from typing import Any

import numpy as np

from attncli.problem.keys import CORNERS
from attncli.testing.case import Array, Case, Meaning, PerHead

ENTRIES, HEADS = 2, 2
QUERIES, KEYS = 3, 4
KEY_WIDTH, VALUE_WIDTH = 5, 6
# Where there are as many heads as keys else, or keys as features.
MORE_KEYS = 7
# RoPE turns pairs of features.
ROTATED_WIDTH = 4
SCALE = 0.75
SOFTCAP = 1.5
# Less than this is lost where sums are kept in bfloat16.
LARGE_SINK = 20.0
THETA = 100.0
# What models that read long texts have in their config.json. Of the pairs of so many features, the
# first turns as it is, the last ones are slowed down, and those between are on the ramp.
YARN = {
    "rope_type": "yarn",
    "rope_theta": THETA,
    "factor": 4.0,
    "original_max_position_embeddings": 64,
    "beta_fast": 8.0,
    "beta_slow": 1.0,
}
WIDTH_OF_CONFIG = 12
WINDOW = 2
# A sum of ones in float16 stays at 2,048, and one in bfloat16 at 256.
KEYS_OF_LONG_ROW = 4096
# By the authors of ALiBi: those of two heads, and then every second one of four.
SLOPES_OF_THREE_HEADS = (2.0**-4, 2.0**-8, 2.0**-2)
# Few digits tell the root of this from the logarithm of 10, and that of three heads from that of 2.
WIDTH_IN_16_BITS = 7
# No query is left without a key, one is hidden from itself, and one shown what comes next.
BESIDE_CAUSAL = ((1, 1, 0, 1), (1, 0, 1, 0), (0, 1, 1, 1), (1, 1, 0, 1))
# Scores so large or small that exponentials of them are infinite or 0.
LARGE = 2048


def all_cases() -> tuple[Case, ...]:
    """Every case; the first one is plain attention."""
    return (
        *_plain(),
        *_masked(),
        *_causal(),
        _causal_beside_a_mask(),
        _grouped(),
        _window(),
        *_capped(),
        _with_a_sink(),
        _with_alibi(),
        *_rotated(),
        *_number_formats(),
    )


def _plain() -> Iterator[Case]:
    shows = {"scale": "1/sqrt(d_k)", "softmax": "over keys", "always causal": "no"}
    yield replace(_drawn("plain"), shows=shows)
    scaled = _drawn("a scale of its own")
    yield _asking(scaled, {"scale": SCALE}, Meaning({"scale": SCALE}))
    large = _drawn("scores of 1,000")
    yield replace(large, queries=large.queries * LARGE)


def _masked() -> Iterator[Case]:
    case = _drawn("a mask of truth values")
    keep = _truth(case.name, 1, 1, QUERIES, KEYS)
    kept = _asking(case, {"mask": keep}, Meaning(_keeping(keep)))
    yield replace(kept, shows={"mask": "true is seen"})

    case = _drawn("a mask that is added")
    numbers = drawn_numbers("added", 1, 1, QUERIES, KEYS)
    numbers[..., 0, 2] = numbers[..., 1, 0] = -inf
    # Zero hides where numbers are truth values.
    numbers[..., 2, 3] = 0
    added = Meaning(_adding(numbers), {"numbers in a mask": "added"})
    as_truth = Meaning(_keeping(numbers != 0), {"numbers in a mask": "truth values"})
    yield _asking(case, {"mask": numbers}, added, as_truth)

    case = _drawn("a mask for each entry and head")
    by_head = _truth(case.name, ENTRIES, HEADS, QUERIES, KEYS)
    each = _asking(case, {"mask": by_head}, Meaning(_keeping(by_head)))
    yield replace(each, needs=frozenset({"entries", "heads"}))

    case = _drawn("lengths in a batch")
    lengths = np.array([2, KEYS]).reshape(ENTRIES, 1, 1, 1)
    within = np.arange(KEYS) < lengths
    filled = np.broadcast_to(within, (ENTRIES, 1, QUERIES, KEYS)).copy()
    batch = _asking(case, {"mask": filled}, Meaning(_keeping(filled)))
    yield replace(batch, needs=frozenset({"entries"}))

    case = _drawn("a query that sees no key")
    blind = _truth(case.name, 1, 1, QUERIES, KEYS)
    blind[..., 1, :] = False
    yield _asking(case, {"mask": blind}, Meaning(_keeping(blind)))

    document = np.array([0, 0, 0, 1, 1, 1, 1])
    tokens = len(document)
    case = _drawn("two documents in one row", n=tokens, m=tokens)
    is_same = document[:, None] == document
    is_before = np.arange(tokens)[:, None] >= np.arange(tokens)
    seen = (is_same & is_before)[None, None]
    yield _asking(case, {"mask": seen}, Meaning(_keeping(seen)))


def _causal() -> Iterator[Case]:
    square = _drawn("causal", n=KEYS, m=KEYS)
    yield _asking(square, {"causal": True}, Meaning({"mask": "causal"}))
    longer = replace(_drawn("causal, fewer queries than keys", m=6, d_v=8), needs_more_keys=True)
    corners = [
        Meaning({"mask": {"causal": True, "corner": corner}}, {"causal": corner})
        for corner in CORNERS
    ]
    yield _asking(longer, {"causal": True}, *corners)


def _causal_beside_a_mask() -> Case:
    case = _drawn("causal, with a mask", n=KEYS, m=KEYS)
    keep = np.array(BESIDE_CAUSAL, bool)[None, None]
    both = {"causal": True, **_keeping(keep)["mask"]}
    return _asking(case, {"causal": True, "mask": keep}, Meaning({"mask": both}))


def _grouped() -> Case:
    case = _drawn("two KV heads of four", heads=2 * HEADS, m=MORE_KEYS)
    keys, values = (array[:, :HEADS] for array in (case.keys, case.values))
    grouped = replace(case, keys=keys, values=values, shows={"kv heads": "repeated"})
    return replace(_asking(grouped, {"grouped": True}, Meaning()), needs=frozenset({"heads"}))


def _window() -> Case:
    # However a window is meant, one more key to either side is not all of them.
    case = _drawn("a window of two", n=7, m=9)
    counted = {"with the token itself": WINDOW - 1, "beside the token itself": WINDOW}
    meanings = []
    for words, before in counted.items():
        for corner in CORNERS:
            past = {"causal": True, "window": [before, 0], "corner": corner}
            meanings.append(Meaning({"mask": past}, {"window": words, "causal": corner}))
    for words, beside in counted.items():
        for corner in CORNERS:
            both = {"window": [beside, beside], "corner": corner}
            meanings.append(Meaning({"mask": both}, {"window": f"{words}, to both sides"}))
    return _asking(case, {"window": WINDOW}, *meanings)


def _capped() -> Iterator[Case]:
    alone = _drawn("a softcap")
    yield _asking(alone, {"softcap": SOFTCAP}, Meaning({"softcap": SOFTCAP}))

    case = _drawn("a softcap and a mask")
    keep = _truth(case.name, 1, 1, QUERIES, KEYS)
    masked = Meaning({**_keeping(keep), "softcap": SOFTCAP})
    capped = _asking(case, {"softcap": SOFTCAP, "mask": keep}, masked)
    yield replace(capped, shows={"softcap": "before the mask"})

    case = _drawn("a softcap and a bias of distances")
    distances = np.abs(np.arange(KEYS) - np.arange(QUERIES)[:, None])
    slopes = np.array([0.5, 0.25]).reshape(1, HEADS, 1, 1)
    is_later = ~np.tri(QUERIES, KEYS, dtype=bool)
    # Where something hides, a bias within the softcap is not a mask within it.
    bias = np.where(is_later, -inf, -slopes * distances)
    biased = Meaning({**_adding(bias), "softcap": SOFTCAP})
    as_truth = Meaning({**_keeping(bias != 0), "softcap": SOFTCAP})
    yield _asking(case, {"softcap": SOFTCAP, "mask": bias}, biased, as_truth)


def _with_a_sink() -> Case:
    case = _drawn("a sink")
    sinks = PerHead(np.array([LARGE_SINK, SOFTCAP]))
    sunk = _asking(case, {"sink": sinks}, Meaning({"sink": sinks}))
    return replace(sunk, shows={"sink": "takes a share and has no value"})


def _with_alibi() -> Case:
    case = _drawn("ALiBi with three heads", heads=3, n=KEYS, m=KEYS)
    slopes = PerHead(np.array(SLOPES_OF_THREE_HEADS))
    alibi = Meaning({"position": {"alibi": True}})
    return replace(_asking(case, {"alibi": slopes}, alibi), needs=frozenset({"heads"}))


def _rotated() -> Iterator[Case]:
    # A function can turn values by mistake where they are as wide as keys.
    sizes = {"n": QUERIES, "m": 6, "d_k": ROTATED_WIDTH, "d_v": ROTATED_WIDTH}
    case = _drawn("RoPE", **sizes)
    yield _asking(case, {"rope": THETA}, *_pairings({}))

    past = 3
    case = replace(_drawn("RoPE after a cache", **sizes), needs_more_keys=True)
    old_keys, new_keys = np.split(case.keys, [past], axis=-2)
    old_values, new_values = np.split(case.values, [past], axis=-2)
    cached = {"past": {"K": old_keys, "V": old_values}, "K": new_keys, "V": new_values}
    yield _asking(case, {"rope": THETA, "offset": past}, *_pairings(cached))

    sizes["d_k"] = WIDTH_OF_CONFIG
    case = _drawn("RoPE of a config.json", **sizes)
    yield _asking(case, {"rope_parameters": YARN}, *_pairings({}, YARN))


def _pairings(
    keys: Mapping[str, Any], said: Mapping[str, Any] = MappingProxyType({"rope_theta": THETA})
) -> Iterator[Meaning]:
    for pairing, words in (("half", "halves"), ("interleaved", "neighbours")):
        rope = {**said, "pairing": pairing}
        yield Meaning({**keys, "position": {"rope": rope}}, {"rope": f"turns pairs of {words}"})


def _number_formats() -> Iterator[Case]:
    for dtype in ("float16", "bfloat16"):
        name = f"plain, in {dtype}"
        sizes = {"heads": 3, "n": 5, "d_k": WIDTH_IN_16_BITS, "d_v": WIDTH_IN_16_BITS + 1}
        yield replace(_drawn(name, **sizes), dtype=dtype)
    case = replace(_drawn("a mask, in float16"), dtype="float16")
    keep = _truth(case.name, 1, 1, QUERIES, KEYS)
    yield _asking(case, {"mask": keep}, Meaning(_keeping(keep)))
    case = _drawn(f"{KEYS_OF_LONG_ROW:,} equal keys", n=1, m=KEYS_OF_LONG_ROW)
    keys = np.broadcast_to(case.keys[..., :1, :], case.keys.shape).copy()
    long = replace(case, keys=keys, dtype="float16", needs_more_keys=True)
    yield replace(long, shows={"precision": "sums in float32"})


def _drawn(
    name: str,
    *,
    heads: int = HEADS,
    n: int = QUERIES,
    m: int = KEYS,
    d_k: int = KEY_WIDTH,
    d_v: int = VALUE_WIDTH,
) -> Case:
    """A case in which nothing is asked but attention, with numbers drawn by its name."""
    queries = drawn_numbers(f"{name}: queries", ENTRIES, heads, n, d_k)
    keys = drawn_numbers(f"{name}: keys", ENTRIES, heads, m, d_k)
    values = drawn_numbers(f"{name}: values", ENTRIES, heads, m, d_v)
    return Case(name, queries, keys, values)


def _asking(case: Case, asks: Mapping[str, Any], *meanings: Meaning) -> Case:
    return replace(case, asks=asks, meanings=meanings)


def _keeping(keep: Array) -> dict[str, Any]:
    return {"mask": {"keep": keep}}


def _adding(numbers: Array) -> dict[str, Any]:
    return {"mask": {"additive": numbers}}


def drawn_numbers(name: str, *shape: int) -> Array:
    """Multiples of a quarter from -2 to 2, drawn by a name."""
    drawn = np.frombuffer(shake_256(name.encode()).digest(prod(shape)), np.uint8)
    quarters = drawn.reshape(shape) % 17 - 8.0
    return np.asarray(quarters / 4)


def _truth(name: str, *shape: int) -> Array:
    """Truth values drawn by a name; every row has both."""
    drawn = np.frombuffer(shake_256(name.encode()).digest(prod(shape)), np.uint8)
    drawn = drawn.reshape(shape)
    is_largest = drawn == drawn.max(axis=-1, keepdims=True)
    is_smallest = drawn == drawn.min(axis=-1, keepdims=True)
    is_odd = drawn % 2 == 1
    return np.asarray((is_odd | is_largest) & ~is_smallest)
