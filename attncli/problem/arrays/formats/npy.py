"""NumPy's .npy format: NumPy parses the header, which is held against the file before memory is
taken for numbers.
"""

from __future__ import annotations

import os
import warnings
from io import BytesIO
from typing import IO, Any

import numpy as np

from attncli.english import shorten
from attncli.problem.arrays.errors import ArrayError
from attncli.problem.arrays.stored import StoredArray, require_shape

_FORMATS = np.lib.format
_HEADERS = {
    (1, 0): (2, _FORMATS.read_array_header_1_0),
    (2, 0): (4, _FORMATS.read_array_header_2_0),
    # Version 3 is version 2 in UTF-8.
    (3, 0): (4, _FORMATS.read_array_header_2_0),
}
_HEADER_LIMIT = 2**16


def read(stream: IO[bytes], file: str, name: str, *, single: bool = False) -> StoredArray:
    """The one array of a file."""
    if name:
        raise ArrayError(
            f"{file} holds one array without a name",
            "remove name, or refer to a .npz file",
            key="name",
        )
    return read_array(stream, os.fstat(stream.fileno()).st_size, file, single=single)


def names(stream: IO[bytes], file: str) -> list[str]:
    """Raises ArrayError: its array has no name."""
    raise ArrayError(
        f"{file}: a .npy file holds one array without a name",
        "save it with numpy.savez(file, scores=…)",
    )


def dtype(stream: IO[bytes], file: str, name: str) -> str:
    """The number format that the header claims."""
    return read_header(stream)[2].name


def read_array(stream: IO[bytes], size: int, file: str, *, single: bool = False) -> StoredArray:
    """The array that begins here; `size` is how many bytes there are, whatever its header
    claims.
    """
    try:
        shape, fortran, dtype = read_header(stream)
    except Exception:
        # A hostile header makes NumPy's own parser fail in almost any way.
        raise ArrayError(
            f"{file} is not an array in NumPy's format", "save it with numpy.save"
        ) from None
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise ArrayError(
            f"{file} holds {shorten(str(dtype))} instead of plain numbers", "save it as float64"
        )
    total = require_shape(shape, file, single=single)
    length = total * dtype.itemsize
    if length > size:
        raise ArrayError(
            f"{file} claims {total:,} numbers but has only {size:,} bytes",
            "it was cut short: save it again",
        )
    data = stream.read(length)
    if len(data) < length:
        raise ArrayError(f"{file} ends before its last number", "it was cut short: save it again")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


def read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """(shape, fortran_order, dtype) as claimed. NumPy is handed a header no longer than the
    limit.
    """
    version = _FORMATS.read_magic(stream)
    length_size, parse = _HEADERS[version]
    length = stream.read(length_size)
    claimed = int.from_bytes(length, "little")
    if claimed > _HEADER_LIMIT:
        raise ValueError("the header is too long")
    header = stream.read(claimed)
    if version == (3, 0) and not header.isascii():
        header = header.decode().encode("ascii", "backslashreplace")
        length = len(header).to_bytes(length_size, "little")
    # NumPy warns about headers written by Python 2.
    with warnings.catch_warnings(action="ignore"):
        return parse(BytesIO(length + header))
