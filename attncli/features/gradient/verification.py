"""Gradients beside central finite differences: each number is moved both ways, and what follows
from it worked again.

The difference of the two losses, divided by how far the number was moved, is the quotient. Its
error has two parts: the curve of the loss, which grows with the step h, and roundings of the loss,
which grow with 1/h. So the first h is the one that suits most functions, about the cube root of
what a float64 can tell. Where the quotient disagrees there, or roundings hide it, other h are
tried, each a quarter of the one before; two that follow each other say how far the curve is still
felt. What roundings do to the loss is large where a row sees only scores such as -1e9, which have
few digits left behind the point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncli.attention.registry import gradient_name
from attncli.backend import CPU
from attncli.dtypes import DTYPES
from attncli.equation.chain_rule import reads
from attncli.equation.indexing import add_axes
from attncli.equation.rule import Rule
from attncli.errors import usage_error
from attncli.features.gradient.kinks import Kink, at_work, following
from attncli.page.view import View, chosen_cell, chosen_place, chosen_steps, selected_part
from attncli.problem.matrix import Scalar
from attncli.tracing.magnitudes import HONEST_EPSILONS, Magnitudes
from attncli.tracing.model import Trace
from attncli.tracing.slices import backward_steps, forward_steps, loss_steps, with_key_head
from attncli.tracing.workers import FloatWorker

Verdict: TypeAlias = Literal["agree", "unknown", "disagree"]

# Cells of one gradient that are checked, evenly spread where it has more.
MOST_CELLS_CHECKED = 100
# The first h, relative to the number, and the most it is.
FIRST_STEP = 6e-6
WIDEST_FIRST_STEP = 6e-3
# How far a gradient may be from its quotient, of its size.
TOLERANCE = 1e-6
# Each h is so many times narrower than the one before. So many are tried from the first one on, and
# so many wider ones where roundings hide it.
STEP_RATIO = 4.0
NARROWER_STEPS = 11
WIDER_STEPS = 8
# What roundings may do to a quotient that is to say anything, of its size.
MOST_NOISE = 0.1
# The error of a quotient that is to say anything, of its size.
SURE_ERROR = 1e-3
# The smallest float64 above 0.
SMALLEST_DOUBLE = 2.0**-1074
ROUNDING_OF_A_NUMBER = HONEST_EPSILONS * DTYPES["float64"].epsilon
# Differences tell next to nothing beside a loss of such terms.
HUGE_LOSS = 1e99
# Within a smaller softcap the scores turn faster than any h can follow.
NARROWEST_CAP = 1e-9
# What scores of an ordinary size may do to the loss by their roundings: so many times what the
# outputs do.
ORDINARY_SCORES = 100.0
# If every h moves a score by more, its softmax turns faster than any h can follow.
FARTHEST_SCORE = 1.0
# Changes of the loss this near to each other, of themselves, are the same one: a jump.
SAME_CHANGE = 0.1
# The axis of all moves that are worked out together.
MOVE_AXIS = "move"
# Numbers of an array that has this axis.
CELLS_AT_ONCE = 2_000_000
VERDICTS_WORST_LAST: tuple[Verdict, ...] = ("agree", "unknown", "disagree")


@dataclass(frozen=True, slots=True)
class CellCheck:
    """One cell of a gradient beside its difference quotient.

    `error` is their difference by the larger of the two; None where a number is not finite, or both
    are 0 but for roundings. `distance` is their difference by the largest with which they agree.
    `kinks` say where the quotient tells nothing because a function bends or jumps at this number.
    """

    index: tuple[int, ...]
    gradient: float
    quotient: float
    error: float | None
    verdict: Verdict
    distance: float
    kinks: tuple[str, ...] = ()

    @property
    def is_zero(self) -> bool:
        """Whether both are 0 but for roundings."""
        return self.error is None and self.verdict == "agree"


@dataclass(frozen=True, slots=True)
class GradientCheck:
    """One gradient beside finite differences: how many cells it has, and those of them that were
    checked.
    """

    name: str
    size: int
    cells: tuple[CellCheck, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst of all cells."""
        return max((cell.verdict for cell in self.cells), key=VERDICTS_WORST_LAST.index)

    @property
    def farthest(self) -> CellCheck:
        """The cell where the two are farthest apart: of those that are judged the worst, and not 0
        if any is not.
        """
        return max(
            self.cells,
            key=lambda cell: (
                VERDICTS_WORST_LAST.index(cell.verdict),
                not cell.is_zero,
                cell.distance,
            ),
        )


