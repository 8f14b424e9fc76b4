"""Two ways to work attention out, side by side: which steps differ, the first of them, and what moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from attncli.dtypes import Dtype
from attncli.features.compare.moved import Moved, moved
from attncli.features.compare.operand import Side, by_label, step_names
from attncli.features.compare.step import Measured, StepComparison, compare_step
from attncli.tracing.magnitudes import Magnitudes

# Measured, with room to spare: decision 17 says how.
TOLERANCES = {"float64": 1e-9, "float32": 1e-5, "float16": 3e-3, "bfloat16": 2e-2}


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """All steps of both sides in order, the settings that are not the same, and the weights that moved."""

    a: Side
    b: Side
    tolerance: float
    steps: tuple[StepComparison, ...]
    settings: Mapping[str, tuple[Any, Any]]
    moved: tuple[Moved, ...]

    @property
    def first(self) -> StepComparison | None:
        """The first step that differs."""
        return next((step for step in self.steps if step.differs), None)

    @property
    def told_one_sided(self) -> tuple[StepComparison, ...]:
        """The steps that only one side has; that a dump lacks one of a problem's is not worth telling."""
        return tuple(step for step in self.steps if step.one_sided and not self._left_out(step))

    def _left_out(self, step: StepComparison) -> bool:
        """Whether a problem has it, and a dump does not."""
        lacks, has = (self.a, self.b) if step.shapes[0] is None else (self.b, self.a)
        return has.trace is not None and lacks.trace is None

    @property
    def told_before(self) -> tuple[StepComparison, ...]:
        """Those of them that come before the first step that differs: the cause may be in them."""
        before = self.steps[: self.steps.index(self.first)] if self.first else ()
        return tuple(step for step in self.told_one_sided if step in before)

    def __getitem__(self, name: str) -> StepComparison:
        return next(step for step in self.steps if step.name == name)


def compare(
    a: Side, b: Side, *, tolerance: float | None = None, steps: Sequence[str] | None = None, sized: bool = True
) -> Comparison:
    """Compare two sides step by step, all steps or the named ones.

    Cells differ where |a − b| > tolerance · size, the size being that of the numbers which the cell is made of, in
    the problem of either side (`Magnitudes`). Without a tolerance it is that of the coarser number format
    (`TOLERANCES`). `sized` is to be False where nothing but the numbers apart matters, and sizes would be work in vain.
    """
    a, b = by_label(a, b)
    coarser = max(a.dtype, b.dtype, key=lambda dtype: dtype.epsilon)
    if tolerance is None:
        tolerance = TOLERANCES[coarser.name]
    measured = _measured(a, coarser, sized), _measured(b, coarser, sized)
    names = [name for name in step_names(a, b) if steps is None or name in steps]
    compared = tuple(compare_step(a, b, name, tolerance, measured) for name in names)
    weights = next((step for step in compared if step.name == "weights" and step.difference and step.differs), None)
    moves: tuple[Moved, ...] = ()
    if weights:
        moves = moved(weights.arranged(a["weights"]), weights.arranged(b["weights"]), tolerance)
    return Comparison(a, b, tolerance, compared, _settings(a, b), moves)


def _settings(a: Side, b: Side) -> dict[str, tuple[Any, Any]]:
    if a.trace is None or b.trace is None:
        return {}
    ours, theirs = asdict(a.trace.settings), asdict(b.trace.settings)
    return {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]}


def _measured(side: Side, coarser: Dtype, sized: bool) -> Measured:
    """The magnitudes of each step of a side as far as it is compared; None for a dump, which does not tell them."""
    sizes = Magnitudes(side.trace, coarser) if side.trace and sized else None
    return lambda name: None if sizes is None else side.compared(name, sizes[name])
