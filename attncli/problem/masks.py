"""Reads a mask: a word, a matrix, or one or more forms, into its parts with the place each one stands at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from attncli.errors import did_you_mean
from attncli.problem.conventions import OWN, Convention
from attncli.problem.keys import CORNERS, MASK_WORDS, Corner
from attncli.problem.many import Many
from attncli.problem.mask_forms import FORMS
from attncli.problem.mask_matrices import read_bare
from attncli.problem.model import Causal, Mask, MaskPart, Window
from attncli.problem.nodes import Leaf, Mapping, Node, Sequence, describe
from attncli.problem.runs import different
from attncli.problem.values import Value, read_word, require_keys

_CELLS = ("true", "false", "yes", "no", "on", "off", "inf", "nan")  # words that fill a matrix, not forms
_FORM = "{padding: [1, 1, 0]}"
_FLAT_HELP = f"write {_FORM} for the keys that exist, or one row per query"


@dataclass(frozen=True, slots=True)
class Placed:
    """A part of a mask, and where it was given."""

    part: MaskPart
    value: Value


@dataclass(slots=True)
class MaskReading:
    """What has been read of a mask so far: its parts, and each corner that is written, with its value."""

    convention: Convention = OWN
    parts: list[Placed] = field(default_factory=list)
    corners: list[tuple[Corner, Value]] = field(default_factory=list)

    def add(self, part: MaskPart | None, value: Value) -> None:
        """Keep a part, unless it could not be read."""
        if part is not None:
            self.parts.append(Placed(part, value))

    def mask(self) -> Mask:
        """The Mask all parts make together: what is said twice counts once, a corner said once holds for all."""
        corner = CORNERS[0]
        if _use_corner(self.parts):
            corner = self.corners[0][0] if self.corners else self.convention.corner
        return Mask(tuple(dict.fromkeys(placed.part for placed in self.parts)), corner)


def read_mask(value: Value, convention: Convention = OWN) -> MaskReading:
    """Every part of a mask; what is wrong is reported and left out. Sizes are checked by `shapes`.

    The convention says what a mask means where it does not say so itself.
    """
    reading = MaskReading(convention)
    for form in value.items if _is_list_of_forms(value.node) else (value,):
        _read_form(form, reading)
    for corner, where in reading.corners[1:]:
        if corner != reading.corners[0][0]:
            where.wrong(
                f"the corner here is {corner}, before it {reading.corners[0][0]}",
                "a mask has one corner, which holds for its causal and window alike: keep one of the two",
            )
    return reading


def _is_list_of_forms(node: Node) -> bool:
    """A list that holds a word or a mapping is a list of forms; one of lists is a matrix."""
    if not isinstance(node, Sequence) or (isinstance(node, Many) and _holds_lists(node)):
        return False
    return any(
        isinstance(item, Mapping)
        or (isinstance(item, Leaf) and item.text.isalpha() and item.text.lower() not in _CELLS)
        for item in (different(node) if isinstance(node, Many) else node.items)
    )


def _holds_lists(node: Sequence) -> bool:
    if isinstance(node, Many):  # in which no single values stand beside the outermost lists
        return isinstance(node.items[0], Sequence)
    return any(isinstance(item, Sequence) for item in node.items)


def _read_form(value: Value, reading: MaskReading) -> None:
    node = value.node
    if isinstance(node, Leaf):
        if node.text not in MASK_WORDS:
            value.wrong(
                f"must be {', '.join(MASK_WORDS)}, a matrix or a form, not {describe(node)}",
                did_you_mean(node.text, [*MASK_WORDS], f"a form is written as in mask: {_FORM}"),
            )
        elif node.text == Causal.name:
            reading.add(Causal(), value)
    elif isinstance(node, Sequence):
        if node.length and not _holds_lists(node):
            value.wrong("must be a list of rows, not a flat list", _FLAT_HELP)
        else:
            reading.add(read_bare(value, reading.convention), value)
    elif "file" in node.keys:
        reading.add(read_bare(value, reading.convention), value)
    else:
        _read_mapping(value, reading, whole=require_keys(value, FORMS))


def _use_corner(parts: list[Placed]) -> bool:
    return any(isinstance(placed.part, Causal | Window) for placed in parts)


def _read_mapping(value: Value, reading: MaskReading, *, whole: bool) -> None:
    """Read every form of a mapping; it is not `whole` where a key is unknown, which may be a form misspelt."""
    if not value.keys:
        value.wrong("is empty", f"write a form such as {_FORM}, or mask: none")
    before = len(reading.parts)
    for key in value.keys:
        if key in FORMS and key != "corner":
            reading.add(FORMS[key](value.key(key)), value.key(key))
    if "corner" in value.keys:
        corner = value.key("corner")
        word = read_word(corner, CORNERS)
        if whole and not {Causal.name, Window.name} & value.keys.keys():
            help = "write {causal: true, corner: bottom-right}"
            corner.wrong("a corner belongs to causal or window", help, at=value.keys["corner"])
        elif word and _use_corner(reading.parts[before:]):
            reading.corners.append((cast("Corner", word), corner))