def verify_view(trace: Trace, view: View) -> tuple[GradientCheck, ...]:
    """The gradients that this view shows, or those of the steps that it shows, beside finite
    differences.

    Raises AttncliError (exit 2) where none of them can be checked.
    """
    part = selected_part(trace, view)
    place = with_key_head(trace, chosen_place(trace, view))
    known = [name for name in checkable(trace) if name in part or name in part.parameters]
    names = known
    cell = None
    asked = ""
    if view.cell is not None:
        asked = f"--cell {view.cell!r}"
        step, index = chosen_cell(part, view.cell, trace)
        names = [_gradient_of(trace, step.name)]
        left = iter(index)
        letters = trace.steps[step.name].rule.target.letters
        cell = tuple(place[each] if each in place else next(left) for each in letters)
    elif view.steps is not None:
        asked = f"--steps {','.join(view.steps)}"
        chosen = chosen_steps(part, view.steps, trace)
        names = [_gradient_of(trace, name) for name in chosen]
    checked = [name for name in names if name in known]
    if not checked:
        message = f"--verify has no gradient to hold against differences in {asked}"
        raise usage_error(message, help=f"those that it can hold are {', '.join(known)}")
    return tuple(verify(trace, checked, place=place, cell=cell))


def _gradient_of(trace: Trace, name: str) -> str:
    """The step itself, where it is one of the backward pass, or its gradient."""
    return name if name in backward_steps(trace) else gradient_name(name)


def checkable(trace: Trace) -> tuple[str, ...]:
    """The gradients of a trace whose step can be moved by itself, in order."""
    return tuple(
        name
        for name in backward_steps(trace)
        if name.startswith("d_")
        and ((of := name.removeprefix("d_")) in forward_steps(trace) or of in trace.parameters)
        and (name != gradient_name(trace.result) or "loss" in trace)
    )


def verify(
    trace: Trace,
    names: Collection[str] | None = None,
    *,
    place: Mapping[str, int] | None = None,
    cell: tuple[int, ...] | None = None,
) -> Iterator[GradientCheck]:
    """Every gradient of a trace in float64 that can be checked, in order, or those of these names.

    `place` says of which entry and head they are, {"h": 0}, and `cell` is one index; all cells
    where nothing is said.
    """
    measures = _Measures.of(trace)
    for name in checkable(trace):
        if names is not None and name not in names:
            continue
        indices = [cell] if cell is not None else list(_indices(trace, name, place or {}))
        every = math.ceil(len(indices) / MOST_CELLS_CHECKED)
        moved = _MovedStep.of(trace, name.removeprefix("d_"))
        cells = [_check(each, name, measures) for each in _moved_cells(moved, indices[::every])]
        yield GradientCheck(name, len(indices), tuple(cells))


def _moved_cells(moved: _MovedStep, indices: Sequence[tuple[int, ...]]) -> Iterator[_MovedCell]:
    """These cells with their first quotients, which are worked out together.

    They are nearly always enough. Others are worked out where they are asked for.
    """
    moves: list[tuple[tuple[int, ...], float]] = []
    for index in indices:
        x = float(moved.values[index])
        h = first_step(x)
        moves.append((index, h))
    firsts = moved.quotients(moves)
    for index, first in zip(indices, firsts, strict=True):
        yield _MovedCell(moved, index, first)


def _indices(trace: Trace, name: str, place: Mapping[str, int]) -> Iterator[tuple[int, ...]]:
    """The cells of a gradient, of one place."""
    step = trace.steps[name]
    runs: list[Sequence[int]] = []
    for letter, size in zip(step.rule.target.letters, step.shape, strict=True):
        if letter in place:
            runs.append([place[letter]])
        else:
            runs.append(range(size))
    yield from product(*runs)


