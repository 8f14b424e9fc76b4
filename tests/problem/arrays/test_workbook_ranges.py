"""Cells of .xlsx workbooks as arrays of a problem, as spreadsheets write them, and as nobody
should.
"""

from __future__ import annotations

import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncli.errors import AttncliError
from attncli.problem.arrays.formats import xlsx
from attncli.problem.loader import load
from attncli.problem.model import Problem
from tests.hostile.archives import workbook

xlsxwriter = pytest.importorskip("xlsxwriter")

KV = "K: [[1, 0], [0, 1]]\nV: [[1, 2], [3, 4]]\n"


def read(folder: Path, reference: str, more: str = "") -> Problem:
    (folder / "p.yaml").write_text(f"Q: {reference}\n{KV}{more}", encoding="utf-8")
    return load(str(folder / "p.yaml"))


def wrong(folder: Path, reference: str, more: str = "") -> str:
    with pytest.raises(AttncliError) as caught:
        read(folder, reference, more)
    assert not caught.value.more
    assert caught.value.help
    assert caught.value.exit_code == 3
    return str(caught.value)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Two sheets of what people have in cells; by XlsxWriter."""
    with xlsxwriter.Workbook(tmp_path / "x.xlsx") as file:
        first, second = file.add_worksheet("Data"), file.add_worksheet("It's mine")
        for row, numbers in enumerate([[1, 2.5, -3], [0.1, 1e-300, 4], ["1/3", "sqrt(2)", "−∞"]]):
            for column, value in enumerate(numbers):
                first.write(row + 1, column + 1, value)
        first.write("F1", "a word")
        first.write_datetime("F2", date(2026, 1, 2), file.add_format({"num_format": "d/m/yy"}))
        first.write_datetime("F3", date(2026, 1, 2), file.add_format({"num_format": 14}))
        first.write_formula("F4", "=1+1", None, 2)
        first.write_formula("F5", "=1/0", None, "#DIV/0!")
        first.write_formula("F6", '=IF(1,"−∞",0)', None, "−∞")
        first.write_boolean("F7", True)
        first.write_rich_string("F8", "1", file.add_format({"bold": True}), "2")
        first.write("F9", 7, file.add_format({"num_format": '0.0 "days"'}))
        second.write("A1", 5)
        second.write("B1", 6)
    return tmp_path


@pytest.mark.parametrize(
    "cells", ["Data!B2:C3", "data!$B$2:$C$3", "'Data'!C3:B2", " Data!b2:c3 ", "='Data'!B2:C3"]
)
def test_a_range(book: Path, cells: str) -> None:
    found = read(book, f'{{file: x.xlsx, range: "{cells}"}}').given["Q"]
    assert found.value.tolist() == [[1, 2.5], [0.1, 1e-300]]


@pytest.mark.parametrize(
    "cells", ["\"'It''s mine'!A1:B1\"", "It's mine!A1:B1", '"It\'s mine!A1:B1"']
)
def test_names_of_sheets_with_a_blank(book: Path, cells: str) -> None:
    assert read(book, f"{{file: x.xlsx, range: {cells}}}").given["Q"].value.tolist() == [[5, 6]]


@pytest.mark.parametrize("name", ["x.xls", "x.ods", "x.xlsm"])
@pytest.mark.parametrize("more", ["", ", range: A1:B2"])
def test_other_spreadsheets_are_saved_again(tmp_path: Path, name: str, more: str) -> None:
    (tmp_path / "p.yaml").write_text(f"Q: {{file: {name}{more}}}\n{KV}", encoding="utf-8")
    with pytest.raises(AttncliError, match=f"{name} is neither") as caught:
        load(str(tmp_path / "p.yaml"))
    assert caught.value.help == "save the sheet as .xlsx or .csv"


def test_fractions_and_roots_are_exact(book: Path) -> None:
    found = read(book, "{file: x.xlsx, range: Data!B4:C4}").given["Q"]
    assert found.written is not None
    assert found.written.tolist() == [["1/3", "sqrt(2)"]]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1,5", "-0,25"], [1.5, -0.25]),
        (["1,5", 0.5], [1.5, 0.5]),
        (["1,500", "2,5"], [1.5, 2.5]),
        (["1,500", 2], "x.xlsx is the text 1,500, and no number"),
        (["1,5", "2.5"], "x.xlsx is the text 1,5, and no"),
    ],
)
def test_a_text_with_a_decimal_comma(
    tmp_path: Path, cells: list[str | float], expected: list[float] | str
) -> None:
    with xlsxwriter.Workbook(tmp_path / "x.xlsx") as file:
        file.add_worksheet("S").write_row(0, 0, cells)
    reference = "{file: x.xlsx, range: A1:B1}"
    if isinstance(expected, str):
        assert expected in wrong(tmp_path, reference)
    else:
        assert read(tmp_path, reference).given["Q"].value.tolist() == [expected]


def test_a_mask_with_hidden_cells(book: Path) -> None:
    problem = read(book, "[[1, 0]]", "mask: {additive: {file: x.xlsx, range: Data!C4:D4}}\n")
    np.testing.assert_array_equal(problem.mask.parts[0].matrix.value, [[2**0.5, -np.inf]])  # type: ignore[attr-defined]


@pytest.mark.parametrize(("cell", "value"), [("F4", 2), ("F8", 12), ("F9", 7)])
def test_a_cell_with_a_number(book: Path, cell: str, value: float) -> None:
    problem = f"Q: {{file: x.xlsx, range: Data!{cell}}}\nK: [[1]]\nV: [[1]]\n"
    (book / "q.yaml").write_text(problem)
    assert load(str(book / "q.yaml")).given["Q"].value.tolist() == [[value]]


def test_a_vector_is_a_row_or_a_column(book: Path) -> None:
    (book / "q.yaml").write_text(
        "X: [[1, 0]]\nW_Q: [[1], [1]]\nW_K: [[1], [1]]\nW_V: [[1, 0], [0, 1]]\nb_V: {file: x.xlsx,"
        " range: Data!B2:B3}\n"
    )
    assert load(str(book / "q.yaml")).given["b_V"].value.tolist() == [1, 0.1]


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("{file: x.xlsx}", "Q.file: which cells of the workbook is not said"),
        ("{file: x.xlsx, name: Data}", "Q.name: a workbook has no arrays with names"),
        ("{file: q.csv, range: A1}", "Q.range: only a workbook, .xlsx, has ranges of cells"),
        ("{file: x.xlsx, range: A1:B2}", "Q.range: x.xlsx has 2 sheets"),
        ("{file: x.xlsx, range: Dota!A1:B2}", "Q.range: x.xlsx has no sheet Dota"),
        ("{file: x.xlsx, range: Data!A}", "Q.range: Data!A is no range of cells"),
        ("{file: x.xlsx, range: Data!A0:B2}", "Q.range: Data!A0:B2 is no range of cells"),
        ("{file: x.xlsx, range: Data!XFE1}", "Q.range: Data!XFE1 is outside of any sheet"),
        ("{file: x.xlsx, range: Data!A1048577}", "Q.range: Data!A1048577 is outside of any sheet"),
        (
            "{file: x.xlsx, range: A1:Z9999}",
            "Q.range: A1:Z9999 has 259,974 cells, and 10 is the most",
        ),
        ("{file: x.xlsx, range: Data!B2:E3}", "Q.range: Data!E2 in x.xlsx is empty"),
        (
            "{file: x.xlsx, range: Data!F1}",
            "Q.range: Data!F1 in x.xlsx is the text a word, and no number",
        ),
        ("{file: x.xlsx, range: Data!F2}", "Q.range: Data!F2 in x.xlsx is a date"),
        ("{file: x.xlsx, range: Data!F3}", "Q.range: Data!F3 in x.xlsx is a date"),
        ("{file: x.xlsx, range: Data!F5}", "Q.range: Data!F5 in x.xlsx is the error #DIV/0!"),
        ("{file: x.xlsx, range: Data!B1000:B1001}", "Q.range: Data!B1000 in x.xlsx is empty"),
    ],
)
def test_what_is_no_number(
    book: Path, reference: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xlsx, "_MOST_CELLS", 10)
    (book / "q.csv").write_text("1\n")
    assert wrong(book, reference) == said


def archive(folder: Path, **changed: str | bytes) -> None:
    """A workbook of one sheet, S, with parts that may be others."""
    (folder / "x.xlsx").write_bytes(workbook(**changed))


def test_one_sheet_needs_no_name(tmp_path: Path) -> None:
    archive(tmp_path)
    assert read(tmp_path, "{file: x.xlsx, range: A1:B1}").given["Q"].value.tolist() == [[1, -2.5]]


@pytest.mark.parametrize(
    "sheet",
    [
        "<w><row/><row><c><v>9</v></c><c><v>1</v></c><c/></row><row><c/><c><v>2</v></c></row></w>",
        (
            '<w><row r="2"><c/><c><v>1</v></c></row><row><c'
            ' r="B3"><v>2</v></c><c><v>9</v></c></row></w>'
        ),
        (
            '<w><row r="2"><c r="A2"/><c><v>1</v></c></row><row r="3"><c r="A3"/><c'
            ' r="B3"><v>2</v></c></row></w>'
        ),
    ],
)
def test_cells_without_addresses_follow_each_other(tmp_path: Path, sheet: str) -> None:
    """As ECMA-376 allows, 18.3.1.4 and 18.3.1.73."""
    archive(tmp_path, sheet=sheet)
    assert read(tmp_path, "{file: x.xlsx, range: B2:B3, transpose: true}").given[
        "Q"
    ].value.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("cell", "said", "help"),
    [
        (
            '<c t="b"><v>1</v></c>',
            "is a truth value, and others are numbers",
            "write 1 or 0 there, or choose other cells",
        ),
        (
            '<c t="d"><v>2026-01-02</v></c>',
            "is a date",
            "a spreadsheet makes a date of 1/2: write =1/2 there, or 0.5, and",
        ),
        ('<c t="str"><v>1\u00a0000</v></c>', "is the text 1\u00a0000, and no number", "write 1000"),
        ('<c t="str"><v>1.000,5</v></c>', "is the text 1.000,5, and no number", "write 1000.5"),
        ('<c t="str"><v>50 %</v></c>', "is the text 50 %, and no number", "write 50/100"),
    ],
)
def test_a_cell_that_is_nearly_a_number(tmp_path: Path, cell: str, said: str, help: str) -> None:
    archive(tmp_path, sheet=f"<w><row>{cell}<c><v>2</v></c></row></w>")
    (tmp_path / "p.yaml").write_text(f"Q: {{file: x.xlsx, range: A1:B1}}\n{KV}", encoding="utf-8")
    with pytest.raises(AttncliError) as caught:
        load(str(tmp_path / "p.yaml"))
    assert caught.value.message.endswith(f"S!A1 in x.xlsx {said}")
    assert str(caught.value.help).startswith(help)


BOMB = '<!DOCTYPE s [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
DAMAGED = "Q.file: x.xlsx is not a readable .xlsx file: "


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"sheet": f'{BOMB}<worksheet><c r="A1"><v>&b;</v></c></worksheet>'},
            DAMAGED + "it declares a document type, as no spreadsheet does",
        ),
        (
            {"book": f"{BOMB}<workbook/>"},
            DAMAGED + "it declares a document type, as no spreadsheet does",
        ),
        ({"book": "<workbook/>"}, DAMAGED + "it has no sheets"),
        ({"book": "<workbook>"}, DAMAGED + "it is damaged"),
        ({"relations": "<Relationships/>"}, DAMAGED + "it has no part for this sheet"),
        (
            {"relations": '<R><Relationship Id="1" Target="../../etc/passwd"/></R>'},
            DAMAGED + "it has no etc/passwd",
        ),
        ({"sheet": "<worksheet><c><v>1</v></c></worksheet>"}, DAMAGED + "a cell is in no row"),
        ({"sheet": '<w><row r="0"/></w>'}, DAMAGED + "a row has the number 0"),
        ({"sheet": '<w><row><c r="1A"/></row></w>'}, DAMAGED + "a cell has the address 1A"),
        (
            {"sheet": '<w><c r="A1"><v>one</v></c><c r="B1"><v>2</v></c></w>'},
            "Q.range: S!A1 in x.xlsx is the text one, and no number",
        ),
        (
            {"sheet": '<w><c r="A1"><v>1_000</v></c><c r="B1"><v>2</v></c></w>'},
            "Q.range: S!A1 in x.xlsx is the text 1_000, and no number",
        ),
        (
            {"sheet": '<w><c r="A1"><v>NaN</v></c><c r="B1"><v>2</v></c></w>'},
            "Q.range: S!A1 in x.xlsx is the text NaN, and no number",
        ),
        (
            {"sheet": '<w><c r="A1"><v>1e999</v></c><c r="B1"><v>2</v></c></w>'},
            "Q.range: S!A1 in x.xlsx is too large for a number",
        ),
        (
            {"sheet": '<w><c r="A1" t="s"><v>9</v></c><c r="B1"><v>2</v></c></w>'},
            "Q.range: S!A1 in x.xlsx is empty",
        ),
        (
            {"sheet": '<w><c r="A1"><f>1+1</f></c><c r="B1"><v>2</v></c></w>'},
            "Q.range: S!A1 in x.xlsx is a formula without a result",
        ),
        ({"sheet": b"<w>" + b" " * (2**26 + 1)}, "Q.file: x.xlsx unpacks to more than 64 MiB"),
    ],
)
def test_what_no_spreadsheet_writes(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    archive(tmp_path, **changed)
    assert wrong(tmp_path, "{file: x.xlsx, range: A1:B1}") == said


def test_what_is_no_workbook(tmp_path: Path) -> None:
    (tmp_path / "x.xlsx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and sectors")
    assert (
        wrong(tmp_path, "{file: x.xlsx, range: A1:B1}")
        == DAMAGED + "it is an .xls file, or it has a password"
    )
    (tmp_path / "x.xlsx").write_bytes(b"1,2")
    assert wrong(tmp_path, "{file: x.xlsx, range: A1:B1}") == DAMAGED + "it is not an archive"
    with zipfile.ZipFile(tmp_path / "x.xlsx", "w") as file:
        file.writestr("a", "b")
    assert wrong(tmp_path, "{file: x.xlsx, range: A1:B1}") == DAMAGED + "it has no xl/workbook.xml"


def test_nothing_behind_the_range_is_read(tmp_path: Path) -> None:
    archive(
        tmp_path,
        sheet='<w><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c><c r="A2"><v>3</v></c><broken',
    )
    assert read(tmp_path, "{file: x.xlsx, range: A1:B1}").given["Q"].value.tolist() == [[1, 2]]


@pytest.mark.long
def test_a_cut_file_is_an_error(tmp_path: Path) -> None:
    archive(tmp_path)
    whole = (tmp_path / "x.xlsx").read_bytes()
    for end in range(0, len(whole) - 1, 7):
        (tmp_path / "x.xlsx").write_bytes(whole[:end])
        wrong(tmp_path, "{file: x.xlsx, range: A1:B1}")
