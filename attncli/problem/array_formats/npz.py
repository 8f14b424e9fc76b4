"""NumPy's .npz format, a zip archive of .npy files: what it claims of a member is checked before that is unpacked."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, cast

from attncli.english import shorten
from attncli.problem.array_formats import Array, ArrayError, choose
from attncli.problem.array_formats.npy import read_array, read_header
from attncli.problem.limits import DIRECTORY_LIMIT, PACKED_LIMIT, PACKED_RATIO

_SUFFIX = ".npy"
_AGAIN = "save it again with numpy.savez"
_ENCRYPTED = 1
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read(stream: IO[bytes], file: str, name: str, *, single: bool = False) -> Array:
    """The array of a name, which may be empty where there is only one."""
    with _opened(stream, file) as archive:
        entries = _entries(archive)
        found = choose(name, list(entries), file, lambda each: _shape(archive, entries[each][0]))
        chosen, *others = entries[found]
        if others:
            raise ArrayError(f"{file} holds {len(others) + 1} arrays named {shorten(found)}", _AGAIN)
        if chosen.flag_bits & _ENCRYPTED:
            raise _unreadable(file, "it is encrypted")
        if chosen.compress_type not in _COMPRESSIONS:
            raise _unreadable(file, "it is compressed in a way NumPy does not use")
        if chosen.file_size > max(PACKED_LIMIT, PACKED_RATIO * chosen.compress_size):
            message = f"{file} unpacks {chosen.compress_size:,} bytes to {chosen.file_size:,}"
            raise ArrayError(message, "save it with numpy.savez, which does not compress")
        with archive.open(chosen) as member:
            what = file if chosen.filename.endswith(_SUFFIX) else f"{shorten(chosen.filename)} in {file}"
            return read_array(member, chosen.file_size, what, single=single)


def names(stream: IO[bytes], file: str) -> list[str]:
    """The names of all arrays."""
    with _opened(stream, file) as archive:
        return list(_entries(archive))


def dtype(stream: IO[bytes], file: str, name: str) -> str:
    """The number format that the header of an array claims."""
    with _opened(stream, file) as archive, archive.open(_entries(archive)[name][0]) as member:
        return read_header(member)[2].name


@contextmanager
def _opened(stream: IO[bytes], file: str) -> Iterator[zipfile.ZipFile]:
    """The archive; whatever goes wrong in it becomes an ArrayError."""
    beginning = _Beginning(stream, file)
    try:
        with zipfile.ZipFile(cast("IO[bytes]", beginning)) as archive:
            beginning.over = True
            yield archive
    except (ArrayError, OSError, MemoryError):
        raise
    except Exception:  # a hostile archive makes zipfile fail in almost any way, and in words of its own
        why = "it is damaged" if beginning.over or zipfile.is_zipfile(stream) else "it is not an archive"
        raise _unreadable(file, why) from None


class _Beginning:
    """The stream, of which no large piece may be read until the archive has been opened, and nothing outside of it.

    What is read before is the list of what it holds; that may claim any length, and takes a hundredfold in memory.
    The list may claim any place, too: asked for one, the system would answer that it cannot read the file.
    """

    def __init__(self, stream: IO[bytes], file: str) -> None:
        self._stream = stream
        self._file = file
        self.over = False

    def read(self, size: int = -1) -> bytes:
        if size > DIRECTORY_LIMIT and not self.over:
            raise _unreadable(self._file, f"its list of arrays takes {size:,} bytes, {DIRECTORY_LIMIT:,} is the limit")
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence == 0 and not 0 <= offset < 2**63:
            raise _unreadable(self._file, "an array in it begins outside of it")
        return self._stream.seek(offset, whence)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _unreadable(file: str, why: str) -> ArrayError:
    return ArrayError(f"{file} is not a readable .npz file: {why}", _AGAIN)


def _entries(archive: zipfile.ZipFile) -> dict[str, list[zipfile.ZipInfo]]:
    """By the name of its array, which more than one may claim; files of other kinds only where there are no arrays."""
    members = [entry for entry in archive.infolist() if not entry.is_dir()]
    entries: dict[str, list[zipfile.ZipInfo]] = {}
    for entry in [entry for entry in members if entry.filename.endswith(_SUFFIX)] or members:
        entries.setdefault(entry.filename.removesuffix(_SUFFIX), []).append(entry)
    return entries


def _shape(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Sequence[int]:
    if entry.compress_type not in _COMPRESSIONS:
        return ()
    try:
        with archive.open(entry) as member:
            shape = read_header(member)[0]
    except Exception:  # as in `read_array`; here nothing needs to be said of an array that nobody asked for
        return ()
    return shape if all(type(side) is int for side in shape) and len(str(shape)) < 40 else ()
