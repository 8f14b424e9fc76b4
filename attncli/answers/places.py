"""Of which head and entry a part of a page is, by its heading: Entry 0, head 1."""

from __future__ import annotations

import re

from attncli.problem.axes import BATCH, HEAD

_PLACE = re.compile(r"(?:entry ([0-9]{1,9})(?:, head ([0-9]{1,9}))?|head ([0-9]{1,9}))", re.IGNORECASE)
_TOGETHER = re.compile(r"All heads together(?:, entry ([0-9]{1,9}))?", re.IGNORECASE)
_SHARED = re.compile(r"What all (?:heads|entries) share", re.IGNORECASE)


def place_of(heading: str, *, title: bool = False) -> dict[str, int] | None:
    """The place that a heading says, {"h": 1}, none at all for what is shared; None for any other heading.

    The title of a page ends in it, where the page is of one head: I love AI: head 1.
    """
    if _SHARED.fullmatch(heading):
        return {}
    if found := _TOGETHER.fullmatch(heading):
        return {BATCH: int(found[1])} if found[1] else {}
    found = _PLACE.fullmatch(heading.rpartition(": ")[2] if title else heading)
    if not found:
        return None
    entry, head = found[1], found[2] or found[3]
    return {letter: int(number) for letter, number in ((BATCH, entry), (HEAD, head)) if number}
