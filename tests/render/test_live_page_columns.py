"""Steps with small matrices stand two in a row on a page that works itself out."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import pytest

from tests.render.browsers import Browser, Play, played, played_in
from tests.render.test_live_page import I_LOVE_AI, written

pytestmark = pytest.mark.browser
WIDE = {"viewport": {"width": 1280, "height": 800}}
STEPS = "main section[id^=step-]"
X = "#what-is-given table[data-array=X] tbody td"
# Of a product: the rows of its matrices, which are as many.
ROWS = "#step-scores .product tbody tr:first-child"


def test_three_words_take_four_screens_and_a_half(browser: Browser, tmp_path: Path) -> None:
    play: Play = [("edges", "footer"), ("edges", ".map")]
    (((footer,), (picture,)),) = played_in(browser, (written(I_LOVE_AI, tmp_path), play, WIDE))
    height = WIDE["viewport"]["height"]
    assert footer[3] < 4.5 * height
    # The way is a part of the first screen.
    assert picture[3] < height + 20


def test_small_steps_stand_two_in_a_row_and_wide_ones_alone(
    browser: Browser, tmp_path: Path
) -> None:
    play: Play = [("edges", STEPS), ("edges", f"{ROWS} td:last-child")]
    page = written(I_LOVE_AI, tmp_path)
    phone = {"viewport": {"width": 390, "height": 844}}
    ((steps, rows), (below, _)) = played_in(browser, (page, play, WIDE), (page, play, phone))
    assert len(steps) == 10
    for left, right in (steps[at : at + 2] for at in range(0, 8, 2)):
        assert left[1] == right[1]
        assert left[2] < right[0]
        assert left[2] - left[0] == pytest.approx(right[2] - right[0], abs=1)
    *_, weights, output = steps
    assert weights[3] <= output[1]
    assert {top for _, top, _, _ in rows} == {rows[0][1]}
    assert all(above[3] <= each[1] for above, each in pairwise(below))


def test_a_step_whose_numbers_become_wide_has_a_row_of_its_own_and_keeps_it(
    chromium: Browser, tmp_path: Path
) -> None:
    """Until the page is as it was: so nothing goes back and forth while somebody types."""
    scores = "#step-scores, #step-scaled"
    play: Play = [
        ("edges", scores),
        ("click", f"{X} >> nth=0"),
        ("type", "123456"),
        ("press", "Enter"),
        ("wait", ""),
        ("edges", scores),
        ("down", "c"),
        ("wait", ""),
        ("edges", scores),
        ("up", "c"),
        ("press", "Enter"),
        ("type", "2"),
        ("press", "Enter"),
        ("wait", ""),
        ("edges", scores),
        ("press", "Control+z Control+z"),
        ("wait", ""),
        ("edges", scores),
    ]
    (found,) = played_in(chromium, (written(I_LOVE_AI, tmp_path), play, WIDE))

    def is_alone(edges: list[list[int]]) -> bool:
        one, other = edges
        return one[3] <= other[1]

    assert [is_alone(each) for each in found] == [False, True, True, True, False]


def test_the_strip_frames_both_steps_of_a_row(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("click", "#step-scores table:has(caption.unseen) tbody td"),
        ("wait", ""),
        ("hrefs", ".strip .way .here"),
    ]
    ((framed,),) = played_in(browser, (written(I_LOVE_AI, tmp_path), play, WIDE))
    assert framed == ["#step-scores", "#step-scaled"]


def test_of_several_heads_only_the_chosen_one_is_shown(browser: Browser, tmp_path: Path) -> None:
    page = written(I_LOVE_AI.with_name("multi_head.yaml"), tmp_path)
    play: Play = [("shown", "main .part"), ("edges", "#head-0 > .pair")]
    ((parts, given),) = played(browser, (page, play))
    # What all heads share, each head, and all of them together.
    assert parts == [True, True, False, True]
    assert {top for _, top, _, _ in given} == {given[0][1]}


@pytest.mark.parametrize("width", [390, 1280])
def test_the_way_has_room_in_the_strip_with_a_mask(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    """No matrix of it is cut, and none lies over another."""
    play: Play = [
        ("click", "#step-scores table:has(caption.unseen) tbody td"),
        ("wait", ""),
        ("edges", ".strip"),
        ("edges", ".strip .way .frame"),
    ]
    page = written(I_LOVE_AI.with_name("causal.yaml"), tmp_path)
    window = {"viewport": {"width": width, "height": 800}}
    (((strip,), frames),) = played_in(browser, (page, play, window))
    assert len(frames) > 8
    assert all(top >= strip[1] and bottom <= strip[3] for _, top, _, bottom in frames)
    for one, other in combinations(frames, 2):
        is_beside = one[2] <= other[0] or other[2] <= one[0]
        assert is_beside or one[3] <= other[1] or other[3] <= one[1]
