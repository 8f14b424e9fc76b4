"""Rows, columns and heads that are added to a live page and taken away, in a browser."""

from __future__ import annotations

import random
from pathlib import Path
from urllib.parse import urlencode

import pytest

from attncli.page.live.data import live_data
from attncli.problem.loader import load
from tests.render.browsers import Browser, Play, played
from tests.render.test_live_page import I_LOVE_AI, X, written
from tests.render.test_live_page_saved import must_say_the_same

pytestmark = pytest.mark.browser
ADD_TOKEN = ".resize button[aria-label^='+ word: one token']"
REMOVE_TOKEN = ".resize button[aria-label^='− word: one token']"
WORDS = ".query .words button"


def drawn_address(problem: Path, seed: int) -> str:
    """Other sizes, and some numbers, as the address of a page has them."""
    chosen = random.Random(seed)
    data = live_data(load(str(problem)), 3)
    lengths = []
    for each in data["sizes"]["dimensions"]:
        fewest = each.get("fewest", each["size"])
        most = each["size"] + 2 if "fewest" in each else each["size"]
        lengths.append(chosen.randint(fewest, most))
    said = {"sizes": "-".join(map(str, lengths))}
    for _ in range(4):
        said[f"{chosen.choice(data['given'])}.{chosen.randrange(2)}"] = chosen.choice("0123")
    settings = [each for each in data["settings"] if isinstance(each["scaled"], bool)]
    setting = chosen.choice(settings)
    said |= {"mask": setting["mask"], "scaled": str(setting["scaled"]).lower()}
    return f"#!{urlencode(said)}"


@pytest.mark.parametrize(
    "name",
    [
        "i_love_ai",
        "kv_cache",
        "multi_head",
        pytest.param("cross_attention", marks=pytest.mark.slow),
        pytest.param("batch", marks=pytest.mark.slow),
        pytest.param("head_masks", marks=pytest.mark.slow),
        pytest.param("torch_mha", marks=pytest.mark.slow),
        pytest.param("bloom_alibi", marks=pytest.mark.slow),
        pytest.param("gpt_oss_sink", marks=pytest.mark.slow),
    ],
)
def test_a_page_in_other_sizes_says_what_attncli_says_of_the_file_it_saves(
    chromium: Browser, tmp_path: Path, name: str
) -> None:
    problem = I_LOVE_AI.with_name(f"{name}.yaml")
    for seed in range(2):
        must_say_the_same(chromium, problem, drawn_address(problem, seed), tmp_path)


def test_buttons_at_a_matrix_add_rows_and_take_them_away_and_all_of_it_can_be_undone(
    browser: Browser, tmp_path: Path
) -> None:
    play: Play = [
        ("click", ADD_TOKEN),
        ("texts", WORDS),
        ("address", ""),
        ("texts", f"{ADD_TOKEN}:focus"),
        ("press", "Tab Enter"),
        ("texts", WORDS),
        ("press", "Enter Enter Enter"),
        ("texts", WORDS),
        ("press", "Control+z Control+z Control+z Control+z"),
        ("texts", WORDS),
        ("address", ""),
    ]
    ((added, address, focused, back, fewest, undone, last),) = played(
        browser, (written(I_LOVE_AI, tmp_path), play)
    )
    assert added == ["I", "love", "AI", "a"]
    assert address.startswith("#!sizes=4-")
    assert focused == ["+ word"]
    assert back == undone == ["I", "love", "AI"]
    assert fewest == ["I"]
    assert last == ""


def test_a_row_whose_number_is_chosen_goes_and_comes_again_as_it_was_given(
    browser: Browser, tmp_path: Path
) -> None:
    """A row that comes again has its word and its numbers; the chosen word stays, and is named."""
    strip = ".strip select"
    play: Play = [
        ("click", ADD_TOKEN),
        ("click", f"{X} >> nth=12"),
        ("wait", ""),
        ("type", "1"),
        ("press", "Enter"),
        ("texts", f"{strip} option"),
        ("click", REMOVE_TOKEN),
        ("texts", WORDS),
        ("texts", f"{strip} option"),
        ("values", strip),
        ("click", f"{X} >> nth=8"),
        ("click", REMOVE_TOKEN),
        ("texts", WORDS),
        ("click", ADD_TOKEN),
        ("texts", WORDS),
        ("address", ""),
        ("texts", ".changes"),
    ]
    ((four, three, options, chosen, two, again, address, changes),) = played(
        browser, (written(I_LOVE_AI, tmp_path), play)
    )
    assert four == ["I", "love", "AI", "a"]
    assert three == options == again == ["I", "love", "AI"]
    assert (chosen, two) == (["0"], ["I", "love"])
    assert address == ""
    assert changes[0].startswith("Click a given number")


def test_a_mistake_that_other_sizes_cannot_have_is_given_up_and_comes_back(
    browser: Browser, tmp_path: Path
) -> None:
    undo: Play = [("press", "Control+z"), ("address", "")]
    play: Play = [
        ("what-if", "the last key was left out"),
        ("click", ADD_TOKEN),
        ("address", ""),
        ("choose", "causal"),
        *undo,
        *undo,
        *undo,
    ]
    ((added, *back),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert added == "#!sizes=4-4-3-3"
    assert back == [added, "#!what-if=the+last+key+was+left+out", ""]