def _check(cell: _MovedCell, name: str, measures: _Measures) -> CellCheck:
    moved, index, x = cell.moved, cell.index, cell.x
    gradient = moved.trace[name]
    ours = float(gradient[index])
    typical, rounding = _typical(gradient), measures.rounding
    noise = rounding / first_step(x)
    # What is hidden by rounding is 0 beside the other cells, or where nothing else is left of its
    # own terms.
    zero = abs(ours) <= noise and (
        noise <= SURE_ERROR * typical or measures.is_residue(ours, name, index)
    )
    seen = max(SURE_ERROR * measures.largest, measures.ordinary / first_step(x) if noise else 0.0)
    found, distance, verdict = compare(
        ours, cell.quotient, x, typical=typical, rounding=rounding, zero=seen if zero else 0.0
    )
    if verdict == "disagree" and not _can_judge(cell, abs(ours - found), measures):
        verdict = "unknown"
    zero = verdict == "agree" and zero and abs(found) <= noise
    error = None if zero else _relative(ours, found)
    kinks: tuple[str, ...] = ()
    if verdict == "unknown":
        kinks = tuple(dict.fromkeys(kink.said for kink in moved.kinks(index)))
    return CellCheck(index, ours, found, error, verdict, distance, kinks)


def _can_judge(cell: _MovedCell, apart: float, measures: _Measures) -> bool:
    """Whether differences say that a gradient is wrong that is so far apart from its quotient."""
    rounding = measures.rounding
    if rounding > ROUNDING_OF_A_NUMBER * HUGE_LOSS or cell.moved.is_capped_at_once:
        return False
    if measures.has_no_digits or cell.moved.moves_scores(cell.index) > FARTHEST_SCORE:
        return False
    return cell.moved.bend(cell.index, rounding) < apart / 2


def _relative(ours: float, quotient: float) -> float | None:
    apart = abs(ours - quotient)
    largest = max(abs(ours), abs(quotient))
    if largest == 0 or not math.isfinite(apart):
        return None
    return apart / largest


# What the quotients say of one gradient


def first_step(x: float) -> float:
    """How far a number is moved at first."""
    return min(FIRST_STEP * max(1.0, abs(x)), WIDEST_FIRST_STEP) if math.isfinite(x) else math.inf


def all_steps(x: float) -> list[float]:
    """Every h that may be tried, the widest first."""
    return [first_step(x) / STEP_RATIO**level for level in range(-WIDER_STEPS, NARROWER_STEPS)]


def _that_move(x: float, steps: Sequence[float]) -> list[float]:
    """The steps that x does not swallow."""
    return [h for h in steps if x - h != x != x + h]


def compare(
    gradient: float,
    quotient: Callable[[float], float],
    x: float,
    *,
    typical: float,
    rounding: float,
    zero: float = 0.0,
) -> tuple[float, float, Verdict]:
    """The best quotient, how far the gradient at x is from it (1 is as far as it may be), and what
    it says of it.

    `quotient` makes one for each h. `typical` is how large the gradients beside this one are,
    `rounding` what roundings do to the loss. Where the gradient is 0, a quotient says so if its
    error is at most `zero`.
    """

    def size_with(found: float) -> float:
        return max(abs(gradient), abs(found)) + typical

    h = first_step(x)
    first = quotient(h)
    if not math.isfinite(gradient):
        return first, 0.0, "unknown"
    size, noise = size_with(first), rounding / h
    distance = _distance(gradient, first, TOLERANCE * size + noise)
    if distance <= 1 and noise <= max(MOST_NOISE * size, zero):
        return first, distance, "agree"
    changes: list[float] = []
    best, error, before = math.nan, math.inf, math.nan
    for narrower in all_steps(x)[0 if distance <= 1 or math.isnan(first) else WIDER_STEPS :]:
        found = quotient(narrower)
        noise = rounding / narrower
        own, before = abs(found - before) + noise, found
        if not math.isfinite(own):
            continue
        changes.append(found * narrower)
        allowed = TOLERANCE * size_with(found)
        settled = own <= allowed
        # Then a wide h has missed what is near x.
        if own < error or abs(found - best) > noise + error:
            best, error = found, own
        if own > error and (settled or own <= zero) and abs(gradient - found) <= allowed + own:
            # Narrower ones only have more roundings.
            break
    if math.isnan(best):
        return first, 0.0, "unknown"
    size = size_with(best)
    distance = _distance(gradient, best, TOLERANCE * size + error)
    if distance > 1:
        return (
            best,
            distance,
            "unknown" if error > MOST_NOISE * size or _is_jump(changes) else "disagree",
        )
    return best, distance, "agree" if error <= max(SURE_ERROR * size, zero) else "unknown"


