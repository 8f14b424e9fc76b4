"""Long sums of printed numbers: what they come to exactly, and which of their terms a line shows.

A printed decimal is a whole number over a power of ten. So one product of whole numbers says
whether the terms of a row give the printed result, however many there are, and only the terms that
are shown become a sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.equation.indexing import letters, position
from attncli.equation.nodes import Call, Expression, Name, Number, Reduce, Ref
from attncli.equation.substitution import substitute
from attncli.page.printer import Printer, format_number, surely_rounded
from attncli.problem.matrix import Matrix
from attncli.problem.text.number_forms import is_plain
from attncli.tracing.model import Step

# A line that stands for its row has no more terms. A cell asked for is always worked in full.
MOST_TERMS = 12
# Numbers with more decimals, such as 1e-300, would be as slow as their decimals are many.
MOST_DECIMALS = 30
# Whole numbers up to here are NumPy's own, larger ones Python's.
LARGEST_INTEGER = 2**62
# So many numbers are read together: what is made of them on the way takes little memory.
NUMBERS_AT_ONCE = 2**18


def with_largest_terms(
    whole: Expression,
    count: int,
    heaviest: Callable[[int], list[int]],
    term: Callable[[int], Expression],
) -> Expression:
    """A long sum or maximum with its largest terms only, and how many others it has.

    The `whole` has `count` terms. `heaviest` says the places of so many of them, in order, and
    `term` what stands at a place. Of 20 terms, 11 are kept, and "… 9 more …" says so.
    """
    if count <= MOST_TERMS:
        return whole
    assert isinstance(whole, Reduce | Call)
    kept = heaviest(MOST_TERMS - 1)
    left = count - len(kept)
    left_out = Call("left_out", (Number(Fraction(left), str(left)),))
    return Call(whole.function, (*map(term, kept), left_out))


@dataclass(frozen=True, slots=True, eq=False)
class Integers:
    """Printed numbers as whole numbers of units of 10^-decimals; no unit is larger than `bound`.

    `hidden` marks those that are -inf, if any may be.
    """

    units: NDArray[Any]
    decimals: int
    bound: int
    hidden: NDArray[np.bool_] | None = None

    @classmethod
    def constant(cls, value: Fraction | float | None, size: int) -> Integers | None:
        """The same number so many times; None where it is no decimal, such as 1/3."""
        if not isinstance(value, Fraction | int):
            return None
        divisor = Fraction(value).denominator
        decimals = 0
        while 10**decimals % divisor:
            decimals += 1
            if decimals > MOST_DECIMALS:
                return None
        unit = int(value * 10**decimals)
        bound = abs(unit)
        units: NDArray[Any] = np.full(size, unit, _dtype_for(bound))
        return cls(units, decimals, bound)

    @classmethod
    def joined(cls, parts: Sequence[Integers]) -> Integers:
        """These numbers one after the other."""
        if len(parts) == 1:
            return parts[0]
        decimals = max(part.decimals for part in parts)
        scaled = [part.scaled(decimals) for part in parts]
        units = np.concatenate([part.units for part in scaled])
        bound = max(part.bound for part in scaled)
        hidden = np.concatenate([part._marks() for part in parts])
        return cls(units, decimals, bound, hidden)

    def _marks(self) -> NDArray[np.bool_]:
        if self.hidden is None:
            return np.zeros(len(self.units), np.bool_)
        return self.hidden

    def __getitem__(self, at: Any) -> Integers:
        units = np.atleast_1d(self.units[at])
        hidden = self.hidden
        if hidden is not None:
            hidden = np.atleast_1d(hidden[at])
            if not hidden.any():
                hidden = None
        return replace(self, units=units, hidden=hidden)

    def __len__(self) -> int:
        return len(self.units)

    def scaled(self, decimals: int) -> Integers:
        """The same numbers in smaller units."""
        if decimals == self.decimals:
            return self
        further = decimals - self.decimals
        factor = 10**further
        bound = self.bound * factor
        largest = max(bound, factor)
        units = _wide(self.units, largest) * factor
        return replace(self, units=units, decimals=decimals, bound=bound)

    def times(self, other: Integers) -> Integers:
        """Each number times the other in its place."""
        bound = self.bound * other.bound
        units = _wide(self.units, bound) * _wide(other.units, bound)
        return Integers(units, self.decimals + other.decimals, bound)

    def plus(self, other: Integers, sign: int = 1) -> Integers:
        """Each number and the other in its place, or without it."""
        decimals = max(self.decimals, other.decimals)
        one = self.scaled(decimals)
        two = other.scaled(decimals)
        bound = one.bound + two.bound
        units = _wide(one.units, bound) + sign * _wide(two.units, bound)
        return Integers(units, decimals, bound)

    def total(self) -> Fraction | float:
        """What all of them add up to."""
        if self.hidden is not None and self.hidden.any():
            return -math.inf
        units = _wide(self.units, self.bound * len(self.units))
        return Fraction(int(units.sum()), 10**self.decimals)

    def largest(self) -> Fraction | float:
        """The largest of them."""
        seen = self.units if self.hidden is None else self.units[~self.hidden]
        if not len(seen):
            return -math.inf
        return Fraction(int(seen.max()), 10**self.decimals)

    def heaviest(self, count: int) -> list[int]:
        """The places of the `count` numbers farthest from 0, in their order.

        Of alike ones it is the first, and -inf is the farthest of all.
        """
        order = -np.abs(self.units)
        if self.hidden is not None:
            order = np.where(self.hidden, -self.bound - 1, order)
        places = np.argsort(order, kind="stable")[:count]
        return sorted(places.tolist())


def _dtype_for(bound: int) -> type:
    """The type of an array of whole numbers none of which is larger than this."""
    return np.int64 if bound < LARGEST_INTEGER else object


def _wide(units: NDArray[Any], bound: int) -> NDArray[Any]:
    """The units as numbers that hold whatever is not above this bound."""
    return units if bound < LARGEST_INTEGER else units.astype(object)


def printed_integers(printer: Printer, name: str, at: Any = ...) -> Integers | None:
    """The numbers of a step, or of an array of the mask, as they are printed.

    They are all of them, or those in one place. None where one is no decimal.
    """
    array = printer.trace.steps.get(name) or printer.trace.parameters[name]
    assert isinstance(array, Step | Matrix)
    if has_floats(array):
        chosen = np.atleast_1d(array.value[at])
        return _rounded(chosen, printer.precision)
    shape = array.value.shape
    texts: list[str] = []
    for index in np.ndindex(shape):
        texts.append(printer.text(array, index))
    found = _read(texts, shape)
    if found is None or at is ...:
        return found
    return found[at]


def has_floats(array: Step | Matrix) -> bool:
    """Whether its numbers are printed as floats are, not as they were given or worked exactly."""
    if array.written is not None:
        return False
    return isinstance(array, Matrix) or array.exact is None


def _rounded(array: NDArray[Any], precision: int) -> Integers | None:
    """What `format_number` prints of each; None where that is NaN or inf."""
    hidden = array == -np.inf
    highest = float(array.max(where=~hidden, initial=0.0))
    lowest = float(array.min(where=~hidden, initial=0.0))
    largest = max(highest, -lowest)
    if not math.isfinite(largest):
        return None
    fits = largest < LARGEST_INTEGER / 10**precision
    units = np.zeros(array.shape, np.int64 if fits else object)
    rows = len(array) if array.ndim else 1
    units_by_rows = units.reshape(rows, -1)
    hidden_by_rows = hidden.reshape(rows, -1)
    matrix = array.reshape(units_by_rows.shape)
    step = max(1, NUMBERS_AT_ONCE // max(1, matrix.shape[1]))
    for top in range(0, rows, step):
        some = slice(top, top + step)
        values = np.asarray(matrix[some], dtype=np.float64)
        _round_some(values, hidden_by_rows[some], precision, units_by_rows[some])
    bound = max(int(units.max(initial=0)), -int(units.min(initial=0)))
    return Integers(units, precision, bound, hidden if hidden.any() else None)


def _round_some(
    values: NDArray[np.float64], hidden: NDArray[np.bool_], precision: int, units: NDArray[Any]
) -> None:
    """Write the numbers into `units`: most of them at once, and one by one what is near a tie."""
    sure = surely_rounded(values, precision)
    units[sure] = np.rint(values[sure] * 10.0**precision).astype(np.int64)
    doubtful = ~(sure | hidden)
    numbers, place = np.unique(values[doubtful], return_inverse=True)
    found = [
        int(Decimal(format_number(number, precision)).scaleb(precision))
        for number in numbers.tolist()
    ]
    units[doubtful] = np.array(found, units.dtype)[place]


def _read(texts: Sequence[str], shape: tuple[int, ...]) -> Integers | None:
    """The numbers that texts say; None where one is no decimal, as 1/3, or very small or large."""
    different = set(texts) - {"-inf"}
    if not all(map(is_plain, different)):
        return None
    numbers = {text: Decimal(text) for text in different}
    if any(number and abs(number.adjusted()) > MOST_DECIMALS for number in numbers.values()):
        return None
    exponents = [int(number.as_tuple().exponent) for number in numbers.values()]
    decimals = -min(0, *exponents) if exponents else 0
    known = {text: int(Fraction(number) * 10**decimals) for text, number in numbers.items()}
    bound = max(map(abs, known.values()), default=0)
    units: NDArray[Any] = np.array([known.get(text, 0) for text in texts], _dtype_for(bound))
    hidden = None
    if "-inf" in texts:
        hidden = np.array([text == "-inf" for text in texts]).reshape(shape)
    return Integers(units.reshape(shape), decimals, bound, hidden)


class Work(NamedTuple):
    """An expression with its long sums worked.

    It is there as it is `shown`, 3·4 + … 9 more …, and with each of its sums `summed` up to a
    number, 24.1. `shortened` says that terms are left out of what is shown.
    """

    shown: Expression
    summed: Expression
    shortened: bool


class _Terms(NamedTuple):
    """Some terms of a sum: their numbers, and how the one at a place is written."""

    numbers: Integers
    write: Callable[[int], Expression]


def _term(terms: Sequence[_Terms], at: int) -> Expression:
    """The term at a place, counted through all of them."""
    for run in terms:
        if at < len(run.numbers):
            return run.write(at)
        at -= len(run.numbers)
    raise IndexError(at)


class LongSums:
    """The sums in the cells of one step, whose printed numbers are read once for all of them."""

    def __init__(self, printer: Printer, sizes: Mapping[str, int]) -> None:
        self.printer = printer
        self.sizes = sizes
        self.scalars = printer.scalars()
        self._arrays: dict[str, Integers | None] = {}
        # Large arrays are read line by line, when it is the turn of a line.
        self._reads_lines: dict[str, bool] = {}

    def work(
        self, expression: Expression, place: Mapping[str, int], *, in_full: bool
    ) -> Work | None:
        """The expression at a place; None where a sum in it is not one of decimals.

        `in_full` shows all terms, otherwise there are no more than the largest ones.
        """
        match expression:
            case Reduce(function="add" | "max" as function) | Call(function="add" as function):
                return self._sum(function, expression, place, in_full)
            case Reduce() | Call(function="where" | "finite"):
                return None
            case Call(function=function, arguments=arguments):
                works = [self.work(argument, place, in_full=in_full) for argument in arguments]
                return _call_of(function, works)
            case Number() | Name() | Ref():
                return Work(expression, expression, False)

    def _sum(
        self, function: str, expression: Expression, place: Mapping[str, int], in_full: bool
    ) -> Work | None:
        terms = self._terms(function, expression, place)
        if terms is None:
            return None
        numbers = Integers.joined([run.numbers for run in terms])
        summed = Number(numbers.total() if function == "add" else numbers.largest(), "")
        if in_full:
            return Work(expression, summed, False)
        shown = with_largest_terms(
            expression, len(numbers), numbers.heaviest, partial(_term, terms)
        )
        return Work(shown, summed, shown is not expression)

    def _terms(
        self, function: str, expression: Expression, place: Mapping[str, int]
    ) -> list[_Terms] | None:
        """The terms in order; those of a sum among the terms of a sum are terms themselves."""
        match expression:
            case Reduce(function=inner, index=letter, body=body) if inner == function:
                if isinstance(body, Call) and body.function == function:
                    return None
                return self._run(body, place, letter)
            case Call("add", arguments) if function == "add":
                terms: list[_Terms] = []
                for argument in arguments:
                    found = self._terms(function, argument, place)
                    if found is None:
                        return None
                    terms.extend(found)
                return terms
        return self._run(expression, place, "")

    def _run(self, body: Expression, place: Mapping[str, int], letter: str) -> list[_Terms] | None:
        """A term for each place of the letter; without one, a single term."""
        numbers = self._numbers(body, place, letter)
        if numbers is None:
            return None
        return [_Terms(numbers, partial(self._term, body, place, letter))]

    def _term(self, body: Expression, place: Mapping[str, int], letter: str, at: int) -> Expression:
        here = {**place, letter: at} if letter else place
        printer = self.printer
        return substitute(
            body, here, self.sizes, printer.number, self.scalars, printer.number_in_full
        )

    def _numbers(
        self, expression: Expression, place: Mapping[str, int], letter: str
    ) -> Integers | None:
        """The numbers of an expression where the letter runs through all its places.

        Without a letter, it is a single number.
        """
        size = self.sizes[letter] if letter else 1
        match expression:
            case Ref(name=name, indices=indices):
                return self._cells(name, indices, place, letter)
            case Name(name=name) if name == letter:
                return Integers(np.arange(size), 0, size)
            case Name(name=name) if name in place:
                return Integers.constant(Fraction(place[name]), size)
            case Name(name=name) if name in self.scalars:
                return Integers.constant(self.scalars[name].value, size)
            case Number(value=value):
                return Integers.constant(value, size)
            case Call(function="add" | "sub" | "neg" | "mul" as function, arguments=arguments):
                found: list[Integers | None] = []
                for argument in arguments:
                    found.append(self._numbers(argument, place, letter))
                return _combined(function, found)
            case Name() | Call() | Reduce():
                return None

    def _cells(
        self,
        name: str,
        indices: tuple[str | Expression, ...],
        place: Mapping[str, int],
        letter: str,
    ) -> Integers | None:
        """The cells of an array in a line of it, or a single one; None for a diagonal or so."""
        along = [index for index in indices if letter in letters(index, (letter,))]
        if along not in ([], [letter]):
            return None
        at = tuple(
            slice(None) if index in along else position(index, place, self.scalars)
            for index in indices
        )
        cells = self._read_cells(name, at)
        if cells is None or along or not letter:
            return cells
        if cells.hidden is not None:
            return None
        return replace(cells, units=np.repeat(cells.units, self.sizes[letter]))

    def _read_cells(self, name: str, at: tuple[int | slice, ...]) -> Integers | None:
        """The cells in a place of an array, all of which is read on the first time."""
        if name not in self._reads_lines:
            self._reads_lines[name] = self._is_read_by_lines(name)
        if self._reads_lines[name]:
            return printed_integers(self.printer, name, at)
        if name not in self._arrays:
            self._arrays[name] = printed_integers(self.printer, name)
        array = self._arrays[name]
        if array is None:
            return None
        return array[at]

    def _is_read_by_lines(self, name: str) -> bool:
        """Whether an array is large, or has numbers so large that its integers are Python's."""
        array = self.printer.trace.steps.get(name)
        if array is None or not has_floats(array):
            return False
        values = array.value
        if values.size > NUMBERS_AT_ONCE:
            return True
        factor = 10**self.printer.precision
        limit = LARGEST_INTEGER / factor
        is_large = (values >= limit) | (values <= -limit)
        is_seen = values > -np.inf
        return bool((is_large & is_seen).any())


def _call_of(function: str, works: Sequence[Work | None]) -> Work | None:
    """A call whose arguments are worked; None where one of them is not."""
    found = [work for work in works if work is not None]
    if len(found) < len(works):
        return None
    shown = Call(function, tuple(work.shown for work in found))
    summed = Call(function, tuple(work.summed for work in found))
    return Work(shown, summed, any(work.shortened for work in found))


def _combined(function: str, arguments: Sequence[Integers | None]) -> Integers | None:
    """The numbers that a function makes of others; None where there are none, or one is -inf."""
    numbers = [each for each in arguments if each is not None and each.hidden is None]
    if len(numbers) < len(arguments):
        return None
    if function == "neg":
        return replace(numbers[0], units=-numbers[0].units)
    if function == "mul":
        return reduce(Integers.times, numbers)
    sign = -1 if function == "sub" else 1
    return reduce(partial(Integers.plus, sign=sign), numbers)
