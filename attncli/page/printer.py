"""How numbers are printed, everywhere: rounded half up, whole numbers whole, given ones as they
were given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from attncli.dtypes import DTYPES
from attncli.equation.nodes import Call, Equation, Expression, Name, Number, rewrite
from attncli.equation.rounding import DIGITS, SCIENTIFIC, round_half_up
from attncli.page.document import Item, LeftOut, Math, Text, text
from attncli.page.ends import ends_of, left_out_of
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.text.number_forms import NumberError, is_plain
from attncli.problem.text.numbers import as_decimal, as_exact, canonical
from attncli.tracing.model import Step, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attncli.page.view import View

# So many significant digits does a float64 always keep.
FLOAT_DIGITS = 15
# Up to so many units of the last decimal, binary rounding is right where a number is near no tie,
# which is so where it is farther from one than this part of such a unit.
SAFE_UNITS = 1e9
NEAR_TIE = 1e-4
# A number that is nearer than this to a whole one, in relation, may be whole in 15 digits.
NEAR_WHOLE = 1e-12
INFINITY, NAN = "inf", "nan"
NO_NUMBERS = (INFINITY, f"-{INFINITY}", NAN)
# The page of a trace with more numbers is made piece by piece.
MOST_NUMBERS_AT_ONCE = 2**16
# Given numbers are shown in full up to so many decimals.
GIVEN_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Printer:
    """The printed form of every number of a trace: the same in a matrix and in a worked line.

    The steps in `blank` are left to the reader: nothing that tells a number of theirs is to be
    printed. With `in_full` given numbers have all their digits. With `only_ends` only the first and
    the last of many rows and columns are printed. With `lazy`, rows and lines are made when
    somebody asks for them, as those of a large page are. With `explains`, texts say what steps are,
    and why.
    """

    trace: Trace
    precision: int
    blank: frozenset[str] = frozenset()
    in_full: bool = False
    only_ends: bool = False
    lazy: bool = False
    explains: bool = True

    @property
    def is_large(self) -> bool:
        """Whether a page of all numbers is too large to be in memory at once, or treated so."""
        if self.lazy:
            return True
        numbers = sum(step.value.size for step in self.trace.steps.values())
        return numbers > MOST_NUMBERS_AT_ONCE

    def ends_or_all(self, items: Sequence[Item]) -> Sequence[Item]:
        """Those of them that are to be printed."""
        return ends_of(items) if self.only_ends else items

    def left_out_of(self, **counts: int) -> LeftOut:
        """Which of these rows or columns are not printed, by how many there are of each."""
        return left_out_of(**counts) if self.only_ends else ()

    def may_show_work(self, step: Step) -> bool:
        """Whether a worked line of this step keeps to itself what is to be filled in."""
        return self.blank.isdisjoint((step.name, *step.rule.inputs))

    def number(self, name: str, index: tuple[int, ...]) -> Number:
        """One cell of a step, or of an array of the mask."""
        array = self.trace.steps.get(name) or self.trace.parameters[name]
        assert isinstance(array, Step | Matrix)
        text = self.text(array, index)
        return number_node(text)

    def number_in_full(self, name: str, index: tuple[int, ...]) -> Number:
        """The same cell with all its digits."""
        array = self.trace.steps.get(name) or self.trace.parameters[name]
        assert isinstance(array, Step | Matrix)
        return number_node(repr(float(array.value[index])))

    def rounded(self, value: float) -> Number:
        """A number on the way to a result, printed as the result will be."""
        return number_node(format_number(value, self.precision))

    def text(self, array: Step | Matrix, index: tuple[int, ...]) -> str:
        """What is printed for one cell of a step, or of an array of the mask."""
        if array.written is not None:
            written = self._given_text(array, str(array.written[index]))
            if written is not None:
                return written
        if isinstance(array, Step) and array.exact is not None:
            # Few traces have closed forms, and what works with them takes a while to import.
            from attncli.equation.exact import decimal_of

            number = array.exact[index]
            # The last digits of a decimal are roundings.
            digits = DIGITS - 10 if isinstance(number, Decimal) else DIGITS
            return format_decimal(decimal_of(number, digits), self.precision)
        value = float(array.value[index])
        if self.shows_all_digits(array):
            return spell(value)
        return format_number(value, self.precision)

    def _given_text(self, array: Step | Matrix, written: str) -> str | None:
        """What is printed of a number in the words it was given in; None where its value is."""
        if isinstance(array, Step) and not array.rule.given and not array.rule.is_copy:
            # It was worked out on paper.
            return format_decimal(Decimal(written), self.precision)
        try:
            text = _canonical(written)
        except NumberError:
            # It is a copy of what was worked out on paper, beyond all numbers that are read.
            return format_decimal(Decimal(written), self.precision)
        if self.in_full or self.shows_closed_forms or self.trace.truth:
            return text
        decimals = len(text.partition(".")[2])
        return text if decimals <= max(GIVEN_DECIMALS, self.precision) else None

    def shows_all_digits(self, array: Step | Matrix) -> bool:
        """Whether these are given numbers, or copies of them, and are shown as they are read."""
        if not self.in_full or isinstance(array, Matrix):
            return self.in_full
        if array.rule.given or not array.rule.is_copy:
            return array.rule.given
        copied = [self.trace.steps[name] for name in array.rule.inputs if name in self.trace.steps]
        # What is no step, such as the numbers of a mask, is given.
        return all(step.rule.given for step in copied)

    @property
    def shows_closed_forms(self) -> bool:
        """Whether closed forms are shown beside the decimals."""
        return self.trace.settings.rounding == "exact"

    def closed_form(self, name: str, index: tuple[int, ...]) -> Expression:
        """The same cell in its closed form, √3/2, or as it was given with all its digits."""
        array = self.trace.steps.get(name) or self.trace.parameters[name]
        assert isinstance(array, Step | Matrix)
        if array.written is not None:
            return number_node(canonical(array.written[index]))
        if isinstance(array, Step) and array.exact is not None:
            from attncli.equation.exact import expression_of

            number = array.exact[index]
            if isinstance(number, Decimal):
                return self.number(name, index)
            return expression_of(number)
        return number_node(canonical(repr(float(array.value[index]))))

    def formula(self, equation: Equation) -> Equation:
        """The equation with the problem's own settings in it, Z = 0.5·S; d_k stays a letter."""
        return replace(equation, expression=self.with_settings(equation.expression))

    def prose(self, source: str) -> Text:
        """A sentence of a rule, with the problem's own settings in its expressions."""
        return tuple(
            Math(self.with_settings(piece.expression)) if isinstance(piece, Math) else piece
            for piece in text(source)
        )

    def with_settings(self, expression: Expression) -> Expression:
        """An expression with the numbers of the problem's own settings for their names."""
        settings = {name: value for name, value in self.scalars().items() if name != "d_k"}

        def put(node: Expression) -> Expression:
            match node:
                case Name(name=name):
                    return settings.get(name, node)
                case Call("add", (left, Number(value=value, text=text))) if (
                    value is not None and value < 0
                ):
                    # It is i - 1, and not i + (-1).
                    return Call("sub", (left, Number(-value, text.removeprefix("-"))))
            return node

        return rewrite(expression, put)

    def scalars(self) -> Mapping[str, Number]:
        """The single numbers that equations read, such as d_k, with all their digits."""
        found = {INFINITY: number_node(INFINITY)}
        for name, given in self.trace.parameters.items():
            if not isinstance(given, Scalar):
                continue
            written = given.written
            if written not in NO_NUMBERS:
                written = canonical(written)
            found[name] = number_node(written)
        return found

    def scalars_in_full(self) -> Mapping[str, Number]:
        """The same, with 50 digits for a root."""
        found: dict[str, Number] = {}
        scalars = self.scalars()
        for name, number in scalars.items():
            found[name] = number
            if number.value is None:
                digits = str(printed_value(number))
                found[name] = Number(None, digits)
        return found


