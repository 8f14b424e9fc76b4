"""Puts values one after another into a tree, the same way for YAML and for JSON, in up to two passes over the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from attncli.errors import AttncliError
from attncli.problem.nodes import Leaf, Mapping, Node, Sequence, describe
from attncli.problem.source import Source
from attncli.problem.values import ErrorCollector

if TYPE_CHECKING:
    from attncli.problem.long_lists import Outline

DEPTH_LIMIT = 64  # far more than any problem needs, far less than a parser's stack can bear
LONG = 2**14  # characters of a text; a shorter one is read value by value as fast
SURROGATE = re.compile("[\ud800-\udfff]")
NO_HALF = "half of a surrogate pair is not a character", "write the character itself"


def build(errors: ErrorCollector, parse: Callable[[TreeBuilder], None]) -> Node:
    """The tree of a text, as `parse` puts its values into a builder; AttncliError for what is wrong with it.

    Of a long text the long lists of numbers are read first, in one go. Wherever anything is wrong or unusual, the
    whole text is parsed again, value by value, and the errors are those of that pass: they know their places.
    """
    text = errors.source.text
    if len(text) >= LONG:
        from attncli.problem.long_lists import Outline

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

    Places are those of the text that is parsed; where that is an `outline`, nodes have those of the whole text.
    """

    def __init__(self, errors: ErrorCollector, outline: Outline | None = None) -> None:
        self.errors = errors
        self.root: Node | None = None
        self._outline = outline
        self._missing = outline.count if outline else 0  # long lists whose place is still to come
        self._open: list[Sequence | Mapping] = []
        self._keys: list[Leaf | None] = []

    @property
    def text(self) -> str:
        """The text that is to be parsed."""
        return self.errors.source.text

    @property
    def inside(self) -> Sequence | Mapping | None:
        """The innermost list or mapping that is still open."""
        return self._open[-1] if self._open else None

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
                help="a matrix is two deep: [[1, 0], [0, 1]]",
            )

    def _put(self, node: Node, at: int) -> None:
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
            self.errors.fail(f"a key must be a word, not {describe(node)}", at=at, help="write key: value")
        if node.text in parent.keys:
            line = self.errors.source.place(parent.keys[node.text]).line
            self.errors.add(
                f"{describe(node)} is given twice",
                at=at,
                help=f"it stands on line {line} already: keep one of the two",
            )
        else:
            parent.keys[node.text] = node.at
        return node

    def _place(self, at: int) -> int:
        return at if self._outline is None else self._outline.place(at)
