"""Undo and redo on a live page: by keys and by buttons, and of everything that can be changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.browsers import Browser, Play, played
from tests.render.test_live_page import I_LOVE_AI, RESET, SCORES, X, written

pytestmark = pytest.mark.browser
UNDO = ".controls button:has-text('Undo')"
REDO = ".controls button:has-text('Redo')"
NOTICE = ".one-number .notice"


def test_each_edit_is_a_step_back_whose_place_gets_the_focus(
    browser: Browser, tmp_path: Path
) -> None:
    play: Play = [
        ("click", X),
        ("type", "2.5"),
        ("press", "Enter ArrowRight"),
        ("type", "7"),
        ("press", "Enter"),
        ("address", ""),
        ("press", "Control+z"),
        ("texts", NOTICE),
        ("texts", f"{X}:focus"),
        ("address", ""),
        ("press", "Control+z"),
        ("texts", NOTICE),
        ("texts", f"{X}:focus"),
        ("address", ""),
        ("press", "Control+z"),
        ("texts", NOTICE),
        ("press", "Control+y Control+Shift+Z"),
        ("address", ""),
    ]
    ((both, *one, again),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert both == again == "#!X.0=2.5;7"
    assert one[:3] == [["Undone: X: I, d2 = 0"], ["0"], "#!X.0=2.5"]
    assert one[3:6] == [["Undone: X: I, d1 = 1"], ["1"], ""]
    assert one[6] == ["Nothing to undo"]


ACTS: list[Play] = [
    [("click", X), ("type", "5"), ("press", "Enter")],
    [("choose", "causal")],
    [("sharpen", "without the scale"), ("press", "Tab")],
    [("choose", "own")],
    [("click", "#step-mask table tbody td >> nth=1")],
    # A hold and all keys of its slide are one step.
    [("click", SCORES), ("press", "h ArrowRight ArrowRight ArrowRight")],
    [("click", RESET)],
    [("what-if", "W_K and W_V were swapped")],
    [("click", X), ("press", "Delete"), ("type", "7"), ("press", "Enter")],
]


def test_everything_can_be_undone_even_a_reset(browser: Browser, tmp_path: Path) -> None:
    there = [step for act in ACTS for step in (*act, ("address", ""))]
    back = [step for _ in ACTS for step in (("click", UNDO), ("address", ""))]
    again = [step for _ in ACTS for step in (("click", REDO), ("address", ""))]
    whole = ("told", "")
    # Lines stay open where an act has opened them.
    play: Play = [("press", "?"), whole, *there, *back, whole, *again]
    ((before, *found),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    count = len(ACTS)
    states = ["", *found[:count]]
    assert states[6] == "#!X.0=5&keep.1=0&mask=own&scaled=false&scores.0=5.03"
    assert states[7] == ""
    assert len(set(states)) == count  # a reset is the first one again
    after = found[2 * count]
    assert found[count : 2 * count] == states[-2::-1]
    assert found[2 * count + 1 :] == states[1:]
    assert after == before


def test_a_hold_and_the_drag_that_follows_are_one_step(chromium: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("click", SCORES),
        ("press", "h"),
        ("address", ""),
        ("drag", ".slider input"),
        ("address", ""),
        ("press", "Control+z"),
        ("focus", ""),
        ("address", ""),
        ("press", "Control+z"),
        ("texts", NOTICE),
    ]
    ((held, slid, focus, first, said),) = played(chromium, (written(I_LOVE_AI, tmp_path), play))
    assert held != slid
    # The slider has gone, so the focus is at its number.
    assert (first, focus) == ("", "scores")
    assert said == ["Nothing to undo"]


def test_a_field_has_its_own_undo(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("click", X),
        ("type", "2"),
        ("press", "Enter Enter"),
        ("type", "35"),
        ("press", "Control+z"),
        ("focus", ""),
        ("press", "Escape"),
        ("texts", X),
        ("press", "Control+z"),
        ("texts", X),
    ]
    ((focus, kept, back),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert (focus, kept[0], back[0]) == ("X", "2", "1")


def test_what_is_no_number_stays_until_it_is_mended(browser: Browser, tmp_path: Path) -> None:
    fields, reasons = f"{X} >> input", "p.why:visible"
    play: Play = [
        ("click", X),
        ("type", "10/0"),
        ("click", f"{X} >> nth=5"),
        ("type", "1/2"),
        ("press", "Enter"),
        ("wait", ""),
        ("values", fields),
        ("texts", reasons),
        ("texts", "#step-Q td"),
        ("choose", "causal"),
        ("values", fields),
        ("axe", ""),
        ("texts", ".unsaved >> nth=0"),
        ("saved", ""),
        ("address", ""),
        ("click", fields),
        ("press", "End Backspace"),
        ("type", "5"),
        ("press", "Enter"),
        ("values", fields),
        ("texts", X),
        ("address", ""),
        ("press", "Control+z"),
        ("values", fields),
        ("press", "Escape"),
        ("values", fields),
    ]
    ((values, why, _, kept, axe, unsaved, saved, address, *mended),) = played(
        browser, (written(I_LOVE_AI, tmp_path), play)
    )
    assert (values, why) == (["10/0"], ["10/0 divides by zero"])
    assert kept == ["10/0"]
    assert axe == []
    assert unsaved == ["Not saved: what is no number."]
    assert (address, "10/0" in saved) == ("#!X.5=1/2&mask=causal", False)
    assert mended[0] == []
    assert (mended[1][0], mended[2]) == ("2", "#!X.0=10/5&X.5=1/2&mask=causal")
    # Undo brings back what was there: the text that was no number.
    assert mended[3:] == [["10/0"], []]


def test_a_step_that_is_blank_and_that_another_mask_has_not_can_be_undone(
    browser: Browser, tmp_path: Path
) -> None:
    play: Play = [
        ("click", "#step-V .blank-toggle"),
        ("click", "#step-masked .blank-toggle"),
        ("choose", "none"),
        ("address", ""),
        ("press", "Control+z"),
        ("address", ""),
        ("press", "Control+z"),
        ("address", ""),
        ("press", "Control+z"),
        ("address", ""),
        ("press", "Control+y Control+y Control+y"),
        ("address", ""),
    ]
    (found,) = played(browser, (written(I_LOVE_AI.with_name("causal.yaml"), tmp_path), play))
    assert found == [
        "#!mask=none&blank=V",
        "#!blank=V%2Cmasked",
        "#!blank=V",
        "",
        "#!mask=none&blank=V",
    ]


def test_the_focus_stays_where_a_lecture_goes_on_from_a_number(
    browser: Browser, tmp_path: Path
) -> None:
    play: Play = [
        ("press", "p"),
        ("click", "#what-is-given td >> nth=2"),
        ("press", "Enter ArrowDown"),
        ("wait", ""),
        ("focus", ""),
        # A black screen keeps it, too.
        ("press", "b"),
        ("wait", ""),
        ("focus", ""),
    ]
    (found,) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert found == ["MAIN", "MAIN"]
