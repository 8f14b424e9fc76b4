"""Large matrices on a terminal: their edges, and a line that says what is not there."""

from __future__ import annotations

import pytest

from attncli.equation.tree import Name
from attncli.page.document import Cell, Document, Grid
from attncli.render import Style, render
from attncli.render.table.elided import EDGE, MOST, elided
from attncli.render.table.script import script


def grid(rows: int, columns: int) -> Grid:
    cells = tuple(tuple(Cell(f"{row}.{column:02d}") for column in range(columns)) for row in range(rows))
    return Grid(
        Name("A"), tuple(f"r{row}" for row in range(rows)), tuple(f"c{column}" for column in range(columns)), cells
    )


def page(matrix: Grid, **style: object) -> str:
    return render(Document("", (matrix,)), "table", Style(**style))  # type: ignore[arg-type]


def test_what_is_not_large_is_whole() -> None:
    small = grid(MOST, MOST)
    assert elided(small, script("utf-8")) == (small, "")
    assert page(small, width=80, elide=True) == page(small, width=80)


@pytest.mark.parametrize(
    ("rows", "columns", "said"),
    [
        (50, 3, "without rows 5–46 of 50; --all shows all"),
        (3, 60, "without columns 5–56 of 60; --all shows all"),
        (50, 60, "without rows 5–46 of 50 and columns 5–56 of 60; --all shows all"),
    ],
)
def test_a_large_one_has_its_edges(rows: int, columns: int, said: str) -> None:
    text = page(grid(rows, columns), width=120, elide=True)
    assert text.rstrip().endswith(said)
    for row in {0, min(EDGE, rows) - 1, rows - 1}:
        for column in {0, min(EDGE, columns) - 1, columns - 1}:
            assert f"{row}.{column:02d}" in text
    assert ("20.0" in text) == (rows <= 40 and rows > 20)
    assert "…" in text
    assert said not in page(grid(rows, columns), width=120)


def test_blocks_of_columns_have_no_captions_that_count_what_is_left() -> None:
    text = page(grid(3, 60), width=40, elide=True)
    assert text.count("columns") == 1
    assert "c59" in text


def test_an_ascii_terminal() -> None:
    text = page(grid(50, 60), width=120, elide=True, encoding="ascii")
    assert text.isascii()
    assert "without rows 5-46 of 50 and columns 5-56 of 60; --all shows all" in text
