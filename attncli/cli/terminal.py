"""What the terminal is like: whether it takes colours, and how wide it is."""

from __future__ import annotations

import os
import sys
from typing import TextIO


def wants_color(choice: str, stream: TextIO | None) -> bool:
    """Whether to colour what goes to the stream; None stands for a file.

    `choice` is "always", "never" or "auto". The last asks the environment first: NO_COLOR (no-color.org)
    goes before FORCE_COLOR, and both before what the stream is.
    """
    if choice != "auto":
        return choice == "always"
    if stream is None or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return os.environ["FORCE_COLOR"] != "0"
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def standard(path: str | None) -> TextIO | None:
    """Standard output, where a path stands for it; None for a file."""
    return sys.stdout if path in (None, "-") else None


def width(stream: TextIO | None) -> int | None:
    """The columns of the terminal the stream is, or None for a pipe or a file, which have no width."""
    if stream is None or not stream.isatty():
        return None
    from shutil import get_terminal_size  # heeds COLUMNS

    return get_terminal_size().columns
