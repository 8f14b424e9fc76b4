"""The style sheets as people read them, and as pages have them: without what only people need."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import attncli
from attncli.render.html import stylesheet
from tests.render.browsers import Browser, played

SHEETS = sorted(Path(attncli.__file__).parent.rglob("*.css"))
LONGEST_LINE = 100


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_a_line_has_one_declaration(sheet: Path) -> None:
    lines = sheet.read_text(encoding="utf-8").split("\n")
    full = [line for line in lines if len(line) > LONGEST_LINE or re.search(r"[;{}].*[;{}]", line)]
    assert full == []


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_a_page_has_nothing_that_only_people_need(sheet: Path) -> None:
    dense = stylesheet(sheet.name)
    assert not re.search(r"/\*|\n|  |[{};,(] | [{};,)]|: |[^\w.]0\.\d", dense)


def test_a_browser_reads_the_same_rules_in_both(chromium: Browser, tmp_path: Path) -> None:
    page = tmp_path / "sheets.html"
    styles = [
        text for sheet in SHEETS for text in (sheet.read_text("utf-8"), stylesheet(sheet.name))
    ]
    page.write_text("".join(f"<style>{text}</style>" for text in styles), encoding="utf-8")
    [[rules]] = played(chromium, (page, [("rules", "")]))
    for sheet, people, pages in zip(SHEETS, rules[::2], rules[1::2], strict=True):
        assert people, sheet.name
        assert [same(rule) for rule in pages] == [same(rule) for rule in people]


def same(rule: str) -> str:
    """A rule without blanks, and without zeros before a point: a browser keeps the text of a
    property that begins with --.
    """
    return re.sub(r"\s|(?<![\w.])0(?=\.)", "", rule)