def _is_jump(changes: Sequence[float]) -> bool:
    """Whether the loss changes by as much for each of the narrowest h: what it does near x is
    narrower than all.
    """
    *_, last = changes
    return (
        len(changes) > 2
        and last != 0
        and all(abs(each - last) <= SAME_CHANGE * abs(last) for each in changes[-3:])
    )


def _distance(gradient: float, quotient: float, allowed: float) -> float:
    apart = abs(gradient - quotient)
    if allowed:
        return apart / allowed
    return math.inf if apart else 0.0


# The loss with one number moved


def loss_of(trace: Trace) -> float:
    """The loss; without one it is Σ d_output · output, of which d_output is the gradient."""
    if "loss" in trace:
        return float(trace["loss"])
    return _total(trace[trace.result], trace[gradient_name(trace.result)])


def _total(result: NDArray[Any], gradient: NDArray[Any]) -> float:
    """The number whose gradient by a result is given."""
    return float((np.asarray(result, dtype=np.float64) * gradient).sum())


@dataclass(frozen=True, slots=True, eq=False)
class _MovedStep:
    """A step of a trace, or a number it reads, that can be moved.

    `following` are the rules that depend on it, of arrays whose first axis runs through all moves.
    """

    trace: Trace
    name: str
    values: NDArray[np.float64]
    following: tuple[Rule, ...]

    @classmethod
    def of(cls, trace: Trace, name: str) -> _MovedStep:
        """A step, or a parameter, by its name."""
        scalar = trace.parameters.get(name)
        given = scalar.value if isinstance(scalar, Scalar) else trace[name]
        values = np.asarray(given, dtype=np.float64)
        return cls(trace, name, values, tuple(_following(trace, name)))

    def quotients(self, moves: Sequence[tuple[tuple[int, ...], float]]) -> list[float]:
        """How much the loss changes with a cell, by its values at x + h and x - h, for each cell
        and h.

        It is NaN where h is lost in x, and 0 where x is -∞, which a mask puts there, and no h
        moves.
        """
        numbers: list[float] = []
        apart: list[float] = []
        sides: list[tuple[tuple[int, ...], float]] = []
        for index, h in moves:
            x = float(self.values[index])
            # Both are rounded, so that they need not be 2h apart.
            above, below = x + h, x - h
            numbers.append(x)
            apart.append(above - below)
            sides += [(index, above), (index, below)]
        up, down = np.array(self._losses(sides)).reshape(-1, 2).T
        lengths = np.array(apart)
        with np.errstate(all="ignore"):
            found = np.where(lengths == 0, np.nan, (up - down) / lengths)
        moved = np.where(np.isfinite(numbers), found, 0.0)
        return [float(quotient) for quotient in moved]

    @property
    def is_capped_at_once(self) -> bool:
        """Whether what depends on the step goes through a softcap that every h is wider than."""
        cap = self.trace.parameters.get("softcap")
        capped = any(reads(rule.equation.expression, "softcap") for rule in self.following)
        return capped and isinstance(cap, Scalar) and cap.value < NARROWEST_CAP

    def bend(self, index: tuple[int, ...], rounding: float) -> float:
        """How far the quotients of the two sides may be apart, for the h where this is least.

        It is as large as the quotients themselves where the loss has a corner at x that is narrower
        than every h. `rounding` is what roundings do to the loss: where they hide h, both quotients
        are 0 and say nothing.
        """
        x = float(self.values[index])
        if not math.isfinite(x):
            return 0.0
        steps = _that_move(x, all_steps(x)[WIDER_STEPS:])
        sides = [side for h in steps for side in (x + h, x - h)]
        here, *losses = self._losses([(index, moved) for moved in (x, *sides)])
        with np.errstate(all="ignore"):
            moved = np.array(sides) - x
            quotients = (np.array(losses) - here) / moved
            up, down = quotients.reshape(-1, 2).T
            noise = rounding / np.array(steps)
            apart = abs(up - down) + noise
            return float(np.nanmin(apart, initial=math.inf))

    def moves_scores(self, index: tuple[int, ...]) -> float:
        """How far the narrowest h moves a score that the loss depends on, before the softmax."""
        trace = self.trace
        names = [rule.name for rule in self.following]
        if not trace.takes_softmax or trace.logits not in names:
            return 0.0
        x = float(self.values[index])
        steps = _that_move(x, all_steps(x))
        if not steps:
            return 0.0
        narrowest = min(steps)
        arrays = self._moved([(index, x + narrowest), (index, x - narrowest)])
        felt = trace[gradient_name(trace.logits)] != 0
        with np.errstate(all="ignore"):
            moved = np.abs(arrays[trace.logits] - trace[trace.logits])
            return float(np.max(np.where(felt, moved, 0.0), initial=0.0))

    def kinks(self, index: tuple[int, ...]) -> tuple[Kink, ...]:
        """The functions that bend or jump where this cell has its number."""
        x = float(self.values[index])
        h = first_step(x)
        if not math.isfinite(h):
            return ()
        beside = []
        for number in (x + h, x - h):
            moved = self.values.copy()
            moved[index] = number
            beside.append(moved)
        return at_work(self.trace, self.name, beside)

    def _losses(self, moves: Sequence[tuple[tuple[int, ...], float]]) -> list[float]:
        """The loss with one cell moved to a number, for each of these."""
        largest = max(self.values.size, 1)
        for rule in self.following:
            size = self.trace[rule.name].size
            largest = max(largest, size)
        together = max(1, CELLS_AT_ONCE // largest)
        losses: list[float] = []
        for first in range(0, len(moves), together):
            end = first + together
            losses += self._losses_of(moves[first:end])
        return losses

    def _losses_of(self, moves: Sequence[tuple[tuple[int, ...], float]]) -> list[float]:
        trace = self.trace
        arrays = self._moved(moves)
        if "loss" in trace:
            return [float(loss) for loss in arrays["loss"]]
        given = trace[gradient_name(trace.result)]
        with np.errstate(all="ignore"):
            return [_total(result, given) for result in arrays[trace.result]]

    def _moved(self, moves: Sequence[tuple[tuple[int, ...], float]]) -> dict[str, NDArray[Any]]:
        """All arrays with one cell moved to a number, for each of these; what depends on it has
        them on its first axis.
        """
        trace = self.trace
        moved = np.repeat(self.values[np.newaxis], len(moves), axis=0)
        for number, (index, x) in enumerate(moves):
            moved[number, *index] = x
        names = (*forward_steps(trace), *loss_steps(trace))
        arrays = {name: trace[name] for name in names}
        arrays[self.name] = moved
        worker = FloatWorker(CPU, DTYPES["float64"], trace.parameters, {}, arrays)
        with np.errstate(all="ignore"):
            for rule in self.following:
                worker.work(rule)
        return worker.arrays


@dataclass(frozen=True, slots=True, eq=False)
class _MovedCell:
    """One cell of a moved step, with its quotient for the first h."""

    moved: _MovedStep
    index: tuple[int, ...]
    first: float
    _others: dict[float, float] = field(default_factory=dict)

    @property
    def x(self) -> float:
        """Its own number."""
        return float(self.moved.values[self.index])

    def quotient(self, h: float) -> float:
        """The quotient for one h; all but the first are worked out together."""
        if h == first_step(self.x):
            return self.first
        if not self._others:
            steps = all_steps(self.x)
            found = self.moved.quotients([(self.index, each) for each in steps])
            self._others.update(zip(steps, found, strict=True))
        return self._others[h]


def _following(trace: Trace, name: str) -> Iterator[Rule]:
    """The rules that depend on a step, or on a number, with an axis of all moves."""
    leading = {name: (MOVE_AXIS,)}
    for rule in following(trace, name):
        leading[rule.name] = (MOVE_AXIS,)
        moved = add_axes(rule.equation, leading, (MOVE_AXIS,), {})
        yield rule.with_formula(moved, None)


# What differences are measured by


@dataclass(frozen=True, slots=True)
class _Measures:
    """What all cells of a trace are measured by: what roundings do to the loss, and how large the
    largest gradient is.

    `ordinary` is what they do to a loss whose scores have all their digits, and `size` how large
    the numbers are that it is made of.
    """

    rounding: float
    ordinary: float
    size: float
    largest: float
    magnitudes: Magnitudes

    @classmethod
    def of(cls, trace: Trace) -> _Measures:
        """Magnitudes are worked out where they are asked for."""
        largest = max(_typical(trace[name]) for name in backward_steps(trace))
        magnitudes = Magnitudes(trace, DTYPES["float64"])
        size, of_scores = _loss_magnitudes(trace, magnitudes)
        outputs = ROUNDING_OF_A_NUMBER * size
        scores = ROUNDING_OF_A_NUMBER * of_scores
        # Tiny numbers are rounded by as much as the smallest one, which moves the loss by their
        # gradient times that, and so is the loss itself.
        outputs += (
            HONEST_EPSILONS
            * SMALLEST_DOUBLE
            * (1 + sum(_size(trace[name]) for name in backward_steps(trace)))
        )
        return cls(outputs + scores, ORDINARY_SCORES * outputs, size, largest, magnitudes)

    @property
    def has_no_digits(self) -> bool:
        """Whether roundings would move the loss by more than it is: the sine of e to 60 turns
        faster than any h can follow.
        """
        return self.rounding > max(1.0, self.size)

    def is_residue(self, ours: float, name: str, index: tuple[int, ...]) -> bool:
        """Whether a number is 0, or nothing but what rounding left of the terms that cancelled in
        it.
        """
        return ours == 0 or abs(ours) <= ROUNDING_OF_A_NUMBER * float(self.magnitudes[name][index])


def _typical(gradient: NDArray[Any]) -> float:
    """The root of the mean square of the finite numbers, none of which is squared to infinity or to
    0.
    """
    finite = gradient[np.isfinite(gradient)]
    largest = float(np.abs(finite).max(initial=0.0))
    if not largest:
        return 0.0
    mean_square = np.mean((finite / largest) ** 2)
    return largest * float(np.sqrt(mean_square))


def _size(gradient: NDArray[Any]) -> float:
    """The sum of the finite numbers without their signs."""
    with np.errstate(over="ignore"):
        return float(np.abs(gradient[np.isfinite(gradient)]).sum())


def _loss_magnitudes(trace: Trace, magnitudes: Magnitudes) -> tuple[float, float]:
    """How large the numbers are that the loss is made of: the output's, and the scores' in what
    they do to the loss.

    Terms of a score that cancel are rounded as what they are, not as the small rest.
    """
    result = trace[trace.result]
    with np.errstate(all="ignore"):
        scores = np.zeros(1)
        if trace.takes_softmax and gradient_name(trace.logits) in trace:
            gradient = trace[gradient_name(trace.logits)]
            scores = np.where(gradient == 0, 0.0, np.abs(gradient) * magnitudes[trace.logits])
        outputs = np.abs(trace[gradient_name(trace.result)] * result).sum()
        # The loss of a row is made of its outputs, less another number.
        if "loss" in trace:
            total = np.abs(result).sum()
            mean = total / trace.parameters["N"].value
            outputs += mean + abs(trace["loss"])
        # A rounding of the sum is one of 1 in its logarithm.
        if "log_sum" in trace:
            outputs += 1
        return float(outputs), float(scores.sum())
