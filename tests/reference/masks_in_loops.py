"""Masks from a problem file, cell by cell, as docs/reference/input.md says them; nothing of the
program is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Masks:
    """The masks of a problem with so many queries, keys and cached keys."""

    def __init__(self, mask: Any, queries: int, keys: int, past: int) -> None:
        self._parts = list(_parts(mask))
        self._bottom = "bottom-right" in [*_corners(self._parts)]
        self._queries, self._keys, self._past = queries, keys, past

    @property
    def entries(self) -> int:
        """For how many entries of a batch there is something of their own; 1 where there is not."""
        # axes, where there is one of entries
        own = {"lengths": 1, "first": 1, "padding": 2, "documents": 2, "keep": 4, "hide": 4}
        own["additive"] = 4
        own_entries = [
            len(value) for form, value in _all_parts(self._parts) if axes(value) == own.get(form)
        ]
        return max([1, *own_entries])

    def offset(self, entry: int) -> int:
        """How far the position of a query lies beyond its row."""
        if not self._bottom:
            return self._past
        exist = [
            all(self._exists(form, value, entry, j) for form, value in self._parts)
            for j in range(self._keys)
        ]
        return sum(exist) - self._queries

    def added(self, entry: int, head: int, i: int, j: int) -> list[float] | None:
        """What is added to this score; None where the query does not see the key."""
        return self._added(self._parts, (entry, head, i, j))

    def _added(
        self, parts: list[tuple[str, Any]], at: tuple[int, int, int, int]
    ) -> list[float] | None:
        entry, head, i, j = at
        found, place = [], i + self.offset(entry)
        for form, value in parts:
            match form:
                case "causal":
                    seen = j <= place
                case "window":
                    left, right = value
                    seen = (left < 0 or j >= place - left) and (right < 0 or j <= place + right)
                case "keep":
                    seen = bool(_cell(value, entry, head, i, j))
                case "hide":
                    seen = not _cell(value, entry, head, i, j)
                case "additive":
                    number = float(_cell(value, entry, head, i, j))
                    seen = number != float("-inf")
                    found.append(number)
                case "documents":
                    row = value if axes(value) == 1 else value[entry if len(value) > 1 else 0]
                    seen = 0 <= place < len(row) and row[place] == row[j]
                case "chunk":
                    seen = j // value == place // value
                case "first":
                    seen = self._exists("lengths", value, entry, j)
                case "any":
                    seen = any(self._added([*_parts(mask)], at) is not None for mask in value)
                case "padding" | "lengths":
                    seen = self._exists(form, value, entry, j)
                case "corner":
                    seen = True
                case _:
                    raise NotImplementedError(f'say in {__file__} what a "{form}" hides')
            if not seen:
                return None
        return found

    def _exists(self, form: str, value: Any, entry: int, j: int) -> bool:
        if form == "padding":
            row = value if not isinstance(value[0], list) else value[entry if len(value) > 1 else 0]
            return bool(row[j])
        if form == "lengths":
            length = value if not isinstance(value, list) else value[entry if len(value) > 1 else 0]
            return bool(j < length)
        return True


def _parts(mask: Any) -> Iterator[tuple[str, Any]]:
    """Every form with its value, the corner among them."""
    if mask is None or mask == "none":
        return
    if mask == "causal":
        yield "causal", True
    elif isinstance(mask, dict):
        yield from ((form, value) for form, value in mask.items() if value is not False)
    elif any(isinstance(part, str | dict) for part in mask):
        for part in mask:
            yield from _parts(part)
    else:
        cell = mask
        while isinstance(cell, list):
            cell = cell[0]
        yield ("keep" if isinstance(cell, bool) else "additive"), mask


def _all_parts(parts: list[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """These forms, and those that stand inside of them."""
    for form, value in parts:
        yield form, value
        if form == "any":
            for mask in value:
                yield from _all_parts([*_parts(mask)])


def _corners(parts: list[tuple[str, Any]]) -> Iterator[str]:
    return (value for form, value in _all_parts(parts) if form == "corner")


def _cell(matrix: Any, entry: int, head: int, i: int, j: int) -> Any:
    """Of a matrix with or without axes of entries and heads, of which one stands for all."""
    if axes(matrix) == 4:
        matrix = matrix[entry if len(matrix) > 1 else 0]
    if axes(matrix) == 3:
        matrix = matrix[head if len(matrix) > 1 else 0]
    return matrix[i][j]


def axes(array: Any) -> int:
    """How many axes nested lists have."""
    return 1 + axes(array[0]) if isinstance(array, list) else 0
