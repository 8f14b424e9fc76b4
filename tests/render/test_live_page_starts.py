"""The page that `attncli new` writes, with several problems to begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncli.cli.main import run
from tests.render.browsers import Browser, Play, played, played_in
from tests.render.test_live_page import I_LOVE_AI, written

pytestmark = pytest.mark.browser
GIVEN = "#what-is-given table:has(caption.unseen) tbody td"
BEGIN_WITH = ".starts a:has-text('{}')"


def page_of(folder: Path) -> Path:
    page = folder / "new.html"
    assert run(["new", "-o", str(page)]) == 0
    return page


def begins(title: str) -> Play:
    """Choose a problem, and wait until it is there."""
    link = BEGIN_WITH.format(title)
    return [("click", link), ("hover", f"{link}[aria-current]"), ("wait", "")]


def test_a_problem_that_was_left_has_its_numbers_when_it_comes_again(
    browser: Browser, tmp_path: Path
) -> None:
    play: Play = [
        ("click", GIVEN),
        ("type", "7"),
        *begins("Q, K, V"),
        ("texts", GIVEN),
        ("click", GIVEN),
        ("type", "9"),
        ("press", "Enter"),
        *begins("X and weights"),
        ("texts", GIVEN),
        ("address", ""),
        *begins("Q, K, V"),
        ("texts", GIVEN),
    ]
    ((fresh, again, address, other),) = played(browser, (page_of(tmp_path), play))
    assert fresh[0] == "1"
    assert (again[0], address) == ("7", "#!X.0=7")
    assert other[0] == "9"


def test_the_choice_goes_out_of_the_window_with_the_title(
    chromium: Browser, tmp_path: Path
) -> None:
    play: Play = [
        ("computed", "position .starts"),
        ("computed", "position nav[aria-label=Contents]"),
    ]
    ((choice, contents),) = played(chromium, (page_of(tmp_path), play))
    assert (choice, contents) == (["static"], ["static"])


def test_rows_can_be_added_without_pointing_at_a_matrix(chromium: Browser, tmp_path: Path) -> None:
    """On the page to begin with, and wherever nobody can point."""
    seen: Play = [("computed", "opacity div.resize")]
    other = written(I_LOVE_AI, tmp_path)
    phone = {"hasTouch": True, "isMobile": True}
    found = played_in(
        chromium, (page_of(tmp_path), seen, {}), (other, seen, phone), (other, seen, {})
    )
    assert [{*each} for (each,) in found] == [{"1"}, {"1"}, {"0"}]
