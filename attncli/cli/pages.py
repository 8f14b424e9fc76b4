"""Renders a page for where it goes: a terminal, a pipe, or a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO, cast

from attncli.cli import terminal
from attncli.cli.files import is_file, write, write_bytes, write_files
from attncli.render import OF_LATEX, SECTION, Style, pieces, render
from attncli.system import heeds_escapes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attncli.cli.look import Look
    from attncli.page.document import Document
    from attncli.page.view import View
    from attncli.problem.model import Problem
    from attncli.tracing.model import Trace

BYTES_OF_A_PIECE = 2**20


def require_workbook(look: Look, example: str = "problem") -> None:
    """Refuse a workbook where nothing can write or show it; `example` is a name for its file.

    Raises AttncliError (exit 2 or 5).
    """
    if not look.is_workbook():
        return
    from attncli.render.xlsx import require_writer

    require_writer()
    terminal.require_no_terminal(look.output, look.format, example)


def is_for_screen(look: Look) -> bool:
    """Whether a person reads the page on a screen, a terminal's or a browser's.

    `ViewOptions.view` asks it, since such a page has only the ends of what is long.
    """
    return look.format == "html" or (
        look.format == "table" and terminal.is_on_terminal(look.output)
    )


def with_changeable_numbers(
    page: Document, look: Look, problem: Problem, trace: Trace, view: View
) -> Document:
    """The page with what its look works out anew when a number changes: a live page, a workbook.

    Any other page only keeps its problem.
    """
    if look.format != "table":
        from attncli.page.kept_problem import with_problem

        page = with_problem(page, problem, view)
    if look.is_live():
        from attncli.page.live.live_or_static import with_live

        return with_live(page, problem, trace, view)
    if look.is_workbook():
        from attncli.page.workbook import with_workbook

        return with_workbook(page, trace, view)
    return page


def write_page(document: Document, look: Look, *, pictures: bool = False) -> None:
    """Write the page where its look says: to a file, or to standard output.

    Of a fragment, a path with {n} in it stands for a file for each section. As "npy" it is the
    array of the one step that it shows, in the number format that this was worked out in, as "xlsx"
    its workbook, and as "pdf" what TeX makes of it. The `pictures` of a page of Markdown in a file
    are files beside it.
    """
    path, option = look.output, look.option
    if look.format == "npy" and document.array:
        write_bytes(_npy(document.array()), path, option=option)
        return
    if look.is_workbook():
        from attncli.render.xlsx import xlsx

        write_bytes([xlsx(document)], path, option=option)
        return
    style = _style(look)
    if look.format in OF_LATEX:
        from attncli.render.pdf import engine

        text = render(document, "latex", style)
        write_bytes([engine()(text)], path, option=option)
        return
    if look.fragment and path and SECTION in path:
        from attncli.render.sections import sections

        named = sections(document, look.format, style)
        files = ((path.replace(SECTION, name), text) for name, text in named)
        write_files(files, option=option)
        return
    if pictures and look.format == "markdown" and path and is_file(path):
        write_files(_page_and_pictures(document, Path(path), style), option=option)
        return
    is_for_programs = look.format != "table"
    write(pieces(document, look.format, style), path, portable=is_for_programs, option=option)


def _style(look: Look) -> Style:
    """The style of a page for where it goes.

    Standard output gets a table in ASCII also where the locale is C, even if Python writes UTF-8
    there.
    """
    stream = terminal.standard_output(look.output)
    is_ascii_alone = stream is not None and os.environ.get("LC_ALL") in ("C", "POSIX")
    return Style(
        width=terminal.terminal_width(stream),
        color=wants_color(look.color, stream),
        math=cast("Literal['fences', 'dollars']", look.math or "fences"),
        fragment=look.fragment,
        title=not look.no_title,
        heading_level=look.heading_level,
        ascii=look.ascii or is_ascii_alone,
        encoding=(stream and stream.encoding) or "utf-8",
    )


def _page_and_pictures(
    document: Document, path: Path, style: Style
) -> Iterator[tuple[str, Iterable[str]]]:
    """The files of a page of Markdown: its own, and one for each picture beside it."""
    # Few pages have pictures.
    from attncli.render.markdown import picture_files

    style = style._replace(pictures=path.stem)
    yield str(path), pieces(document, "markdown", style)
    for name, text in picture_files(document, style):
        yield str(path.with_name(name)), [text]


def _npy(array: NDArray[Any]) -> Iterator[bytes | memoryview]:
    from io import BytesIO

    import numpy as np

    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    yield header.getvalue()
    data = np.ascontiguousarray(array).data.cast("B")
    yield from (data[at : at + BYTES_OF_A_PIECE] for at in range(0, len(data), BYTES_OF_A_PIECE))


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
