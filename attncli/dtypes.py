"""How a problem can be worked out: number formats, devices and roundings, by the words that all
interfaces share.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from attncli.english import as_written, listed
from attncli.errors import did_you_mean, usage_error

# The same words for type checkers, which read no tuple; a test holds both against each other.
DtypeWord: TypeAlias = Literal["float16", "bfloat16", "float32", "float64"]
DeviceWord: TypeAlias = Literal["cpu", "gpu"]
RoundingWord: TypeAlias = Literal["exact", "shown", "paper"]
DetailWord: TypeAlias = Literal["brief", "rows", "cells"]
DEVICES = ("cpu", "gpu")
ROUNDINGS = ("exact", "shown", "paper")
# These roundings work with no floats, and so without a number format or a GPU.
NOT_FLOATS = {
    "paper": "paper uses decimal numbers on the CPU; leave out one of the two",
    "exact": "exact numbers have no number format and need the CPU; leave out one of the two",
}
DETAILS = ("brief", "rows", "cells")
# What a new problem may give: X and the weights, or queries, keys and values.
WHAT_MAY_BE_GIVEN = ("x", "qkv")
# What software may give a query that sees no key: 0, NaN, or the mean of all values.
SEES_NO_KEY = ("zero", "nan", "mean")
# Decimals that can be asked for: those of a float64 beyond these mean nothing.
PRECISION = range(16)


@dataclass(frozen=True, slots=True)
class Dtype:
    """A number format: what values are stored in, and what each step is computed in.

    The 16-bit formats compute a step in float32 and round its result, as accelerators do. `digits`
    is how many significant decimal digits always survive, `size` the bytes a stored number takes.
    """

    name: str
    computed: str
    largest: float
    smallest: float
    epsilon: float
    digits: int
    size: int

    @property
    def overflow(self) -> float:
        """The smallest number that is rounded to infinity: half a step above the largest."""
        return self.largest * ((2 - self.epsilon / 2) / (2 - self.epsilon))

    @property
    def highest_exponent(self) -> float:
        """The largest x for which e^x is a number of the format."""
        return math.log(self.largest)

    def highest_exponent_of(self, terms: int) -> float:
        """The largest x for which so many e^x add up to a number of the format."""
        # Half is taken off, because in 16 bits x itself is that far off.
        return self.highest_exponent - math.log(terms) - 0.5

    @property
    def lowest_exponent(self) -> float:
        """The smallest x for which e^x and all that matters beside it is still a normal number."""
        return math.log(self.smallest) - math.log(self.epsilon)


# Other names that people type.
_ALSO_CALLED = {
    "float16": ("fp16", "f16", "half"),
    "bfloat16": ("bf16",),
    "float32": ("fp32", "f32", "single"),
    "float64": ("fp64", "f64", "double"),
    "gpu": ("cuda", "cuda:0"),
    "zero": ("0",),
    "table": ("txt", "text", "plain"),
    "markdown": ("md",),
    "latex": ("tex",),
}


def _dtype(
    name: str, computed: str, largest: float, smallest: float, bits: int, digits: int, size: int
) -> Dtype:
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


def chosen(what: str, value: str, known: Iterable[str]) -> str:
    """The value, which must be one of the known words; raises AttncliError (exit 2) where it is
    not.
    """
    words = tuple(known)
    if not isinstance(value, str):
        raise usage_error(
            f"{what} cannot be {as_written(value)}", help=f"choose {listed(words, last='or')}"
        )
    if value not in words:
        raise usage_error(f"{what} cannot be {as_written(value)}", help=_nearest(value, words))
    return value


def meant(value: str, words: Iterable[str]) -> str:
    """The word that is meant, for one in capitals or another name of it, such as bf16; else the
    value as it is.
    """
    typed = value.strip().lower()
    return next(
        (word for word in words if typed in (word.lower(), *_ALSO_CALLED.get(word, ()))), value
    )


def _nearest(value: object, words: tuple[str, ...]) -> str:
    """A help line: the word that is meant or the nearest one, or else all of them."""
    otherwise = f"choose {listed(words, last='or')}"
    return (
        did_you_mean(meant(value, words), list(words), otherwise)
        if isinstance(value, str)
        else otherwise
    )


def check_precision(precision: int) -> None:
    """Raises AttncliError (exit 2) where it is not a number of decimals that can be shown."""
    if not isinstance(precision, int) or isinstance(precision, bool) or precision not in PRECISION:
        raise usage_error(
            f"precision cannot be {as_written(precision)}",
            help=f"give a whole number from {PRECISION[0]} to {PRECISION[-1]}",
        )


def check_run_options(device: str, dtype: str, rounding: str, precision: int) -> None:
    """Raises AttncliError (exit 2) for a choice of how to work a problem out that is none, or goes
    with no other.
    """
    chosen("device", device, DEVICES)
    chosen("dtype", dtype, DTYPES)
    chosen("rounding", rounding, ROUNDINGS)
    check_precision(precision)
    if rounding in NOT_FLOATS and (device, dtype) != ("cpu", "float64"):
        with_what = f"device {device!r}" if device != "cpu" else f"dtype {dtype!r}"
        raise usage_error(
            f"rounding {rounding!r} cannot be used with {with_what}", help=NOT_FLOATS[rounding]
        )
