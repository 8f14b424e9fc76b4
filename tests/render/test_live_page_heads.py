"""The ribbons of a page with entries and heads: each choice names an attention, and shows its
numbers alone.
"""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.render.browsers import Browser, Play, played
from tests.render.test_live_page import written

pytestmark = pytest.mark.browser
WORDS = ("a", "b", "c", "d")
Array = NDArray[np.float64]


class Drawn(NamedTuple):
    """A problem of so many entries and heads, 0 where it has no such axis, with its numbers."""

    entries: int
    heads: int
    text: str
    weights: Array  # (entry, head, query, key)
    values: Array  # (entry, head, query, column): what each head gives

    def names(self, entry: int, head: int) -> list[str]:
        """What the page calls one of the attentions, by the axes that the problem has."""
        entries = [f"entry {entry}"] if self.entries else []
        heads = [f"head {head}"] if self.heads else []
        return [*entries, *heads]


def drawn(seed: int, entries: int, heads: int) -> Drawn:
    """Random whole numbers, worked out by NumPy."""
    chosen = random.Random(seed)
    tokens, width, per_head = chosen.randint(2, 4), chosen.randint(2, 3), 2

    def numbers(*shape: int) -> Array:
        return np.array(
            [chosen.randint(-2, 2) for _ in range(int(np.prod(shape)))], dtype=float
        ).reshape(shape)

    columns = per_head * max(1, heads)
    X = numbers(max(1, entries), tokens, width)
    learned = {name: numbers(width, columns) for name in ("W_Q", "W_K", "W_V")}
    Q, K, V = (
        (X @ matrix).reshape(*X.shape[:2], max(1, heads), per_head).swapaxes(1, 2)
        for matrix in learned.values()
    )
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(per_head)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    given: dict[str, Any] = {"tokens": list(WORDS[:tokens]), "X": (X if entries else X[0]).tolist()}
    given |= {name: matrix.tolist() for name, matrix in learned.items()}
    if heads:
        given |= {"heads": heads}
    lines = [f"{name}: {json.dumps(value)}\n" for name, value in given.items()]
    return Drawn(entries, heads, "".join(lines), weights, weights @ V)


def must_agree(problem: Drawn, place: tuple[int, int], said: list[Any]) -> None:
    """The sentence, the ribbons and the bars of each query are those of the attention at a
    place.
    """
    title = ", ".join(problem.names(*place))
    whose = f"{title[0].upper()}{title[1:]}, "
    for word, weights, values, found in zip(
        WORDS, problem.weights[place], problem.values[place], said, strict=False
    ):
        sentence, bars, shares, sums, names = found
        assert sentence.startswith(f"{whose}{word} looks"), (place, sentence)
        assert bars.startswith(whose)
        assert f"the new {word} = " in bars
        np.testing.assert_allclose(numbers_of(shares), weights, atol=5.1e-4)
        np.testing.assert_allclose(numbers_of(sums), values, atol=5.1e-4)
        most = [
            key
            for weight, key in zip(weights, WORDS, strict=False)
            if weights.max() - weight < 1e-6
        ]
        if len(most) < len(weights):
            assert names[1:] == most
    assert len(said) == problem.weights.shape[-1]


def numbers_of(texts: list[str]) -> list[float]:
    """Printed numbers, with the sign for minus that pages have."""
    return [float(text.replace("\N{MINUS SIGN}", "-")) for text in texts]


SHAPES = [(2, 2), (3, 0), (0, 3), (1, 2), (2, 9)]


@pytest.mark.parametrize(
    "seeds", [range(1), pytest.param(range(1, 8), marks=pytest.mark.slow)], ids=["few", "many"]
)
@pytest.mark.parametrize(("entries", "heads"), SHAPES)
def test_each_choice_of_the_ribbons_is_an_attention(
    browser: Browser, tmp_path: Path, entries: int, heads: int, seeds: range
) -> None:
    for seed in seeds:
        problem = drawn(seed, entries, heads)
        file = tmp_path / f"drawn{seed}.yaml"
        file.write_text(problem.text)
        ((found,),) = played(browser, (written(file, tmp_path, "--all"), [("attentions", "")]))
        places = list(itertools.product(range(max(1, entries)), range(max(1, heads))))
        names = [[name.capitalize() for name in problem.names(*place)] for place in places]
        several = [place for place, length in enumerate((entries, heads)) if length > 1]
        own = [
            at for at, length in enumerate(each for each in (entries, heads) if each) if length > 1
        ]
        assert [choices for choices, _ in found["ribbons"]] == [
            [name[at] for at in own] for name in names
        ]
        assert several
        for place, (_, said) in zip(places, found["ribbons"], strict=True):
            must_agree(problem, place, said)
        place = places[-1]  # which was chosen last; a part of the page changes what it names
        for title, said in found["parts"]:
            words = title.lower().replace(",", "").split()
            entry = int(words[words.index("entry") + 1]) if "entry" in words else place[0]
            head = int(words[words.index("head") + 1]) if "head" in words else place[1]
            place = (entry, head)
            must_agree(problem, place, said)


def test_all_heads_are_there_at_once_and_a_click_chooses_one(
    browser: Browser, tmp_path: Path
) -> None:
    panel = ".heads button"
    file = Path(__file__).parents[2] / "inputs" / "grouped_query.yaml"
    play: Play = [
        ("texts", panel),
        ("click", f"{panel} >> nth=2"),
        ("texts", f"{panel}[aria-current=true]"),
        ("texts", ".query > p:first-child"),
    ]
    ((names, chosen, said),) = played(browser, (written(file, tmp_path), play))
    assert names == ["Head 0", "Head 1", "Head 2", "Head 3"]
    assert chosen == ["Head 2"]
    assert said[0].startswith("Head 2, ")
