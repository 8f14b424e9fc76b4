"""Makes the matrix of `{random: [4, 8], seed: 7, low: 0, high: 1}`: the same seed, the same numbers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from attncli.problem.arrays import ELEMENT_LIMIT
from attncli.problem.report import Report
from attncli.problem.tree import Mapping, Sequence, describe
from attncli.problem.values import insist_keys, read_integer, read_number

_EXAMPLE = "write {random: [4, 8], seed: 7}"


def read_random(node: Mapping, path: str, report: Report) -> NDArray[np.float64] | None:
    """Numbers drawn evenly from low up to high (0 and 1 by default); None after reporting what is wrong."""
    before = report.count
    if not insist_keys(node, path, report, ("random", "seed", "low", "high")):
        return None
    sizes = node.values["random"]
    if not isinstance(sizes, Sequence) or not sizes.items:
        report.add(
            f"must be a shape, not {describe(sizes)}",
            at=sizes.at,
            path=f"{path}.random",
            help=_EXAMPLE,
        )
        return None
    shape = [
        read_integer(size, f"{path}.random[{i}]", report, least=1, help=_EXAMPLE) for i, size in enumerate(sizes.items)
    ]
    seed = (
        read_integer(node.values["seed"], f"{path}.seed", report, least=0, help=_EXAMPLE)
        if "seed" in node.values
        else 0
    )
    low = read_number(node.values["low"], f"{path}.low", report) if "low" in node.values else 0.0
    high = read_number(node.values["high"], f"{path}.high", report) if "high" in node.values else 1.0
    if report.count > before or low is None or high is None:
        return None
    sides = [side for side in shape if side]
    if math.prod(sides) > ELEMENT_LIMIT:
        report.add(
            f"asks for {math.prod(sides):,} numbers",
            at=sizes.at,
            path=f"{path}.random",
            help=f"{ELEMENT_LIMIT:,} are the most",
        )
    elif not low < high or math.isinf(high - low):
        report.add(
            f"low ({low:g}) must be less than high ({high:g})",
            at=node.at,
            path=path,
            help="numbers are drawn evenly from low up to high",
        )
    else:
        return np.random.default_rng(seed).uniform(low, high, sides)
    return None
