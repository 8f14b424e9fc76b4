"""A long text with its long lists taken out, so that a reader of nodes has little to read.

In place of each list stands a short text in quotes. Where the tree of what is left has each of these where a value
may stand, the lists are put in their places; everywhere else, as within a text or for a key, there is no such tree, and
the whole text has to be read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from attncli.errors import AttncliError
from attncli.problem.builder import DEPTH_LIMIT
from attncli.problem.many import Many
from attncli.problem.nodes import DASH, LONG, Leaf, Mapping, Node, Sequence
from attncli.problem.source import Source
from attncli.problem.values import ErrorCollector

if TYPE_CHECKING:
    from attncli.problem.bulk import Found

Read = Callable[[ErrorCollector], Node]
_PLACE = '"0"'


@dataclass(slots=True)
class _Tree:
    """The tree of a shortened text on its way back to that of the whole."""

    source: Source
    found: list[Found]
    strict: bool
    starts: list[int] = field(default_factory=list)  # of the places in the shortened text
    put: int = 0  # how many lists have been put in their places

    def at(self, short: int) -> int:
        """Where in the whole text a place of the shortened one is."""
        before = bisect_right(self.starts, short - 1)
        if not before:
            return short
        return short - self.starts[before - 1] - len(_PLACE) + self.found[before - 1].end

    def restored(self, node: Node, depth: int = 0) -> Node:
        """The node with its places in the whole text, and the lists that belong there."""
        match node:
            case Leaf(quoted=True, at=at) if (found := self._found(at)) and not found.dashed:
                return self._list(found, depth)
            case Sequence(items=[Leaf(quoted=True, at=at)]) if (found := self._found(at)) and found.dashed:
                return self._list(found, depth)
            case Leaf(text=text, quoted=quoted, at=at):
                return Leaf(text, quoted, self.at(at))
            case Sequence(items=items):
                return Sequence(self.at(node.at), [self.restored(item, depth + 1) for item in items])
            case Mapping(values=values, keys=keys):
                inner = {key: self.restored(value, depth + 1) for key, value in values.items()}
                return Mapping(self.at(node.at), inner, {key: self.at(at) for key, at in keys.items()})

    def _found(self, at: int) -> Found | None:
        """The list whose place is there in the shortened text."""
        number = bisect_left(self.starts, at)
        return self.found[number] if self.starts[number : number + 1] == [at] else None

    def _list(self, found: Found, depth: int) -> Node:
        from attncli.problem.bulk import lists_of

        lists = cache(lambda: lists_of(found, self.source.text, strict=self.strict))
        deep = len(found.shape) if found.shape else len(lists().levels)
        self.put += depth + deep <= DEPTH_LIMIT
        if found.shape is None:
            return lists().node()
        value, plain = found.value.reshape(found.shape), found.lists is None
        return Many(found.start, len(value), lists, shape=found.shape, value=value, plain=plain)


def read_shortened(errors: ErrorCollector, read: Read, *, strict: bool) -> Node | None:
    """The tree of a long text; None where it has no long lists of numbers, or has to be read as a whole."""
    source = errors.source
    if len(source.text) < LONG:
        return None
    from attncli.problem.bulk import find

    found = list(find(source.text, strict=strict))
    tree = _Tree(source, found, strict)
    pieces, length, end = [], 0, 0
    for each in found:
        start = each.start + len(DASH) * each.dashed  # the first dash stays, since it may not stand everywhere
        pieces += [source.text[end:start], _PLACE]
        tree.starts.append(length + start - end)
        length, end = tree.starts[-1] + len(_PLACE), each.end
    short = ErrorCollector(Source(source.name, "".join([*pieces, source.text[end:]])))
    try:
        root = read(short) if found else None
    except AttncliError:
        return None
    whole = None if root is None or short.count else tree.restored(root)
    return whole if tree.put == len(found) else None
