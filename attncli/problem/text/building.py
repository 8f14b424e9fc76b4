"""Builds the tree of a text of the values that a parser finds in it, in two passes if long."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING

from attncli.errors import AttncliError
from attncli.problem.limits import DEPTH_LIMIT
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import Leaf, ListNode, MappingNode, Node, describe
from attncli.problem.text.not_a_number import DecimalComma, decimal_comma
from attncli.problem.text.source import Source

if TYPE_CHECKING:
    from attncli.problem.text.long_lists import Outline

# A text of fewer characters is read value by value as fast.
LONG_TEXT = 2**14
SURROGATE = re.compile("[\ud800-\udfff]")
# What stands behind an entry in braces that has no value.
_NO_VALUE = re.compile(r"\s*[,}]")
NO_HALF = "this is half of a surrogate pair, not a character", "write the character itself"


def build(errors: ErrorCollector, parse: Callable[[TreeBuilder], None]) -> Node:
    """The tree of a text, as `parse` puts its values into a builder; AttncliError for what is wrong
    with it.

    Of a long text the long lists of numbers are read first, in one go. Wherever anything is wrong
    or unusual, the whole text is parsed again, value by value, and the errors are those of that
    pass: they know their places.
    """
    text = errors.source.text
    if len(text) >= LONG_TEXT:
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

    [1, 2] is `open_list`, `scalar`, `scalar` and `close`, which YAML and JSON call alike.

    Places are those of the text that is parsed; where that is an `outline`, nodes have those of the
    whole text.
    """

    def __init__(self, errors: ErrorCollector, outline: Outline | None = None) -> None:
        self.errors = errors
        self.root: Node | None = None
        # Here the last value begins in the text that is parsed.
        self.reached = -1
        self._outline = outline
        # So many long lists are still to find their place.
        self._missing = outline.count if outline else 0
        self._open: list[ListNode | MappingNode] = []
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
    def inside(self) -> ListNode | MappingNode | None:
        """The innermost list or mapping that is still open."""
        return self._open[-1] if self._open else None

    @property
    def unclosed_lists(self) -> int:
        """How many lists in brackets are open, counted from the innermost up to the first mapping
        around them.
        """
        count = 0
        for container in reversed(self._open):
            if not isinstance(container, ListNode) or not self.text.startswith("[", container.at):
                break
            count += 1
        return count

    def where_a_list_should_end(self) -> int | None:
        """Where the text of a list goes on with what can only stand behind it, as where its bracket
        is missing.

        That is a list behind a number, [1, 2, [3, 4]], or a key without braces, [1, 2, K: 3].
        """
        lists = [each for each in self._open if isinstance(each, ListNode)]
        # The list of lists grows here.
        for each in lists:
            for before, after in pairwise(each.items):
                if isinstance(before, Leaf) and isinstance(after, ListNode):
                    return before.at + len(before.text)
                if isinstance(after, MappingNode) and not self.text.startswith("{", after.at):
                    return len(self.text[: after.at].rstrip().removesuffix(",").rstrip())
            lists += [entry for entry in each.items if isinstance(entry, ListNode)]
        return None

    @property
    def is_whole(self) -> bool:
        """Whether there were no errors, and every long list has its place."""
        return not self.errors.count and not self._missing

    def open_list(self, at: int) -> None:
        """Begin a list."""
        self._begin(ListNode(self._place(at)), at)

    def open_mapping(self, at: int) -> None:
        """Begin a mapping."""
        self._begin(MappingNode(self._place(at)), at)

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

    def _begin(self, container: ListNode | MappingNode, at: int) -> None:
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
        elif isinstance(parent, ListNode):
            parent.items.append(node)
        elif (key := self._keys[-1]) is None:
            self._keys[-1] = self._key(parent, node, at)
        else:
            if key.text in parent.keys:
                parent.values.setdefault(key.text, node)
            self._keys[-1] = None

    def _key(self, parent: MappingNode, node: Node, at: int) -> Leaf:
        if not isinstance(node, Leaf):
            help = "write key: value"
            if isinstance(node, MappingNode):
                # Other programs write {{1, 0}, {0, 1}}.
                help += ", and a matrix as [[1, 0], [0, 1]]"
            self.errors.fail(f"a key must be a word, not {describe(node)}", at=at, help=help)
        end_of_decimal = self._end_of_decimal(node, at)
        if end_of_decimal:
            where, message, help = end_of_decimal
            self.errors.add(message, at=where, help=help)
        elif node.text in parent.keys:
            line = self.errors.source.place(parent.keys[node.text]).line
            self.errors.add(
                f"{describe(node)} is given twice",
                at=at,
                help=f"it is on line {line} already: keep one of the two",
            )
        else:
            parent.keys[node.text] = node.at
        return node

    def _end_of_decimal(self, node: Leaf, at: int) -> DecimalComma | None:
        """The 2,5 of {Q: 2,5}, which YAML reads as a number and a key without a value; None for a
        key that is one.
        """
        is_alone = _NO_VALUE.match(self.text, at + len(node.text))
        if node.quoted or not is_alone:
            return None
        found = decimal_comma(self.text, at, node.text)
        if found is None:
            return None
        # Two entries of a mapping are never meant here.
        help, _, _ = found.help.partition("; ")
        return found._replace(help=help)

    def _place(self, at: int) -> int:
        return at if self._outline is None else self._outline.place(at)
