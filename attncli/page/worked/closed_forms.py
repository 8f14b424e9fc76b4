"""Closed forms on a page: beside the decimals of a matrix where they fit, else a line for each; and
worked lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product

from attncli.equation.exact import (
    Exact,
    ExactError,
    ExactNumber,
    evaluate_exactly,
    expression_of,
    is_zero,
    read_exact,
)
from attncli.equation.nodes import Call, Expression, Number, rewrite
from attncli.equation.notation import UNICODE
from attncli.equation.printer import write
from attncli.equation.substitution import exact_value, substitute
from attncli.page.document import WorkedLine
from attncli.page.printer import Printer
from attncli.page.worked.lookups import NO_DIVISOR, divides_by_nothing
from attncli.tracing.model import Step

# columns of a matrix of closed forms, its labels among them
WIDEST = 76
# characters of a sentence before the closed form it comes to
LONGEST = 60
# the same with --detail cells: nobody reads more, and to see that it holds takes long
LONGEST_IN_FULL = 400
# as is the whole number of a fraction that no double holds
_LONG = re.compile(r"\d{21,}")
# closed forms that are listed for every cell; of more cells, each row has one
MOST_LINES = 36


def closed_forms(printer: Printer, step: Step) -> tuple[tuple[Expression, ...], ...]:
    """The closed forms to be shown beside a matrix; none where its decimals say all, or where they
    are too wide.
    """
    if has_decimals(step) or _width(step) > WIDEST or _all_printed(printer, step):
        return ()
    return tuple(tuple(expression_of(number) for number in row) for row in _rows(step))


def rounded(printer: Printer, step: Step) -> frozenset[tuple[int, ...]]:
    """The cells whose printed decimals are not all of the number."""
    places = product(*(range(size) for size in step.shape))
    return frozenset(place for place in places if _is_rounded(printer, step, place))


def _is_rounded(printer: Printer, step: Step, index: tuple[int, ...]) -> bool:
    """Whether the printed decimals are not all of the number: 1/2 is 0.500."""
    assert step.exact is not None
    result, number = printer.number(step.name, index), step.exact[index]
    return isinstance(number, Decimal) or result.value is None or bool(result.value != number)


def has_decimals(step: Step) -> bool:
    """Whether some of its numbers have no closed form, and are decimals."""
    return step.exact is not None and any(isinstance(number, Decimal) for number in step.exact.flat)


def need_lines(printer: Printer, step: Step) -> bool:
    """Whether every cell needs a line, since there can be no matrix of the closed forms, or it
    would be too wide.
    """
    assert step.exact is not None
    if step.exact.size > MOST_LINES or all(
        isinstance(number, Decimal | float) for number in step.exact.flat
    ):
        return False
    return has_decimals(step) or (_width(step) > WIDEST and not _all_printed(printer, step))


def exact_sentence(
    printer: Printer,
    step: Step,
    place: Mapping[str, int],
    closed_form: Callable[[str, tuple[int, ...]], Expression],
    *,
    in_full: bool,
) -> Expression | None:
    """A cell's equation with its exact numbers put in; None where that would be too long to be
    read.
    """
    most = LONGEST_IN_FULL if in_full else LONGEST
    # as lengths are not known exactly before they are written
    left = 2 * most

    def number(name: str, index: tuple[int, ...]) -> Expression:
        nonlocal left
        array = printer.trace.steps.get(name)
        exact = array.exact[index] if array is not None and array.exact is not None else None
        left -= exact.length if isinstance(exact, ExactNumber) else 1
        if left < 0:
            raise _TooLongError
        return closed_form(name, index)

    equation = step.rule.equation
    try:
        sentence = substitute(
            equation.expression, place, printer.trace.sizes(equation), number, printer.scalars()
        )
    except _TooLongError:
        return None
    sentence = rewrite(sentence, _as_power)
    return sentence if len(write(sentence, UNICODE)) <= most else None


class _TooLongError(Exception):
    """A sentence that is too long, before all of it is made."""


def exact_line(
    printer: Printer,
    step: Step,
    index: tuple[int, ...],
    label: str,
    sentence: Expression | None,
    *,
    in_full: bool,
) -> WorkedLine:
    """One cell: the equation with exact numbers put in, its closed form, and the decimals: 3 / √3 =
    √3 ≈ 1.732.
    """
    assert step.exact is not None
    number, result = step.exact[index], printer.number(step.name, index)
    if isinstance(number, Decimal):
        # else the line is one of decimals
        assert sentence is not None
        if divides_by_nothing(sentence):
            return WorkedLine(label, result=result, remark=NO_DIVISOR)
        value = result.value
        holds = isinstance(value, Fraction) and (
            exact_value(sentence) == value or _comes_to(printer, step, index, value)
        )
        return WorkedLine(
            label, None if _alike(sentence, result) else sentence, result, holds=holds
        )
    closed = expression_of(number)
    told, spelled = _alike(closed, result), write(closed, UNICODE)
    if not in_full and _LONG.search(spelled):
        return WorkedLine(
            label, result=result, remark=(f"its closed form has {len(spelled):,} characters",)
        )
    work: Expression | None = None if told else closed
    if (
        sentence is not None
        and not _alike(sentence, closed)
        and _comes_to(printer, step, index, number)
    ):
        work = sentence if told else Call("comes_to", (sentence, closed))
    return WorkedLine(label, work, result, holds=told or not _is_rounded(printer, step, index))


def _rows(step: Step) -> list[list[Exact | float]]:
    """The numbers as they stand in a matrix: a vector over queries or keys is a column, another a
    row.
    """
    assert step.exact is not None
    columns = step.shape[-1] if step.shape else 1
    if step.exact.ndim == 1 and step.rule.axis_names[0] in ("query", "key"):
        columns = 1
    rows: list[list[Exact | float]] = step.exact.reshape(-1, columns).tolist()
    return rows


def _width(step: Step) -> int:
    """About how wide the matrix of closed forms is on a terminal."""
    rows = _rows(step)
    heads = step.labels[-1] if step.shape and len(rows[0]) == step.shape[-1] else ("",)
    names = step.labels[-2] if len(step.shape) > 1 else step.labels[0] if len(rows) > 1 else ("",)
    widths = [
        max(len(write(expression_of(number), UNICODE)) for number in column)
        for column in zip(*rows, strict=True)
    ]
    return (
        max(map(len, names))
        + 4
        + sum(max(width, len(head)) + 2 for width, head in zip(widths, heads, strict=True))
    )


def _all_printed(printer: Printer, step: Step) -> bool:
    """Whether the matrix of decimals shows every closed form as it is."""
    assert step.exact is not None
    if step.written is not None:
        # a copy of given numbers, which stand there as they were written
        return True
    places = product(*(range(size) for size in step.shape))
    return all(
        _alike(expression_of(step.exact[at]), printer.number(step.name, at)) for at in places
    )


def _alike(one: Expression, other: Expression) -> bool:
    """Whether they read the same, but for spaces."""
    return write(one, UNICODE).replace(" ", "") == write(other, UNICODE).replace(" ", "")


def _as_power(node: Expression) -> Expression:
    """exp(5/√3) as the closed forms have it, e^(5/√3)."""
    return (
        Call("e_to", node.arguments) if isinstance(node, Call) and node.function == "exp" else node
    )


def _comes_to(printer: Printer, step: Step, index: tuple[int, ...], number: Exact | float) -> bool:
    """Whether the numbers that are printed in the sentence of a cell give exactly this number."""
    equation = step.rule.equation
    place = dict(zip(equation.target.letters, index, strict=True))
    sizes, cell = printer.trace.sizes(equation), partial(_as_printed, printer)
    try:
        scalars = {
            name: _value(each) for name, each in printer.scalars().items() if each.text != "nan"
        }
        found = evaluate_exactly(equation.expression, place, sizes, cell, scalars)
        if isinstance(found, Decimal):
            # of what has no closed form, 50 digits are not all
            return False
        if isinstance(found, float) or isinstance(number, float):
            return bool(found == number)
        return is_zero(found - number)
    except (ExactError, KeyError):
        # of what has no closed form, or is NaN
        return False


def _as_printed(printer: Printer, name: str, index: tuple[int, ...]) -> Exact | float:
    """A cell as it stands in a sentence; ExactError for what has no closed form."""
    array = printer.trace.steps.get(name)
    if array is not None and array.exact is not None:
        number: Exact | Decimal | float = array.exact[index]
        if not isinstance(number, Decimal):
            return number
    printed = printer.closed_form(name, index)
    assert isinstance(printed, Number)
    return _value(printed)


def _value(printed: Number) -> Exact | float:
    number = read_exact(printed.text) if printed.value is None else printed.value
    if isinstance(number, Decimal):
        raise ExactError(f"{printed.text} has no closed form")
    return number
