"""What answers are made of: claims, each as precise as it was written, in the shape of the steps
they answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from functools import cached_property
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from attncli.english import shape_text

# A cell, with the name of its step.
CellOfStep: TypeAlias = tuple[str, tuple[int, ...]]
# Doubles that are this close, in relation to their size, count as the same.
CLOSE = 1e-12
# There is room for claims of up to 400 digits.
FOR_LONG_CLAIMS = Context(prec=1000)
# A number that rounds to one unit above or below a claim is at most so many halves of a unit off.
ONE_UNIT_OFF = 3


@dataclass(frozen=True, slots=True)
class Claim:
    """One number as it was written.

    `text` is its spelling in ASCII: 0.70, -inf, 2*sqrt(3). Of ½ and of digits that recur it has
    the fraction, and `written` has what was written: 1/3 for 0.(3). `value` is the number it says:
    all digits of a decimal, 50 of what is none. `half` is half a unit of the last digit written,
    so that a number which rounds to this one lies within value ± half; 0 for what is exact, as
    7/10, sqrt(2) and -inf are. A `printed_double` stands for all numbers within value ± half,
    whatever its last digit is. Where decimals were asked for, `half` is of these, and
    `half_as_written` of the last digit.
    """

    text: str
    value: Decimal
    half: Decimal
    printed_double: bool = False
    written: str = ""
    half_as_written: Decimal | None = None

    @property
    def as_written(self) -> str:
        """What was written, in ASCII where that is possible."""
        return self.written or self.text

    @property
    def exact(self) -> bool:
        """Whether no rounding is claimed."""
        return not self.half

    @property
    def half_written(self) -> Decimal:
        """Half a unit of the last digit written, whatever was asked for."""
        return self.half if self.half_as_written is None else self.half_as_written

    @property
    def hidden(self) -> bool:
        """Whether it is -inf, which stands for what is not seen."""
        return self.value == -math.inf

    @property
    def coarse(self) -> bool:
        """Whether fewer decimals were written than were asked for: 0.5 for 0.50, and 0 for 0.07."""
        return self.decimals_missing > 0

    @property
    def decimals_asked(self) -> int:
        """How many decimals were asked for, or else written: those of `half`, which is not 0."""
        return max(0, -self.half.adjusted() - 1)

    @property
    def decimals_written(self) -> int:
        """How many decimals were written; none of what is exact, such as 7/10."""
        half = self.half_written
        return max(0, -half.adjusted() - 1) if half else 0

    @property
    def decimals_missing(self) -> int:
        """How many of the decimals that were asked for are not written."""
        if self.half_as_written is None:
            return 0
        return max(0, self.half_as_written.adjusted() - self.half.adjusted())

    def with_number(self, number: Decimal) -> Claim:
        """Another number in the place of this one, with as many decimals as this one was to have.
        It is exact if this one is.

        >>> one_decimal = Claim("0.3", Decimal("0.3"), Decimal("0.05"))
        >>> one_decimal.with_number(Decimal("0.667")).text, one_decimal.with_number(Decimal(2)).text
        ('0.7', '2.0')
        """
        if not number.is_finite():
            return Claim(f"{float(number)}", number, Decimal(0))
        if self.exact:
            return Claim(f"{number:f}", number, Decimal(0))
        with localcontext(FOR_LONG_CLAIMS):
            unit = (2 * self.half).normalize()
            whole = (number / unit).to_integral_value(ROUND_HALF_UP)
            # It has as many digits as it claims, also where they are zeros.
            value = (whole * unit).quantize(unit)
            # No minus before a zero.
            value = value or abs(value)
        half_as_written = None if self.half_as_written is None else self.half
        return Claim(f"{value:f}", value, self.half, half_as_written=half_as_written)


MINUS_INFINITY = Claim("-inf", Decimal("-Infinity"), Decimal(0))
# It is a number of no step, and written by mistake.
INFINITY = Claim("inf", Decimal("Infinity"), Decimal(0))


@dataclass(frozen=True, eq=False)
class Answer:
    """The answers to one step: `cells` has its shape and holds a Claim in each, or None where it
    was left blank.
    """

    name: str
    cells: NDArray[np.object_]

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """What was filled in, row by row."""
        return tuple(cast("Claim", claim) for claim in self.cells.flat if claim is not None)

    def another(self, index: tuple[int, ...], number: Decimal) -> Claim | None:
        """Another number in the place of a cell that is filled in, with as many decimals; None
        where what stands there was not rounded, or where nobody writes such a number. A hidden
        cell has no decimals: there, those of others count.
        """
        if number.is_nan() or number == math.inf:
            return None
        claim = cast("Claim", self.cells[index])
        if claim.hidden:
            rounded = (each for each in self.claims if not each.exact)
            return next(rounded, claim).with_number(number)
        return None if claim.exact else claim.with_number(number)

    @property
    def blank(self) -> bool:
        """Whether nothing was filled in."""
        return not self.claims

    @property
    def complete(self) -> bool:
        """Whether every cell was filled in."""
        return len(self.claims) == self.cells.size


@dataclass(frozen=True, slots=True)
class OtherShape:
    """A matrix of numbers that has another `shape` than its step, or than the part of it at a
    `place` on its first axes, which `needs` one.
    """

    step: str
    place: tuple[int, ...]
    shape: tuple[int, ...]
    needs: tuple[int, ...]

    @property
    def said(self) -> str:
        """is 5×4, but must be 4×5."""
        return f"is {shape_text(self.shape)}, but must be {shape_text(self.needs)}"

    @property
    def in_words(self) -> str:
        """output is 5×4, but must be 4×5."""
        place = "".join(f"[{number}]" for number in self.place)
        return f"{self.step}{place} {self.said}"

    @property
    def is_turned(self) -> bool:
        """Whether its rows and columns seem to be exchanged."""
        if len(self.needs) < 2:
            return False
        return self.shape[-2:] == self.needs[:-3:-1] != self.shape[:-3:-1]


# Where such matrices are kept, which count as blank; None where they are errors.
OtherShapes: TypeAlias = list[OtherShape] | None


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Answers to some or all steps of a trace, in its order; `name` is that of their file, as
    messages call it. What has one of `other_shapes` is blank among the steps.
    """

    steps: Mapping[str, Answer]
    name: str
    other_shapes: tuple[OtherShape, ...] = ()

    @property
    def infinite(self) -> list[CellOfStep]:
        """The cells that say inf, each with its step."""
        found = []
        for name, answer in self.steps.items():
            if INFINITY in answer.claims:
                cells = np.ndenumerate(answer.cells)
                found += [(name, index) for index, claim in cells if claim == INFINITY]
        return found

    def with_claims(self, claims: Mapping[CellOfStep, Claim | None]) -> Answers:
        """The same with other claims in some cells, each named by its step and index; None leaves
        one blank.
        """
        changed: dict[str, NDArray[np.object_]] = {}
        for (step, index), claim in claims.items():
            if step not in changed:
                changed[step] = self.steps[step].cells.copy()
            changed[step][index] = claim
        steps = dict(self.steps)
        for step, cells in changed.items():
            cells.setflags(write=False)
            steps[step] = Answer(step, cells)
        return replace(self, steps=steps)
