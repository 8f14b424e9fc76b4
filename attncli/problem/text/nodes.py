"""The nodes of the tree that a text becomes, the same for YAML and for JSON.

Each node knows where in the text it begins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from attncli.english import shorten

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# One value of a list of numbers alone.
NUMBER_TEXT = re.compile(r"[^\[\], \n]+")
_BRACKET_OR_TEXT = re.compile(r"[\[\]]|[^\[\], \n]+")
_BRACKETS = ("[", "]")

# Not frozen: a file of a million numbers may make a million of these, and freezing doubles the cost
# of each.


@dataclass(slots=True)
class Leaf:
    """One value as its text stands in the file; `quoted` tells "1" from 1.

    Of [1, 0.50], the second is Leaf("0.50", False, 4).
    """

    text: str
    quoted: bool
    at: int


@dataclass(slots=True)
class ListNode:
    """A list: [1, 2] has two leaves as items.

    A long one of numbers alone was read in one go: `numbers` has its values, and a node for each of
    its entries is made only where somebody looks at `items`.
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


@dataclass(frozen=True, slots=True, eq=False)
class NumberList:
    """Nested lists of equal lengths: the values, as float64 or bool, and the text that they were
    read from.
    """

    array: NDArray[np.float64] | NDArray[np.bool_]
    text: str

    def texts(self) -> list[str]:
        """The text of each value, row after row."""
        return NUMBER_TEXT.findall(self.text)

    def nodes(self, at: int) -> list[Node]:
        """A node for each entry of the list, which begins at this place."""
        root = ListNode(at)
        inside = [root]
        for found in _BRACKET_OR_TEXT.finditer(self.text, 1, len(self.text) - 1):
            if found[0] == "[":
                inside.append(ListNode(at + found.start()))
                inside[-2].items.append(inside[-1])
            elif found[0] == "]":
                inside.pop()
            else:
                inside[-1].items.append(Leaf(found[0], False, at + found.start()))
        return root.items

    def distinct(self, at: int) -> list[Leaf]:
        """Of the values with one text the first, for a list that begins at this place."""
        firsts: dict[str, int] = {}
        for found in _BRACKET_OR_TEXT.finditer(self.text):
            firsts.setdefault(found[0], at + found.start())
        for bracket in _BRACKETS:
            firsts.pop(bracket, None)
        return [Leaf(text, False, place) for text, place in firsts.items()]


@dataclass(slots=True)
class PastedList(ListNode):
    """The list that a pasted matrix means. What separates its numbers need not be commas.

    The names of its rows and columns are what stood beside them and above them.
    """

    row_names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()


@dataclass(slots=True)
class MappingNode:
    """Keys and values in the order of the file; `keys` says where each key stands.

    Of {a: 1, b: 2}, `keys` is {"a": 1, "b": 7}.
    """

    at: int
    values: dict[str, Node] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class HeldArray(MappingNode):
    """An array made in Python. It stands where a file has a reference, and has the key `file`
    without a value.
    """

    array: NDArray[Any] | None = field(default=None, compare=False)


Node: TypeAlias = Leaf | ListNode | MappingNode


NULLS = ("", "~", "null", "Null", "NULL")
TRUTHS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}


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
    if isinstance(node, HeldArray):
        return "an array"
    return "a list" if isinstance(node, ListNode) else "a mapping"


def places_in(mapping: MappingNode, before: str = "") -> dict[str, int]:
    """Where each key of a mapping stands, and each of the mappings in it."""
    found = {f"{before}{key}": at for key, at in mapping.keys.items()}
    for key, node in mapping.values.items():
        if isinstance(node, MappingNode):
            found |= places_in(node, f"{before}{key}.")
    return found
