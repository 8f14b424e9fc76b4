"""The table of derivatives: every function has a rule, and every rule is the slope that central
differences find.
"""

from __future__ import annotations

import math
from typing import cast

import pytest

from attncli.equation.chain_rule import backpropagate
from attncli.equation.functions import FUNCTIONS
from attncli.equation.nodes import Call, Expression, Name
from attncli.equation.notation import PYTHON
from attncli.equation.parser import parse_expression
from attncli.equation.printer import write
from attncli.equation.substitution import Arithmetic, evaluate_cell
from tests.cases import in_one_test

POINTS = {  # where each function is smooth
    "add": (0.3, -1.2, 2.0),
    "sub": (0.3, -1.2),
    "neg": (0.7,),
    "mul": (0.3, -1.2),
    "div": (0.3, -1.2),
    "pow": (1.7, 2.5),
    "share": (0.3, 1.6),
    "add_mask": (0.3, -1.2),
    "sqrt": (0.7,),
    "exp": (0.7,),
    "log": (0.7,),
    "tanh": (0.7,),
    "sin": (0.7,),
    "cos": (0.7,),
    "sigmoid": (0.7,),
    "softplus": (0.7,),
    "erf": (0.7,),
    "silu": (-0.7,),
    "gelu": (-0.7,),
    "phi": (0.7,),
    "max": (0.3, -1.2),
    "min": (0.3, -1.2),
    "relu": (0.7,),
    "abs": (-0.7,),
    "finite": (0.7,),
    "where": (1, 0.3, -1.2),
    "mod": (2.3, -0.7),
}
# What jumps or stands still where its arguments move a little.
CONSTANT = ("pi", "floor_div", "le", "lt", "ge", "gt", "eq", "and_", "or_")
STEP = 1e-6


def worth(expression: Expression, scalars: dict[str, float]) -> float:
    """The value of an expression of numbers by name."""
    numbers = scalars | {"inf": math.inf}
    floats = Arithmetic(
        float,
        lambda number: float(number.value or 0),
        lambda function, *arguments: FUNCTIONS[function].scalar(*arguments),
    )
    return float(evaluate_cell(expression, {}, {}, lambda name, index: 0, numbers, floats))


def test_every_function_has_a_rule_or_is_constant() -> None:
    assert {name for name, function in FUNCTIONS.items() if not function.derivative} == {*CONSTANT}
    assert {*POINTS} == {*FUNCTIONS} - {*CONSTANT}


@in_one_test(
    ("function", "argument"),
    [(function, place) for function, point in POINTS.items() for place in range(len(point))],
)
def test_each_rule_is_the_slope(function: str, argument: int) -> None:
    names = [f"argument_{place}" for place in range(len(POINTS[function]))]
    call, at = (
        Call(function, tuple(map(Name, names))),
        dict(zip(names, POINTS[function], strict=True)),
    )

    def moved(by: float) -> float:
        return worth(call, at | {names[argument]: at[names[argument]] + by})

    share = backpropagate(call, argument, Name("upstream"))
    slope = 0.0 if share is None else worth(share, at | {"upstream": 2.5})
    if function == "where" and argument == 0:
        assert share is None
    else:
        assert slope == pytest.approx(
            2.5 * (moved(STEP) - moved(-STEP)) / (2 * STEP), rel=1e-8, abs=1e-8
        )


@in_one_test("function", CONSTANT)
def test_nothing_is_received_through_what_stands_still(function: str) -> None:
    assert backpropagate(Call(function, (Name("one"), Name("other"))), 0, Name("upstream")) is None


def test_a_hidden_score_receives_nothing() -> None:
    share = backpropagate(Call("add_mask", (Name("score"), Name("mask"))), 0, Name("upstream"))
    assert share is not None
    assert worth(share, {"score": 1.0, "mask": -math.inf, "upstream": 3.0}) == 0
    assert worth(share, {"score": 1.0, "mask": -1e9, "upstream": 3.0}) == 3


def test_a_function_without_a_rule_is_a_fault() -> None:
    with pytest.raises(TypeError, match="no derivative of softmax"):
        backpropagate(Call("softmax", (Name("one"),)), 0, Name("upstream"))


@in_one_test(
    ("source", "expected"),
    [
        ("x ** 2", "d * 2 * x"),
        ("x ** 3", "d * 3 * x ** 2"),
        ("x ** 2.75", "d * 2.75 * x ** 1.75"),
        ("x ** 0.5", "d * 0.5 * x ** (-0.5)"),
        ("x ** (-1)", "d * (-1) * x ** (-1 - 1)"),
        # What a person has written stays as it is.
        ("x * (1.25 - 3)", "d * (1.25 - 3)"),
    ],
)
def test_numbers_are_written_as_equations_have_them(source: str, expected: str) -> None:
    found = backpropagate(cast("Call", parse_expression(source)), 0, Name("d"))
    assert found == parse_expression(expected)
    assert found is not None
    assert parse_expression(write(found, PYTHON)) == found


@in_one_test("received", ["-d", "-(-d)", "-(-(-d))", "-d * 2", "-(-d / 2) * 3"])
@in_one_test("source", ["x * y", "x / y", "3 - x / y", "-x * y", "y - (y - x * y)"])
def test_signs_stand_before_a_product(source: str, received: str) -> None:
    """However many there are: else the text would be read as something else."""
    whole = cast("Call", parse_expression(source))
    for place in range(len(whole.arguments)):
        found = backpropagate(whole, place, parse_expression(received))
        assert found is not None
        assert parse_expression(write(found, PYTHON)) == found
