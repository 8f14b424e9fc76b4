"""Worked lines in stages, for sentences written by hand; every line of real problems is held in
test_worked.py.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

import attncli
from attncli.equation.functions import FUNCTIONS
from attncli.equation.nodes import Call
from attncli.equation.notation import UNICODE
from attncli.equation.parser import parse_expression
from attncli.equation.printer import write
from attncli.page.derivation import derivation
from attncli.page.printer import format_number, number_node
from attncli.page.relation import LOOKED_UP, gives
from attncli.page.view import View
from attncli.page.worked.lookups import chain_stages, has_rounded_stage, stages
from attncli.render import Style, render
from attncli.tracing.model import Trace
from tests.cases import in_one_test


def chain(source: str, truth: str | None = None) -> str:
    sentence = parse_expression(source)
    following = list(
        stages(
            sentence,
            parse_expression(truth or source),
            lambda value: number_node(format_number(value, 3)),
        )
    )
    written = chain_stages(sentence, following)
    assert has_rounded_stage(written) == ("≈" in write(written, UNICODE))
    return write(written, UNICODE)


@in_one_test(
    ("source", "said"),
    [
        ("1 + 2 * 3", "1 + 2·3"),  # nothing that has to be looked up
        ("exp(2)", "e^2"),  # the result is what comes of it
        ("5 / sqrt(3)", "5 / √3"),
        ("50 * tanh(100 / 50)", "50·tanh(100 / 50) = 50·tanh(2) ≈ 50·0.964"),
        ("2 * cos(1) - 0 * sin(1)", "2·cos(1) - 0·sin(1) ≈ 2·0.540 - 0·0.841"),
        ("3 * cos(0)", "3·cos(0) = 3·1"),
        ("1 / 2 ** (8 * (0 + 1) / 2)", "1 / 2^(8·(0 + 1) / 2) = 1 / 2^4 = 1 / 16"),
        ("1 + exp(1 / 3)", "1 + exp(1 / 3) ≈ 1 + e^0.333 ≈ 1 + 1.396"),
        ("tanh(1 + 2)", "tanh(1 + 2) = tanh(3)"),
    ],
)
def test_stages(source: str, said: str) -> None:
    assert chain(source) == said


def test_what_is_inside_comes_of_numbers_in_full() -> None:
    """1.4142 for a printed 1.414: the stage shows what was computed, not what the rounded numbers
    give.
    """
    assert (
        chain("3 * tanh(1000 * 1.414)", "3 * tanh(1000 * 1.4142)")
        == "3·tanh(1000·1.414) ≈ 3·tanh(1414.200) ≈ 3·1"
    )


def test_roots_that_make_a_whole_number_give_it() -> None:
    """√2·√2 is no fraction times a fraction, and comes to 2 all the same."""
    assert gives(parse_expression("sqrt(2) * sqrt(2)"), number_node("2"))
    assert gives(
        parse_expression("(1 * 1 + 1 * 1) / (sqrt(1 + 1) * sqrt(1 + 1))"), number_node("1")
    )
    assert not gives(parse_expression("sqrt(2) * 1.414"), number_node("2"))
    root = number_node("sqrt(2)")  # given so, and one number
    assert gives(Call("mul", (root, root)), number_node("2"))
    assert chain("3 * tanh(sqrt(2) * sqrt(2))") == "3·tanh(√2·√2) = 3·tanh(2) ≈ 3·0.964"


def test_numbers_stay_numbers() -> None:
    assert number_node("0.964").value == Fraction(964, 1000)


def test_a_function_that_its_row_says_is_looked_up_gets_a_stage() -> None:
    assert {name for name, function in FUNCTIONS.items() if function.looked_up} == LOOKED_UP
    assert {"exp", "tanh"} <= LOOKED_UP
    assert not {"sqrt", "div"} & LOOKED_UP


def test_what_is_no_number_stays_so() -> None:
    """∞ - ∞, as numbers on paper may come to."""
    infinite = number_node("inf")
    sentence = Call("tanh", (Call("exp", (Call("sub", (infinite, infinite)),)),))
    following = stages(sentence, sentence, lambda value: number_node(format_number(value, 3)))
    assert [write(stage.sentence, UNICODE) for stage in following] == ["tanh(nan)"]


def to_terminal(trace: Trace) -> str:
    page = derivation(trace, View(detail="cells"))
    return render(page, "table", Style(width=200))


@pytest.mark.parametrize(
    ("equation", "line"),
    [
        # The product is printed as 0·…, and is none in full.
        ("it[i] = -(raw[i] * tanh(K[0, 0] + 1))", "0.000·tanh(1 + 1) = 0.000·tanh(2)"),
        ("it[i] = 2 - raw[i] * tanh(K[0, 0] + 1)", "2 - 0.000·tanh(1 + 1) = 2 - 0.000·tanh(2)"),
        ("it[i] = K[0, 0] + (-raw[i] * exp(K[0, 0] / 2))", "1 + 0.000·exp(1 / 2)"),
    ],
)
def test_a_product_that_is_printed_as_0_has_no_sign(equation: str, line: str) -> None:
    trace = attncli.trace(
        Q=[[1]],
        K=[[1]],
        V=[[1]],
        equations=["raw[i] = 0.000000001 * Q[i, 0]", equation],
        result="it",
    )
    assert line in to_terminal(trace)


def test_a_line_reads_keys_that_heads_share() -> None:
    """Which head of keys a query head has is a whole number, however many digits it has."""
    trace = attncli.trace(
        heads=2,
        kv_heads=1,
        Q=[[1, 0]],
        K=[[1]],
        V=[[1]],
        equations=["scaled[i, j] = 3 * tanh(Q[i, 0] + K[j, 0])"],
    )
    # tanh(2) is 0.96403, and tanh(1) is 0.76159.
    page = to_terminal(trace)
    assert "3·tanh(1 + 1) = 3·tanh(2) ≈ 3·0.964" in page
    assert "3·tanh(0 + 1) = 3·tanh(1) ≈ 3·0.762" in page
