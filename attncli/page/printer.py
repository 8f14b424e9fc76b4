"""How numbers are printed, everywhere: rounded half up, whole numbers whole, given ones as they were given."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from attncli.equation.decimals import round_half_up
from attncli.equation.nodes import Call, Equation, Expression, Name, Number, rewrite
from attncli.page.document import Math, Text, text
from attncli.page.edges import Item, LeftOut, ends, left_out
from attncli.page.literal import literal, printed
from attncli.page.residue import cleared
from attncli.page.view import View
from attncli.problem.model import Matrix, Scalar
from attncli.problem.numbers import NumberError, canonical
from attncli.tracing.model import Step, Trace

FLOAT_DIGITS = 15  # significant ones that a float64 always keeps
SCIENTIFIC = Decimal(10) ** FLOAT_DIGITS  # from here on, not even the digits before the point are all known
SAFE, NEAR = 1e9, 1e-4  # up to here, and no nearer than this, a float64 leaves no doubt about a rounded digit
GIVEN_DECIMALS = 6  # given numbers are shown in full up to so many decimals


def show(value: float, precision: int) -> str:
    """The value at `precision` decimals, rounded half up; a whole number without decimals.

    A float is taken as the decimal of 15 significant digits that it stands for, so that 0.1 + 0.2
    is 0.3 and noise in the last bit turns no tie; where more are asked for, as its shortest spelling.
    """
    if not math.isfinite(value):
        return str(float(value))
    if _plainly_rounded(value, precision):
        return f"{value:z.{precision}f}"
    decimal = Decimal(f"{value:.{FLOAT_DIGITS - 1}e}")
    if decimal.adjusted() + precision >= FLOAT_DIGITS and abs(decimal) < SCIENTIFIC:
        decimal = Decimal(repr(float(value)))
    return show_decimal(decimal, precision)


def _plainly_rounded(value: float, precision: int) -> bool:
    """Whether binary rounding gives the same digits: far from a tie, from a whole number and from the last digit."""
    scaled = abs(value) * 10.0**precision
    return scaled < SAFE and abs(scaled % 1 - 0.5) > NEAR and abs(value - round(value)) > NEAR


def show_decimal(decimal: Decimal, precision: int) -> str:
    """A decimal at `precision` decimals; where not even those before the point are all known, times a power of ten."""
    if not decimal.is_finite():
        return str(float(decimal))
    if abs(decimal) >= SCIENTIFIC:
        mantissa = decimal.scaleb(-decimal.adjusted())
        return f"{_decimals(mantissa, precision)}e+{decimal.adjusted()}"
    return _decimals(decimal, precision)


def _decimals(decimal: Decimal, precision: int) -> str:
    if decimal == decimal.to_integral_value():
        return str(int(decimal))
    return f"{round_half_up(decimal, precision):f}"


@dataclass(frozen=True, slots=True)
class Printer:
    """The printed form of every number of a trace: the same in a matrix and in a worked line.

    The steps in `blank` are left to the reader: nothing that tells a number of theirs is to be printed. With `ends`
    only the first and the last of many rows and columns are.
    """

    trace: Trace
    precision: int
    blank: frozenset[str] = frozenset()
    ends: bool = False

    def some(self, items: Sequence[Item]) -> Sequence[Item]:
        """Those of them that are to be printed."""
        return ends(items) if self.ends else items

    def left_out(self, **counts: int) -> LeftOut:
        """Which of these rows or columns are not printed, by how many there are of each."""
        return left_out(**counts) if self.ends else ()

    def tells(self, step: Step) -> bool:
        """Whether a worked line of this step keeps to itself what is to be filled in."""
        return self.blank.isdisjoint((step.name, *step.rule.inputs))

    def number(self, name: str, index: tuple[int, ...]) -> Number:
        """One cell of a step, or of an array of the mask."""
        step = self.trace.steps.get(name)
        if step is None:
            matrix = self.trace.parameters[name]
            assert isinstance(matrix, Matrix)
            return literal(self.text(matrix, index))
        return literal(self.text(step, index))

    def in_full(self, name: str, index: tuple[int, ...]) -> Number:
        """The same cell with all its digits."""
        array = self.trace.steps.get(name) or self.trace.parameters[name]
        assert isinstance(array, Step | Matrix)
        return literal(repr(float(array.value[index])))

    def worked_out(self, value: float) -> Number:
        """A number on the way to a result, printed as the result will be."""
        return literal(show(value, self.precision))

    def text(self, array: Step | Matrix, index: tuple[int, ...]) -> str:
        """What is printed for one cell of a step, or of an array of the mask."""
        if array.written is not None:
            if isinstance(array, Step) and not array.rule.given and not array.rule.copies:  # worked out on paper
                return show_decimal(Decimal(array.written[index]), self.precision)
            try:
                text = canonical(array.written[index])
            except NumberError:  # a copy of what was worked out on paper, beyond all numbers that are read
                return show_decimal(Decimal(array.written[index]), self.precision)
            if (
                self.in_exact_terms
                or self.trace.truth
                or len(text.partition(".")[2]) <= max(GIVEN_DECIMALS, self.precision)
            ):
                return text
        if isinstance(array, Step) and array.exact is not None:
            from attncli.equation.exact import decimal_of  # takes a while, and few traces have closed forms

            return show_decimal(decimal_of(array.exact[index]), self.precision)
        return show(float(array.value[index]), self.precision)

    @property
    def in_exact_terms(self) -> bool:
        """Whether closed forms are shown beside the decimals."""
        return self.trace.settings.rounding == "exact"

    def closed(self, name: str, index: tuple[int, ...]) -> Expression:
        """The same cell in its closed form, or as it was given with all its digits."""
        array = self.trace.steps.get(name) or self.trace.parameters[name]
        assert isinstance(array, Step | Matrix)
        if isinstance(array, Step) and array.exact is not None and array.written is None:
            from attncli.equation.exact import expression_of

            return expression_of(array.exact[index])
        return literal(
            canonical(array.written[index] if array.written is not None else repr(float(array.value[index])))
        )

    def formula(self, equation: Equation) -> Equation:
        """The equation with the problem's own settings in it, Z = 0.5·S; d_k stays a letter."""
        return replace(equation, expression=self.with_settings(equation.expression))

    def prose(self, source: str) -> Text:
        """A sentence of a rule, with the problem's own settings in its expressions."""
        return tuple(
            Math(self.with_settings(piece.expression)) if isinstance(piece, Math) else piece for piece in text(source)
        )

    def with_settings(self, expression: Expression) -> Expression:
        """An expression with the numbers of the problem's own settings for their names."""
        settings = {name: value for name, value in self.scalars().items() if name != "d_k"}

        def put(node: Expression) -> Expression:
            match node:
                case Name(name=name):
                    return settings.get(name, node)
                case Call("add", (left, Number(value=value, text=text))) if value is not None and value < 0:
                    return Call("sub", (left, Number(-value, text.removeprefix("-"))))  # i - 1, not i + (-1)
            return node

        return rewrite(expression, put)

    def scalars(self) -> Mapping[str, Number]:
        """The numbers that equations read besides steps, d_k and its like, in full."""
        return {
            name: literal(canonical(given.written))
            for name, given in self.trace.parameters.items()
            if isinstance(given, Scalar)
        } | {"inf": literal("inf")}

    def scalars_in_full(self) -> Mapping[str, Number]:
        """The same, with 50 digits for a root."""
        return {
            name: number if number.value is not None else Number(None, str(printed(number)))
            for name, number in self.scalars().items()
        }


def printer_for(trace: Trace, view: View) -> Printer:
    """The printer of a page: at the precision of its view, or of its paper, whose numbers have no more digits."""
    precision = view.precision if trace.settings.precision is None else trace.settings.precision
    return Printer(cleared(trace, precision), precision, view.blank, view.ends)
