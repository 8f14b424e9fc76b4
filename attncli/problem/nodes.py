"""The tree a problem file becomes: three kinds of node, each knowing where in the text it begins."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from attncli.english import shorten

if TYPE_CHECKING:
    from attncli.problem.long_lists import NumberList

# Not frozen: a file of a million numbers may make a million of these, and freezing doubles the cost of each.


@dataclass(slots=True)
class Leaf:
    """One value as its text stands in the file; `quoted` tells "1" from 1."""

    text: str
    quoted: bool
    at: int


@dataclass(slots=True)
class Sequence:
    """A list.

    A long one of numbers alone was read in one go: `numbers` has its values, and a node for each of its entries is
    made only where somebody looks at `items`.
    """

    at: int
    _items: list[Node] = field(default_factory=list)
    numbers: NumberList | None = field(default=None, compare=False)

    @property
    def items(self) -> list[Node]:
        """The entries."""
        if self.numbers is not None and not self._items:
            self._items = self.numbers.nodes(self.at)
        return self._items

    @property
    def length(self) -> int:
        """How many entries there are."""
        return len(self._items) if self.numbers is None else len(self.numbers.array)


@dataclass(slots=True)
class Mapping:
    """Keys and values in the order of the file; `keys` says where each key stands."""

    at: int
    values: dict[str, Node] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)


Node: TypeAlias = Leaf | Sequence | Mapping


NULLS = ("", "~", "null", "Null", "NULL")
TRUTHS = {
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip


def is_null(node: Node) -> bool:
    """Whether nothing is written there: an empty place, `~` or `null`."""
    return isinstance(node, Leaf) and not node.quoted and node.text in NULLS


def truth(node: Node) -> bool | None:
    """True or False as YAML 1.2 and JSON spell them, or None for anything else."""
    return TRUTHS.get(node.text) if isinstance(node, Leaf) and not node.quoted else None


def describe(node: Node) -> str:
    """A node in the words of an error: a list, a mapping, an empty value, or its text."""
    if isinstance(node, Leaf):
        if is_null(node):
            return "an empty value"
        return f'"{shorten(node.text)}"' if node.quoted else shorten(node.text)
    return "a list" if isinstance(node, Sequence) else "a mapping"


def moved(node: Node, by: int) -> Node:
    """The tree with every place that much farther on, as of a text that is put behind another."""
    match node:
        case Sequence(numbers=None, items=items):
            return Sequence(node.at + by, [moved(item, by) for item in items])
        case Mapping(values=values, keys=keys):
            return Mapping(
                node.at + by,
                {key: moved(value, by) for key, value in values.items()},
                {key: at + by for key, at in keys.items()},
            )
        case Sequence(numbers=numbers):
            return Sequence(node.at + by, numbers=numbers)
    return replace(node, at=node.at + by)
