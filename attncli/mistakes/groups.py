"""Kinds of mistakes, in the words of a student: what was forgotten, swapped, or taken wrongly.

A kind follows from the id of a mistake, which never changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


class Group(NamedTuple):
    """A kind of mistakes, in words, and how the ids of its mistakes are told."""

    title: str
    ids: re.Pattern[str]


# The first kind that fits is the one. They stand in the order in which pages show them.
GROUPS = tuple(
    Group(title, re.compile(ids))
    for title, ids in (
        ("Forgot something", r"left-out|forgotten|not-(divided|transposed)|window-ignored"),
        ("Swapped matrices", r"^(?!rope|sines|mask|sq).*(swap|exchange|transpose|reshape|-for-)"),
        ("Did too much", r"unasked|added-to-output|twice|plus-1|values-too|no-key"),
        ("Rounded too early", r"rounded-to"),
        ("Wrong positions", r"^(rope|alibi|sines|cache)-"),
        ("Wrong scale", r"scale|softcap"),
        ("Wrong softmax", r"^(softmax|base|shift)-|exponentials"),
        ("Wrong mask", r"mask|padding|causal|window|^(minus|hidden)-"),
        ("Wrong heads", r"heads|^fused-"),
    )
)
OTHERS = "Other mistakes"


def group_of(id: str) -> str:
    """The kind of the mistake with this id.

    >>> group_of("scale-left-out"), group_of("k-v-exchanged"), group_of("base-10")
    ('Forgot something', 'Swapped matrices', 'Wrong softmax')
    """
    for group in GROUPS:
        if group.ids.search(id):
            return group.title
    return OTHERS


def grouped(ids: Iterable[str]) -> dict[str, list[int]]:
    """The places of these mistakes by their kinds, in the order of the kinds."""
    found: dict[str, list[int]] = {}
    for group in GROUPS:
        found[group.title] = []
    found[OTHERS] = []
    for place, id in enumerate(ids):
        title = group_of(id)
        found[title].append(place)
    return {title: places for title, places in found.items() if places}
