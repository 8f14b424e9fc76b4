"""What a cost is made of: steps with their operations by kind and their shapes, and the sums over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from attncli.attention.rule import Rule
from attncli.dtypes import Dtype
from attncli.equation.nodes import Expression
from attncli.problem.axes import BATCH, HEAD

PROJECTING = {"W_Q", "W_K", "W_V", "W_O"}
CACHED = ("K", "V")


@dataclass(frozen=True, slots=True)
class StepCost:
    """One step: in one layer its shape and its operations by kind, and how many layers there are.

    `in_cells` are those of the operations that are done anew in every cell. `operations_grow` and `bytes_grow` are
    formulas such as n² · d_k, None where nothing is counted; `sizes` names all that the step depends on.
    """

    rule: Rule
    shape: tuple[int, ...]
    kinds: Mapping[str, int]
    in_cells: Mapping[str, int]
    layers: int
    operations_grow: Expression | None
    bytes_grow: Expression | None
    sizes: frozenset[str]

    @property
    def projects(self) -> bool:
        """Whether rows are multiplied by weights of the layer, as in Q = X·W_Q."""
        return not PROJECTING.isdisjoint(self.rule.inputs)

    @property
    def operations(self) -> int:
        """Of all layers together."""
        return self.layers * sum(self.kinds.values())

    @property
    def numbers(self) -> int:
        """How many numbers the step's results are, of all layers together."""
        return self.layers * prod(self.shape)

    @property
    def lengths(self) -> Mapping[str, int]:
        """The shape by the letters of its axes."""
        return dict(zip(self.rule.target.letters, self.shape, strict=True))


@dataclass(frozen=True, slots=True)
class Cost:
    """All steps, in order of work, and the sizes they were counted with (heads, n, m, d_model, …).

    `crossover` is the smallest n from which on attention takes more operations than the projections; None
    where there is nothing to compare, or where n and m are chosen apart.
    """

    title: str
    sizes: Mapping[str, int]
    layers: int
    dtype: Dtype
    steps: tuple[StepCost, ...]
    crossover: int | None

    @property
    def heads(self) -> int:
        return self.sizes.get("heads", 1)

    @property
    def operations(self) -> int:
        return sum(step.operations for step in self.steps)

    @property
    def projections(self) -> int:
        """The operations of the projections; all others are those of attention itself."""
        return sum(step.operations for step in self.steps if step.projects)

    def bytes(self, *names: str) -> int:
        """What the results of these steps take, or of all steps where none is named."""
        return sum(step.numbers for step in self.steps if not names or step.rule.name in names) * self.dtype.size

    @property
    def bytes_cached(self) -> int:
        """What the keys and values of all layers take, which decoding one token after another keeps."""
        return self.bytes(*CACHED)

    @property
    def bytes_cached_per_token(self) -> int:
        """The same for one token of one entry."""
        cached = [step for step in self.steps if step.rule.name in CACHED]
        tokens = [step.shape[-2] * step.lengths.get(BATCH, 1) for step in cached]
        return sum(step.numbers // of for step, of in zip(cached, tokens, strict=True)) * self.dtype.size

    @property
    def matrices(self) -> Mapping[str, int]:
        """How many attention matrices there are: of how many layers, entries and heads."""
        (weights,) = (step for step in self.steps if step.rule.name == "weights")
        leading = {word: weights.lengths.get(letter, 1) for letter, word in ((BATCH, "entry"), (HEAD, "head"))}
        return {"layer": self.layers, **leading}
