"""Reads the array of `{file: weights.npz, name: wq}`: where the file is, which format it has, what is taken of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePath
from typing import BinaryIO

import numpy as np

from attncli.english import shorten
from attncli.problem.files import PICKLES, cannot_read, open_regular
from attncli.problem.npy import read_npy
from attncli.problem.references import read_reference
from attncli.problem.safetensors import read_safetensors
from attncli.problem.shards import INDEX_SUFFIX, shard_of
from attncli.problem.source import Source
from attncli.problem.stored import Array, Refused, pickled
from attncli.problem.values import Value


def read_array(value: Value) -> Array | None:
    """The array a reference names, of bool, integer or float type; None after reporting what is wrong."""
    if "file" not in value.keys:
        value.wrong("must be a list or {file: …}", "write {file: masks.npz, name: keep}")
        return None
    reference = read_reference(value)
    if reference is None:
        return None
    file, source = reference.file, value.errors.source
    try:
        array = reference.take(_load(source, file, reference.name))
        return array if _keeps_its_digits(array, value) else None
    except Refused as refused:
        value.key(refused.key).wrong(*refused.args)
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links that go round in a circle
        help = "name a .safetensors, .npz or .npy file"
        value.key("file").add_error(cannot_read(file, error, Path(source.folder, file), help))
    return None


def _within(source: Source, file: str) -> Path:
    """Refused outside the problem's folder, so that a problem from a stranger reads nothing of one's own."""
    target = Path(source.folder, file).resolve()
    if source.outside or target.is_relative_to(Path(source.folder).resolve()):
        return target
    link = "" if ".." in PurePath(file).parts or PurePath(file).is_absolute() else " (it is a link)"
    raise Refused(
        f"{shorten(file)} lies outside the problem's folder{link}",
        "copy it beside the problem file and name it from there, or add --allow-outside if you trust the problem",
    )


def _load(source: Source, file: str, name: str) -> Array:
    target = _within(source, file)
    if file.endswith(INDEX_SUFFIX):
        with open_regular(target) as stream:
            shard = shard_of(stream, shorten(file), name)
        index, file = file, str(PurePath(file).parent / shard)
        target = _within(source, file)
        if not target.exists():
            message = f"{shorten(index)} says it is in {shorten(shard)}, which is not there"
            raise Refused(message, f"put {shorten(shard)} beside the index")
    called, suffix = shorten(file), PurePath(file).suffix.lower()
    if suffix not in _READERS:
        raise _other_kind(called, suffix)
    with open_regular(target) as stream:
        return _READERS[suffix](stream, called, name)


def _read_npz(stream: BinaryIO, file: str, name: str) -> Array:
    from attncli.problem.npz import read_npz  # and all that zipfile brings, only for those who need it

    return read_npz(stream, file, name)


def _read_npy(stream: BinaryIO, file: str, name: str) -> Array:
    if name:
        raise Refused(f"{file} holds one array without a name", "remove name, or refer to a .npz file", key="name")
    return read_npy(stream, os.fstat(stream.fileno()).st_size, file)


_READERS: dict[str, Callable[[BinaryIO, str, str], Array]] = {
    ".safetensors": read_safetensors,
    ".npz": _read_npz,
    ".npy": _read_npy,
}


def _other_kind(file: str, suffix: str) -> Refused:
    if suffix in PICKLES:
        return pickled(file)
    return Refused(f"{file} is neither .safetensors nor .npz nor .npy", "save it with numpy.savez or safetensors")


def _keeps_its_digits(array: Array, value: Value) -> bool:
    """Whether every integer is also a double; the first that is not is reported."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8:
        return True
    doubles = array.astype(np.float64)
    past = doubles >= float(np.iinfo(array.dtype).max)  # rounded up to what the integers do not reach
    lost = past | (np.where(past, 0, doubles).astype(array.dtype) != array)
    if not lost.any():
        return True
    cell = tuple(np.argwhere(lost)[0])
    path = value.path + "".join(f"[{index}]" for index in cell)
    message = f"{array[cell]} would become {int(doubles[cell])}: a double does not hold all its digits"
    replace(value, path=path).wrong(message, "save it as float64 if the nearest number will do")
    return False
