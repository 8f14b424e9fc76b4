"""Whether `=` or `≈` stands between two numbers: in worked lines, and beside matrices.

The sign is `=` only where the numbers, as they are printed, give exactly the printed result:
1/3 = 0.333 would be a lie, and 2·0.5 = 1 is none. No other file of Python decides it. The page's
script decides it again for numbers that somebody changes, in `gives` in
`render/html/script/model/relation.js`, which tests hold against this file.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import product

from attncli.equation.functions import FUNCTIONS
from attncli.equation.nodes import Call, Expression, Number, rewrite, walk
from attncli.equation.rounding import EXACTLY
from attncli.equation.substitution import decimal_value, exact_value
from attncli.page.printer import Printer, printed_value
from attncli.tracing.model import Step

NO_DIVISOR = ("the divisor is printed as 0; a higher --precision shows its digits",)
DIVISOR_IS_0 = ("the divisor is 0",)
_MOST_DIGITS = 1000
LOOKED_UP = frozenset(name for name, function in FUNCTIONS.items() if function.looked_up)


def gives(sentence: Expression, result: Number) -> bool:
    """Whether the printed numbers of a sentence give exactly the printed result.

    2·0.5 gives 1.000, and 1 / 3 does not give 0.333. What fractions leave open because of roots,
    as √2·√2, is worked out to 50 digits, which tell it from any number that is printed.

    >>> from attncli.equation.parser import parse_expression
    >>> from attncli.page.printer import number_node
    >>> gives(parse_expression("2 * 0.5"), number_node("1.000"))
    True
    >>> gives(parse_expression("1 / 3"), number_node("0.333"))
    False
    """
    exact = exact_value(sentence)
    if exact is not None:
        return bool(exact == result.value)
    if needs_lookup(sentence):
        return False
    value = value_of_numbers(rewrite(sentence, _in_digits))
    printed = printed_value(result)
    if not (value.is_finite() and printed.is_finite()):
        return False
    if printed.adjusted() > _MOST_DIGITS:
        # Nobody writes out all its digits, and 50 of them do not tell.
        return False
    tolerance = EXACTLY * max(Decimal(1), abs(printed))
    return abs(value - printed) < tolerance


def needs_lookup(expression: Expression) -> bool:
    """Whether a function is in it whose values are hardly ever rational, such as tanh."""
    return any(isinstance(node, Call) and node.function in LOOKED_UP for node in walk(expression))


def value_of_numbers(sentence: Expression) -> Decimal:
    """What a sentence of numbers comes to, to 50 digits: 0.5·3 is 1.5."""
    return decimal_value(sentence, {}, {}, _no_array, {})


def divides_by_nothing(sentence: Expression) -> bool:
    """Whether a divisor is 0 as it is printed: 0.5 / 0.000 gives nothing at all."""
    return any(
        isinstance(node, Call)
        and node.function in ("div", "share")
        and exact_value(node.arguments[1]) == 0
        for node in walk(sentence)
    )


def is_rounded(printer: Printer, step: Step, index: tuple[int, ...]) -> bool:
    """Whether the printed decimals are not all of a number: 1/3 is 0.333, and 1/2 is all of 0.500.

    So `≈` stands between the closed form and the decimals, and not `=`.
    """
    assert step.exact is not None
    number = step.exact[index]
    printed = printer.number(step.name, index).value
    if printed is None:
        return True
    if isinstance(number, Decimal):
        return True
    return bool(printed != number)


def rounded_cells(printer: Printer, step: Step) -> frozenset[tuple[int, ...]]:
    """The cells of a matrix whose printed decimals are not all of their numbers."""
    cells = product(*(range(size) for size in step.shape))
    return frozenset(cell for cell in cells if is_rounded(printer, step, cell))


def _in_digits(node: Expression) -> Expression:
    """A printed root with 50 digits."""
    if isinstance(node, Number) and node.value is None:
        return Number(None, str(printed_value(node)))
    return node


def _no_array(name: str, index: tuple[int, ...]) -> Decimal:
    raise LookupError(f"{name}{list(index)} is still in a sentence that should hold numbers only")
