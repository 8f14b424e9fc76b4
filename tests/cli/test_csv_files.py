"""Files of comma-separated values, read as people and spreadsheets write them, and as attncli
does.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.cli.csv_files import csv_rows
from attncli.errors import AttncliError, Exit
from attncli.problem.text.source import Source
from attncli.render.csv_lines import lines

NAMES = st.text(st.characters(categories=["L", "N", "P", "Sm"]), min_size=1).filter(
    lambda name: name[0] not in "'\\"
)


def cells(text: str) -> list[tuple[str, ...]]:
    return [row.cells for row in csv_rows(Source("names.csv", text))]


@given(st.lists(st.lists(NAMES, min_size=2, max_size=3), min_size=1, max_size=4))
def test_what_is_written_is_read(rows: list[list[str]]) -> None:
    assert cells("".join(lines([["a", "b", "c"], *rows]))) == [("a", "b", "c"), *map(tuple, rows)]


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_what_parts_the_cells(sign: str) -> None:
    assert cells(f"student{sign}group\nAda{sign}1\n\n  \nGrace{sign}2") == [
        ("student", "group"), ("Ada", "1"), ("Grace", "2"),
    ]  # fmt: skip


def test_a_quotation_mark_that_is_not_closed() -> None:
    with pytest.raises(AttncliError) as error:
        cells('name\n"Ada\nGrace\n')
    assert error.value.exit_code == Exit.INPUT
    assert error.value.place is not None
    assert error.value.place.file == "names.csv"
