"""Turn a page into text: one module per format, named in a table below and imported only when it is
asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from os.path import splitext
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from attncli.page.document import Document


# The levels of headings that Markdown and HTML have.
LOWEST_HEADING = 6
# In the name of a file, it stands for the section of the page that is written there.
SECTION = "{n}"


class Format(NamedTuple):
    """A format: the module whose `stream(document, style)` writes it, piece by piece, and the file
    names it goes by.

    `options` are those options for how a page looks that not every format has, and this one has.
    `is_data` says that it holds numbers for programs, and no page for people.
    """

    module: str
    suffixes: tuple[str, ...]
    options: tuple[
        Literal[
            "--heatmap",
            "--math",
            "--fragment",
            "--no-title",
            "--heading-level",
            "--ascii",
            "--query",
            "--static",
            "--pictures",
        ],
        ...,
    ] = ()
    is_data: bool = False


# What a page of someone's own needs, which this one is put into.
_OF_A_LARGER_PAGE: tuple[Literal["--fragment", "--no-title", "--heading-level"], ...] = (
    "--fragment",
    "--no-title",
    "--heading-level",
)
FORMATS: dict[str, Format] = {
    "table": Format("attncli.render.table", (".txt",), ("--heatmap", "--ascii", "--query")),
    "markdown": Format(
        "attncli.render.markdown",
        (".md", ".markdown"),
        ("--heatmap", "--pictures", "--math", "--query", *_OF_A_LARGER_PAGE),
    ),
    "latex": Format(
        "attncli.render.latex",
        (".tex", ".latex"),
        ("--heatmap", "--pictures", *_OF_A_LARGER_PAGE),
    ),
    "html": Format(
        "attncli.render.html",
        (".html", ".htm"),
        ("--heatmap", "--pictures", *_OF_A_LARGER_PAGE, "--query", "--static"),
    ),
    "json": Format("attncli.render.json", (".json",), is_data=True),
}
# It is made of a page of LaTeX, by a program that is no part of attncli. Its module makes bytes.
OF_LATEX: dict[str, Format] = {
    "pdf": Format("attncli.render.pdf", (".pdf",), ("--heatmap", "--pictures", "--no-title")),
}
# What people read.
PAGES = FORMATS | OF_LATEX
# These hold a single table of numbers.
OF_ONE_STEP: dict[str, Format] = {
    "csv": Format("attncli.render.csv", (".csv",), is_data=True),
    "tsv": Format("attncli.render.tsv", (".tsv",), is_data=True),
}
# It holds a whole trace in formulas. Its module makes bytes.
WORKBOOK: dict[str, Format] = {
    "xlsx": Format("attncli.render.xlsx", (".xlsx",), is_data=True),
}

# The formats of a picture alone, and the file names they go by.
PICTURES: dict[str, tuple[str, ...]] = {
    "svg": (".svg",),
    "png": (".png",),
    "markdown": (".md", ".markdown"),
    "latex": (".tex", ".latex"),
}


class Style(NamedTuple):
    """How a page should look, for the formats that have a choice.

    `width` is the terminal's, None where lines may be as long as they like (a pipe or a file).
    `math` says how Markdown marks formulas: fences as GitHub reads them, dollars as pandoc and
    Jupyter do. `fragment` asks for LaTeX or HTML to paste into a document instead of a whole one,
    and `title` for its title. `heading_level` is that of the highest heading, 1 to 6; without it,
    that of a whole page. `ascii` asks for a terminal's page in words, with nothing drawn.
    `encoding` is what the terminal's page will be written in; the other formats are for UTF-8.
    `pictures` is what the names of the picture files beside a page of Markdown begin with; without
    it, the pictures stand in the page itself.
    """

    width: int | None = None
    color: bool = False
    math: Literal["fences", "dollars"] = "fences"
    fragment: bool = False
    title: bool = True
    heading_level: int | None = None
    ascii: bool = False
    encoding: str = "utf-8"
    pictures: str = ""

    def levels(self, usual: int) -> tuple[int, int]:
        """The levels of the title and of the sections; `usual` is that of a title where nothing is
        asked for.

        >>> Style(heading_level=3).levels(1)
        (3, 4)
        >>> Style(heading_level=3, title=False).levels(1)
        (3, 3)
        """
        if self.heading_level is None:
            return usual, usual + 1
        below = self.heading_level + 1 if self.title else self.heading_level
        return self.heading_level, min(below, LOWEST_HEADING)


def render(document: Document, format: str, style: Style | None = None) -> str:
    """The page as text, ending in a newline; `format` is a key of FORMATS or OF_ONE_STEP."""
    return "".join(pieces(document, format, style))


def pieces(document: Document, format: str, style: Style | None = None) -> Iterator[str]:
    """The same text piece by piece, no more of it in memory than a matrix."""
    stream: Iterator[str] = import_module((FORMATS | OF_ONE_STEP)[format].module).stream(
        document, style or Style()
    )
    return stream


def format_of(path: str) -> str | None:
    """The format a file name asks for by its suffix, or None."""
    suffix = splitext(path)[1].lower()
    return next((name for name, format in PAGES.items() if suffix in format.suffixes), None)


def picture_format(path: str) -> str | None:
    """The format of a picture that a file name asks for by its suffix, or None."""
    suffix = splitext(path)[1].lower()
    return next((name for name, suffixes in PICTURES.items() if suffix in suffixes), None)
