"""Rounding as on paper, against plain loops over decimals that know nothing of the program."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.page.printer import Printer
from attncli.problem.loader import loads
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.keep_and_hide import Keep
from attncli.tracing import run
from tests.cases import in_one_test

Build = Callable[..., Problem]
Rows = list[list[Decimal]]


def pencil(
    precision: int, x: Rows, w_q: Rows, w_k: Rows, w_v: Rows, causal: bool = False
) -> dict[str, Any]:
    """Attention with a pocket calculator: each result is written down with so many decimals."""

    def write(number: Decimal) -> Decimal:
        return number.quantize(Decimal(10) ** -precision, ROUND_HALF_UP)

    def times(a: Rows, b: Rows) -> Rows:
        return [
            [write(sum(row[k] * b[k][j] for k in range(len(b)))) for j in range(len(b[0]))]
            for row in a
        ]

    steps: dict[str, Any] = {"Q": times(x, w_q), "K": times(x, w_k), "V": times(x, w_v)}
    steps["scores"] = times(steps["Q"], [list(column) for column in zip(*steps["K"], strict=True)])
    root = Decimal(len(steps["K"][0])).sqrt()
    steps["scaled"] = [[write(score / root) for score in row] for row in steps["scores"]]
    steps["exp"] = [
        [Decimal(0) if causal and j > i else write(score.exp()) for j, score in enumerate(row)]
        for i, row in enumerate(steps["scaled"])
    ]
    steps["row_sum"] = [sum(row) for row in steps["exp"]]
    if not all(steps["row_sum"]):
        return steps
    steps["weights"] = [
        [write(number / total) for number in row]
        for row, total in zip(steps["exp"], steps["row_sum"], strict=True)
    ]
    return steps | {"output": times(steps["weights"], steps["V"])}


def decimals(rows: list[list[str]]) -> Rows:
    return [[Decimal(number) for number in row] for row in rows]


numbers = st.decimals(-2, 2, places=3).map(str)


@given(data=st.data(), precision=st.integers(1, 6), causal=st.booleans())
def test_every_step_is_what_a_pencil_finds(
    problem: Build, data: st.DataObject, precision: int, causal: bool
) -> None:
    n, d_model, d_k = (data.draw(st.integers(1, 3)) for _ in range(3))

    def rows(height: int, width: int) -> list[list[str]]:
        return data.draw(
            st.lists(
                st.lists(numbers, min_size=width, max_size=width), min_size=height, max_size=height
            )
        )

    arrays = {
        "X": rows(n, d_model),
        "W_Q": rows(d_model, d_k),
        "W_K": rows(d_model, d_k),
        "W_V": rows(d_model, 2),
    }
    mask = (Causal(),) if causal else ()
    trace = run(problem(**arrays, mask=mask), rounding="paper", precision=precision)
    with localcontext(prec=60):
        by_hand = pencil(precision, *(decimals(array) for array in arrays.values()), causal=causal)
    if "shifted" in trace:
        assert not all(by_hand["row_sum"])  # the pencil would divide by 0
        return
    for name, expected in by_hand.items():
        np.testing.assert_array_equal(trace[name], np.array(expected, dtype=float))


def test_a_given_key_is_not_rounded_by_being_transposed(problem: Build) -> None:
    trace = run(problem(Q=[["10"]], K=[["2.25"]], V=[["1"]]), rounding="paper", precision=1)
    assert trace["K_T"].tolist() == [[2.25]]
    assert trace["scores"].tolist() == [[22.5]]


def test_given_numbers_of_a_mask_are_not_rounded(problem: Build) -> None:
    bias = Additive(Matrix(np.array([[0.25, -0.25]])))
    trace = run(
        problem(Q=[["0"]], K=[["1"], ["1"]], V=[["1"], ["2"]], mask=(bias,)),
        rounding="paper",
        precision=1,
    )
    assert trace["mask"].tolist() == [[0.25, -0.25]]
    assert trace["masked"].tolist() == [[0.3, -0.3]]


def test_a_given_scale_is_exact(problem: Build) -> None:
    trace = run(
        problem(Q=[["3"]], K=[["1"]], V=[["1"]], scale="1/6"), rounding="paper", precision=0
    )
    assert trace["scaled"].tolist() == [[1]]  # 0.5 goes up; 0.16666666666666666 times 3 would not


def test_i_love_ai_on_paper(love: Problem) -> None:
    """With a calculator: e^0.577 = 1.7807, e^2.887 = 17.9394, e^1.732 = 5.6519, e^1.155 = 3.1740,
    e^2.309 = 10.0644.
    """
    trace = run(love, rounding="paper", precision=3)
    assert trace["exp"].tolist() == [[1.781, 17.939, 5.652], [5.652] * 3, [3.174, 10.064, 5.652]]
    assert trace["row_sum"].tolist() == [25.372, 16.956, 18.890]
    assert trace["weights"].tolist() == [[0.070, 0.707, 0.223], [0.333] * 3, [0.168, 0.533, 0.299]]
    assert trace["output"].tolist() == [[1, 1.637, 0.070], [0.999, 0.999, 0.333], [1, 1.365, 0.168]]
    assert trace.settings.rounding == "paper"
    assert trace.settings.precision == 3
    assert trace.truth is not None
    assert trace.truth["exp"][0, 1] == pytest.approx(17.93495, abs=5e-6)


@in_one_test(
    ("query", "key", "precision", "score"),
    [
        ("0.125", "1", 2, 0.13),
        ("-0.125", "1", 2, -0.13),
        ("0.9995", "1", 3, 1.0),
        ("2.675", "1", 2, 2.68),
        ("0.12345", "1", 2, 0.12),
        ("0.12345", "100", 2, 12.35),  # 12.345, since the input itself was not rounded to 0.12
        ("1/3", "0.375", 2, 0.13),  # exactly 0.125
        ("0.0004", "-1", 3, 0.0),
        ("7", "3", 0, 21.0),
    ],
)
def test_ties_go_up_and_inputs_are_not_rounded(
    problem: Build, query: str, key: str, precision: int, score: float
) -> None:
    trace = run(problem(Q=[[query]], K=[[key]], V=[["1"]]), rounding="paper", precision=precision)
    assert trace["scores"].tolist() == [[score]]
    assert not np.signbit(trace["scores"][0, 0]) or score < 0
    assert trace["Q"].tolist() == [
        [pytest.approx(float(Decimal("1") / 3) if query == "1/3" else float(query))]
    ]


@pytest.mark.parametrize(
    ("base", "score", "power"), [(2.0, "-4", 0.063), (10.0, "2", 100.0), (4.0, "0.5", 2.0)]
)
def test_other_bases(problem: Build, base: float, score: str, power: float) -> None:
    trace = run(
        problem(Q=[[score]], K=[["1"]], V=[["1"]], exp_base=base), rounding="paper", precision=3
    )
    assert trace["exp"].tolist() == [[power]]


def test_masks_and_rows_that_see_nothing(problem: Build) -> None:
    parts = (
        Keep(np.array([[True, False], [False, False]])),
        Additive(Matrix(np.array([[0.25, 1], [0, -np.inf]]))),
    )
    trace = run(
        problem(Q=[["1"], ["1"]], K=[["1"], ["2"]], V=[["3"], ["5"]], mask=parts), rounding="paper"
    )
    assert trace["masked"].tolist() == [[1.25, -np.inf], [-np.inf, -np.inf]]
    assert trace["weights"].tolist() == [[1, 0], [0, 0]]
    assert trace["output"].tolist() == [[3], [0]]
    assert trace.fully_masked == (1,)


def test_scores_of_a_thousand_are_shifted_on_paper_too(problem: Build) -> None:
    trace = run(
        problem(Q=[["1000"], ["-1000"]], K=[["1"], ["1"]], V=[["1"], ["2"]]), rounding="paper"
    )
    assert trace["shifted"].tolist() == [[0, 0], [0, 0]]
    assert trace["weights"].tolist() == [[0.5, 0.5]] * 2


def test_a_row_whose_exponentials_would_all_round_to_0_is_shifted(problem: Build) -> None:
    """e^-8 is 0.000 at three decimals, and 0 / 0 is no attention."""
    trace = run(problem(Q=[["-8"]], K=[["1"], ["1"]], V=[["1"], ["2"]]), rounding="paper")
    assert trace["weights"].tolist() == [[0.5, 0.5]]
    assert run(problem(Q=[["-6"]], K=[["1"], ["1"]], V=[["1"], ["2"]]), rounding="paper")[
        "exp"
    ].tolist() == [[0.002] * 2]


def test_the_other_scores_on_paper(problem: Build) -> None:
    """tanh 1 = 0.76159 and tanh 2 = 0.96403, so 2·0.76159 + 0.96403 = 2.48721."""
    trace = run(
        problem(
            Q=[["1"]],
            K=[["0"]],
            V=[["1"]],
            score="additive",
            W_1=[["1", "2"]],
            W_2=[["1", "1"]],
            v=["2", "1"],
            softcap=2.0,
        ),
        rounding="paper",
    )
    assert trace["scores"].tolist() == [[2.487]]
    assert trace["capped"].tolist() == [[1.693]]  # 2·tanh(1.2435) = 1.69290


def test_numbers_that_no_float_holds_are_kept_as_they_were_worked(problem: Build) -> None:
    """Fifteen decimals of a number in the hundreds are more digits than a float has."""
    rows = {"Q": [["3", "1/3"]], "K": [["54.981512846290390", "0.000000000000003"]], "V": [["1"]]}
    trace = run(problem(**rows, score="dot"), rounding="paper", precision=15)
    exact = Fraction("3") * Fraction("54.981512846290390") + Fraction(1, 3) * Fraction(
        "0.000000000000003"
    )
    assert Fraction(trace.steps["scores"].written[0, 0]) == exact
    assert Printer(trace, 15).text(trace.steps["scores"], (0, 0)) == "164.944538538871171"


def test_the_next_step_goes_on_from_what_is_written_times_a_power_of_ten() -> None:
    """1.2345e16 is written 1.235e+16, of which the half is 6.175e15, not 6.1725e15."""
    trace = run(
        loads(b"Q: [[12345e12]]\nK: [[1]]\nV: [[1]]\nscale: 0.5\n", "p.yaml"), rounding="paper"
    )
    assert (trace["scores"], trace["scaled"]) == (1.235e16, 6.175e15)
