"""Steps worked out cell by cell, in numbers of Python's own rather than in arrays of floats: on
paper, and exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from math import inf, prod
from typing import Any, Generic, TypeVar

import numpy as np

from attncli.backend import Host
from attncli.equation.exact import (
    ExactNumber,
    ExactValue,
    decimal_of,
    evaluate_exactly,
    float_of,
    read_exact,
)
from attncli.equation.nodes import Reduce, walk
from attncli.equation.rounding import round_on_paper
from attncli.equation.rule import Rule
from attncli.equation.shapes import index_sizes
from attncli.equation.substitution import decimal_value
from attncli.errors import usage_error
from attncli.problem.matrix import Matrix, read_only
from attncli.problem.text.number_forms import MINUS_INFINITY
from attncli.problem.text.numbers import as_decimal, as_exact
from attncli.tracing.model import Parameters
from attncli.tracing.workers import Worked, copied_texts

# So many cells of one step are worked out exactly.
MOST_CELLS_OF_A_STEP = 1024
# All sums in all steps may have so many terms: each takes some 20 microseconds.
MOST_TERMS_OF_ALL_SUMS = 10**5
# So long may the closed forms of a step be: one with more goes on in decimals.
MOST_CHARACTERS_OF_A_STEP = 20_000
ADVICE = "use --rounding shown, or a smaller problem: closed forms are for what fits on paper"

Number = TypeVar("Number")


class _CellWorker(Generic[Number]):
    """What both have in common: given numbers are read as they are written, once, and steps are
    filled cell by cell.

    `arrays` has the numbers of all steps so far, and of the parameters that are arrays; `scalars`
    the others.
    """

    def __init__(
        self,
        read: Callable[[str], Number],
        infinity: Number,
        parameters: Parameters,
        sizes: Mapping[str, int],
        arrays: Mapping[str, Host] | None = None,
    ) -> None:
        self._read, self._infinity = read, infinity
        self._parameters, self._sizes = parameters, sizes
        self._texts: dict[str, Host] = {}
        self.arrays: dict[str, Host] = dict(arrays or {})
        self.scalars: dict[str, Number] = {}

    def give(self, name: str, matrix: Matrix) -> Worked:
        """Take in a given array exactly as it is written: 0.1 is 1/10."""
        self.arrays[name] = self._numbers(matrix)
        written = matrix.written
        if written is not None:
            self._texts[name] = written
        return Worked(matrix.value, written)

    def _numbers(self, matrix: Matrix) -> Host:
        """Each number as it was written, or the shortest decimal that reads back as the double."""
        if matrix.written is None:
            numbers: Host = np.vectorize(
                lambda value: self._read(repr(float(value))), otypes=[object]
            )(matrix.value)
        else:
            numbers = np.vectorize(self._read, otypes=[object])(matrix.written)
        return numbers

    def _cell(self, name: str, index: tuple[int, ...]) -> Any:
        return self.arrays[name][index]

    def _prepare(self, rule: Rule) -> dict[str, int]:
        """How far each index of a rule runs; before the first one the parameters are read."""
        if not self.scalars:
            self._read_parameters()
        shapes = {name: array.shape for name, array in self.arrays.items()}
        return index_sizes(rule.equation, shapes, {**self._sizes, **dict(rule.lengths)})

    def _read_parameters(self) -> None:
        self.scalars["inf"] = self._infinity
        for name, given in self._parameters.items():
            if isinstance(given, Matrix):
                self.arrays[name] = self._numbers(given)
            else:
                self.scalars[name] = self._read(given.written)

    def _fill(
        self, rule: Rule, sizes: Mapping[str, int], work: Callable[[Mapping[str, int]], Number]
    ) -> Host:
        """The cells of a step, of which `work` finds one at the place of its indices."""
        letters = rule.target.letters
        lengths = [sizes[letter] for letter in letters]
        cells = np.empty(lengths, dtype=object)
        for index in np.ndindex(cells.shape):
            place = dict(zip(letters, index, strict=True))
            cells[index] = work(place)
        self.arrays[rule.name] = cells
        return cells

    def _copied(self, rule: Rule) -> Host | None:
        return copied_texts(rule, self._texts, self._parameters, self._sizes)


class PaperWorker(_CellWorker[Decimal]):
    """Works in decimal, as on paper: every step is rounded half up to `precision` decimals, and so
    feeds the next.

    From 1e15 on these are the decimals of what is written times a power of ten.

    Inputs are taken as written and never rounded: 1/3 is 1/3 to 50 digits.
    """

    def __init__(self, precision: int, parameters: Parameters, sizes: Mapping[str, int]) -> None:
        super().__init__(as_decimal, Decimal("Infinity"), parameters, sizes)
        self._precision = precision

    def give(self, name: str, matrix: Matrix) -> Worked:
        """The numbers as given; written as their author did, or in full."""
        given = super().give(name, matrix)
        return given if given.written is not None else Worked(given.value, self._digits(name))

    def work(self, rule: Rule) -> Worked:
        """The value of a step from the rounded numbers before it, which a float may not hold, and
        its digits.
        """
        sizes = self._prepare(rule)

        def work(place: Mapping[str, int]) -> Decimal:
            value = decimal_value(rule.equation.expression, place, sizes, self._cell, self.scalars)
            if rule.is_copy or rule.only_hides:
                return value
            return round_on_paper(value, self._precision)

        cells = self._fill(rule, sizes, work)
        written = self._copied(rule)
        if written is None:
            written = self._digits(rule.name)
        return Worked(cells.astype(np.float64), written)

    def _digits(self, name: str) -> Host:
        """Every number of a step as it stands on the paper, from where the next one may copy it."""
        written: Host = np.vectorize(str, otypes=[object])(self.arrays[name])
        self._texts[name] = read_only(written)
        return self._texts[name]


class ExactWorker(_CellWorker[ExactValue]):
    """Works in fractions and closed forms, 5/√3 or e^(5/√3)/(e^(1/√3) + e^√3); in decimals where
    there is none.
    """

    def __init__(
        self,
        parameters: Parameters,
        sizes: Mapping[str, int],
        arrays: Mapping[str, Host] | None = None,
    ) -> None:
        super().__init__(_exact_number, inf, parameters, sizes, arrays)
        # The terms of all sums so far.
        self._terms = 0

    def work(self, rule: Rule) -> Worked:
        """The value of a step from the exact numbers before it, and the closed form of each cell.

        Raises AttncliError (exit 2) where that is too much.
        """
        sizes = self._prepare(rule)
        self._check_size(rule, sizes)
        left = MOST_CHARACTERS_OF_A_STEP

        def read(name: str, index: tuple[int, ...]) -> ExactValue:
            cell: ExactValue = self.arrays[name][index]
            return _in_decimals(cell) if left < 0 else cell

        def work(place: Mapping[str, int]) -> ExactValue:
            nonlocal left
            value: ExactValue = evaluate_exactly(
                rule.equation.expression, place, sizes, read, self.scalars
            )
            left -= value.length if isinstance(value, ExactNumber) else 0
            return value

        cells = self._fill(rule, sizes, work)
        if left < 0:
            cells = self.arrays[rule.name] = np.vectorize(_in_decimals, otypes=[object])(cells)
        value: Host = np.vectorize(float_of, otypes=[np.float64])(cells)
        return Worked(value, self._copied(rule), read_only(cells))

    def _check_size(self, rule: Rule, sizes: Mapping[str, int]) -> None:
        """Raises (exit 2) for a step whose closed forms nobody would read, before they are made."""
        cells = prod(sizes[letter] for letter in rule.target.letters)
        nodes = walk(rule.equation.expression)
        summed = {node.index for node in nodes if isinstance(node, Reduce)}
        self._terms += cells * prod(sizes[letter] for letter in summed)
        found = ""
        if cells > MOST_CELLS_OF_A_STEP:
            found = f"{MOST_CELLS_OF_A_STEP:,} numbers in a step, and {rule.name} has {cells:,}"
        elif self._terms > MOST_TERMS_OF_ALL_SUMS:
            found = (
                f"{MOST_TERMS_OF_ALL_SUMS:,} terms, and up to {rule.name} there are {self._terms:,}"
            )
        if found:
            raise usage_error(f"rounding 'exact' works out at most {found}", help=ADVICE)


def _in_decimals(cell: ExactValue) -> ExactValue:
    return decimal_of(cell) if isinstance(cell, ExactNumber) else cell


def _exact_number(text: str) -> ExactValue:
    """A number as it is written in a problem, exactly; -inf stays."""
    if text in MINUS_INFINITY:
        return -inf
    exact = as_exact(text)
    return read_exact(text) if exact is None else exact
