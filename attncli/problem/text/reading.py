"""What is read of a problem: its tree, and the errors found in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import MappingNode, Node


@dataclass(frozen=True, slots=True)
class Reading:
    """A text that is being read: the errors found so far, and of a whole problem its keys.

    `nodes` has the node of each key, and `places` says where each key is by its path. Of
    {past: {K: [[1]]}} there is one node, past, and there are two places, past and past.K. Of a
    pasted table, `row_names` has the names that stand beside its rows, by its path.
    """

    errors: ErrorCollector
    nodes: Mapping[str, Node] = field(default_factory=dict)
    places: Mapping[str, int] = field(default_factory=dict)
    row_names: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def wrong(self, path: str, message: str, help: str) -> None:
        """Note what is wrong with the value at this path of the problem."""
        self.errors.add(message, at=self.places[path], path=path, help=help)

    def stored(self, name: str) -> MappingNode | None:
        """The mapping that names an array in a file, where that is how it was given."""
        node = self.nodes.get(name)
        return node if isinstance(node, MappingNode) and "file" in node.values else None
