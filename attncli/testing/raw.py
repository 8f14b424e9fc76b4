"""Arrays in files as a program in any language reads them: the numbers alone, row by row, with the
lowest byte first. The end of the name says of which type they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from attncli.testing.case import Array
from attncli.tracing.difference import Doubles


class RawType(NamedTuple):
    """A type of numbers in files, and what NumPy calls its bytes."""

    name: str
    stored: str

    @property
    def size(self) -> int:
        """The bytes of a number."""
        return np.dtype(self.stored).itemsize


TRUTH, NUMBERS = "u8", "f32"
# Those of numbers, by the ends of names; NumPy has no bfloat16.
NUMBER_TYPES: Mapping[str, RawType] = {
    "f16": RawType("float16", "<f2"),
    "bf16": RawType("bfloat16", "<u2"),
    "f32": RawType("float32", "<f4"),
    "f64": RawType("float64", "<f8"),
}
RAW_TYPES: Mapping[str, RawType] = {TRUTH: RawType("uint8", "u1"), **NUMBER_TYPES}


def suffix_for(array: Array) -> str:
    """Which type an array of a case is written in: float32 has all of its numbers as they are."""
    return TRUTH if array.dtype == np.bool_ else NUMBERS


def raw_bytes(array: Array) -> bytes:
    """The array as it stands in its file."""
    stored = RAW_TYPES[suffix_for(array)].stored
    return np.ascontiguousarray(array, stored).tobytes()


def numbers_in(data: bytes, suffix: str) -> Doubles:
    """The numbers of a file with this end of its name, in one row."""
    read = np.frombuffer(data, NUMBER_TYPES[suffix].stored)
    if suffix == "bf16":
        # It is the upper half of a float32.
        read = (read.astype("<u4") << 16).view("<f4")
    return read.astype(np.float64)
