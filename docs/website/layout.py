"""What all pages of the site have around their text: the head, the bar, the list of pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from website.contents import Entry, entries, groups
from website.page import Page
from website.places import BLANK, FRONT, GALLERY, link

NAME = "attncli"
# Nothing is asked of a network: style, scripts and pictures are files of the site.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " base-uri 'none'; form-action 'none'"
)
SCRIPTS = ("search.js", "find_box.js", "reading.js")
DEEPEST_IN_LIST = 2


@dataclass(frozen=True)
class Shell:
    """The frame of one page."""

    address: str
    title: str
    description: str = ""
    # Of the page in the list of all pages.
    current: Page | None = None

    def around(self, main: str) -> str:
        """The whole page."""
        return "".join(self._parts(main))

    def _parts(self, main: str) -> Iterator[str]:
        title = NAME
        if self.title != NAME:
            title = f"{self.title} · {NAME}"
        yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"/>\n'
        yield '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        yield '<meta name="color-scheme" content="light dark"/>\n'
        yield f"<title>{escape(title)}</title>\n"
        if self.description:
            yield f'<meta name="description" content="{escape(self.description)}"/>\n'
        yield '<link rel="icon" href="data:,"/>\n'
        yield f'<link rel="stylesheet" href="{self._to("site.css")}"/>\n'
        for script in SCRIPTS:
            yield f'<script src="{self._to(script)}" defer></script>\n'
        yield f'</head>\n<body data-root="{self._to(FRONT).removesuffix(FRONT)}">\n'
        yield '<a class="skip" href="#text">To the text</a>\n'
        yield self._bar()
        yield '<div class="attncli">\n'
        yield self._list_of_pages()
        yield f'<main id="text">\n{main}{self._neighbours()}</main>\n</div>\n</body>\n</html>\n'

    def _to(self, address: str) -> str:
        return link(address, self.address)

    def _bar(self) -> str:
        return (
            f'<header class="bar"><a class="name" href="{self._to(FRONT)}">{NAME}</a>\n'
            '<button type="button" class="menu" popovertarget="pages">Pages</button>\n'
            '<search class="find" hidden><label class="unseen" for="find">Search</label>\n'
            '<input id="find" type="search" placeholder="Search" autocomplete="off"'
            ' spellcheck="false" aria-describedby="find-help"/>\n'
            '<span class="unseen" id="find-help">Arrow keys lead to what is found.</span>\n'
            '<div class="found" hidden></div><p class="unseen" role="status"></p>'
            "</search></header>\n"
        )

    def _list_of_pages(self) -> str:
        return (
            f'<nav id="pages" popover aria-label="All pages">\n<ul>{self._first()}</ul>\n'
            f"{''.join(map(self._group, groups()))}</nav>\n"
        )

    def _first(self) -> str:
        """What is no page of a group."""
        items = [self._item(entry) for entry in groups()[""]]
        items.insert(1, self._plain_item(BLANK, "Begin with nothing"))
        items.append(self._plain_item(GALLERY, "All examples"))
        return "".join(items)

    def _group(self, group: str) -> str:
        if not group:
            return ""
        here = self.current.entry.group if self.current else ""
        if group == "Decisions" and here != group:
            return ""
        items = "".join(map(self._item, groups()[group]))
        is_open = " open" if group in (here, "Learn") or not here else ""
        return f"<details{is_open}><summary>{group}</summary>\n<ul>{items}</ul></details>\n"

    def _item(self, entry: Entry) -> str:
        return self._plain_item(entry.address, entry.label)

    def _plain_item(self, address: str, label: str) -> str:
        if address != self.address:
            return f'<li><a href="{self._to(address)}">{escape(label)}</a></li>\n'
        current = f'<a href="#text" aria-current="page">{escape(label)}</a>'
        return f"<li>{current}{self._headings()}</li>\n"

    def _headings(self) -> str:
        """The sections of this page, below its name in the list."""
        if not self.current:
            return ""
        items = []
        for section in self.current.sections:
            if section.level == DEEPEST_IN_LIST:
                items.append(f'<li><a href="#{section.anchor}">{escape(section.title)}</a></li>\n')
        return f"<ul>{''.join(items)}</ul>" if items else ""

    def _neighbours(self) -> str:
        """Links to the page before and the page after this one."""
        if not self.current:
            return ""
        order = list(entries())
        at = order.index(self.current.entry)
        shown = ""
        if at:
            shown += self._neighbour("prev", "Before", order[at - 1])
        if at + 1 < len(order):
            shown += self._neighbour("next", "Next", order[at + 1])
        return f'<nav class="neighbours" aria-label="Pages before and after">{shown}</nav>\n'

    def _neighbour(self, rel: str, said: str, entry: Entry) -> str:
        return (
            f'<a rel="{rel}" href="{self._to(entry.address)}"><span>{said}</span>'
            f" {escape(entry.label)}</a>"
        )
