"""The functions an equation may use: all that is known of one stands in its row of FUNCTIONS.

To add a function is to add a row here, its range to `intervals.py`, and its spelling to
`notation.py` where that is not its name. What reads the solutions of people, or makes headlines,
asks the rows which functions it may find there.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

from attncli.equation import curves, intervals
from attncli.equation.curves import PI
from attncli.equation.intervals import Interval

# A higher power of a fraction has more digits than anybody writes.
MOST_EXACT_POWER = 64
# Binary digits of a power: of a power of a power, the digits are multiplied.
MOST_EXACT_BITS = 4_096
# Of a larger angle, 50 digits do not say where on the circle it is.
LARGEST_ANGLE = Decimal("1e30")
REDUCTIONS = {"sum": "add", "max": "max"}


@dataclass(frozen=True, slots=True)
class Function:
    """One function in all kinds of numbers, how its result moves with its arguments, and what it
    costs.

    `array(xp, *arrays)` works on arrays of a namespace (Python floats may stand among the
    arguments), `scalar` on floats, `decimal` on Decimals, as a pocket calculator of 50 digits
    would, `rational` on Fractions (and infinities), None where the result is not rational.
    `interval` is the range of the result where each argument is in a range, of a condition that
    of 1 for true and 0 for false. `exact` names the function of `exact/functions.py` for irrational
    numbers that have a closed form, where `rational` does not serve for them, too: that room is
    imported by what prints exact numbers, and nothing else.

    `derivative` and `magnitude` are written in the language itself. `x`, `y` and `z` are the
    arguments. The derivative says what each of them receives of the gradient `d` of the result; of
    more arguments, the last rule holds for all. No rules at all, or an empty one, say that the
    result jumps or stands still where the argument moves a little. The magnitude says how large the
    numbers are that the result is made of (`error_bounds.py`), where those of the arguments are
    made of numbers as large as `size_x`, `size_y` and `size_z`. `slopes` on intervals are given
    where they are not those of the derivative.

    `looked_up` are functions that nobody works out in the head: a worked line shows their argument
    as a number first. `operation` is what `cost` counts it as; one that takes `any_number` of
    arguments is counted between each two. A single 0 among the first `zero_arguments` makes the
    result 0, whatever the others are: 0·√2, 0 / √2.

    `written` is what people call it in solutions, such as ln for log; without a word, they do not
    write it. `of_angle` says that its argument is an angle: of a large one, too few digits are
    known. A headline has it `between_matrices` as an equation has it between their cells: A + B,
    tanh(S).

    `form` is how it is written in equations of a person's own, exp(x), and `meaning` what it is; a
    function without a form is for built-in steps alone.

    Of multiplication the derivative is ("d * y", "d * x"), and `any_number` of factors may stand.
    """

    operation: str
    array: Callable[..., Any]
    scalar: Callable[..., Any]
    decimal: Callable[..., Any]
    rational: Callable[..., Any]
    interval: Callable[..., Interval]
    exact: str = ""
    derivative: tuple[str, ...] = ()
    slopes: Callable[..., Iterator[Interval]] | None = None
    magnitude: str | None = field(kw_only=True)
    any_number: bool = False
    zero_arguments: int = 0
    looked_up: bool = False
    written: str = ""
    of_angle: bool = False
    between_matrices: bool = False
    form: str = ""
    meaning: str = ""

    @property
    def is_condition(self) -> bool:
        """Whether it is true or false, and so made of no size."""
        return self.magnitude is None


class OverALetter(NamedTuple):
    """A function over all places of a letter, sum(t, x[t]): its form, its meaning, and what each
    x[t] receives of the gradient `d` of the result.
    """

    form: str
    meaning: str
    derivative: str


def _plain(operation: str, function: Callable[..., Any], **known: Any) -> Function:
    """A function that Python's own numbers and arrays all understand, such as addition."""
    return Function(
        operation,
        lambda xp, *arguments: function(*arguments),
        function,
        function,
        function,
        **known,
    )


def _add(*terms: Any) -> Any:
    return reduce(operator.add, terms)


def _multiply(*factors: Any) -> Any:
    return reduce(operator.mul, factors)


def _and(*conditions: Any) -> Any:
    return reduce(operator.and_, conditions)


