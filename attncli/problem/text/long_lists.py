"""Long lists of numbers, read in one go: where they stand in a text, and the text without them.

A list is read here where it is one of JSON, and of numbers or truth values alone: that means the
same in YAML. All else, and anything unusual, stays in the text for the parsers, which read it value
by value and say what is wrong.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from json import JSONDecoder

import numpy as np

from attncli.problem.text.nodes import NUMBER_TEXT, Leaf, ListNode, Node, NumberList

# A list of fewer characters costs as much this way as value by value.
SHORTEST_LONG_LIST = 200
# The lists are batch × heads × rows × columns.
_MOST_LEVELS = 4
# Numbers of more characters may be too long, or only nearly 0.
_LONGEST_NUMBER = 200
# A part of a text that has only lists of numbers, true and false.
_STRETCH = re.compile(r"\[[-+.,0-9eE\[\] \ntrufals]*")
_INNERMOST_LIST = re.compile(r"\[[^\[\]]+\]")
_TINY_EXPONENT = re.compile(r"[eE]-[0-9]{3}")
_DIGITS_ELSE_BLANKS = bytes(48 if chr(sign) in "0123456789+-.eE" else 32 for sign in range(256))
_PLACEHOLDER = '"0"'
_DECODER = JSONDecoder()


class NumberRows(NumberList):
    """The same for rows of numbers on lines of their own, without brackets and with blanks between
    them.
    """

    @classmethod
    def of(cls, words: list[list[str]], text: str) -> NumberRows:
        """The numbers of all rows, which are equally long; ValueError for one that is to be read
        with care.
        """
        array = np.array([[*map(float, row)] for row in words])
        # -0 is 0.
        array += 0.0
        if not np.isfinite(array).all() or (not array.all() and _TINY_EXPONENT.search(text)):
            raise ValueError("a number may be too large, or too small to be told from 0")
        array.setflags(write=False)
        return cls(array, text)

    def nodes(self, at: int) -> list[Node]:
        """A node for each row."""
        rows: list[Node] = []
        start = at
        for line in self.text.split("\n"):
            cells: list[Node] = [
                Leaf(found[0], False, start + found.start()) for found in NUMBER_TEXT.finditer(line)
            ]
            if cells:
                rows.append(ListNode(cells[0].at, cells))
            start += len(line) + 1
        return rows


class Outline:
    """A text with its long lists taken out, each with a short text in quotes in its place.

    A parser of the outline meets such a text where a value may stand: there the list belongs.
    Elsewhere, as in a comment or for a key, it does not, and the whole text has to be read.
    """

    def __init__(self, text: str) -> None:
        pieces, length, end = [], 0, 0
        # Where the lists begin in the outline.
        self._starts: list[int] = []
        # By so much the text behind each list is shorter here.
        self._shifts = [0]
        self._lists: list[ListNode] = []
        for start, numbers in _long_lists(text):
            pieces += [text[end:start], _PLACEHOLDER]
            self._starts.append(length + start - end)
            length, end = self._starts[-1] + len(_PLACEHOLDER), start + len(numbers.text)
            self._shifts.append(end - length)
            self._lists.append(ListNode(start, numbers=numbers))
        self.text = "".join([*pieces, text[end:]])
        self.count = len(self._lists)

    def place(self, at: int) -> int:
        """Where in the whole text a place of the outline is."""
        return at + self._shifts[bisect_left(self._starts, at)]

    def list_at(self, at: int) -> ListNode | None:
        """The list that stands at this place of the outline."""
        number = bisect_left(self._starts, at)
        return self._lists[number] if self._starts[number : number + 1] == [at] else None


def _long_lists(text: str) -> Iterator[tuple[int, NumberList]]:
    """The long lists of numbers in a text, in order, with the place where each begins.

    A stretch of the text is decoded twice at most: as one list, and where that fails, row by row.
    """
    # Only a text that means harm has so many.
    if "[" * (_MOST_LEVELS + 1) in text:
        return
    # Lists without others in them that are too short, and what follows each.
    most_inside = max(SHORTEST_LONG_LIST - 3, 0)
    short_lists = re.compile(rf"(?:\[[^\[\]]{{0,{most_inside}}}\][^\[\]]*+)++")
    for stretch in _STRETCH.finditer(text):
        part, start, end = stretch[0], stretch.start(), 0
        if len(part) < SHORTEST_LONG_LIST:
            continue
        while (at := part.find("[", end)) >= 0:
            # A text that means harm has millions of them.
            if short := short_lists.match(part, at):
                end = short.end()
                continue
            try:
                numbers, end = _decoded(part, at)
            except (ValueError, OverflowError, RecursionError):
                yield from ((start + place, row) for place, row in _rows(part, at))
                break
            if numbers is not None:
                yield start + at, numbers


def _rows(part: str, at: int) -> Iterator[tuple[int, NumberList]]:
    """The long rows of a part of a text that is no list of numbers as a whole."""
    for row in _INNERMOST_LIST.finditer(part, at):
        if len(row[0]) >= SHORTEST_LONG_LIST:
            with suppress(ValueError, OverflowError):
                numbers, _ = _decoded(row[0], 0)
                assert numbers is not None
                yield row.start(), numbers


def _decoded(part: str, at: int) -> tuple[NumberList | None, int]:
    """The list that begins there, if it is a long one, and where it ends.

    ValueError, OverflowError or RecursionError where that is no list of numbers, or the parsers may
    read it otherwise than NumPy, or find it wrong.
    """
    values, end = _DECODER.raw_decode(part, at)
    if end - at < SHORTEST_LONG_LIST:
        return None, end
    array, text = np.array(values), part[at:end]
    # The values take four times as much memory as the array.
    del values
    if not array.size or array.ndim > _MOST_LEVELS or array.dtype.kind not in "bif":
        raise ValueError("no array of numbers or truth values")
    if array.dtype.kind != "b":
        array = array.astype(np.float64, copy=False)
        # -0 is 0.
        array += 0.0
        if "t" in text or "f" in text:
            raise ValueError("NumPy takes true for 1")
        if not np.isfinite(array).all() or b"0" * _LONGEST_NUMBER in text.encode().translate(
            _DIGITS_ELSE_BLANKS
        ):
            raise ValueError("a number may be too large, or have too many digits")
        if not array.all() and _TINY_EXPONENT.search(text):
            raise ValueError("a number may be too small to be told from 0")
    array.setflags(write=False)
    return NumberList(array, text), end
