"""Long lists as nodes of the tree: their entries are made one by one, where someone looks at them."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from attncli.problem.nodes import Leaf, Mapping, Node, Sequence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from attncli.problem.lists import Lists

QUOTES = ('"', "'")


class Many(Sequence):
    """The list with a number in a level of `lists`, which are looked up where someone asks for more than the values.

    It has a `shape`, and numbers as its `value`, where it is made of lists of equal lengths down to single values;
    it is `plain` where all of them are known to be numbers. It stands `by` characters farther on than its lists say.
    """

    __slots__ = ("_by", "_length", "_level", "_lists", "_number", "plain", "shape", "value")

    def __init__(
        self,
        at: int,
        length: int,
        lists: Callable[[], Lists],
        place: tuple[int, int] = (0, 0),
        *,
        shape: tuple[int, ...] | None = None,
        value: NDArray[np.float64] | None = None,
        plain: bool = False,
        by: int = 0,
    ) -> None:
        self.at, self._length, self._lists, self._by = at, length, lists, by
        self._level, self._number = place
        self.shape, self.value, self.plain = shape, value, plain

    @property
    def items(self) -> _Entries:  # type: ignore[override]  # nothing is ever added, as to a list that is read
        """The entries, of which only those are made that are looked at."""
        lists, begin = self._lists(), self._lists().entries(self._level, self._number)[0]
        return _Entries(lambda place: moved(lists.node(self._level + 1, begin + place), self._by), self._length)

    @property
    def length(self) -> int:
        return self._length

    @property
    def lists(self) -> Lists:
        """Where all that is in it stands."""
        return self._lists()

    @property
    def run(self) -> slice:
        """Which of all values in the lists are in it."""
        return self._lists().run(self._level, self._number)

    def suspects(self, shape: tuple[int, ...], wrong: NDArray[np.bool_]) -> list[int]:
        """The places of entries that no list of this shape has, or that have a value in them that is `wrong`."""
        return self._lists().suspects(self._level, self._number, shape, wrong)

    def write(self) -> NDArray[np.object_]:
        """The text of each value, in the shape of the value."""
        import numpy as np

        texts = self._lists().texts(self.run)
        array = np.empty(len(texts), dtype=object)
        array[:] = [text[1:-1] if text[0] in QUOTES else text for text in texts]
        return array.reshape(self.shape or -1)

    def moved(self, by: int) -> Many:
        """The same list so much farther on."""
        place, by = (self._level, self._number), self._by + by
        at = self.at + by - self._by
        return Many(at, self._length, self._lists, place, shape=self.shape, value=self.value, plain=self.plain, by=by)


@dataclass(frozen=True, slots=True, eq=False)
class _Entries(collections.abc.Sequence[Node]):
    """Nodes by their number, each made anew whenever it is looked at."""

    make: Callable[[int], Node]
    length: int

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, place: int) -> Node:  # type: ignore[override]  # no slices: nobody cuts nodes
        if not -self.length <= place < self.length:
            raise IndexError(place)
        return self.make(place % self.length)


def moved(node: Node, by: int) -> Node:
    """The tree with every place that much farther on."""
    match node:
        case _ if not by:
            return node
        case Leaf():
            return replace(node, at=node.at + by)
        case Many():
            return node.moved(by)
        case Sequence(items=items):
            return Sequence(node.at + by, [moved(item, by) for item in items])
        case Mapping(values=values, keys=keys):
            return Mapping(
                node.at + by,
                {key: moved(value, by) for key, value in values.items()},
                {key: at + by for key, at in keys.items()},
            )
