"""Steps to fill in on a live page: what is typed is judged, and what follows is hidden until it is
found.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.browsers import Browser, Play, played
from tests.render.test_live_page import I_LOVE_AI, RESET, SCORES, written

pytestmark = pytest.mark.browser
BAR = "#step-scores .blanks"
SAID, BLANK, SHOW = f"{BAR} [role=status]", "#step-scores .blank-toggle", f"{BAR} button"
FIELDS, OUTPUT = f"{SCORES} >> input", "#step-output table:has(caption.unseen) tbody td"
NUMBERS = ["1", "5", "3", "3", "3", "3", "2", "4", "3"]


def test_a_blank_step_is_filled_in_number_by_number(browser: Browser, tmp_path: Path) -> None:
    all_but_two = [key for number in NUMBERS[2:] for key in (number, "Enter")]
    play: Play = [
        ("click", BLANK),
        ("address", ""),
        ("texts", OUTPUT),
        ("type", "x"),
        ("press", "Enter"),
        ("texts", SAID),
        ("press", "Backspace"),
        ("type", "2"),
        ("press", "Enter"),
        ("texts", SAID),
        ("press", "Backspace"),
        ("type", "1"),
        ("press", "Enter"),
        ("texts", SAID),
        ("axe", ""),
        ("click", SHOW),
        ("texts", SCORES),
        ("press", " ".join(all_but_two)),
        ("texts", SAID),
        ("texts", SCORES),
        ("texts", OUTPUT),
    ]
    ((address, hidden, *found),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    no_number, wrong, right, axe, shown, done, numbers, output = found
    assert address == "#!blank=scores"
    assert {*hidden} == {"?"}
    assert no_number[0].startswith("x is not a number")
    # The query of I with itself, the key of I with itself, its embedding with itself.
    assert wrong[0].startswith("Wrong. This comes out if ")
    assert right == ["Right. 8 to go."]
    assert axe == []
    assert shown[:2] == ["1", "5"]
    assert done == ["Right. Nothing to go."]
    assert numbers == NUMBERS
    assert "?" not in output


def test_an_address_with_blanks_opens_so(browser: Browser, tmp_path: Path) -> None:
    page = written(I_LOVE_AI, tmp_path)
    weights = "#step-weights table:has(caption.unseen) tbody td input"
    play: Play = [
        ("values", FIELDS),
        ("values", weights),
        ("texts", ".changes"),
        ("click", RESET),
        ("values", FIELDS),
        ("address", ""),
        ("press", "Control+z"),
        ("address", ""),
    ]
    ((*found,),) = played(browser, (page, play), at="#!blank=scores,weights,<b>wieghts</b>")
    scores, of_weights, said, reset, address, undone = found
    assert scores == of_weights == [""] * 9
    assert said == [
        "No step to fill in is called <b>wieghts</b>."
        " These can be: Q, K, V, scores, scaled, exp, row_sum, weights, output."
    ]
    assert (reset, address, undone) == ([], "", "#!blank=scores%2Cweights")
