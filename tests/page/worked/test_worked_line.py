"""Worked lines, read back as with a calculator: `=` is true to the digit, `≈` within what was
rounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import iv

from attncli.page.document import plain_line
from attncli.page.printer import Printer
from attncli.page.worked.cells import worked
from attncli.page.worked.worked_line import worked_line
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.keep_and_hide import Keep
from attncli.problem.parts.masks.lengths import Lengths
from attncli.problem.parts.masks.padding import Padding
from attncli.problem.parts.masks.window import Window
from attncli.tracing import Trace, run
from tests.cases import in_one_test

Build = Callable[..., Problem]
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
INF = float("inf")


def read(line: str, numbers: Any) -> Any:
    """The value of one side of a printed line in the arithmetic of `numbers`."""
    source = NUMBER.sub(lambda found: f"N('{found[0]}')", line)
    source = re.sub(r"√(N\('.*?'\))", r"sqrt(\1)", source).replace("√(", "sqrt(")
    for sign, python in (("·", "*"), ("^", "**"), ("∞", "inf")):
        source = source.replace(sign, python)
    base = type("Base", (), {"__pow__": lambda self, power: numbers.exp(power)})()
    known = {
        name: getattr(numbers, name) for name in ("N", "sqrt", "exp", "tanh", "cos", "sin", "max")
    }
    return eval(source, known | {"e": base, "inf": INF})


class Irrational:
    """A number that is no fraction, and with which nothing makes one but a factor of 0."""

    def _stays(self, other: Any) -> Any:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __truediv__ = __pow__ = __rpow__ = _stays

    def __mul__(self, other: Any) -> Any:
        return Fraction(0) if other == 0 else self

    __rmul__ = __rtruediv__ = __mul__

    def __neg__(self) -> Any:
        return self


def _exact_root(number: Fraction) -> Any:
    root = Fraction(round(float(number) ** 0.5))
    return root if root**2 == number else Irrational()


def _exact_exp(power: Any) -> Any:
    return Fraction(power == 0) if power in (0, -INF) else Irrational()


EXACT = SimpleNamespace(
    N=Fraction,
    sqrt=_exact_root,
    exp=_exact_exp,
    tanh=lambda x: Fraction(0) if x == 0 else Irrational(),
    cos=lambda x: Fraction(1) if x == 0 else Irrational(),
    sin=lambda x: Fraction(0) if x == 0 else Irrational(),
    max=max,
)
PRECISE = SimpleNamespace(
    N=mpmath.mpf,
    sqrt=mpmath.sqrt,
    exp=mpmath.exp,
    tanh=mpmath.tanh,
    cos=mpmath.cos,
    sin=mpmath.sin,
    max=max,
)


def _spread(text: str) -> Any:
    """Every number that may stand behind a printed one."""
    _, point, digits = text.partition(".")
    half = mpmath.mpf(10) ** -len(digits) / 2 if point else 0
    return iv.mpf([mpmath.mpf(text) - half, mpmath.mpf(text) + half])


class Spread:
    """Intervals whose powers may be intervals too."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def _with(self, other: Any, how: Callable[[Any, Any], Any]) -> Spread:
        return Spread(how(self.value, other.value))

    def __add__(self, other: Any) -> Spread:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Spread:
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other: Any) -> Spread:
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> Spread:
        return self._with(other, lambda a, b: a / b)

    def __pow__(self, other: Any) -> Spread:
        return self._with(other, lambda a, b: iv.exp(b * iv.log(a)))

    def __neg__(self) -> Spread:
        return Spread(-self.value)


SPREAD = SimpleNamespace(
    N=lambda text: Spread(_spread(text)),
    sqrt=lambda x: Spread(iv.sqrt(x.value)),
    exp=lambda x: Spread(iv.exp(x.value)),
    tanh=lambda x: Spread(1 - 2 / (iv.exp(2 * x.value) + 1)),
    cos=lambda x: Spread(iv.cos(x.value)),
    sin=lambda x: Spread(iv.sin(x.value)),
    max=lambda *all: Spread(iv.mpf([max(x.value.a for x in all), max(x.value.b for x in all)])),
)


