"""Of which head and entry a part of a page is, by its heading: Entry 0, head 1."""

from __future__ import annotations

import re

from attncli.problem.axes import BATCH, HEAD, KEY_HEAD

_PLACE = re.compile(r"(?:entry ([0-9]{1,9})(?:, head ([0-9]{1,9}))?|head ([0-9]{1,9}))", re.IGNORECASE)
_OF_GRADIENTS = re.compile(r"(KV head|Head) ([0-9]{1,9})(?:, entry ([0-9]{1,9}))?", re.IGNORECASE)
_TOGETHER = re.compile(r"(?:All heads together|Before the heads)(?:, entry ([0-9]{1,9}))?", re.IGNORECASE)
_SHARED = re.compile(r"What all (?:heads|entries) share|All entries together", re.IGNORECASE)


def place_of(heading: str, *, title: bool = False) -> dict[str, int] | None:
    """The place that a heading says, {"h": 1}, none at all for what is shared; None for any other heading.

    The title of a page ends in it, where the page is of one head: I love AI: head 1.
    """
    if _SHARED.fullmatch(heading):
        return {}
    if found := _TOGETHER.fullmatch(heading):
        return {BATCH: int(found[1])} if found[1] else {}
    said = heading.rpartition(": ")[2] if title else heading
    if found := _OF_GRADIENTS.fullmatch(said):
        kind, head, entry = found.groups()
        letter = HEAD if kind.lower() == "head" else KEY_HEAD
    elif found := _PLACE.fullmatch(said):
        letter, entry, head = HEAD, found[1], found[2] or found[3]
    else:
        return None
    return {axis: int(number) for axis, number in ((BATCH, entry), (letter, head)) if number}
