"""The index letters of all equations: the axis each runs over, in words and as a length."""

from __future__ import annotations

from dataclasses import dataclass

# The letters of leading axes.
BATCH, HEAD, KEY_HEAD = "b", "h", "g"


@dataclass(frozen=True, slots=True)
class Index:
    """One letter: the name of its axis, one place of it in words, and the symbol of its length.

    `label` is how a place is labelled that is counted from 0; features are d1, d2, …, tokens have
    their names.
    """

    axis: str
    meaning: str
    length: str
    label: str = ""


INDICES = {
    "b": Index("batch", "an entry of the batch", "batch", "entry {}"),
    "h": Index("head", "a head", "heads", "head {}"),
    "g": Index(
        "kv_head",
        "a head of keys and values, which serves a group of heads",
        "kv_heads",
        "kv head {}",
    ),
    "q": Index("group", "a query head of the group that a head of keys and values serves", "group"),
    "i": Index("query", "a query", "n"),
    "j": Index("key", "a key", "m"),
    "l": Index("key", "another key", "m"),
    "d": Index("model", "a feature of the model", "d_model"),
    "k": Index("feature", "a feature of queries and keys", "d_k"),
    "c": Index("value", "a feature of values", "d_v"),
    "p": Index("feature", "a feature of a query, where it is not that of a key", "d_q"),
    "a": Index("hidden", "a hidden feature of the additive score", "d_hidden"),
    "t": Index("position", "a position in the sequence", "n_pos", "{}"),
    "r": Index("pair", "a pair of features that are turned together", "d_pairs", "pair {}"),
    "u": Index("cached", "a key or value from the cache", "n_past"),
    "s": Index("new", "a key or value of the new tokens", "n_new"),
    "e": Index("joined", "a feature of all heads side by side", "d_joined"),
    "o": Index("output", "a feature of the projected output", "d_out"),
}

# The letters that keep their meaning in equations of a person's own; any other is theirs.
KEPT = (*"bhijdkc", KEY_HEAD)


def is_letter(name: str) -> bool:
    """Whether a name in an equation of a person's own is an index: a single lower-case letter.

    >>> is_letter("i"), is_letter("Q"), is_letter("d_k")
    (True, False, False)
    """
    return len(name) == 1 and "a" <= name <= "z"


def index_of(letter: str, *, own: bool = False) -> Index:
    """What a letter stands for; of an equation of somebody's `own`, an axis without a name where
    the letter is theirs.
    """
    if letter in INDICES and (letter in KEPT or not own):
        return INDICES[letter]
    return Index(letter, f"a place on the axis {letter}", f"n_{letter}", letter + "{}")


PLACEHOLDERS = {
    "logits": (
        "the scores so far: the last of scores, scaled, capped, masked (and, for exp, shifted) that"
        " is there"
    ),
    "visible": "whether the mask lets query i see key j",
}