def links(line: str) -> list[tuple[str, str, str]]:
    """A line as what is worked, a sign and what comes of it, one for each of its stages."""
    parts = re.split(" ([=≈]) ", line)
    return list(zip(parts[:-2:2], parts[1::2], parts[2::2], strict=True))


RANDOM = np.random.default_rng(5)
QKV = {
    name: [[f"{number:.4f}" for number in row] for row in RANDOM.normal(size=(rows, 2))]
    for name, rows in (("Q", 3), ("K", 4), ("V", 4))
}
WHOLE = {"Q": [[2, 0], [-1, 3]], "K": [[1, 1], [0, 2], [4, -1]], "V": [[1, 0], [2, 2], [-3, 1]]}
PROBLEMS: dict[str, dict[str, Any]] = {
    "random": QKV,
    "whole": WHOLE,
    "written": {
        "Q": [["0.5", "1/3"]],
        "K": [["sqrt(2)", "1e-3"], ["-2.25", "3"]],
        "V": [["0.125"], ["-7"]],
    },
    "causal": {**WHOLE, "mask": (Causal(),)},
    "masks": {
        **QKV,
        "mask": (Window(1, 2), Padding(((True, True, False, True),)), Lengths((4,))),
        "corner": "bottom-right",
    },
    "additive": {
        **WHOLE,
        "mask": (Additive(Matrix(np.array([[0.25, -INF, -1], [0, 2.5, -1e9]]))),),
    },
    "blind": {**WHOLE, "mask": (Keep(np.array([[False] * 3, [True] * 3])),)},
    "shifted": {
        **WHOLE,
        "Q": [[400, 1000], [-1000, 2]],
        "mask": (Keep(np.array([[True, False, True], [False] * 3])),),
    },
    "capped": {**QKV, "softcap": 1.5, "scale": 0.3},
    "base 2": {**WHOLE, "exp_base": 2.0, "scale": "none"},
    "luong": {**WHOLE, "score": "multiplicative", "W_a": [[1, 2], [0, -1]], "scale": 0.1},
    "bahdanau": {
        **QKV,
        "score": "additive",
        "W_1": [[1, 2], [0, 1]],
        "W_2": [[0.5, 1], [1, -1]],
        "v": [2, 1],
    },
    "capped by a root": {**QKV, "softcap": "sqrt(2)"},
    "rope": {**QKV, "rope": (100, "half")},
    "sink": {**WHOLE, "sink": 0.5},
    "biased": {
        "X": [[1, 2]],
        "W_Q": [[1], [2]],
        "b_Q": [3],
        "W_K": [[1], [0]],
        "b_K": [-1],
        "W_V": [[2], [2]],
    },
}


def all_lines(trace: Trace, precision: int) -> Iterator[tuple[str, str]]:
    printer = Printer(trace, precision)
    for step in trace.computed():
        for line in worked(printer, step, "cells").lines if step.name != "mask" else ():
            if line.work is not None:
                yield f"{step.name}[{line.label}]", plain_line(line)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("precision", [0, 2, 3, 6])
