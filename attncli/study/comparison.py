"""Two ways to work attention out, side by side: which steps differ, the first of them, and what moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from numpy.typing import NDArray

from attncli.attention.rules import RULES
from attncli.choices import DTYPES, Dtype
from attncli.study.difference import Difference, aligned, difference, factor, transposed
from attncli.study.moved import Moved, moved
from attncli.tracing.dump import Dump
from attncli.tracing.model import Trace

Shape = tuple[int, ...]
Labels = tuple[tuple[str, ...], ...]

# Several roundings of the format, since each step builds on those before it; of random problems up to 512 tokens
# and 128 features, the worst takes less than half of it.
TOLERANCES = {"float64": 1e-9, "float32": 1e-5, "float16": 1e-2, "bfloat16": 1e-1}
HIDING = ("mask", "masked", "row_max", "shifted")  # where -inf hides, and other software writes -1e9


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One of the two: `name` is what messages call it, `word` and `phrase` what a page does (A, in A).

    `source` is a trace of ours, or the dump of another program.
    """

    name: str
    word: str
    phrase: str
    source: Trace | Dump

    @property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        if isinstance(self.source, Dump):
            return self.source.arrays
        return {name: step.value for name, step in self.source.steps.items()}

    @property
    def dtype(self) -> Dtype:
        """The number format, as far as that can be told."""
        return DTYPES[self.source.dtype if isinstance(self.source, Dump) else self.source.settings.dtype]

    @property
    def trace(self) -> Trace | None:
        return self.source if isinstance(self.source, Trace) else None

    def labels(self, name: str) -> Labels:
        """The labels of a step's places, axis by axis; nothing where a dump has none."""
        if isinstance(self.source, Dump):
            return self.source.labels.get(name, ())
        return self.source.steps[name].labels


@dataclass(frozen=True, slots=True, eq=False)
class StepComparison:
    """One step: its shape on either side, None where it is not there, and the difference where shapes agree.

    `labels` name the places of its cells. `factor` is c where every cell of b is c times that of a; `transposed`
    says that b is a with rows and columns exchanged.
    """

    name: str
    shapes: tuple[Shape | None, Shape | None]
    labels: Labels
    difference: Difference | None = None
    factor: float | None = None
    transposed: bool = False

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
    if tolerance is None:
        tolerance = TOLERANCES[max(a.dtype, b.dtype, key=lambda dtype: dtype.epsilon).name]
    names = [name for name in _merged(list(a.arrays), list(b.arrays)) if steps is None or name in steps]
    compared = tuple(_step(a, b, name, tolerance) for name in names)
    weights = next((step for step in compared if step.name == "weights" and step.difference), None)
    moves: tuple[Moved, ...] = ()
    if weights:
        ours, theirs = a.arrays["weights"], b.arrays["weights"]
        moves = moved(ours, theirs.reshape(ours.shape), tolerance)
    return Comparison(a, b, tolerance, compared, _settings(a, b), moves)


def _merged(a: list[str], b: list[str]) -> list[str]:
    """The names of both, in an order that keeps to either's own."""
    merged = list(a)
    place = 0
    for name in b:
        if name in merged:
            place = merged.index(name) + 1
        else:
            merged.insert(place, name)
            place += 1
    return merged


def _step(a: Side, b: Side, name: str, tolerance: float) -> StepComparison:
    ours, theirs = a.arrays.get(name), b.arrays.get(name)
    labels = _labels(a, b, name)
    shapes = (None if ours is None else ours.shape, None if theirs is None else theirs.shape)
    if ours is None or theirs is None:
        return StepComparison(name, shapes, labels)
    same_shape = aligned(ours, theirs)
    if same_shape is None:
        return StepComparison(name, shapes, labels, transposed=transposed(ours, theirs, tolerance))
    hides = name in HIDING
    found = difference(ours, same_shape, tolerance, hides=hides)
    if not found.differing:
        return StepComparison(name, shapes, labels, found)
    turned = transposed(ours, same_shape, tolerance)
    return StepComparison(name, shapes, labels, found, factor(ours, same_shape, tolerance, hides=hides), turned)


def _labels(a: Side, b: Side, name: str) -> Labels:
    """Labels for the axes of a, or those of b where a has none; at worst, indices from 0."""
    array = a.arrays.get(name, b.arrays.get(name))
    assert array is not None
    for side in (a, b):
        labels = side.labels(name) if name in side.arrays else ()
        if tuple(map(len, labels)) == array.shape:
            return labels
    return tuple(tuple(map(str, range(size))) for size in array.shape)


def _settings(a: Side, b: Side) -> dict[str, tuple[Any, Any]]:
    if a.trace is None or b.trace is None:
        return {}
    ours, theirs = asdict(a.trace.settings), asdict(b.trace.settings)
    return {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]}
