"""The equation of a single cell of a trace: as a tree of what it reads, and worked out in decimals."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from decimal import Decimal

from attncli.equation.indexing import Place
from attncli.equation.nodes import Expression, Number
from attncli.equation.substitution import decimal_value, substitute
from attncli.features.check.leaves import number
from attncli.problem.model import Scalar
from attncli.problem.numbers import as_decimal
from attncli.tracing.model import Trace

Cell = tuple[int, ...]


@dataclass(slots=True)
class CellEquations:
    """The equations of a trace; what all cells of a step have in common is looked up once."""

    trace: Trace
    _sizes: dict[str, dict[str, int]] = field(default_factory=dict)
    _decimals: dict[str, Decimal] = field(default_factory=dict)
    _numbers: dict[str, Number] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, given in self.trace.parameters.items():
            if isinstance(given, Scalar):
                self._decimals[name] = as_decimal(given.written)
                self._numbers[name] = number(self._decimals[name])

    def tree(self, name: str, index: Cell, read: Callable[[str, Cell], Expression]) -> Expression:
        """A cell's own equation with `read` for every cell of a step that it names."""
        expression = self.trace.steps[name].rule.equation.expression
        return substitute(expression, self._place(name, index), self._sizes_of(name), read, self._numbers)

    def decimal(self, name: str, index: Cell, read: Callable[[str, Cell], Decimal]) -> Decimal:
        """What a cell comes to, to 50 digits, from the numbers that `read` finds."""
        expression = self.trace.steps[name].rule.equation.expression
        return decimal_value(expression, self._place(name, index), self._sizes_of(name), read, self._decimals)

    def _place(self, name: str, index: Cell) -> Place:
        return dict(zip(self.trace.steps[name].rule.target.letters, index, strict=True))

    def _sizes_of(self, name: str) -> dict[str, int]:
        if name not in self._sizes:
            self._sizes[name] = self.trace.sizes(self.trace.steps[name].rule.equation)
        return self._sizes[name]


def after(trace: Trace, names: Collection[str]) -> frozenset[str]:
    """The steps that are worked out from any of these."""
    found: set[str] = set()
    for step in trace.steps.values():
        if any(read in names or read in found for read in step.rule.inputs):
            found.add(step.name)
    return frozenset(found)
