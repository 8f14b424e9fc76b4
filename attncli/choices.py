"""How a problem can be worked out: number formats, devices and roundings, by the words that all interfaces share."""

from __future__ import annotations

import math
from dataclasses import dataclass

DEVICES = ("cpu", "gpu")
ROUNDINGS = ("shown", "paper")


@dataclass(frozen=True, slots=True)
class Dtype:
    """A number format: what values are stored in, and what each step is computed in.

    The 16-bit formats compute a step in float32 and round its result, as accelerators do.
    `digits` is how many significant decimal digits always survive, `size` the bytes a stored number takes.
    """

    name: str
    computed: str
    largest: float
    smallest: float
    epsilon: float
    digits: int
    size: int

    @property
    def highest_exponent(self) -> float:
        """The largest x for which e^x, summed over many keys, is still far from overflow."""
        return math.log(self.largest)

    @property
    def lowest_exponent(self) -> float:
        """The smallest x for which e^x and all that matters beside it is still a normal number."""
        return math.log(self.smallest) - math.log(self.epsilon)


def _dtype(name: str, computed: str, largest: float, smallest: float, bits: int, digits: int, size: int) -> Dtype:
    return Dtype(name, computed, largest, smallest, 2.0**-bits, digits, size)


DTYPES = {
    dtype.name: dtype
    for dtype in (
        _dtype("float16", "float32", 65504.0, 2.0**-14, 10, 3, 2),
        _dtype("bfloat16", "float32", 2.0**127 * (2 - 2.0**-7), 2.0**-126, 7, 2, 2),
        _dtype("float32", "float32", 2.0**127 * (2 - 2.0**-23), 2.0**-126, 23, 6, 4),
        _dtype("float64", "float64", 1.7976931348623157e308, 2.0**-1022, 52, 15, 8),
    )
}
