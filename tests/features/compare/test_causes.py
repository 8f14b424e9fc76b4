"""What a difference may come from, against wrong solutions made by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.cli.main import run as main
from attncli.comparison.causes import factor_names, rope_factor_names
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


YARN = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 16,
}
# 0.1 ln 4 + 1
OF_YARN = 1.1386294361119891


@pytest.mark.parametrize(
    ("rope", "factor", "expected"),
    [
        (YARN, OF_YARN, ("RoPE's attention factor",)),
        (YARN, OF_YARN**2, ("the square of RoPE's attention factor",)),
        (YARN, 1 / OF_YARN, ("1 / RoPE's attention factor",)),
        (YARN, 1.2, ()),
        (
            YARN | {"attention_factor": 1.5},
            OF_YARN,
            ("0.1·ln(factor) + 1, as RoPE's attention factor often is",),
        ),
        ({"rope_theta": 10000.0}, 2.0, ()),
    ],
)
def test_what_a_factor_may_be_in_rope(
    rope: dict[str, Any], factor: float, expected: tuple[str, ...]
) -> None:
    rows = np.ones((3, 4))
    trace = attncli.trace(Q=rows, K=rows, V=rows, position={"rope": rope})
    assert rope_factor_names(factor, trace) == expected


def test_a_factor_that_may_be_of_rope_or_of_a_length() -> None:
    """√2 is the attention factor here, and √(heads·d_k)/√d_k: nothing tells which."""
    rope = YARN | {"attention_factor": 2**0.5}
    arrays = {name: np.random.default_rng(3).normal(size=(2, 3, 4)) for name in "QKV"}
    problem = attncli.problem(**arrays, position={"rope": rope})
    trace = attncli.trace(problem)
    found = attncli.compare(problem, {"scaled": trace["scaled"] * 2**0.5})
    assert (
        "RoPE's attention factor or $\\surd$(heads$\\cdot$d\\_k)/$\\surd$d\\_k"
        in found.to_markdown()
    )
    # Where a mistake gives all numbers, the lengths are no other reading.
    left_out = {"Q_rot": trace["Q_rot"] / 2**0.5, "K_rot": trace["K_rot"] / 2**0.5}
    found = attncli.compare(problem, left_out)
    assert found.mistakes == ("RoPE's attention factor was left out",)
    assert "which is 1 / RoPE's attention factor." in found.to_markdown()


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
