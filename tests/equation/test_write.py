"""Precedence: a written expression, read by Python's own rules, has the value of the tree it came
from.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st

from attncli.equation.nodes import Call, Expression, Number
from attncli.equation.notation import PLAIN, UNICODE
from attncli.equation.printer import write
from attncli.equation.substitution import exact_value
from tests.cases import in_one_test

numbers = st.one_of(
    st.integers(-5, 5).map(str),
    st.decimals(-5, 5, places=2).map(str),
    st.sampled_from(["1/3", "-2/5", "3/2"]),
).map(lambda text: Number(Fraction(text), text))


def _calls(trees: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    def call(name: str, *arguments: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        return st.tuples(*arguments).map(lambda found: Call(name, found))

    comparisons = st.one_of(*(call(name, trees, trees) for name in ("le", "lt", "ge", "gt", "eq")))
    both = call("and_", comparisons, comparisons)
    either = call("or_", st.one_of(comparisons, both), comparisons)
    conditions = st.one_of(comparisons, both, either, call("and_", either, comparisons))
    whole = st.integers(-3, 3).map(lambda power: Number(Fraction(power), str(power)))
    return st.one_of(
        st.lists(trees, min_size=2, max_size=4).map(lambda terms: Call("add", tuple(terms))),
        call("sub", trees, trees),
        call("neg", trees),
        call("mul", trees, trees),
        call("div", trees, trees),
        call("max", trees, trees),
        call("pow", trees, whole),
        call("where", conditions, trees, trees),
    )


trees = st.recursive(numbers, _calls, max_leaves=12)
FRACTION = re.compile(r"\d+\.\d+|\d+")


def _python(text: str) -> Fraction:
    """What Python makes of the text, every number a fraction."""
    source = FRACTION.sub(
        lambda found: f"Fraction('{found[0]}')", text.replace("^", "**").replace(" = ", " == ")
    )
    return eval(source, {"Fraction": Fraction, "max": max})


@given(tree=trees)
def test_python_reads_what_was_written(tree: Expression) -> None:
    value = exact_value(tree)
    assume(value is not None)
    try:
        assert _python(write(tree, PLAIN)) == value
    except ZeroDivisionError:
        # in a branch that is not taken, or 0 to a negative power
        assume(False)


@given(tree=trees)
def test_terminals_differ_only_in_signs(tree: Expression) -> None:
    signs = str.maketrans({"·": "*"})
    unicode = write(tree, UNICODE).translate(signs).replace("≤", "<=").replace("≥", ">=")
    assert unicode == write(tree, PLAIN)


def _number(text: str) -> Number:
    return Number(Fraction(text), text)


@in_one_test(
    ("tree", "text"),
    [
        (Call("mul", (_number("2"), _number("-3"))), "2·(-3)"),
        (Call("add", (_number("-1"), _number("-2"))), "-1 + (-2)"),
        (Call("sub", (_number("1"), Call("sub", (_number("2"), _number("3"))))), "1 - (2 - 3)"),
        (Call("div", (Call("div", (_number("1"), _number("2"))), _number("3"))), "1 / 2 / 3"),
        (Call("div", (_number("1"), Call("mul", (_number("2"), _number("3"))))), "1 / (2·3)"),
        (Call("pow", (_number("-2"), _number("2"))), "(-2)^2"),
        (Call("neg", (Call("pow", (_number("2"), _number("2"))),)), "-2^2"),
        (Call("exp", (_number("-1.5"),)), "e^(-1.5)"),
        (Call("sqrt", (_number("3"),)), "√3"),
        (Call("mul", (_number("1/3"), _number("1/2"))), "1/3·(1/2)"),
        (Call("exp", (Number(-math.inf, "-inf"),)), "e^(-∞)"),
        (Call("mul", (_number("2"), Number(None, "sqrt(2)"))), "2·√2"),
        (Call("mul", (_number("2"), Number(None, "3*sqrt(2)"))), "2·(3·√2)"),
        (Call("mul", (Call("div", (_number("-2"), _number("3"))), _number("4"))), "(-2 / 3)·4"),
        (Call("div", (_number("-2"), _number("1/3"))), "-2 / (1/3)"),
        (Call("mul", (_number("1.5e+20"), _number("2"))), "1.5e+20·2"),
    ],
)
def test_signs_and_fractions_stand_in_parentheses_where_they_must(
    tree: Expression, text: str
) -> None:
    assert write(tree, UNICODE) == text
