"""The table of functions: each means the same on arrays, floats, decimals and exact numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.equation.functions import FUNCTIONS
from tests.cases import in_one_test

VALUES = [  # function, arguments, value worked by hand
    ("pi", (), math.pi),
    ("add", (1, 2, 4), 7),
    ("sub", (1, 2), -1),
    ("neg", (3,), -3),
    ("mul", (3, 4), 12),
    ("div", (3, 4), 0.75),
    ("pow", (2, -2), 0.25),
    ("share", (1, 4), 0.25),
    ("share", (0, 0), 0),
    ("add_mask", (1, 2), 3),
    ("sqrt", (2.25,), 1.5),
    ("exp", (0,), 1),
    ("log", (1,), 0),
    ("tanh", (0,), 0),
    ("sin", (0,), 0),
    ("cos", (0,), 1),
    ("sigmoid", (0,), 0.5),
    ("softplus", (0,), math.log(2)),
    ("erf", (0,), 0),
    ("silu", (0,), 0),
    ("gelu", (0,), 0),
    ("phi", (0,), 1 / math.sqrt(2 * math.pi)),
    ("abs", (-3,), 3),
    ("floor_div", (7, 2), 3),
    ("mod", (7, 2), 1),
    ("max", (1, 5, 3), 5),
    ("min", (3, 1, 5), 1),
    ("relu", (-3,), 0),
    ("finite", (7,), 7),
    ("le", (1, 1), True),
    ("lt", (1, 1), False),
    ("ge", (1, 2), False),
    ("gt", (2, 1), True),
    ("eq", (2, 2), True),
    ("and_", (True, False), False),
    ("or_", (True, False), True),
    ("where", (False, 1, 2), 2),
]


def test_the_table_of_values_names_every_function() -> None:
    assert {name for name, _, _ in VALUES} == set(FUNCTIONS)


def test_every_function_has_a_magnitude_but_conditions() -> None:
    conditions = {"le", "lt", "ge", "gt", "eq", "and_", "or_"}
    assert {name for name, function in FUNCTIONS.items() if function.is_condition} == conditions


@in_one_test(("name", "arguments", "value"), VALUES)
def test_four_worlds_agree(name: str, arguments: tuple[float, ...], value: float) -> None:
    function = FUNCTIONS[name]
    assert function.scalar(*arguments) == value
    decimals, fractions = (
        [argument if isinstance(argument, bool) else kind(argument) for argument in arguments]
        for kind in (Decimal, Fraction)
    )
    in_decimals = function.decimal(*decimals)
    assert float(in_decimals) == value
    # Functions of decimals take nothing else.
    assert isinstance(in_decimals, (Decimal, bool))
    # None says that it has no rational value there.
    assert function.rational(*fractions) in (value, None)
    arrays = [
        np.array([argument], dtype=None if isinstance(argument, bool) else float)
        for argument in arguments
    ]
    # A constant has no axis.
    assert np.ravel(function.array(np, *arrays)).tolist() == [value]


@pytest.mark.parametrize("world", ["scalar", "rational", "decimal"])
def test_an_infinity_is_no_finite_shift(world: str) -> None:
    number = Decimal("-Infinity") if world == "decimal" else -math.inf
    shift = getattr(FUNCTIONS["finite"], world)(number)
    assert shift == 0
    assert isinstance(shift, Decimal) == (world == "decimal")
    assert FUNCTIONS["finite"].array(np, np.array([-math.inf, 2.0])).tolist() == [0, 2]


def test_what_is_not_rational_has_no_exact_value() -> None:
    assert FUNCTIONS["sqrt"].rational(Fraction(2)) is None
    assert FUNCTIONS["sqrt"].rational(Fraction(-4)) is None
    assert FUNCTIONS["exp"].rational(Fraction(1)) is None
    assert FUNCTIONS["tanh"].rational(Fraction(1)) is None
    assert FUNCTIONS["sin"].rational(Fraction(1)) is None
    assert FUNCTIONS["cos"].rational(Fraction(1)) is None
    assert FUNCTIONS["pow"].rational(Fraction(2), Fraction(1, 2)) is None
    assert FUNCTIONS["sqrt"].rational(Fraction(9, 16)) == Fraction(3, 4)
    assert FUNCTIONS["exp"].rational(-math.inf) == 0
    assert FUNCTIONS["pow"].rational(Fraction(2), -math.inf) == 0


def test_0_has_a_root_and_no_negative_power() -> None:
    assert FUNCTIONS["sqrt"].rational(Fraction(0)) == 0
    assert FUNCTIONS["pow"].rational(Fraction(0), Fraction(2)) == 0
    assert FUNCTIONS["pow"].rational(Fraction(0), Fraction(0)) == 1
    assert FUNCTIONS["pow"].rational(Fraction(0), Fraction(-1)) is None


@in_one_test(
    "value", ["9e-9", "-9e-9", "1e-8", "1.1e-8", "1e-20", "0.5", "-2", "99", "101", "-101"]
)
def test_the_decimals_of_a_small_or_large_tanh_are_those_of_mpmath(value: str) -> None:
    with localcontext(prec=50), mpmath.workdps(70):
        expected = Decimal(
            mpmath.nstr(mpmath.tanh(mpmath.mpf(value)), 60, min_fixed=0, max_fixed=0)
        )
        assert abs(FUNCTIONS["tanh"].decimal(Decimal(value)) / expected - 1) < Decimal("1e-40")


exponents = st.decimals(-300, 300, places=6)  # of any size a softmax sees


@pytest.mark.parametrize("name", ["exp", "tanh", "sqrt"])
@given(number=exponents)
def test_decimals_are_those_of_mpmath(name: str, number: Decimal) -> None:
    number = abs(number) if name == "sqrt" else number
    with localcontext(prec=50), mpmath.workdps(60):
        true = getattr(mpmath, name)(mpmath.mpf(str(number)))
        ours = mpmath.mpf(str(FUNCTIONS[name].decimal(number)))
        # a small tanh loses a few of 50 digits
        assert abs(ours - true) <= abs(true) * mpmath.mpf(10) ** -40


CURVES: dict[str, Callable[[Any], Any]] = {
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "erf": mpmath.erf,
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "gelu": lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    "phi": lambda x: mpmath.exp(-(x**2) / 2) / mpmath.sqrt(2 * mpmath.pi),
}


@pytest.mark.parametrize("name", CURVES)
@given(number=st.decimals(-40, 40, places=9))
def test_curves_are_those_of_mpmath(name: str, number: Decimal) -> None:
    """The decimals to 40 places, floats and arrays to the last digits of a double."""
    function = FUNCTIONS[name]
    with localcontext(prec=50), mpmath.workdps(70):
        true = CURVES[name](mpmath.mpf(str(number)))
        ours = mpmath.mpf(str(function.decimal(number)))
        assert abs(ours - true) <= mpmath.mpf(10) ** -40
        plain = float(number)
        of_double = float(CURVES[name](mpmath.mpf(plain)))
        # An error function loses the digits of its distance from 1.
        absolute = 40 * 2.0**-52 if name == "gelu" else 0.0
        # The power of e has a square, the last digit of which counts the more the larger it is.
        relative = (1 + plain**2) * 2.0**-52 if name == "phi" else 1e-14
        relative = max(relative, 1e-14)
        assert function.scalar(plain) == pytest.approx(of_double, rel=relative, abs=1e-300)
        found = function.array(np, np.array([plain]))[0]
        assert found == pytest.approx(of_double, rel=1e-13, abs=absolute or 1e-300)


@in_one_test("name", CURVES)
def test_curves_of_what_is_too_large_for_a_formula(name: str) -> None:
    far = [-1e300, -800.0, 800.0, 1e300]
    with np.errstate(over="raise", invalid="raise"):
        found = FUNCTIONS[name].array(np, np.array(far[1:3]))
    assert np.isfinite(found).all()
    assert [FUNCTIONS[name].scalar(number) for number in far[1:3]] == found.tolist()
    assert math.isnan(FUNCTIONS[name].array(np, np.array([math.nan]))[0])


@pytest.mark.parametrize("name", ["sin", "cos"])
@given(angle=st.decimals(-100_000, 100_000, places=9))  # as far as positions go
def test_decimal_sines_and_cosines_are_those_of_mpmath(name: str, angle: Decimal) -> None:
    with localcontext(prec=50), mpmath.workdps(70):
        true = getattr(mpmath, name)(mpmath.mpf(str(angle)))
        ours = mpmath.mpf(str(FUNCTIONS[name].decimal(angle)))
        # what whole turns leave of the 50 digits of a large angle
        assert abs(ours - true) <= mpmath.mpf(10) ** -42


@pytest.mark.parametrize(
    ("name", "angle", "digits"),
    [  # by mpmath at 60 digits: a table made elsewhere
        ("sin", "1", "0.8414709848078965066525023216302989996225630607984"),
        ("cos", "1", "0.5403023058681397174009366074429766037323104206179"),
        ("sin", "1e-30", "1e-30"),
        ("cos", "0", "1"),
    ],
)
def test_sines_and_cosines_to_fifty_digits(name: str, angle: str, digits: str) -> None:
    with localcontext(prec=50):
        assert abs(FUNCTIONS[name].decimal(Decimal(angle)) - Decimal(digits)) <= Decimal("2e-49")


@pytest.mark.parametrize(("name", "value"), [("floor_div", -4), ("mod", 1)])
def test_division_rounds_down_below_zero_as_well(name: str, value: int) -> None:
    assert FUNCTIONS[name].scalar(-7, 2) == value
    assert FUNCTIONS[name].rational(Fraction(-7), Fraction(2)) == value
    assert FUNCTIONS[name].array(np, np.array([-7.0]), 2).tolist() == [value]
    assert FUNCTIONS[name].decimal(Decimal(-7), Decimal(2)) == value


@given(base=st.decimals("1.001", 100, places=3), power=exponents)
def test_decimal_powers_are_those_of_mpmath(base: Decimal, power: Decimal) -> None:
    with localcontext(prec=50), mpmath.workdps(60):
        true = mpmath.mpf(str(base)) ** mpmath.mpf(str(power))
        ours = mpmath.mpf(str(FUNCTIONS["pow"].decimal(base, power)))
        assert abs(ours - true) <= abs(true) * mpmath.mpf(10) ** -46


@pytest.mark.parametrize(
    ("base", "power", "value"),
    [
        ("2", "-4", "0.0625"),
        ("10", "3", "1000"),
        ("4", "0.5", "2"),
        ("2", "-Infinity", "0"),
        ("3", "0", "1"),
    ],
)
def test_decimal_powers_that_are_exact_stay_exact(base: str, power: str, value: str) -> None:
    with localcontext(prec=50):
        assert FUNCTIONS["pow"].decimal(Decimal(base), Decimal(power)) == Decimal(value)


def test_a_tanh_far_out_is_one() -> None:
    assert FUNCTIONS["tanh"].decimal(Decimal(-101)) == -1


def test_a_tiny_tanh_does_not_cancel() -> None:
    tiny = Decimal("1e-60")
    assert abs(FUNCTIONS["tanh"].decimal(tiny) - tiny) < Decimal("1e-150")
