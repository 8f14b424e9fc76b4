"""A problem whose matrices are pasted, as NumPy and others write them, is the problem of the plain
lists.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.drawn import problem_files

Program = Callable[..., dict[str, np.ndarray]]
SIGNS = [" ", "\t", ", ", ";"]


def saved(array: np.ndarray, between: str) -> str:
    """As numpy.savetxt writes it."""
    text = io.StringIO()
    np.savetxt(text, np.atleast_2d(array), delimiter=between, fmt="%.17g")
    return text.getvalue()


def by_matlab(array: np.ndarray) -> str:
    """[1 2; 3 4]"""
    return f"[{'; '.join(' '.join(map(repr, row)) for row in array.tolist())}]"


def with_commas(array: np.ndarray, between: str) -> str:
    """As a spreadsheet writes it that has decimal commas, in every number."""
    return "\n".join(
        between.join(f"{number:.4f}0".replace(".", ",") for number in row) for row in array
    )


def pasted(random: Random, lists: list[Any]) -> str:
    """The numbers in one of these ways; those with a point have at most four decimals."""
    array = np.array(lists, dtype=float)
    ways = [
        str,
        repr,
        lambda array: f"np.{array!r}",
        lambda array: f"tensor({array.tolist()}, dtype=torch.float64)",
    ]
    # A number alone, as savetxt writes it, is no matrix.
    if array.ndim == 2 and array.size > 1:
        # 1; 0 may be a row, or a column
        signs = SIGNS if len(array) > 1 else SIGNS[:-1]
        ways.append(lambda array: saved(array, random.choice(signs)))
    if array.ndim == 2 and len(array) > 1:
        ways.append(by_matlab)
    if array.ndim == 2 and len(array) > 1 and array.shape[1] > 1:
        ways.append(lambda array: with_commas(array, random.choice("\t;")))
    return random.choice(ways)(array)


def with_pasted(random: Random, value: Any) -> Any:
    """A problem with some of its lists of numbers pasted."""
    if isinstance(value, dict):
        return {
            key: each if key in ("window", "lengths") else with_pasted(random, each)
            for key, each in value.items()
        }
    if not isinstance(value, list) or random.random() < 0.3:
        return value
    try:
        numbers = np.array(value)
    except ValueError:
        return value
    return pasted(random, value) if numbers.dtype.kind in "if" else value


@given(problem=problem_files(), seed=st.integers(0, 2**16))
def test_a_pasted_problem_is_the_same(program: Program, problem: dict[str, Any], seed: int) -> None:
    random = Random(seed)
    keys = {
        key: with_pasted(random, value) if key != "mask" else value
        for key, value in problem.items()
    }
    one, other = program(problem), program(keys)
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(other[name], value, err_msg=name)
