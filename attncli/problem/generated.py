"""Makes the matrix of `{random: [4, 8], seed: 7, low: 0, high: 1}`: the same seed, the same numbers."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING

from attncli.english import count, shorten
from attncli.problem.limits import DIMENSION_LIMIT, ELEMENT_LIMIT
from attncli.problem.model import Scalar
from attncli.problem.nodes import Sequence, describe
from attncli.problem.values import Value, read_integer, read_scalar, require_keys

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_EXAMPLE = "write {random: [4, 8], seed: 7}"
_LOW, _HIGH = Scalar(0, "0"), Scalar(1, "1")


def read_random(value: Value) -> NDArray[np.float64] | None:
    """Numbers drawn evenly from low up to high (0 and 1 by default); None after reporting what is wrong."""
    before = value.errors.count
    require_keys(value, ("random", "seed", "low", "high"))
    sizes = value.key("random")
    if not isinstance(sizes.node, Sequence):
        sizes.wrong(f"must be a shape, not {describe(sizes.node)}", _EXAMPLE)
    elif not sizes.node.length:
        sizes.wrong("is empty", _EXAMPLE)
    elif sizes.node.length > DIMENSION_LIMIT:
        sizes.wrong(f"has {count(sizes.node.length, 'dimension')}", f"{DIMENSION_LIMIT} are the most")
    shape = [read_integer(size, least=1, help=_EXAMPLE) for size in islice(sizes.each(), DIMENSION_LIMIT)]
    seed = read_integer(value.key("seed"), least=0, help=_EXAMPLE) if "seed" in value.keys else 0
    low = read_scalar(value.key("low")) if "low" in value.keys else _LOW
    high = read_scalar(value.key("high")) if "high" in value.keys else _HIGH
    if value.errors.count > before or low is None or high is None:
        return None
    sides = [side for side in shape if side]
    ends = f"low ({shorten(low.written)})", f"high ({shorten(high.written)})"
    if (total := math.prod(sides)) > ELEMENT_LIMIT:
        sizes.wrong(f"asks for {shorten(f'{total:,}')} numbers", f"{ELEMENT_LIMIT:,} are the most")
    elif not low.value < high.value:
        value.wrong(f"{ends[0]} must be less than {ends[1]}", "numbers are drawn evenly from low up to high")
    elif math.isinf(high.value - low.value):
        value.wrong(f"{ends[0]} is too far from {ends[1]}", "the distance may be up to about 1.8e308")
    else:
        import numpy as np

        return np.random.default_rng(seed).uniform(low.value, high.value, sides)
    return None