# A given matrix may be shown many times.
_canonical = lru_cache(maxsize=2**12)(canonical)


def printer_for(trace: Trace, view: View) -> Printer:
    """The printer of a page: at the precision of its view, or of its paper if it has one."""
    precision = view.precision
    if trace.settings.precision is not None:
        # Numbers that were worked out on paper have no more digits.
        precision = trace.settings.precision
    shown = zero_residues(trace, precision)
    return Printer(
        shown, precision, view.blank, view.in_full, view.only_ends, explains=view.explains
    )


# Where a step has more numbers, nobody looks for zeros, and not all of the trace is kept.
MOST_NUMBERS_WITH_RESIDUES = 2**12


def zero_residues(trace: Trace, precision: int) -> Trace:
    """The trace with 0 in place of each residue that these decimals would print as 0.000.

    The magnitudes of its terms say whether a number is a residue: 3·0.1 - 0.3 is one, a weight of
    1e-17 is not.
    """
    sizes = [step.value.size for step in trace.steps.values()]
    largest = max(sizes, default=0)
    if largest > MOST_NUMBERS_WITH_RESIDUES:
        return trace
    doubtful = [step for step in trace.computed() if _may_have_residues(step, precision)]
    if not doubtful:
        return trace
    # Few pages need it.
    from attncli.tracing.magnitudes import HONEST_EPSILONS, Magnitudes

    dtype = DTYPES[trace.settings.dtype]
    magnitudes = Magnitudes(trace, dtype)
    steps = dict(trace.steps)
    for step in doubtful:
        value = step.value
        noise = HONEST_EPSILONS * dtype.epsilon * magnitudes[step.name]
        size = np.abs(value)
        is_residue = (size <= noise) & (size < _unseen(precision))
        if not value[is_residue].any():
            continue
        zero = value.dtype.type(0)
        without = np.where(is_residue, zero, value)
        steps[step.name] = replace(step, value=without)
    return replace(trace, steps=steps)


