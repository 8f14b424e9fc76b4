"""Keys that are signs alone: there is a list of them, and they can be turned off (WCAG 2.1.4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.browsers import Browser, Play, played
from tests.render.test_live_page import INPUTS, written

I_LOVE_AI = next(file for file in INPUTS if file.stem == "i_love_ai")
TURN: Play = [("click", "footer .keys summary"), ("click", "footer .keys input")]
LECTURE, GIVEN, LINES = ("shown", ".presenter"), ("shown", ".as-given"), ("shown", "ul.worked")
MASKED = "#!mask=causal"
SHORTCUTS = ("texts", "[aria-keyshortcuts]:is([aria-keyshortcuts=c], [aria-keyshortcuts=p])")


@pytest.mark.browser
def test_keys_without_ctrl_can_be_turned_off_and_stay_off(browser: Browser, tmp_path: Path) -> None:
    held: Play = [("down", "c"), GIVEN, ("up", "c")]
    pressed: Play = [*held, ("press", "?"), LINES, ("press", "p"), LECTURE, ("press", "Escape")]
    page = written(I_LOVE_AI, tmp_path)
    on, off, kept, again = played(
        browser,
        (page, [SHORTCUTS, *pressed]),
        (page, [*TURN, SHORTCUTS, *pressed]),
        (page, [*TURN, ("reload", ""), SHORTCUTS, *pressed]),
        (page, [*TURN, ("reload", ""), *TURN, SHORTCUTS, *pressed]),
        at=MASKED,
    )
    for buttons, given, lines, lecture in (on, again):
        assert buttons == ["Compare", "Present"]
        assert (given, lecture) == ([True], [True])
        assert all(lines)
    for buttons, given, lines, lecture in (off, kept):
        assert buttons == []
        assert (given, lecture) == ([False], [False])
        assert not any(lines)


@pytest.mark.browser
def test_keys_of_a_number_and_keys_that_are_no_signs_stay(browser: Browser, tmp_path: Path) -> None:
    line, count = ("line", ""), ("texts", ".presenter span")
    at_number: Play = [
        ("click", "#step-scores table[data-array=scores] tbody td >> nth=0"),
        ("press", "n"),
        line,
    ]
    lecture: Play = [
        ("click", "button:text-is('Present')"),
        *[("press", "Home"), count, ("press", "ArrowDown"), count, ("press", "2 b m d")],
        *[("shown", ".black"), ("texts", ".what-changed"), ("texts", ".words [aria-checked=true]")],
        *[("press", "Escape"), LECTURE],
    ]
    page = written(I_LOVE_AI, tmp_path)
    ((term, first, second, black, changed, word, left),) = played(
        browser, (page, [*TURN, *at_number, *lecture])
    )
    assert term.endswith("more")
    assert (first, second) == (["1 / 14"], ["2 / 14"])
    assert (black, changed, word, left) == ([], [""], ["I"], [False])


@pytest.mark.browser
def test_every_key_is_in_the_list(browser: Browser, tmp_path: Path) -> None:
    page = written(I_LOVE_AI, tmp_path)
    ((keys,),) = played(browser, (page, [TURN[0], ("texts", "footer .keys dt")]))
    assert keys == ["C, held", "?", "P", "N, B", "H"]
