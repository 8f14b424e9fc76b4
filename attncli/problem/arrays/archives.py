"""Zip archives from strangers, of which nothing is believed before it is checked."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, cast

from attncli.problem.arrays.errors import ArrayError
from attncli.problem.limits import DIRECTORY_LIMIT

_ENCRYPTED = 1
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True, slots=True)
class Archive:
    """What messages say of an archive: how the file is called, its kind, and how to make it
    again.
    """

    file: str
    kind: str
    again: str

    @contextmanager
    def opened(self, stream: IO[bytes]) -> Iterator[zipfile.ZipFile]:
        """The archive; whatever goes wrong in it becomes an ArrayError."""
        beginning = _Beginning(stream, self)
        try:
            with zipfile.ZipFile(cast("IO[bytes]", beginning)) as archive:
                beginning.over = True
                yield archive
        except (ArrayError, OSError, MemoryError):
            raise
        except Exception:
            # A hostile archive makes zipfile fail in almost any way, and in words of its own.
            why = (
                "it is damaged"
                if beginning.over or zipfile.is_zipfile(stream)
                else "it is not an archive"
            )
            raise self.unreadable(why) from None

    def require_readable(self, entry: zipfile.ZipInfo) -> None:
        """ArrayError for an entry that is encrypted, or packed in a way that takes more than
        zlib.
        """
        if entry.flag_bits & _ENCRYPTED:
            raise self.unreadable("it is encrypted")
        if not can_unpack(entry):
            raise self.unreadable("it is compressed in a way that it should not be")

    def unreadable(self, why: str) -> ArrayError:
        """The error for an archive that is damaged, or none."""
        return ArrayError(f"{self.file} is not a readable {self.kind} file: {why}", self.again)


def can_unpack(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry is stored as it is, or deflated."""
    return entry.compress_type in _COMPRESSIONS


class _Beginning:
    """The stream, of which no large piece may be read until the archive has been opened, and
    nothing outside of it.

    What is read before is the list of what it holds; that may claim any length, and takes a
    hundredfold in memory. The list may claim any place, too: asked for one, the system would answer
    that it cannot read the file.
    """

    def __init__(self, stream: IO[bytes], archive: Archive) -> None:
        self._stream = stream
        self._archive = archive
        self.over = False

    def read(self, size: int = -1) -> bytes:
        if size > DIRECTORY_LIMIT and not self.over:
            raise self._archive.unreadable(
                f"its list of files takes {size:,} bytes, {DIRECTORY_LIMIT:,} is the limit"
            )
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence == 0 and not 0 <= offset < 2**63:
            raise self._archive.unreadable("a part of it begins outside of it")
        return self._stream.seek(offset, whence)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
