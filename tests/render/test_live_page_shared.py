"""The address of a live page: as short as it can be, and copied with a button."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.browsers import Browser, Play, played
from tests.render.test_live_page import I_LOVE_AI, X, written

pytestmark = pytest.mark.browser
COPY = "footer button:text-is('Copy the address')"
SAID = "footer .unsaved"
WIDE = "[9 8 7 6; 5 4 3 2; 1/3 sqrt(2) -1 0.5]"


def test_numbers_that_follow_each_other_are_one_part(browser: Browser, tmp_path: Path) -> None:
    page = written(I_LOVE_AI, tmp_path)
    play: Play = [("click", X), ("press", "Escape"), ("paste", WIDE), ("address", ""), ("told", "")]
    ((short, told),) = played(browser, (page, play))
    assert short == "#!X.0=9;8;7;6;5;4;3;2;1/3;sqrt%282%29;-1;0.5"
    texts = ("9", "8", "7", "6", "5", "4", "3", "2", "1%2F3", "sqrt%282%29", "-1", "0.5")
    # As addresses were before, with a part for each number.
    long = "#!" + "&".join(f"X.{at}={text}" for at, text in enumerate(texts))
    for address in (short, long):
        ((same, again),) = played(browser, (page, [("told", ""), ("address", "")]), at=address)
        assert same == told
        assert again == short


def test_other_changes_stay_beside_them(browser: Browser, tmp_path: Path) -> None:
    address = "#!X.0=5;6&X.3=7&mask=causal&scores.1=2;3&part=1"
    play: Play = [("click", X), ("type", "4"), ("press", "Enter"), ("address", "")]
    ((found,),) = played(browser, (written(I_LOVE_AI, tmp_path), play), at=address)
    assert found == "#!X.0=4;6&X.3=7&mask=causal&scores.1=2;3&part=1"
    misfits: Play = [("texts", ".changes")]
    ((said,),) = played(browser, (written(I_LOVE_AI, tmp_path), misfits), at="#!X.11=1;2")
    assert said == ["Changed: X: AI, d4 = 1"]


def test_the_address_is_copied_and_a_long_one_says_so(chromium: Browser, tmp_path: Path) -> None:
    short: Play = [
        ("click", X),
        ("type", "5"),
        ("press", "Enter"),
        ("click", COPY),
        ("texts", SAID),
    ]
    ((said,),) = played(chromium, (written(I_LOVE_AI, tmp_path), short))
    (one,) = filter(None, said)
    assert one.endswith("It is that of a file on this computer: send the page, too.")
    assert "characters" not in one
    twelve = I_LOVE_AI.parent / "twelve_tokens.yaml"
    # Numbers of more than forty digits.
    cells = [[f"0.{row}{column}{'1' * 42}" for column in range(4)] for row in range(12)]
    pasted = "\n".join(" ".join(row) for row in cells)
    first = "table[data-array=Q] tbody td"
    play: Play = [
        ("click", first), ("press", "Escape"), ("paste", pasted), ("press", "Escape"),
        ("click", COPY), ("texts", SAID),
        # What is said of an address is over with the next number.
        ("click", first), ("type", "5"), ("press", "Enter"), ("texts", SAID),
    ]  # fmt: skip
    ((said, after),) = played(chromium, (written(twelve, tmp_path), play))
    (one,) = filter(None, said)
    assert "many programs cut it off after 2000: send the saved file instead" in one
    assert not any(after)
