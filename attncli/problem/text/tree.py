"""The tree that a text becomes, the same for YAML and for JSON: its three kinds of node, and how
they are put together.

Each node knows where in the text it begins. A long text is read in two passes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from attncli.english import shorten
from attncli.errors import AttncliError
from attncli.problem.files import STANDARD_INPUT
from attncli.problem.limits import DEPTH_LIMIT
from attncli.problem.text.source import ErrorCollector, Source

if TYPE_CHECKING:
    from attncli.problem.arrays.formats import Array
    from attncli.problem.text.long_lists import NumberList, Outline

# characters of a text; a shorter one is read value by value as fast
LONG = 2**14
SURROGATE = re.compile("[\ud800-\udfff]")
NO_HALF = "this is half of a surrogate pair, not a character", "write the character itself"


# Not frozen: a file of a million numbers may make a million of these, and freezing doubles the cost
# of each.


@dataclass(slots=True)
class Leaf:
    """One value as its text stands in the file; `quoted` tells "1" from 1."""

    text: str
    quoted: bool
    at: int


@dataclass(slots=True)
class Sequence:
    """A list.

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


@dataclass(slots=True)
class PastedList(Sequence):
    """The list that a pasted matrix means. What separates its numbers need not be commas."""


@dataclass(slots=True)
class Mapping:
    """Keys and values in the order of the file; `keys` says where each key stands."""

    at: int
    values: dict[str, Node] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class HeldArray(Mapping):
    """An array made in Python. It stands where a file has a reference, and has the key `file`
    without a value.
    """

    array: Array | None = field(default=None, compare=False)


Node: TypeAlias = Leaf | Sequence | Mapping


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
    return "a list" if isinstance(node, Sequence) else "a mapping"


def places_in(mapping: Mapping, before: str = "") -> dict[str, int]:
    """Where each key of a mapping stands, and each of the mappings in it."""
    found = {f"{before}{key}": at for key, at in mapping.keys.items()}
    for key, node in mapping.values.items():
        if isinstance(node, Mapping):
            found |= places_in(node, f"{before}{key}.")
    return found


def read_tree(source: Source, *, not_finite: bool = False) -> tuple[ErrorCollector, Node]:
    """The tree of a file with positions, and the collector of what is wrong with it.

    `not_finite` lets JSON have NaN, Infinity and -Infinity, as other programs write them.
    """
    errors = ErrorCollector(source)
    if source.name.lower().endswith(".json"):
        return errors, _json(errors, not_finite)
    if source.name == STANDARD_INPUT and source.text.lstrip()[:1] in ("{", "["):
        try:
            return errors, _json(errors, not_finite)
        except AttncliError as json_error:
            # flow YAML begins with the same signs
            errors = ErrorCollector(source)
            try:
                return errors, _yaml(errors)
            except AttncliError as yaml_error:
                looks_like_json = source.text.lstrip(" \t\r\n{[").startswith('"')
                raise (json_error if looks_like_json else yaml_error) from None
    return errors, _yaml(errors)


def _json(errors: ErrorCollector, not_finite: bool) -> Node:
    # each takes a while, and most need one
    from attncli.problem.text.json_parser import parse_json

    return parse_json(errors, not_finite=not_finite)


def _yaml(errors: ErrorCollector) -> Node:
    from attncli.problem.text.yaml_parser import fail_for_key, parse_yaml

    root = parse_yaml(errors)
    if isinstance(root, Leaf) and not root.quoted:
        fail_for_key(root.at, errors)
    return root


def build(errors: ErrorCollector, parse: Callable[[TreeBuilder], None]) -> Node:
    """The tree of a text, as `parse` puts its values into a builder; AttncliError for what is wrong
    with it.

    Of a long text the long lists of numbers are read first, in one go. Wherever anything is wrong
    or unusual, the whole text is parsed again, value by value, and the errors are those of that
    pass: they know their places.
    """
    text = errors.source.text
    if len(text) >= LONG:
        from attncli.problem.text.long_lists import Outline

        outline = Outline(text)
        quick = TreeBuilder(ErrorCollector(Source(errors.source.name, outline.text)), outline)
        with suppress(AttncliError):
            if outline.count:
                parse(quick)
        if quick.root is not None and quick.is_whole:
            return quick.root
    careful = TreeBuilder(errors)
    parse(careful)
    assert careful.root is not None, "a parser refuses an empty text"
    return careful.root


