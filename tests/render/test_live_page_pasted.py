"""Matrices that are pasted into a live page: at a number, and into a field."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.browsers import Browser, Play, played
from tests.render.test_live_page import I_LOVE_AI, X, written

pytestmark = pytest.mark.browser
ROWS = "table[data-array=X] tbody >> nth=0"
NOTICE = ".one-number .notice"
PASTE = ".one-number button:text-is('Paste')"
TAKE = ".pasting button:text-is('Take it')"
DEEP = "[[[1], [2]], [[3], [4]]]"
REFUSED = (
    "X is 3 × 4, and what was pasted is 2 × 2 × 1: it has 2 axes, and not 3. Nothing has changed."
)
TABLE = "\td1\td2\td3\td4\nI\t1,5\t0\t2\t0\nlove\t0\t1\t0\t½\nAI\t1\t1\t0\t√2"


def words(texts: list[str]) -> str:
    return " ".join(" ".join(texts).split())


def test_a_table_of_a_spreadsheet_takes_the_place_of_a_matrix(
    browser: Browser, tmp_path: Path
) -> None:
    play: Play = [
        ("click", X), ("press", "Escape"), ("paste", TABLE), ("texts", NOTICE), ("address", ""),
        ("texts", ROWS), ("focus", ""), ("saved", ""),
        ("press", "Control+z"), ("address", ""), ("press", "Control+y"), ("address", ""),
    ]  # fmt: skip
    ((said, address, rows, focus, saved, back, again),) = played(
        browser, (written(I_LOVE_AI, tmp_path), play)
    )
    assert said == ["X: 12 numbers were pasted"]
    assert address == again == "#!X.0=1.5&X.2=2&X.7=1/2&X.11=sqrt%282%29"
    assert words(rows) == "I 1.5 0 2 0 love 0 1 0 1/2 AI 1 1 0 √2"
    assert "X: [[1.5, 0, 2, 0], [0, 1, 0, 1/2], [1, 1, 0, sqrt(2)]]\n" in saved
    assert (focus, back) == ("X", "")


def test_what_does_not_fit_changes_nothing_and_says_why(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("click", X), ("press", "Escape"), ("paste", DEEP), ("texts", NOTICE),
        ("paste", "1 2\n3 x"), ("texts", NOTICE), ("address", ""),
        # A computed number takes none.
        ("click", "#step-scores table tbody td >> nth=0"), ("paste", "1"), ("address", ""),
    ]  # fmt: skip
    ((shape, number, *addresses),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert shape == [REFUSED]
    assert number[0].startswith("Nothing was pasted: x is not a number")
    assert addresses == ["", ""]


def test_a_field_takes_a_matrix_where_there_is_no_key(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("click", X), ("press", "Escape"), ("click", PASTE), ("write", DEEP), ("click", TAKE),
        ("texts", ".pasting .notice"), ("axe", ""),
        ("write", "[1 0 0 0; 0 1 0 0; 0 0 1 0]"), ("click", TAKE), ("texts", ROWS), ("focus", ""),
        ("click", PASTE), ("press", "Escape"), ("focus", ""), ("texts", ROWS),
    ]  # fmt: skip
    ((said, broken, rows, focus, left, same),) = played(
        browser, (written(I_LOVE_AI, tmp_path), play)
    )
    assert said == [REFUSED]
    assert broken == []
    assert words(rows) == words(same) == "I 1 0 0 0 love 0 1 0 0 AI 0 0 1 0"
    assert focus == left == "X"
