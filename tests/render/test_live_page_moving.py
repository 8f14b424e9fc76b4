"""A sum that is worked before one's eyes, term by term."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.browsers import Browser, Play, played_in
from tests.render.test_live_page import I_LOVE_AI, SCORES, written

pytestmark = pytest.mark.browser
BAR = ("styles", ".running i")


def test_a_bar_grows_to_what_the_terms_come_to(chromium: Browser, tmp_path: Path) -> None:
    """2·2 + 0·1 + 1·1: first 4 of 5, on the right of the middle, and in the end all."""
    step = ("press", "n")
    play: Play = [("click", f"{SCORES} >> nth=1"), step, BAR, step, step, BAR, step, BAR]
    page = written(I_LOVE_AI, tmp_path)
    ((first, last, none),) = played_in(chromium, (page, play, {"reducedMotion": "reduce"}))
    assert (first, last) == (["left: 50%; width: 40%;"], ["left: 50%; width: 50%;"])
    assert none == []


def test_numbers_move_only_for_those_who_let_them(chromium: Browser, tmp_path: Path) -> None:
    play: Play = [("click", f"{SCORES} >> nth=1"), ("flights", "")]
    page = written(I_LOVE_AI, tmp_path)
    (moved,), (calm,) = played_in(
        chromium, (page, play, {}), (page, play, {"reducedMotion": "reduce"})
    )
    assert moved > 0
    assert calm == 0
