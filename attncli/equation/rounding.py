"""Decimal arithmetic as on paper: how many digits are kept, and how a number is rounded."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, localcontext

DIGITS = 50
# From here on, a float64 does not even know all digits before the point.
SCIENTIFIC = Decimal("1e15")
# Numbers of so many digits that are this close, in relation to their size, are the same.
EXACTLY = Decimal("1e-40")


def round_half_up(value: Decimal, places: int) -> Decimal:
    """The value at so many decimals, ties away from zero and no minus before a zero; what is not
    finite stays.

    >>> round_half_up(Decimal("2.675"), 2), round_half_up(Decimal("-0.004"), 2)
    (Decimal('2.68'), Decimal('0.00'))
    """
    if not value.is_finite():
        return value
    needed = value.adjusted() + places + 2
    last_place = Decimal(1).scaleb(-places)
    with localcontext(prec=max(DIGITS, needed)):
        rounded = value.quantize(last_place, ROUND_HALF_UP)
    return rounded or abs(rounded)


def round_on_paper(value: Decimal, places: int) -> Decimal:
    """The value as it is written down, from where the next step goes on: 1.235e+46 has no more
    digits than these.

    >>> round_on_paper(Decimal("2.675"), 2), round_on_paper(Decimal("1.23456e46"), 3)
    (Decimal('2.68'), Decimal('1.235E+46'))
    """
    is_scientific = value.is_finite() and abs(value) >= SCIENTIFIC
    if is_scientific:
        places -= value.adjusted()
    return round_half_up(value, places)
