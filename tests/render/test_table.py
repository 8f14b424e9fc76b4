"""The page for a terminal: aligned, never cropped, marked without colour too."""

import re
from pathlib import Path

import pytest
from pages import HOSTILE, closed_grid, dot, grid, number, page
from rich.cells import cell_len

from attncli.equation.parser import parse_equation
from attncli.page.derivation import derivation
from attncli.page.document import (
    Formula,
    Heading,
    Paragraph,
    Shading,
    Table,
    Worked,
    WorkedLine,
    text,
)
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.render import Style, render
from attncli.tracing import run
from tests.cases import in_one_test

INPUTS = Path(__file__).parents[2] / "inputs"

TOKENS = ("I", "love", "AI")
SHAPES = ((3, 4), (4, 3), (3, 3))


def lines(*blocks: object, style: Style | None = None) -> list[str]:
    return render(page(*blocks), "table", style).splitlines()  # type: ignore[arg-type]


def test_a_matrix_has_its_labels_outside_the_brackets() -> None:
    assert lines(grid("S", TOKENS, TOKENS, "1 5 3", "3 3 3", "2 4 3")) == [
        "    S         I  love    AI",
        "    I    ⎡    1     5     3 ⎤",
        "    love ⎢    3     3     3 ⎥",
        "    AI   ⎣    2     4     3 ⎦",
    ]


def test_decimal_points_stand_under_each_other() -> None:
    assert lines(
        grid("E", ("a", "b", "c"), ("d1",), "1.5", "-inf", "10.068"), style=Style(width=80)
    ) == [
        "    E       d1",
        "    a ⎡  1.5   ⎤",
        "    b ⎢ -∞     ⎥",
        "    c ⎣ 10.068 ⎦",
    ]


def test_numbers_end_together_where_one_of_them_is_a_fraction() -> None:
    """A fraction has no point that could stand under another."""
    rows = ("1/2 0.25", "-1 3/4", "0.2 sqrt(2)")
    assert lines(grid("Q", ("a", "b", "c"), ("d1", "d2"), *rows)) == [
        "    Q     d1    d2",
        "    a ⎡  1/2  0.25 ⎤",
        "    b ⎢   -1   3/4 ⎥",
        "    c ⎣  0.2    √2 ⎦",
    ]


def test_what_a_mask_hides_is_marked_without_colour_and_explained() -> None:
    assert lines(grid("A", ("a", "b"), ("a", "b"), "1 0", "0.5 0.5", hidden="0")) == [
        "    A       a    b",
        "    a ⎡   1    0 ·   ⎤",
        "    b ⎣   0.5  0.5   ⎦",
        "",
        "    · hidden by the mask",
    ]


def test_what_a_mask_hides_has_no_shade_in_a_heat_map() -> None:
    shaded = grid("A", ("a",), ("x", "y"), "1 0", hidden="0", shaded=True)
    assert lines(shaded)[1] == "    a [ 1 █  0 · ]"
    written = render(page(shaded), "table", Style(color=True))
    assert "\x1b[2m0\x1b[0m" in written
    assert "without a colour: hidden by the mask" in written


def test_a_heat_map_keeps_the_digits_and_shades_without_colour() -> None:
    shaded = grid("A", ("a",), ("w", "x", "y", "z"), "0.1 0.3 0.6 1", shaded=True)
    assert lines(shaded)[1] == "    a [ 0.1 ░  0.3 ▒  0.6 ▓    1 █ ]"


def test_a_heat_map_in_colour_goes_from_dark_to_light_with_readable_digits() -> None:
    shaded = grid("A", ("a",), ("x", "y"), "0 1", shaded=True)
    written = render(page(shaded), "table", Style(width=80, color=True))
    assert "\x1b[38;2;255;255;255;48;2;27;32;55m" in written  # white on dark blue
    assert "\x1b[38;2;0;0;0;48;2;208;250;230m" in written  # black on light green
    assert re.sub(r"\x1b\[[\d;]*m", "", written).endswith("  from 0 to 1\n")


