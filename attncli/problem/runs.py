"""Reads the single values of a long list all at once: each text that is no plain number is looked at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from attncli.errors import COUNTED
from attncli.problem.many import Many
from attncli.problem.report import Unheard
from attncli.problem.spot import Spot
from attncli.problem.tree import Leaf

_Cell = TypeVar("_Cell")
Run = tuple[NDArray[Any], NDArray[np.bool_]]  # the values of a list in order, and which of them are wrong


def read_numbers(spot: Spot, read_cell: Callable[[Spot], float | None]) -> Run:
    """The numbers of a long list, of which `read_cell` reads those that are not plain."""
    numbers = _numbers(spot)
    return _with_odd(spot, numbers, np.zeros(len(numbers), dtype=bool), read_cell)


def read_truths(spot: Spot, read_cell: Callable[[Spot], bool | None]) -> Run:
    """The truth values of a long list, of which `read_cell` reads those that are no numbers; of numbers, 1 is true."""
    numbers = _numbers(spot)
    return _with_odd(spot, numbers == 1, (numbers != 0) & (numbers != 1), read_cell)


def different(spot: Spot) -> list[Leaf]:
    """The single values of a long list, of each text the first."""
    node = _many(spot)
    firsts: dict[str, int] = {}
    for place, text in enumerate(node.lists.texts(node.run), node.run.start):
        firsts.setdefault(text, place)
    return [node.lists.leaf(place) for place in firsts.values()]


def _many(spot: Spot) -> Many:
    assert isinstance(spot.node, Many)
    return spot.node


def _numbers(spot: Spot) -> NDArray[np.float64]:
    node = _many(spot)
    return node.lists.value[node.run] if node.value is None else node.value.ravel()


def _with_odd(
    spot: Spot, value: NDArray[Any], wrong: NDArray[np.bool_], read_cell: Callable[[Spot], _Cell | None]
) -> Run:
    if (node := _many(spot)).plain:
        return value, wrong
    lists, run = node.lists, node.run
    first, last = np.searchsorted(lists.odd, (run.start, run.stop))
    if first < last:
        odd = lists.odd[first:last]
        read = _each(spot, odd, read_cell)
        value = value.copy()
        value[odd - run.start] = [cell or 0 for cell in read]
        wrong[odd - run.start] = [cell is None for cell in read]
    return value, wrong


def _each(spot: Spot, words: NDArray[np.intp], read_cell: Callable[[Spot], _Cell | None]) -> list[_Cell | None]:
    """What `read_cell` makes of some values, each text read once, without a word on what is wrong; nor is anything
    new read where as much is wrong as anybody is told."""
    lists, unheard = _many(spot).lists, Unheard(spot.report.source)
    texts = lists.texts(words)
    known: dict[str, _Cell | None] = {}
    for place, text in enumerate(texts):
        if text not in known:
            silent = Spot(lists.leaf(int(words[place])), spot.path, unheard)
            known[text] = None if unheard.count >= COUNTED else read_cell(silent)
    return [known[text] for text in texts]
