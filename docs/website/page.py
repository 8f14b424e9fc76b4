"""A page of the documentation: Markdown becomes HTML, and a text for the search."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

from website.contents import Entry
from website.renderer import Links, Renderer

MOST_IN_A_DESCRIPTION = 160


@dataclass
class Section:
    """What stands below a heading, up to the next one."""

    title: str
    level: int
    anchor: str
    words: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Page:
    entry: Entry
    html: str
    # The first one is the whole page's.
    sections: list[Section]

    @property
    def title(self) -> str:
        return self.sections[0].title

    @property
    def description(self) -> str:
        """The first sentences, for those who look for the page from outside."""
        text = " ".join(self.sections[0].words)
        return text[:MOST_IN_A_DESCRIPTION].rpartition(" ")[0]


def page_of(entry: Entry, links: Links) -> Page:
    """The page of a file in Markdown."""
    markdown = MarkdownIt("commonmark", renderer_cls=Renderer).enable("table")
    tokens = markdown.parse(entry.file.read_text(encoding="utf-8"))
    sections = _sections(tokens)
    html = markdown.renderer.render(tokens, markdown.options, {"file": entry.file, "links": links})
    return Page(entry, html, sections)


def _sections(tokens: Sequence[Token]) -> list[Section]:
    """The sections of a page; each heading gets its anchor."""
    found: list[Section] = []
    seen: dict[str, int] = {}
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            title = _plain(tokens[at + 1])
            anchor = anchor_of(title)
            seen[anchor] = seen.get(anchor, -1) + 1
            if seen[anchor]:
                anchor += f"-{seen[anchor]}"
            token.attrSet("id", anchor)
            found.append(Section(title, int(token.tag[1]), anchor))
        elif token.type == "inline" and tokens[at - 1].type != "heading_open":
            found[-1].words.append(_plain(token))
        elif token.type == "fence":
            found[-1].words.append(token.content)
    return found


def anchor_of(title: str) -> str:
    """The anchor that GitHub gives a heading.

    >>> anchor_of("Masks: --as")
    'masks---as'
    """
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _plain(inline: Token) -> str:
    """The text of a paragraph or of a heading, without its marks."""
    words = []
    for token in inline.children or []:
        words.append(" " if token.type == "softbreak" else token.content)
    return "".join(words)
