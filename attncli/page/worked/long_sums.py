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
from attncli.problem.model import Matrix
from attncli.problem.text.numbers import is_plain
from attncli.tracing.model import Step

# in a line that stands for its row; a cell asked for is always worked in full
MOST_TERMS = 12
# of a number that is worked with; those of 1e-300 would be as slow as they are many
MOST_DECIMALS = 30
# whole numbers up to here are NumPy's own, larger ones Python's
FIT = 2**62
# numbers, so that what is made of them on the way takes little memory
AT_ONCE = 2**18


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
        decimals, denominator = 0, Fraction(value).denominator
        while 10**decimals % denominator and decimals <= MOST_DECIMALS:
            decimals += 1
        if decimals > MOST_DECIMALS:
            return None
        unit = int(value * 10**decimals)
        return cls(
            np.full(size, unit, np.int64 if abs(unit) < FIT else object), decimals, abs(unit)
        )

    @classmethod
    def joined(cls, parts: Sequence[Integers]) -> Integers:
        """These numbers one after the other."""
        if len(parts) == 1:
            return parts[0]
        decimals = max(part.decimals for part in parts)
        scaled = [part.scaled(decimals) for part in parts]
        hidden = [
            np.zeros(len(part.units), np.bool_) if part.hidden is None else part.hidden
            for part in parts
        ]
        units = np.concatenate([part.units for part in scaled])
        return cls(units, decimals, max(part.bound for part in scaled), np.concatenate(hidden))

    def __getitem__(self, at: Any) -> Integers:
        units, hidden = (
            self.units[at],
            None if self.hidden is None else np.atleast_1d(self.hidden[at]),
        )
        return replace(
            self,
            units=np.atleast_1d(units),
            hidden=None if hidden is None or not hidden.any() else hidden,
        )

    def __len__(self) -> int:
        return len(self.units)

    def scaled(self, decimals: int) -> Integers:
        """The same numbers in smaller units."""
        if decimals == self.decimals:
            return self
        factor = 10 ** (decimals - self.decimals)
        bound = self.bound * factor
        return replace(
            self,
            units=_wide(self.units, max(bound, factor)) * factor,
            decimals=decimals,
            bound=bound,
        )

    def times(self, other: Integers) -> Integers:
        """Each number times the other in its place."""
        bound = self.bound * other.bound
        units = _wide(self.units, bound) * _wide(other.units, bound)
        return Integers(units, self.decimals + other.decimals, bound)

    def plus(self, other: Integers, sign: int = 1) -> Integers:
        """Each number and the other in its place, or without it."""
        decimals = max(self.decimals, other.decimals)
        one, two = self.scaled(decimals), other.scaled(decimals)
        bound = one.bound + two.bound
        return Integers(_wide(one.units, bound) + sign * _wide(two.units, bound), decimals, bound)

    def total(self) -> Fraction | float:
        """What all of them add up to."""
        if self.hidden is not None and self.hidden.any():
            return -math.inf
        return Fraction(
            int(_wide(self.units, self.bound * len(self.units)).sum()), 10**self.decimals
        )

    def largest(self) -> Fraction | float:
        """The largest of them."""
        seen = self.units if self.hidden is None else self.units[~self.hidden]
        return Fraction(int(seen.max()), 10**self.decimals) if len(seen) else -math.inf

    def heaviest(self, count: int) -> list[int]:
        """The places of the `count` numbers that are farthest from 0, in their order; of alike ones
        the first.
        """
        size = -np.abs(self.units)
        if self.hidden is not None:
            size = np.where(self.hidden, -self.bound - 1, size)
        return sorted(np.argsort(size, kind="stable")[:count].tolist())


def _wide(units: NDArray[Any], bound: int) -> NDArray[Any]:
    """The units as numbers that hold whatever is not above this bound."""
    return units if bound < FIT else units.astype(object)


def printed_integers(printer: Printer, name: str, at: Any = ...) -> Integers | None:
    """The numbers of a step, or of an array of the mask, as they are printed: all of them, or those
    in one place.

    None where one is no decimal.
    """
    array = printer.trace.steps.get(name) or printer.trace.parameters[name]
    assert isinstance(array, Step | Matrix)
    if has_floats(array):
        chosen = np.atleast_1d(array.value[at])
        return _rounded(chosen, printer.precision)
    shape = array.value.shape
    texts = [printer.text(array, index) for index in np.ndindex(shape)]
    found = _read(texts, shape)
    if found is None or at is ...:
        return found
    return found[at]


