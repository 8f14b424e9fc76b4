"""The first sentence of a page for browsers: what attention does, with the words of the problem."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncli.page.short.opening import are_words, opening
from attncli.problem.loader import load
from attncli.tracing import run

INPUTS = Path(__file__).parents[2] / "inputs"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "i_love_ai",
            "Every word looks at the other words and mixes what it finds."
            " Here 3 words do it, with all numbers.",
        ),
        (
            "causal",
            "Every word looks at itself and the words before it, and mixes what it finds."
            " Here 3 words do it, with all numbers.",
        ),
        (
            "kv_cache",
            "Every new word looks at itself and the words before it, and mixes what it finds."
            " Here 1 word looks at 3, with all numbers.",
        ),
        (
            "cross_attention",
            "Every word of one text looks at the words of another and mixes what it finds."
            " Here 2 words look at 4, with all numbers.",
        ),
        ("equations/sigmoid", ""),
    ],
)
def test_a_sentence_says_what_attention_does(name: str, said: str) -> None:
    assert opening(run(load(str(INPUTS / f"{name}.yaml")))) == said


def test_labels_that_are_no_words_are_tokens() -> None:
    assert are_words(["I", "love", "AI"])
    assert not are_words(["t1", "t2"])
    assert not are_words(["a", "b", "c"])
    assert not are_words([".", "the"])
