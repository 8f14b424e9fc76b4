"""Magnitudes of equations: of sums, products and functions, against how far results really move."""

from __future__ import annotations

import math

import numpy as np
import pytest

from attncli.attention.registry import COMPUTED_RULES
from attncli.attention.variants import SCALED, SCORES, exponential, output, row_maxima, row_sums
from attncli.equation.error_bounds import TooLongError, magnitude, magnitude_name
from attncli.equation.evaluator import evaluate
from attncli.equation.nodes import Equation
from attncli.equation.parser import parse_equation
from attncli.equation.shapes import index_sizes
from tests.cases import in_one_test

REACH = 1e-6
SCALARS = {"c": 5.0, "base": 2.0}


def sized(
    text: str, sizes: dict[str, np.ndarray] | None = None, **arrays: list[float] | np.ndarray
) -> np.ndarray:
    """The magnitudes of an equation, those of the arrays being their absolute values unless they
    are told.
    """
    given = {name: np.array(array, dtype=float) for name, array in arrays.items()}
    equation = parse_equation(text)
    read = given | {magnitude_name(name): np.abs(array) for name, array in given.items()}
    read |= {
        magnitude_name(name): np.array(size, dtype=float) for name, size in (sizes or {}).items()
    }
    lengths = index_sizes(equation, {name: array.shape for name, array in given.items()})
    with np.errstate(all="ignore"):
        return evaluate(
            magnitude(equation, REACH),
            arrays=read,
            scalars=SCALARS | {"inf": math.inf},
            sizes=lengths,
            xp=np,
            dtype=np.float64,
        )


@in_one_test(
    ("text", "expected"),
    [
        ("y[i] = x[i] + z[i]", [5, 5]),
        ("y[i] = x[i] - z[i]", [5, 5]),
        ("y[i] = -x[i]", [2, 3]),
        ("y[i] = abs(x[i])", [2, 3]),
        ("y[i] = x[i] ** 2", [4, 9]),
        ("y[i] = log(abs(x[i]))", [math.log(2) + 1, math.log(3) + 1]),
        ("y[i] = x[i] * z[i]", [6, 6]),
        ("y[i] = x[i] * z[i] + 7", [13, 13]),
        ("y[i] = x[i] / c", [2 / 5, 3 / 5]),
        ("y[i] = share(x[i], z[i])", [2 / 3, 3 / 2]),
        ("y[i] = x[i] / sqrt(c)", [2 / math.sqrt(5), 3 / math.sqrt(5)]),
        ("y[i] = exp(x[i])", [math.exp(2) * 3, math.exp(-3) * 4]),
        ("y[i] = base ** x[i]", [4 * (1 + 2 * math.log(2)), (1 + 3 * math.log(2)) / 8]),
        ("y[i] = 3 ** x[i]", [9 * (1 + 2 * math.log(3)), (1 + 3 * math.log(3)) / 27]),
        ("y[i] = sin(x[i])", [3, 4]),
        ("y[i] = cos(x[i])", [3, 4]),
        (
            "y[i] = tanh(x[i])",
            [math.tanh(2) + 2 / math.cosh(2) ** 2, math.tanh(3) + 3 / math.cosh(3) ** 2],
        ),
        ("y[i] = max(x[i], z[i])", [3, 3]),
        ("y[i] = finite(x[i])", [2, 3]),
        ("y[i] = where(x[i] > 0, x[i], 0)", [2, 0]),
        ("y = sum(i, x[i])", 5),
        ("y = sum(i, x[i] * z[i])", 12),
        ("y = max(i, x[i])", 2),
    ],
)
def test_by_hand(text: str, expected: float | list[float]) -> None:
    arrays = {
        name: array for name, array in {"x": [2, -3], "z": [-3, 2]}.items() if f"{name}[" in text
    }
    np.testing.assert_allclose(sized(text, **arrays), expected, rtol=1e-4)