@pytest.mark.parametrize("rounding", ["shown", "paper"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_line_says_equals_exactly_where_its_numbers_give_its_result(
    problem: Build, name: str, rounding: str, precision: int
) -> None:
    trace = run(problem(**PROBLEMS[name]), rounding=rounding, precision=precision)
    seen = 0
    for cell, line in all_lines(trace, precision):
        left, sign, right = links(line)[-1]
        value, result = read(left, EXACT), read(right, EXACT)
        exact = isinstance(value, Fraction) or value in (INF, -INF)
        assert (sign == "=") == (exact and value == result), f"{cell}: {line}"
        seen += 1
    assert seen > 5


@pytest.mark.sampled(5)
@pytest.mark.parametrize("precision", [2, 3, 6])
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_line_gives_its_result_within_what_was_rounded(
    problem: Build, name: str, precision: int
) -> None:
    trace = run(problem(**PROBLEMS[name]))
    for cell, line in all_lines(trace, precision):
        left, _, right = links(line)[-1]
        if "∞" in line:
            assert read(left, EXACT) == read(right, EXACT)
            continue
        ours, printed = read(left, SPREAD).value, _result(right)
        assert ours.a <= printed.b, f"{cell}: {line}"
        assert printed.a <= ours.b, f"{cell}: {line}"


@pytest.mark.each_choice
@pytest.mark.parametrize("precision", [2, 3, 6])
@pytest.mark.parametrize("name", ["capped", "capped by a root", "bahdanau", "rope", "sink"])
def test_a_stage_is_what_the_one_before_it_says(problem: Build, name: str, precision: int) -> None:
    """Equal to 40 digits where it says so; else as near as the printed digits let it be."""
    trace, seen = run(problem(**PROBLEMS[name])), 0
    for cell, line in all_lines(trace, precision):
        for left, sign, right in links(line)[:-1]:
            seen += 1
            if sign == "=":
                with mpmath.workdps(50):
                    assert abs(read(left, PRECISE) - read(right, PRECISE)) < 1e-40, (
                        f"{cell}: {line}"
                    )
            else:
                one, other = read(left, SPREAD).value, read(right, SPREAD).value
                assert one.a <= other.b and other.a <= one.b, f"{cell}: {line}"  # noqa: PT018 - one claim: they meet
    assert seen > 1


def _result(text: str) -> Any:
    # less than the smallest double is 0
    number = _spread(text.lstrip("-")) + iv.mpf([-1e-300, 1e-300])
    return -number if text.startswith("-") else number


@pytest.mark.sampled(10)
@pytest.mark.parametrize("precision", [1, 3, 6])
@pytest.mark.parametrize("name", PROBLEMS)
def test_on_paper_the_printed_numbers_rounded_are_the_printed_result(
    problem: Build, name: str, precision: int
) -> None:
    trace = run(problem(**PROBLEMS[name]), rounding="paper", precision=precision)
    for cell, line in all_lines(trace, precision):
        left, right = links(line)[0][0], links(line)[-1][-1]
        if "∞" in line:
            continue
        with mpmath.workdps(60):
            value = Decimal(mpmath.nstr(read(left, PRECISE), 45, strip_zeros=False))
        rounded = value.quantize(Decimal(10) ** -precision, ROUND_HALF_UP)
        assert rounded == Decimal(right), f"{cell}: {line}"


@in_one_test("name", PROBLEMS)
def test_a_result_is_the_cell_rounded_half_up(problem: Build, name: str) -> None:
    trace = run(problem(**PROBLEMS[name]))
    for step in trace.computed():
        if step.name in ("mask", "K_T"):
            continue
        for index in np.ndindex(step.shape):
            result = (
                plain_line(worked_line(Printer(trace, 3), step, index))
                .split(" hidden")[0]
                .split(" by def")[0]
            )
            value, number = (
                float(step.value[index]),
                float(re.split(" [=≈] ", result)[-1].replace("∞", "inf")),
            )
            assert number == value or abs(number - value) <= 0.0005 + 1e-12


def love_line(love: Problem, step: str, *index: int) -> str:
    trace = run(love)
    return plain_line(worked_line(Printer(trace, 3), trace.steps[step], index))


@in_one_test(
    ("step", "index", "line"),
    [
        ("Q", (0, 0), "1·1 + 0·0 + 1·1 + 0·0 = 2"),
        ("K_T", (0, 1), "2"),
        ("scores", (0, 1), "2·2 + 0·1 + 1·1 = 5"),
        ("scaled", (0, 1), "5 / √3 ≈ 2.887"),
        ("exp", (0, 1), "e^2.887 ≈ 17.935"),
        ("row_sum", (0,), "1.781 + 17.935 + 5.652 = 25.368"),
        ("weights", (0, 1), "17.935 / 25.368 ≈ 0.707"),
        ("output", (0, 1), "0.070·0 + 0.707·2 + 0.223·1 = 1.637"),
        ("output", (1, 0), "0.333·1 + 0.333·1 + 0.333·1 ≈ 1"),
    ],
)
def test_i_love_ai(love: Problem, step: str, index: tuple[int, ...], line: str) -> None:
    assert love_line(love, step, *index) == line


def masked_line(problem: Build, step: str, index: tuple[int, ...], **choices: Any) -> str:
    trace = run(problem(**WHOLE, **choices))
    return plain_line(worked_line(Printer(trace, 3), trace.steps[step], index))


KEEP = Keep(np.array([[False] * 3, [True] * 3]))
BIAS = Additive(Matrix(np.array([[0.5, -INF, 1], [0, 0, -1e9]])))


@in_one_test(
    ("step", "index", "mask", "line"),
    [
        ("mask", (1, 0), (Causal(),), "j ≤ i: 0 ≤ 1 is true, so visible: 0"),
        ("mask", (0, 2), (Causal(),), "j ≤ i: 2 ≤ 0 is false, so hidden: -∞"),
        ("mask", (0, 0), (KEEP,), "keep[0, 0] = 0, so hidden: -∞"),
        (
            "mask",
            (0, 0),
            (Window(1, 0),),
            "j ≥ i - 1: 0 ≥ 0 - 1 is true, j ≤ i: 0 ≤ 0 is true, so visible: 0",
        ),
        ("mask", (0, 0), (Causal(), BIAS), "j ≤ i: 0 ≤ 0 is true, so visible: 0.500"),
        ("mask", (0, 1), (BIAS,), "-∞"),
        ("mask", (1, 2), (BIAS,), "-1000000000"),
        ("mask", (1, 1), (Lengths((1,)),), "j < 1: 1 < 1 is false, so hidden: -∞"),
        ("mask", (1, 1), (Padding(((True, False, True),)),), "exists[1] = 0, so hidden: -∞"),
        ("masked", (0, 1), (Causal(),), "0 + (-∞) = -∞"),
        ("masked", (0, 0), (Causal(),), "1.414 + 0 = 1.414"),
        ("exp", (0, 1), (Causal(),), "e^(-∞) = 0"),
        ("row_sum", (0,), (KEEP,), "0 + 0 + 0 = 0"),
        ("weights", (0, 1), (KEEP,), "0 by definition, because this query sees no key"),
        ("output", (0, 0), (KEEP,), "0·1 + 0·2 + 0·(-3) = 0"),
    ],
)
def test_masked_cells_say_why(
    problem: Build, step: str, index: tuple[int, ...], mask: Any, line: str
) -> None:
    assert masked_line(problem, step, index, mask=mask) == line


def test_a_long_sum_is_shortened_for_its_row_and_never_for_its_cell(problem: Build) -> None:
    trace = run(problem(Q=np.ones((1, 20)), K=np.ones((1, 20)), V=[[1]]))
    printer, scores = Printer(trace, 3), trace.steps["scores"]
    (row,) = worked(printer, scores, "rows").lines
    assert plain_line(row) == " + ".join(["1·1"] * 11) + " + … 9 more … = 20"
    (cell,) = worked(printer, scores, "cells").lines
    assert plain_line(cell) == " + ".join(["1·1"] * 20) + " = 20"


def test_a_long_sum_of_equal_terms_is_shortened_too(problem: Build) -> None:
    trace = run(problem(Q=[[1]], K=np.ones((20, 1)), V=np.ones((20, 1))))
    (row,) = worked(Printer(trace, 3), trace.steps["row_sum"], "rows").lines
    # 20·e = 54.3656
    assert plain_line(row) == " + ".join(["2.718"] * 11) + " + … 9 more … ≈ 54.366"


def test_the_line_of_a_row_follows_where_the_query_looks_most(love: Problem) -> None:
    printer = Printer(run(love), 3)
    for step in ("scores", "scaled", "exp", "weights"):
        labels = [line.label for line in worked(printer, printer.trace.steps[step], "rows").lines]
        assert labels == ["I → love", "love → I", "AI → love"]