def test_shades_beyond_the_last_one_are_said() -> None:
    shaded = grid("A", ("a",), ("x", "y"), "0 1", shaded=True)
    far = shaded._replace(shading=Shading("-1", "1", signed=True, least="-3", most="90"))
    assert lines(far)[-1] == "    ░▒▓█ from -1 to 1; beyond, down to -3 and up to 90"


WIDE = grid(
    "W",
    TOKENS,
    tuple(f"token{n}" for n in range(20)),
    *(" ".join(f"-{r}.{n:03}" for n in range(20)) for r in "123"),
)


@in_one_test("width", [1, 10, 20, 40, 79, 80, 81, 120, 1000, None])
def test_no_number_is_cropped_at_any_width(width: int | None) -> None:
    written = render(page(WIDE), "table", Style(width=width))
    assert all(f"-{r}.{n:03}" in written for r in "123" for n in range(20))
    assert "…" not in written


@pytest.mark.parametrize("width", [24, 40, 80, 120])
def test_a_wide_matrix_comes_in_blocks_that_fit(width: int) -> None:
    written = lines(WIDE, style=Style(width=width))
    assert all(cell_len(line) <= width for line in written)


def test_blocks_of_columns_say_which_they_are() -> None:
    captions = [line.strip() for line in lines(WIDE, style=Style(width=80)) if "columns" in line]
    assert captions == ["columns 1–8 of 20", "columns 9–15 of 20", "columns 16–20 of 20"]


def test_a_matrix_is_in_one_piece_on_a_pipe() -> None:
    assert len(lines(WIDE)) == 4


@in_one_test("label", HOSTILE)
def test_brackets_stand_in_line_whatever_the_labels(label: str) -> None:
    written = lines(grid("S", (label, "b"), (label, "c"), "1 2", "3 4"), style=Style(width=200))
    first, second = (line.rindex(bracket) for line, bracket in zip(written[1:], "⎡⎣", strict=True))
    assert cell_len(written[1][:first]) == cell_len(written[2][:second])


def test_markup_in_a_label_is_only_text() -> None:
    assert "[red]x[/red] :smile:" in render(page(Paragraph(("[red]x[/red] :smile:",))), "table")


def test_shapes_stand_in_the_heading_where_there_is_room() -> None:
    formula = Formula(parse_equation("S = Q @ K_T"), SHAPES)
    wide = lines(Heading("Scores", 4, SHAPES), formula, style=Style(width=40))
    assert wide == ["── 4 Scores ──────── (3×4)·(4×3) = (3×3)", "", "    S = Q Kᵀ"]
    narrow = lines(Heading("Scores", 4, SHAPES), formula, style=Style(width=30))
    assert narrow == [
        "── 4 Scores ──────────────────",
        "    (3×4)·(4×3) = (3×3)",
        "",
        "    S = Q Kᵀ",
    ]


def test_worked_lines_are_aligned_at_their_results() -> None:
    worked = Worked(
        (
            WorkedLine("I", dot(("2", "2"), ("0", "1")), number("4")),
            WorkedLine("love", number("17.9"), number("18"), holds=False, remark=("rounded",)),
            WorkedLine("AI", remark=("hidden",)),
        )
    )
    assert lines(worked) == [
        "    I      2·2 + 0·1 = 4",
        "    love   17.9      ≈ 18  rounded",
        "    AI     hidden",
    ]


LONG = Worked((WorkedLine("I", dot(*[("0.123", "4.567")] * 6), number("3.37"), holds=False),))


def test_a_long_sum_breaks_before_operators_and_hangs() -> None:
    assert lines(LONG, style=Style(width=50)) == [
        "    I   0.123·4.567 + 0.123·4.567 + 0.123·4.567",
        "          + 0.123·4.567 + 0.123·4.567",
        "          + 0.123·4.567 ≈ 3.37",
    ]


def test_a_long_sum_is_one_line_on_a_pipe() -> None:
    assert len(lines(LONG)) == 1


def test_prose_wraps_at_words() -> None:
    written = lines(Paragraph(("word " * 60,)), style=Style(width=200))
    assert max(map(len, written)) <= 88
    assert " ".join(" ".join(written).split()) == ("word " * 60).strip()


