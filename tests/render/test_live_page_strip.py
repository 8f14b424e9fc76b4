"""The strip at the top of a page that works itself out: a change and its effect in one view."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.browsers import Browser, Play, played, played_in
from tests.render.test_live_page import I_LOVE_AI, written

pytestmark = pytest.mark.browser
HEADS = I_LOVE_AI.with_name("multi_head.yaml")
W_Q = "#what-is-given table[data-array=W_Q] tbody td"
OUTPUT = "section[id$=step-output] table:has(caption.unseen) tbody td"
STRIP, WORDS, GHOSTS = ".strip", ".strip select", ".strip .ghost"
SHARES, SUMS = ".strip .looks > [role=img] > span", ".strip .gets b"
PHONE = {"width": 390, "height": 800}
# A window of 1,280 by 1,024 pixels at 400 %.
LARGEST_ZOOM = {"width": 320, "height": 256}


def test_the_strip_follows_each_key_press_with_ghosts_until_the_edit_ends(
    browser: Browser, tmp_path: Path
) -> None:
    play: Play = [
        ("shown", STRIP),
        ("click", W_Q),
        ("wait", ""),
        ("shown", f"{STRIP}, .one-number .shares"),
        ("sizes", GHOSTS),
        ("titles", SHARES),
        ("type", "3"),
        ("sizes", GHOSTS),
        ("texts", SUMS),
        ("press", "Enter"),
        ("sizes", GHOSTS),
        ("texts", "#step-weights table tbody tr >> nth=0 >> td"),
        ("titles", SHARES),
        ("texts", f"{OUTPUT} >> nth=0"),
    ]
    ((first, both, none, before, some, sums, ended, weights, after, total),) = played(
        browser, (written(I_LOVE_AI, tmp_path), play)
    )
    assert first == [False]
    assert both == [True, False]
    assert (none, ended) == ([], [])
    assert some
    assert before == ["I 0.070", "love 0.707", "AI 0.223"]
    words = ("I", "love", "AI")
    assert after == [f"{word} {share}" for word, share in zip(words, weights, strict=True)]
    assert after != before
    assert sums[0] == total[0]


def test_a_word_is_chosen_in_the_strip_as_at_the_ribbons(browser: Browser, tmp_path: Path) -> None:
    """A number that is clicked has the word that it is about in the strip, too."""
    play: Play = [
        ("click", f"{OUTPUT} >> nth=4"),
        ("wait", ""),
        ("values", WORDS),
        ("press", "Escape"),
        # Keys do not reach the list that Firefox opens: it is a window of its own.
        ("reach", WORDS),
        ("press", "ArrowDown"),
        ("values", WORDS),
        ("texts", ".words [aria-checked=true]"),
        ("announced", ""),
    ]
    ((clicked, chosen, ribbons, said),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert (clicked, chosen) == (["1"], ["2"])
    assert ribbons == ["AI"]
    assert "AI: I 0.168, love 0.533, AI 0.299" in said


def test_a_number_chooses_its_word_and_its_head_in_strip_and_ribbons(
    browser: Browser, tmp_path: Path
) -> None:
    """All of the page has one chosen word. X is of no single one: keys are made of it, too."""
    x = "#what-all-heads-share table[data-array=X] tbody td >> nth=1"
    weights = "#head-1-step-weights table:has(caption.unseen) tbody td >> nth=1"
    one = (".words [aria-checked=true]", ".query [aria-pressed=true]")
    seen: Play = [("values", WORDS), *(("texts", each) for each in one)]
    play: Play = [
        ("click", f"{OUTPUT} >> nth=4"),
        ("wait", ""),
        *seen,
        ("click", x),
        ("wait", ""),
        *seen,
        ("click", ".tabs button >> nth=2"),
        ("click", weights),
        *seen,
    ]
    (found,) = played(browser, (written(HEADS, tmp_path), play))
    assert found[:3] == found[3:6] == [["1"], ["chase"], ["Head 0"]]
    assert found[6:] == [["0"], ["dogs"], ["Head 1"]]


def test_the_small_map_leads_to_a_step_which_stands_below_the_strip(
    browser: Browser, tmp_path: Path
) -> None:
    """Below the choice of heads, too."""
    play: Play = [
        ("click", "main tbody td >> nth=-1"),
        ("wait", ""),
        ("click", ".way a >> nth=4"),
        ("wait", ""),
        ("top", "section[id$=step-scores] > hgroup h2, section[id$=step-scores] > hgroup h3"),
        ("hrefs", ".way .here"),
    ]
    pages = [(written(file, tmp_path), play) for file in (I_LOVE_AI, HEADS)]
    for (tops, framed), strip in zip(played(browser, *pages), (72, 120), strict=True):
        assert strip <= tops[0] <= strip + 120
        # A step that stands beside it has a frame, too.
        assert framed[0].endswith("step-scores")


def test_the_strip_is_low_and_leaves_a_small_window_and_paper_alone(
    chromium: Browser, tmp_path: Path
) -> None:
    page = written(I_LOVE_AI, tmp_path)
    seen: Play = [("click", OUTPUT), ("wait", ""), ("shown", STRIP), ("wider", f"{STRIP} *")]
    pages = [
        (page, [*seen, ("sizes", STRIP)], {"viewport": PHONE}),
        (page, [*seen, ("shown", ".one-number .shares")], {"viewport": LARGEST_ZOOM}),
        (page, [*seen, ("print", ""), ("shown", STRIP)], {}),
    ]
    phone, zoomed, paper = played_in(chromium, *pages)
    assert phone == [[True], [], [[390, 56]]]
    assert zoomed == [[False], [], [True]]
    assert paper == [[True], [], [False]]


def test_axe_finds_nothing_in_the_strip_and_nothing_moves_when_it_comes(
    chromium: Browser, tmp_path: Path
) -> None:
    seen: Play = [("click", OUTPUT), ("wait", ""), ("axe", ""), ("shift", "")]
    pages = [
        (written(file, tmp_path), seen, {"colorScheme": scheme})
        for file, scheme in ((I_LOVE_AI, "light"), (HEADS, "dark"))
    ]
    assert played_in(chromium, *pages) == [[[], 0]] * 2


def test_nothing_of_a_strip_that_keeps_a_secret_is_seen(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("click", OUTPUT),
        ("wait", ""),
        ("click", "#step-weights .blank-toggle"),
        ("wait", ""),
        ("computed", f"visibility {STRIP} *"),
    ]
    ((seen,),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert {*seen} == {"hidden"}
