"""One step on both sides of a comparison: its shapes, how far it is apart, and what one is of the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from numpy.typing import NDArray

from attncli.attention.registry import RULES
from attncli.features.compare.layout import Layout, Shape, arranged, common_shape, likeness, original, shared_layout
from attncli.features.compare.operand import Labels, Side
from attncli.tracing.difference import Difference, Hides, Numbers, difference, factor, larger

Measured: TypeAlias = Callable[[str], Numbers | None]  # how large the numbers are that each cell of a step is made of
# Where -inf hides, and other software writes -1e9: beside a row of others, or as the one number of a row.
HIDING: Mapping[str, Hides] = {"mask": "row", "masked": "row", "row_max": "cell", "shifted": "row"}


@dataclass(frozen=True, slots=True, eq=False)
class StepComparison:
    """One step: its shape on either side, None where it is not there, and the difference where shapes agree.

    `labels` name the places of its cells. `factor` is c where every cell of b is c times that of a; `layout` says
    that one is the other laid out differently. What is "split" on one side, and has its heads side by side on the
    other, is compared in the shape of the former, and so are KV heads "repeated" for all query heads that they serve;
    other layouts are differences. `sizes` says how large the numbers
    are that each cell is made of, where a problem tells it and cells are not all the same.
    """

    name: str
    shapes: tuple[Shape | None, Shape | None]
    labels: Labels
    difference: Difference | None = None
    factor: float | None = None
    layout: Layout | None = None
    sizes: Numbers | None = None

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
        return self.difference is not None and self.difference.absolute == 0 and not self.difference.hidden


def compare_step(a: Side, b: Side, name: str, tolerance: float, measured: tuple[Measured, Measured]) -> StepComparison:
    ours, theirs, axes = a.get(name), b.get(name), RULES[name].axes
    shapes = (None if ours is None else ours.shape, None if theirs is None else theirs.shape)
    if ours is None or theirs is None:
        return StepComparison(name, shapes, _labels(a, b, name, shapes[0] or shapes[1] or ()))
    shape = common_shape(ours.shape, theirs.shape, axes, max(_group(a), _group(b)))
    if shape is None:
        labels = _labels(a, b, name, ours.shape)
        own = measured[0](name), measured[1](name)
        return StepComparison(name, shapes, labels, layout=likeness(ours, theirs, tolerance, own))
    labels = _labels(a, b, name, shape)
    layout = shared_layout(ours.shape, theirs.shape, axes)
    ours, theirs = arranged(ours, shape, axes), arranged(theirs, shape, axes)
    hides = HIDING.get(name)
    if (ours == theirs).all():
        return StepComparison(name, shapes, labels, difference(ours, theirs, tolerance, hides=hides), layout=layout)
    of_a, of_b = (None if size is None else arranged(size, shape, axes) for size in (of(name) for of in measured))
    sizes = larger(of_a, of_b)
    found = difference(ours, theirs, tolerance, sizes=sizes, hides=hides)
    if not found.differing:
        return StepComparison(name, shapes, labels, found, layout=layout, sizes=sizes)
    times = factor(ours, theirs, tolerance, sizes=(of_a, of_b), hides=hides)
    layout = likeness(ours, theirs, tolerance, (of_a, of_b)) or layout
    return StepComparison(name, shapes, labels, found, times, layout, sizes)


def _labels(a: Side, b: Side, name: str, shape: Shape) -> Labels:
    """Labels for the axes of this shape, those of a or of b where one has them; at worst, indices from 0."""
    for side in (a, b):
        labels = side.labels(name) if name in side else ()
        if tuple(map(len, labels)) == shape:
            return labels
        if len(labels) == len(shape) and "scores" in side:  # of repeated KV heads: the query heads
            alike = zip(labels, side.labels("scores"), shape, strict=False)
            both = tuple(own if len(own) == size else heads for own, heads, size in alike)
            if tuple(map(len, both)) == shape:
                return both
    return tuple(tuple(map(str, range(size))) for size in shape)


def _group(side: Side) -> int:
    """How many query heads a head of keys and values serves."""
    parameters = side.trace.parameters if side.trace else {}
    return int(parameters["group"].value) if "group" in parameters else 1
