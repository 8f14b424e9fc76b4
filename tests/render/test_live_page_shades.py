"""The weights of more words than there are colours: a grid of shades, the largest in colours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.render.browsers import Browser, Play, played, played_in
from tests.render.test_live_page import written

pytestmark = pytest.mark.browser
GRID, WORDS, LIST = ".shaded .squares", ".shaded .words button", ".shaded ol li:not([hidden])"
CHOSEN = ".shaded .words [aria-checked=true]"


class Many(NamedTuple):
    """A problem of many words, with its weights: (head, query, key)."""

    text: str
    weights: NDArray[np.float64]


def many(words: int, heads: int = 1) -> Many:
    """Random whole numbers under a causal mask, worked out by NumPy."""
    drawn = np.random.default_rng(words)
    Q, K, V = (drawn.integers(-2, 3, (heads, words, 2)).astype(float) for _ in "QKV")
    scores = np.where(np.tri(words, dtype=bool), Q @ K.swapaxes(1, 2) / np.sqrt(2), -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    given: dict[str, Any] = {"tokens": [f"w{word}" for word in range(words)], "mask": "causal"}
    given |= {
        name: (matrix if heads > 1 else matrix[0]).tolist()
        for name, matrix in zip("QKV", (Q, K, V), strict=True)
    }
    lines = [f"{name}: {json.dumps(value)}\n" for name, value in given.items()]
    return Many("".join(lines), powers / powers.sum(axis=-1, keepdims=True))


def page_of(problem: Many, folder: Path) -> Path:
    file = folder / "many.yaml"
    file.write_text(problem.text)
    return written(file, folder)


@pytest.mark.parametrize("words", [17, 40])
def test_a_square_has_the_shade_of_its_weight(browser: Browser, tmp_path: Path, words: int) -> None:
    problem = many(words)
    ((shades,),) = played(browser, (page_of(problem, tmp_path), [("grid", GRID)]))
    found = np.zeros((words, words))
    for shade, squares in enumerate(shades, start=1):
        for query, key in squares:
            found[query, key] = shade / 32
    # The shade is the root of the weight, in steps of 1/32.
    root = np.sqrt(problem.weights[0])
    assert ((root - 1e-12 <= found) & (found < root + 1 / 32 + 1e-12)).all()


def test_the_largest_weights_of_a_word_have_colours_and_the_others_a_sum(
    browser: Browser, tmp_path: Path
) -> None:
    """A click on a row of the grid chooses its word, and so do the arrow keys."""
    problem = many(20)
    play: Play = [
        ("texts", CHOSEN),
        ("texts", LIST),
        ("click in", f"0.1 0.775 {GRID}"),
        ("texts", CHOSEN),
        ("texts", LIST),
        ("focus", ""),
        ("click", CHOSEN),
        ("press", "ArrowUp"),
        ("texts", CHOSEN),
    ]
    ((first, last_row, clicked, row, _, above),) = played(
        browser, (page_of(problem, tmp_path), play)
    )
    assert first == ["w19"]  # which sees the most keys
    assert clicked == ["w15"]
    assert above == ["w14"]
    for query, texts in ((19, last_row), (15, row)):
        *listed, others = [text.split() for text in texts]
        weights = problem.weights[0, query]
        assert 1 < len(listed) <= 8
        for word, number in listed:
            assert float(number) == pytest.approx(weights[int(word[1:])], abs=5.1e-4)
        least = min(float(number) for _, number in listed)
        named = [int(word[1:]) for word, _ in listed]
        rest = np.delete(weights, named)
        assert rest.max() <= least + 5.1e-4
        assert others[:2] == [f"{20 - len(listed)}", "others"]
        assert float(others[2]) == pytest.approx(rest.sum(), abs=5.1e-4)


def test_heads_are_small_grids_and_a_click_chooses_one(browser: Browser, tmp_path: Path) -> None:
    problem = many(18, heads=2)
    play: Play = [
        ("texts", ".query > p"),
        ("click", ".heads button >> nth=1"),
        ("texts", ".query > p"),
        ("grid", ".heads button >> nth=1 >> .squares"),
        ("grid", GRID),
    ]
    ((first, second, small, large),) = played(browser, (page_of(problem, tmp_path), play))
    assert first[0].startswith("Head 0, w17 looks")
    assert second[0].startswith("Head 1, w17 looks")
    assert small == large


def test_the_strip_is_there_for_many_words_and_axe_finds_nothing(
    chromium: Browser, tmp_path: Path
) -> None:
    page = page_of(many(24), tmp_path)
    down: Play = [("click", "section[id$=step-output] table tbody td"), ("wait", "")]
    seen: Play = [("axe", ""), *down, ("texts", ".strip b"), ("axe", "")]
    fits: Play = [("wider", ".query *, .controls *"), ("axe", "")]
    narrow = {"viewport": {"width": 320, "height": 640}}
    found = played_in(
        chromium,
        (page, seen, {}),
        (page, fits, {**narrow, "colorScheme": "dark"}),
    )
    (at_first, numbers, below), (wider, dark) = found
    assert at_first == below == dark == []
    assert len(numbers) == 2  # of the output
    assert wider == []
