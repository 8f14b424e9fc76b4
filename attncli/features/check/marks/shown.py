"""Marks as they are shown: in hundredths, which add up as the exact ones do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from math import floor

from attncli.features.check.marks.model import NOTHING, Marks

_HALF = Fraction(1, 2)


def in_hundredths(marks: Marks) -> Marks:
    """The marks with each amount in whole hundredths, less than one of them from the exact amount.

    The points are rounded half up. What steps are worth adds up to the whole, and what is lost and
    taken off to what the whole lacks. So the sum and the table of steps add up to the points.
    """
    worth = adding_up(Fraction(marks.of), [*marks.worth.values()])
    shares: dict[str, list[Fraction]] = {}
    for lost in marks.lost:
        shares.setdefault(lost.step, []).append(lost.marks)
    of_steps = [sum(each, NOTHING) for each in shares.values()]
    taken = [each.taken_off for each in chain(marks.mistakes, marks.slips)]
    lacking = marks.of - rounded_half_up(marks.balance)
    # A step that has lost all must not show more or less than it is worth: so it is one amount.
    rounded = iter(adding_up(lacking, [*of_steps, *taken]))
    shown = {name: iter(adding_up(next(rounded), each)) for name, each in shares.items()}
    return replace(
        marks,
        worth=dict(zip(marks.worth, worth, strict=True)),
        lost=tuple(replace(each, marks=next(shown[each.step])) for each in marks.lost),
        mistakes=tuple(replace(each, taken_off=next(rounded)) for each in marks.mistakes),
        slips=tuple(replace(each, taken_off=next(rounded)) for each in marks.slips),
    )


def adding_up(total: Fraction, amounts: Sequence[Fraction]) -> list[Fraction]:
    """The amounts in hundredths that add up to a total, which is their sum in hundredths. Those are
    rounded up that rounding down takes most from.

    >>> [float(each) for each in adding_up(Fraction(1), [Fraction(1, 3)] * 3)]
    [0.34, 0.33, 0.33]
    """
    hundredths = [floor(100 * amount) for amount in amounts]
    lacking = int(100 * total) - sum(hundredths)

    def cut(at: int) -> Fraction:
        return 100 * amounts[at] - hundredths[at]

    # Of amounts that lose as much, the first one is rounded up.
    most_cut = sorted(range(len(amounts)), key=cut, reverse=True)
    for at in most_cut[:lacking]:
        hundredths[at] += 1
    return [Fraction(each, 100) for each in hundredths]


def rounded_half_up(amount: Fraction) -> Fraction:
    """An amount to hundredths, half up."""
    return Fraction(floor(100 * amount + _HALF), 100)
