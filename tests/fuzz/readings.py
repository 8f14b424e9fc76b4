"""Reads a problem in every way there is, for short texts and for long ones: all have to tell the same of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any
from unittest.mock import patch
from zlib import crc32

import numpy as np

from attncli.errors import AttncliError
from attncli.problem import bulk, digits, json_reader, later, matrix, shortened, words, yaml_reader
from attncli.problem import loader as reader

FROM = (0, 0, 8, 40)  # characters from which a list is long
PIECES = (7, 64, 2000)  # characters looked at together


def told(data: bytes, name: str) -> Any:
    """The problem in these bytes as texts and bytes that can be compared, or all that is wrong with them."""
    try:
        return _parts(reader.loads(data, name))
    except AttncliError as error:
        return [(each.exit_code, str(each), each.place, each.help) for each in (error, *error.more)], error.untold


def readings(data: bytes, name: str) -> dict[str, Any]:
    """What is told by each way to read: the one for all that is odd, that of long texts, and that of the plainest."""
    with _only_careful():
        found = {"careful": told(data, name)}
    with _any_list_is_long(crc32(data)):
        found["quick"] = told(data, name)
    if name.endswith(".yaml"):
        found["plain"] = told(data, name)
    return found


def insist_agreement(data: bytes, name: str) -> None:
    """Raises AssertionError where not all ways to read agree."""
    careful, *others = (items := readings(data, name)).values()
    for way, other in zip(list(items)[1:], others, strict=True):
        assert other == careful, f"{name}\n{way}: {other}\ncareful: {careful}"


@contextmanager
def _only_careful() -> Iterator[None]:
    with ExitStack() as patched:
        for module in (yaml_reader, json_reader):
            patched.enter_context(patch.object(module, "read_shortened", _nothing))
        patched.enter_context(patch.object(reader, "read_plain", _nothing))
        yield


@contextmanager
def _any_list_is_long(choice: int) -> Iterator[None]:
    length, piece = FROM[choice % len(FROM)], PIECES[choice // 7 % len(PIECES)]
    quick: Callable[[], Any] = bulk.quick_reader if choice // 31 % 2 else _nothing
    changed = (
        (reader, "read_plain", _nothing), (shortened, "LONG", length), (bulk, "LONG", length), (bulk, "_STEP", piece),
        (words, "STEP", piece), (digits, "STEP", piece), (digits, "_CHUNK", 3), (bulk, "quick_reader", quick),
    )  # fmt: skip
    with ExitStack() as patched:
        for module, name, value in changed:
            patched.enter_context(patch.object(module, name, value))
        yield


def _nothing(*given: object, **named: object) -> None:
    """Leaves every text to another reader."""


def _parts(value: Any) -> Any:
    """What a value is made of, down to bytes and texts."""
    match value:
        case np.ndarray():
            cells = value.tolist() if value.dtype == object else value.tobytes()
            return value.shape, str(value.dtype), cells
        case later.Later():
            return _parts(value.array)
        case matrix.Matrix():
            return _parts(value.value), _parts(value.written)
        case dict() | MappingProxyType():
            return [(key, _parts(each)) for key, each in value.items()]
        case tuple() | list():
            return [_parts(each) for each in value]
    if is_dataclass(value):
        return type(value).__name__, [(each.name, _parts(getattr(value, each.name))) for each in fields(value)]
    return repr(value)
