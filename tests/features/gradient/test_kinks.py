"""Where an equation bends or jumps, finite differences say so by the name of the function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.cli.main import run
from attncli.features.gradient.verification import verify

# The scores are [[1, 0, -1], [1, 2, 1], [2, 2, 0]].
QKV: dict[str, Any] = {
    "Q": [[1, 0], [0, 1], [1, 1]],
    "K": [[1, 1], [0, 2], [-1, 1]],
    "V": [[1, 0], [0, 1], [1, 1]],
}
OF_ZERO = {(0, 1), (2, 2)}
ALL = {(i, j) for i in range(3) for j in range(3)}


def kinks(right: str, **arrays: Any) -> dict[tuple[int, ...], tuple[str, ...]]:
    """The kinks of each cell of d_scores that has any; no other gradient is said to be wrong."""
    trace = attncli.trace(
        **QKV, gradient=True, arrays=arrays, equations=[f"scaled[i, j] = {right}"]
    )
    checks = {check.name: check for check in verify(trace)}
    assert not [name for name, check in checks.items() if check.verdict == "disagree"]
    return {cell.index: cell.kinks for cell in checks["d_scores"].cells if cell.kinks}


@pytest.mark.parametrize(
    ("right", "places", "said"),
    [
        ("relu(scores[i, j])", OF_ZERO, "relu in scaled has a kink"),
        ("abs(scores[i, j])", OF_ZERO, "abs in scaled has a kink"),
        ("max(0, scores[i, j])", OF_ZERO, "max in scaled has a kink"),
        ("min(scores[i, j], 3, 2)", {(1, 1), (2, 0), (2, 1)}, "min in scaled has a kink"),
        (
            "where(scores[i, j] <= 1, scores[i, j], 3 * scores[i, j])",
            {(0, 0), (1, 0), (1, 2)},
            "where in scaled changes its branch",
        ),
        ("scores[i, j] // 1", ALL, "// in scaled jumps"),
        # At 1 and -1, 2 is no divisor.
        ("scores[i, j] % 2", ALL - {(0, 0), (0, 2), (1, 0), (1, 2)}, "% in scaled jumps"),
    ],
)
def test_a_kink_has_its_name_and_its_cells(
    right: str, places: set[tuple[int, ...]], said: str
) -> None:
    assert kinks(right) == dict.fromkeys(places, (said,))


def test_a_smooth_equation_has_none() -> None:
    assert kinks("scores[i, j] * tanh(scores[i, j])") == {}
    # It bends at a number that no score is.
    assert kinks("relu(scores[i, j] - 0.5)") == {}


def test_three_numbers_that_are_the_largest() -> None:
    """Each receives a third; a difference says a half, between 1 above and 0 below."""
    trace = attncli.trace(
        Q=[[1.0, 0.0]],
        K=[[1.0, 1.0], [1.0, 2.0], [1.0, 3.0]],
        V=[[1.0], [2.0], [4.0]],
        equations=["scaled[i, j] = max(t, scores[i, t]) * j"],
        gradient=True,
    )
    checks = {check.name: check for check in verify(trace)}
    said = [cell.kinks for cell in checks["d_scores"].cells]
    assert said == [("max in scaled has a kink",)] * 3


def test_the_page_names_it(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.yaml"
    given = "\n".join(f"{name}: {rows}" for name, rows in QKV.items())
    path.write_text(f'{given}\nequations: ["scaled[i, j] = relu(scores[i, j])"]\n')
    assert run(["gradient", str(path), "--verify"]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert (
        "Finite differences cannot check d_scores (2 of 9 cells), d_Q (3 of 6 cells) and d_K (3 of"
        " 6 cells). At these numbers, relu in scaled has a kink." in page
    )
    assert "strongly curved" not in page


def test_what_is_left_of_a_division_has_the_slope_of_its_number() -> None:
    """x % y is x - y·⌊x / y⌋: 1 by x, and -⌊x / y⌋ by y."""
    trace = attncli.trace(
        Q=[[7.25]],
        K=[[1.0]],
        V=[[1.0]],
        arrays={"by": 2.0},
        equations=["it = sum(i, sum(k, Q[i, k])) % by", "output[i, c] = it * V[i, c]"],
        gradient=True,
    )
    assert trace["it"] == math.fmod(7.25, 2)
    np.testing.assert_allclose(trace["d_Q"], [[1.0]])
    np.testing.assert_allclose(trace["d_by"], -3.0)
