"""Reads a problem in both ways there are, value by value and with its lists in one go: both have to
tell the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any
from unittest.mock import patch
from zlib import crc32

import numpy as np

from attncli.errors import AttncliError
from attncli.problem import loader
from attncli.problem.matrix import Matrix
from attncli.problem.text import building, long_lists

FROM = (0, 0, 8, 40)  # characters from which a list is long


def outcome(data: bytes, name: str) -> Any:
    """The problem in these bytes as texts and bytes that can be compared, or all that is wrong with
    them.
    """
    try:
        return _parts(loader.loads(data, name))
    except AttncliError as error:
        return [
            (each.exit_code, str(each), each.place, each.help) for each in (error, *error.more)
        ], error.untold


def readings(data: bytes, name: str) -> dict[str, Any]:
    """What is told by each pass: the one for all that is odd, and that for long texts."""
    with _long_from(len(data) + 1, 0):
        found = {"careful": outcome(data, name)}
    with _long_from(0, FROM[crc32(data) % len(FROM)]):
        found["quick"] = outcome(data, name)
    return found


def assert_agreement(data: bytes, name: str) -> None:
    """Raises AssertionError where both passes do not agree."""
    found = readings(data, name)
    assert found["quick"] == found["careful"], f"{name}\n" + "\n".join(
        f"{way}: {each}" for way, each in found.items()
    )


@contextmanager
def _long_from(text: int, of_a_list: int) -> Iterator[None]:
    with (
        patch.object(building, "LONG_TEXT", text),
        patch.object(long_lists, "SHORTEST_LONG_LIST", of_a_list),
    ):
        yield


def _parts(value: Any) -> Any:
    """What a value is made of, down to bytes and texts."""
    match value:
        case np.ndarray():
            cells = value.tolist() if value.dtype == object else value.tobytes()
            return value.shape, str(value.dtype), cells
        case Matrix():
            return _parts(value.value), _parts(value.written)
        case dict() | MappingProxyType():
            return [(key, _parts(each)) for key, each in value.items()]
        case tuple() | list():
            return [_parts(each) for each in value]
    if is_dataclass(value):
        return type(value).__name__, [
            (each.name, _parts(getattr(value, each.name))) for each in fields(value)
        ]
    return repr(value)
