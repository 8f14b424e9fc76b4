"""Workbooks as files: what an .xlsx file has besides formulas, and what it refuses."""

from __future__ import annotations

import importlib.util
import io
import math
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import attncli
from attncli.cli.main import run as command
from attncli.errors import AttncliError
from attncli.page.derivation import derivation
from attncli.page.view import View
from attncli.page.workbook import with_workbook
from attncli.problem.loader import load
from attncli.problem.model import Problem
from attncli.render import xlsx as renderer
from attncli.render.xlsx import limits, xlsx
from tests.conformance.spreadsheet import Spreadsheet, ValueFault

pytest.importorskip("xlsxwriter")


MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
INPUTS = Path(__file__).parents[2] / "inputs"
SMALL = {"Q": [[1, 0], [0, 2]], "K": [[1, 1], [0, 1]], "V": [[1], [5]]}


def file_of(problem: Problem | dict[str, Any], view: View | None = None) -> bytes:
    trace = attncli.trace(problem) if isinstance(problem, Problem) else attncli.trace(**problem)
    view = view or View()
    return xlsx(with_workbook(derivation(trace, view), trace, view))


def part(file: bytes, name: str) -> str:
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        return archive.read(name).decode()


def sheet_names(file: bytes) -> list[str]:
    return [
        sheet.attrib["name"]
        for sheet in ElementTree.fromstring(part(file, "xl/workbook.xml")).iter(f"{MAIN}sheet")
    ]


def texts(file: bytes) -> list[str]:
    entries = ElementTree.fromstring(part(file, "xl/sharedStrings.xml"))
    return ["".join(piece.text or "" for piece in entry.iter(f"{MAIN}t")) for entry in entries]