def _may_have_residues(step: Step, precision: int) -> bool:
    if step.written is not None or step.exact is not None:
        return False
    is_unseen = np.abs(step.value) < _unseen(precision)
    return bool((is_unseen & (step.value != 0)).any())


def _unseen(precision: int) -> float:
    return 0.5 * 10.0**-precision


def format_number(value: float, precision: int) -> str:
    """The value at `precision` decimals, rounded half up; a whole number without decimals.

    A float is taken as the decimal of 15 significant digits that it stands for, so that 0.1 + 0.2
    is 0.3 and noise in the last bit turns no tie; where more are asked for, as its shortest
    spelling, and with no further zeros.

    >>> format_number(2.675, 2), format_number(0.1 + 0.2, 3), format_number(2.0, 3)
    ('2.68', '0.300', '2')
    """
    if not math.isfinite(value):
        return str(float(value))
    whole = round(value)
    scaled = abs(value) * 10.0**precision
    is_near_tie = abs(scaled % 1 - 0.5) <= NEAR_TIE
    is_near_whole = abs(value - whole) <= NEAR_WHOLE * abs(whole)
    if scaled < SAFE_UNITS and not is_near_tie and not is_near_whole:
        return f"{value:z.{precision}f}"
    digits = f"{value:.{FLOAT_DIGITS - 1}e}"
    if abs(whole) >= 10**FLOAT_DIGITS and _rounds_plainly(digits, precision):
        return f"{value:.{precision}e}"
    decimal = Decimal(digits)
    if decimal.adjusted() + precision >= FLOAT_DIGITS and abs(decimal) < SCIENTIFIC:
        decimal = Decimal(repr(float(value)))
        # Further decimals would be zeros that nobody worked out.
        known = max(-int(decimal.as_tuple().exponent), FLOAT_DIGITS - decimal.adjusted())
        precision = min(precision, known)
    return format_decimal(decimal, precision)


def _rounds_plainly(scientific: str, precision: int) -> bool:
    """Whether a mantissa, such as that of 1.2346e+15, can be rounded digit by digit.

    It is neither whole, nor at a tie, nor rounded up to ten.
    """
    _, _, behind_point = scientific.partition(".")
    decimals = behind_point[: FLOAT_DIGITS - 1]
    kept = decimals[:precision]
    rest = decimals[precision:].rstrip("0")
    if rest in ("", "5"):
        return False
    return bool(kept.strip("9"))


