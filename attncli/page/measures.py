"""How differences are spelled: a small error with a power of ten, two numbers with the digits that
tell them apart.
"""

from __future__ import annotations

import math
from decimal import ROUND_UP, Context, Decimal
from typing import TYPE_CHECKING

from attncli.page.document import Math, Text
from attncli.page.printer import FLOAT_DIGITS, format_number, number_node
from attncli.tracing.model import cell_text

if TYPE_CHECKING:
    from attncli.tracing.comparison import StepComparison

# smaller numbers are shown with a power of ten, if in full
LEGIBLE = 0.001
# before the number of a place on such an axis
BRIEF = {"entry": "e", "head": "h", "kv head": "kv"}
# digits of an error that is shown with a power of ten
SIGNIFICANT = 2


def magnitude(value: float, precision: int) -> Text:
    """An error, which is never below 0: 2.113, or 1.2e-7 where decimals would not show it."""
    return number(legible_number(value, precision))


def number(text: str) -> Text:
    """A printed number as part of a sentence."""
    return ("NaN",) if text == "nan" else (Math(number_node(text)),)


def legible_number(value: float, precision: int) -> str:
    """The number at this precision, or with a power of ten where that would leave at most one digit
    of it.
    """
    least = min(1, 10.0 ** (1 - precision))
    if (
        value == 0
        or not math.isfinite(value)
        or abs(float(f"{value:.{SIGNIFICANT - 1}e}")) >= least
    ):
        return format_number(value, precision)
    return with_power_of_ten(value)


def with_power_of_ten(value: float) -> str:
    """A number other than 0 with a power of ten: 1.2e-7, -1e+9."""
    mantissa, _, exponent = f"{value:.{SIGNIFICANT - 1}e}".partition("e")
    return f"{mantissa.removesuffix('.0')}e{'+' * (exponent[0] == '+')}{int(exponent)}"


def all_digits(value: float) -> str:
    """A number above 0 with all its digits: 0.25, 1e-9."""
    decimal = Decimal(repr(value)).normalize()
    return f"{decimal:f}" if value >= LEGIBLE else f"{decimal:e}"


def distinct_numbers(a: float, b: float, precision: int) -> tuple[Text, Text]:
    """Two numbers with as many decimals as it takes to see which is which."""
    digits = precision
    while (
        digits < FLOAT_DIGITS
        and a != b
        and float(format_number(a, digits)) == float(format_number(b, digits))
    ):
        digits += 1
    texts = [format_number(value, digits) for value in (a, b)]
    if (texts[0] == texts[1] and a != b) or (
        digits > precision and max(abs(a), abs(b)) < 10.0**-precision
    ):
        texts = [legible_number(value, precision) for value in (a, b)]
    return number(texts[0]), number(texts[1])


def rounded_up(value: float) -> str:
    """A tolerance that is at least this number: 4.31e-7 is 5e-7."""
    return with_power_of_ten(
        float(Context(prec=1, rounding=ROUND_UP).create_decimal(Decimal(value)))
    )


def place(step: StepComparison, index: tuple[int, ...]) -> str:
    """Which cell of a step: I → love for a query and a key, I, d2 for a feature; batch and head
    before that.
    """
    return cell_text(step.labels, index, of_pairs=step.of_pairs and len(index) > 1)


def brief_place(step: StepComparison, index: tuple[int, ...]) -> str:
    """The same in a table, where there is less room for entries and heads: e0, h1, I → love."""
    labels = tuple(tuple(map(_brief, names)) for names in step.labels[: step.outer])
    return cell_text(
        (*labels, *step.labels[step.outer :]), index, of_pairs=step.of_pairs and len(index) > 1
    )


def _brief(label: str) -> str:
    axis, _, number = label.rpartition(" ")
    return f"{BRIEF[axis]}{number}" if axis in BRIEF else label
