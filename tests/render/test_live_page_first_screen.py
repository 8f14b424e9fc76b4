"""The first screen of a page that works itself out: a sentence, and a name for each letter."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.render.browsers import Browser, Play, played, played_in
from tests.render.test_live_page import I_LOVE_AI, written

pytestmark = pytest.mark.browser
SAID = ".map-caption .hint"


def test_the_sentence_is_that_of_the_mask(browser: Browser, tmp_path: Path) -> None:
    play: Play = [("texts", ".opening"), ("choose", "causal"), ("texts", ".opening")]
    ((before, after),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert before[0].startswith("Every word looks at the other words and mixes what it finds.")
    said = "Every word looks at itself and the words before it, and mixes what it finds."
    assert after[0].startswith(said)


def test_a_matrix_of_the_map_says_what_it_is_with_the_mouse_and_with_keys(
    browser: Browser, tmp_path: Path
) -> None:
    """The map is one stop of Tab; the arrow keys go from matrix to matrix."""
    play: Play = [
        ("hover", ".map a >> nth=0"),
        ("texts", SAID),
        ("top", ".query"),
        ("hover", "h1"),
        ("texts", SAID),
        ("top", ".query"),
        ("reach", ".map a[tabindex='0']"),
        ("press", "ArrowRight"),
        ("texts", SAID),
        ("texts", ".map a[tabindex='0'] em"),
    ]
    whole = {"viewport": {"width": 1200, "height": 1400}}
    ((over, shown, none, hidden, at, stops),) = played_in(
        browser, (written(I_LOVE_AI, tmp_path), play, whole)
    )
    assert over == ["Input, X (3×4): each row is one token, written as numbers (its embedding)."]
    assert none == [""]
    assert shown == hidden
    assert at[0].startswith("Queries, Q (3×3): Each row is one token's query")
    assert stops == ["queries"]


def test_the_output_is_said_as_a_sum_whose_parts_are_pointed_at(
    browser: Browser, tmp_path: Path
) -> None:
    term = ".sum figcaption span"
    play: Play = [
        ("texts", ".ribbons > small"),
        ("texts", ".sum figcaption"),
        ("hover", f"{term} >> nth=1"),
        ("keys", ".query .faint:is(li, figcaption span)"),
    ]
    ((heads, said, faint),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert heads == ["asks", "is read"]
    plain = said[0].replace("\N{NO-BREAK SPACE}", " ")
    assert plain == "The new I = 0.070 × I + 0.707 × love + 0.223 × AI"
    assert faint == ["0", "2", "0", "2"]


def test_what_is_given_stands_in_one_row_where_there_is_room(
    browser: Browser, tmp_path: Path
) -> None:
    """Buttons for rows and columns make no matrix wider."""
    play: Play = [("edges", "#what-is-given table"), ("edges", "#what-is-given .resize")]
    wide = {"viewport": {"width": 1280, "height": 800}}
    ((tables, buttons),) = played_in(browser, (written(I_LOVE_AI, tmp_path), play, wide))
    assert len(tables) == len(buttons) == 4
    for (_, top, right, bottom), (left, next_top, _, _) in pairwise(tables):
        assert right < left
        assert top < next_top + 60 < bottom
    for (left, _, _, _), (first, _, last, _) in zip(tables, buttons, strict=True):
        assert abs(first - left) < 20
        assert last - first < 250
