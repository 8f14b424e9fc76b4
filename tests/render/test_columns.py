"""Columns: cut into runs that fit, captions that count, points under points, widths in cells."""

import pytest

from attncli.render.cells import caption, split, text_width
from tests.cases import in_one_test


@pytest.mark.parametrize(
    ("room", "most", "runs"),
    [
        (None, None, [(0, 4)]),
        (7, None, [(0, 2), (2, 4)]),
        (None, 3, [(0, 3), (3, 4)]),
        (1, None, [(0, 1), (1, 2), (2, 3), (3, 4)]),
    ],
)
def test_columns_are_cut_into_runs_that_fit(
    room: int | None, most: int | None, runs: list[tuple[int, int]]
) -> None:
    assert split([3, 4, 2, 5], room, most) == runs


def test_captions_count_from_one() -> None:
    assert caption("column", 0, 7, 20) == "columns 1–7 of 20"
    assert caption("row", 7, 8, 20) == "row 8 of 20"


def test_captions_part_thousands_as_sentences_do() -> None:
    assert caption("row", 4, 1996, 2000) == "rows 5–1,996 of 2,000"


@in_one_test(
    ("text", "cells"),
    [("", 0), ("love", 4), ("naïve", 5), ("e\u0301", 1), ("日本語", 6), ("∞·√", 3), ("👍", 2)],
)
def test_widths_are_counted_in_cells(text: str, cells: int) -> None:
    assert text_width(text) == cells