def has_floats(array: Step | Matrix) -> bool:
    """Whether its numbers are printed as floats are, and not as they were given or worked
    exactly.
    """
    return array.written is None and (isinstance(array, Matrix) or array.exact is None)


def _rounded(array: NDArray[Any], precision: int) -> Integers | None:
    """What `format_number` prints of each; None where that is NaN or inf."""
    hidden = array == -np.inf
    largest = max(
        float(array.max(where=~hidden, initial=0.0)), -float(array.min(where=~hidden, initial=0.0))
    )
    if not math.isfinite(largest):
        return None
    units = np.zeros(array.shape, np.int64 if largest < FIT / 10**precision else object)
    by_rows, unseen = (
        each.reshape(len(array) if array.ndim else 1, -1) for each in (units, hidden)
    )
    matrix = array.reshape(by_rows.shape)
    step = max(1, AT_ONCE // max(1, matrix.shape[1]))
    for top in range(0, len(matrix), step):
        values, part = (
            np.asarray(matrix[top : top + step], dtype=np.float64),
            by_rows[top : top + step],
        )
        sure = surely_rounded(values, precision)
        part[sure] = np.rint(values[sure] * 10.0**precision).astype(np.int64)
        doubtful = ~(sure | unseen[top : top + step])
        numbers, place = np.unique(values[doubtful], return_inverse=True)
        found = [
            int(Decimal(format_number(number, precision)).scaleb(precision))
            for number in numbers.tolist()
        ]
        part[doubtful] = np.array(found, units.dtype)[place]
    bound = max(int(units.max(initial=0)), -int(units.min(initial=0)))
    return Integers(units, precision, bound, hidden if hidden.any() else None)


def _read(texts: Sequence[str], shape: tuple[int, ...]) -> Integers | None:
    """The numbers that texts say; None where one is no decimal, such as 1/3, or very small or
    large.
    """
    if not all(map(is_plain, {*texts} - {"-inf"})):
        return None
    numbers = {text: Decimal(text) for text in {*texts} - {"-inf"}}
    if any(number and abs(number.adjusted()) > MOST_DECIMALS for number in numbers.values()):
        return None
    decimals = max((-int(number.as_tuple().exponent) for number in numbers.values()), default=0)
    decimals = max(decimals, 0)
    known = {text: int(Fraction(number) * 10**decimals) for text, number in numbers.items()}
    bound = max(map(abs, known.values()), default=0)
    units = np.array(
        [known.get(text, 0) for text in texts], np.int64 if bound < FIT else object
    ).reshape(shape)
    hidden = (
        np.array([text == "-inf" for text in texts]).reshape(shape) if "-inf" in texts else None
    )
    return Integers(units, decimals, bound, hidden)


class Work(NamedTuple):
    """An expression with its long sums worked: as it is `shown`, and with each of them `summed` up
    to a number.
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
            break
        at -= len(run.numbers)
    return run.write(at)


class LongSums:
    """The sums in the cells of one step, whose printed numbers are read once for all of them."""

    def __init__(self, printer: Printer, sizes: Mapping[str, int]) -> None:
        self.printer, self.sizes, self.scalars = printer, sizes, printer.scalars()
        self._arrays: dict[str, Integers | None] = {}
        self._by_lines: set[str] = set()

    def work(
        self, expression: Expression, place: Mapping[str, int], *, in_full: bool
    ) -> Work | None:
        """The expression at a place; None where a sum in it is not one of decimals.

        `in_full` shows all terms, otherwise there are no more than the largest ones.
        """
        match expression:
            case Reduce(function="add" | "max" as function) | Call(function="add" as function):
                return self._sum(function, expression, place, in_full)
            case Call(function=function, arguments=arguments) if function not in (
                "where",
                "finite",
            ):
                parts = [self.work(argument, place, in_full=in_full) for argument in arguments]
                found = [part for part in parts if part is not None]
                if len(found) < len(parts):
                    return None
                shown, summed = (
                    tuple(part.shown for part in found),
                    tuple(part.summed for part in found),
                )
                return Work(
                    Call(function, shown),
                    Call(function, summed),
                    any(part.shortened for part in found),
                )
        return (
            None if isinstance(expression, Reduce | Call) else Work(expression, expression, False)
        )

    def _sum(
        self, function: str, expression: Expression, place: Mapping[str, int], in_full: bool
    ) -> Work | None:
        terms = self._terms(function, expression, place)
        if terms is None:
            return None
        numbers = Integers.joined([run.numbers for run in terms])
        summed = Number(numbers.total() if function == "add" else numbers.largest(), "")
        if in_full or len(numbers) <= MOST_TERMS:
            return Work(expression, summed, False)
        kept, left = numbers.heaviest(MOST_TERMS - 1), len(numbers) - MOST_TERMS + 1
        left_out = Call("left_out", (Number(Fraction(left), str(left)),))
        return Work(Call(function, (*(_term(terms, at) for at in kept), left_out)), summed, True)

    def _terms(
        self, function: str, expression: Expression, place: Mapping[str, int]
    ) -> list[_Terms] | None:
        """The terms in order; those of a sum among the terms of a sum are terms themselves."""
        match expression:
            case Reduce(function=inner, index=letter, body=body) if inner == function:
                if isinstance(body, Call) and body.function == function:
                    return None
                numbers = self._numbers(body, place, letter)
                write = partial(self._term, body, place, letter)
            case Call("add", arguments) if function == "add":
                runs = [self._terms(function, argument, place) for argument in arguments]
                return None if None in runs else [terms for run in runs for terms in run or ()]
            case _:
                numbers, write = (
                    self._numbers(expression, place, ""),
                    partial(self._term, expression, place, ""),
                )
        return None if numbers is None else [_Terms(numbers, write)]

    def _term(self, body: Expression, place: Mapping[str, int], letter: str, at: int) -> Expression:
        here = {**place, letter: at} if letter else place
        return substitute(body, here, self.sizes, self.printer.number, self.scalars)

    def _numbers(
        self, expression: Expression, place: Mapping[str, int], letter: str
    ) -> Integers | None:
        """The numbers of an expression where the letter runs through all its places; without one, a
        single number.
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
                found = [self._numbers(argument, place, letter) for argument in arguments]
                numbers = [each for each in found if each is not None and each.hidden is None]
                if len(numbers) < len(found):
                    return None
                if function == "neg":
                    return replace(numbers[0], units=-numbers[0].units)
                if function == "mul":
                    return reduce(Integers.times, numbers)
                return reduce(partial(Integers.plus, sign=-1 if function == "sub" else 1), numbers)
        return None

    def _cells(
        self,
        name: str,
        indices: tuple[str | Expression, ...],
        place: Mapping[str, int],
        letter: str,
    ) -> Integers | None:
        """The cells of an array in a line of it, or a single one; None for a diagonal and its
        like.
        """
        along = [index for index in indices if letter in letters(index, (letter,))]
        if along not in ([], [letter]):
            return None
        at = tuple(
            slice(None) if index in along else position(index, place, self.scalars)
            for index in indices
        )
        if name not in self._arrays:
            by_lines = self._is_read_by_lines(name)
            self._by_lines |= {name} if by_lines else set()
            self._arrays[name] = None if by_lines else printed_integers(self.printer, name)
        array = self._arrays[name]
        cells = (
            printed_integers(self.printer, name, at)
            if name in self._by_lines
            else array and array[at]
        )
        if cells is None:
            return None
        if along or not letter:
            return cells
        return (
            None
            if cells.hidden is not None
            else replace(cells, units=np.repeat(cells.units, self.sizes[letter]))
        )

    def _is_read_by_lines(self, name: str) -> bool:
        """Whether an array is large, or has numbers so large that its integers are Python's."""
        array, limit = self.printer.trace.steps.get(name), FIT / 10**self.printer.precision
        if array is None or not has_floats(array):
            return False
        values = array.value
        return values.size > AT_ONCE or bool(
            ((values >= limit) | ((values <= -limit) & (values > -np.inf))).any()
        )
