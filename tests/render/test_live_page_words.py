"""Words of one's own on a live page: tokens that are typed over, and names in a pasted table."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncli.problem.loader import loads
from tests.render.browsers import Browser, Play, played
from tests.render.test_live_page import I_LOVE_AI, X, written

pytestmark = pytest.mark.browser
NAMES = "table[data-array=X] tbody th"
NOTICE = ".one-number .notice"
HOSTILE = 'a: # "<b>" \u05d0 \N{ROCKET}'


def tokens_of(saved: str) -> tuple[str, ...]:
    return loads(saved.encode(), "p.yaml").tokens


def test_a_word_is_typed_over_everywhere(browser: Browser, tmp_path: Path) -> None:
    page = written(I_LOVE_AI, tmp_path)
    play: Play = [
        ("click", X), ("press", "Escape F2"), ("type", HOSTILE), ("press", "Enter"),
        ("texts", NOTICE), ("texts", f"{NAMES} >> nth=0"), ("focus", ""), ("saved", ""),
        ("address", ""), ("told", ""),
    ]  # fmt: skip
    ((said, name, focus, saved, address, told),) = played(browser, (page, play))
    assert (name, focus) == ([HOSTILE], "X")
    assert said == [f"I is {HOSTILE} now"]
    assert tokens_of(saved) == (HOSTILE, "love", "AI")
    first_cells = {row[0] for _, *rows in told["matrices"] for row in rows}
    assert "I" not in first_cells
    play = [
        ("told", ""),
        ("saved", ""),
        ("click", X),
        ("press", "Escape F2 Escape"),
        ("texts", NAMES),
    ]
    ((again, same, names),) = played(browser, (page, play), at=address)
    assert (again, same) == (told, saved)
    assert names[:3] == [HOSTILE, "love", "AI"]


def test_an_empty_word_is_answered_and_a_double_one_said(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("click", X), ("press", "Escape F2 Delete Enter"), ("texts", NOTICE),
        ("press", "F2"), ("type", "AI"), ("press", "Enter"), ("texts", NOTICE),
        ("press", "Control+z"), ("texts", NOTICE), ("address", ""),
    ]  # fmt: skip
    ((empty, double, undone, address),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert empty == ["I stays: a label has one sign at least."]
    assert double == ["I is AI now, as another one is"]
    assert (undone, address) == (["Undone: the word I"], "")


def test_a_table_of_another_size_brings_its_words(browser: Browser, tmp_path: Path) -> None:
    table = "a\t1\t0\t0\t0\nb\t0\t1\t0\t0\nc\t0\t0\t1\t0\nd\t0\t0\t0\t1"
    play: Play = [
        ("click", X), ("press", "Escape"), ("paste", table), ("texts", NOTICE), ("texts", NAMES),
        ("saved", ""), ("press", "Control+z"), ("address", ""),
    ]  # fmt: skip
    ((said, names, saved, address),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert said == ["X: 16 numbers were pasted, it is 4 × 4 now"]
    assert names[:4] == ["a", "b", "c", "d"]
    assert tokens_of(saved) == ("a", "b", "c", "d")
    assert address == ""


def test_a_click_at_a_word_beside_given_numbers_changes_it_and_the_title_follows(
    browser: Browser, tmp_path: Path
) -> None:
    """In the address and in the file, too. Elsewhere it takes a double click."""
    page = written(I_LOVE_AI, tmp_path)
    said: Play = [("texts", "h1, .opening"), ("saved", "")]
    play: Play = [
        ("click", f"{NAMES} >> nth=0"),
        ("type", "Students"),
        ("press", "Enter"),
        ("click", "#step-Q table:has(caption.unseen) tbody th >> nth=1"),
        ("shown", "input.word"),
        ("click", ".resize button[aria-label^='+ word']"),
        ("address", ""),
        *said,
    ]
    ((none, address, texts, saved),) = played(browser, (page, play))
    assert none == []
    assert texts[0] == "Students love AI a"
    assert "Here 4 words do it" in texts[1]
    assert loads(saved.encode(), "p.yaml").title == "Students love AI a"
    ((again, saved_again),) = played(browser, (page, said), at=address)
    assert (again, saved_again) == (texts, saved)


def test_words_that_a_click_changes_are_marked_and_their_field_is_seen_as_a_whole(
    chromium: Browser, tmp_path: Path
) -> None:
    play: Play = [
        ("computed", f"textDecorationStyle {NAMES}"),
        ("click", f"{NAMES} >> nth=0"),
        ("left", "table[data-array=X] .word"),
        ("left", ".scroll:has(.word)"),
    ]
    ((marks, field, frame),) = played(chromium, (written(I_LOVE_AI, tmp_path), play))
    assert marks[:3] == ["dotted"] * 3
    assert field[0] >= frame[0]
