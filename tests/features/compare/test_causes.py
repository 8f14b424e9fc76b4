"""What a difference may come from, against wrong solutions made by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from attncli.features.compare.causes import factor_names
from attncli.problem.model import Problem
from attncli.tracing import Trace, run

Build = Callable[..., Problem]


@pytest.fixture
def layer(problem: Build) -> Callable[[int, int, int], Trace]:
    """A trace of so many heads, features of the model, and features of a head; 5 tokens."""

    def build(heads: int, d_model: int, d_k: int) -> Trace:
        weights = np.ones((heads, d_model, d_k) if heads > 1 else (d_model, d_k))
        return run(
            problem(
                X=np.ones((5, d_model)),
                **dict.fromkeys(("W_Q", "W_K", "W_V"), weights),
                joined=True,
            )
        )

    return build


@pytest.mark.parametrize(
    ("sizes", "factor", "expected"),
    [
        ((1, 8, 3), 3**0.5, ("√d_k",)),
        ((1, 8, 3), (3 / 8) ** 0.5, ("√d_k/√d_model",)),
        ((1, 8, 3), 3**-0.5, ("1/√d_k",)),
        ((1, 8, 3), 1 / 3, ("1/d_k",)),
        ((1, 8, 3), 3, ("d_k",)),
        ((1, 8, 3), (3 / 5) ** 0.5, ("√d_k/√n",)),
        ((1, 8, 3), (8 / 3) ** 0.5, ("√d_model/√d_k",)),
        ((1, 8, 3), 1.5, ()),
        ((4, 8, 2), 0.5, ("√d_k/√d_model", "1/d_k")),  # √2/√8 is 1/2
        ((4, 6, 2), 0.5, ("√d_k/√(heads·d_k)", "1/d_k")),
        ((4, 6, 2), (2 / 6) ** 0.5, ("√d_k/√d_model",)),
        ((2, 4, 2), 0.5**0.5, ("√d_k/√d_model", "1/√d_k")),
        ((1, 4, 2), 2**0.5, ("√d_k",)),  # √d_model/√d_k as well, but who would write that
        ((1, 3, 3), 1, ()),
    ],
)
def test_the_constants_that_a_factor_may_be(
    sizes: tuple[int, int, int],
    factor: float,
    expected: tuple[str, ...],
    layer: Callable[[int, int, int], Trace],
) -> None:
    assert factor_names(factor, layer(*sizes)) == expected
