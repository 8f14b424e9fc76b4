"""The pages of a class in one document of LaTeX, each on new paper and with page numbers of its
own.
"""

from __future__ import annotations

from collections.abc import Iterator

from attncli.page.document import Document
from attncli.render import Style
from attncli.render.latex import DOCUMENT_ENDS, NEW_PAGE, NEW_PAPER, Needs, body, needs_of, preamble
from attncli.render.latex.escape import escape, lacks_letters

# Whose page it is stands on every one of its sheets, since sheets of paper come apart.
_FOOT = (
    "\\makeatletter\\def\\@oddfoot{\\hfil WHOSE\\quad page \\thepage\\hfil}"
    "\\let\\@evenfoot\\@oddfoot\\makeatother\n\n"
)
ENDS = DOCUMENT_ENDS


class Bundle:
    """What pages of LaTeX need between them, and before them all."""

    def __init__(self, title: str, *, on_new_paper: bool) -> None:
        """A bundle without a page. A document of LaTeX shows no title of the whole."""
        self._needs: Needs | None = None
        self._between = NEW_PAPER if on_new_paper else NEW_PAGE

    def page(self, number: str, name: str, document: Document) -> Iterator[str]:
        """The next page, piece by piece; a name that TeX has no letters for is only a number."""
        needs = needs_of(document)
        if self._needs is not None:
            yield self._between
            needs = needs.and_of(self._needs)
        self._needs = needs
        whose = number
        if not lacks_letters(name):
            whose = f"{number} {name}".strip()
        yield _FOOT.replace("WHOSE", escape(whose))
        yield from body(document, Style())

    @property
    def begins(self) -> str:
        """What stands before all pages, once they are known."""
        return preamble(self._needs or Needs(frozenset(), has_room=False))
