"""Reads what `{file: model.safetensors, name: c_attn.weight, transpose: true, part: q}` asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from attncli.problem.fused import Fused
from attncli.problem.keys import LAYOUTS, PARTS, Layout, Part
from attncli.problem.nodes import Mapping, Sequence
from attncli.problem.stored import Array, Refused
from attncli.problem.values import (
    ErrorCollector,
    SilentCollector,
    Value,
    read_integer,
    read_text,
    read_truth,
    read_word,
    require_keys,
)

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


def read_reference(value: Value) -> Reference | None:
    """The reference in a mapping with the key `file`; None after reporting what is wrong with it."""
    before = value.errors.count
    require_keys(value, _KEYS)
    file = read_text(value.key("file"))
    name = read_text(value.key("name")) if "name" in value.keys else ""
    index = _read_index(value.key("index")) if "index" in value.keys else ()
    transpose = read_truth(value.key("transpose")) if "transpose" in value.keys else False
    fused = _read_fused(value)
    if file is None or name is None or transpose is None or value.errors.count > before:
        return None
    return Reference(file, name, index, transpose, fused)


def _read_index(value: Value) -> tuple[int, ...]:
    each = value.items if isinstance(value.node, Sequence) else (value,)
    read = (read_integer(number, least=0, help="write index: 0, or index: [0, 3]") for number in each)
    return tuple(index for index in read if index is not None)


def _read_fused(value: Value) -> Fused | None:
    layout: str | None = LAYOUTS[0]
    if "layout" in value.keys:
        layout = read_word(value.key("layout"), LAYOUTS)
        if "part" not in value.keys:
            value.key("layout").wrong("says how parts lie, and no part is asked for", "add part: q, part: k or part: v")
    if "part" not in value.keys:
        return None
    part = read_word(value.key("part"), PARTS)
    if part and (letter := value.path[-1]) in "QKV" and part != letter.lower():
        value.key("part").wrong(f"{value.path} is not made of {part}", f"write part: {letter.lower()}")
    heads = _number_of(value.errors, "heads", 1)
    kv_heads = _number_of(value.errors, "kv_heads", heads)
    if part is None or layout is None:
        return None
    return Fused(cast("Part", part), cast("Layout", layout), heads, kv_heads)


def _number_of(errors: ErrorCollector, key: str, otherwise: int) -> int:
    """What the problem's `heads` or `kv_heads` says; whoever reads that key tells what is wrong with it."""
    root = errors.root
    if not isinstance(root, Mapping) or key not in root.values:
        return otherwise
    return read_integer(Value(root.values[key], key, SilentCollector(errors.source)), least=1, help="") or otherwise
