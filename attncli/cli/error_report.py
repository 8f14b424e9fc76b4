"""How an error looks on the terminal: where, what is wrong, the line with a caret under it, what to
do.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from typing import TextIO
from unicodedata import combining, east_asian_width

from attncli.cli.progress import progress
from attncli.english import shorten
from attncli.errors import MOST_ERRORS_COUNTED, AttncliError, Place
from attncli.escaping import IN_ASCII, visible

# What was typed may be as long as the system lets it. No more characters of a line are printed.
MOST_CHARACTERS_OF_A_LINE = 2000
# So many cells of a source line are shown: with its indent it fits a narrow terminal.
CELLS_OF_SOURCE_SHOWN = 76


def report_error(error: AttncliError, stream: TextIO) -> None:
    """Write the error and all errors found with it, each in full, and then how many there are."""
    errors = (error, *error.more)
    parts = [describe(each, stream.encoding or "ascii") for each in errors]
    if len(errors) > 1:
        parts.append(f"attncli: {_how_many(len(errors), error.untold)}")
    _write("\n".join(parts), stream)


def _how_many(listed: int, untold: int) -> str:
    if not untold:
        return f"{listed} errors"
    found = listed + untold
    many = "errors or more" if found >= MOST_ERRORS_COUNTED else "errors"
    return f"the first {listed} of {found:,} {many}"


def report_fault(error: Exception, stream: TextIO, *, traceback: bool) -> None:
    """Write that attncli itself went wrong, after the traceback where that is asked for."""
    if traceback:
        from traceback import format_exception

        _write("".join(format_exception(error)).rstrip(), stream)
    what = f"{type(error).__name__}: {error}".rstrip(": ")
    _write(f"attncli: fault: {_printable(what, stream.encoding or 'ascii')}\n{_PLEASE}", stream)


_PLEASE = (
    "help: this is an error in attncli, not in your input; please report it with your command "
    "and with what the same command prints after ATTNCLI_TRACEBACK=1"
)


def warn_of(messages: Iterable[str], *, quiet: bool) -> None:
    """Write warnings to standard error, each on one line; with `quiet`, none."""
    if not quiet:
        for message in messages:
            warn(message, sys.stderr)


def warn(message: str, stream: TextIO) -> None:
    """Write one warning, on one line."""
    _write(f"attncli: warning: {_printable(message, stream.encoding or 'ascii')}", stream)


def describe(error: AttncliError, encoding: str = "utf-8") -> str:
    """The error in the contract's shape, made only of characters that `encoding` has and a terminal
    shows.
    """
    where = f"{error.place.file}:{error.place.line}:{error.place.column}: " if error.place else ""
    lines = [f"attncli: error: {_printable(f'{where}{error}', encoding)}"]
    if error.place and error.place.source.strip():
        lines += [f"  {line}" for line in excerpt(error.place, encoding)]
    if error.help:
        lines.append(f"help: {_printable(error.help, encoding)}")
    return "\n".join(lines)


def _write(text: str, stream: TextIO) -> None:
    """Write lines to standard error; if that is impossible, the exit code has to speak alone."""
    progress.end()
    with contextlib.suppress(OSError, ValueError):
        stream.write(text + "\n")
        stream.flush()


def _printable(text: str, encoding: str) -> str:
    """The text with stand-ins or escapes for what a terminal would not show or the encoding does
    not have.
    """
    shown = visible(shorten(text, MOST_CHARACTERS_OF_A_LINE))
    try:
        shown.encode(encoding)
    except UnicodeEncodeError:
        return shown.translate(IN_ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return shown


def _cells(text: str) -> int:
    """How many cells of a terminal the text takes."""
    return sum(
        0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1
        for character in text
    )


def excerpt(place: Place, encoding: str = "utf-8") -> list[str]:
    """The source line, or the window of it around the column, and a caret beneath the place."""
    line = place.source.rstrip().replace("\t", " ")
    at = min(max(place.column - 1, 0), len(line))
    # A line may be megabytes long, so only what is near the place is looked at.
    start = max(0, at - CELLS_OF_SOURCE_SHOWN - 1)
    near = line[start : at + CELLS_OF_SOURCE_SHOWN + 1]
    shown = [_printable(character, encoding) for character in near]
    widths = [_cells(piece) for piece in shown]
    caret = at - start
    first, last = _window(widths, caret)
    before = "".join(shown[first:caret])
    after = "".join(shown[caret:last])
    mark = "…" if _printable("…", encoding) == "…" else "..."
    if start + first > 0:
        before = mark + before
    if start + last < len(line):
        after += mark
    indent = " " * _cells(before)
    return [f"{before}{after}", f"{indent}^"]


def _window(widths: list[int], at: int) -> tuple[int, int]:
    """The widest stretch around position `at` that fits, half of it before `at` where there is
    enough.
    """
    if sum(widths) <= CELLS_OF_SOURCE_SHOWN:
        return 0, len(widths)
    room = CELLS_OF_SOURCE_SHOWN - 2 * len("...")
    first = last = at
    used = 0
    # It grows before `at`, after it, and once more before it by what is left.
    for limit in (room // 2, room):
        while first > 0 and used + widths[first - 1] <= limit:
            first -= 1
            used += widths[first]
        while limit == room // 2 and last < len(widths) and used + widths[last] <= room:
            used += widths[last]
            last += 1
    return first, last
