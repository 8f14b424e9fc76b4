"""One cell worked: the equation with its numbers put in has the value that the whole array has
there.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.equation.evaluator import evaluate
from attncli.equation.nodes import Call, Expression, Number
from attncli.equation.notation import UNICODE
from attncli.equation.parser import parse_equation, parse_expression
from attncli.equation.printer import numeral, write
from attncli.equation.shapes import index_sizes
from attncli.equation.substitution import Known, decimal_value, exact_value, substitute
from tests.cases import in_one_test

EQUATIONS = [
    "R[i, j] = sum(k, A[i, k] * B[k, j])",
    "R[j, i] = A[i, j]",
    "R[i] = max(j, A[i, j])",
    "R[i] = sum(j, A[i, j]) + c",
    "R[i, j] = where(j <= i + c and j >= i - 1, A[i, j], -inf)",
    "R[i, j] = share(A[i, j], sum(k, A[i, k]))",
    "R[i, j] = A[i, j] - finite(max(k, A[i, k]))",
    "R[i, j] = max(A[i, j], B[i, j]) / 4",
]
matrices = st.lists(
    st.lists(st.integers(-9, 9).map(lambda number: number / 4), min_size=3, max_size=3),
    min_size=3,
    max_size=3,
).map(np.array)


def _number(value: float) -> Number:
    fraction = Fraction(float(value))
    return Number(fraction, str(fraction))


@pytest.mark.parametrize("source", EQUATIONS)
@given(a=matrices, b=matrices, c=st.integers(0, 2))
def test_a_cell_is_worth_what_the_array_holds(
    source: str, a: np.ndarray, b: np.ndarray, c: int
) -> None:
    equation, arrays = parse_equation(source), {"A": a, "B": b}
    sizes = {**index_sizes(equation, {"A": a.shape, "B": b.shape}), "j": 3, "i": 3}
    scalars = {"c": float(c), "inf": math.inf}
    whole = evaluate(equation, arrays=arrays, scalars=scalars, sizes=sizes, xp=np, dtype=np.float64)
    for index in np.ndindex(whole.shape):
        place = dict(zip(equation.target.indices, index, strict=True))
        sentence = substitute(
            equation.expression,
            place,
            sizes,
            lambda name, at: _number(arrays[name][at]),
            {"c": _number(c), "inf": Number(math.inf, "inf")},
        )
        on_paper = decimal_value(
            equation.expression,
            place,
            sizes,
            lambda name, at: Decimal(float(arrays[name][at])),
            {name: Decimal(number) for name, number in scalars.items()},
        )
        assert float(exact_value(sentence)) == pytest.approx(whole[index], rel=1e-13)
        assert float(on_paper) == pytest.approx(whole[index], rel=1e-13)


def test_a_sum_is_written_out() -> None:
    rows = {"Q": [[2, 0, 1]], "K_T": [[2], [1], [1]]}
    tree = parse_equation("S[i, j] = sum(k, Q[i, k] * K_T[k, j])").expression
    sentence = substitute(
        tree, {"i": 0, "j": 0}, {"k": 3}, lambda name, at: _number(rows[name][at[0]][at[1]]), {}
    )
    assert write(sentence, UNICODE) == "2·2 + 0·1 + 1·1"
    assert exact_value(sentence) == 5


def test_a_sum_of_one_term_is_that_term() -> None:
    tree = parse_equation("S[i] = sum(k, Q[i, k] * 2)").expression
    assert write(substitute(tree, {"i": 0}, {"k": 1}, lambda *_: _number(3), {}), UNICODE) == "3·2"


def test_a_sum_among_terms_hands_them_its_own() -> None:
    """Not 2 + (3 + 4): no parentheses where none are needed; those of a difference and of a product
    stay.
    """
    tree = parse_equation(
        "R[i] = A[i] + sum(j, A[j]) + c * (1 + sum(j, A[j])) - (1 + A[i])"
    ).expression
    cell = substitute(
        tree, {"i": 0}, {"j": 2}, lambda name, at: _number(at[0] + 2), {"c": _number(9)}
    )
    assert write(cell, UNICODE) == "2 + 2 + 3 + 9·(1 + 2 + 3) - (1 + 2)"
    assert exact_value(cell) == 58


def test_only_the_branch_that_is_taken_is_put_in() -> None:
    tree = parse_equation("M[i, j] = where(j <= i, S[i, j], -inf)").expression
    hidden = substitute(tree, {"i": 0, "j": 1}, {}, lambda *_: pytest.fail("was read"), {})
    assert exact_value(hidden) == -math.inf
    seen = substitute(tree, {"i": 1, "j": 1}, {}, lambda *_: _number(7), {})
    assert seen == _number(7)


def test_an_infinite_maximum_is_taken_as_0_and_printed_so() -> None:
    tree = parse_equation("D[i, j] = S[i, j] - finite(m[i])").expression
    blind = Number(-math.inf, "-inf")
    assert write(substitute(tree, {"i": 0, "j": 0}, {}, lambda *_: blind, {}), UNICODE) == "-∞ - 0"


def test_0_is_subtracted_where_all_is_hidden() -> None:
    tree = parse_equation("D[i, j] = S[i, j] - finite(m[i])").expression
    cells = {"S": _number(7), "m": Number(-math.inf, "-inf")}
    assert exact_value(substitute(tree, {"i": 0, "j": 0}, {}, lambda name, _: cells[name], {})) == 7


@in_one_test(
    ("source", "value"),
    [
        ("0 * sqrt(2)", 0),
        ("sqrt(2) * 0", 0),
        ("0 / sqrt(2)", 0),
        ("share(0, exp(1))", 0),
        ("sqrt(2) / 0", None),
        ("0 + sqrt(2)", None),
    ],
)
def test_0_times_anything_is_0(source: str, value: int | None) -> None:
    assert exact_value(parse_equation(f"R = {source}").expression) == value


def test_numbers_are_what_they_are_printed_as() -> None:
    half = Call("ratio", (whole(1), whole(2)))
    assert exact_value(Call("sub", (half, Call("over", (whole(1), whole(3)))))) == Fraction(1, 6)
    assert exact_value(Call("multiple", (whole(3), half))) == Fraction(3, 2)
    assert exact_value(Call("quotient", (Call("add", (half, half)), whole(4)))) == Fraction(1, 4)
    assert exact_value(Call("e_to", (whole(0),))) == 1
    assert exact_value(Call("left_out", (whole(1),))) is None


def whole(number: int) -> Number:
    return Number(Fraction(number), str(number))


def test_what_cannot_be_said_exactly_is_none() -> None:
    for source in ("R = sqrt(2) + 1", "R = exp(1)", "R = 1 / 0", "R = x + 1"):
        assert exact_value(parse_equation(source).expression) is None


def test_what_is_known_of_conditions_is_not_asked_again() -> None:
    """The largest is the same for each j, and the condition for both cells of a row."""
    rows = [["1", "2"], ["5", "3"]]
    asked: list[tuple[int, ...]] = []
    tree = parse_expression("sum(j, where(exp(x[i, j]) == max(t, exp(x[i, t])), x[i, j] * k, 0))")

    def number(name: str, cell: tuple[int, ...]) -> Expression:
        return numeral(rows[cell[0]][cell[1]])

    def truth(name: str, cell: tuple[int, ...]) -> Expression:
        asked.append(cell)
        return number(name, cell)

    known: Known = {}
    sizes = {"i": 2, "j": 2, "k": 2, "t": 2}
    for i, expected in ((0, "0 + 2·1"), (1, "5·1 + 0")):
        for _ in range(2):
            sentence = substitute(tree, {"i": i, "k": 1}, sizes, number, {}, truth, known)
            assert write(sentence, UNICODE) == expected
    # Each cell stands in one condition, and once in the largest of its row.
    assert sorted(asked) == [cell for cell in np.ndindex(2, 2) for _ in range(2)]


def test_a_sum_that_chooses_is_not_taken_for_its_condition() -> None:
    """One tree is a condition, and a number in another one."""
    tree = parse_expression("where(sum(t, x[t]), where(3 < sum(t, x[t]), 1, 2), 3)")

    def number(name: str, cell: tuple[int, ...]) -> Expression:
        return numeral("2")

    known: Known = {}
    assert write(substitute(tree, {}, {"t": 2}, number, {}, None, known), UNICODE) == "1"
