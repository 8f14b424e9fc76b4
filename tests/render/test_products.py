"""Matrices side by side: [Q]·[Kᵀ] = [S]; the matrix alone where the page is too narrow for all of
them.
"""

from __future__ import annotations

import pytest
from pages import PRODUCT, grid, page

from attncli.page.document import Product
from attncli.render import Style, render
from attncli.render.latex import FRAGMENT_BEGINS, FRAGMENT_ENDS
from attncli.render.latex.matrix import ABOVE_THE_ROWS


def table(product: Product, width: int | None = None, **style: str) -> str:
    return render(page(product), "table", Style(width=width, **style))  # type: ignore[arg-type]


def test_matrices_side_by_side_on_a_terminal() -> None:
    assert (
        table(PRODUCT, 80) == "    Q            Kᵀ           S     I  AI\n"
        "    ⎡ 2  0 ⎤  ·  ⎡ 0  2 ⎤  =  I  ⎡  0   4 ⎤\n"
        "    ⎣ 0  1 ⎦     ⎣ 1  1 ⎦     AI ⎣  1   1 ⎦\n"
    )


def test_a_narrow_terminal_has_the_result_alone() -> None:
    whole = max(map(len, table(PRODUCT, 80).splitlines()))
    assert "Q" in table(PRODUCT, whole)
    alone = "    S     I  AI\n    I  ⎡  0   4 ⎤\n    AI ⎣  1   1 ⎦\n"
    assert table(PRODUCT, whole - 1) == table(PRODUCT, 30) == alone


def test_matrices_of_different_height_are_centred() -> None:
    tall = grid("W", ("",) * 4, ("a",), "1", "2", "3", "4")
    product = Product(
        (grid("X", ("I",), ("a",) * 4, "1 0 0 1"), tall), grid("Y", ("I",), ("a",), "6"), ()
    )
    product = product._replace(added=(grid("b", ("",), ("a",), "1"),))
    assert (
        table(product) == "                       W\n"
        "    X                  ⎡ 1 ⎤     b         Y   a\n"
        "    [ 1  0  0  1 ]  ·  ⎢ 2 ⎥  +  [ 1 ]  =  I [ 6 ]\n"
        "                       ⎢ 3 ⎥\n"
        "                       ⎣ 4 ⎦\n"
    )


def test_arrows_show_the_row_and_the_column_that_meet() -> None:
    assert (
        table(PRODUCT._replace(meeting=(1, 0)), 80)
        == "    Q              Kᵀ   ↓          S      I ↓   AI\n"
        "      ⎡ 2  0 ⎤  ·     ⎡ 0  2 ⎤  =  I    ⎡   0    4 ⎤\n"
        "    → ⎣ 0  1 ⎦        ⎣ 1  1 ⎦     AI → ⎣   1    1 ⎦\n"
    )


def test_what_meets_is_coloured() -> None:
    colored = table(PRODUCT._replace(meeting=(1, 0)), 80, color=True)  # type: ignore[arg-type]
    assert colored.count("\x1b[1;7m") == 5  # two of the row, two of the column, and the cell


def test_markdown_has_one_formula_and_the_labels_in_a_table() -> None:
    assert (
        render(page(PRODUCT), "markdown")
        == "```math\nS = \\overset{Q}{\\left[\\begin{array}{rr}\n2 & 0 \\\\\n0 &"
        " 1\n\\end{array}\\right]}\n\\cdot \\overset{K^{\\top}}{\\left[\\begin{array}{rr}\n0 & 2"
        " \\\\\n1 & 1\n\\end{array}\\right]}\n```\n\n| $`S`$  |   I |  AI |\n| :----- | --: |"
        " --: |\n| **I**  |   0 |   4 |\n| **AI** |   1 |   1 |\n"
    )


def test_markdown_boxes_what_meets() -> None:
    written = render(page(PRODUCT._replace(meeting=(1, 0))), "markdown")
    assert written.count(r"\boxed") == 5
    assert r"\boxed{0} & \boxed{1}" in written


@pytest.mark.parametrize("format", ["markdown", "latex"])
def test_what_is_too_wide_for_a_line_stands_alone(format: str) -> None:
    wide = grid("S", ("I",), ("a",) * 8, "1000.125 " * 8)
    product = Product((grid("Q", ("I",), ("a",), "1"), wide._replace(rows=("a",))), wide, (wide,))
    assert render(page(product), format) == render(page(wide), format)


def test_what_a_mask_hides_is_explained() -> None:
    hidden = grid("S", ("I", "AI"), ("I", "AI"), "0 4", "1 1", hidden="4")
    product = PRODUCT._replace(result=hidden, instead=(hidden,))
    assert table(product, 80).endswith("\n    · hidden by the mask\n")
    assert "Gray: hidden by the mask." in render(page(product), "latex")


def test_latex_has_the_names_above_the_factors_and_the_labels_at_the_result() -> None:
    assert (
        render(page(PRODUCT), "latex", Style(fragment=True))
        == f"{FRAGMENT_BEGINS}{{\\nopagebreak\\raggedright\\leftskip=1.5em"
        "\\parskip=4pt\\lineskip=4pt\\linepenalty=1000\n"
        "$\\mathop{\\left(\\begin{array}{@{\\,}cc@{\\,}}\n"
        "  \\hfill 2 & \\hfill 0 \\\\\n  \\hfill 0 & \\hfill 1\n"
        "\\end{array}\\right)}\\limits^{\\textstyle Q\\strut}\n"
        "\\cdot \\mathop{\\left(\\begin{array}{@{\\,}cc@{\\,}}\n"
        "  \\hfill 0 & \\hfill 2 \\\\\n  \\hfill 1 & \\hfill 1\n"
        "\\end{array}\\right)}\\limits^{\\textstyle K^{\\top}\\strut}\n"
        "\\;=\\;\\; \\rule{0pt}{\\dimexpr\\arraystretch\\normalbaselineskip*13/10+1.1em\\relax}\n"
        f"\\begin{{array}}{{@{{}}l@{{\\;}}}}{ABOVE_THE_ROWS}\n"
        "  S \\\\\n  \\hbox{I} \\\\\n  \\hbox{AI}\n\\end{array}\n"
        f"\\left(\\begin{{array}}{{@{{\\,}}cc@{{\\,}}}}{ABOVE_THE_ROWS}\n"
        "  \\hbox{I} & \\hbox{AI} \\\\\n"
        "  \\hfill 0 & 4 \\\\\n"
        "  \\hfill 1 & 1\n"
        f"\\end{{array}}\\right)$\\par}}{FRAGMENT_ENDS}"
    )


def test_latex_marks_what_meets_in_colour_bold_and_underlined() -> None:
    written = render(page(PRODUCT._replace(meeting=(1, 0))), "latex", Style(fragment=True))
    marked = [rf"\underline{{\color[rgb]{{0.7,0.1,0}}\mathbf{{{digit}}}}}" for digit in (0, 1)]
    # the row 0 1, the column 0 1, and the cell 1
    assert [written.count(each) for each in marked] == [2, 3]
    assert written.startswith("% Needs \\usepackage{color} in the preamble.\n")
