"""Two ways to work attention out, side by side: which steps differ, the first of them, and what moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from numpy.typing import NDArray

from attncli.attention.rules import RULES
from attncli.study.difference import Difference, difference, factor
from attncli.study.layout import Layout, Shape, arranged, common_shape, likeness, original, same_layout
from attncli.study.moved import Moved, moved
from attncli.study.side import Labels, Side, by_label, step_names

# Several roundings of the format, since each step builds on those before it; of random problems up to 512 tokens
# and 128 features, the worst takes less than half of it.
TOLERANCES = {"float64": 1e-9, "float32": 1e-5, "float16": 1e-2, "bfloat16": 1e-1}
HIDING = ("mask", "masked", "row_max", "shifted")  # where -inf hides, and other software writes -1e9


@dataclass(frozen=True, slots=True, eq=False)
class StepComparison:
    """One step: its shape on either side, None where it is not there, and the difference where shapes agree.

    `labels` name the places of its cells. `factor` is c where every cell of b is c times that of a; `layout` says
    that one is the other laid out differently. What is "split" on one side, and has its heads side by side on the
    other, is compared in the shape of the former; other layouts are differences.
    """

    name: str
    shapes: tuple[Shape | None, Shape | None]
    labels: Labels
    difference: Difference | None = None
    factor: float | None = None
    layout: Layout | None = None

    @property
    def title(self) -> str:
        return RULES[self.name].title

    @property
    def of_pairs(self) -> bool:
        """Whether each of its cells is of a query and a key."""
        return RULES[self.name].axes[-2:] == ("query", "key")

    @property
    def outer(self) -> int:
        """How many axes, of entries and heads, come before those of one head."""
        return max(0, len(self.labels) - len(RULES[self.name].axes))

    @property
    def transposed(self) -> bool:
        """Whether b is a with rows and columns exchanged."""
        return self.layout == "transposed"

    def arranged(self, array: NDArray[Any]) -> NDArray[Any]:
        """Either side's array, in the shape in which both are compared."""
        return arranged(array, tuple(map(len, self.labels)), RULES[self.name].axes)

    def cell(self, side: Side) -> tuple[int, ...]:
        """The farthest cell as one of the step on this side."""
        assert self.difference is not None
        shape = tuple(map(len, self.labels))
        own = original(self.difference.where, shape, side[self.name].shape, RULES[self.name].axes)
        return side.index(self.name, own)

    @property
    def one_sided(self) -> bool:
        return None in self.shapes

    @property
    def differs(self) -> bool:
        """Whether it is on both sides and not the same there: other numbers, or another shape."""
        if self.difference is None:
            return not self.one_sided
        return self.difference.differing > 0

    @property
    def identical(self) -> bool:
        """Whether all cells are the same to the last bit."""
        return self.difference is not None and self.difference.needed == 0 and not self.difference.hidden


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


def compare(a: Side, b: Side, *, tolerance: float | None = None, steps: Sequence[str] | None = None) -> Comparison:
    """Compare two sides step by step, all steps or the named ones.

    Cells differ where |a − b| > tolerance · (typical + max(|a|, |b|)), typical being the root mean
    square of the step; without a tolerance it is that of the coarser
    number format (`TOLERANCES`).
    """
    a, b = by_label(a, b)
    if tolerance is None:
        tolerance = TOLERANCES[max(a.dtype, b.dtype, key=lambda dtype: dtype.epsilon).name]
    names = [name for name in step_names(a, b) if steps is None or name in steps]
    compared = tuple(_step(a, b, name, tolerance) for name in names)
    weights = next((step for step in compared if step.name == "weights" and step.difference), None)
    moves: tuple[Moved, ...] = ()
    if weights:
        moves = moved(weights.arranged(a["weights"]), weights.arranged(b["weights"]), tolerance)
    return Comparison(a, b, tolerance, compared, _settings(a, b), moves)


def _step(a: Side, b: Side, name: str, tolerance: float) -> StepComparison:
    ours, theirs, axes = a.get(name), b.get(name), RULES[name].axes
    shapes = (None if ours is None else ours.shape, None if theirs is None else theirs.shape)
    if ours is None or theirs is None:
        return StepComparison(name, shapes, _labels(a, b, name, shapes[0] or shapes[1] or ()))
    shape = common_shape(ours.shape, theirs.shape, axes)
    if shape is None:
        labels = _labels(a, b, name, ours.shape)
        return StepComparison(name, shapes, labels, layout=likeness(ours, theirs, tolerance))
    labels = _labels(a, b, name, shape)
    layout: Layout | None = None if same_layout(ours.shape, theirs.shape) else "split"
    ours, theirs = arranged(ours, shape, axes), arranged(theirs, shape, axes)
    hides = name in HIDING
    found = difference(ours, theirs, tolerance, hides=hides)
    if not found.differing:
        return StepComparison(name, shapes, labels, found, layout=layout)
    layout = likeness(ours, theirs, tolerance) or layout
    return StepComparison(name, shapes, labels, found, factor(ours, theirs, tolerance, hides=hides), layout)


def _labels(a: Side, b: Side, name: str, shape: Shape) -> Labels:
    """Labels for the axes of this shape, those of a or of b where one has them; at worst, indices from 0."""
    for side in (a, b):
        labels = side.labels(name) if name in side else ()
        if tuple(map(len, labels)) == shape:
            return labels
    return tuple(tuple(map(str, range(size))) for size in shape)


def _settings(a: Side, b: Side) -> dict[str, tuple[Any, Any]]:
    if a.trace is None or b.trace is None:
        return {}
    ours, theirs = asdict(a.trace.settings), asdict(b.trace.settings)
    return {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]}
