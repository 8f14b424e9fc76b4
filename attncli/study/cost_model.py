"""What a cost is made of: steps with their operations by kind and their shapes, and the sums over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from attncli.attention.rule import Rule
from attncli.choices import Dtype
from attncli.equation.tree import Expression

PROJECTIONS = ("Q", "K", "V")


@dataclass(frozen=True, slots=True)
class StepCost:
    """One step: the operations, by kind, and the shape of one head's part, which is worked `repeats` times.

    `operations_grow` and `bytes_grow` are formulas such as n² · d_k, None where nothing is counted.
    """

    rule: Rule
    shape: tuple[int, ...]
    kinds: Mapping[str, int]
    repeats: int
    operations_grow: Expression | None
    bytes_grow: Expression | None

    @property
    def operations(self) -> int:
        """Of all heads and layers together."""
        return self.repeats * sum(self.kinds.values())

    @property
    def numbers(self) -> int:
        """How many numbers the step's results are, of all heads and layers together."""
        return self.repeats * prod(self.shape)


@dataclass(frozen=True, slots=True)
class Cost:
    """All steps, in order of work, and the sizes they were counted with (n, m, d_model, …).

    `crossover` is the smallest n from which on attention takes more operations than the projections; None
    where there is nothing to compare, or where n and m are chosen apart.
    """

    title: str
    sizes: Mapping[str, int]
    heads: int
    layers: int
    dtype: Dtype
    steps: tuple[StepCost, ...]
    crossover: int | None

    @property
    def operations(self) -> int:
        return sum(step.operations for step in self.steps)

    @property
    def projections(self) -> int:
        """The operations of the projections; all others are those of attention itself."""
        return sum(step.operations for step in self.steps if step.rule.name in PROJECTIONS)

    def bytes(self, *names: str) -> int:
        """What the results of these steps take, or of all steps where none is named."""
        return sum(step.numbers for step in self.steps if not names or step.rule.name in names) * self.dtype.size
