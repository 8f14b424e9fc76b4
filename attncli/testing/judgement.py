"""Whether an output is what a problem gives, and which mistakes give it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncli.comparison.mistaken_numbers import Made
from attncli.dtypes import DTYPES, Dtype
from attncli.equation.nodes import Call, Expression, Name, walk
from attncli.mistakes.blind_queries import blind_queries
from attncli.mistakes.catalogue import applicable
from attncli.mistakes.masks import in_one_mask
from attncli.mistakes.mistaken_trace import MistakenTrace
from attncli.mistakes.model import Changes, Mistake, with_calls
from attncli.testing.case import Case, Meaning
from attncli.tracing import run
from attncli.tracing.comparison import TOLERANCES
from attncli.tracing.difference import Difference, Doubles, difference, larger
from attncli.tracing.magnitudes import Magnitudes
from attncli.tracing.model import Trace

OUTPUT = "output"
# Of the largest number: no rounding moves an output so far. Nearer numbers are looked at closely,
# which takes long.
FAR = 0.1
# A small number that is added to a sum, so that nothing is divided by 0, is no mistake.
LEAST_TOLERANCE = 1e-6
TOLERANCES_OF_OUTPUTS = {name: max(each, LEAST_TOLERANCE) for name, each in TOLERANCES.items()}
# What comes out for a query that sees no key.
Blind: TypeAlias = Literal["0", "NaN", "average", "other"]
# A mistake gives an output, would give another one, or shows nothing in this problem.
Evidence: TypeAlias = Literal["gives", "refuted", "hidden"]
Rows: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How an output compares with the right one.

    `difference` is None where the shapes differ. `blind` is what stands in the rows of queries that
    see no key, which are not compared; None where every query sees one.
    """

    difference: Difference | None
    blind: Blind | None = None

    @property
    def agrees(self) -> bool:
        """Whether nothing differs; a row that sees no key may be 0, NaN or an average."""
        return (
            self.difference is not None and not self.difference.differing and self.blind != "other"
        )


class WrongCell(NamedTuple):
    """A cell of a step that differs."""

    step: str
    cell: tuple[int, ...]


