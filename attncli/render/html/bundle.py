"""The pages of a class in one page of HTML, each printed on new paper."""

from __future__ import annotations

from collections.abc import Iterator

from attncli.page.document import Document
from attncli.render.html import POLICY, body, head, stylesheet
from attncli.render.html.text import written

_SHEETS = ("page.css", "block.css", "copies.css", "sheet.css")
ENDS = "</main>\n</div>\n</body>\n</html>\n"


class Bundle:
    """What pages of HTML need before them all: their list."""

    def __init__(self, title: str, *, on_new_paper: bool) -> None:
        """A bundle without a page, and the title of the whole."""
        self._title = title
        self._class = "copy sheet" if on_new_paper else "copy sheet on-next-page"
        self._entries: list[str] = []

    def page(self, number: str, name: str, document: Document) -> Iterator[str]:
        """The next page, piece by piece."""
        whose = f"{number} {name}".strip()
        id = f"page-{len(self._entries) + 1}"
        self._entries.append(f'<li><a href="#{id}">{written(whose)}</a></li>\n')
        yield f'<section class="{self._class}" id="{id}">\n'
        yield f"<h2>{written(document.title or whose)}</h2>\n"
        yield from body(document, 3, named=False)
        yield "</section>\n"

    @property
    def begins(self) -> str:
        """What stands before all pages, once they are known."""
        styles = "".join(map(stylesheet, _SHEETS))
        return (
            f'{head(self._title, POLICY, styles)}<div class="attncli bundle">\n'
            f"<header>\n<h1>{written(self._title)}</h1>\n</header>\n"
            f'<nav aria-label="Contents">\n<ol>\n{"".join(self._entries)}</ol>\n</nav>\n<main>\n'
        )
