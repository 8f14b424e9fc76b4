"""The shortest digits that tell each of many doubles from its neighbours, as `repr` finds them, with NumPy.

A double is c · 2^q with c of 53 bits. Times the power of ten that leaves 16 or 17 digits before the point, it is
y = c · r, where r, from 1 to 10, is also the width of the interval of what rounds to it. If a multiple of ten lies in
that, it is the one with fewest digits; else y rounded is. y is worked out to some 2^-45; whatever comes near the edge
of an interval, or a tie, is left to `repr`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Doubles = NDArray[np.float64]
_MANTISSA = np.uint64(2**52 - 1)
_ONE = np.uint64(1023 << 52)  # the exponent of numbers from 1 to 2
_UPPER = np.uint64(2**64 - 2**27)  # the bits of half a mantissa, so that products of halves are exact
_SURE = 1e-6


def digits(values: Doubles) -> tuple[Words, NDArray[np.int64], NDArray[np.bool_]]:
    """17 digits of each as a whole number, with zeros behind, the exponent of the first, and of which it is sure.

    Never sure are 0, powers of two, what is not finite and what is below 2.3e-308. Signs are left out.
    """
    bits = values.view(np.uint64)
    biased = ((bits >> np.uint64(52)) & np.uint64(2047)).astype(np.intp)
    mantissa = bits & _MANTISSA
    ratios, rests, powers = _ratios()
    ratio = ratios[biased]
    c = (mantissa | _ONE).view(np.float64)
    upper_c, upper_ratio = _upper(c), _upper(ratio)
    lower_c, lower_ratio = c - upper_c, ratio - upper_ratio
    product = c * ratio
    rest = upper_c * upper_ratio
    rest -= product
    rest += upper_c * lower_ratio
    rest += lower_c * upper_ratio
    rest += lower_c * lower_ratio
    c *= rests[biased]
    rest += c
    below = np.floor(rest)
    rest -= below
    whole = product.astype(np.uint64)
    whole += below.astype(np.int64).view(np.uint64)
    tens = whole // np.uint64(10)
    last = (whole - tens * np.uint64(10)).astype(np.float64)
    last += rest
    ratio *= 2.0**-53
    ratio -= last  # how much farther the interval reaches than to the multiple of ten below
    down = ratio > 0
    sure = np.abs(ratio) > _SURE
    ratio += last
    ratio += last
    ratio -= 10.0
    up = ratio > 0
    sure &= np.abs(ratio) > _SURE
    tens += up
    shorter = up | down
    rest -= 0.5
    sure &= shorter | (np.abs(rest) > _SURE)
    whole += rest > 0
    np.copyto(whole, tens * np.uint64(10), where=shorter)
    short = whole < np.uint64(10**16)
    np.multiply(whole, np.uint64(10), out=whole, where=short)
    sure &= (mantissa != 0) & (biased != 0) & (biased != 2047)
    exponent = powers[biased]
    exponent -= short
    return whole, exponent, sure


def _upper(numbers: Doubles) -> Doubles:
    return (numbers.view(np.uint64) & _UPPER).view(np.float64)


@cache
def _ratios() -> tuple[Doubles, Doubles, NDArray[np.int64]]:
    """For each exponent of a double 2^52 · r, what it lacks to be exact, and the exponent of the first of 17 digits."""
    ratios, rests, powers = np.ones(2048), np.zeros(2048), np.zeros(2048, np.int64)
    for biased in range(1, 2047):
        q = biased - 1075
        power = len(str(2**q)) - 1 if q >= 0 else -len(str(2**-q))
        above, below = 2 ** max(q, 0) * 10 ** max(-power, 0), 2 ** max(-q, 0) * 10 ** max(power, 0)
        exact = (above << 162) // below  # r · 2^162
        ratios[biased] = float(exact >> 110)  # a whole number, as all doubles from 2^52 are
        rests[biased] = float(exact - (int(ratios[biased]) << 110)) * 2.0**-110
        powers[biased] = power + 16
    return ratios, rests, powers