def test_what_cancelled_before_counts_once() -> None:
    """x is 1 and came of 100, z is 2 and came of 2: |δ(x·z)| ≤ 100·2; and with z of 50, 100·2 +
    1·(50 - 2).
    """
    assert sized("y[i] = x[i] * z[i]", {"x": [100], "z": [2]}, x=[1], z=[2]).tolist() == [200]
    assert sized("y = sum(i, x[i] * z[i])", {"x": [100], "z": [50]}, x=[1], z=[2]) == 248
    assert sized("y[i] = x[i] / z[i]", {"x": [100], "z": [50]}, x=[1], z=[2]).tolist() == [
        50 + 0.5 * 24
    ]


def test_a_tanh_is_steepest_where_its_argument_may_be_0() -> None:
    """A millionth of ten million is 10: as far from 0 the argument may be, and 1 is the slope
    there.
    """
    assert sized("y[i] = tanh(x[i])", {"x": [1e7]}, x=[0]).tolist() == [1e7]


def test_what_hides_is_of_no_concern_to_the_largest() -> None:
    assert sized("y = max(i, x[i])", x=[3, -1e9]) == 3
    assert sized("y[i] = exp(x[i])", x=[-1e9]) == 0


EQUATIONS = (
    *(rule.equation for rule in COMPUTED_RULES.values()),
    *(rule.equation for rule in SCORES.values()),
    *(rule.equation for rule in SCALED.values()),
    exponential(2).equation,
    row_maxima(True).equation,
    *(row_sums(True, shift, base).equation for shift in (True, False) for base in (None, 2.0)),
    output(True, True, True).equation,
    output(True, False, False).equation,
)


@in_one_test("equation", EQUATIONS, ids=lambda equation: equation.target.name)
def test_every_step_has_one(equation: Equation) -> None:
    magnitude(equation, REACH)


def test_what_is_true_or_false_has_none() -> None:
    with pytest.raises(TypeError, match="no magnitude of"):
        magnitude(parse_equation("y[i] = x[i] < 2"), REACH)


def test_the_power_of_what_is_worked_out_moves_by_its_slope() -> None:
    """x ** 3 of 2, which came of 10: 8 and 3·4·10."""
    assert sized("y[i] = x[i] ** 3", {"x": [10]}, x=[2]) == pytest.approx(128, rel=1e-4)
    # A root is steep at 0: that of 0, which came of 5, may be a thousand times as far off as 0 is.
    assert (sized("y[i] = x[i] ** 0.5", {"x": [5]}, x=[0]) > 1000).all()
    assert sized("y[i] = x[i] ** 0.5", x=[0]).tolist() == [0]


def test_a_function_in_a_function_in_a_function_is_not_looked_at_for_ever() -> None:
    nested = "x[i]"
    for _ in range(60):
        nested = f"tanh({nested})"
    with pytest.raises(TooLongError):
        magnitude(parse_equation(f"y[i] = {nested}"), REACH)


MOVING = [
    "y[i] = exp(x[i]) * z[i] - x[i]",
    "y[i] = 3 * tanh(x[i] * z[i] / 3)",
    "y[i] = share(exp(x[i]), exp(z[i]) + 1)",
    "y[i] = x[i] * cos(z[i]) - z[i] * sin(x[i])",
    "y = max(i, x[i] + z[i])",
    "y = sum(i, tanh(x[i]) * exp(z[i]))",
    "y[i] = (1 + abs(x[i])) ** 3 - (1 + abs(x[i])) ** 0.5",
    "y[i] = (1 + abs(x[i])) ** z[i]",
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", MOVING)
def test_no_result_moves_by_more(text: str) -> None:
    random, equation = np.random.default_rng(5), parse_equation(text)
    for _ in range(60):
        arrays = {name: random.normal(size=4) * 3 for name in "xz"}
        sizes = {
            name: np.abs(array) * random.choice([1, 10], size=4) for name, array in arrays.items()
        }
        moved = {
            name: array + REACH * sizes[name] * random.uniform(-1, 1, 4)
            for name, array in arrays.items()
        }
        before, after = (
            evaluate(
                equation, arrays=each, scalars=SCALARS, sizes={"i": 4}, xp=np, dtype=np.float64
            )
            for each in (arrays, moved)
        )
        assert (np.abs(after - before) <= REACH * sized(text, sizes, **arrays) * (1 + 1e-4)).all()
