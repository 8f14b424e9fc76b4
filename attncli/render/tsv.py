"""The numbers of one step with their labels, separated by tabs."""

from __future__ import annotations

from collections.abc import Iterator

from attncli.page.document import Document
from attncli.render import Style
from attncli.render.csv_lines import lines


def stream(document: Document, style: Style) -> Iterator[str]:
    """A line of names, then a line for each row."""
    return lines(document.rows(), "\t")