@pytest.mark.parametrize(
    "label", ["=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("http://a.b","x")', "http://a.b", "{=1}"]
)
def test_a_label_is_text(label: str) -> None:
    file = file_of(SMALL | {"tokens": [label, "b"], "title": label})
    xml = part(file, "xl/worksheets/sheet1.xml")
    assert label in texts(file)
    assert not [
        formula
        for formula in re.findall("<f>(.*?)</f>", xml)
        if formula in label or "http" in formula
    ]
    assert "<hyperlink" not in xml
    quoted = [
        form
        for form in re.findall("<xf .*?>", part(file, "xl/styles.xml"))
        if 'quotePrefix="1"' in form
    ]
    assert quoted  # so it stays text if somebody edits it


def test_a_label_with_unseen_characters_is_shown() -> None:
    found = texts(file_of(SMALL | {"tokens": ["a\u202eb", "_x0041_"]}))
    assert r"a\u202eb" in found
    assert "_x005F_x0041_" in found  # which stands for the text _x0041_, that else would be an A


def test_a_fraction_is_a_formula(problem: Callable[..., Problem]) -> None:
    given = {"Q": [["1/3", "0.50"]], "K": [["1", "sqrt(2)"]], "V": [["-2/5"]]}
    xml = part(file_of(problem(**given)), "xl/worksheets/sheet1.xml")
    assert {"1/3", "SQRT(2)", "-(2/5)"} <= {*re.findall("<f>(.*?)</f>", xml)}
    assert re.search(r"<c [^>]*><v>0\.5</v>", xml)


def test_heads_have_sheets_of_their_own() -> None:
    random = {
        "X": [[1, 0], [0, 1]],
        "W_Q": [[1, 0], [0, 1]],
        "W_K": [[1, 2], [0, 1]],
        "W_V": [[1, 0], [3, 1]],
    }
    file = file_of(random | {"heads": 2})
    assert sheet_names(file) == ["What all heads share", "Head 0", "Head 1", "All heads together"]
    assert "'What all heads share'!" in part(file, "xl/worksheets/sheet2.xml")
    assert sheet_names(file_of(random | {"heads": 2}, View(head=1))) == ["Derivation"]


def test_heads_of_the_backward_pass_have_sheets_of_their_own() -> None:
    random = {
        "X": [[1, 0], [0, 1]],
        "W_Q": [[1, 0], [0, 1]],
        "W_K": [[1, 2], [0, 1]],
        "W_V": [[1, 0], [3, 1]],
    }
    trace = attncli.trace(
        **random, heads=2, loss={"kind": "mse", "target": [[1, 0], [0, 1]]}, gradient=True
    )
    names = sheet_names(xlsx(with_workbook(derivation(trace, View()), trace, View())))
    assert names == [
        "What all heads share",
        "Head 0",
        "Head 1",
        "All heads together",
        "All heads together, loss",
        "Before the heads, back",
        "Head 0, back",
        "Head 1, back",
        "All heads together, back",
    ]


def test_a_gradient_to_fill_in(tmp_path: Path) -> None:
    """The gradient of 1/2 is the number of V that it is multiplied by: dA = dO·V."""
    (tmp_path / "p.yaml").write_text("Q: [[1]]\nK: [[1], [1]]\nV: [[4], [6]]\n")
    assert (
        command(
            [
                "worksheet",
                str(tmp_path / "p.yaml"),
                "--gradient",
                "-q",
                "-o",
                str(tmp_path / "p.xlsx"),
            ]
        )
        == 0
    )
    file = (tmp_path / "p.xlsx").read_bytes()
    number = number_of(file, "Gradient of the attention weights")
    assert colors(file, number, {number: 4.0}) == ["green"]
    assert colors(file, number, {number: 6.0}) == ["red"]


@pytest.mark.parametrize(
    "option", [["--verify"], ["--step-size", "0.1"], ["--steps", "d_Q"], ["--dtype", "float32"]]
)
def test_what_a_workbook_of_a_gradient_has_not(
    option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.yaml").write_text("Q: [[1]]\nK: [[1], [1]]\nV: [[4], [6]]\n")
    assert (
        command(["gradient", str(tmp_path / "p.yaml"), *option, "-o", str(tmp_path / "p.xlsx")])
        == 2
    )
    assert f"{' '.join(option[:1])}" in capsys.readouterr().err
    assert not (tmp_path / "p.xlsx").exists()


@pytest.mark.parametrize("gradient", [False, True])
def test_from_python_it_is_the_same_file(gradient: bool, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("Q: [[1]]\nK: [[1], [1]]\nV: [[4], [6]]\n")
    name = "gradient" if gradient else "compute"
    assert (
        command(
            [name, str(tmp_path / "p.yaml"), "--precision", "2", "-o", str(tmp_path / "p.xlsx")]
        )
        == 0
    )
    attncli.trace(tmp_path / "p.yaml", gradient=gradient).to_xlsx(tmp_path / "q.XLSX", precision=2)
    assert (tmp_path / "q.XLSX").read_bytes() == (tmp_path / "p.xlsx").read_bytes()


@pytest.mark.parametrize(
    ("name", "choices", "code", "said"),
    [
        ("p.ods", {}, 2, "the name of a workbook ends in .xlsx"),
        ("p.xlsx", {"dtype": "float32"}, 2, "float64"),
        ("p.xlsx", {"rounding": "paper"}, 2, "float64"),
        ("no/p.xlsx", {}, 4, "there is no folder"),
    ],
)
def test_from_python_it_is_refused(
    name: str, choices: dict[str, Any], code: int, said: str, tmp_path: Path
) -> None:
    trace = attncli.trace(**SMALL, **choices)
    with pytest.raises(AttncliError, match=said) as found:
        trace.to_xlsx(tmp_path / name)
    assert found.value.exit_code == code


def test_the_formula_in_the_documentation_is_that_of_its_cell() -> None:
    page = (INPUTS.parent / "docs" / "how-to" / "workbooks.md").read_text(encoding="utf-8")
    assert "attncli compute inputs/causal.yaml -o problem.xlsx" in page
    said = re.search(r"`(\w+)` is a score.*?```text\n=(.*?)\n```", page, re.DOTALL)
    assert said
    file = file_of(load(str(INPUTS / "causal.yaml")))
    book = Spreadsheet(file)
    assert book.cells["Derivation", said[1]] == said[2]
    assert book.rows(number_of(file, "Scores"))[0][0] == ("Derivation", said[1])


def test_no_printed_page_tears_a_matrix() -> None:
    """The first row of every page but the first is a heading, or what says which given matrix
    follows.
    """
    file = file_of(load(str(INPUTS / "i_love_ai.yaml")))
    xml, book = part(file, "xl/worksheets/sheet1.xml"), Spreadsheet(file)
    assert 'fitToHeight="0"' in xml
    breaks = [int(row) for row in re.findall(r'<brk id="(\d+)"', xml)]
    rows = {int(key[1][1:]) for key in book.cells if key[1].startswith("A")}
    pages = [*breaks, max(rows)]
    assert len(breaks) >= 1
    # rows of an A4 page
    assert all(1 < end - begin < 50 for begin, end in zip([0, *breaks], pages, strict=True))
    for row in breaks:
        assert re.match(r"\d+\. |.* \(\d×\d\)$", book.cells["Derivation", f"A{row + 1}"])


def test_long_given_numbers_are_shown_rounded_but_not_to_those_who_fill_in() -> None:
    found = {}
    for number in (0.12345, 0.1234567890123):
        for blank in (frozenset(), frozenset({"scores"})):
            file = file_of(SMALL | {"Q": [[number, 0]]}, View(blank=blank))
            xml, styles = part(file, "xl/worksheets/sheet1.xml"), part(file, "xl/styles.xml")
            style = int(re.findall(rf's="(\d+)"><v>{number}</v>', xml)[0])
            format = re.findall('<xf numFmtId="(\\d+)"', styles.partition("<cellXfs")[2])[style]
            width = float(re.findall(r'<col min="2" .*?width="([\d.]+)"', xml)[0])
            found[number, bool(blank)] = format != "0", width > 12
    assert found == {
        (0.12345, False): (False, False),
        (0.12345, True): (False, False),
        (0.1234567890123, False): (True, False),
        (0.1234567890123, True): (False, True),
    }


@pytest.mark.parametrize(
    ("label", "lines"),
    [
        ("a few words of a sentence that goes on and on, up to sixty", 3),
        ("x" * 60, 3),
        ("字" * 30, 3),
        ("short", 1),
    ],
)
def test_long_labels_have_several_lines(label: str, lines: int) -> None:
    """Beside rows and above columns, which stay as wide as others are; no row cuts off a line of 15
    points.
    """
    file = file_of(SMALL | {"tokens": [label, "b"]})
    xml = part(file, "xl/worksheets/sheet1.xml")
    first, second = re.findall(r'<col min="[12]" .*?width="([\d.]+)"', xml)
    assert (float(first) < 31, float(second) < 17) == (True, True)
    row = re.sub(r"\D", "", Spreadsheet(file).rows(2)[0][0][1])  # the first of the scores
    for at, least in ((int(row), lines), (int(row) - 1, lines + (lines > 1))):
        height = float((re.findall(rf'<row r="{at}"[^>]* ht="([\d.]+)"', xml) or ["15"])[0])
        assert 15 * least <= height <= 15 * (least + 2)
    assert label in texts(file)
    assert 'wrapText="1"' in part(file, "xl/styles.xml")


def test_a_label_that_is_too_long_is_shortened() -> None:
    shown = [
        each
        for each in texts(file_of(SMALL | {"tokens": ["word " * 100, "b"]}))
        if each.startswith("word")
    ]
    assert shown
    assert all(len(each) <= 80 and "(500 characters)" in each for each in shown)


def test_the_same_problem_is_the_same_file() -> None:
    assert file_of(SMALL) == file_of(SMALL)


def test_too_many_formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attncli.page.workbook.MOST_FORMULAS", 21)
    with pytest.raises(
        AttncliError, match="the workbook would have 24 formulas, and 21 is the most"
    ) as found:
        file_of(SMALL)
    assert found.value.exit_code == 2


def test_a_formula_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LONGEST_FORMULA", 12)
    with pytest.raises(
        AttncliError, match=r"the formula of scores\[0, 0\] has 16 characters, and Excel reads 12"
    ):
        file_of(SMALL)


@pytest.mark.parametrize(("limit", "what"), [("MOST_ROWS", "rows"), ("MOST_COLUMNS", "columns")])
def test_a_sheet_that_is_too_large(limit: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, limit, 2)
    with pytest.raises(AttncliError, match=rf"would have \d+ {what}, and Excel has 2"):
        file_of(SMALL)


def number_of(file: bytes, title: str) -> int:
    """The number of the step with this title."""
    return next(
        int(text.partition(".")[0]) for text in texts(file) if re.match(rf"\d+\. {title}", text)
    )


def colors(
    file: bytes,
    step: int,
    cells: Mapping[int, object],
    others: Mapping[tuple[str, str], object] | None = None,
) -> list[str]:
    """Which of green and red the first cell of a step takes, where the first cells of some steps
    are filled in, and others typed over.
    """
    book = Spreadsheet(file)
    for key, typed in (others or {}).items():
        book.set(key, typed)
    places = {each: "B" + re.sub(r"\D", "", book.rows(each)[0][0][1]) for each in cells}
    for each, value in cells.items():
        book.set(("Derivation", places[each]), value)
    formats = ElementTree.fromstring(part(file, "xl/worksheets/sheet1.xml")).iter(
        f"{MAIN}conditionalFormatting"
    )
    (rules,) = [each for each in formats if each.attrib["sqref"].partition(":")[0] == places[step]]
    found = [str(rule.findtext(f"{MAIN}formula")) for rule in rules]
    return [
        name
        for name, rule in zip(("green", "red"), found, strict=True)
        if book.formula(rule, "Derivation") is True
    ]


def blank(*steps: str) -> View:
    return View(blank=frozenset(steps))


@pytest.mark.parametrize(
    ("value", "color"),
    [
        (0.707, "green"),
        (0.7074, "green"),
        (0.708, "red"),
        (2**-0.5, "green"),
        ("0.707", "red"),
        ("", "red"),
    ],
)
def test_a_number_that_is_filled_in_takes_a_color(value: float | str, color: str) -> None:
    """The first scaled score is 1/√2."""
    assert colors(file_of(SMALL, blank("scaled")), 3, {3: value}) == [color]


def test_what_follows_from_a_wrong_number_is_right() -> None:
    """The first score is 1, and the first scaled score 1/√2; from a score of 2 follows √2."""
    file = file_of(SMALL, blank("scores", "scaled"))
    assert colors(file, 3, {3: 1.414}) == ["red"]
    assert colors(file, 3, {3: 1.414, 2: 2.0}) == ["green"]
    assert colors(file, 3, {3: 0.707, 2: 2.0}) == ["green"]
    assert colors(file, 3, {3: 0.0}) == ["red"]  # although 0 would follow from an empty cell


@pytest.mark.parametrize("typed", ["drei", "2,0", "2.0", True, ValueFault("#DIV/0!")])
def test_what_is_no_number_is_as_an_empty_cell_for_all_that_follows(typed: object) -> None:
    """Some spreadsheets would calculate with the text 2.0, from which a scaled score of √2
    follows.
    """
    file = file_of(SMALL, blank("scores", "scaled"))
    assert colors(file, 2, {2: typed}) == ["red"]
    assert colors(file, 3, {2: typed, 3: 0.707}) == ["green"]
    assert colors(file, 3, {2: typed, 3: 1.414}) == ["red"]
    assert colors(file, 3, {2: typed, 3: 0.0}) == ["red"]


def test_a_sum_needs_a_number_in_each_cell() -> None:
    """Which it would leave out: r = e^0 + e^0 = 2, and of text and e^0 it would be 1."""
    file = file_of({"Q": [[0]], "K": [[1], [2]], "V": [[1], [5]]}, blank("exp", "row_sum"))
    exp, row_sum = (number_of(file, title) for title in ("Exponentials", "Row sums"))
    assert colors(file, row_sum, {exp: "one", row_sum: 2.0}) == ["green"]
    assert colors(file, row_sum, {exp: "one", row_sum: 1.0}) == ["red"]


def test_a_division_by_a_wrong_zero_leaves_the_right_numbers_green() -> None:
    """Both weights are 1/2; from a row sum of 0 nothing follows."""
    file = file_of({"Q": [[0]], "K": [[1], [2]], "V": [[1], [5]]}, blank("row_sum", "weights"))
    row_sum, weights = (number_of(file, title) for title in ("Row sums", "Attention weights"))
    assert colors(file, weights, {row_sum: 0.0, weights: 0.5}) == ["green"]
    assert colors(file, weights, {row_sum: 0.0, weights: 0.4}) == ["red"]
    assert colors(file, weights, {row_sum: 2.5, weights: 0.4}) == ["green"]


def test_a_given_number_that_became_text_leaves_numbers_without_a_color() -> None:
    file = file_of(SMALL, blank("scores"))
    given = Spreadsheet(file).rows_below("Queries ")[0][0]
    assert colors(file, 2, {2: 1.0}, {given: "one"}) == []


def test_a_hidden_score_is_text() -> None:
    file = file_of({**SMALL, "mask": {"keep": [[False, True], [True, True]]}}, blank("masked"))
    assert colors(file, 5, {5: "-inf"}) == ["green"]
    assert colors(file, 5, {5: 0.707}) == ["red"]


def test_what_follows_from_a_wrong_mask_is_hidden() -> None:
    """The mask hides nothing; from one that hides the first key, −∞ follows, and an exponential of
    0.
    """
    file = file_of(
        {**SMALL, "mask": {"additive": [[0, -1], [0, 0]]}}, blank("mask", "masked", "exp")
    )
    assert colors(file, 4, {4: "-inf"}) == ["red"]
    assert colors(file, 5, {4: "-inf", 5: "-inf"}) == ["green"]
    assert colors(file, 5, {4: 0.0, 5: "-inf"}) == ["red"]
    assert colors(file, 6, {4: "-inf", 5: "-inf", 6: 0.0}) == ["green"]


def test_what_is_not_blank_is_that_of_the_key() -> None:
    book = Spreadsheet(file_of(SMALL, blank("scores")))
    score = "B" + re.sub(r"\D", "", book.rows(2)[0][0][1])
    book.set(("Derivation", score), 100.0)
    assert book.value(book.rows(3)[0][0]) == pytest.approx(2**-0.5)
    exponential = math.exp(2**-0.5)
    assert book.value(book.rows(7)[0][0]) == pytest.approx((exponential + 5) / (exponential + 1))


def test_the_answers_are_hidden() -> None:
    file = file_of(SMALL, blank("scores"))
    xml = part(file, "xl/worksheets/sheet1.xml")
    first, last = re.search(r'<col min="(\d+)" max="(\d+)"[^>]* hidden="1"', xml).groups()  # type: ignore[union-attr]
    columns = {re.sub(r"\d", "", address) for address in re.findall(r'<c r="(\w+)"[^>]*><f>', xml)}
    numbers = {
        sum(26**at * (ord(letter) - 64) for at, letter in enumerate(name[::-1])) for name in columns
    }
    assert all(number < 4 or int(first) <= number <= int(last) for number in numbers)
    score = re.sub(r"\D", "", Spreadsheet(file).rows(2)[0][0][1])
    assert re.search(f'<c r="B{score}"[^>]*/>', xml)


def test_without_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        renderer,
        "find_spec",
        lambda name: None if name == "xlsxwriter" else importlib.util.find_spec(name),
    )
    problem, book = tmp_path / "p.yaml", tmp_path / "p.xlsx"
    problem.write_text("Q: [[1]]\nK: [[1]]\nV: [[1]]\n")
    assert command(["compute", str(problem), "-o", str(book)]) == 5
    assert "pip install 'attncli[xlsx]'" in capsys.readouterr().err
    assert not book.exists()


def test_a_number_that_is_too_large_for_a_spreadsheet() -> None:
    file = file_of({"Q": [[1e300]], "K": [[1e300]], "V": [[1]], "scale": "none"})
    assert re.search('t="e"><f>[^<]*</f><v>#NUM!</v>', part(file, "xl/worksheets/sheet1.xml"))
