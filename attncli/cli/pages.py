"""Renders a page for where it goes: a terminal, a pipe, or a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO, cast

from attncli.cli.files import is_file, write, write_bytes, write_files
from attncli.errors import usage_error
from attncli.render import SECTION, WORKBOOK, Style, pieces
from attncli.system import heeds_escapes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attncli.page.document import Document

_PIECE = 2**20  # bytes


def require_workbook(format: str, path: str | None, example: str = "problem") -> None:
    """Refuse a workbook where nothing can write or show it; `example` is a name for its file.

    Raises AttncliError (exit 2 or 5).
    """
    if format not in WORKBOOK:
        return
    from attncli.render.xlsx import require_writer

    require_writer()
    if terminal_width(standard_output(path)) is not None:
        raise usage_error(
            f"a terminal cannot show an .{format} file",
            help=f"write it to a file: -o {example}.{format}",
        )


def is_for_screen(format: str, path: str | None) -> bool:
    """Whether a person reads the page on a screen, a terminal's or a browser's: of what is long it
    has the ends.
    """
    return format == "html" or (
        format == "table" and terminal_width(standard_output(path)) is not None
    )


def write_page(
    document: Document,
    format: str,
    path: str | None,
    *,
    color: str = "auto",
    math: str | None = None,
    fragment: bool = False,
    title: bool = True,
    ascii: bool = False,
    pictures: bool = False,
    option: str = "-o",
) -> None:
    """Write the page in this format to the path, or to standard output where that is None or "-".

    Of a fragment, a path with {n} in it stands for a file for each section. Standard output gets a
    table in ASCII, too, where the locale is C, even if Python writes UTF-8 there. The `pictures` of
    a page of Markdown in a file are files beside it.

    As "npy" it is the array of the one step that it shows, in the number format that this was
    worked out in; as "xlsx" its workbook. `option` is what the path was given to.
    """
    if format == "npy" and document.array:
        write_bytes(_npy(document.array()), path, option=option)
        return
    if format in WORKBOOK:
        from attncli.render.xlsx import xlsx

        write_bytes([xlsx(document)], path, option=option)
        return
    stream = standard_output(path)
    style = Style(
        width=terminal_width(stream),
        color=wants_color(color, stream),
        math=cast("Literal['fences', 'dollars']", math or "fences"),
        fragment=fragment,
        title=title,
        ascii=ascii or (stream is not None and os.environ.get("LC_ALL") in ("C", "POSIX")),
        encoding=(stream and stream.encoding) or "utf-8",
    )
    if fragment and path and SECTION in path:
        from attncli.render.sections import sections

        files = (
            (path.replace(SECTION, name), text) for name, text in sections(document, format, style)
        )
        write_files(files, option=option)
        return
    if pictures and format == "markdown" and path and is_file(path):
        from attncli.render.markdown import picture_files  # which few pages have

        style = style._replace(pictures=Path(path).stem)
        beside = (
            (str(Path(path).with_name(name)), [text])
            for name, text in picture_files(document, style)
        )
        write_files(chain([(path, pieces(document, format, style))], beside), option=option)
        return
    write(pieces(document, format, style), path, portable=format != "table", option=option)


def _npy(array: NDArray[Any]) -> Iterator[bytes | memoryview]:
    from io import BytesIO

    import numpy as np

    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    yield header.getvalue()
    data = np.ascontiguousarray(array).data.cast("B")
    yield from (data[at : at + _PIECE] for at in range(0, len(data), _PIECE))


def wants_color(choice: str, stream: TextIO | None) -> bool:
    """Whether to colour what goes to the stream; None stands for a file.

    `choice` is "always", "never" or "auto". The last asks the environment first: NO_COLOR
    (no-color.org) goes before FORCE_COLOR, and both before what the stream is.
    """
    # Asked always, since the console of Windows has to be told.
    on_screen = stream is not None and stream.isatty() and heeds_escapes(stream)
    if choice != "auto":
        return choice == "always"
    if stream is None or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return os.environ["FORCE_COLOR"] != "0"
    return on_screen


def standard_output(path: str | None) -> TextIO | None:
    """Standard output, where a path stands for it; None for a file."""
    return sys.stdout if path in (None, "-") else None


def terminal_width(stream: TextIO | None) -> int | None:
    """The columns of the terminal the stream is, or None for a pipe or a file, which have no
    width.
    """
    if stream is None or not stream.isatty():
        return None
    from shutil import get_terminal_size  # heeds COLUMNS

    return get_terminal_size().columns