def spell(value: float) -> str:
    """The shortest text that is this double; a whole number without decimals.

    >>> spell(0.1), spell(3.0)
    ('0.1', '3')
    """
    return canonical(repr(value)) if math.isfinite(value) else str(value)


def format_decimal(decimal: Decimal, precision: int) -> str:
    """A decimal at `precision` decimals.

    Where not even the digits before the point are all known, it has a power of ten.

    >>> format_decimal(Decimal("0.70711"), 3), format_decimal(Decimal("1.5e20"), 3)
    ('0.707', '1.500e+20')
    """
    if not decimal.is_finite():
        return str(float(decimal))
    if abs(decimal) < SCIENTIFIC:
        return _decimals(decimal, precision)
    exponent = decimal.adjusted()
    mantissa = decimal.scaleb(-exponent)
    digits = _decimals(mantissa, precision)
    return f"{digits}e+{exponent}"


def _decimals(decimal: Decimal, precision: int) -> str:
    if decimal == decimal.to_integral_value():
        return str(int(decimal))
    return f"{round_half_up(decimal, precision):f}"


def format_rows(matrix: NDArray[Any], precision: int) -> list[list[str]]:
    """What `format_number` makes of each number of a matrix, row by row.

    Where binary rounding is sure to give the same digits, NumPy rounds. Each text is made once, so
    equal texts are one and the same object.

    >>> format_rows(np.array([[0.70711, 2.0], [-np.inf, 0.0625]]), 3)
    [['0.707', '2'], ['-inf', '0.063']]
    """
    values = matrix.astype(np.float64)
    sure = surely_rounded(values, precision)
    # The sum with 0.0 makes 0.000 of -0.000.
    rounded = np.round(values[sure], precision) + 0.0
    others = values[~sure]
    write_rounded = f"{{:.{precision}f}}".format
    write_other = partial(format_number, precision=precision)
    texts = np.empty(values.shape, dtype=object)
    texts[sure] = _texts(rounded, write_rounded)
    texts[~sure] = _texts(others, write_other)
    rows: list[list[str]] = texts.tolist()
    return rows


def _texts(numbers: NDArray[np.float64], write: Callable[[float], str]) -> NDArray[Any]:
    """What is written of each number, made once for equal ones."""
    different, place = np.unique(numbers, return_inverse=True)
    written = [write(number) for number in different.tolist()]
    texts: NDArray[Any] = np.array(written, dtype=object)
    spread: NDArray[Any] = texts[place]
    return spread


def surely_rounded(values: NDArray[np.float64], precision: int) -> NDArray[np.bool_]:
    """Where binary rounding gives the right digits.

    Such numbers are neither large, nor near a tie, nor whole or nearly so.

    >>> surely_rounded(np.array([0.70711, 0.0625, 2.0]), 3).tolist()
    [True, False, False]
    """
    with np.errstate(all="ignore"):
        units = np.abs(values) * 10.0**precision
        from_tie = np.abs(units % 1 - 0.5)
        whole = np.rint(values)
        from_whole = np.abs(values - whole)
        room = NEAR_WHOLE * np.abs(whole)
        sure: NDArray[np.bool_] = units < SAFE_UNITS
        sure &= from_tie > NEAR_TIE
        sure &= from_whole > room
    return sure


# Floats have exponents of three digits; decimals that are rounded as on paper may have any.
_DIGITS_OF_EXPONENTS = 3


@lru_cache(maxsize=2**16)
def number_node(text: str) -> Number:
    """A printed number as a node of an equation, which knows exactly what its text says, unless it
    is far too large: with as many digits, each line would take seconds.
    """
    _, _, exponent = text.lower().partition("e")
    if text == NAN or len(exponent.strip("+-")) > _DIGITS_OF_EXPONENTS:
        return Number(None, text)
    if text in NO_NUMBERS:
        return Number(float(text), text)
    value = Fraction(text) if is_plain(text) else as_exact(text)
    return Number(value, text)


def printed_value(number: Number) -> Decimal:
    """What a printed number says, to 50 digits."""
    text = number.text
    if text in NO_NUMBERS or is_plain(text):
        return Decimal(text)
    return as_decimal(text)
