"""The index of the search: every section of every page, as a script, as pages on a disk may read no
other file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from website.examples import Example
from website.page import Page
from website.places import DOCS, example_address

# Frames, brackets and bars of printed pages are no words.
_DRAWN = re.compile(r"[─-▟⎡-⎦│]+")
_GAPS = re.compile(r"\s+")


def index_of(pages: Iterable[Page], examples: Iterable[Example]) -> str:
    """`SEARCH_INDEX`, a list of pages: address, title, group, and sections, each with its anchor,
    its heading and its text.
    """
    # The list of all pages says what the pages say.
    read = [page for page in pages if page.entry.file != DOCS / "README.md"]
    listed = [*map(_of_page, read), *map(_of_example, examples)]
    data = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
    return f"var SEARCH_INDEX = {data};\n"


def _of_page(page: Page) -> list[object]:
    sections = []
    for section in page.sections:
        sections.append([section.anchor, section.title, _words(" ".join(section.words))])
    return [page.entry.address, page.title, page.entry.group, sections]


def _of_example(example: Example) -> list[object]:
    """A live page is found by its title and by what its problem says."""
    text = _words(example.problem.read_text(encoding="utf-8"))
    title = f"Example: {example.title}"
    return [example_address(example.problem), title, "Examples", [["", title, text]]]


def _words(text: str) -> str:
    return _GAPS.sub(" ", _DRAWN.sub(" ", text)).strip()