def _rational_root(value: Fraction | float, degree: int = 2) -> Fraction | None:
    if not isinstance(value, Fraction) or value < 0:
        return None
    top = _nearest_root(value.numerator, degree)
    bottom = _nearest_root(value.denominator, degree)
    root = Fraction(top, bottom)
    is_exact = root**degree == value
    return root if is_exact else None


def _nearest_root(whole: int, degree: int) -> int:
    if degree == 2:
        return math.isqrt(whole)
    root: int = round(whole ** (1 / degree))
    return root


def _rational_power(base: Any, exponent: Any) -> Any:
    if exponent == -math.inf:
        return Fraction(0) if base > 1 else None
    if not isinstance(exponent, Fraction) or abs(exponent) > MOST_EXACT_POWER:
        return None
    if base == 0 and exponent < 0:
        return None
    if isinstance(base, Fraction):
        digits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if digits * abs(exponent) > MOST_EXACT_BITS:
            return None
    root = base
    if exponent.denominator > 1:
        root = _rational_root(base, exponent.denominator)
    return None if root is None else root**exponent.numerator


def _rational_exp(value: Fraction | float) -> Fraction | None:
    if value == -math.inf:
        return Fraction(0)
    return Fraction(1) if value == 0 else None


def _only_at(argument: int, result: int | Fraction) -> Callable[[Any], Fraction | None]:
    """A function that is rational at one rational argument only, as ln is at 1."""
    return lambda value: Fraction(result) if value == argument else None


def _nowhere(_: Any) -> None:
    """A function that is rational at no rational argument."""


def _array_power(xp: Any, base: Any, power: Any) -> Any:
    """base ** power; a base that the format of the power cannot hold is taken through its logarithm
    instead.
    """
    if hasattr(base, "dtype"):
        return base**power
    in_format = xp.asarray(base, dtype=power.dtype)
    if float(in_format) == base:
        return base**power
    return xp.exp(power * math.log(base))


def _decimal_tanh(value: Decimal) -> Decimal:
    if abs(value) > 100:
        return Decimal(1).copy_sign(value)
    # The difference below would cancel. The next term of this series is under 1e-48 of it.
    if abs(value) < Decimal("1e-8"):
        return value - value**3 / 3 + 2 * value**5 / 15
    up = value.exp()
    down = (-value).exp()
    return (up - down) / (up + down)


def _turn(value: Decimal) -> Decimal:
    """The same angle between -π and π, where the series below are short."""
    return value - (value / (2 * PI)).to_integral_value() * 2 * PI


def _series(term: Decimal, order: int, square: Decimal) -> Decimal:
    """The sum of a series whose terms go down by -x² / ((order + 1)(order + 2)) each."""
    total = term
    while abs(term) > Decimal("1e-60"):
        divisor = (order + 1) * (order + 2)
        term *= -square / divisor
        total += term
        order += 2
    return total


def _of_double(function: Callable[[float], float], angle: Decimal) -> Decimal:
    """What doubles have for an angle; NaN for one that they cannot hold."""
    double = float(angle)
    return Decimal(function(double)) if math.isfinite(double) else Decimal("NaN")


def _decimal_sine(value: Decimal) -> Decimal:
    if abs(value) > LARGEST_ANGLE:
        return _of_double(math.sin, value)
    angle = _turn(value)
    return _series(angle, 1, angle * angle)


def _decimal_cosine(value: Decimal) -> Decimal:
    if abs(value) > LARGEST_ANGLE:
        return _of_double(math.cos, value)
    return _series(Decimal(1), 0, _turn(value) ** 2)


def _decimal_floor_div(value: Decimal, by: Decimal) -> Decimal:
    # The // of Decimal rounds towards 0.
    return (value / by).to_integral_value(ROUND_FLOOR)


def _decimal_mod(value: Decimal, by: Decimal) -> Decimal:
    return value - by * _decimal_floor_div(value, by)


def _share(part: Any, whole: Any) -> Any:
    """part / whole; where the whole is 0, as for a query that sees no key, so is every part, and it
    stays 0.
    """
    return part / whole if whole != 0 else part


def _array_share(xp: Any, part: Any, whole: Any) -> Any:
    return part / xp.where(whole == 0, xp.ones_like(whole), whole)


