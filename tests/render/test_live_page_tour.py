"""The tour of a page: cards that say what a problem has, and see that what they ask for is done."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from attncli.problem.loader import load
from attncli.tracing import run
from tests.render.browsers import Browser, Play, played, played_in
from tests.render.test_live_page import I_LOVE_AI, written

pytestmark = pytest.mark.browser
INPUTS = I_LOVE_AI.parent
CARD = ".tour p:not([role])"
SAID: Play = [("texts", CARD)]
NEXT = ("click", ".tour button:text-matches('Next')")
VERDICT = ("texts", ".tour [role=status]")
CALM = {"reducedMotion": "reduce"}
# Of each the words that its last card has: who is to look at whom.
LAST = {
    "i_love_ai": ("I", "AI"),
    "cross_attention_heads": ("chats", "black"),
    "kv_cache": ("AI", "I"),
    "qkv_given": ("the", "cat"),
}


def tour_of(browser: Browser, file: Path, folder: Path, play: Play) -> list[Any]:
    """What the page answers, once its address has opened the tour."""
    (found,) = played_in(browser, (written(file, folder), play, CALM), at="#tour")
    return found


def test_nobody_gets_the_tour_unasked_and_escape_leaves_it(
    browser: Browser, tmp_path: Path
) -> None:
    count: Play = [("texts", ".tour small"), ("shown", ".tour")]
    play: Play = [
        ("shown", ".tour"), ("click", ".start"), ("axe", ""),
        ("press", "ArrowRight ArrowRight ArrowLeft"), *count,
        ("press", "Escape"), ("shown", ".tour"), ("texts", "button:focus"), ("address", ""),
    ]  # fmt: skip
    ((before, faults, at, opened, closed, focused, address),) = played(
        browser, (written(I_LOVE_AI, tmp_path), play)
    )
    assert (before, opened, closed) == ([False], [True], [False])
    assert faults == []
    assert at == ["2 of 8"]
    assert focused == ["Start here"]
    assert address == ""


def test_the_cards_have_the_words_and_the_numbers_of_the_problem(
    browser: Browser, tmp_path: Path
) -> None:
    play: Play = [*SAID, *[each for _ in range(6) for each in (NEXT, *SAID)]]
    cards = tour_of(browser, I_LOVE_AI, tmp_path, play)
    trace = run(load(str(I_LOVE_AI)))
    weights = [f"{each:.3f}" for each in trace["weights"][0]]
    assert cards[0][0].endswith("I looks most at love (70.7 %).")
    assert "Click 2:" in cards[1][1]
    assert cards[5][0].endswith(
        "a share: 17.935 / 25.368 ≈ 0.707. The larger a score, the larger its share."
    )
    assert f"Click {weights[1]}, that of love." in cards[5]
    assert f"{weights[0]} × I + {weights[1]} × love + {weights[2]} × AI" in cards[6][0]


def test_what_a_card_is_about_stays_full_on_the_map_and_its_row_is_outlined(
    browser: Browser, tmp_path: Path
) -> None:
    toured = ("texts", "#step-Q .toured")
    play: Play = [
        NEXT,
        ("texts", ".map a:not(.dim)"),
        toured,
        ("press", "Escape"),
        ("texts", ".dim"),
        toured,
    ]
    full, cells, dim, left = tour_of(browser, I_LOVE_AI, tmp_path, play)
    letters = [unicodedata.normalize("NFKD", each.split()[0]) for each in full]
    assert letters == ["X", "Q"]
    assert cells == ["2", "0", "1"]
    assert (dim, left) == ([], [])


def test_the_best_key_is_asked_for_before_it_is_shown(browser: Browser, tmp_path: Path) -> None:
    scores = ("texts", "#step-scores table:has(caption.unseen) tbody td")
    wrong, right = (("click", f".tour .options button:has-text('{key}')") for key in ("AI", "love"))
    play: Play = [
        *[NEXT] * 4, scores, ("shown", ".one-number"), wrong, VERDICT, scores,
        right, VERDICT, scores, ("line", ""),
    ]  # fmt: skip
    asked, (line,), no, still, yes, told, sum_of_it = tour_of(browser, I_LOVE_AI, tmp_path, play)
    assert asked[:4] == still[:4] == ["?", "?", "?", "3"]
    assert not line
    assert no == ["Wrong: another key fits better than AI. Try again."]
    assert "?" not in told
    assert yes == ["✓ Right: love has the largest score, 5."]
    assert sum_of_it == "S: I → love 2·2 + 0·1 + 1·1 = 5"


def test_a_value_is_done_when_it_was_slid_and_let_go_on_the_next_card(
    browser: Browser, tmp_path: Path
) -> None:
    held = ("texts", "#step-V .held")
    hold: Play = [("click", ".tour .number"), ("press", "h"), ("wait", ""), VERDICT]
    slide: Play = [("slide", "3"), ("wait", ""), VERDICT, held]
    after: Play = [NEXT, held, ("texts", "#step-output .held"), ("shown", ".one-number")]
    play: Play = [*[NEXT] * 3, *hold, *slide, *after]
    before, done, (number, *_), nothing, outputs, line = tour_of(browser, I_LOVE_AI, tmp_path, play)
    assert before == [""]
    assert done == ["✓ Done."]
    assert number == "3"
    assert (nothing, outputs, line) == ([], [], [False])


def test_no_card_covers_what_it_asks_for(chromium: Browser, tmp_path: Path) -> None:
    edges = ("edges", ".tour, .one-number:visible, .toured")
    number = ("click", ".tour .number >> nth=-1")
    play: Play = [("edges", ".tour, .ribbons, .sum"), ("texts", ".tour .controls button")]
    for card in range(2, 9):
        play += [NEXT, *([number] if card != 5 else []), ("wait", ""), edges]
    page = written(I_LOVE_AI, tmp_path)
    for width, height in ((1280, 800), (1024, 768), (390, 844)):
        options = {"viewport": {"width": width, "height": height}, **CALM}
        ((*first, card), buttons, *cards), *_ = played_in(
            chromium, (page, play, options), at="#tour"
        )
        assert buttons == ["Previous card", "Next card", "×"]
        assert all(bottom <= card[1] for _, _, _, bottom in first)
        for marked in cards:
            *cells, above = sorted(marked, key=lambda edges: edges[1])
            tops = [top for _, top, _, _ in marked]
            assert above[1] == max(tops)
            assert all(bottom <= above[1] for _, _, _, bottom in cells)


def test_what_a_card_asks_for_is_noticed_when_it_is_done(browser: Browser, tmp_path: Path) -> None:
    number = ("click", ".tour .number")
    play: Play = [
        ("click", ".words button:has-text('AI')"), ("wait", ""), VERDICT, *SAID,
        NEXT, VERDICT, number, ("wait", ""), VERDICT, ("focus", ""),
        ("press", "Escape"), ("focus", ""), ("shown", ".tour"),
        ("press", "Escape"), ("shown", ".tour"),
    ]  # fmt: skip
    chosen, said, nothing, clicked, at, *later = tour_of(browser, I_LOVE_AI, tmp_path, play)
    assert (chosen, nothing, clicked) == (["✓ Done."], [""], ["✓ Done."])
    assert "AI looks most at love" in said[0]
    # From the number to the card, and only then out of the tour.
    assert (at, *later) == ("Q", "DIV", [True], [False])


@pytest.mark.parametrize("name", LAST)
def test_the_last_card_can_be_done_with_the_number_that_it_names(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    to_last = [NEXT] * 7
    play: Play = [*to_last, *SAID, VERDICT, ("click", ".tour .number >> nth=1"), ("press", "Enter")]
    page = written(INPUTS / f"{name}.yaml", tmp_path)
    ends = [[("type", text), ("wait", ""), VERDICT] for text in ("9", "-9", "99", "-99")]
    found = [played_in(browser, (page, [*play, *end], CALM), at="#tour")[0] for end in ends]
    who, whom = LAST[name]
    said, before, _ = found[0]
    assert said[0] == f"Change one number. Can you make {who} look most at {whom}?"
    assert before == [""]
    assert ["✓ Done."] in [after for _, _, after in found]


def test_a_problem_without_weights_has_no_tour(browser: Browser, tmp_path: Path) -> None:
    page = written(INPUTS / "equations" / "linear.yaml", tmp_path)
    ((start, tour),) = played(
        browser, (page, [("shown", ".start"), ("shown", ".tour")]), at="#tour"
    )
    assert (start, tour) == ([False], [False])


@pytest.mark.slow
def test_every_example_has_a_tour_from_its_first_card_to_its_last(
    chromium: Browser, tmp_path: Path
) -> None:
    walk = [each for _ in range(8) for each in (*SAID, ("press", "ArrowRight"))]
    files = [*INPUTS.glob("*.yaml"), *INPUTS.glob("equations/*.yaml")]
    pages = [written(file, tmp_path) for file in files]
    play: Play = [("shown", ".start"), *walk]
    found = played_in(chromium, *((page, play, CALM) for page in pages), at="#tour")
    toured = {page.stem: cards for page, ([has], *cards) in zip(pages, found, strict=True) if has}
    assert len(toured) > len(files) / 2
    for name, cards in toured.items():
        texts = [" ".join(card) for card in cards]
        assert len(set(texts)) >= 5, name
        assert not re.search("undefined|NaN|null", " ".join(texts)), name


def test_the_tour_stays_in_the_window_of_a_phone(chromium: Browser, tmp_path: Path) -> None:
    options = {"viewport": {"width": 390, "height": 844}, "hasTouch": True, **CALM}
    play: Play = [("wider", ".tour, .tour *"), ("sizes", ".tour"), ("top", ".tour"), ("axe", "")]
    page = written(I_LOVE_AI, tmp_path)
    ((wider, sizes, (top,), faults),) = played_in(chromium, (page, play, options), at="#tour")
    assert wider == []
    ((width, height),) = sizes
    assert (width, top + height) == (390, 844)
    assert height <= 0.4 * 844
    assert faults == []