def test_a_table_of_sentences_wraps_its_text_and_keeps_its_numbers() -> None:
    table = Table(
        ("step", "multiplications"),
        ((("a sentence too long for the line",), ("1234567890",)),),
        (1,),
    )
    written = lines(table, style=Style(width=36))
    assert written[2].endswith(" 1234567890")
    assert all(len(line) <= 36 for line in written)


def test_a_formula_in_a_table_is_never_broken_in_a_name_or_between_indices() -> None:
    cells = (("scores",), text("`exp(logits[i, j]) / sqrt(d_model) * Q[i, k]`"))
    assert lines(Table(("name", "formula"), (cells,)), style=Style(width=24))[2:] == [
        "  scores   exp(",
        "           logits[i, j])",
        "           / √d_model·",
        "           Q[i, k]",
    ]


def test_a_long_choice_is_written_case_by_case() -> None:
    choice = Formula(
        parse_equation(
            "T[i, k] = where(k < 2, Q[i, k] * cos(a[i, k]), where(k < 4, Q[i, k - 2], Q[i, 0]))"
        )
    )
    assert lines(choice, style=Style(width=40)) == [
        "    T[i, k]",
        "      = Q[i, k]·cos(a[i, k])  if k < 2",
        "      = Q[i, k - 2]  else if k < 4",
        "      = Q[i, 0]  else",
    ]
    assert lines(choice, style=Style(width=30))[1:3] == [
        "      = Q[i, k]·cos(a[i, k])",
        "        if k < 2",
    ]
    assert len(lines(choice, style=Style(width=120))) == 1


def test_a_long_formula_is_broken_before_its_operators() -> None:
    long = Formula(parse_equation("T[i, k] = Q[i, k + 1] * 1000 + K[i, k - 1] * 1000 - V[i, k]"))
    assert lines(long, style=Style(width=36)) == [
        "    T[i, k] = Q[i, k + 1]·1000",
        "      + K[i, k - 1]·1000 - V[i, k]",
    ]


TABLE = Table(
    ("", "step", "written as", "share"),
    (
        (("1",), ("exponentials",), ("all of everything",), ("70.7 %",)),
        (("12",), ("sums",), (), ("12345.6 %",)),
    ),
    (0, 3),
)


def test_a_table_too_narrow_for_its_columns_is_written_row_by_row() -> None:
    assert lines(TABLE, style=Style(width=36)) == [
        "  step         1 exponentials",
        "  written as   all of everything",
        "  share        70.7 %",
        "",
        "  step         12 sums",
        "  share        12345.6 %",
    ]
    assert lines(TABLE, style=Style(width=20)) == [
        "step",
        "  1 exponentials",
        "written as",
        "  all of everything",
        "share        70.7 %",
        "",
        "step         12 sums",
        "share",
        "  12345.6 %",
    ]
    # a number is never divided
    assert lines(TABLE, style=Style(width=10))[-2:] == ["share", "  12345.6 %"]


def test_columns_are_tight_and_long_words_divided_before_a_table_is_written_row_by_row() -> None:
    table = Table(
        ("student", "marks", "first"),
        ((("Lüdenscheidt-Hohenfels",), ("36 / 36",), ("output",)),),
        (1,),
    )
    assert lines(table, style=Style(width=37)) == [
        "  student               marks  first",
        "  ───────────────────────────────────",
        "  Lüdenscheidt-Hohen  36 / 36  output",
        "  fels",
    ]


def test_worked_lines_stand_under_their_labels_where_there_is_no_room_beside() -> None:
    work = WorkedLine(
        "quick → brown", dot(("-0.123", "-4.567"), ("1.5", "2")), number("3.562"), holds=False
    )
    assert lines(Worked((work,)), style=Style(width=33)) == [
        "    quick → brown   (-0.123)·",
        "                      (-4.567)",
        "                      + 1.5·2",
        "                      ≈ 3.562",
    ]
    assert lines(Worked((work,)), style=Style(width=24)) == [
        "    quick → brown",
        "      (-0.123)·(-4.567)",
        "        + 1.5·2 ≈ 3.562",
    ]