def _array_add_mask(xp: Any, score: Any, mask: Any) -> Any:
    # This is score + mask, but for an infinite score that is hidden.
    return xp.where(mask == -math.inf, mask, score) + mask


def _add_mask(score: Any, mask: Any) -> Any:
    """score + mask, where -inf hides whatever the score is: an infinite one, too, that would make
    it NaN.
    """
    return mask if mask == -math.inf else score + mask


def _array_where(xp: Any, condition: Any, yes: Any, no: Any) -> Any:
    # A bare number takes the format of the other branch; two of them have none.
    dtype = getattr(yes, "dtype", None)
    if dtype is None:
        dtype = getattr(no, "dtype", None)
    if not hasattr(yes, "dtype"):
        yes = xp.asarray(yes, dtype=dtype)
    if not hasattr(no, "dtype"):
        no = xp.asarray(no, dtype=dtype)
    return xp.where(condition, yes, no)


def _maximum(*values: Any) -> Any:
    """The largest, or NaN where one is, as arrays have it."""
    unknown = [value for value in values if value != value]
    return unknown[0] if unknown else max(values)


def _minimum(*values: Any) -> Any:
    """The smallest, or NaN where one is, as arrays have it."""
    unknown = [value for value in values if value != value]
    return unknown[0] if unknown else min(values)


def _relu(value: Any) -> Any:
    """The number itself, and 0 for one below 0."""
    return value if value > 0 or value != value else value * 0


def _array_relu(xp: Any, value: Any) -> Any:
    return xp.maximum(value, xp.zeros_like(value))


def _array_finite(xp: Any, value: Any) -> Any:
    return xp.where(value == -math.inf, xp.zeros_like(value), value)


def _finite(value: Any) -> Any:
    """The value, and 0 for -inf: what a row without any visible key is shifted by."""
    return 0 if value == -math.inf else value


def _decimal_finite(value: Decimal) -> Decimal:
    return Decimal(_finite(value))


def _or(*conditions: Any) -> Any:
    return reduce(operator.or_, conditions)


def _choose(condition: Any, yes: Any, no: Any) -> Any:
    return yes if condition else no


# A conjunction is false where one of its conditions is, however many there are.
_ANY_NUMBER = 1_000

