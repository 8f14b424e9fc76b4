"""The page in words: what a screen reader says, and what other programs can search."""

from __future__ import annotations

import pytest
from pages import EVERY_BLOCK, PRODUCT, closed_grid, dot, grid, number, page

from attncli.equation.parser import parse_equation
from attncli.page.document import (
    Block,
    Cell,
    Formula,
    Grid,
    Heading,
    Listing,
    Paragraph,
    Table,
    Worked,
    WorkedLine,
    text,
)
from attncli.render import FORMATS, Style, render
from tests.cases import in_one_test


def lines(
    *blocks: Block, width: int | None = None, encoding: str = "utf-8", title: str = ""
) -> list[str]:
    style = Style(ascii=True, width=width, encoding=encoding)
    return render(page(*blocks, title=title), "table", style).splitlines()


def test_a_matrix_has_a_line_for_each_row() -> None:
    assert lines(grid("K_T", ("d1", "d2"), ("I", "AI"), "1 -2.5", "1/3 -inf")) == [
        "K transposed, columns: I, AI",
        "row d1: 1, -2.5",
        "row d2: 1/3, -inf",
    ]


def test_a_vector_has_no_columns_and_a_single_row_no_label() -> None:
    assert lines(grid("r", ("I", "AI"), (), "25.368", "16.956")) == [
        "r:",
        "row I: 25.368",
        "row AI: 16.956",
    ]
    assert lines(grid("b", ("",), ("d1", "d2"), "1 2")) == ["b, columns: d1, d2", "row: 1, 2"]


def test_shades_and_what_is_hidden_are_words() -> None:
    shaded = grid("A", ("a",), tuple("vwxyz"), "0.1 0.3 0.6 1 0", hidden="0", shaded=True)
    assert (
        lines(shaded)[1]
        == "row a: 0.1 (very light), 0.3 (light), 0.6 (dark), 1 (very dark), 0 (hidden)"
    )


def test_verdicts_are_words() -> None:
    cells = (Cell("1", verdict="right"), Cell("2", verdict="wrong"), Cell("3", verdict="rounding"))
    judged = Grid(
        number("1"), ("a",), ("x", "y", "z", "w"), ((*cells, Cell("", verdict="missing")),)
    )
    assert lines(judged)[1] == "row a: 1 (right), 2 (wrong), 3 (rounding), blank"


def test_closed_forms_stand_before_their_decimals() -> None:
    assert lines(closed_grid())[1:] == [
        "row I: 1/sqrt(3) about 0.577, 0",
        "row AI: e^(5/sqrt(3)) about 17.935, 5/2 = 2.5",
    ]


@in_one_test(
    ("equation", "said"),
    [
        (
            "S[i, j] = sum(k, Q[i, k] * K_T[k, j])",
            "S[i, j] = sum over k of Q[i, k]*K transposed[k, j]",
        ),
        ("S = Q @ K_T", "S = Q times K transposed"),
        ("dV = transposed(A) @ dO", "dV = A transposed times dO"),
        ("Z = S / sqrt(d_k)", "Z = S / sqrt(d_k)"),
        ("r = row_sums(E)", "r = row sums of E"),
        ("m[i] = max(j, Z[i, j])", "m[i] = max over j of Z[i, j]"),
    ],
)
def test_formulas(equation: str, said: str) -> None:
    assert lines(Formula(parse_equation(equation))) == [said]


def test_worked_lines() -> None:
    line = WorkedLine("I → AI", dot(("2", "-1")), number("1.5"), holds=False, remark=("rounded",))
    assert lines(Worked((line, line._replace(work=None, remark=())))) == [
        "I to AI: 2*(-1) about 1.5; rounded",
        "I to AI: 1.5",
    ]


def test_headings_prose_and_tables() -> None:
    blocks = (
        Heading("Scores", 5, ((3, 4), (4, 2), (3, 2))),
        Paragraph(text("≈ `sqrt(d_k)` → 3")),
        Paragraph(("Write √3 for it; is it so?",), "note"),
        Paragraph(("✓ right; ≈ rounding: off by one unit",)),
        Table(("", "step", "shape"), ((("1",), ("Queries",), ("3×4",)),)),
        Listing((("one",), ("two",))),
    )
    assert lines(*blocks, title="I love AI") == [
        "I love AI", "",
        "Step 5: Scores, (3 by 4) times (4 by 2) = (3 by 2)", "",
        "about sqrt(d_k) to 3", "",
        "Note: Write sqrt(3) for it; is it so?", "",
        "right; rounding: off by one unit", "",
        "1. step: Queries; shape: 3 by 4", "",
        "one",
        "two",
    ]  # fmt: skip


def test_of_a_product_the_result_is_said_alone_and_of_a_cell_the_row_and_the_column() -> None:
    assert lines(PRODUCT) == ["S, columns: I, AI", "row I: 0, 4", "row AI: 1, 1"]
    assert lines(PRODUCT._replace(meeting=(1, 0), instead=())) == [
        "Q, row AI: 0, 1",
        "K transposed, column I: 0, 1",
    ]


def test_letters_stay_where_the_encoding_has_them() -> None:
    labels = grid("S", ("é", "日"), ("a",), "1", "2")
    assert lines(labels)[1:] == ["row é: 1", "row 日: 2"]
    assert lines(labels, encoding="latin-1")[1:] == ["row é: 1", "row \\u65e5: 2"]


def test_lines_are_wrapped_where_a_terminal_has_a_width() -> None:
    assert lines(grid("S", ("I",), ("a", "b", "c"), "1.25 1.25 1.25"), width=22) == [
        "S, columns: a, b, c",
        "row I: 1.25, 1.25,",
        "  1.25",
    ]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
def test_an_encoding_without_the_signs_gets_the_same(encoding: str) -> None:
    written = render(page(*EVERY_BLOCK), "table", Style(encoding=encoding))
    assert written == render(page(*EVERY_BLOCK), "table", Style(ascii=True))
    assert written.isascii()


def test_only_the_table_has_it() -> None:
    assert [name for name, row in FORMATS.items() if "--ascii" in row.options] == ["table"]
