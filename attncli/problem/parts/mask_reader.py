"""Reads a mask: a word, a matrix, or one or more forms, into its parts with the place each one
stands at.
"""

from __future__ import annotations

import collections.abc
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from attncli.english import listed
from attncli.errors import did_you_mean
from attncli.problem.arrays.truth_matrices import is_zero_or_one, read_truths, stored_truths
from attncli.problem.keys import CORNERS, Corner
from attncli.problem.parts.axes import Shaped
from attncli.problem.parts.conventions import OWN, Convention, Polarity
from attncli.problem.parts.masks import Mask, MaskPart, MaskSizes, forms
from attncli.problem.text.nodes import Leaf, ListNode, MappingNode, Node, describe, truth
from attncli.problem.text.number_forms import NumberError
from attncli.problem.text.numbers import as_float
from attncli.problem.text.pasted.finding import written_out
from attncli.problem.text.values import Value, read_word, require_keys

# These words fill a matrix, and are no forms of a mask.
_CELL_WORDS = ("true", "false", "yes", "no", "on", "off", "inf", "nan")
# It stands beside the forms that have one.
_CORNER_KEY = "corner"
_PADDING_EXAMPLE = "{padding: [1, 1, 0]}"
_NO_INTEGERS = (
    "write true and false, {keep: …} or {hide: …}; or for numbers to add {additive: …}, or 1.0"
    " and 0.0"
)
# These need no form that says what 1 means.
_TRUTHS_EXAMPLE = "[[true, false], [true, true]]"
# They are meant as true and false, as the error then says.
_OLD_TRUTHS = ("yes", "no", "on", "off")


@dataclass(slots=True)
class MaskReading:
    """What has been read of a mask so far: its parts and the corners that are written, each with
    where it stands, and the masks that stand `inner`, which share the corners.
    """

    convention: Convention = OWN
    parts: list[tuple[MaskPart, Value]] = field(default_factory=list)
    corners: list[tuple[Corner, Value]] = field(default_factory=list)
    inner: list[MaskReading] = field(default_factory=list)

    def add(self, part: MaskPart | None, value: Value) -> None:
        """Keep a part, unless it could not be read."""
        if part is not None:
            self.parts.append((part, value))

    def mask(self) -> Mask:
        """The Mask all parts make together: what is said twice counts once, a corner said once
        holds for all.
        """
        corner = CORNERS[0]
        if _has_corner(self.parts):
            corner = self.corners[0][0] if self.corners else self.convention.corner
        parts = dict.fromkeys(part.at(corner) for part, _ in self.parts)
        return Mask(tuple(parts), corner)

    def read_inner(self, value: Value) -> Mask:
        """A mask that stands inside of a form, before its corner is known."""
        reading = MaskReading(self.convention, corners=self.corners)
        self.inner.append(reading)
        _read_forms(value, reading)
        return Mask(tuple(dict.fromkeys(part for part, _ in reading.parts)))

    def check(self, given: collections.abc.Mapping[str, Shaped]) -> None:
        """Report every part that has not the size of the queries and keys of these arrays."""
        sizes = MaskSizes.of(given)
        for part, value in self.parts:
            if error := part.size_error(sizes):
                value.wrong(*error)
        for each in self.inner:
            each.check(given)


def read_mask(value: Value, convention: Convention = OWN) -> MaskReading:
    """Every part of a mask; what is wrong is reported and left out. Its size is checked by `check`.

    The convention says what a mask means where it does not say so itself.
    """
    reading = MaskReading(convention)
    _read_forms(value, reading)
    for corner, where in reading.corners[1:]:
        if corner != reading.corners[0][0]:
            where.wrong(
                f"the corner is {corner} here, but {reading.corners[0][0]} before",
                f"{listed(_with_a_corner())} share one corner: keep one of the two",
            )
    return reading


def _read_forms(value: Value, reading: MaskReading) -> None:
    for form in value.items if _is_list_of_forms(value.node) else (value,):
        _read_form(form, reading)


def mask_words() -> tuple[str, ...]:
    """The masks that are a single word."""
    return ("none", *(name for name, form in forms().items() if form.needs_no_value))


def _is_list_of_forms(node: Node) -> bool:
    """A list that holds a word or a mapping is a list of forms; one of lists is a matrix."""
    if not isinstance(node, ListNode) or node.numbers is not None:
        return False
    return any(
        isinstance(item, MappingNode)
        or (isinstance(item, Leaf) and item.text.isalpha() and item.text.lower() not in _CELL_WORDS)
        for item in node.items
    )


def _holds_lists(node: ListNode) -> bool:
    if node.numbers is not None:
        return node.numbers.array.ndim > 1
    return any(isinstance(item, ListNode) for item in node.items)


def _read_form(value: Value, reading: MaskReading) -> None:
    if not written_out(value):
        return
    node = value.node
    if isinstance(node, Leaf):
        words = mask_words()
        if node.text not in words:
            value.wrong(
                f"must be {', '.join(words)}, a matrix or a form, not {describe(node)}",
                did_you_mean(node.text, list(words), f"a form looks like mask: {_PADDING_EXAMPLE}"),
            )
        elif node.text in forms():
            reading.add(forms()[node.text](), value)
    elif isinstance(node, ListNode):
        if node.length and not _holds_lists(node):
            value.wrong("must be a list of rows, not a single list", _flat_help(node))
        else:
            reading.add(_read_bare(value, reading.convention), value)
    elif "file" in node.keys:
        reading.add(_read_bare(value, reading.convention), value)
    else:
        _read_mapping(value, reading, whole=require_keys(value, [*forms(), _CORNER_KEY], _meant))


