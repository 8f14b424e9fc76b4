"""The softmax of one word before and after, in one view."""

from __future__ import annotations

from math import exp, sqrt
from pathlib import Path

import pytest

from tests.render.browsers import Browser, Play, played, played_in
from tests.render.test_live_page import INPUTS, written

pytestmark = pytest.mark.browser
BY_STEM = {file.stem: file for file in INPUTS}
I_LOVE_AI, HEADS = BY_STEM["i_love_ai"], BY_STEM["multi_head"]
ROWS, TITLE = ("texts", ".softmax-row tr:not(:first-of-type)"), ("texts", ".softmax-row caption")
NUMBERS = ("texts", ".softmax-row td:not(:last-child, :has(+ th), :empty)")
# The scores of I, and of AI.
SCORES, OF_AI = (1, 5, 3), (2, 4, 3)


def shares(logits: list[float]) -> list[float]:
    powers = [exp(each) for each in logits]
    return [each / sum(powers) for each in powers]


def near(texts: list[str], *rows: list[float]) -> bool:
    """The printed numbers, row after row."""
    expected = [number for row in rows for number in row]
    return [float(text) for text in texts] == pytest.approx(expected, abs=0.0006)


def test_another_scale_stands_below_the_one_that_was_given(
    browser: Browser, tmp_path: Path
) -> None:
    third: Play = [("click", ".words button >> nth=2"), TITLE, NUMBERS]
    reset: Play = [("click", "button:text-is('Reset')"), TITLE]
    page = written(I_LOVE_AI, tmp_path)
    ((title, numbers, other, others, after),) = played(
        browser, (page, [TITLE, NUMBERS, *third, *reset]), at="#!scaled=1.6"
    )
    assert title == ["The softmax of I, before and after"]
    given, sharp = [each / sqrt(3) for each in SCORES], [1.6 * each for each in SCORES]
    assert near(numbers, given, shares(given), sharp, shares(sharp))
    assert other == ["The softmax of AI, before and after"]
    given, sharp = [each / sqrt(3) for each in OF_AI], [1.6 * each for each in OF_AI]
    assert near(others, given, shares(given), sharp, shares(sharp))
    assert after == []


def test_a_mistake_and_a_mask_have_a_before_and_an_after(browser: Browser, tmp_path: Path) -> None:
    page = written(I_LOVE_AI, tmp_path)
    at = "#!what-if=the+softmax+was+taken+twice"
    ((numbers,),) = played(browser, (page, [NUMBERS]), at=at)
    given = [each / sqrt(3) for each in SCORES]
    assert near(numbers, given, shares(given), given, shares(shares(given)))
    ((masked,),) = played(
        browser, (page, [NUMBERS]), at="#!mask=causal&asks=2&present=step-weights"
    )
    alike = [sqrt(3)] * 3
    assert near(masked[:6], alike, [1 / 3] * 3)
    assert [text.strip("·") for text in masked[6:]] == [
        "1.732",
        "1.732",
        "−∞",
        "0.500",
        "0.500",
        "0",
    ]


def test_as_given_there_is_nothing_to_compare(browser: Browser, tmp_path: Path) -> None:
    """Numbers that are typed change what goes into the softmax; what is asked for is not told."""
    page = written(I_LOVE_AI, tmp_path)
    for at in ("", "#!X.0=3", "#!scaled=1.6&blank=weights"):
        ((title,),) = played(browser, (page, [TITLE]), at=at)
        assert title == []


def test_it_stays_while_the_key_c_is_held(browser: Browser, tmp_path: Path) -> None:
    play: Play = [("down", "c"), NUMBERS, ("sizes", ".softmax-row"), ("up", "c"), NUMBERS]
    page = written(I_LOVE_AI, tmp_path)
    ((held, size, back, after),) = played(
        browser, (page, [*play, ("sizes", ".softmax-row")]), at="#!scaled=1.6"
    )
    assert held[:6] == held[6:] == back[:6] != back[6:]
    assert size == after


def test_in_a_lecture_it_stands_beside_the_matrix(chromium: Browser, tmp_path: Path) -> None:
    page = written(I_LOVE_AI, tmp_path)
    both: Play = [("edges", ".softmax-row table"), ("edges", "#step-weights .matrix")]
    for width, height in ((1024, 768), (1280, 800), (1920, 1080)):
        options = {"viewport": {"width": width, "height": height}}
        play: Play = [*both, ("scrolls", "main")]
        (((row,), (matrix,), scrolls),) = played_in(
            chromium, (page, play, options), at="#!scaled=1.6&present=step-weights"
        )
        assert row[2] < matrix[0]
        assert row[1] < matrix[3]
        assert scrolls == [0, 0]


def test_of_several_heads_it_is_the_one_that_is_shown(browser: Browser, tmp_path: Path) -> None:
    page = written(HEADS, tmp_path)
    place = "#head-{}-step-weights .softmax-row"
    shown: Play = [("texts", place.format(0) + " caption"), ("texts", place.format(1) + " caption")]
    turn: Play = [("click", ".query button:text-is('Head 1') >> nth=0")]
    ((first, none, gone, second),) = played(
        browser, (page, [*shown, *turn, *shown]), at="#!mask=causal"
    )
    assert len(first) == len(second) == 1
    assert none == gone == []
