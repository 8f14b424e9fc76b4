"""Closed forms on a page, such as √3/2: beside the decimals of a matrix, and in worked lines.

They stand beside a matrix where they fit there. Where they are too wide, each has a line.
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
from attncli.page.relation import NO_DIVISOR, divides_by_nothing, is_rounded
from attncli.tracing.model import Step

# A wider matrix of closed forms, its labels among them, does not fit a terminal.
WIDEST_CLOSED_MATRIX = 76
# A longer sentence before the closed form that it comes to is hard to read.
LONGEST_SENTENCE = 60
# With --detail cells, sentences are longer. Beyond this nobody reads them, and it takes long to see
# whether they hold.
LONGEST_SENTENCE_IN_FULL = 400
# Of more cells, only one in each row has its closed form on a line.
MOST_CELLS_LISTED = 36

# A whole number that no double holds, as some fractions have it, is not shown.
_LONG_WHOLE_NUMBER = re.compile(r"\d{21,}")

ClosedForms = tuple[tuple[Expression, ...], ...]


def closed_forms(printer: Printer, step: Step) -> ClosedForms:
    """The closed forms to be shown beside a matrix.

    None where its decimals say all, as 0.5 does, or where they are too wide.
    """
    if has_decimals(step) or _is_too_wide(step) or _all_printed(printer, step):
        return ()
    return tuple(tuple(map(expression_of, row)) for row in _rows(step))


def has_decimals(step: Step) -> bool:
    """Whether some of its numbers have no closed form, and are decimals."""
    if step.exact is None:
        return False
    return any(isinstance(number, Decimal) for number in step.exact.flat)


def need_lines(printer: Printer, step: Step) -> bool:
    """Whether every cell needs a line, since the closed forms cannot stand in a matrix."""
    assert step.exact is not None
    if step.exact.size > MOST_CELLS_LISTED:
        return False
    if all(isinstance(number, Decimal | float) for number in step.exact.flat):
        return False
    if has_decimals(step):
        return True
    return _is_too_wide(step) and not _all_printed(printer, step)


def exact_sentence(
    printer: Printer,
    step: Step,
    place: Mapping[str, int],
    closed_form: Callable[[str, tuple[int, ...]], Expression],
    *,
    in_full: bool,
) -> Expression | None:
    """A cell's equation with its exact numbers put in, 3 / √3; None where nobody would read it."""
    most = LONGEST_SENTENCE_IN_FULL if in_full else LONGEST_SENTENCE
    # How long a number will be is not known exactly before it is written. This stops early enough
    # where there are thousands of them.
    left = 2 * most

    def number(name: str, index: tuple[int, ...]) -> Expression:
        nonlocal left
        array = printer.trace.steps.get(name)
        exact = None
        if array is not None and array.exact is not None:
            exact = array.exact[index]
        left -= exact.length if isinstance(exact, ExactNumber) else 1
        if left < 0:
            raise _TooLongError
        return closed_form(name, index)

    equation = step.rule.equation
    sizes = printer.trace.sizes(equation)
    try:
        sentence = substitute(equation.expression, place, sizes, number, printer.scalars())
    except _TooLongError:
        return None
    sentence = rewrite(sentence, _as_power)
    if len(write(sentence, UNICODE)) > most:
        return None
    return sentence


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
    """A cell on a line: its exact numbers, their closed form, its decimals: 3 / √3 = √3 ≈ 1.732."""
    assert step.exact is not None
    number = step.exact[index]
    if isinstance(number, Decimal):
        # Without a sentence it would be a line of decimals, which is made elsewhere.
        assert sentence is not None
        return _line_without_closed_form(printer, step, index, label, sentence)
    result = printer.number(step.name, index)
    closed = expression_of(number)
    spelled = write(closed, UNICODE)
    if not in_full and _LONG_WHOLE_NUMBER.search(spelled):
        remark = f"its closed form has {len(spelled):,} characters"
        return WorkedLine(label, result=result, remark=(remark,))
    says_all = _alike(closed, result)
    holds = says_all or not is_rounded(printer, step, index)
    work: Expression | None = None if says_all else closed
    if sentence is None or _alike(sentence, closed):
        return WorkedLine(label, work, result, holds=holds)
    if _comes_to(printer, step, index, number):
        work = sentence if says_all else Call("comes_to", (sentence, closed))
    return WorkedLine(label, work, result, holds=holds)


