"""Reads the bytes of an input: a regular file or standard input, never something that could hang or
fill memory.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from contextlib import suppress
from io import UnsupportedOperation
from typing import TYPE_CHECKING, BinaryIO

from attncli import system
from attncli.english import shorten
from attncli.errors import AttncliError, file_error, nearest, reason
from attncli.problem.suffixes import array_suffixes

if TYPE_CHECKING:
    from pathlib import Path

STANDARD_INPUT = "standard input"
SIZE_LIMIT = 256 * 2**20
_LIST_SUFFIXES, _PAGE_SUFFIXES = (".yaml", ".yml", ".json"), (".md", ".markdown", ".tex", ".latex")
_PIECE_SIZE = 2**20
# Streams that are open already, as those of <(…) in bash.
_OPEN_ALREADY = r"/dev/stdin|/dev/fd/[0-9]+|/proc/self/fd/[0-9]+"


# The files asked for so far, as each was when it was opened; None where it could not be. Nothing is
# to write over them.
OPENED_FILES: dict[str, os.stat_result | None] = {}


class _TooLarge(Exception):
    """More bytes than the limit."""


def read_bytes(path: str) -> bytes:
    """The whole of a file, or of standard input for "-"; AttncliError (exit 4) where that cannot be
    done.
    """
    if not path:
        raise file_error(
            "the name of the file is empty", help="name a file, or - for standard input"
        )
    name = STANDARD_INPUT if path == "-" else path
    try:
        if path == "-":
            if sys.stdin is None:
                raise file_error("standard input is closed", help="name a file instead of -")
            data = _wait_for(sys.stdin.buffer)
        elif path.startswith(("/dev/", "/proc/")) and re.fullmatch(_OPEN_ALREADY, path):
            with open(path, "rb") as stream:
                data = _wait_for(stream)
        else:
            with open_regular(path) as stream:
                data = _read(stream)
    except _TooLarge:
        raise file_error(
            f"cannot read {shorten(name, 200)}: it is larger than {SIZE_LIMIT // 2**20} MiB",
            help=(
                "put large matrices in a .npz file and refer to it: W_Q: {file: weights.npz, name:"
                " W_Q}"
            ),
        ) from None
    except (OSError, ValueError) as error:
        raise cannot_read(name, error, path, "name a file, or - for standard input") from None
    return data


def open_regular(path: str | Path) -> BinaryIO:
    """A regular file opened for reading; OSError for anything else."""
    # Looked at first because opening alone can act on a device.
    name = os.fspath(path)
    OPENED_FILES[name] = None
    _require_regular(os.stat(path).st_mode)
    descriptor = os.open(path, system.OPENING)
    stream = os.fdopen(descriptor, "rb")
    try:
        status = os.fstat(descriptor)
        _require_regular(status.st_mode)
        OPENED_FILES[name] = status
    except OSError:
        stream.close()
        raise
    return stream


def cannot_read(name: str, error: Exception, path: str | Path, help: str) -> AttncliError:
    """The error for a file, called `name` by the person, that the system or Python before it will
    not open.
    """
    if isinstance(error, FileNotFoundError):
        why, help = (
            "this file does not exist",
            _near(system.without_last_separator(os.fspath(path))),
        )
    else:
        why = shorten(reason(error), 200)
    return file_error(f"cannot read {shorten(name, 200)}: {why}", help=help)


def _wait_for(stream: BinaryIO) -> bytes:
    """What a stream holds up to its end, also where whoever opened it set it not to wait for what
    comes later.
    """
    # What stands in for a stream has no descriptor and nothing to wait for.
    with suppress(UnsupportedOperation):
        system.set_blocking(stream.fileno(), True)
    return _read(stream)


def _read(stream: BinaryIO) -> bytes:
    expected = 0
    # What stands in for a stream has no descriptor.
    with suppress(OSError, AttributeError):
        expected = os.fstat(stream.fileno()).st_size
    if expected > SIZE_LIMIT:
        raise _TooLarge
    # Memory is taken for all that is asked for.
    data: bytes | None = stream.read(expected + 1)
    if data is None:
        # The file never ends, as /proc/kmsg.
        raise OSError("there is nothing to read in it now")
    return data if len(data) <= expected else _rest(stream, data)


def _rest(stream: BinaryIO, data: bytes) -> bytes:
    """What a pipe holds, after its first bytes, up to its end; one that has none ends at the
    limit.
    """
    pieces, length = [data], len(data)
    while piece := stream.read(_PIECE_SIZE):
        pieces.append(piece)
        length += len(piece)
        if length > SIZE_LIMIT:
            raise _TooLarge
    return b"".join(pieces)


def _require_regular(mode: int) -> None:
    if not stat.S_ISREG(mode):
        kinds = (
            (stat.S_ISDIR, "a folder"),
            (stat.S_ISFIFO, "a named pipe"),
            (stat.S_ISSOCK, "a socket"),
        )
        kind = next((word for matches, word in kinds if matches(mode)), "a device")
        raise OSError(f"it is {kind}, not a file")


def _near(path: str) -> str:
    """Help with a name that no file has: it may be misspelt, and then stands for one of the same
    kind.
    """
    otherwise = "check the spelling and the folder"
    folder, file = os.path.split(path)
    # A page of answers stands for a file of them, too.
    kinds = (_LIST_SUFFIXES, array_suffixes(), (*_PAGE_SUFFIXES, *_LIST_SUFFIXES))
    suffixes = next(
        (kind for kind in kinds if os.path.splitext(file)[1].lower() in kind), _LIST_SUFFIXES
    )
    try:
        with os.scandir(folder or os.curdir) as entries:
            names = [
                each.name
                for each in entries
                if each.name.lower().endswith(suffixes) and not each.is_dir()
            ]
        suffix = os.path.splitext(file)[1].lower()
        # Of files with one stem, the one with this suffix is the last, and is taken.
        names.sort(key=lambda name: (name.lower().endswith(suffix), name))
        # Equal suffixes make no two names near.
        stems = {os.path.splitext(name)[0]: name for name in names}
        near = nearest(os.path.splitext(file)[0], list(stems))
        return f"did you mean {stems[near]}?" if near else otherwise
    except OSError:
        return otherwise
