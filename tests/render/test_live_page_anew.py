"""A page that begins with nothing: zeros and ones, to be typed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.browsers import Browser, Play, played
from tests.render.test_live_page import I_LOVE_AI, written

pytestmark = pytest.mark.browser
HEADS = I_LOVE_AI.with_name("multi_head.yaml")
X = "#what-is-given table[data-array=X] tbody td"
BEGINS = "footer button:text-is('Begin with nothing')"
ONES = ["1", "0", "0", "0", "0", "1", "0", "0", "0", "0", "1", "0"]


def test_a_page_begins_with_zeros_and_ones_and_undo_brings_its_numbers_back(
    browser: Browser, tmp_path: Path
) -> None:
    play: Play = [
        ("texts", X),
        ("click", BEGINS),
        ("texts", X),
        ("texts", "#step-scores table:has(caption.unseen) tbody td"),
        ("press", "Control+z"),
        ("texts", X),
        ("texts", ".changes"),
    ]
    ((before, ones, scores, after, said),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert before == after == ["1", "0", "1", "0", "0", "1", "0", "1", "1", "1", "0", "0"]
    assert ones == ONES
    # The product of the unit matrix with itself.
    assert scores == ["1", "0", "0", "0", "1", "0", "0", "0", "1"]
    assert said[0].startswith("Click a given number")


def test_an_address_begins_with_nothing(browser: Browser, tmp_path: Path) -> None:
    """With two heads: each has its own weights, and a bias of zeros."""
    given = "table[data-array=X] tbody td >> visible=true"
    play: Play = [("texts", given), ("texts", ".query > p >> nth=0"), ("address", "")]
    ((numbers, says, address),) = played(browser, (written(HEADS, tmp_path), play), at="#new")
    assert numbers[:12] == ONES
    # In X, the scores of a word are 1 with itself and 0 with the others.
    assert says[0].startswith("Head 0, dogs looks most at dogs")
    assert address.startswith("#!X.")
