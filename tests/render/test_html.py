"""HTML: one file that asks for nothing, well formed, its text that of the terminal's page, and safe
with any label.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from pages import EVERY_BLOCK, HOSTILE, PRODUCT, grid, number, page

from attncli.equation.parser import parse_expression
from attncli.page.derivation import derivation
from attncli.page.document import (
    Block,
    Cell,
    Formula,
    Heading,
    Listing,
    Math,
    Paragraph,
    Table,
    Worked,
    WorkedLine,
    plain_line,
)
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.render import Style, render
from attncli.render.html.matrix import width
from attncli.render.html.text import raised
from attncli.tracing import run
from tests.cases import in_one_test

INPUTS = sorted((Path(__file__).parents[2] / "inputs").glob("*.[jy]*"))
FRAGMENT = Style(fragment=True)


def parsed(written: str) -> Element:
    """The page as a tree: it is written so that XML reads it too, so a tag that is not closed is a
    failure.
    """
    return ElementTree.fromstring(written.removeprefix("<!DOCTYPE html>\n"))


def body(*blocks: Block, title: str = "", style: Style = FRAGMENT) -> str:
    """What stands on a page between its head, or its style, and its end."""
    written = render(page(*blocks, title=title), "html", style)
    parsed(written)
    return written.split("</style>\n", 1)[1].removesuffix("</section>\n")


def text_of(element: Element) -> str:
    return "".join(element.itertext())


def cells(table: Element) -> list[list[str]]:
    """The numbers of a matrix, without what is only read aloud."""
    return [
        [cell.text or "" for cell in row if cell.get("class") != "name"] for row in table.iter("tr")
    ]


@pytest.mark.parametrize(
    "style", [Style(), Style(title=False), FRAGMENT], ids=["page", "untitled", "fragment"]
)
def test_every_block_is_well_formed(style: Style) -> None:
    written = render(page(*EVERY_BLOCK, title="A page"), "html", style)
    tree = parsed(written)
    assert not [
        element
        for element in tree.iter()
        if element.tag in ("script", "iframe", "object", "form", "img")
    ]
    # The name of a language of pictures looks like an address, and nothing is fetched from there.
    fetching = re.sub(r' xmlns="[^"]*"', "", written)
    assert not re.search(r"https?:|url\(|@import|\bon\w+=", fetching)
    tables = [*tree.iter("table")]
    assert len(tables) == 13
    for table in tables:
        assert table[0].tag == "caption"
        for head in table.iter("th"):
            assert head.get("scope") in ("row", "col")
            assert text_of(head).strip()
    names = [element.get("id") for element in tree.iter() if element.get("id")]
    assert len(names) == len({*names})


def test_the_head_forbids_whatever_might_be_loaded() -> None:
    tree = parsed(render(page(title="A & B"), "html"))
    assert tree.get("lang") == "en"
    policies = [meta.get("content", "") for meta in tree.iter("meta") if meta.get("http-equiv")]
    assert len(policies) == 1
    assert policies[0].startswith("default-src 'none'; ")
    assert "script-src" not in policies[0]
    assert tree.findtext("head/title") == tree.findtext("body/div/header/h1") == "A & B"


@pytest.mark.sampled(6)
@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name)
def test_every_line_and_number_is_that_of_the_terminal(path: Path) -> None:
    """Lines are the blocks' own as text, numbers those of their cells; only minus signs are
    longer.
    """
    document = derivation(run(load(str(path))), View())
    tree = parsed(render(document, "html"))
    lines = [line for block in document.blocks if isinstance(block, Worked) for line in block.lines]
    shown = [
        item for listing in tree.iter("ul") if listing.get("class") == "worked" for item in listing
    ]
    assert len(shown) == len(lines)
    for line, item in zip(lines, shown, strict=True):
        if not any(isinstance(piece, Math) for piece in line.remark):
            assert " ".join(text_of(item[-1]).split()) == " ".join(
                plain_line(line).replace("-", "−").split()
            )
    wanted = set(re.findall(r"[0-9]+\.[0-9]+", render(document, "table")))
    assert wanted <= set(re.findall(r"[0-9]+\.[0-9]+", " ".join(tree.itertext())))


def test_headings_go_down_one_level_at_a_time() -> None:
    blocks = (
        Heading("a"),
        Heading("b", part=True),
        Heading("c", 1),
        Heading("d", part=True),
        Heading("c", 1),
    )
    written = body(*blocks, title="T", style=Style())
    assert re.findall(r"<(h[1-6])>", written) == ["h1", "h2", "h2", "h3", "h2", "h3"]
    assert re.findall(r'<section id="(.*?)"', written) == ["a", "b", "b-c", "d", "d-c"]
    nested = body(*blocks, title="T")
    assert re.findall(r"<(h[1-6])>", nested) == ["h2", "h3", "h3", "h4", "h3", "h4"]
    assert " id=" not in nested


def test_a_list_of_contents_leads_to_every_section() -> None:
    words = ("Scores", "Weights", "Scores", "日本", "Output")
    tree = parsed(
        render(
            page(*(Heading(word, step="x" if word == "Output" else "") for word in words)), "html"
        )
    )
    links = [link.get("href") for link in tree.iter("a")]
    assert links == ["#scores", "#weights", "#scores-2", "#section", "#step-x"]
    assert links == [f"#{section.get('id')}" for section in tree.iter("section")]
    assert not [*parsed(render(page(Heading("a"), Heading("b")), "html")).iter("nav")]


def test_a_list_of_contents_has_the_sections_of_parts_unless_they_are_many() -> None:
    def listed(parts: int, sections: int) -> list[str | None]:
        blocks = [
            block
            for _ in range(parts)
            for block in (Heading("p", part=True), *[Heading("s", 1)] * sections)
        ]
        (contents,) = parsed(render(page(*blocks), "html")).iter("nav")
        return [link.get("href") for link in contents.iter("a")]

    assert listed(2, 1) == ["#p", "#p-s", "#p-2", "#p-2-s"]
    assert len(listed(4, 11)) == 48
    assert listed(4, 12) == ["#p", "#p-2", "#p-3", "#p-4"]


def test_a_long_label_has_lines_of_its_own_and_does_not_part_matrices_that_stand_side_by_side() -> (
    None
):
    long = "Donaudampfschifffahrtsgesellschaft"
    assert f'<th scope="row" class="long">{long}</th>' in body(
        grid("S", (long, "I"), ("a",), "1", "2")
    )
    assert width(grid("S", (long, "I"), (long,), "1", "2")) == 18 + 18 + 2  # and a gap
    nine, ten = "注意力机制的可视化", "注意力机制的可视化解"  # nine are as wide as 18 digits
    assert 'class="long"' not in body(grid("S", (nine,), ("a",), "1"))
    assert f'<th scope="row" class="long"><bdi>{ten}<' in body(grid("S", (ten,), ("a",), "1"))


def test_a_matrix_has_its_labels_as_heads() -> None:
    written = body(Heading("Scores"), grid("S", ("I", "AI"), ("I", "AI"), "1 -2.5", "1/3 sqrt(2)"))
    assert (
        written == '<section>\n<h3>Scores</h3>\n<div class="scroll"><table class="matrix">'
        '<caption class="unseen">Scores: S</caption>'
        '<thead><tr><td class="name" aria-hidden="true"><math><mi>S</mi></math></td>'
        '<th scope="col">I</th><th scope="col">AI</th></tr></thead>'
        '<tbody><tr><th scope="row">I</th><td>1</td><td>−2.5</td></tr>\n'
        '<tr><th scope="row">AI</th><td>1/3</td><td style="--d:1.45">√2</td></tr>\n'
        "</tbody></table></div>\n</section>\n"
    )


def test_points_stand_under_points() -> None:
    (table,) = parsed(f"<x>{body(grid('S', ('a', 'b', 'c'), (), '1', '2.25', '3.5'))}</x>").iter(
        "table"
    )
    assert [cell.get("style") for cell in table.iter("td")][2:] == ["--d:2.45", None, "--d:1"]


def test_operands_stand_before_the_product_and_a_wide_one_alone() -> None:
    tree = parsed(f"<x>{body(PRODUCT)}</x>")
    assert [text_of(sign) for sign in tree.iter("span") if sign.get("class") == "sign"] == [
        "·",
        "=",
    ]
    assert [table.find("caption/math") is not None for table in tree.iter("table")] == [
        True,
        True,
        False,
    ]
    long = grid("Q", ("a",), tuple("abcdefghijklmnopqrstuvwxyz"), " ".join(["1.5"] * 26))
    assert 'class="product"' not in body(PRODUCT._replace(factors=(long, PRODUCT.factors[1])))


def test_the_row_and_the_column_of_a_cell_are_marked() -> None:
    tree = parsed(f"<x>{body(PRODUCT._replace(meeting=(0, 1)))}</x>")
    marked = [
        [cell.text for cell in table.iter("td") if cell.get("class") == "marked"]
        for table in tree.iter("table")
    ]
    assert marked == [["2", "0"], ["2", "1"], ["4"]]


def test_verdicts_are_signs_and_words() -> None:
    verdicts = ("right", "carried", "rounding", "wrong", "missing")
    line = tuple(
        Cell("?" if verdict == "missing" else "1.5", verdict=verdict) for verdict in verdicts
    )  # type: ignore[arg-type]
    written = body(grid("S", ("I",), tuple("abcde"), "1 2 3 4 5")._replace(cells=(line,)))
    found = re.findall(
        r'<td class="(\w+)"[^>]*>([^<]*)<i aria-hidden="true">(.?)</i><span class="unseen"> (\w+)<',
        written,
    )
    assert found == [
        ("right", "1.5", "✓", "right"),
        ("carried", "1.5", "»", "carried"),
        ("rounding", "1.5", "≈", "rounding"),
        ("wrong", "1.5", "✗", "wrong"),
        ("missing", "?", "", "missing"),
    ]


def test_what_a_mask_hides_has_a_sign_that_is_explained() -> None:
    written = body(grid("Z", ("I", "AI"), ("I", "AI"), "0.5 -inf", "0.25 0", hidden="-inf 0"))
    assert '<td class="hidden">−∞</td>' in written
    assert '<td class="hidden">0<i>·</i></td>' in written
    assert '<p class="legend">· hidden by the mask</p>' in written
    assert "legend" not in body(grid("Z", ("I",), ("I", "AI"), "0.5 -inf", hidden="-inf"))


def luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_digits_can_be_read_on_every_shade() -> None:
    """WCAG 2 asks for a contrast of 4.5 at least."""
    shades = [place / 100 for place in range(101)]
    line = " ".join(map(str, shades))
    written = body(grid("A", ("I",), tuple("x" * 101), line, shaded=True))
    pairs = re.findall(r"background:#([0-9a-f]{6});color:#([0-9a-f]{6})", written)
    assert len(pairs) == 101
    for back, front in pairs:
        light, dark = sorted((luminance(back), luminance(front)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_room_to_write_is_a_field_that_says_which_number_is_asked_for() -> None:
    blank = grid("S", ("I",), ("a", 'b"'), "1 2")._replace(cells=((Cell(""), Cell("")),))
    fields = [*parsed(f"<x>{body(blank)}</x>").iter("input")]
    assert [field.get("aria-label") for field in fields] == ["S: I, a", 'S: I, b"']


def test_what_is_wider_than_a_phone_can_be_scrolled_with_the_keyboard() -> None:
    wide = grid("S", ("I",), tuple("abcdefghij"), " ".join(["0.125"] * 10))
    assert '<div class="scroll" style="--n:71" role="group" tabindex="0" aria-label="S">' in body(
        wide
    )
    assert "tabindex" not in body(grid("S", ("I",), ("a",), "1"))


def test_what_is_left_out_is_said() -> None:
    rows = tuple(f"t{place}" for place in range(8))
    ends = grid("r", rows, (), *map(str, range(8)))._replace(left_out=(("row", 50),))
    written = body(ends)
    assert '<p class="legend">left out: rows 5–46 of 50; --all shows all</p>' in written
    assert [row[-1] for row in cells(next(parsed(f"<x>{written}</x>").iter("table")))][1:] == [
        "0", "1", "2", "3", "…", "4", "5", "6", "7",
    ]  # fmt: skip


@in_one_test("label", [*HOSTILE, "</title></script><img onerror=alert(1)>", '"><b>', "&amp;"])
def test_what_a_person_wrote_is_text(label: str) -> None:
    blocks = (
        Heading(label),
        Paragraph((label,)),
        Listing(((label,),)),
        grid("S", (label,), (label,), "1"),
        grid("S", (label,), tuple("abcdefghij"), " ".join(["0.125"] * 10)),
        Worked((WorkedLine(label, remark=(label,)),)),
        Table((label,), (((label,),),)),
    )
    for style in (Style(), FRAGMENT):
        shown = render(page(*blocks, title=label), "html", style)
        plain = render(page(*(_with_plain(block) for block in blocks), title="x"), "html", style)
        tags = [element.tag for element in parsed(shown).iter() if element.tag != "bdi"]
        assert tags == [element.tag for element in parsed(plain).iter()]


def _with_plain(block: Block) -> Block:
    match block:
        case Heading():
            return block._replace(text="x")
        case Paragraph():
            return Paragraph(("x",))
        case Worked():
            return Worked((WorkedLine("x", remark=("x",)),))
        case Table():
            return Table(("x",), ((("x",),),))
        case Listing():
            return Listing((("x",),))
    return block._replace(rows=("x",), columns=block.columns if len(block.columns) > 1 else ("x",))  # type: ignore[union-attr]


def test_labels_do_not_turn_what_stands_beside_them() -> None:
    assert '<th scope="row"><bdi>שלום</bdi></th>' in body(grid("S", ("שלום",), ("a",), "1"))
    assert '<span><bdi dir="ltr">שלום&#8206; → &#8206;a</bdi></span>' in body(
        Worked((WorkedLine("שלום → a", result=number("1")),))
    )


def test_punctuation_and_its_number_stay_beside_a_formula() -> None:
    said = Math(parse_expression("d_k"))
    written = body(Paragraph((said, " = 12, ", said, " = d_v")))
    assert (
        re.sub(r"<math>.*?</math>", "d_k", written)
        == '<p class="lead"><span class="together">d_k = 12,</span> d_k = d_v</p>\n'
    )
    written = body(Paragraph(("Divide (by ", said, "), or (", said, ").")))
    assert (
        re.sub(r"<math>.*?</math>", "d_k", written)
        == '<p class="lead">Divide (by <span class="together">d_k)</span>, or <span'
        ' class="together">(d_k)</span>.</p>\n'
    )


def test_a_long_formula_can_be_scrolled() -> None:
    assert "tabindex" not in body(Formula(parse_expression("x + y")))
    assert 'aria-label="Formula"' in body(Formula(parse_expression(" + ".join(["scores"] * 9))))


def test_sections_and_lines_can_be_found_by_programs() -> None:
    tree = parsed(
        render(derivation(run(load(str(INPUTS[0].parent / "i_love_ai.yaml"))), View()), "html")
    )
    (section,) = (each for each in tree.iter("section") if each.get("id") == "step-scores")
    assert [table.get("data-array") for table in section.iter("table")] == ["Q", "K_T", "scores"]
    assert [line.get("data-cell") for line in section.iter("li")] == ["0,1", "1,0", "2,1"]


def test_small_matrices_with_a_sentence_each_may_stand_side_by_side() -> None:
    small, wide = (
        grid("X", ("I",), ("a",), "1"),
        grid("S", ("I",), tuple("abcdefghij"), " ".join(["0.125"] * 10)),
    )
    said = Paragraph(("Input.",))
    tree = parsed(f"<x>{body(Heading('Given'), said, small, said, wide, said, said, small)}</x>")
    section = tree.find("section")
    assert section is not None
    found = [each.get("class") or each.tag for each in section]
    assert found == ["h3", "pair", "p", "scroll", "p", "pair"]


def test_narrow_columns_are_as_wide_as_each_other() -> None:
    assert 'style="--w:4"' in body(grid("S", ("I", "love"), ("I", "love"), "1 5", "3 3"))
    assert "--w" not in body(grid("S", ("I",), ("I", "tokens"), "1 5"))


def test_a_picture_is_its_ends_with_their_digits() -> None:
    """A terminal draws a long heat map without digits. Here they are always there."""
    names = tuple(f"t{place}" for place in range(50))
    long = grid("A", names, names, *(" ".join(["0.25"] * 50) for _ in names), shaded=True)._replace(
        picture="rows"
    )
    written = body(long)
    assert written.count(">0.25</td>") == 8 * 8
    assert written.count('<td class="dots">…</td>') == 8 + 9
    assert (
        '<p class="legend">left out: rows 5–46 of 50 and columns 5–46 of 50; --all shows all</p>'
        in written
    )


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("e^2.887 ≈ 17.9", "e<sup><span>^</span>2.887</sup> ≈ 17.9"),
        ("e^(−1.2)·3", "e<sup><span>^(</span>−1.2<span>)</span></sup>·3"),
        ("2^3 + 2^4", "2<sup><span>^</span>3</sup> + 2<sup><span>^</span>4</sup>"),
        ("e^((1 + 2)·3)", "e^((1 + 2)·3)"),  # too tall for a line
    ],
)
def test_powers_stand_higher_and_are_read_with_their_sign(text: str, html: str) -> None:
    assert raised(text) == html
    assert re.sub("<.*?>", "", html) == text