class TreeBuilder:
    """A tree under construction: open lists and mappings, and the key each mapping waits to fill.

    Places are those of the text that is parsed; where that is an `outline`, nodes have those of the
    whole text.
    """

    def __init__(self, errors: ErrorCollector, outline: Outline | None = None) -> None:
        self.errors = errors
        self.root: Node | None = None
        # where the last value begins in the text that is parsed
        self.reached = -1
        self._outline = outline
        # long lists whose place is still to come
        self._missing = outline.count if outline else 0
        self._open: list[Sequence | Mapping] = []
        self._keys: list[Leaf | None] = []

    @property
    def text(self) -> str:
        """The text that is to be parsed."""
        return self.errors.source.text

    def anew(self) -> TreeBuilder:
        """A builder for the same text that has read nothing yet."""
        return TreeBuilder(ErrorCollector(self.errors.source, self.errors.exit_code), self._outline)

    def take(self, other: TreeBuilder) -> None:
        """Have the tree that another builder made of the same text."""
        self.root, self._missing = other.root, other._missing

    @property
    def inside(self) -> Sequence | Mapping | None:
        """The innermost list or mapping that is still open."""
        return self._open[-1] if self._open else None

    @property
    def unclosed_lists(self) -> int:
        """How many lists in brackets are open, counted from the innermost up to the first mapping
        around them.
        """
        count = 0
        for container in reversed(self._open):
            if not isinstance(container, Sequence) or not self.text.startswith("[", container.at):
                break
            count += 1
        return count

    def where_a_list_should_end(self) -> int | None:
        """Where the text of a list goes on with what can only stand behind it, as where its bracket
        is missing.

        That is a list behind a number, [1, 2, [3, 4]], or a key without braces, [1, 2, K: 3].
        """
        lists = [each for each in self._open if isinstance(each, Sequence)]
        for each in lists:  # which grows
            for before, after in pairwise(each.items):
                if isinstance(before, Leaf) and isinstance(after, Sequence):
                    return before.at + len(before.text)
                if isinstance(after, Mapping) and not self.text.startswith("{", after.at):
                    return len(self.text[: after.at].rstrip().removesuffix(",").rstrip())
            lists += [entry for entry in each.items if isinstance(entry, Sequence)]
        return None

    @property
    def is_whole(self) -> bool:
        """Whether there were no errors, and every long list has its place."""
        return not self.errors.count and not self._missing

    def open_list(self, at: int) -> None:
        """Begin a list."""
        self._begin(Sequence(self._place(at)), at)

    def open_mapping(self, at: int) -> None:
        """Begin a mapping."""
        self._begin(Mapping(self._place(at)), at)

    def close(self) -> None:
        """End the innermost list or mapping."""
        self._open.pop()
        self._keys.pop()

    def scalar(self, text: str, quoted: bool, at: int) -> None:
        """Add a single value, or a key where a mapping waits for one."""
        if self._outline is None:
            self._put(Leaf(text, quoted, at), at)
        elif (long := self._outline.list_at(at)) is not None and quoted:
            self._missing -= 1
            assert long.numbers is not None
            self._require_depth(len(self._open) + long.numbers.array.ndim, at)
            self._put(long, at)
        else:
            self._put(Leaf(text, quoted, self._outline.place(at)), at)

    def _begin(self, container: Sequence | Mapping, at: int) -> None:
        self._require_depth(len(self._open) + 1, at)
        self._put(container, at)
        self._open.append(container)
        self._keys.append(None)

    def _require_depth(self, depth: int, at: int) -> None:
        if depth > DEPTH_LIMIT:
            self.errors.fail(
                f"lists and mappings are nested more than {DEPTH_LIMIT} deep",
                at=at,
                help="a matrix has two levels: [[1, 0], [0, 1]]",
            )

    def _put(self, node: Node, at: int) -> None:
        self.reached = at
        parent = self._open[-1] if self._open else None
        if parent is None:
            self.root = node
        elif isinstance(parent, Sequence):
            parent.items.append(node)
        elif (key := self._keys[-1]) is None:
            self._keys[-1] = self._key(parent, node, at)
        else:
            parent.values.setdefault(key.text, node)
            self._keys[-1] = None

    def _key(self, parent: Mapping, node: Node, at: int) -> Leaf:
        if not isinstance(node, Leaf):
            self.errors.fail(
                f"a key must be a word, not {describe(node)}", at=at, help="write key: value"
            )
        if node.text in parent.keys:
            line = self.errors.source.place(parent.keys[node.text]).line
            self.errors.add(
                f"{describe(node)} is given twice",
                at=at,
                help=f"it is on line {line} already: keep one of the two",
            )
        else:
            parent.keys[node.text] = node.at
        return node

    def _place(self, at: int) -> int:
        return at if self._outline is None else self._outline.place(at)
