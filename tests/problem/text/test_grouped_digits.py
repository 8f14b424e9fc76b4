"""Numbers whose digits are in groups of three, pasted: read as the number, or refused, but never
read as several numbers without a word.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import attncli
from attncli.errors import AttncliError
from tests.cases import in_one_test

# what stands between groups, and before the decimals
STYLES = [
    (" ", "."),
    (" ", ","),
    (".", ","),
    (",", "."),
    ("\u00a0", ","),
    ("\u202f", "."),
    ("'", "."),
]


def grouped(whole: int, decimals: str, style: tuple[str, str]) -> str:
    """1.234,5 for 1234, 5 and the style of Germany."""
    group, point = style
    return f"{whole:,}".replace(",", group) + (point + decimals if decimals else "")


def value(whole: int, decimals: str) -> float:
    return float(f"{whole}.{decimals or 0}")


Numbers = list[list[tuple[int, str]]]


@st.composite
def columns(draw: st.DrawFn) -> Numbers:
    """Rows of equally many numbers, all of 1000 or more, and all with decimals or none with any."""
    width, height = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    decimals = st.sampled_from(["5", "25", "125"]) if draw(st.booleans()) else st.just("")
    number = st.tuples(st.integers(1000, 99_999_999), decimals)
    row = st.lists(number, min_size=width, max_size=width)
    return draw(st.lists(row, min_size=height, max_size=height))


def is_matrix_of_three_digits(text: str) -> bool:
    """Whether it is several rows of 100 to 999, which only a matrix is."""
    rows = [re.split("[ ,]+", row) for row in text.split("\n")]
    return len(rows) > 1 and all(len(word) == 3 for row in rows for word in row)


@given(
    numbers=columns(),
    style=st.sampled_from(STYLES),
    between=st.sampled_from([" ", "  ", "\t", ", "]),
)
@example(numbers=[[(1000, "5")]], style=(".", ","), between=" ")
@example(numbers=[[(1000, "5")], [(2000, "25")]], style=(".", ","), between=" ")
@example(numbers=[[(1000, "5"), (2000, "5")]], style=(".", ","), between=", ")
@example(numbers=[[(1234567, "")]], style=(" ", "."), between=" ")
@example(numbers=[[(1234, "5")]], style=(",", "."), between=" ")
@example(numbers=[[(1234, "5")], [(2345, "5")]], style=(" ", "."), between=" ")
def test_they_are_read_or_refused(numbers: Numbers, style: tuple[str, str], between: str) -> None:
    text = "\n".join(between.join(grouped(*each, style) for each in row) for row in numbers)
    has_decimals = bool(numbers[0][0][1])
    # 1.000 is one number also where a point is that of decimals.
    if is_matrix_of_three_digits(text) or (style == (".", ",") and not has_decimals):
        return
    meant = [[value(*each) for each in row] for row in numbers]
    keys = [[1.0]] * len(numbers)
    try:
        problem = attncli.problem(Q=[[1]], K=keys, V=text)
    except AttncliError as caught:
        error = caught
    else:
        assert problem.given["V"].value.tolist() == meant
        return
    assert error.path.startswith("V")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "1 234 567",
            "1 234 567 can be read as 1234567, or as the numbers 1, 234 and 567"
            " (write 1234567 for one number, or 1, 234, 567 for 3)",
        ),
        (
            "1.000,5\n2.000,25",
            "1.000,5 can be read as 1000.5, or as the two numbers 1.000 and 5"
            " (write 1000.5, with a point, or 1.000, 5, with a blank after the comma)",
        ),
        (
            "1,234.5",
            "1,234.5 can be read as 1234.5, or as the numbers 1 and 234.5"
            " (write 1234.5 for one number, or 1, 234.5 for 2)",
        ),
    ],
)
def test_both_readings_are_told(text: str, said: str, problems: Callable[..., list[str]]) -> None:
    block = "\n".join(f"  {line}" for line in text.split("\n"))
    assert problems(f"Q: [[1]]\nK: [[1]]\nV: |\n{block}") == [f"4:3: V: {said}"]


@in_one_test(
    ("text", "rows"),
    [
        ("100 200\n300 400", [[100, 200], [300, 400]]),
        ("1 234\n2 5", [[1, 234], [2, 5]]),
        ("1.000 234\n2.000 345", [[1, 234], [2, 345]]),
        ("0.123,1\n1.250,0", [[0.123, 1], [1.25, 0]]),
        ("1.000, 5\n2.000, 25", [[1, 5], [2, 25]]),
        ("[1 234; 2 345]", [[1, 234], [2, 345]]),
    ],
)
def test_what_leaves_no_doubt_is_read(text: str, rows: list[list[float]]) -> None:
    keys = [[1]] * len(rows)
    assert attncli.problem(Q=[[1]], K=keys, V=text).given["V"].value.tolist() == rows