class Expected:
    """What a trace gives in a number format, and what with each mistake that can be made in it."""

    def __init__(self, trace: Trace, dtype: str) -> None:
        self.trace = trace
        self.dtype: Dtype = DTYPES[dtype]
        self.tolerance = TOLERANCES_OF_OUTPUTS[dtype]
        self.output: Doubles = self.joined(lambda name: np.asarray(trace[name], np.float64))
        self._with: dict[str, _Mistaken] = {}
        self._assumed: dict[str, Self] = {}

    @classmethod
    def of(cls, case: Case, meaning: Meaning, dtype: str) -> Self:
        """What a case gives by one of its meanings."""
        return cls(run(case.problem(meaning)), dtype)

    @cached_property
    def judged(self) -> tuple[str, ...]:
        """The steps that are judged."""
        return (OUTPUT,)

    def joined(self, of: Callable[[str], Doubles]) -> Doubles:
        """The numbers of the steps that are judged: of several, one after another in a row."""
        if len(self.judged) == 1:
            return of(self.judged[0])
        return np.concatenate([of(name).ravel() for name in self.judged])

    @cached_property
    def places(self) -> Mapping[str, slice]:
        """Where the steps that are judged stand in a row of all their numbers."""
        found: dict[str, slice] = {}
        end = 0
        for name in self.judged:
            begin, end = end, end + prod(self.trace.steps[name].shape)
            found[name] = slice(begin, end)
        return found

    def symbol(self, name: str) -> str:
        """One of the steps that are judged as pages have it: dQ, dW_Q."""
        return self.trace.steps[name].rule.symbol

    def part(self, output: NDArray[Any], name: str) -> NDArray[Any]:
        """The numbers of one of the steps that are judged, in its shape."""
        return output.ravel()[self.places[name]].reshape(self.trace.steps[name].shape)

    def first_wrong(self, output: Doubles) -> WrongCell | None:
        """The first cell that differs, in the order of rows; None where only rows do that see no
        key.
        """
        is_wrong = self.wrong_cells(output).ravel()
        if not is_wrong.any():
            return None
        first = int(np.argmax(is_wrong))
        for name, place in self.places.items():
            if first < place.stop:
                shape = self.trace.steps[name].shape
                cell = np.unravel_index(first - place.start, shape)
                return WrongCell(name, tuple(map(int, cell)))
        raise AssertionError

    @cached_property
    def _applicable(self) -> Mapping[str, tuple[Mistake, Changes]]:
        found = {}
        for mistake, changes in applicable(self.trace, doubles=True):
            found[mistake.name] = mistake, self._that_are_read(mistake, changes)
        return found

    def _that_are_read(self, mistake: Mistake, changes: Changes) -> Changes:
        """The changes of a mistake without those of steps that may as well be right, and that
        nothing reads with it.
        """
        made = Made(self.trace, changes, mistake.optional)
        found = {}
        for step, how in changes.items():
            may_be_right = step in mistake.optional
            if not may_be_right or step not in made.unread:
                found[step] = how
        return found

    @cached_property
    def changes(self) -> Mapping[str, Changes]:
        """What each mistake that can be made changes, by its name."""
        return {name: changes for name, (_, changes) in self._applicable.items()}

    @cached_property
    def sizes(self) -> Doubles:
        """How large the numbers are that each cell of the output is made of.

        What is below the smallest normal number may as well be 0.
        """
        least = self.dtype.smallest / self.tolerance
        magnitudes = Magnitudes(self.trace, self.dtype)
        return np.maximum(self.joined(lambda name: magnitudes[name]), least)

    @cached_property
    def blind(self) -> Rows:
        """The rows of the output whose queries see no key."""
        return self.blind_rows(self.trace["masked"]) if "masked" in self.trace else self._no_rows

    @cached_property
    def _no_rows(self) -> Rows:
        return np.zeros(self.output.shape[:-1], bool)

    @cached_property
    def _largest_value(self) -> float:
        return float(np.abs(self.trace["V"]).max())

    @cached_property
    def _average(self) -> Doubles:
        """The average of all values, for every query."""
        average = np.asarray(self.trace["V"], np.float64).mean(axis=-2, keepdims=True)
        if average.ndim != self.output.ndim:
            # What a layer makes of it is not known.
            return np.full(self.output.shape, np.nan)
        if average.ndim > 2:
            group = self.output.shape[-3] // average.shape[-3]
            average = np.repeat(average, group, axis=-3)
        return np.broadcast_to(average, self.output.shape)

    def blind_rows(self, masked: NDArray[np.floating]) -> Rows:
        """The same by other masked scores."""
        blind = blind_queries(np.asarray(masked, np.float64))
        rows = self.output.shape[:-1]
        # The heads of a layer come together in a row of its output.
        return blind if blind.shape == rows else np.asarray(blind.any(axis=-2))

    def agreement(self, output: Doubles) -> Agreement:
        """How an output compares with the right one."""
        if output.shape != self.output.shape:
            return Agreement(None)
        found = self.difference(self.output, output, self.blind, self.sizes)
        return Agreement(found, self.of_blind(output, self.blind))

    def is_far(self, output: Doubles) -> bool:
        """Whether an output is farther from right than any rounding brings it, which is known in
        little time.
        """
        return self.are_far(self.output, output, self.blind)

    def wrong_cells(self, output: Doubles) -> Rows:
        """Which cells of an output differ from the right one."""
        with np.errstate(invalid="ignore"):
            apart = np.abs(output - self.output)
        allowed = self.tolerance * self.sizes
        return np.asarray(~(apart <= allowed) & ~self.blind[..., None])

    def evidence(self, name: str, output: Doubles) -> Evidence:
        """What an output says of a mistake that can be made here."""
        if output.shape != self.output.shape:
            return "refuted"
        said = self._evidence_of(self.with_mistake(name), output)
        if said != "refuted":
            return said
        for changes in self.other_ways(name):
            made = _Mistaken(self, MistakenTrace(self.trace, changes))
            said = self._evidence_of(made, output)
            if said == "gives":
                # What else is asked of this mistake is asked of the way in which it was made.
                self._with[name] = made
            if said != "refuted":
                return said
        return "refuted"

    def other_ways(self, name: str) -> Iterator[Changes]:
        """What a mistake changes if it is made in one mask of several."""
        mistake, _ = self._applicable[name]
        yield from in_one_mask(mistake, self.trace)

    def _evidence_of(self, mistaken: _Mistaken, output: Doubles) -> Evidence:
        if mistaken.hides:
            return "hidden"
        if mistaken.gives(output):
            return "gives"
        is_open = mistaken.overflows or mistaken.divides_by_nothing or self.is_no_number(output)
        return "hidden" if is_open else "refuted"

    def is_no_number(self, output: Doubles) -> bool:
        """Whether a query that sees a key gets NaN: then something was divided by 0 besides, and
        the output says nothing of other mistakes.
        """
        return bool(np.isnan(output[~self.blind]).any())

    def ignores(self, name: str) -> bool:
        """Whether a mistake leaves out a setting that the problem gives, such as its scale: then it
        may be one of the default alone, and not be made here.
        """
        settings = self.trace.parameters.keys() & {"scale", "softcap"}
        for step, change in self.changes[name].items():
            if isinstance(change, np.ndarray):
                continue
            own = self.trace.steps[step].rule.equation.expression
            if settings & (_numbers_named(own) - _numbers_named(change)):
                return True
        return False

    def with_mistake(self, name: str) -> _Mistaken:
        """The same with one of the mistakes that can be made."""
        if name not in self._with:
            self._with[name] = _Mistaken(self, MistakenTrace(self.trace, self.changes[name]))
        return self._with[name]

    def assuming(self, name: str) -> Self:
        """As if a mistake were right: what comes out with it, and with one more."""
        if name not in self.changes:
            return self
        if name not in self._assumed:
            mistaken = self.with_mistake(name).trace
            steps = dict(mistaken.trace.steps)
            for moved in mistaken.moved:
                steps[moved] = replace(steps[moved], value=mistaken[moved])
            self._assumed[name] = type(self)(replace(self.trace, steps=steps), self.dtype.name)
        return self._assumed[name]

    def difference(
        self, one: Doubles, other: Doubles, blind: Rows, sizes: Doubles | None
    ) -> Difference:
        """How far two outputs are apart, without the rows that see no key."""
        is_compared = ~blind[..., None]
        one, other = (np.where(is_compared, each, 0.0) for each in (one, other))
        return difference(one, other, self.tolerance, sizes=sizes)

    def are_far(self, one: Doubles, other: Doubles, blind: Rows) -> bool:
        """Whether two outputs are farther apart than any rounding brings them."""
        with np.errstate(invalid="ignore"):
            apart = np.abs(one - other)
        apart[np.isnan(one) & np.isnan(other)] = 0
        # A mistake may give far larger numbers than the values.
        largest = np.abs(one[np.isfinite(one)]).max(initial=self._largest_value)
        return not bool((apart[~blind] <= FAR * largest).all())

    def is_near(self, name: str, output: Doubles) -> bool:
        """Whether a mistake may give an output; it is looked at roughly, in little time."""
        mistaken = self.with_mistake(name)
        return not self.are_far(mistaken.output, output, mistaken.blind)

    def of_blind(self, output: Doubles, blind: Rows) -> Blind | None:
        """What stands in the rows that see no key; None where there are none."""
        if not blind.any():
            return None
        rows = output[blind]
        if np.isnan(rows).all():
            return "NaN"
        if not rows.any():
            return "0"
        average = self._average[blind]
        if np.isnan(average).any():
            return "other"
        tolerance = self.tolerance * max(float(np.abs(average).max()), 1.0)
        is_average = np.allclose(rows, average, rtol=0, atol=tolerance)
        return "average" if is_average else "other"


