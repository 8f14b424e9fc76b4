"""A large matrix of digits is the same page, letter for letter, as one of cells."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from attncli.equation.nodes import Name
from attncli.page import digits
from attncli.page.digits import DigitRows
from attncli.page.document import Cell, Document, Grid
from attncli.page.number_format import format_number
from attncli.render import Style, render

RANDOM = np.random.default_rng(0)
MATRICES = {
    "weights": RANDOM.random((70, 65)) / 50,
    "near whole numbers": RANDOM.integers(-3, 12, (65, 70)) + RANDOM.choice([0, 1e-15, 1e-13, 1e-9, -1e-5], (65, 70)),
    "ties": RANDOM.integers(-20, 20, (70, 65)) / 16,
    "half of them whole": RANDOM.choice([0.0, 1.0, -10.0, 0.25, -0.0004], (70, 65)),
    "whole columns": np.where(np.arange(65) % 3, RANDOM.random((70, 65)), RANDOM.integers(-9, 99, (70, 65))),
    "whole": RANDOM.integers(-9, 999, (70, 65)).astype(np.float64),
    "float32": RANDOM.random((70, 65)).astype(np.float32),
}


@pytest.fixture(autouse=True)
def _any_number_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digits, "REPEATED", 0.01)
    monkeypatch.setattr(digits, "AT_ONCE", 300)


def cells(matrix: NDArray[np.float64], decimals: int) -> tuple[tuple[Cell, ...], ...]:
    return tuple(tuple(Cell(format_number(float(number), decimals)) for number in row) for row in matrix)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("decimals", [0, 1, 3, 5])
@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize(
    ("format", "style"),
    [("markdown", Style()), ("latex", Style()), ("table", Style()), ("table", Style(width=80)),
     ("table", Style(color=True)), ("table", Style(encoding="ascii"))],
)  # fmt: skip
def test_the_same_page(name: str, decimals: int, format: str, style: Style) -> None:
    matrix = MATRICES[name]
    rows, columns = (
        tuple(f"{letter}{place}" for place in range(size)) for letter, size in zip("ij", matrix.shape, strict=True)
    )
    rows = ("日本", "[i]", "a_b", *rows[3:])
    found = DigitRows.of(matrix, decimals)
    if found is None:
        pytest.skip("too many different texts")
    ours, slowly = (
        Document("", (Grid(Name("weights"), rows, columns, each),)) for each in (found, cells(matrix, decimals))
    )
    assert render(ours, format, style) == render(slowly, format, style)


@given(st.lists(st.floats(-30, 30), min_size=1, max_size=9), st.integers(0, 4))
def test_every_number_is_what_show_prints(numbers: list[float], decimals: int) -> None:
    matrix = np.resize(numbers, (64, 64))
    found = DigitRows.of(matrix, decimals)
    assume(found is not None)
    assert found is not None
    assert found[0] == tuple(Cell(format_number(float(number), decimals)) for number in matrix[0])
    assert tuple(map(len, found)) == (64,) * 64


@pytest.mark.parametrize("odd", [np.nan, np.inf, 1e300, 1e7])
def test_matrices_that_need_other_signs(odd: float) -> None:
    matrix = np.ones((64, 64))
    matrix[3, 3] = odd
    assert DigitRows.of(matrix, 3) is None


def test_small_matrices_and_hardly_a_number_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    assert DigitRows.of(np.ones((3, 4)), 3) is None
    monkeypatch.setattr(digits, "REPEATED", 4)
    assert DigitRows.of(RANDOM.standard_normal((64, 64)), 3) is None