def _meant(key: str, value: Value) -> str:
    """What to write for a mask as other software calls it; empty for any other key."""
    from attncli.problem.synonyms import equivalent

    advice = equivalent(key, value.node)
    return str(advice) if advice and advice.written.startswith("mask: ") else ""


def _flat_help(node: ListNode) -> str:
    """What to write for a single list in the place of a mask."""
    from attncli.problem.taken_over import padding_of

    padding = padding_of(node) or f"{_PADDING_EXAMPLE} for the keys that exist"
    return f"write {padding}; or one row per query"


def _with_a_corner() -> list[str]:
    return [name for name, form in forms().items() if form.has_corner]


def _has_corner(parts: list[tuple[MaskPart, Value]]) -> bool:
    return any(part.reads_corner for part, _ in parts)


def _read_mapping(value: Value, reading: MaskReading, *, whole: bool) -> None:
    """Read every form of a mapping; it is not `whole` where a key is unknown, which may be a form
    misspelt.
    """
    if not value.keys:
        value.wrong("is empty", f"write a form such as {_PADDING_EXAMPLE}, or mask: none")
    before = len(reading.parts)
    for key in value.keys:
        if key in forms():
            part = forms()[key].read(value.key(key), reading.read_inner)
            reading.add(part, value.key(key))
    if _CORNER_KEY in value.keys:
        corner = value.key(_CORNER_KEY)
        word = read_word(corner, CORNERS)
        owners = _with_a_corner()
        if whole and not {*owners} & value.keys.keys():
            help = "write {causal: true, corner: bottom-right}"
            corner.wrong(
                f"a corner belongs to {listed(owners, last='or')}", help, at=value.keys[_CORNER_KEY]
            )
        elif word and _has_corner(reading.parts[before:]):
            reading.corners.append((cast("Corner", word), corner))


def _read_bare(value: Value, convention: Convention) -> MaskPart | None:
    """A matrix without a word on its polarity: truth values keep, numbers are added, 0 and 1 alone
    are refused.

    Another convention than our own says what true means, and what 0 and 1 alone mean, as integers
    or as floats.
    """
    from attncli.problem.parts.masks.additive import Additive
    from attncli.problem.parts.masks.keep_and_hide import Hide, Keep

    parts: dict[str, type[Keep | Hide]] = {"attend": Keep, "hidden": Hide}

    def of_truths(polarity: Polarity) -> Keep | Hide | None:
        matrix = read_truths(value, example=_TRUTHS_EXAMPLE)
        return None if matrix is None else parts[polarity](matrix)

    if isinstance(value.node, MappingNode):
        import numpy as np

        from attncli.problem.arrays.references import read_array

        array = read_array(value)
        if array is None:
            return None
        if array.dtype.kind == "b":
            matrix = stored_truths(array, value)
            return None if matrix is None else parts[convention.true](matrix)
        only_zero_one, integers = bool(np.isin(array, (0, 1)).all()), array.dtype.kind in "iu"
    else:
        cells = _different(value)
        if not cells:
            value.wrong("is empty", f"write causal, or rows such as {_TRUTHS_EXAMPLE}")
            return None
        said = [
            cell for cell in cells if truth(cell) is not None or cell.text.lower() in _OLD_TRUTHS
        ]
        if said and not any(_is_number(cell) for cell in cells):
            return of_truths(convention.true)
        if said:
            help = "write true and false only, or numbers to add only"
            value.wrong("mixes truth values and numbers", help, at=said[0].at)
            return None
        only_zero_one, integers = all(map(is_zero_or_one, cells)), all(map(_is_integer, cells))
    if only_zero_one and convention.one is None:
        from attncli.problem.taken_over import keep_or_hide

        value.wrong(
            "a mask of only 0 and 1 is ambiguous: 1 can mean visible or hidden",
            f"write {keep_or_hide(value.node)}",
        )
        return None
    if only_zero_one and convention.one == "refused" and integers:
        value.wrong(
            f"{convention.name} does not accept a mask of integers: 1 can mean visible or hidden",
            _NO_INTEGERS,
        )
        return None
    if only_zero_one and convention.one in ("attend", "hidden"):
        return of_truths(convention.one)
    if not convention.adds:
        help = "write true and false, or {additive: …} for numbers that are added"
        value.wrong(
            f"{convention.name} never adds a mask to the scores: its masks hold true and false, or"
            " 1 and 0",
            help,
        )
        return None
    return Additive.of(value)


def _is_integer(leaf: Leaf) -> bool:
    return leaf.text.lstrip("+-").isdigit()


def _is_number(leaf: Leaf) -> bool:
    try:
        as_float(leaf.text)
    except NumberError:
        return False
    return True


def _different(value: Value) -> list[Leaf]:
    """The single values, of those with one text the first."""
    firsts: dict[tuple[str, bool], Leaf] = {}
    for leaf in _leaves(value):
        firsts.setdefault((leaf.text, leaf.quoted), leaf)
    return list(firsts.values())


def _leaves(value: Value) -> Iterator[Leaf]:
    if isinstance(value.node, ListNode) and value.node.numbers is not None:
        yield from value.node.numbers.distinct(value.node.at)
    elif isinstance(value.node, Leaf):
        yield value.node
    else:
        for item in value.items:
            yield from _leaves(item)
