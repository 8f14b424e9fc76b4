"""Reads one tensor of a .safetensors file, wherever in it it stands, after the whole header has
been checked.

Such a file is the length of its header in eight bytes, the header, which is JSON, and then the
numbers of all tensors:

    {"__metadata__": {…}, "wq": {"dtype": "F32", "shape": [4, 12], "data_offsets": [0, 192]}, …}
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import IO, Any

import numpy as np

from attncli.english import count, either, shorten
from attncli.problem.arrays.errors import ArrayError
from attncli.problem.arrays.stored import StoredArray, choose, require_shape, strict_json

_LENGTH_BYTES = 8
# This is a header of hundreds of thousands of tensors, five times the largest known one.
_HEADER_LIMIT = 2**24
_GIT_LFS = b"version https://git-lfs"
_METADATA = "__metadata__"
INDEX_SUFFIX = ".safetensors.index.json"
_INDEX_LIMIT = 2**24
_NUMPY_TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "BOOL": "u1",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "u1",
}
_DTYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
_BEYOND_NUMPY: dict[str, Callable[[StoredArray], StoredArray]] = {
    # bfloat16 is a float32 without its lower half.
    "BF16": lambda data: (data.astype(np.uint32) << 16).view(np.float32),
    "BOOL": lambda data: data != 0,
}


@dataclass(frozen=True, slots=True)
class _Tensor:
    """What the header says of one tensor; `begin` and `end` count bytes from the end of the
    header.
    """

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def read(stream: IO[bytes], file: str, name: str, *, single: bool = False) -> StoredArray:
    """The tensor of a name, which may be empty where there is only one; bfloat16 becomes float32,
    exactly.

    Only the header and the tensor's own bytes are read.
    """
    start, tensors = _read_tensors(stream, file)
    tensor = tensors[choose(name, list(tensors), file, lambda each: tensors[each].shape)]
    if tensor.dtype not in _NUMPY_TYPES:
        raise ArrayError(
            f"{file} holds {shorten(tensor.dtype)} instead of plain numbers",
            "save it as F32 or BF16",
        )
    require_shape(tensor.shape, file, single=single)
    stream.seek(start + tensor.begin)
    data = stream.read(tensor.end - tensor.begin)
    if len(data) < tensor.end - tensor.begin:
        # It was cut while it was read.
        raise ArrayError(f"{file} ends before its last number", _SAVE_AGAIN_HELP)
    array: StoredArray = np.frombuffer(data, _NUMPY_TYPES[tensor.dtype]).reshape(tensor.shape)
    return _BEYOND_NUMPY[tensor.dtype](array) if tensor.dtype in _BEYOND_NUMPY else array


def names(stream: IO[bytes], file: str) -> list[str]:
    """The names of all tensors."""
    return list(_read_tensors(stream, file)[1])


def dtype(stream: IO[bytes], file: str, name: str) -> str:
    """The number format of a tensor; that of one without a name of ours as the file calls it."""
    found = _read_tensors(stream, file)[1][name].dtype
    return _DTYPES.get(found, found)


def shard_of(stream: IO[bytes], file: str, name: str) -> str:
    """The file beside `model.safetensors.index.json` that holds the array; ArrayError where none is
    named.
    """
    data = stream.read(_INDEX_LIMIT + 1)
    try:
        index = strict_json(data) if len(data) <= _INDEX_LIMIT else None
    except ValueError:
        index = None
    match index:
        case {"weight_map": dict(shards)} if all(
            isinstance(shard, str) for shard in shards.values()
        ):
            shard: str = shards[choose(name, list(shards), file, lambda each: ())]
            if PurePath(shard).suffix == ".safetensors":
                return shard
    raise ArrayError(
        f"{file} is not a readable index", "name the .safetensors file that holds the array"
    )


def _read_tensors(stream: IO[bytes], file: str) -> tuple[int, dict[str, _Tensor]]:
    """Where the numbers begin, and what the header says of each tensor, all of which are there in
    full.
    """
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    start, header = _read_header(stream, size, file)
    try:
        tensors = _checked(header, size - start)
    except ValueError as error:
        raise _unreadable(file, str(error)) from None
    if (last := max((tensor.end for tensor in tensors.values()), default=0)) > size - start:
        raise ArrayError(
            f"{file} should have {start + last:,} bytes but has only {size:,}", _SAVE_AGAIN_HELP
        )
    return start, tensors


_SAVE_AGAIN_HELP = "it was cut short: save or download it again"


def _unreadable(file: str, why: str) -> ArrayError:
    return ArrayError(
        f"{file} is not a readable .safetensors file: {shorten(why, 200)}",
        "save or download it again",
    )


def _read_header(stream: IO[bytes], size: int, file: str) -> tuple[int, dict[str, Any]]:
    """Where the numbers begin, and the header as it claims to be."""
    first = stream.read(_LENGTH_BYTES)
    length = int.from_bytes(first, "little")
    if len(first) < _LENGTH_BYTES:
        raise _unreadable(file, f"it has only {count(size, 'byte')}")
    if first == _GIT_LFS[:_LENGTH_BYTES]:
        raise ArrayError(
            f"{file} is a Git LFS pointer, not the file it stands for",
            "fetch the file with git lfs pull",
        )
    if length > size - _LENGTH_BYTES:
        raise _unreadable(
            file, f"its header would be {length:,} bytes long, and the file has {size:,}"
        )
    if length > _HEADER_LIMIT:
        raise _unreadable(
            file, f"its header is {length:,} bytes long, and {_HEADER_LIMIT:,} is the limit"
        )
    data = stream.read(length)
    try:
        header = strict_json(data)
    except ValueError:
        header = None
    if not data.startswith(b"{") or not isinstance(header, dict):
        raise _unreadable(file, "its header is not a JSON mapping with every name once")
    return _LENGTH_BYTES + length, header


def _checked(header: dict[str, Any], room: int) -> dict[str, _Tensor]:
    """The tensors, which lie one after another from the first byte to the last; ValueError where
    they do not.

    That there are as many bytes is left to be seen.
    """
    tensors = {name: _tensor(name, entry) for name, entry in header.items() if name != _METADATA}
    end = 0
    for name, tensor in sorted(tensors.items(), key=lambda item: (item[1].begin, item[1].end)):
        if tensor.begin != end:
            raise ValueError(
                f"{shorten(name)} begins at byte {tensor.begin:,}, and what is before it ends at"
                f" {end:,}"
            )
        end = tensor.end
    if end < room:
        left = room - end
        raise ValueError(
            f"{count(left, 'byte')} at its end {either(left, 'belongs', 'belong')} to no tensor"
        )
    return tensors


def _tensor(name: str, entry: Any) -> _Tensor:
    match entry:
        case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [begin, end]} if (
            all(type(number) is int and 0 <= number < 2**63 for number in (*shape, begin, end))
            and begin <= end
        ):
            pass
        case _:
            raise ValueError(f"{shorten(name)} does not have a dtype, a shape and two data_offsets")
    if dtype in _NUMPY_TYPES:
        width = np.dtype(_NUMPY_TYPES[dtype]).itemsize
        if _count(shape, end - begin) * width != end - begin:
            raise ValueError(
                f"{shorten(name)} is {dtype} of the shape {shorten(str(tuple(shape)))} in"
                f" {count(end - begin, 'byte')}"
            )
    return _Tensor(dtype, tuple(shape), begin, end)


def _count(shape: Sequence[int], most: int) -> int:
    """How many numbers a shape holds, or some number above `most`: a product of a million sides
    would never end.
    """
    total = 0 if 0 in shape else 1
    for side in shape:
        total *= side
        if total > most:
            break
    return total
