"""The page that works itself out, for everybody: read aloud, by keys, in the dark, on paper,
without a script.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.render.browsers import Browser, Play, played, played_in
from tests.render.test_live_page import I_LOVE_AI, RESET, SCORES, written

pytestmark = pytest.mark.browser
CAUSAL, HEADS = I_LOVE_AI.with_name("causal.yaml"), I_LOVE_AI.with_name("multi_head.yaml")
WIDE, NARROW = {"width": 1200, "height": 800}, {"width": 390, "height": 800}
A4 = {"width": 665, "height": 940}  # what the margins leave, in pixels


def test_axe_finds_nothing(chromium: Browser, tmp_path: Path) -> None:
    """By day and by night, with a script and without one, while a number is typed over."""
    causal, static, dark = (
        written(CAUSAL, tmp_path),
        written(CAUSAL, tmp_path, "--static"),
        {"colorScheme": "dark"},
    )
    chosen: Play = [
        ("click", "#step-weights tbody td"),
        ("click", "table[data-array=X] tbody td"),
        ("axe", ""),
    ]
    refused: Play = [
        ("click", "table[data-array=X] tbody td"),
        ("type", "1e308"),
        ("press", "Tab"),
        ("what-if", "the scores were not scaled"),
        ("click", "table[data-array=X] tbody td >> nth=1"),
        ("type", "10/0"),
        ("press", "Tab"),
        ("axe", ""),
    ]
    heads = written(I_LOVE_AI.with_name("batch.yaml"), tmp_path)
    pages: list[tuple[Path, Play, dict[str, Any]]] = [
        (causal, refused, {}),
        (causal, refused, dark),
        (heads, [("axe", "")], {}),
        (causal, chosen, {}),
        (causal, chosen, dark | {"viewport": NARROW}),
        (static, [("axe", "")], {}),
    ]
    assert played_in(chromium, *pages) == [[[]]] * len(pages)


def test_without_javascript_the_derivation_is_there_and_no_controls(
    chromium: Browser, tmp_path: Path
) -> None:
    page = written(I_LOVE_AI, tmp_path)
    play: Play = [
        ("texts", "#step-output .worked li"),
        ("texts", "main h2"),
        ("texts", "button, select"),
    ]
    ((lines, titles, controls),) = played_in(chromium, (page, play, {"javaScriptEnabled": False}))
    assert " ".join(lines[0].split()) == "I, d1 0.070·1 + 0.707·1 + 0.223·1 = 1"
    assert (titles[0], titles[-1]) == ("In words", "10 Output")
    assert controls == []


def test_nothing_moves_when_the_script_begins(chromium: Browser, tmp_path: Path) -> None:
    pages = [(written(file, tmp_path), size) for file in (CAUSAL, HEADS) for size in (WIDE, NARROW)]
    found = played_in(
        chromium, *((page, [("shift", "")], {"viewport": size}) for page, size in pages)
    )
    assert [shift for (shift,) in found] == [0] * len(pages)


def test_keys_alone_change_a_number_and_a_mask(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("to", "X"),
        ("press", "ArrowRight ArrowDown"),
        ("line", ""),
        ("press", "7 Enter"),
        ("line", ""),
        ("address", ""),
        ("to", "mask"),
        ("press", "ArrowRight Enter"),
        ("address", ""),
        ("to", "output"),
        ("press", "ArrowDown ArrowDown ArrowRight ArrowRight"),
        ("line", ""),
    ]
    ((before, after, changed, masked, last),) = played(browser, (written(CAUSAL, tmp_path), play))
    assert (before, after) == ("X: love, d2 1 given", "X: love, d2 7 given")
    assert changed == "#!X.5=7"
    # the second key, which was hidden, can be seen
    assert masked == "#!X.5=7&keep.2=0&keep.5=0&mask=own"
    assert last.startswith("O: AI, d3 ")


def test_what_changes_is_announced(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("choose", "causal"),
        ("announced", ""),
        ("click", RESET),
        ("announced", ""),
        ("click", "table[data-array=X] tbody td"),
        ("type", "one"),
        ("announced", ""),
        ("press", "Escape"),
        ("announced", ""),
    ]
    ((switched, reset, invalid, kept),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert "16 steps" in switched  # 14, the mask and the masked scores
    assert "as it was given" in reset
    assert any("one is not a number" in said for said in invalid)
    assert "X: I, d1 1 given" in kept


def test_on_paper_no_matrix_is_cut_off_and_there_is_nothing_to_press(
    chromium: Browser, tmp_path: Path
) -> None:
    pages = [
        written(I_LOVE_AI.with_name(f"{name}.yaml"), tmp_path)
        for name in ("causal", "multi_head", "twelve_tokens")
    ]
    play: Play = [
        ("click", "main td"),
        ("print", ""),
        ("wider", "main table, .map > div"),
        ("shown", ".map"),
        ("shown", ".ribbons, .sum"),
        ("shown", "button:not(.query *), select, .one-number"),
    ]
    for wider, (is_drawn,), pictures, controls in played_in(
        chromium, *((page, play, {"viewport": A4}) for page in pages)
    ):
        assert wider == []
        assert is_drawn
        assert pictures
        assert all(pictures)
        assert controls
        assert not any(controls)


def test_at_400_percent_a_number_is_seen_beside_its_line(chromium: Browser, tmp_path: Path) -> None:
    cell = "#step-scores table:has(caption.unseen) tbody td"
    play: Play = [
        ("click", cell),
        ("press", "h"),
        ("top", cell),
        ("top", ".one-number"),
        ("sizes", ".one-number"),
    ]
    options = {"viewport": {"width": 320, "height": 256}}
    ((cells, line, sizes),) = played_in(chromium, (written(I_LOVE_AI, tmp_path), play, options))
    assert 0 <= cells[0] < line[0] - 20
    assert sizes[0][1] < 128


def test_a_first_button_leads_to_the_numbers_and_a_slider_says_what_it_slides(
    browser: Browser, tmp_path: Path
) -> None:
    slider = ".slider input"
    play: Play = [
        ("press", "Tab Enter"),
        ("focus", ""),
        ("click", "#step-scores table:has(caption.unseen) tbody td >> nth=1"),
        ("press", "h ArrowRight"),
        ("named", slider),
        ("axe", ""),
    ]
    ((focus, named, axe),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert focus == "X"
    assert named[0][0] == "S: I → love, held"
    assert named[0][1].startswith("5.01. Weights of I: I ")
    assert axe == []


def test_colours_that_are_numbers_stay_where_a_reader_has_their_own(
    chromium: Browser, tmp_path: Path
) -> None:
    """And what is chosen has a line."""
    play: Play = [
        ("click", SCORES),
        ("computed", "forcedColorAdjust .sum .bar i, #step-weights .share, .ribbons li"),
        ("computed", "outlineStyle .chosen, .words [aria-checked=true]"),
    ]
    page = written(I_LOVE_AI, tmp_path)
    ((adjust, lines),) = played_in(chromium, (page, play, {"forcedColors": "active"}))
    assert {*adjust} == {"none"}
    assert {*lines} == {"solid"}
