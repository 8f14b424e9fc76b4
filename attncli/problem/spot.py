"""A value of the problem where it stands: what is there, what it is called, and who is told if it is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from attncli.errors import AttncliError
from attncli.problem.nodes import Leaf, Mapping, Node, Sequence
from attncli.problem.report import Report


@dataclass(slots=True)  # one for every number of a problem, and freezing would double the cost of each
class Spot:
    """`node` is the value, `path` its name, such as mask.keep[0]; `report` collects what is wrong."""

    node: Node
    path: str
    report: Report

    def wrong(self, message: str, help: str, *, at: int | None = None) -> None:
        """Report something wrong with the value, where it begins or at another place inside it."""
        self.report.add(message, at=self.node.at if at is None else at, path=self.path, help=help)

    def fails(self, error: AttncliError) -> None:
        """Report an error that the value led to elsewhere, such as a file that is not there."""
        self.report.place(error, at=self.node.at, path=self.path)

    @property
    def name(self) -> str:
        """The last key of the path, as it stands in the file: target for loss.target."""
        return self.path.rpartition(".")[2]

    @property
    def text(self) -> str:
        """The text of a single value."""
        assert isinstance(self.node, Leaf)
        return self.node.text

    @property
    def keys(self) -> dict[str, int]:
        """Where each key of a mapping stands; anything else has none."""
        return self.node.keys if isinstance(self.node, Mapping) else {}

    def key(self, name: str) -> Spot:
        """The value under a key that is there."""
        assert isinstance(self.node, Mapping)
        return Spot(self.node.values[name], f"{self.path}.{name}", self.report)

    @property
    def items(self) -> list[Spot]:
        """The entries of a list; anything else has none."""
        return list(self.each())

    def each(self) -> Iterator[Spot]:
        """The entries of a list one after another, for whoever may not want all of a million."""
        entries = self.node.items if isinstance(self.node, Sequence) else ()
        return (Spot(entry, f"{self.path}[{place}]", self.report) for place, entry in enumerate(entries))

    def entry(self, place: int) -> Spot:
        """One entry of a list."""
        assert isinstance(self.node, Sequence)
        return Spot(self.node.items[place], f"{self.path}[{place}]", self.report)
