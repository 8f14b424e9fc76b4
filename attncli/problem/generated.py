"""Makes the matrix of `{random: [4, 8], seed: 7, low: 0, high: 1}`: the same seed, the same numbers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from attncli.problem.arrays import ELEMENT_LIMIT
from attncli.problem.spot import Spot
from attncli.problem.tree import describe
from attncli.problem.values import insist_keys, read_integer, read_number

_EXAMPLE = "write {random: [4, 8], seed: 7}"


def read_random(spot: Spot) -> NDArray[np.float64] | None:
    """Numbers drawn evenly from low up to high (0 and 1 by default); None after reporting what is wrong."""
    before = spot.report.count
    if not insist_keys(spot, ("random", "seed", "low", "high")):
        return None
    sizes = spot.key("random")
    if not sizes.items:
        sizes.wrong(f"must be a shape, not {describe(sizes.node)}", _EXAMPLE)
        return None
    shape = [read_integer(size, least=1, help=_EXAMPLE) for size in sizes.items]
    seed = read_integer(spot.key("seed"), least=0, help=_EXAMPLE) if "seed" in spot.keys else 0
    low = read_number(spot.key("low")) if "low" in spot.keys else 0.0
    high = read_number(spot.key("high")) if "high" in spot.keys else 1.0
    if spot.report.count > before or low is None or high is None:
        return None
    sides = [side for side in shape if side]
    if math.prod(sides) > ELEMENT_LIMIT:
        sizes.wrong(f"asks for {math.prod(sides):,} numbers", f"{ELEMENT_LIMIT:,} are the most")
    elif not low < high or math.isinf(high - low):
        spot.wrong(f"low ({low:g}) must be less than high ({high:g})", "numbers are drawn evenly from low up to high")
    else:
        return np.random.default_rng(seed).uniform(low, high, sides)
    return None
