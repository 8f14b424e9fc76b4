"""Two ways to work attention out, compared step by step: which steps differ, the first of them, and
how far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncli.attention.registry import known_rule
from attncli.dtypes import DTYPES, Dtype
from attncli.equation.nodes import Ref
from attncli.equation.rule import Rule
from attncli.problem.matrix import Scalar
from attncli.problem.parts.axes import of_one_head
from attncli.tracing.difference import Difference, Doubles, Hides, difference, factor, larger
from attncli.tracing.head_layouts import (
    OtherLayout,
    Shape,
    arrange,
    common_shape,
    index_before,
    other_layout,
    shared_layout,
)
from attncli.tracing.magnitudes import Magnitudes
from attncli.tracing.model import Labels, Trace

# How large the numbers are that each cell of a step is made of.
StepSizes: TypeAlias = Callable[[str], Doubles | None]

# Measured, with room to spare: decision 17 says how.
TOLERANCES = {"float64": 1e-9, "float32": 1e-5, "float16": 3e-3, "bfloat16": 2e-2}
# Where -inf hides, and other software writes -1e9: beside a row of others, or as the one number of
# a row.
STEPS_THAT_HIDE: Mapping[str, Hides] = {
    "mask": "row",
    "masked": "row",
    "row_max": "cell",
    "shifted": "row",
}
# The numbers of RoPE as config.json has them, each with our name.
_NUMBERS_OF_ROPE = {
    "rope_theta": "theta",
    "rotary_dim": "rotary_dim",
    "factor": "factor",
    "original_max_position_embeddings": "original_length",
    "attention_factor": "attention_factor",
    "mscale": "mscale",
    "mscale_all_dim": "mscale_all_dim",
    "low_freq_factor": "low_freq_factor",
    "high_freq_factor": "high_freq_factor",
}


@dataclass(frozen=True, slots=True, eq=False)
class Operand:
    """One side of a comparison: arrays by the names of steps, in order, of a trace or of another
    program.

    `name` is what messages call it, `word` and `phrase` what a page does (A, in A). `step_labels`
    has the labels of a step's places, axis by axis, as far as they are known; `dtype` is the number
    format, as far as it is known; `trace` is None for another program's numbers. `rows` are the
    queries that are compared, where the other side has not all of them. `read_as` has the step of
    each name that another program wrote, where that is not our name. `sees_no_key` is what a query
    that sees no key is given, one of `SEES_NO_KEY`; None where this was not asked for. `own` are
    the rules of steps of the other side's own equations. `handed_on` are the given arrays that a
    computation before this one worked out, as the layers before do.
    """

    name: str
    word: str
    phrase: str
    arrays: Mapping[str, NDArray[Any]]
    dtype: Dtype
    step_labels: Mapping[str, Labels]
    trace: Trace | None = None
    warnings: tuple[str, ...] = ()
    rows: tuple[int, ...] | None = None
    read_as: Mapping[str, str] = field(default_factory=dict)
    sees_no_key: str | None = None
    own: Mapping[str, Rule] = field(default_factory=dict)
    handed_on: frozenset[str] = frozenset()

    @classmethod
    def of_trace(cls, trace: Trace, name: str, word: str, phrase: str) -> Operand:
        """All steps of a trace."""
        arrays = {}
        labels = {}
        for step in trace.steps.values():
            arrays[step.name] = trace[step.name]
            labels[step.name] = step.labels
        return cls(
            name,
            word,
            phrase,
            arrays,
            dtype=DTYPES[trace.settings.dtype],
            step_labels=labels,
            trace=trace,
            warnings=trace.warnings,
        )

    def rule(self, name: str) -> Rule:
        """The rule of a step in one head: that of ours, or of the problem's own equations."""
        step = self.trace.steps.get(name) if self.trace else None
        if step is None or not step.rule.own:
            return self.own.get(name) or known_rule(name)
        return in_one_head(step.rule)

    @property
    def names(self) -> tuple[str, ...]:
        """The steps there are, in order."""
        return tuple(self.arrays)

    def __contains__(self, name: object) -> bool:
        return name in self.arrays

    def __getitem__(self, name: str) -> NDArray[Any]:
        """What is compared of a step; KeyError where this side does not have it."""
        return self.compared_rows(name, self.arrays[name])

    def get(self, name: str) -> NDArray[Any] | None:
        """The same, or None where this side does not have it."""
        if name not in self:
            return None
        return self[name]

    def compared_rows(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        """The rows that are compared, of an array in the shape of a step."""
        axis = _query_axis(self.rule(name), array.ndim)
        if self.rows is None or axis is None:
            return array
        return np.take(array, self.rows, axis=axis)

    @property
    def queries(self) -> tuple[str, ...]:
        """The labels of the queries that are compared; none where they are not known."""
        return self._tokens(-2)

    @property
    def keys(self) -> tuple[str, ...]:
        """The labels of the keys; none where they are not known."""
        return self._tokens(-1)

    def _tokens(self, axis: int) -> tuple[str, ...]:
        labels = self.labels("weights") if "weights" in self else ()
        return labels[axis] if len(labels) > 1 else ()

    def labels(self, name: str) -> Labels:
        """The labels of the places that are compared of a step, axis by axis; nothing where they
        are not known.
        """
        labels = self.step_labels.get(name, ())
        axis = _query_axis(self.rule(name), len(labels))
        if self.rows is None or axis is None:
            return labels
        queries = labels[axis]
        compared = tuple(queries[row] for row in self.rows)
        found = list(labels)
        found[axis] = compared
        return tuple(found)

    def index(self, name: str, index: tuple[int, ...]) -> tuple[int, ...]:
        """A cell of a compared array as one of the whole step."""
        axis = _query_axis(self.rule(name), len(index))
        if self.rows is None or axis is None:
            return index
        compared = index[axis]
        row = self.rows[compared]
        whole = list(index)
        whole[axis] = row
        return tuple(whole)


def in_one_head(rule: Rule) -> Rule:
    """The rule of a step of a problem's own with its letters in one head, and without equation."""
    return rule.with_formula(Ref(rule.name, of_one_head(rule.target.letters)), None)


def match_queries(a: Operand, b: Operand) -> tuple[Operand, Operand]:
    """Both sides with the queries that both have, where the keys are the same and one side has not
    all queries.

    So a step of decoding, whose earlier tokens come from a cache, is held against the last row of
    the whole.
    """
    if a.keys != b.keys:
        return a, b
    if _has_some_of_the_queries(a, b):
        return a, _with_the_queries(b, a)
    if _has_some_of_the_queries(b, a):
        return _with_the_queries(a, b), b
    return a, b


def _has_some_of_the_queries(side: Operand, other: Operand) -> bool:
    """Whether the other side has all queries of this one and more."""
    own = set(side.queries)
    others = set(other.queries)
    # Two queries of one name cannot be told apart.
    if len(own) < len(side.queries) or len(others) < len(other.queries):
        return False
    return bool(own) and own < others


def _with_the_queries(side: Operand, other: Operand) -> Operand:
    """This side with the queries of the other one, in their order."""
    rows = tuple(map(side.queries.index, other.queries))
    return replace(side, rows=rows)


def step_names(a: Operand, b: Operand) -> list[str]:
    """The steps of both, in an order that keeps to either's own."""
    merged = list(a.names)
    place = 0
    for name in b.names:
        if name in merged:
            place = merged.index(name) + 1
        else:
            merged.insert(place, name)
            place += 1
    return merged


def _query_axis(rule: Rule, rank: int) -> int | None:
    """Which axis of an array with so many is that of the queries, if it has one."""
    axes = rule.axis_names
    leading = rank - len(axes)
    if leading < 0 or "query" not in axes:
        return None
    return leading + axes.index("query")


@dataclass(frozen=True, slots=True, eq=False)
class StepComparison:
    """One step: its shape on either side, None where it is not there, and the difference where
    shapes agree.

    `labels` name the places of its cells. `factor` is c where every cell of b is c times that of a;
    `layout` says that one is the other laid out differently. What is "split" on one side, and has
    its heads side by side on the other, is compared in the shape of the former, and so are KV heads
    "repeated" for all query heads that they serve; other layouts are differences. `sizes` says how
    large the numbers are that each cell is made of, where a trace tells it and cells are not all
    the same.
    """

    rule: Rule
    shapes: tuple[Shape | None, Shape | None]
    labels: Labels
    difference: Difference | None = None
    factor: float | None = None
    layout: OtherLayout | None = None
    sizes: Doubles | None = None

    @property
    def name(self) -> str:
        return self.rule.name

    @property
    def title(self) -> str:
        return self.rule.title

    @property
    def of_pairs(self) -> bool:
        """Whether each of its cells is of a query and a key."""
        return self.rule.axis_names[-2:] == ("query", "key")

    @property
    def outer(self) -> int:
        """How many axes, of entries and heads, come before those of one head."""
        return max(0, len(self.labels) - len(self.rule.axis_names))

    @property
    def transposed(self) -> bool:
        """Whether b is a with rows and columns exchanged."""
        return self.layout == "transposed"

    def arranged(self, array: NDArray[Any]) -> NDArray[Any]:
        """Either side's array, in the shape in which both are compared."""
        return arrange(array, _lengths(self.labels), self.rule.axis_names)

    def cell(self, side: Operand) -> tuple[int, ...]:
        """The farthest cell as one of the step on this side."""
        assert self.difference is not None
        array = side[self.name]
        shape = _lengths(self.labels)
        own = index_before(self.difference.where, shape, array.shape, self.rule.axis_names)
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
        return (
            self.difference is not None
            and self.difference.absolute == 0
            and not self.difference.hidden
        )


def compare_step(
    a: Operand, b: Operand, name: str, tolerance: float, step_sizes: tuple[StepSizes, StepSizes]
) -> StepComparison:
    """One step of both sides, in the one shape that both can be brought to, if there is one."""
    ours, theirs = a.get(name), b.get(name)
    if ours is None or theirs is None:
        return _one_sided(a, b, name)
    rule = a.rule(name)
    axes = rule.axis_names
    shapes = (ours.shape, theirs.shape)
    group = max(_group(a), _group(b))
    shape = common_shape(*shapes, axes, group)
    size_of_a, size_of_b = step_sizes
    if shape is None:
        labels = _labels(a, b, name, ours.shape)
        own_sizes = (size_of_a(name), size_of_b(name))
        layout = other_layout(ours, theirs, tolerance, own_sizes)
        return StepComparison(rule, shapes, labels, layout=layout)
    labels = _labels(a, b, name, shape)
    layout = shared_layout(*shapes, axes)
    ours = arrange(ours, shape, axes)
    theirs = arrange(theirs, shape, axes)
    hides = STEPS_THAT_HIDE.get(name)
    # Sizes take time, and nothing that is the same needs them.
    if (ours == theirs).all():
        found = difference(ours, theirs, tolerance, hides=hides)
        return StepComparison(rule, shapes, labels, found, layout=layout)
    of_a = _arranged(size_of_a(name), shape, axes)
    of_b = _arranged(size_of_b(name), shape, axes)
    sizes = larger(of_a, of_b)
    found = difference(ours, theirs, tolerance, sizes=sizes, hides=hides)
    if not found.differing:
        return StepComparison(rule, shapes, labels, found, layout=layout, sizes=sizes)
    both_sizes = (of_a, of_b)
    times = factor(ours, theirs, tolerance, sizes=both_sizes, hides=hides)
    layout = other_layout(ours, theirs, tolerance, both_sizes) or layout
    return StepComparison(rule, shapes, labels, found, times, layout, sizes)


def _one_sided(a: Operand, b: Operand, name: str) -> StepComparison:
    """A step that one side has, or none."""
    shape_of_a = _shape(a, name)
    shape_of_b = _shape(b, name)
    there = shape_of_a or shape_of_b or ()
    labels = _labels(a, b, name, there)
    shapes = (shape_of_a, shape_of_b)
    rule = (a if name in a else b).rule(name)
    return StepComparison(rule, shapes, labels)


def _shape(side: Operand, name: str) -> Shape | None:
    array = side.get(name)
    return None if array is None else array.shape


def _arranged(sizes: Doubles | None, shape: Shape, axes: Sequence[str]) -> Doubles | None:
    return None if sizes is None else arrange(sizes, shape, axes)


def _labels(a: Operand, b: Operand, name: str, shape: Shape) -> Labels:
    """Labels for the axes of this shape, those of a or of b where one has them; at worst, indices
    from 0.
    """
    for side in (a, b):
        labels = side.labels(name) if name in side else ()
        if _lengths(labels) == shape:
            return labels
        # Heads of keys that are repeated have the labels of the query heads.
        if len(labels) == len(shape) and "scores" in side:
            axes = zip(labels, side.labels("scores"), shape, strict=False)
            both = tuple(own if len(own) == size else heads for own, heads, size in axes)
            if _lengths(both) == shape:
                return both
    counted = []
    for size in shape:
        places = map(str, range(size))
        counted.append(tuple(places))
    return tuple(counted)


def _lengths(labels: Labels) -> Shape:
    return tuple(map(len, labels))


def _group(side: Operand) -> int:
    """How many query heads a head of keys and values serves."""
    parameters = side.trace.parameters if side.trace else {}
    return int(parameters["group"].value) if "group" in parameters else 1


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """All steps of both sides in order, and the settings that are not the same."""

    a: Operand
    b: Operand
    tolerance: float
    steps: tuple[StepComparison, ...]
    settings: Mapping[str, tuple[Any, Any]]

    @property
    def first(self) -> StepComparison | None:
        """The first step that differs."""
        return next((step for step in self.steps if step.differs), None)

    @property
    def one_sided(self) -> tuple[StepComparison, ...]:
        """The steps that only one side has, but for those of a trace that other software did not
        hand over.
        """
        return tuple(step for step in self.steps if step.one_sided and not self._left_out(step))

    def _left_out(self, step: StepComparison) -> bool:
        """Whether a trace has it, and another program's numbers do not."""
        lacks, has = (self.a, self.b) if step.shapes[0] is None else (self.b, self.a)
        return has.trace is not None and lacks.trace is None

    @property
    def one_sided_before(self) -> tuple[StepComparison, ...]:
        """Those of them that come before the first step that differs: the cause may be in them."""
        before = self.steps[: self.steps.index(self.first)] if self.first else ()
        return tuple(step for step in self.one_sided if step in before)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the sides warn of; where only one of them does, with its name."""
        said = []
        for message in dict.fromkeys(self.a.warnings + self.b.warnings):
            warned = [side for side in (self.a, self.b) if message in side.warnings]
            first = warned[0]
            if len(warned) > 1:
                said.append(message)
            elif first.trace:
                said.append(f"{message} ({first.phrase})")
            else:
                said.append(f"{first.name}: {message}")
        return tuple(said)

    def __getitem__(self, name: str) -> StepComparison:
        return next(step for step in self.steps if step.name == name)


def compare(
    a: Operand,
    b: Operand,
    *,
    tolerance: float | None = None,
    steps: Sequence[str] | None = None,
    sized: bool = True,
) -> Comparison:
    """Compare two sides step by step, all steps or the named ones.

    Cells differ where |a − b| > tolerance · size, the size being that of the numbers which the cell
    is made of, in the problem of either side (`Magnitudes`). Without a tolerance it is that of the
    coarser number format (`TOLERANCES`). `sized` is to be False where nothing but the numbers apart
    matters, and sizes would be work in vain.
    """
    a, b = match_queries(a, b)
    coarser = max(a.dtype, b.dtype, key=lambda dtype: dtype.epsilon)
    if tolerance is None:
        tolerance = TOLERANCES[coarser.name]
    step_sizes = _step_sizes(a, coarser, sized), _step_sizes(b, coarser, sized)
    names = [name for name in step_names(a, b) if steps is None or name in steps]
    compared = tuple(compare_step(a, b, name, tolerance, step_sizes) for name in names)
    return Comparison(a, b, tolerance, compared, _settings(a, b))


def _settings(a: Operand, b: Operand) -> dict[str, tuple[Any, Any]]:
    if a.trace is None or b.trace is None:
        return {}
    ours = a.trace.settings._asdict()
    theirs = b.trace.settings._asdict()
    if "Q_rot" in a.trace and "Q_rot" in b.trace:
        ours |= _of_rope(a.trace)
        theirs |= _of_rope(b.trace)
    return {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]}


def _of_rope(trace: Trace) -> dict[str, float | None]:
    """The numbers that config.json has of RoPE, by their names there; None where there is none."""
    found: dict[str, float | None] = {}
    for name, own in _NUMBERS_OF_ROPE.items():
        given = trace.parameters.get(own)
        found[name] = float(given.value) if isinstance(given, Scalar) else None
    # Where nothing is said, all features turn.
    if found["rotary_dim"] is None:
        found["rotary_dim"] = float(trace["K"].shape[-1])
    return found


def _step_sizes(side: Operand, coarser: Dtype, sized: bool) -> StepSizes:
    """The magnitudes of each step of a side as far as it is compared; None for what is no trace."""
    sizes = Magnitudes(side.trace, coarser, side.handed_on) if side.trace and sized else None
    return lambda name: None if sizes is None else side.compared_rows(name, sizes[name])
