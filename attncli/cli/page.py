"""Renders a page and puts it where the options say: the last step of every command that shows one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from attncli.cli import output, terminal
from attncli.render import Style, pieces

if TYPE_CHECKING:
    from attncli.page.document import Document


def write_page(
    document: Document,
    format: str,
    path: str | None,
    *,
    color: str = "auto",
    math: str = "fences",
    fragment: bool = False,
) -> None:
    """Write the page in the format to the path, or to standard output where that is None or "-"."""
    stream = terminal.standard(path)
    style = Style(
        width=terminal.width(stream),
        color=terminal.wants_color(color, stream),
        math=cast("Literal['fences', 'dollars']", math),
        fragment=fragment,
        encoding=(stream and stream.encoding) or "utf-8",
    )
    output.write(pieces(document, format, style), path, portable=format != "table")