# Rows of one operation stand together: `cost` lists operations in this order.
FUNCTIONS: dict[str, Function] = {
    # It is a function of nothing, and written without parentheses.
    "pi": Function(
        "constants",
        lambda xp: math.pi,
        lambda: math.pi,
        lambda: +PI,
        lambda: None,
        lambda: Interval.at(math.pi),
        magnitude="pi",
    ),
    "mul": _plain(
        "multiplications",
        _multiply,
        interval=intervals.mul,
        any_number=True,
        zero_arguments=2,
        derivative=("d * y", "d * x"),
        # This is (x + δx)(y + δy) - xy, and the size of xy itself only once.
        magnitude="size_x * abs(y) + abs(x) * (size_y - abs(y))",
        form="x * y",
        meaning="the product",
    ),
    "add": _plain(
        "additions",
        _add,
        interval=intervals.add,
        exact="add",
        any_number=True,
        derivative=("d",),
        magnitude="size_x + size_y",
        between_matrices=True,
        form="x + y",
        meaning="the sum of two numbers",
    ),
    "add_mask": Function(
        "additions",
        _array_add_mask,
        _add_mask,
        _add_mask,
        _add_mask,
        intervals.add_mask,
        exact="add",
        derivative=("where(y == -inf, 0, d)", "where(y == -inf, 0, d)"),
        magnitude="size_x + size_y",
    ),
    "sub": _plain(
        "subtractions",
        operator.sub,
        interval=intervals.sub,
        exact="subtract",
        derivative=("d", "-d"),
        magnitude="size_x + size_y",
        between_matrices=True,
        form="x - y",
        meaning="the difference",
    ),
    "neg": _plain(
        "subtractions",
        operator.neg,
        interval=intervals.neg,
        derivative=("-d",),
        magnitude="size_x",
        between_matrices=True,
        form="-x",
        meaning="the opposite",
    ),
    "div": _plain(
        "divisions",
        operator.truediv,
        interval=intervals.div,
        zero_arguments=1,
        derivative=("d / y", "-d * x / y ** 2"),
        magnitude="size_x / abs(y) + abs(x / y) * ((size_y - abs(y)) / abs(y))",
        between_matrices=True,
        form="x / y",
        meaning="the quotient",
    ),
    "share": Function(
        "divisions",
        _array_share,
        _share,
        _share,
        _share,
        intervals.share,
        exact="share",
        zero_arguments=1,
        derivative=("share(d, y)", "-share(d * share(x, y), y)"),
        magnitude="share(size_x, abs(y)) + abs(share(x, y)) * share(size_y - abs(y), abs(y))",
    ),
    "exp": Function(
        "exponentials",
        lambda xp, x: xp.exp(x),
        math.exp,
        Decimal.exp,
        _rational_exp,
        intervals.exp,
        exact="exponential",
        looked_up=True,
        derivative=("d * exp(x)",),
        magnitude="exp(x) + size_x * exp(x + reach * size_x)",
        written="exp",
        between_matrices=True,
        form="exp(x)",
        meaning="e to the power of x",
    ),
    "pow": Function(
        "powers",
        _array_power,
        operator.pow,
        operator.pow,
        _rational_power,
        intervals.power,
        exact="power",
        looked_up=True,
        derivative=("d * y * x ** (y - 1)", "d * log(x) * x ** y"),
        # The base is a fixed number.
        magnitude="x ** y + abs(log(x)) * size_y * x ** (y + reach * size_y)",
        between_matrices=True,
        form="x ** y",
        meaning="x to the power of y",
    ),
    "sqrt": Function(
        "roots",
        lambda xp, x: xp.sqrt(x),
        math.sqrt,
        Decimal.sqrt,
        _rational_root,
        intervals.sqrt,
        exact="root",
        derivative=("d / (2 * sqrt(x))",),
        magnitude="sqrt(x) + (size_x - abs(x)) / (2 * sqrt(x))",
        written="sqrt",
        form="sqrt(x)",
        meaning="the root, of a number that is not below 0",
    ),
    "log": Function(
        "logarithms",
        lambda xp, x: xp.log(x),
        math.log,
        Decimal.ln,
        _only_at(1, 0),
        intervals.log,
        derivative=("d / x",),
        magnitude="abs(log(x)) + size_x / abs(x)",
        written="ln",
        form="log(x)",
        meaning="the logarithm to base e, of a number above 0",
    ),
    "tanh": Function(
        "hyperbolic tangents",
        lambda xp, x: xp.tanh(x),
        math.tanh,
        _decimal_tanh,
        _only_at(0, 0),
        intervals.tanh,
        looked_up=True,
        derivative=("d * (1 - tanh(x) ** 2)",),
        magnitude="abs(tanh(x)) + (1 - tanh(max(0, abs(x) - reach * size_x)) ** 2) * size_x",
        written="tanh",
        between_matrices=True,
        form="tanh(x)",
        meaning="the hyperbolic tangent",
    ),
    "sin": Function(
        "sines",
        lambda xp, x: xp.sin(x),
        math.sin,
        _decimal_sine,
        _only_at(0, 0),
        intervals.sin,
        looked_up=True,
        derivative=("d * cos(x)",),
        magnitude="1 + size_x",
        written="sin",
        of_angle=True,
        form="sin(x)",
        meaning="the sine of an angle in radians",
    ),
    "cos": Function(
        "cosines",
        lambda xp, x: xp.cos(x),
        math.cos,
        _decimal_cosine,
        _only_at(0, 1),
        intervals.cos,
        looked_up=True,
        derivative=("-d * sin(x)",),
        magnitude="1 + size_x",
        written="cos",
        of_angle=True,
        form="cos(x)",
        meaning="the cosine of an angle in radians",
    ),
    "sigmoid": Function(
        "sigmoids",
        curves.array_sigmoid,
        curves.sigmoid,
        curves.decimal_sigmoid,
        _only_at(0, Fraction(1, 2)),
        intervals.sigmoid,
        looked_up=True,
        derivative=("d * sigmoid(x) * (1 - sigmoid(x))",),
        magnitude="sigmoid(x) + sigmoid(-max(0, abs(x) - reach * size_x)) * size_x",
        between_matrices=True,
        form="sigmoid(x)",
        meaning="1 / (1 + exp(-x))",
    ),
    "softplus": Function(
        "softplus",
        curves.array_softplus,
        curves.softplus,
        curves.decimal_softplus,
        _nowhere,
        intervals.softplus,
        looked_up=True,
        derivative=("d * sigmoid(x)",),
        magnitude="softplus(x) + sigmoid(x + reach * size_x) * size_x",
        between_matrices=True,
        form="softplus(x)",
        meaning="log(1 + exp(x))",
    ),
    "erf": Function(
        "error functions",
        curves.array_erf,
        math.erf,
        curves.decimal_erf,
        _only_at(0, 0),
        intervals.erf,
        looked_up=True,
        derivative=("d * 2 * sqrt(2) * phi(sqrt(2) * x)",),
        # The slope is 2/√π at 0, and nowhere larger.
        magnitude="abs(erf(x)) + 1.2 * size_x",
        between_matrices=True,
        form="erf(x)",
        meaning="the error function",
    ),
    "silu": Function(
        "sigmoids",
        lambda xp, x: x * curves.array_sigmoid(xp, x),
        lambda x: x * curves.sigmoid(x),
        lambda x: x * curves.decimal_sigmoid(x),
        _only_at(0, 0),
        intervals.silu,
        looked_up=True,
        derivative=("d * sigmoid(x) * (1 + x * (1 - sigmoid(x)))",),
        # The slope is below 1.1 everywhere.
        magnitude="abs(silu(x)) + 1.1 * size_x",
        between_matrices=True,
        form="silu(x)",
        meaning="x * sigmoid(x)",
    ),
    "gelu": Function(
        "error functions",
        curves.array_gelu,
        curves.gelu,
        curves.decimal_gelu,
        _only_at(0, 0),
        intervals.gelu,
        looked_up=True,
        derivative=("d * ((1 + erf(x / sqrt(2))) / 2 + x * phi(x))",),
        # The slope is below 1.2 everywhere.
        magnitude="abs(gelu(x)) + 1.2 * size_x",
        between_matrices=True,
        form="gelu(x)",
        meaning="x * (1 + erf(x / sqrt(2))) / 2",
    ),
    "phi": Function(
        "exponentials",
        curves.array_phi,
        curves.phi,
        curves.decimal_phi,
        _nowhere,
        intervals.phi,
        looked_up=True,
        derivative=("-d * x * phi(x)",),
        # The slope is below 1/4 everywhere.
        magnitude="phi(x) + size_x / 4",
    ),
    "abs": Function(
        "absolute values",
        lambda xp, x: xp.abs(x),
        abs,
        abs,
        abs,
        intervals.absolute,
        exact="absolute",
        derivative=("where(x < 0, -d, d)",),
        magnitude="size_x",
        form="abs(x)",
        meaning="the size, without its sign",
    ),
    "floor_div": Function(
        "divisions",
        lambda xp, x, by: x // by,
        operator.floordiv,
        _decimal_floor_div,
        operator.floordiv,
        interval=intervals.floor_div,
        # Next to a whole number it jumps, which no size tells.
        magnitude="abs(x // y)",
        form="x // y",
        meaning="the quotient, rounded down",
    ),
    "mod": Function(
        "divisions",
        lambda xp, x, by: x % by,
        operator.mod,
        _decimal_mod,
        operator.mod,
        interval=intervals.mod,
        # It is x - y * (x // y), whose quotient stands still but where it jumps.
        derivative=("d", "-d * (x // y)"),
        magnitude="size_x + abs(x // y) * size_y",
        form="x % y",
        meaning="what is left of x after x // y",
    ),
    "max": Function(
        "comparisons",
        lambda xp, *values: reduce(xp.maximum, values),
        _maximum,
        _maximum,
        _maximum,
        intervals.largest,
        exact="largest",
        any_number=True,
        # Of two equal numbers, the second receives all of it.
        derivative=("where(y < x, d, 0)", "where(y < x, 0, d)"),
        slopes=intervals.slopes_of_largest,
        magnitude="max(0, size_x, size_y)",
        form="max(x, y)",
        meaning="the larger one, of two numbers or more",
    ),
    "min": Function(
        "comparisons",
        lambda xp, *values: reduce(xp.minimum, values),
        _minimum,
        _minimum,
        _minimum,
        intervals.smallest,
        exact="smallest",
        any_number=True,
        derivative=("where(x < y, d, 0)", "where(x < y, 0, d)"),
        slopes=intervals.slopes_of_smallest,
        magnitude="max(0, size_x, size_y)",
        form="min(x, y)",
        meaning="the smaller one, of two numbers or more",
    ),
    "relu": Function(
        "comparisons",
        _array_relu,
        _relu,
        _relu,
        _relu,
        intervals.relu,
        exact="relu",
        derivative=("where(0 < x, d, 0)",),
        magnitude="size_x",
        between_matrices=True,
        form="relu(x)",
        meaning="x, and 0 for an x below 0",
    ),
    "finite": Function(
        "comparisons",
        _array_finite,
        _finite,
        _decimal_finite,
        _finite,
        intervals.finite,
        derivative=("where(x == -inf, 0, d)",),
        magnitude="size_x",
    ),
    "le": _plain(
        "comparisons",
        operator.le,
        form="x <= y",
        meaning="whether x is y or below it",
        interval=intervals.not_greater,
        magnitude=None,
    ),
    "lt": _plain(
        "comparisons",
        operator.lt,
        form="x < y",
        meaning="whether x is below y",
        interval=intervals.less,
        magnitude=None,
    ),
    "ge": _plain(
        "comparisons",
        operator.ge,
        form="x >= y",
        meaning="whether x is y or above it",
        interval=intervals.not_less,
        magnitude=None,
    ),
    "gt": _plain(
        "comparisons",
        operator.gt,
        form="x > y",
        meaning="whether x is above y",
        interval=intervals.greater,
        magnitude=None,
    ),
    "eq": _plain(
        "comparisons",
        operator.eq,
        form="x == y",
        meaning="whether both are equal",
        interval=intervals.equal,
        magnitude=None,
    ),
    "and_": _plain(
        "conjunctions",
        _and,
        any_number=True,
        zero_arguments=_ANY_NUMBER,
        form="x and y",
        meaning="whether both conditions hold",
        interval=intervals.all_of,
        magnitude=None,
    ),
    "or_": _plain(
        "conjunctions",
        _or,
        any_number=True,
        form="x or y",
        meaning="whether one of the conditions holds, or both",
        interval=intervals.any_of,
        magnitude=None,
    ),
    "where": Function(
        "choices",
        _array_where,
        _choose,
        _choose,
        _choose,
        intervals.choice,
        derivative=("", "where(x, d, 0)", "where(x, 0, d)"),
        magnitude="where(x, size_y, size_z)",
        form="where(x, y, z)",
        meaning="y where the condition x holds, and z elsewhere",
    ),
}

