"""NumPy's .npz format, a zip archive of .npy files: what it claims of a member is checked before
that is unpacked.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from typing import IO

from attncli.english import shorten
from attncli.problem.arrays.archives import Archive, can_unpack
from attncli.problem.arrays.errors import ArrayError
from attncli.problem.arrays.formats.npy import read_array, read_header
from attncli.problem.arrays.stored import StoredArray, choose
from attncli.problem.limits import PACKED_LIMIT, PACKED_RATIO

_SUFFIX = ".npy"
_SAVE_AGAIN_HELP = "save it again with numpy.savez"


def read(stream: IO[bytes], file: str, name: str, *, single: bool = False) -> StoredArray:
    """The array of a name, which may be empty where there is only one."""
    with _archive(file).opened(stream) as archive:
        entries = _entries(archive)
        found = choose(name, list(entries), file, lambda each: _shape(archive, entries[each][0]))
        chosen, *others = entries[found]
        if others:
            raise ArrayError(
                f"{file} holds {len(others) + 1} arrays named {shorten(found)}", _SAVE_AGAIN_HELP
            )
        _archive(file).require_readable(chosen)
        if chosen.file_size > max(PACKED_LIMIT, PACKED_RATIO * chosen.compress_size):
            message = f"{file} unpacks {chosen.compress_size:,} bytes to {chosen.file_size:,}"
            raise ArrayError(message, "save it with numpy.savez, which does not compress")
        with archive.open(chosen) as member:
            what = (
                file
                if chosen.filename.endswith(_SUFFIX)
                else f"{shorten(chosen.filename)} in {file}"
            )
            return read_array(member, chosen.file_size, what, single=single)


def names(stream: IO[bytes], file: str) -> list[str]:
    """The names of all arrays."""
    with _archive(file).opened(stream) as archive:
        return list(_entries(archive))


def dtype(stream: IO[bytes], file: str, name: str) -> str:
    """The number format that the header of an array claims."""
    with (
        _archive(file).opened(stream) as archive,
        archive.open(_entries(archive)[name][0]) as member,
    ):
        return read_header(member)[2].name


def _archive(file: str) -> Archive:
    return Archive(file, ".npz", _SAVE_AGAIN_HELP)


def _entries(archive: zipfile.ZipFile) -> dict[str, list[zipfile.ZipInfo]]:
    """By the name of its array, which more than one may claim; files of other kinds only where
    there are no arrays.
    """
    members = [entry for entry in archive.infolist() if not entry.is_dir()]
    arrays = [entry for entry in members if entry.filename.endswith(_SUFFIX)]
    entries: dict[str, list[zipfile.ZipInfo]] = {}
    for entry in arrays or members:
        name = entry.filename.removesuffix(_SUFFIX)
        entries.setdefault(name, []).append(entry)
    return entries


def _shape(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Sequence[int]:
    if not can_unpack(entry):
        return ()
    try:
        with archive.open(entry) as member:
            shape = read_header(member)[0]
    except Exception:
        # It fails as in `read_array`, but nobody asked for this array, so nothing is said.
        return ()
    return shape if all(type(side) is int for side in shape) and len(str(shape)) < 40 else ()
