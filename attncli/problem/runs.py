"""Reads the single values of a long list all at once: each text that is no plain number is looked at once."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from attncli.errors import COUNTED
from attncli.problem.many import Many
from attncli.problem.nodes import Leaf
from attncli.problem.values import SilentCollector, Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from attncli.problem.lists import Lists

_Cell = TypeVar("_Cell")
Run: TypeAlias = "tuple[NDArray[Any], NDArray[np.bool_]]"  # the values of a list in order, and which of them are wrong


class Runs:
    """Reads the long lists of one value of a problem: `of_numbers` tells of plain numbers what they mean and which are
    wrong, `read_cell` reads all others. Lists inside lists are read with these, once.
    """

    def __init__(self, of_numbers: Callable[[NDArray[np.float64]], Run], read_cell: Callable[[Value], Any]) -> None:
        self._of_numbers, self._read_cell = of_numbers, read_cell
        self._known: dict[int, tuple[Lists, Run]] = {}

    def __call__(self, value: Value) -> Run:
        """The values of a long list in order, and which of them are wrong."""
        node = value.node
        assert isinstance(node, Many)
        if node.plain and node.value is not None:
            return self._of_numbers(node.value.ravel())
        lists, run = node.lists, node.run
        if id(lists) not in self._known:
            self._known[id(lists)] = lists, self._all(lists, value)
        array, wrong = self._known[id(lists)][1]
        return array[run], wrong[run]

    def _all(self, lists: Lists, value: Value) -> Run:
        array, wrong = self._of_numbers(lists.value)
        if len(lists.odd):
            read = _each(lists, value, self._read_cell)
            array = array.copy()
            array[lists.odd] = [cell or 0 for cell in read]
            wrong[lists.odd] = [cell is None for cell in read]
        return array, wrong


def numbers(value: NDArray[np.float64]) -> Run:
    """Every number is right."""
    return value, value != value  # NaN is none of them


def truths(value: NDArray[np.float64]) -> Run:
    """1 is true, 0 is not, and others are wrong."""
    return value == 1, (value != 0) & (value != 1)


def different(node: Many) -> list[Leaf]:
    """The single values of a long list, of each text the first."""
    lists, run = node.lists, node.run
    return [lists.leaf(run.start + place) for _, place in _firsts(lists.texts(run))]


def _each(lists: Lists, value: Value, read_cell: Callable[[Value], _Cell | None]) -> list[_Cell | None]:
    """What `read_cell` makes of the odd values, each text read once, without a word on what is wrong; nor is anything
    new read where as much is wrong as anybody is told."""
    unheard = SilentCollector(value.errors.source)
    texts = lists.texts(lists.odd)
    known: dict[str, _Cell | None] = {}
    for text, place in _firsts(texts):
        if unheard.count == COUNTED:
            break
        known[text] = read_cell(Value(lists.leaf(int(lists.odd[place])), value.path, unheard))
    return [known.get(text) for text in texts]


def _firsts(texts: list[str]) -> list[tuple[str, int]]:
    """Each different text with the first of its places, in order."""
    places = dict(zip(reversed(texts), range(len(texts) - 1, -1, -1), strict=True))
    return sorted(places.items(), key=itemgetter(1))
