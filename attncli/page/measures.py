"""How differences are spelled: 1.2e-7, and two numbers with the digits that tell them apart."""

from __future__ import annotations

import math
from decimal import ROUND_UP, Context, Decimal
from typing import TYPE_CHECKING

from attncli.page.document import Math, Text
from attncli.page.printer import FLOAT_DIGITS, format_number, number_node
from attncli.tracing.model import cell_text

if TYPE_CHECKING:
    from attncli.tracing.comparison import StepComparison

# Smaller numbers are shown with a power of ten, if in full.
LEAST_WITHOUT_POWER = 0.001
# The bar of a whole.
LONGEST_BAR = 16
# What stands before the number of a place on such an axis.
BRIEF_AXES = {"entry": "e", "head": "h", "kv head": "kv"}
# An error that is shown with a power of ten has so many digits.
SIGNIFICANT_DIGITS = 2


def magnitude(value: float, precision: int) -> Text:
    """An error, which is never below 0: 2.113, or 1.2e-7 where decimals would not show it."""
    return number(legible_number(value, precision))


def number(text: str) -> Text:
    """A printed number as part of a sentence."""
    return ("NaN",) if text == "nan" else (Math(number_node(text)),)


def legible_number(value: float, precision: int) -> str:
    """The number at this precision, 2.113.

    Where that would leave at most one digit of it, it has a power of ten: 1.2e-7.
    """
    if value == 0 or not math.isfinite(value):
        return format_number(value, precision)
    last_decimals = 10.0 ** (1 - precision)
    least = min(1, last_decimals)
    decimals = SIGNIFICANT_DIGITS - 1
    shown = float(f"{value:.{decimals}e}")
    if abs(shown) >= least:
        return format_number(value, precision)
    return with_power_of_ten(value)


def with_power_of_ten(value: float) -> str:
    """A number other than 0 with a power of ten: 1.2e-7, -1e+9."""
    scientific = f"{value:.{SIGNIFICANT_DIGITS - 1}e}"
    mantissa, _, exponent = scientific.partition("e")
    return f"{mantissa.removesuffix('.0')}e{exponent[0]}{abs(int(exponent))}"


def all_digits(value: float) -> str:
    """A number above 0 with all its digits: 0.25, 1e-9."""
    decimal = Decimal(repr(value)).normalize()
    return f"{decimal:f}" if value >= LEAST_WITHOUT_POWER else f"{decimal:e}"


def distinct_numbers(a: float, b: float, precision: int) -> tuple[Text, Text]:
    """Two numbers with as many decimals as it takes to see which is which: 0.7071 and 0.7072."""
    digits = precision
    while a != b and digits < FLOAT_DIGITS and _look_alike(a, b, digits):
        digits += 1
    one = format_number(a, digits)
    other = format_number(b, digits)
    largest = max(abs(a), abs(b))
    is_small = digits > precision and largest < 10.0**-precision
    if is_small or (one == other and a != b):
        one = legible_number(a, precision)
        other = legible_number(b, precision)
    return number(one), number(other)


def _look_alike(a: float, b: float, digits: int) -> bool:
    return float(format_number(a, digits)) == float(format_number(b, digits))


def rounded_up(value: float) -> str:
    """A tolerance that is at least this number: 4.31e-7 is 5e-7."""
    one_digit = Context(prec=1, rounding=ROUND_UP)
    return with_power_of_ten(float(one_digit.create_decimal(Decimal(value))))


def place(step: StepComparison, index: tuple[int, ...]) -> str:
    """Which cell of a step: I → love for a query and a key, I, d2 for a feature.

    Entry and head are before that.
    """
    is_pair = step.of_pairs and len(index) > 1
    return cell_text(step.labels, index, of_pairs=is_pair)


def brief_place(step: StepComparison, index: tuple[int, ...]) -> str:
    """The same in a table, where there is less room for entries and heads: e0, h1, I → love."""
    labels: list[tuple[str, ...]] = []
    for names in step.labels[: step.outer]:
        labels.append(tuple(map(_brief, names)))
    labels.extend(step.labels[step.outer :])
    is_pair = step.of_pairs and len(index) > 1
    return cell_text(labels, index, of_pairs=is_pair)


def _brief(label: str) -> str:
    axis, _, number = label.rpartition(" ")
    return f"{BRIEF_AXES[axis]}{number}" if axis in BRIEF_AXES else label


def bar_of(part: float) -> str:
    """A bar as long as a part of a whole, to the nearest sixteenth; a part that is there has at
    least a short one.

    >>> bar_of(0.25), bar_of(0.001), bar_of(0)
    ('████', '█', '')
    """
    length = round(LONGEST_BAR * part)
    if part > 0:
        length = max(1, length)
    return "█" * length
