"""Reads single values of the tree: a number, an integer, a truth value, a word of a choice, a list of labels."""

from __future__ import annotations

import re
from collections.abc import Collection

from attncli.english import count, named, shorten
from attncli.errors import did_you_mean
from attncli.problem.limits import LABEL_LIMIT, TITLE_LIMIT, TOKEN_LIMIT
from attncli.problem.misread import why_not_a_number
from attncli.problem.model import Scalar
from attncli.problem.nodes import Leaf, Sequence, describe, is_null, truth
from attncli.problem.numbers import MINUS_INFINITY, NumberError, as_float, is_plain
from attncli.problem.spot import Spot

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_DIGITS = 18  # whole numbers of so many fit into 64 bits


def read_number(spot: Spot, *, minus_infinity: bool = False) -> float | None:
    """A finite number (or -inf where a mask allows it); None after reporting anything else."""
    if not isinstance(spot.node, Leaf):
        spot.wrong(f"must be a number, not {describe(spot.node)}", "write one number")
        return None
    text = spot.text
    if text in MINUS_INFINITY:
        if minus_infinity:
            return float("-inf")
        message, help = why_not_a_number(text)
    elif spot.node.quoted and is_plain(text):
        message, help = f'"{shorten(text)}" is text, not a number', f"remove the quotes: {shorten(text)}"
    else:
        try:
            return as_float(text)
        except NumberError as error:
            message, help = error.message, error.help
    spot.wrong(message, help)
    return None


def read_scalar(spot: Spot, *, help: str = "") -> Scalar | None:
    """A finite number with its text; None after reporting anything else.

    `help` says what to write for nothing, or a truth value, where 0 and 1 may not stand.
    """
    node = spot.node
    if help and isinstance(node, Leaf) and (not node.text or is_null(node) or truth(node) is not None):
        spot.wrong(why_not_a_number(node.text)[0], help)
        return None
    value = read_number(spot)
    return None if value is None else Scalar(value, spot.text)


def read_integer(spot: Spot, *, least: int, help: str) -> int | None:
    """A whole number of at least `least`; None after reporting anything else."""
    node = spot.node
    if isinstance(node, Leaf) and not node.quoted and _INTEGER.fullmatch(node.text):
        if len(node.text.lstrip("+-")) <= _DIGITS:
            value = int(node.text)
            if value >= least:
                return value
        elif not node.text.startswith("-"):
            spot.wrong(f"{shorten(node.text)} is too large", f"a whole number has at most {_DIGITS} digits here")
            return None
    spot.wrong(f"must be a whole number of at least {least}, not {describe(node)}", help)
    return None


def read_truth(spot: Spot) -> bool | None:
    """true or false; None after reporting anything else."""
    value = truth(spot.node)
    if value is None:
        spot.wrong(f"must be true or false, not {describe(spot.node)}", "write true or false")
    return value


def read_word(spot: Spot, choices: Collection[str]) -> str | None:
    """One of some words; None after reporting anything else."""
    node = spot.node
    if isinstance(node, Leaf) and node.text in choices:
        return node.text
    listed = ", ".join(choices)
    help = f"choose one of {listed}"
    if isinstance(node, Leaf):
        help = did_you_mean(node.text, list(choices), help)
    spot.wrong(f"must be one of {listed}, not {describe(node)}", help)
    return None


def read_text(spot: Spot) -> str | None:
    """Text in one value, taken as it was written; None after reporting anything else."""
    node = spot.node
    if isinstance(node, Leaf) and node.text and (node.quoted or not is_null(node)):
        return node.text
    empty = isinstance(node, Leaf) and node.quoted
    spot.wrong("must not be empty" if empty else f"must be text, not {describe(node)}", "write a text in quotes")
    return None


def read_title(spot: Spot) -> str | None:
    """A text that is not too long for the head of a page; None after reporting anything else."""
    text = read_text(spot)
    if text is not None and len(text) > TITLE_LIMIT:
        spot.wrong(f"has {len(text):,} characters", f"{TITLE_LIMIT:,} characters are the most")
        return None
    return text


def read_labels(spot: Spot) -> tuple[str, ...] | None:
    """A list of labels, taken as written (2024 stays 2024, null is the word); None after reporting anything else."""
    if not isinstance(spot.node, Sequence):
        spot.wrong(f"must be a list of labels, not {describe(spot.node)}", f'write {spot.path}: ["I", "love", "AI"]')
        return None
    before = spot.report.count
    if (number := spot.node.length) > TOKEN_LIMIT:
        spot.wrong(f"has {count(number, 'label')}, one for each token", f"{TOKEN_LIMIT:,} tokens are the most")
        return None
    labels = []
    for item in spot.each():
        node = item.node
        if isinstance(node, Leaf) and node.text:
            if len(node.text) > LABEL_LIMIT:
                item.wrong(f"a label of {len(node.text):,} characters", f"{LABEL_LIMIT:,} characters are the most")
            labels.append(node.text)
            continue
        what = '""' if isinstance(node, Leaf) and node.quoted else describe(node)
        item.wrong(
            f"a label must be a text of at least one character, not {what}",
            "a blank label would leave its row without a name",
        )
    return tuple(labels) if spot.report.count == before else None


def insist_keys(spot: Spot, known: Collection[str]) -> bool:
    """Whether a mapping has known keys only, each unknown one reported."""
    for key, at in spot.keys.items():
        if key not in known:
            help = did_you_mean(key, list(known), f"the keys known here are {', '.join(known)}")
            spot.wrong(f"there is no such key as {named(key)}", help, at=at)
    return all(key in known for key in spot.keys)
