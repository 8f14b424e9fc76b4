"""Standard output, and whether a terminal shows it."""

from __future__ import annotations

import sys
from typing import TextIO

from attncli.errors import usage_error


def require_no_terminal(output: str | None, format: str, example: str) -> None:
    """Raises AttncliError (exit 2) where a terminal would show what is no text."""
    if is_on_terminal(output):
        raise usage_error(
            f"a terminal cannot show .{format} files",
            help=f"write it to a file: -o {example}.{format}",
        )


def is_on_terminal(path: str | None) -> bool:
    """Whether what is written to the path is shown by a terminal."""
    return terminal_width(standard_output(path)) is not None


def standard_output(path: str | None) -> TextIO | None:
    """Standard output, where a path stands for it; None for a file."""
    return sys.stdout if path in (None, "-") else None


def terminal_width(stream: TextIO | None) -> int | None:
    """The columns of the terminal the stream is, or None for a pipe or a file, which have no
    width.
    """
    if stream is None or not stream.isatty():
        return None
    # It heeds COLUMNS, and few lines need it.
    from shutil import get_terminal_size

    return get_terminal_size().columns
