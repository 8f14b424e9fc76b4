"""A page that works itself out shows the problem as it was given for as long as C is held."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.browsers import Browser, Play, played
from tests.render.test_live_page import I_LOVE_AI, written

pytestmark = pytest.mark.browser
X = "#what-is-given table[data-array=X] tbody td"
WEIGHTS = "#step-weights table tbody td"
AS_GIVEN = ".as-given"
BUTTON = ".controls button:has-text('Compare')"
CHANGED = "#!X.0=7&mask=causal&what-if=the+scores+were+not+scaled&V.4=2.5"


def test_all_is_as_it_was_given_while_c_is_held_and_comes_back(
    browser: Browser, tmp_path: Path
) -> None:
    """A mask, a mistake and a held number, too; the address and the steps to undo stay."""
    seen: Play = [("texts", WEIGHTS), ("texts", X), ("shown", AS_GIVEN), ("address", "")]
    play: Play = [("click", X), *seen, ("down", "c"), *seen, ("focus", ""), ("up", "c"), *seen]
    page = written(I_LOVE_AI, tmp_path)
    play += [("focus", ""), ("click", BUTTON), ("texts", WEIGHTS), ("click", BUTTON), *seen]
    (plain,) = played(browser, (page, seen))
    # The field that a click opens is closed before.
    play.insert(1, ("press", "Escape"))
    (found,) = played(browser, (page, play), at=CHANGED)
    changed, given, focus, again, back, pressed, last = (
        found[:4],
        found[4:8],
        found[8],
        found[9:13],
        found[13],
        found[14],
        found[15:19],
    )
    assert changed[0] != plain[0]
    assert given[:2] == plain[:2]
    assert (changed[2], given[2]) == ([False], [True])
    assert changed[3] == given[3] == CHANGED
    assert again == last == changed
    assert focus == back == "X"
    assert pressed == plain[0]


def test_there_is_nothing_to_compare_before_a_change_and_while_one_types(
    browser: Browser, tmp_path: Path
) -> None:
    play: Play = [
        ("down", "c"),
        ("shown", AS_GIVEN),
        ("up", "c"),
        ("click", X),
        ("type", "5c"),
        ("shown", AS_GIVEN),
        ("press", "Escape"),
    ]
    assert played(browser, (written(I_LOVE_AI, tmp_path), play)) == [[[False], [False]]]


def test_a_change_is_made_to_what_was_changed_before(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("click", BUTTON),
        ("click", f"{X} >> nth=1"),
        ("type", "4"),
        ("press", "Enter"),
        ("shown", AS_GIVEN),
        ("address", ""),
    ]
    page = written(I_LOVE_AI, tmp_path)
    assert played(browser, (page, play), at="#!X.0=7") == [[[False], "#!X.0=7;4"]]


@pytest.mark.parametrize("act", [("click", f"{X} >> nth=9"), ("to", "X")])
def test_a_click_or_a_key_at_a_number_acts_on_the_one_that_comes_back(
    browser: Browser, tmp_path: Path, act: tuple[str, str]
) -> None:
    """Also where the problem as it was given has other sections."""
    play: Play = [
        ("sharpen", "70"),
        ("click", BUTTON),
        act,
        ("type", "5"),
        ("press", "Enter"),
        ("address", ""),
        ("texts", f"{X}:focus"),
    ]
    ((address, focused),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert address.startswith("#!X.9=5" if act[0] == "click" else "#!X.0=5")
    assert focused == ["5"]


def test_nothing_moves_while_c_is_held_and_the_words_are_those_of_the_numbers(
    chromium: Browser, tmp_path: Path
) -> None:
    places: Play = [("wait", ""), ("top", "main table, nav li"), ("texts", "#in-words li")]
    play: Play = [
        ("click", f"{X} >> nth=9"),
        ("type", "3"),
        *places,
        ("press", "Enter"),
        *places,
        ("down", "c"),
        *places,
        ("up", "c"),
        *places,
    ]
    (found,) = played(chromium, (written(I_LOVE_AI, tmp_path), play))
    tops, words = found[::2], found[1::2]
    # But for fractions of a pixel.
    assert all(each == pytest.approx(tops[0], abs=1) for each in tops)
    assert words[0] == words[1] == words[3] != words[2]
    assert words[0][2].startswith('"AI" pays 81.1 % of its attention to itself')
