"""The tree a problem file becomes: three kinds of node, each knowing where in the text it begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from attncli.english import shorten

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
