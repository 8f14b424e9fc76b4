"""Infinities that an equation has in it are meant; any other is told of."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.cli.main import run
from tests.cases import in_one_test

QKV: dict[str, Any] = {"Q": [[1, 0], [0, 1]], "K": [[1, 2], [2, 1]], "V": [[1], [2]]}


def test_a_mask_in_an_equation_is_no_overflow() -> None:
    """As a step of its own, before a softmax of its own, and in the place of ours."""
    hidden = "where(j <= i, scores[i, j], -inf)"
    for equations in (
        [f"seen[i, j] = {hidden}", "weights[i, j] = softmax(j, seen[i, j])"],
        [f"scaled[i, j] = {hidden}"],
    ):
        trace = attncli.trace(**QKV, equations=equations)
        assert trace.warnings == ()
        assert trace["weights"][0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "equation",
    [
        # What is too large, an infinity with the other sign, and what is no number.
        "scaled[i, j] = exp(1000 * scores[i, j])",
        "scaled[i, j] = where(j <= i, exp(1000 * K[j, 0]), -inf)",
        "scaled[i, j] = inf - exp(1000 * K[j, 0])",
    ],
)
def test_any_other_infinity_is_told_of(equation: str) -> None:
    trace = attncli.trace(**QKV, equations=[equation])
    assert "float64" in " ".join(trace.warnings)


@in_one_test("rounding", ["shown", "paper", "exact"])
@in_one_test(
    ("equation", "expected"),
    [
        ("it = (((1.001 ** 60) ** 60) ** 60) ** 0.001", 1.001**216),
        ("it = (((((2 / 3) ** 60) ** 60) ** 60) ** 60)", 0.0),
        ("it = 0 * sin(10 ** 300 * K[1, 0]) + 1", 1.0),
    ],
)
def test_powers_of_powers_and_large_angles_take_no_time(
    rounding: Any, equation: str, expected: float
) -> None:
    """Fractions would have millions of digits."""
    before = time.process_time()
    trace = attncli.trace(**QKV, equations=[equation], result="it", rounding=rounding)
    assert time.process_time() - before < 5
    np.testing.assert_allclose(trace["it"], expected, atol=1e-3)


def unread(equations: list[str], **settings: Any) -> list[str]:
    trace = attncli.trace(**QKV, equations=equations, **settings)
    return [warning for warning in trace.warnings if "depend" in warning]


def test_an_equation_that_the_result_does_not_depend_on_is_named() -> None:
    """With those that only it reads; in any rounding, once."""
    equations = [
        "one[i] = sum(j, scores[i, j])",
        "two[i] = 2 * one[i]",
    ]
    said = "output does not depend on one and two: no step that leads to it reads them"
    for rounding in ("shown", "paper", "exact"):
        assert unread(equations, rounding=rounding) == [said]
    assert unread(equations, gradient=True) == [said]


def test_an_equation_beside_others_is_one_to_look_at() -> None:
    """Unless it takes the place of a built-in step, or nearly has the name of one."""
    equations = ["scaled[i, j] = scores[i, j] / 2", "best[i] = max(j, weights[i, j])"]
    assert unread(equations) == []
    assert unread(equations, result="best") == []
    assert unread([*equations, "weight[i, j] = weights[i, j] / 2"]) == [
        "output does not depend on weight: no step that leads to it reads it"
    ]
    assert unread([*equations, "it[i] = Q[i, 0]"], result="it") == [
        "it does not depend on scaled: no step that leads to it reads it"
    ]


def test_an_equation_for_a_step_that_is_not_there() -> None:
    """Without a mask there is no masked to replace; with one there is."""
    equations = ["masked[i, j] = where(j <= i, scaled[i, j], -inf)"]
    assert unread(equations) == [
        "output does not depend on masked: no step that leads to it reads it"
    ]
    assert unread(equations, mask="causal") == []


def test_a_softmax_of_its_own_is_one_equation() -> None:
    assert unread(["noise[i, j] = softmax(j, scores[i, j])"]) == [
        "output does not depend on noise: no step that leads to it reads it"
    ]


@pytest.mark.long
def test_shipped_equations_are_all_read() -> None:
    files = sorted((Path(__file__).parents[2] / "inputs" / "equations").glob("*.yaml"))
    assert len(files) > 20
    for file in files:
        assert not [each for each in attncli.trace(str(file)).warnings if "depend" in each]


def test_the_cost_says_which_arrays_it_takes_as_learned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(
        "X: [[1, 0], [0, 1]]\nW_Q: [[1, 2], [2, 1]]\n"
        + "W_K: [[1, 2], [2, 1]]\nW_V: [[1, 2], [2, 1]]\n"
        + "arrays: {'tab[d]': [1, 2], eps: 0.5, 'side[j]': [1, 2]}\nequations:\n"
        + '  - "scaled[i, j] = scores[i, j] * side[j] + eps * sum(d, X[i, d] * tab[d])"\n',
        encoding="utf-8",
    )
    assert run(["cost", str(path)]) == 0
    page = " ".join(capsys.readouterr().out.split())
    # 3 matrices of 4 numbers, and tab: a number is chosen, and side belongs to one text.
    assert "The layer has 14 numbers that are learned." in page
    assert (
        "tab is an array of equations and counted as learned: the problem does not say whether they"
        " are only given." in page
    )
