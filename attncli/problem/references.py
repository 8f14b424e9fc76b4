"""Reads what `{file: model.safetensors, name: c_attn.weight, transpose: true, part: q}` asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from attncli.problem.fused import Fused
from attncli.problem.keys import LAYOUTS, PARTS, Layout, Part
from attncli.problem.nodes import Mapping, Sequence
from attncli.problem.report import Report, Unheard
from attncli.problem.spot import Spot
from attncli.problem.stored import Array, Refused
from attncli.problem.values import insist_keys, read_integer, read_text, read_truth, read_word

_KEYS = ("file", "name", "index", "transpose", "part", "layout")


@dataclass(frozen=True, slots=True)
class Reference:
    """An array in a file, and what is to be taken of it, in the order of the fields."""

    file: str
    name: str = ""
    index: tuple[int, ...] = ()
    transpose: bool = False
    fused: Fused | None = None

    def take(self, array: Array) -> Array:
        """The entry, turned, and its part; Refused where the array has no such thing."""
        for index in self.index:
            if array.ndim < 2:
                raise Refused(
                    "goes deeper than the array", "each number takes one entry of the first axis", key="index"
                )
            if index >= len(array):
                raise Refused(
                    f"there is no entry {index}: the axis has {len(array)}", "entries count from 0", key="index"
                )
            array = array[index]
        if self.transpose:
            if array.ndim < 2:
                raise Refused("a vector has no rows and columns to swap", "remove transpose", key="transpose")
            array = array.swapaxes(-1, -2)
        return array if self.fused is None else self.fused.cut(array)


def read_reference(spot: Spot) -> Reference | None:
    """The reference in a mapping with the key `file`; None after reporting what is wrong with it."""
    before = spot.report.count
    insist_keys(spot, _KEYS)
    file = read_text(spot.key("file"))
    name = read_text(spot.key("name")) if "name" in spot.keys else ""
    index = _read_index(spot.key("index")) if "index" in spot.keys else ()
    transpose = read_truth(spot.key("transpose")) if "transpose" in spot.keys else False
    fused = _read_fused(spot)
    if file is None or name is None or transpose is None or spot.report.count > before:
        return None
    return Reference(file, name, index, transpose, fused)


def _read_index(spot: Spot) -> tuple[int, ...]:
    each = spot.items if isinstance(spot.node, Sequence) else (spot,)
    read = (read_integer(number, least=0, help="write index: 0, or index: [0, 3]") for number in each)
    return tuple(index for index in read if index is not None)


def _read_fused(spot: Spot) -> Fused | None:
    layout: str | None = LAYOUTS[0]
    if "layout" in spot.keys:
        layout = read_word(spot.key("layout"), LAYOUTS)
        if "part" not in spot.keys:
            spot.key("layout").wrong("says how parts lie, and no part is asked for", "add part: q, part: k or part: v")
    if "part" not in spot.keys:
        return None
    part = read_word(spot.key("part"), PARTS)
    if part and (letter := spot.path[-1]) in "QKV" and part != letter.lower():
        spot.key("part").wrong(f"{spot.path} is not made of {part}", f"write part: {letter.lower()}")
    heads = _number_of(spot.report, "heads", 1)
    kv_heads = _number_of(spot.report, "kv_heads", heads)
    if part is None or layout is None:
        return None
    return Fused(cast("Part", part), cast("Layout", layout), heads, kv_heads)


def _number_of(report: Report, key: str, otherwise: int) -> int:
    """What the problem's `heads` or `kv_heads` says; whoever reads that key tells what is wrong with it."""
    root = report.root
    if not isinstance(root, Mapping) or key not in root.values:
        return otherwise
    return read_integer(Spot(root.values[key], key, Unheard(report.source)), least=1, help="") or otherwise
