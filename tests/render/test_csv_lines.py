"""Tables for spreadsheets: every number comes back, and no label becomes a formula."""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from attncli.render.csv_lines import lines, safe
from tests.cases import in_one_test


def read(text: str, separator: str = ",") -> list[list[str]]:
    return list(csv.reader(StringIO(text), delimiter=separator))


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_cells_come_back(separator: str) -> None:
    rows = [["a,b", 'say "hi"', "x;y"], ["tab\there", 0.1, -3], [None, 1e-300, float("-inf")]]
    written = "".join(lines(rows, separator))
    assert read(written, separator) == [
        ["a,b", 'say "hi"', "x;y"], ["tab\\there", "0.1", "-3"], ["", "1e-300", "-inf"],
    ]  # fmt: skip


@in_one_test("text", ["=cmd()", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1"])
def test_no_text_becomes_a_formula(text: str) -> None:
    ((cell,),) = read("".join(lines([(text,)])))
    assert cell == safe(text)
    assert cell.startswith("'")
    assert cell.isprintable()


def test_a_formula_behind_a_semicolon_stays_in_its_cell() -> None:
    """Where numbers have a comma, spreadsheets cut lines at semicolons."""
    (line,) = lines([("a;=cmd()", "b")])
    assert read(line, ";")[0][0].startswith("a;=cmd()")


def test_what_looks_like_a_formula_later_on_is_left_as_it_is() -> None:
    assert safe("a=b") == "a=b"
    assert safe("I") == "I"
