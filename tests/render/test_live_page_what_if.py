"""The panel of mistakes on a live page: groups, the search, keys, and the numbers before and
after.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.browsers import Browser, Play, played, played_in
from tests.render.test_live_page import I_LOVE_AI, written

pytestmark = pytest.mark.browser
OPEN = ".controls button:has-text('What if')"
ACTIVE, SHOWN = "[role=option][aria-selected=true]", "[role=option]:visible"
AFTER = ".comparison > div > :last-child"


def test_mistakes_are_found_by_their_group_and_by_words(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("click", OPEN),
        ("wait", ""),
        ("texts", "[role=listbox] b"),
        ("texts", ACTIVE),
        ("type", "wk swapped"),
        ("texts", SHOWN),
        ("texts", f"{AFTER} [role=img]"),
        ("press", "ArrowDown"),
        ("texts", ACTIVE),
        ("axe", ""),
        ("press", "Enter"),
        ("focus", ""),
        ("texts", ".effect"),
        ("address", ""),
        ("click", OPEN),
        ("texts", ACTIVE),
        ("press", "Escape"),
        ("focus", ""),
        ("address", ""),
        ("click", ".mistake button"),
        ("focus", ""),
        ("address", ""),
    ]
    ((groups, first, found, _, active, axe, *taken),) = played(
        browser, (written(I_LOVE_AI, tmp_path), play)
    )
    assert groups == [
        "Forgot something",
        "Swapped matrices",
        "Did too much",
        "Wrong scale",
        "Wrong softmax",
    ]
    assert first == ["nobody made a mistake"]
    assert [each.split("\n")[0] for each in found] == [
        "W_Q and W_K were swapped",
        "W_K and W_V were swapped",
    ]
    assert active == [found[1]]
    assert axe == []
    # The focus goes back to the button, and what was chosen is told beside it.
    assert taken[0] == "BUTTON"
    assert taken[1][0].startswith("What if W_K and W_V were swapped? Another key")
    assert taken[2] == taken[5] == "#!what-if=W_K+and+W_V+were+swapped"
    assert taken[3] == active
    assert taken[4] == taken[6] == "BUTTON"
    assert taken[7] == ""


@pytest.mark.parametrize(
    ("searched", "taken", "first"),
    [
        ("columns", "the softmax was taken down the columns", "row_sum"),
        ("softmax was taken", "the softmax was taken twice", "weights"),
    ],
)
def test_a_mistake_that_is_called_so_comes_before_one_that_is_explained_so(
    chromium: Browser, tmp_path: Path, searched: str, taken: str, first: str
) -> None:
    """The sentence of "W_Q and W_K were swapped" has rows and columns, too."""
    play: Play = [
        ("click", OPEN),
        ("wait", ""),
        ("type", searched),
        ("texts", ACTIVE),
        ("press", "Enter"),
        ("texts", ".effect b"),
        ("texts", ".effect a"),
        ("click", ".effect a"),
        ("top", f"#step-{first}"),
    ]
    ((active, effect, way, top),) = played(chromium, (written(I_LOVE_AI, tmp_path), play))
    assert active[0].startswith(taken)
    assert effect == [taken]
    # Which leads to the first number that differs.
    assert way[0].endswith("numbers differ")
    assert 0 <= top[0] < 200


def test_nothing_below_moves_when_a_mistake_is_chosen(chromium: Browser, tmp_path: Path) -> None:
    below: Play = [("top", "main h2 >> nth=0"), ("top", "#what-is-given"), ("sizes", OPEN)]
    choice: Play = [("what-if", "the scores were divided by d_k"), ("wait", "")]
    other: Play = [("what-if", "the exponentials were divided by the largest"), ("wait", "")]
    # With another number there are no sentences whose coming and going moves the page.
    # The page of the address is worked out first.
    ready: Play = [("wait", "")]
    play = [*ready, *below, *choice, *below, *other, *below]
    page = (written(I_LOVE_AI, tmp_path), play, {"viewport": {"width": 1200, "height": 2400}})
    ((*found,),) = played_in(chromium, page, at="#!X.0=2")
    assert found[:3] == found[3:6] == found[6:]


def test_a_mask_of_ones_own_does_not_scroll_and_links_to_its_cells(
    browser: Browser, tmp_path: Path
) -> None:
    link = ".changes a"
    play: Play = [
        ("choose", "own"),
        ("top", "h1"),
        ("texts", link),
        ("click", link),
        ("top", "#step-mask"),
    ]
    ((before, said, after),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert before[0] > 0
    assert said == ["Click the cells of the mask"]
    assert 0 <= after[0] < 200


def test_keys_of_the_page_do_nothing_behind_the_panel(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("click", ".controls button:text-is('What if …')"),
        ("click", ".what-if-panel > div > b"),
        ("press", "p"),
        ("shown", ".what-if-panel"),
        ("address", ""),
    ]
    ((shown, address),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert (shown, address) == ([True], "")
