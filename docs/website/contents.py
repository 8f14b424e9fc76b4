"""Which pages there are, in which order: as `docs/README.md` lists them in groups."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from website.places import DOCS, ROOT, address_of

DECISIONS = DOCS / "decisions" / "README.md"
_GROUP = re.compile(r"^## (?P<group>.+)$")
_ENTRY = re.compile(r"^(?:-|\d+\.) \[(?P<label>.+?)\]\((?P<page>[\w/.-]+\.md)\)")


@dataclass(frozen=True)
class Entry:
    """A page in the list of all pages: its file, and what it is called there."""

    file: Path
    label: str
    group: str

    @property
    def address(self) -> str:
        return address_of(self.file)


@cache
def entries() -> tuple[Entry, ...]:
    """All pages in the order in which one is read after the other."""
    found = [Entry(ROOT / "README.md", "Overview", "")]
    found.append(Entry(DOCS / "README.md", "All pages", ""))
    for entry in _listed(DOCS / "README.md", ""):
        found.append(entry)
        if entry.file == DECISIONS:
            found += _listed(DECISIONS, "Decisions")
    return tuple(found)


@cache
def groups() -> dict[str, list[Entry]]:
    """The pages of each group."""
    found: dict[str, list[Entry]] = {}
    for entry in entries():
        found.setdefault(entry.group, []).append(entry)
    return found


def _listed(index: Path, group: str) -> list[Entry]:
    """The pages that a page lists."""
    found = []
    for line in index.read_text(encoding="utf-8").splitlines():
        if heading := _GROUP.match(line):
            group = heading["group"]
        if entry := _ENTRY.match(line):
            file = (index.parent / entry["page"]).resolve()
            found.append(Entry(file, entry["label"].replace("`", ""), group))
    return found