def _line_without_closed_form(
    printer: Printer, step: Step, index: tuple[int, ...], label: str, sentence: Expression
) -> WorkedLine:
    """A cell whose result is a decimal, of exact numbers: tanh(√3) ≈ 0.939."""
    result = printer.number(step.name, index)
    if divides_by_nothing(sentence):
        return WorkedLine(label, result=result, remark=NO_DIVISOR)
    value = result.value
    holds = False
    if isinstance(value, Fraction):
        holds = exact_value(sentence) == value
        if not holds:
            holds = _comes_to(printer, step, index, value)
    work = None if _alike(sentence, result) else sentence
    return WorkedLine(label, work, result, holds=holds)


def _rows(step: Step) -> list[list[Exact | float]]:
    """The numbers as they stand in a matrix.

    A vector over queries or keys is a column, another one a row.
    """
    assert step.exact is not None
    is_column = step.shape == ()
    if len(step.shape) == 1:
        axis = step.rule.axis_names[0]
        is_column = axis in ("query", "key")
    columns = 1 if is_column else step.shape[-1]
    table = step.exact.reshape(-1, columns)
    rows: list[list[Exact | float]] = table.tolist()
    return rows


def _is_too_wide(step: Step) -> bool:
    """Whether the matrix of closed forms would be wider than a terminal, nearly."""
    rows = _rows(step)
    heads: tuple[str, ...] = ("",)
    if step.shape and len(rows[0]) == step.shape[-1]:
        heads = step.labels[-1]
    width = max(map(len, _row_labels(step, len(rows)))) + 4
    for head, column in zip(heads, zip(*rows, strict=True), strict=True):
        longest = max(len(write(expression_of(number), UNICODE)) for number in column)
        width += max(longest, len(head)) + 2
    return width > WIDEST_CLOSED_MATRIX


def _row_labels(step: Step, rows: int) -> tuple[str, ...]:
    if len(step.shape) > 1:
        return step.labels[-2]
    if rows > 1:
        return step.labels[0]
    return ("",)


def _all_printed(printer: Printer, step: Step) -> bool:
    """Whether the matrix of decimals shows every closed form as it is."""
    assert step.exact is not None
    if step.written is not None:
        # It is a copy of given numbers, which stand there as they were written.
        return True
    cells = product(*(range(size) for size in step.shape))
    return all(
        _alike(expression_of(step.exact[cell]), printer.number(step.name, cell)) for cell in cells
    )


def _alike(one: Expression, other: Expression) -> bool:
    """Whether they read the same, but for spaces."""
    return write(one, UNICODE).replace(" ", "") == write(other, UNICODE).replace(" ", "")


def _as_power(node: Expression) -> Expression:
    """exp(5/√3) as the closed forms have it, e^(5/√3)."""
    if isinstance(node, Call) and node.function == "exp":
        return Call("e_to", node.arguments)
    return node


def _comes_to(printer: Printer, step: Step, index: tuple[int, ...], number: Exact | float) -> bool:
    """Whether the numbers that are printed in the sentence of a cell give exactly this number."""
    equation = step.rule.equation
    place = dict(zip(equation.target.letters, index, strict=True))
    sizes = printer.trace.sizes(equation)
    cell = partial(_as_printed, printer)
    try:
        found = evaluate_exactly(equation.expression, place, sizes, cell, _exact_scalars(printer))
        if isinstance(found, Decimal):
            # Of what has no closed form, 50 digits are not all.
            return False
        if isinstance(found, float) or isinstance(number, float):
            return bool(found == number)
        return is_zero(found - number)
    except (ExactError, KeyError):
        # Something in it has no closed form, or is NaN.
        return False


def _exact_scalars(printer: Printer) -> dict[str, Exact | float]:
    scalars = printer.scalars()
    return {name: _value(scalar) for name, scalar in scalars.items() if scalar.text != "nan"}


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