class _Mistaken:
    """What a problem gives with a mistake in it."""

    def __init__(self, right: Expected, trace: MistakenTrace) -> None:
        self.right = right
        self.trace = trace

    @cached_property
    def output(self) -> Doubles:
        return self.right.joined(lambda name: self.trace[name])

    @cached_property
    def blind(self) -> Rows:
        """The rows whose queries see no key with the mistake."""
        if "masked" not in self.trace.moved:
            return self.right.blind
        return self.right.blind_rows(self.trace["masked"])

    @cached_property
    def overflows(self) -> bool:
        """Whether numbers are too large for floats with the mistake: who works in another order may
        have others.
        """
        seen = np.abs(self.output[~self.blind])
        return not bool((seen < self.right.dtype.overflow).all())

    @cached_property
    def _divided(self) -> MistakenTrace | None:
        """The same, in which 0 of 0 is NaN; None where weights are those without the mistake."""
        change = self.trace.trace.steps["weights"].rule.expression
        if "weights" not in self.trace.moved or change is None:
            return None
        plainly = with_calls("share", lambda arguments: Call("div", arguments))
        divided = plainly(change, self.right.trace)
        assert divided is not None
        return MistakenTrace(self.trace.trace, {"weights": divided})

    @cached_property
    def divides_by_nothing(self) -> bool:
        """Whether the weights of a query that sees a key are 0 of 0 with the mistake: software has
        NaN there, or equal weights.
        """
        # A share of nothing is 0.
        if self._divided is None or self.trace["weights"].all():
            return False
        is_open = np.isnan(self._divided["weights"]).any(axis=-1)
        return bool((is_open & ~self.blind).any()) if is_open.shape == self.blind.shape else False

    def gives_nan(self, output: Doubles) -> bool:
        """Whether an output is that with the mistake where 0 of 0 is NaN, as in most software."""
        if not self.divides_by_nothing:
            return False
        assert self._divided is not None
        divided = self._divided
        return self._is(self.right.joined(lambda name: divided[name]), output)

    @cached_property
    def hides(self) -> bool:
        """Whether the mistake gives the right output, as far as this format tells."""
        if self.trace.moved.keys().isdisjoint(self.right.judged):
            return True
        right = self.right
        blind = right.blind | self.blind
        if right.of_blind(self.output, right.blind) == "other":
            return False
        if (self.blind & ~right.blind).any() or right.are_far(right.output, self.output, blind):
            return False
        # Most are the same to the last digit, and need no sizes of their own.
        if not right.difference(right.output, self.output, blind, right.sizes).differing:
            return True
        return not right.difference(right.output, self.output, blind, self.sizes).differing

    def gives(self, output: Doubles) -> bool:
        """Whether an output is that with the mistake."""
        return self._is(self.output, output)

    def _is(self, made: Doubles, output: Doubles) -> bool:
        """Whether an output is what the mistake has made."""
        right = self.right
        if right.are_far(made, output, self.blind):
            return False
        if not self._blind_rows_agree(output):
            return False
        own_sizes = np.where(np.isfinite(made), np.abs(made), 0.0)
        if not right.difference(made, output, self.blind, own_sizes).differing:
            return True
        return not right.difference(made, output, self.blind, self.sizes).differing

    def _blind_rows_agree(self, output: Doubles) -> bool:
        """Whether rows that see no key are 0, NaN, an average, or what the mistake makes of 0."""
        if self.right.of_blind(output, self.blind) != "other":
            return True
        return not self.right.are_far(self.output, output, ~self.blind)

    @cached_property
    def sizes(self) -> Doubles | None:
        right = self.right
        magnitudes = self.trace.magnitudes(right.judged, right.dtype)
        made = right.joined(lambda name: magnitudes[name])
        return larger(self.right.sizes, np.where(np.isfinite(made), made, 0.0))


def _numbers_named(expression: Expression) -> frozenset[str]:
    """The letters and the numbers with a name that an equation reads."""
    return frozenset(node.name for node in walk(expression) if isinstance(node, Name))
