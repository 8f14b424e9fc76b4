"""The formats of arrays in files, one file each: a module of this folder reads files with its name
as their suffix.

Such a module has three functions, which raise `ArrayError` for a file that is damaged or of another
kind, and believe nothing it claims before that is checked. `file` is what messages call it:

    read(stream, file, name, *, single=False)
        the array of a name, which may be empty where there is only one; an array of one number
        without axes only where a `single` one is asked for
    names(stream, file)
        the names of all arrays
    dtype(stream, file, name)
        the number format of one, such as bfloat16, also where NumPy lacks it
"""

from __future__ import annotations

from importlib import import_module
from typing import IO, Protocol, cast

from attncli.problem.arrays.stored import StoredArray


class Format(Protocol):
    """What a module of a format has."""

    def read(
        self, stream: IO[bytes], file: str, name: str, *, single: bool = False
    ) -> StoredArray: ...
    def names(self, stream: IO[bytes], file: str) -> list[str]: ...
    def dtype(self, stream: IO[bytes], file: str, name: str) -> str: ...


def format_of(suffix: str) -> Format:
    """The format of files with this suffix, which is an array has; imported only here."""
    return cast("Format", import_module(f"{__name__}{suffix}"))
