"""Reads random matrices: numbers drawn evenly by a seed, all of their digits or only a few."""

from __future__ import annotations

import math
from collections.abc import Sequence as Several
from decimal import Decimal
from fractions import Fraction
from itertools import islice

from attncli.english import count, shorten
from attncli.problem.limits import DIMENSION_LIMIT, ELEMENT_LIMIT
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.text.nodes import ListNode, describe
from attncli.problem.text.numbers import as_decimal
from attncli.problem.text.values import Value, read_integer, read_scalar, read_truth, require_keys

_RANDOM_HELP = "write {random: [4, 8], seed: 7}"
_USUAL_LOW, _USUAL_HIGH = Scalar(0, "0"), Scalar(1, "1")
# A double keeps no more decimals of a number below 1.
_MOST_DECIMALS = 15
# Numbers are drawn from so many: a double tells no more of them apart.
_MOST_NUMBERS = 2**53


def read_random(value: Value) -> Matrix | None:
    """Numbers drawn evenly from low up to high (0 and 1 by default); None after reporting what is
    wrong.

    With `decimals`, or `integers`, they are numbers with so many decimals, high itself among them,
    and are taken as if somebody had written them. The same seed draws the same numbers.
    """
    before = value.errors.count
    require_keys(value, ("random", "seed", "low", "high", "integers", "decimals"))
    sizes = value.key("random")
    if not isinstance(sizes.node, ListNode):
        sizes.wrong(f"must be a shape, not {describe(sizes.node)}", _RANDOM_HELP)
    elif not sizes.node.length:
        sizes.wrong("is empty", _RANDOM_HELP)
    elif sizes.node.length > DIMENSION_LIMIT:
        sizes.wrong(
            f"has {count(sizes.node.length, 'dimension')}",
            f"an array has at most {DIMENSION_LIMIT} dimensions",
        )
    shape = [
        read_integer(size, least=1, help=_RANDOM_HELP)
        for size in islice(sizes.items, DIMENSION_LIMIT)
    ]
    seed = (
        read_integer(value.key("seed"), least=0, help=_RANDOM_HELP) if "seed" in value.keys else 0
    )
    low = read_scalar(value.key("low")) if "low" in value.keys else _USUAL_LOW
    high = read_scalar(value.key("high")) if "high" in value.keys else _USUAL_HIGH
    decimals = _read_decimals(value)
    if value.errors.count > before or low is None or high is None:
        return None
    sides = tuple(side for side in shape if side)
    ends = f"low ({shorten(low.written)})", f"high ({shorten(high.written)})"
    if (total := math.prod(sides)) > ELEMENT_LIMIT:
        sizes.wrong(
            f"asks for {shorten(f'{total:,}')} numbers",
            f"an array has at most {ELEMENT_LIMIT:,} numbers",
        )
    elif not low.value < high.value:
        value.wrong(
            f"{ends[0]} must be less than {ends[1]}",
            "low is where the numbers begin, high where they end",
        )
    elif math.isinf(high.value - low.value):
        value.wrong(
            f"{ends[0]} is too far from {ends[1]}",
            "the distance between them can be at most about 1.8e308",
        )
    elif decimals is None:
        import numpy as np

        drawn = np.random.default_rng(seed).uniform(low.value, high.value, sides)
        drawn.setflags(write=False)
        return Matrix(drawn)
    else:
        units = Fraction(10) ** decimals
        among = range(
            math.ceil(Fraction(as_decimal(low.written)) * units),
            math.floor(Fraction(as_decimal(high.written)) * units) + 1,
        )
        whole, such = (
            ("whole ", "") if decimals == 0 else ("", f" with {count(decimals, 'decimal')}")
        )
        if not among:
            value.wrong(
                f"there is no {whole}number{such} from {ends[0]} to {ends[1]}",
                "write a lower low, or a higher high",
            )
        elif among.stop - among.start > _MOST_NUMBERS:
            value.wrong(
                f"there are too many {whole}numbers{such} from {ends[0]} to {ends[1]}",
                "draw from fewer numbers",
            )
        else:
            return _few_digits(sides, seed, among, decimals)
    return None


def _read_decimals(value: Value) -> int | None:
    """How many decimals the numbers have; None where they have all digits, or after reporting what
    is wrong.
    """
    if "integers" in value.keys and "decimals" in value.keys:
        at = max(value.keys["integers"], value.keys["decimals"])
        value.wrong("both integers and decimals are given", "keep one of the two", at=at)
    elif "integers" in value.keys:
        return 0 if read_truth(value.key("integers")) else None
    elif "decimals" in value.keys:
        decimals = read_integer(value.key("decimals"), least=0, help="write decimals: 1")
        if decimals is not None and decimals > _MOST_DECIMALS:
            value.key("decimals").wrong(
                f"{decimals} are too many", f"write at most {_MOST_DECIMALS}, or leave it out"
            )
        return decimals
    return None


def _few_digits(shape: tuple[int, ...], seed: int | None, among: range, decimals: int) -> Matrix:
    """Numbers drawn evenly from those that are a whole number `among` these divided by a power of
    ten.
    """
    import numpy as np

    drawn = (
        np.floor(np.random.default_rng(seed).random(shape) * (among.stop - among.start))
        + among.start
    )
    values = drawn / 10.0**decimals
    values.setflags(write=False)

    def texts() -> list[str]:
        whole: Several[float] = drawn.ravel().tolist()
        return [format(Decimal(int(number)).scaleb(-decimals), "f") for number in whole]

    return Matrix(values, texts, shape)
