"""The tree a problem file becomes: three kinds of node, each knowing where in the text it begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from attncli.english import shorten
from attncli.records import dataclass, field, replace

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONG = 2**14  # characters of a list of numbers; a shorter one is read as fast with all the others
DASH = "- "  # before each entry of a list in lines

# Not frozen: a file of a million numbers makes a million of these, and freezing doubles the cost of each.


@dataclass(slots=True)
class Leaf:
    """One value as its text stands in the file; `quoted` tells "1" from 1."""

    text: str
    quoted: bool
    at: int


@dataclass(slots=True)
class Sequence:
    """A list."""

    at: int
    items: list[Node] = field(default_factory=list)

    @property
    def length(self) -> int:
        """How many entries there are."""
        return len(self.items)


class Numbers(Sequence):
    """A long list of numbers, or of lists of them, that was read in one go.

    `value` holds the numbers; `write` makes an array of their texts, and `build` the entries as nodes of their own,
    each only where someone asks. `odd` are those that are no plain numbers, such as 1/3 or a word, by their place in
    the order of all: they are 0 in the value.
    """

    __slots__ = ("_build", "_items", "odd", "value", "write")

    def __init__(
        self,
        at: int,
        value: NDArray[Any],
        write: Callable[[], NDArray[Any]],
        build: Callable[[], list[Node]],
        odd: Callable[[], Iterable[tuple[int, Leaf]]] = tuple,
    ) -> None:
        self.at, self.value, self.write, self.odd = at, value, write, odd
        self._build = build
        self._items: list[Node] | None = None

    @property
    def items(self) -> list[Node]:  # type: ignore[override]  # nothing is ever added, as to a list that is read
        """The entries, as for any other list."""
        if self._items is None:
            self._items = self._build()
        return self._items

    @property
    def length(self) -> int:
        return len(self.value)


@dataclass(slots=True)
class Mapping:
    """Keys and values in the order of the file; `keys` says where each key stands."""

    at: int
    values: dict[str, Node] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)


Node: TypeAlias = Leaf | Sequence | Mapping


def moved(node: Node, by: int) -> Node:
    """The tree with every place that much farther on."""
    match node:
        case Leaf():
            return replace(node, at=node.at + by)
        case Numbers():
            return Numbers(node.at + by, node.value, node.write, lambda: [moved(item, by) for item in node.items])
        case Sequence(items=items):
            return Sequence(node.at + by, [moved(item, by) for item in items])
        case Mapping(values=values, keys=keys):
            return Mapping(
                node.at + by,
                {key: moved(value, by) for key, value in values.items()},
                {key: at + by for key, at in keys.items()},
            )


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
