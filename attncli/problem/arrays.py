"""Reads `{file: weights.npz, name: wq}`: NumPy's .npy and .npz files, distrusted until their size fits their header."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncli.english import count, listed
from attncli.errors import did_you_mean
from attncli.problem.files import cannot_read, open_regular
from attncli.problem.limits import DIMENSION_LIMIT, ELEMENT_LIMIT
from attncli.problem.spot import Spot
from attncli.problem.tree import shorten
from attncli.problem.values import insist_keys, read_text

Array: TypeAlias = NDArray[Any]  # of any type NumPy reads; which is checked, not typed
_FORMATS = np.lib.format
_HEADERS = {(1, 0): (2, _FORMATS.read_array_header_1_0), (2, 0): (4, _FORMATS.read_array_header_2_0)}
_HEADER_LIMIT = 2**16
_NAMES_SHOWN = 12


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
        array = _load(_within(folder, file), shorten(file), name)
        return array if _keeps_its_digits(array, spot) else None
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
            f"{shorten(file)} lies outside the problem's folder",
            "copy it beside the problem file and name it from there",
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
            shown = [shorten(each) for each in names]
            there = listed(shown, last="", most=_NAMES_SHOWN) or "no arrays"
            if not name and len(names) != 1:
                raise _Refused(f"{file} holds {count(len(names), 'array')}", f"say which by name: {there}")
            if name and name not in names:
                help = did_you_mean(shorten(name), shown, f"it holds {there}")
                raise _Refused(f"{file} has no array named {shorten(name)}", help)
            entry = archive.infolist()[names.index(name) if name else 0]
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise NotImplementedError("it is compressed in a way NumPy does not use")
            with archive.open(entry) as member:
                return _read_npy(member, entry.file_size, file)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise _Refused(
            f"{file} is not a readable .npz file: {shorten(str(error), 200)}", "save it again with numpy.savez"
        ) from None


def _read_npy(stream: IO[bytes], size: int, file: str) -> Array:
    """One array in NumPy's format; `size` is how many bytes there are, whatever the header claims."""
    try:
        shape, fortran, dtype = _read_header(stream)
    except Exception:  # a hostile header makes NumPy's own parser fail in almost any way
        raise _Refused(f"{file} is not an array in NumPy's format", "save it with numpy.save") from None
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise _Refused(f"{file} holds {shorten(str(dtype))} instead of plain numbers", "save it as float64")
    has_shape = f"{file} has the shape {shorten(str(shape))}"
    if not 0 < len(shape) <= DIMENSION_LIMIT or any(type(side) is not int or side < 1 for side in shape):
        raise _Refused(f"{has_shape}: it is empty or no matrix", "save a matrix or a vector")
    total = math.prod(shape)
    if total > ELEMENT_LIMIT:
        raise _Refused(f"{has_shape}: too many numbers", f"{ELEMENT_LIMIT:,} numbers in one array are the most")
    length = total * dtype.itemsize
    if length > size:
        raise _Refused(
            f"{file} claims {total:,} numbers but has only {size:,} bytes", "it was cut short: save it again"
        )
    data = stream.read(length)
    if len(data) < length:
        raise _Refused(f"{file} ends before its last number", "it was cut short: save it again")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """(shape, fortran_order, dtype) as claimed. NumPy is handed a header no longer than the limit."""
    length_size, read_header = _HEADERS[_FORMATS.read_magic(stream)]
    length = stream.read(length_size)
    claimed = int.from_bytes(length, "little")
    if claimed > _HEADER_LIMIT:
        raise ValueError("the header is too long")
    with warnings.catch_warnings(action="ignore"):  # NumPy warns about headers written by Python 2
        return read_header(BytesIO(length + stream.read(claimed)))


def _keeps_its_digits(array: Array, spot: Spot) -> bool:
    """Whether every integer is also a double; the first that is not is reported."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8:
        return True
    doubles = array.astype(np.float64)
    past = doubles >= float(np.iinfo(array.dtype).max)  # rounded up to what the integers do not reach
    lost = past | (np.where(past, 0, doubles).astype(array.dtype) != array)
    if not lost.any():
        return True
    cell = tuple(np.argwhere(lost)[0])
    path = spot.path + "".join(f"[{index}]" for index in cell)
    message = f"{array[cell]} would become {int(doubles[cell])}: a double does not hold all its digits"
    replace(spot, path=path).wrong(message, "save it as float64 if the nearest number will do")
    return False
