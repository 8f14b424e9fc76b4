"""Markdown: whatever the labels hold, tables keep their cells and text stays text."""

import re
from html import unescape

from markdown_it import MarkdownIt
from pages import EVERY_BLOCK, HOSTILE, dot, grid, number, page

from attncli.equation.nodes import number_node
from attncli.equation.parser import parse_equation
from attncli.escaping import label, visible
from attncli.page.document import (
    Block,
    Formula,
    Heading,
    Listing,
    Paragraph,
    Table,
    Worked,
    WorkedLine,
    text,
)
from attncli.render import Style, render
from tests.cases import in_one_test

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
DOLLARS = Style(math="dollars")


def markdown(*blocks: Block, style: Style | None = None) -> str:
    return render(page(*blocks), "markdown", style)


def shown(source: str) -> list[str]:
    """The text of every inline run, as a reader sees it; fails where anything but bold and empty
    comments is in it.
    """
    runs = []
    for token in PARSER.parse(source):
        if token.type == "inline":
            kinds = {child.type for child in token.children or ()}
            assert kinds <= {
                "text",
                "text_special",
                "strong_open",
                "strong_close",
                "html_inline",
            }, kinds
            texts = [child.content for child in token.children or () if child.content != "<!-- -->"]
            runs.append("".join(texts))
    return runs


def test_a_matrix_is_a_table_with_bold_labels() -> None:
    assert (
        markdown(grid("S", ("I", "AI"), ("I", "AI"), "1 -inf", "3 0", hidden="-inf 0"))
        == "| $`S`$  |   I |  AI |\n"
        "| :----- | --: | --: |\n"
        "| **I**  |   1 |  -∞ |\n"
        "| **AI** |   3 | 0 · |\n"
        "\n"
        "· hidden by the mask\n"
    )


def test_the_sign_of_hidden_cells_is_explained_beside_closed_forms_too() -> None:
    exact = grid("E", ("I",), ("I", "AI"), "1.000 0", hidden="0")._replace(
        closed=((number_node(1), number_node(0)),)
    )
    assert markdown(exact).endswith("0 · |\n\n· hidden by the mask\n")


@in_one_test("written", HOSTILE)
def test_labels_survive_in_a_matrix(written: str) -> None:
    source = markdown(grid("S", (written, "b"), (written, "c"), "1 2", "3 4"), style=DOLLARS)
    name = label(written).replace("␣", r"$\sqcup$")
    assert shown(source)[1:] == [name, "c", name, "1", "2", "b", "3", "4"]


@in_one_test("written", HOSTILE)
def test_text_survives_everywhere_else(written: str) -> None:
    blocks = (
        Heading(written),
        Paragraph((written,)),
        Table((written,), (((written,),),)),
        Listing(((written,),)),
        Worked((WorkedLine(written, remark=(written,)),)),
    )
    runs = shown(markdown(*blocks))
    assert runs[:5] == [visible(written).strip()] * 5
    assert runs[5] == f"{label(written)}: {visible(written).strip()}"
    assert len(runs) == 6


@in_one_test(
    "line",
    ["# a", "- a", "+ a", "1. a", "12) a", "> a", "---", "===", "    code", "```", "~~~", "| a |"],
)
def test_text_begins_no_block(line: str) -> None:
    tokens = [token.type for token in PARSER.parse(markdown(Paragraph((line,))))]
    assert tokens == ["paragraph_open", "inline", "paragraph_close"]


def test_formulas_stand_in_fences_or_dollars() -> None:
    formula = Formula(parse_equation("S = Q @ K_T"), ((3, 4), (4, 3), (3, 3)))
    math = r"S = Q \, K^{\top} \qquad (3 \times 4) \cdot (4 \times 3) = (3 \times 3)"
    assert markdown(formula) == f"```math\n{math}\n```\n"
    assert markdown(formula, style=DOLLARS) == f"$$\n{math}\n$$\n"
    sentence = Paragraph(text("Divide by `sqrt(d_k)`."))
    assert markdown(sentence) == "Divide by $`\\sqrt{d_{k}}`$.\n"
    assert markdown(sentence, style=DOLLARS) == "Divide by $\\sqrt{d_{k}}$.\n"


def test_notes_are_alerts_on_github_and_quotes_elsewhere() -> None:
    note = Paragraph(("Mind this.",), kind="note")
    assert markdown(note) == "> [!NOTE]\n> Mind this.\n"
    assert markdown(note, style=DOLLARS) == "> **Note:** Mind this.\n"


def test_worked_lines_keep_labels_out_of_the_math() -> None:
    line = WorkedLine("a_b → c", dot(("2", "-2"), ("0", "1")), number("-4"), remark=("so",))
    assert (
        markdown(Worked((line,))) == "- **a\\_b → c**: $`2 \\cdot (-2) + 0 \\cdot 1 = -4`$ — so\n"
    )


def test_braces_balance_in_all_math() -> None:
    source = markdown(*EVERY_BLOCK, Formula(parse_equation("M[i, j] = where(j <= i, 0, -inf)")))
    found = re.findall(r"```math\n(.*?)\n```|\$`(.*?)`\$", source, re.DOTALL)
    formulas = [unescape(fence or inline) for fence, inline in found]
    assert len(formulas) == 21
    for formula in formulas:
        bare = formula.replace(r"\{", "").replace(r"\}", "")
        assert bare.count("{") == bare.count("}")
        assert bare.isascii()


def test_only_a_number_that_begins_a_list_is_escaped() -> None:
    written = render(
        page(Listing((("2.7 was used instead of e",), ("2. is no list",)))), "markdown"
    )
    assert "- 2.7 was used instead of e" in written
    assert "- &#50;. is no list" in written