# The functions over a letter, and softmax, which consists of several steps.
OVER_A_LETTER = {
    "sum": OverALetter("sum(t, x[t])", "all of them added up", "d"),
    "mean": OverALetter("mean(t, x[t])", "their sum divided by how many there are", "d / n_t"),
    "max": OverALetter("max(t, x[t])", "the largest of them", "where(x[t] == y, d, 0)"),
    "min": OverALetter("min(t, x[t])", "the smallest of them", "where(x[t] == y, d, 0)"),
    "softmax": OverALetter(
        "softmax(t, x[t])",
        "shares that sum to 1, alone on the right side of an equation",
        "y[t] * (d[t] - sum(s, d[s] * y[s]))",
    ),
}

# What people call functions in their solutions, and what equations call them: ln is log.
WRITTEN_NAMES = {function.written: name for name, function in FUNCTIONS.items() if function.written}

# Matrix forms: they stand in headlines (S = Q K^T), which are printed and never evaluated.
MATRIX_FORMS = frozenset(
    {
        "matmul",
        "transpose",
        "transposed",
        "hadamard",
        "softmax",
        "row_sums",
        "column_sums",
        "row_maxima",
        "rotate",
        "stack",
        "join",
        "diagonal",
    }
)
# What the forms mean that stand in a printed number (`PRINTED` in `notation.py`).
PRINTED_AS = {"ratio": "div", "over": "div", "quotient": "div", "multiple": "mul", "e_to": "exp"}
