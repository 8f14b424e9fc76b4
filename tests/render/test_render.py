"""Formats are found by name, and each of them can say everything a page says."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pages import EVERY_BLOCK, HOSTILE, grid, page

from attncli.page.document import (
    Block,
    Heading,
    Listing,
    Paragraph,
    Room,
    Table,
    Worked,
    WorkedLine,
)
from attncli.render import FORMATS, Style, format_of, render
from tests.cases import in_one_test

STYLES = (
    Style(),
    Style(width=80),
    Style(width=80, color=True),
    Style(width=20),
    Style(width=1),
    Style(math="dollars"),
    Style(fragment=True),
    Style(encoding="ascii"),
    Style(encoding="cp437", width=80, color=True),
)


def test_every_kind_of_block_has_an_example() -> None:
    missing = {kind.__name__ for kind in get_args(Block)} - {
        type(block).__name__ for block in EVERY_BLOCK
    }
    assert not missing, f"give an example of {sorted(missing)} in EVERY_BLOCK of render/pages.py"


@in_one_test("format", [name for name, each in FORMATS.items() if not each.is_data])
@in_one_test("block", EVERY_BLOCK, ids=lambda block: type(block).__name__)
def test_no_format_leaves_a_block_out(format: str, block: Block) -> None:
    """Only room to write by hand is left out, where there is no paper."""
    with_it = render(page(block, title="A page"), format)
    without = render(page(title="A page"), format)
    is_left_out = isinstance(block, Room) and format in ("table", "markdown")
    assert (with_it == without) == is_left_out


def with_checks(value: Any) -> Iterator[Any]:
    """A block, or a part of one, with the sign of a right number in the place of one of its texts
    after the other.
    """
    if isinstance(value, str):
        yield f"{value}✓"
    elif isinstance(value, tuple):
        for place, part in enumerate(value):
            for changed in with_checks(part):
                parts = [*value[:place], changed, *value[place + 1 :]]
                yield value._make(parts) if hasattr(value, "_make") else tuple(parts)


def test_latex_loads_what_the_sign_of_a_right_number_needs() -> None:
    """Wherever it stands in a block: amssymb has it."""
    signs = set()
    for block in EVERY_BLOCK:
        for changed in with_checks(block):
            try:
                written = render(page(changed, title="A page"), "latex")
            except (KeyError, ValueError):
                # That text was a word with a meaning.
                continue
            if "\\checkmark" in written:
                signs.add(type(block).__name__)
                assert "amssymb" in written, changed
    assert {"Heading", "Paragraph", "Table", "Listing", "Worked"} <= signs


@in_one_test("style", STYLES, ids=repr)
@in_one_test("format", FORMATS)
def test_every_format_takes_every_block(format: str, style: Style) -> None:
    written = render(page(*EVERY_BLOCK, title="A page"), format, style)
    assert written.endswith("\n")
    assert written == render(page(*EVERY_BLOCK, title="A page"), format, style)
    if format == "table":
        assert written.encode(style.encoding)
    if format != "json":
        for number in ("2.5", "25.368", "16.956", "0.25", "17.935"):
            assert number in written


@in_one_test("format", [format for format in FORMATS if format != "json"])
@in_one_test("label", HOSTILE)
def test_no_label_brings_anything_unseen_onto_the_page(format: str, label: str) -> None:
    blocks = (
        Heading(label),
        Paragraph((label,)),
        grid("S", (label,), (label,), "1"),
        Worked((WorkedLine(label, remark=(label,)),)),
        Table((label,), (((label,),),)),
        Listing(((label,),)),
    )
    written = render(page(*blocks, title=label), format)
    assert not set("\x1b\x9b\0\u202e\r\t") & set(written)


@pytest.mark.parametrize("format", ["table", "markdown", "latex"])
def test_the_title_is_said_once(format: str) -> None:
    assert render(page(Paragraph(("text",)), title="Attention"), format).count("Attention") == 1


def test_a_page_without_blocks_is_an_empty_page() -> None:
    assert render(page(), "table") == ""
    assert render(page(title="T"), "table") == "T\n━\n"


@in_one_test(
    ("path", "format"),
    [
        ("out.md", "markdown"),
        ("a/b.TEX", "latex"),
        ("x.json", "json"),
        ("x.html", "html"),
        ("x.HTM", "html"),
        ("x.txt", "table"),
        ("x.pdf", "pdf"),
        ("x.odt", None),
        ("md", None),
    ],
)
def test_a_file_name_asks_for_its_format(path: str, format: str | None) -> None:
    assert format_of(path) == format


def test_a_format_is_imported_only_when_asked_for() -> None:
    code = "import sys, attncli.render; print({'rich', 'numpy', 'json'} & set(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "set()\n"
