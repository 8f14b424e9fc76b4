"""What a difference may come from, against wrong solutions made by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import attncli
from attncli.cli.main import run as main
from attncli.comparison.causes import factor_names
from attncli.problem.model import Problem
from attncli.tracing import Trace, run
from tests.cases import in_one_test

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


@in_one_test(
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


def test_a_factor_where_no_scores_are_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Equations of the problem's own may make the weights of something else."""
    problem, dump = tmp_path / "p.yaml", tmp_path / "d.npz"
    equation = "weights[i, j] = softmax(j, Q[i, 0] * K[j, 1])"
    problem.write_text(
        f"Q: [[1, 2], [0, 1]]\nK: [[1, 0], [0, 1]]\nV: [[1], [2]]\nequations: ['{equation}']\n"
    )
    np.savez(dump, output=2 * attncli.trace(problem)["output"])
    assert main(["compare", str(problem), str(dump)]) == 1
    assert "is 2 times the cell" in capsys.readouterr().out
