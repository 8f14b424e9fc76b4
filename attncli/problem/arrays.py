"""Reads `{file: weights.npz, name: wq}`: NumPy's .npy and .npz files, distrusted until their size fits their header."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncli.english import listed
from attncli.errors import did_you_mean
from attncli.problem.files import cannot_read, open_regular
from attncli.problem.spot import Spot
from attncli.problem.values import insist_keys, read_text

ELEMENT_LIMIT = 10**8
Array: TypeAlias = NDArray[Any]  # of any type NumPy reads; which is checked, not typed
_FORMATS = np.lib.format
_HEADERS = {(1, 0): _FORMATS.read_array_header_1_0, (2, 0): _FORMATS.read_array_header_2_0}


class _Refused(Exception):
    """Why a file is not read: (message, help)."""


def read_array(spot: Spot) -> Array | None:
    """The array a reference names, of bool, integer or float type; None after reporting what is wrong."""
    if "file" not in spot.keys:
        spot.wrong("must be a list or {file: …}", "write {file: masks.npz, name: keep}")
        return None
    if not insist_keys(spot, ("file", "name")):
        return None
    file = read_text(spot.key("file"))
    name = read_text(spot.key("name")) if "name" in spot.keys else ""
    if file is None or name is None:
        return None
    folder = spot.report.source.folder
    try:
        return _load(_within(folder, file), file, name)
    except _Refused as refused:
        spot.key("file").wrong(*refused.args)
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links that go round in a circle
        spot.key("file").fails(cannot_read(file, error, folder / file, "name a .npy or .npz file"))
    return None


def _within(folder: Path, file: str) -> Path:
    """Refused outside the problem's folder, so that a problem from a stranger reads nothing of one's own."""
    target = (folder / file).resolve()
    if not target.is_relative_to(folder.resolve()):
        raise _Refused(
            f"{file} lies outside the problem's folder", "copy it beside the problem file and name it from there"
        )
    return target


def _load(target: Path, file: str, name: str) -> Array:
    suffix = target.suffix.lower()
    if suffix == ".safetensors":
        raise _Refused(
            ".safetensors files are not read in this version", "save the arrays with numpy.savez as a .npz file"
        )
    if suffix not in (".npy", ".npz"):
        raise _Refused(f"{file} is neither .npy nor .npz", "save it with numpy.save or numpy.savez")
    with open_regular(target) as stream:
        if suffix == ".npz":
            return _member(stream, file, name)
        if name:
            raise _Refused(f"{file} holds one array without a name", "remove name, or refer to a .npz file")
        return _read_npy(stream, target.stat().st_size, file)


def _member(stream: IO[bytes], file: str, name: str) -> Array:
    import zipfile  # and all that it brings, only for those who need it
    import zlib

    try:
        with zipfile.ZipFile(stream) as archive:
            names = [entry.filename.removesuffix(".npy") for entry in archive.infolist()]
            there = listed(names, last="", most=12) or "no arrays"
            if not name and len(names) != 1:
                raise _Refused(f"{file} holds {len(names)} arrays", f"say which by name: {there}")
            if name and name not in names:
                raise _Refused(f"{file} has no array named {name}", did_you_mean(name, names, f"it holds {there}"))
            entry = archive.infolist()[names.index(name) if name else 0]
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise NotImplementedError("it is compressed in a way NumPy does not use")
            with archive.open(entry) as member:
                return _read_npy(member, entry.file_size, file)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise _Refused(f"{file} is not a readable .npz file: {error}", "save it again with numpy.savez") from None


def _read_npy(stream: IO[bytes], size: int, file: str) -> Array:
    """One array in NumPy's format; `size` is how many bytes there are, whatever the header claims."""
    try:
        with warnings.catch_warnings(action="ignore"):  # NumPy warns about headers written by Python 2
            version = _FORMATS.read_magic(stream)
            shape, fortran, dtype = _HEADERS[version](stream)
    except Exception:  # a hostile header makes NumPy's own parser fail in almost any way
        raise _Refused(f"{file} is not an array in NumPy's format", "save it with numpy.save") from None
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise _Refused(f"{file} holds {dtype} instead of plain numbers", "save it as float64")
    if not shape or any(side < 1 for side in shape):
        raise _Refused(f"{file} has the shape {shape}: it is empty or no matrix", "save a matrix or a vector")
    count = math.prod(shape)
    if count > ELEMENT_LIMIT:
        raise _Refused(f"{file} claims {count:,} numbers", f"{ELEMENT_LIMIT:,} are the most")
    if count * dtype.itemsize > size:
        raise _Refused(
            f"{file} claims {count:,} numbers but has only {size:,} bytes", "it was cut short: save it again"
        )
    data = stream.read(count * dtype.itemsize)
    if len(data) < count * dtype.itemsize:
        raise _Refused(f"{file} ends before its last number", "it was cut short: save it again")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
