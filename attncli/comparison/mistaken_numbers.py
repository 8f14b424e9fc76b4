"""Whether a mistake gives the numbers of the other side, and whether these say more than noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.dtypes import DTYPES, Dtype
from attncli.mistakes.blind_queries import blind_queries, blind_readings
from attncli.mistakes.forward import rounded
from attncli.mistakes.mistaken_trace import MistakenTrace
from attncli.mistakes.model import Changes
from attncli.tracing.comparison import (
    STEPS_THAT_HIDE,
    TOLERANCES,
    Comparison,
    Operand,
    StepComparison,
)
from attncli.tracing.difference import Doubles, cells_apart, difference, doubles, larger
from attncli.tracing.magnitudes import Magnitudes
from attncli.tracing.model import Trace

# One cell may be right by chance.
FEWEST_CELLS = 2


class Made:
    """The numbers of a trace with a mistake, in every way to treat the queries that see no key with
    it.

    Steps that are `optional` may as well be right.
    """

    def __init__(self, trace: Trace, changes: Changes, optional: tuple[str, ...]) -> None:
        self.trace = trace
        self.changes = changes
        self.optional = optional
        self.plain = MistakenTrace(trace, changes)

    @cached_property
    def unread(self) -> frozenset[str]:
        """The steps that nothing reads with the mistake, and something does without it: whatever
        they are on the other side, it shows nothing.
        """
        return _read(self.trace) - _read(self.plain.trace)

    def is_hidden_in(self, name: str) -> bool:
        """Whether a step is the scores under a mask, or comes after these."""
        order = list(self.trace.steps)
        return "masked" in self.trace and order.index(name) >= order.index("masked")

    @cached_property
    def readings(self) -> tuple[MistakenTrace, ...]:
        """The numbers as attncli has them, and then as others do."""
        if "masked" not in self.trace:
            return (self.plain,)
        blind = blind_queries(self.plain["masked"])
        readings = [self.plain]
        for changes in blind_readings(self.trace, self.changes, blind):
            reading = MistakenTrace(self.trace, changes)
            readings.append(reading)
        return tuple(readings)


def _read(trace: Trace) -> frozenset[str]:
    """The steps that the result is made of."""
    found = {trace.result}
    for step in reversed([*trace.steps.values()]):
        if step.name in found and not step.rule.given:
            found.update(step.rule.inputs)
    return frozenset(found)


class _Cells(NamedTuple):
    """The cells of a step as they are right and as they are there, how far these are apart, and
    which of them differ.
    """

    right: Doubles
    there: Doubles
    apart: Doubles
    differ: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """The numbers of `theirs`, which a mistake in our problem, whose trace is `trace`, may give."""

    comparison: Comparison
    ours: Operand
    theirs: Operand
    trace: Trace
    _known: dict[str, _Cells] = field(default_factory=dict, repr=False)
    _magnitudes: list[Magnitudes] = field(default_factory=list, repr=False)

    @property
    def first(self) -> StepComparison:
        """The first step that differs."""
        first = self.comparison.first
        assert first is not None
        return first

    def is_given(self, step: StepComparison, made: Made) -> bool:
        """Whether a mistake gives a step, with any way to treat the queries that see no key."""
        if self.gives(step, made.plain):
            return True
        # What comes before the mask is the same in all ways.
        if not made.is_hidden_in(step.name):
            return False
        if any(self.gives(step, reading) for reading in made.readings[1:]):
            return True
        return len(made.readings) > 1 and self._gives_by_rows(step, made.readings)

    def gives(self, step: StepComparison, mistaken: MistakenTrace) -> bool:
        """Whether every cell of a step on their side is what the mistake makes of ours.

        A cell may be as far off as the terms allow that either equation makes it of; those of the
        mistake are looked at only where the others do not suffice, and only if every cell that
        differs does so beyond them.
        """
        made = self._made(step, mistaken)
        if self._gives_to_the_digit(step, made):
            return True
        # Sizes take long, and most mistakes are told without them.
        if not self._is_nearer(step, made):
            return False
        sizes = self._sizes(step, mistaken)
        return self._gives_within(step, made, sizes)

    def far(self, step: StepComparison, mistaken: MistakenTrace) -> float:
        """How far the mistake's numbers are from theirs on the mean of all cells where both are
        finite.
        """
        hides = STEPS_THAT_HIDE.get(step.name)
        apart = cells_apart(self._made(step, mistaken), self._there(step), hides)
        finite = apart[np.isfinite(apart)]
        return float(finite.mean()) if finite.size else 0.0

    def _gives_by_rows(self, step: StepComparison, readings: Sequence[MistakenTrace]) -> bool:
        """Whether every row is what one of these readings makes of it.

        A program may treat one query that sees no key in another way than the next one: two masks
        that are added hide some keys twice, and twice the lowest float is -inf.
        """
        axes = step.rule.axis_names
        if "query" not in axes or step.name in STEPS_THAT_HIDE:
            return False
        made = [self._made(step, reading) for reading in readings]
        within_row = tuple(range(axes.index("query") + 1 - len(axes), 0))
        far = cells_apart(np.stack(made), self._there(step)).max(axis=within_row, keepdims=True)
        nearest = far.argmin(axis=0, keepdims=True)

        def chosen(arrays: Sequence[Doubles]) -> Doubles:
            return np.asarray(np.take_along_axis(np.stack(arrays), nearest, axis=0)[0])

        of_rows = chosen(made)
        if self._gives_to_the_digit(step, of_rows):
            return True
        if not self._is_nearer(step, of_rows):
            return False
        sizes = chosen([self._sizes(step, reading) for reading in readings])
        return self._gives_within(step, of_rows, sizes)

    def _gives_to_the_digit(self, step: StepComparison, made: Doubles) -> bool:
        """Whether these are their numbers, even if each cell were made of no larger ones."""
        own_sizes = np.where(np.isfinite(made), np.abs(made), 0.0)
        return not self._differing(step, made, own_sizes)

    def _is_nearer(self, step: StepComparison, made: Doubles) -> bool:
        """Whether every cell that differs is nearer to these numbers than to the right ones.

        No size makes a cell one of these numbers, and none of the right ones, where it is not.
        """
        cells = self._cells(step)
        apart = cells_apart(made, cells.there, STEPS_THAT_HIDE.get(step.name))
        return bool((apart < cells.apart)[cells.differ].all())

    def _gives_within(self, step: StepComparison, made: Doubles, sizes: Doubles) -> bool:
        """Whether these are their numbers as far as the sizes allow, and the right ones are not."""
        if self._differing(step, made, sizes):
            return False
        # Terms so large that the right numbers would do as well show nothing.
        differing = step.difference.differing if step.difference else 0
        return self._differing(step, self._right(step), sizes) >= differing

    def a_lower_format_would_do(self, step: StepComparison) -> bool:
        """Whether roundings to a lower number format explain the first step that differs, too.

        Half-precise numbers are often saved in float32. Where scores are large, the weights are
        then 0 and 1, and so they are with many mistakes. Only other numbers are evidence of one.
        """
        changes = rounded("weights", 0)(self.trace)
        if not changes:
            return False
        zeros_and_ones = MistakenTrace(self.trace, changes)
        if step.name not in zeros_and_ones.moved:
            return False
        if not self._is_within_a_lower_format(step):
            return False
        right = self._right(step)
        there = self._there(step)
        made = self._made(step, zeros_and_ones)
        is_made_nearer = cells_apart(made, there) < cells_apart(right, there)
        nearer = np.where(is_made_nearer, made, right)
        evident = self._differing(step, nearer, np.abs(nearer))
        return evident < FEWEST_CELLS

    def _is_within_a_lower_format(self, step: StepComparison) -> bool:
        """Whether no cell is farther off than a correct program may be in a lower format."""
        right = self._right(step)
        there = self._there(step)
        for name, tolerance in TOLERANCES.items():
            format = DTYPES[name]
            if format.epsilon <= self._coarser.epsilon:
                continue
            magnitudes = Magnitudes(self.trace, format)
            sizes = self._arranged(step, magnitudes[step.name])
            found = difference(right, there, tolerance, sizes=sizes)
            if not found.differing:
                return True
        return False

    @property
    def _coarser(self) -> Dtype:
        return max(self.ours.dtype, self.theirs.dtype, key=lambda dtype: dtype.epsilon)

    def _differing(self, step: StepComparison, numbers: Doubles, sizes: Doubles) -> int:
        """How many cells of their step are other ones than these numbers."""
        return difference(
            numbers,
            self._there(step),
            self.comparison.tolerance,
            sizes=larger(step.sizes, sizes),
            hides=STEPS_THAT_HIDE.get(step.name),
        ).differing

    def _right(self, step: StepComparison) -> Doubles:
        return self._cells(step).right

    def _there(self, step: StepComparison) -> Doubles:
        return self._cells(step).there

    def _cells(self, step: StepComparison) -> _Cells:
        if step.name not in self._known:
            right = doubles(step.arranged(self.ours[step.name]))
            there = doubles(step.arranged(self.theirs[step.name]))
            apart = cells_apart(right, there, STEPS_THAT_HIDE.get(step.name))
            allowed = 0.0 if step.sizes is None else self.comparison.tolerance * step.sizes
            self._known[step.name] = _Cells(right, there, apart, apart > allowed)
        return self._known[step.name]

    def _made(self, step: StepComparison, mistaken: MistakenTrace) -> Doubles:
        return self._arranged(step, mistaken[step.name])

    def _sizes(self, step: StepComparison, mistaken: MistakenTrace) -> Doubles:
        if not self._magnitudes:
            self._magnitudes.append(Magnitudes(self.trace, self._coarser))
        [right] = self._magnitudes
        sizes = mistaken.sizes(step.name, self._coarser, right)
        return self._arranged(step, sizes)

    def _arranged(self, step: StepComparison, numbers: Doubles) -> Doubles:
        """Numbers in the shape of our step, as they are compared."""
        return step.arranged(self.ours.compared_rows(step.name, numbers))