def test_the_blank_before_a_line_gives_way_to_a_name_that_needs_its_room() -> None:
    long = "attention_factor"
    choice = parse_equation(f"Q[i] = where(i < k, {long} * Q[i], Q[i])")
    # With the sign of an equation and that of a product, the name takes 19 of them.
    assert lines(Formula(choice), style=Style(width=20)) == [
        "Q[i]",
        f" = {long}·",
        "    Q[i] if i < k",
        "  = Q[i]  else",
    ]
    assert lines(Formula(choice), style=Style(width=24)) == [
        "    Q[i]",
        f"     = {long}·",
        "        Q[i] if i < k",
        "      = Q[i]  else",
    ]
    work = WorkedLine("a", number(f"1 + {long}"), number("2"))
    assert lines(Worked((work,)), style=Style(width=20))[-2:] == [f"  + {long}", "    = 2"]


def test_a_long_label_takes_several_lines_where_it_leaves_no_room_for_a_number() -> None:
    labels = ("the first of the words", "second", "third, and the last")
    assert lines(grid("V", labels, ("d1",), "1.25", "-2", "3"), style=Style(width=24)) == [
        "    V               d1",
        "    the first  ⎡  1.25 ⎤",
        "    of the     ⎢       ⎥",
        "    words      ⎢       ⎥",
        "    second     ⎢ -2    ⎥",
        "    third, and ⎢  3    ⎥",
        "    the last   ⎣       ⎦",
    ]
    assert len(lines(grid("V", labels, ("d1",), "1.25", "-2", "3"))) == 4


def test_wide_closed_forms_come_in_blocks_of_columns() -> None:
    assert lines(closed_grid(), style=Style(width=19))[:6] == [
        "column 1 of 2",
        "Z           I",
        "I  ⎡     1/√3 ⎤",
        "AI ⎣ e^(5/√3) ⎦",
        "",
        "column 2 of 2",
    ]


def test_the_legend_of_a_mask_wraps() -> None:
    masked = grid("A", ("a", "b"), ("a", "b"), "1 0", "0.5 0.5", hidden="0")
    assert lines(masked, style=Style(width=19))[-2:] == ["· hidden by the", "mask"]


def test_closed_forms_stand_beside_their_decimals_where_there_is_room() -> None:
    assert lines(closed_grid(), style=Style(width=80)) == [
        "    Z           I   AI              I     AI",
        "    I  ⎡     1/√3    0 ⎤  ≈  ⎡  0.577    0   ⎤",
        "    AI ⎣ e^(5/√3)  5/2 ⎦     ⎣ 17.935    2.5 ⎦",
    ]
    assert lines(closed_grid(), style=Style(width=30)) == [
        "    Z           I   AI",
        "    I  ⎡     1/√3    0 ⎤",
        "    AI ⎣ e^(5/√3)  5/2 ⎦",
        "",
        "    Z ≈        I     AI",
        "    I   ⎡  0.577    0   ⎤",
        "    AI  ⎣ 17.935    2.5 ⎦",
    ]


def test_titles_and_headings_fit_a_narrow_terminal() -> None:
    blocks = (
        Heading("Logarithm of each row's sum", number=14, shapes=((3, 4), (4, 3), (3, 3))),
        Heading("Of one head", part=True),
    )
    written = render(page(*blocks, title="Which word comes next?"), "table", Style(width=20))
    assert (
        written
        == "Which word comes\nnext?\n━━━━━━━━━━━━━━━━\n\n── 14 Logarithm of\n   each row's sum\n"
        "(3×4)·(4×3) = (3×3)\n\nOf one head\n━━━━━━━━━━━\n"
    )


@pytest.mark.each_choice
@pytest.mark.parametrize("width", [1, 20, 33])
@pytest.mark.parametrize("example", ["i_love_ai", "next_token", "multi_head", "batch"])
def test_nothing_is_left_out_of_a_narrow_page(example: str, width: int) -> None:
    """Every number and word of the page as wide as it is stands in the narrow one, where lines only
    break.
    """
    trace = run(load(str(INPUTS / f"{example}.yaml")))
    document = derivation(trace, View())
    wide, narrow = (render(document, "table", Style(width=each)) for each in (None, width))
    solid = "".join(narrow.split())
    assert not [
        word for word in re.findall(r"[^\W─━]+(?:[.×][^\W─━]+)*", wide) if word not in solid
    ]
