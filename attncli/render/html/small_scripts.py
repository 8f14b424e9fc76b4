"""The scripts of pages that work nothing out: one sorts tables, the other saves what was typed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from attncli.page.document import Document
from attncli.render.html.script_text import digest_of, script_of

SORTING_FILE = "sorting/sorting"
SAVING_FILES = ("saving/answer_number", "saving/saving")


class SmallScript(NamedTuple):
    """A script, the style sheets that its page needs, and the JSON that it reads, if any."""

    text: str
    sheets: tuple[str, ...] = ()
    data: str = ""

    @property
    def digest(self) -> str:
        """The script's own hash, which is the only script that the page lets run."""
        return digest_of(self.text)

    def elements(self) -> Iterator[str]:
        """What stands at the end of the page."""
        if self.data:
            # No label in the data ends a script or begins an element.
            safe = self.data.replace("<", r"\u003c")
            yield f'<script type="application/json" id="attncli-answers">{safe}</script>\n'
        yield f"<script>{self.text}</script>\n"


def small_script(document: Document) -> SmallScript | None:
    """The script that a page needs, if any."""
    if document.to_fill_in is not None and document.copies == 1:
        fields = document.to_fill_in._asdict()
        data = json.dumps(fields, ensure_ascii=False)
        return SmallScript(_text(*SAVING_FILES), ("saving.css",), data)
    if document.sorts:
        return SmallScript(_text(SORTING_FILE))
    return None


@cache
def _text(*files: str) -> str:
    """The whole script, in a block of its own."""
    return f'"use strict";{{{script_of(files)}\n}}'
