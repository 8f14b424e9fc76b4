"""Reads `{file: weights.npz, name: wq}`: NumPy's .npy and .npz files, distrusted until their size fits their header."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np

from attncli.english import count, listed, shorten
from attncli.errors import did_you_mean
from attncli.problem.files import cannot_read, open_regular
from attncli.problem.npy import Array, Refused, read_npy
from attncli.problem.spot import Spot
from attncli.problem.values import insist_keys, read_text

_NAMES_SHOWN = 12


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
    except Refused as refused:
        spot.key("file").wrong(*refused.args)
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links that go round in a circle
        spot.key("file").fails(cannot_read(file, error, folder / file, "name a .npy or .npz file"))
    return None


def _within(folder: Path, file: str) -> Path:
    """Refused outside the problem's folder, so that a problem from a stranger reads nothing of one's own."""
    target = (folder / file).resolve()
    if not target.is_relative_to(folder.resolve()):
        raise Refused(
            f"{shorten(file)} lies outside the problem's folder",
            "copy it beside the problem file and name it from there",
        )
    return target


def _load(target: Path, file: str, name: str) -> Array:
    suffix = target.suffix.lower()
    if suffix == ".safetensors":
        raise Refused(
            ".safetensors files are not read in this version", "save the arrays with numpy.savez as a .npz file"
        )
    if suffix not in (".npy", ".npz"):
        raise Refused(f"{file} is neither .npy nor .npz", "save it with numpy.save or numpy.savez")
    with open_regular(target) as stream:
        if suffix == ".npz":
            return _member(stream, file, name)
        if name:
            raise Refused(f"{file} holds one array without a name", "remove name, or refer to a .npz file")
        return read_npy(stream, target.stat().st_size, file)


def _member(stream: IO[bytes], file: str, name: str) -> Array:
    import zipfile  # and all that it brings, only for those who need it
    import zlib

    try:
        with zipfile.ZipFile(stream) as archive:
            names = [entry.filename.removesuffix(".npy") for entry in archive.infolist()]
            shown = [shorten(each) for each in names]
            there = listed(shown, last="", most=_NAMES_SHOWN) or "no arrays"
            if not name and len(names) != 1:
                raise Refused(f"{file} holds {count(len(names), 'array')}", f"say which by name: {there}")
            if name and name not in names:
                help = did_you_mean(shorten(name), shown, f"it holds {there}")
                raise Refused(f"{file} has no array named {shorten(name)}", help)
            entry = archive.infolist()[names.index(name) if name else 0]
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise NotImplementedError("it is compressed in a way NumPy does not use")
            with archive.open(entry) as member:
                return read_npy(member, entry.file_size, file)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise Refused(
            f"{file} is not a readable .npz file: {shorten(str(error), 200)}", "save it again with numpy.savez"
        ) from None


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
