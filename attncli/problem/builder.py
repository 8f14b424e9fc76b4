"""Puts values one after another into a tree, the same way for YAML and for JSON."""

from __future__ import annotations

from attncli.problem.nodes import Leaf, Mapping, Node, Sequence, describe
from attncli.problem.values import ErrorCollector

DEPTH_LIMIT = 64  # far more than any problem needs, far less than a parser's stack can bear


class Builder:
    """A tree under construction: open lists and mappings, and the key each mapping waits to fill."""

    def __init__(self, errors: ErrorCollector) -> None:
        self._report = errors
        self._open: list[Sequence | Mapping] = []
        self._keys: list[Leaf | None] = []
        self.root: Node | None = None

    @property
    def inside(self) -> Sequence | Mapping | None:
        """The innermost list or mapping that is still open."""
        return self._open[-1] if self._open else None

    def open(self, container: Sequence | Mapping) -> None:
        """Begin a list or a mapping."""
        if len(self._open) == DEPTH_LIMIT:
            self._report.fail(
                f"lists and mappings are nested more than {DEPTH_LIMIT} deep",
                at=container.at,
                help="a matrix is two deep: [[1, 0], [0, 1]]",
            )
        self.put(container)
        self._open.append(container)
        self._keys.append(None)

    def close(self) -> None:
        """End the innermost list or mapping."""
        self._open.pop()
        self._keys.pop()

    def put(self, node: Node) -> None:
        """Add a value, or a key where a mapping waits for one."""
        parent = self.inside
        if parent is None:
            self.root = node
        elif isinstance(parent, Sequence):
            parent.items.append(node)
        elif (key := self._keys[-1]) is None:
            self._keys[-1] = self._key(parent, node)
        else:
            parent.values.setdefault(key.text, node)
            self._keys[-1] = None

    def _key(self, parent: Mapping, node: Node) -> Leaf:
        if not isinstance(node, Leaf):
            self._report.fail(f"a key must be a word, not {describe(node)}", at=node.at, help="write key: value")
        if node.text in parent.keys:
            line = self._report.source.place(parent.keys[node.text]).line
            self._report.add(
                f"{describe(node)} is given twice",
                at=node.at,
                help=f"it stands on line {line} already: keep one of the two",
            )
        else:
            parent.keys[node.text] = node.at
        return node
