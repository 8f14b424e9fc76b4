"""Reads a mask: a word, a matrix, or one or more forms, into its parts with the place each one stands at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from attncli.errors import did_you_mean
from attncli.problem.keys import CORNERS, MASK_WORDS, Corner
from attncli.problem.mask_forms import FORMS
from attncli.problem.mask_matrices import read_bare
from attncli.problem.model import Causal, Mask, MaskPart, Window
from attncli.problem.report import Report
from attncli.problem.tree import Leaf, Mapping, Node, Sequence, describe
from attncli.problem.values import insist_keys, read_word

_CELLS = ("true", "false", "yes", "no", "on", "off", "inf", "nan")  # words that fill a matrix, not forms
_FORM = "{padding: [1, 1, 0]}"
_FLAT_HELP = f"write {_FORM} for the keys that exist, or one row per query"


@dataclass(frozen=True, slots=True)
class Placed:
    """A part of a mask, and where it was given."""

    part: MaskPart
    path: str
    at: int


@dataclass(slots=True)
class MaskReading:
    """What has been read of a mask so far: its parts, and each corner with the place it comes from."""

    parts: list[Placed] = field(default_factory=list)
    corners: list[tuple[str, str, int]] = field(default_factory=list)

    def mask(self) -> Mask:
        """The Mask all parts make together."""
        corner = cast("Corner", self.corners[0][0]) if self.corners else CORNERS[0]
        return Mask(tuple(placed.part for placed in self.parts), corner)


def read_mask(node: Node, path: str, report: Report) -> MaskReading:
    """Every part of a mask; what is wrong is reported and left out. Sizes are checked by `shapes`."""
    reading = MaskReading()
    if isinstance(node, Sequence) and _is_list_of_forms(node):
        for position, item in enumerate(node.items):
            _read_form(item, f"{path}[{position}]", reading, report)
    else:
        _read_form(node, path, reading, report)
    for corner, where, at in reading.corners[1:]:
        if corner != reading.corners[0][0]:
            report.add(
                f"the corner here is {corner}, before it {reading.corners[0][0]}", at=at, path=where,
                help=f"a mask has one corner: add corner: {CORNERS[1]} to each causal and window, or to none",
            )  # fmt: skip
    return reading


def _is_list_of_forms(node: Sequence) -> bool:
    """A list that holds a word or a mapping is a list of forms; one of lists is a matrix."""
    return any(
        isinstance(item, Mapping)
        or (isinstance(item, Leaf) and item.text.isalpha() and item.text.lower() not in _CELLS)
        for item in node.items
    )


def _read_form(node: Node, path: str, reading: MaskReading, report: Report) -> None:
    if isinstance(node, Leaf):
        if node.text not in MASK_WORDS:
            report.add(
                f"must be {', '.join(MASK_WORDS)}, a matrix or a form, not {describe(node)}", at=node.at, path=path,
                help=did_you_mean(node.text, [*MASK_WORDS], f"a form is written as in mask: {_FORM}"),
            )  # fmt: skip
        elif node.text == "causal":
            reading.parts.append(Placed(Causal(), path, node.at))
            reading.corners.append((CORNERS[0], path, node.at))
    elif isinstance(node, Sequence):
        if node.items and not any(isinstance(item, Sequence) for item in node.items):
            report.add("must be a list of rows, not a flat list", at=node.at, path=path, help=_FLAT_HELP)
        else:
            _add(read_bare(node, path, report), path, node.at, reading)
    elif "file" in node.keys:
        _add(read_bare(node, path, report), path, node.at, reading)
    elif insist_keys(node, path, report, FORMS):
        _read_mapping(node, path, reading, report)


def _read_mapping(node: Mapping, path: str, reading: MaskReading, report: Report) -> None:
    if not node.keys:
        report.add("is empty", at=node.at, path=path, help=f"write a form such as {_FORM}, or mask: none")
    before = len(reading.parts)
    for key, value in node.values.items():
        if key != "corner":
            _add(FORMS[key](value, f"{path}.{key}", report), f"{path}.{key}", value.at, reading)
    uses_corner = any(isinstance(placed.part, Causal | Window) for placed in reading.parts[before:])
    if "corner" in node.keys:
        word = read_word(node.values["corner"], f"{path}.corner", report, CORNERS)
        if not {"causal", "window"} & node.keys.keys():
            report.add(
                "a corner belongs to causal or window", at=node.keys["corner"], path=f"{path}.corner",
                help="write {causal: true, corner: bottom-right}",
            )  # fmt: skip
        elif word and uses_corner:
            reading.corners.append((word, f"{path}.corner", node.values["corner"].at))
    elif uses_corner:
        reading.corners.append((CORNERS[0], path, node.at))


def _add(part: MaskPart | None, path: str, at: int, reading: MaskReading) -> None:
    if part is not None:
        reading.parts.append(Placed(part, path, at))
