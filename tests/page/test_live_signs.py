"""How a mistake can be noticed, as the live page says it: the sentences for small problems, found
by hand, and the kinds of mistakes.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from attncli.mistakes.catalogue import known_mistakes
from attncli.mistakes.groups import OTHERS, group_of
from attncli.page.live.data import live_data
from attncli.problem.loader import load
from tests.page.test_live import asked

INPUTS = Path(__file__).parents[2] / "inputs"
I_LOVE_AI = {
    "the softmax was taken down the columns": "The columns of A sum to 1, not its rows.",
    "the softmax was taken over the whole matrix": "All of A together sums to 1, not each row.",
    "1 was added to the sum of the exponentials": "Rows of A no longer sum to 1",
    "the last key was left out": "A key that can be seen has no weight in A.",
    "the scores were not scaled": "Attention is sharper",
    "the scores were scaled twice": "Attention is flatter",
    "K Q^T was worked out instead of Q K^T": "S has its rows as columns: it is transposed.",
    "Q Q^T was worked out instead of Q K^T": "S is symmetric: its rows are its columns.",
    "A K was worked out instead of A V": "Only O differs: A is right.",
    # There are as many tokens as a key has features.
    "the scores were divided by the root of n": "Nothing shows it: no number differs here.",
}
CAUSAL = {
    "the mask was forgotten": "A key that the mask hides has a weight in A.",
    # The last word sees nothing then.
    "the mask was inverted": "Rows of A no longer sum to 1: one sums to 0.",
}


def signs_of(name: str) -> dict[str, str]:
    data = live_data(load(str(INPUTS / f"{name}.yaml")), 3)
    (found,) = asked({"ask": "signs", "data": data})
    return dict(found)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
@pytest.mark.parametrize(
    ("name", "known"), [("i_love_ai", I_LOVE_AI), ("causal", CAUSAL)], ids=["plain", "causal"]
)
def test_the_sign_of_a_mistake_is_the_one_that_its_numbers_have(
    name: str, known: dict[str, str]
) -> None:
    found = signs_of(name)
    assert all(found.values())
    told = {mistake: found[mistake].startswith(sign) for mistake, sign in known.items()}
    assert all(told.values()), {mistake: found[mistake] for mistake in known}


def test_every_mistake_is_of_a_kind() -> None:
    forward = known_mistakes(gradient=False)
    assert [each.id for each in forward if group_of(each.id) == OTHERS] == []


@pytest.mark.parametrize(
    ("id", "title"),
    [
        ("scale-left-out", "Forgot something"),
        ("mask-transposed", "Wrong mask"),
        ("scaled-rounded-to-2", "Rounded too early"),
        ("squares-for-exponentials", "Wrong softmax"),
        ("rope-sections-exchanged", "Wrong positions"),
        ("a-transposed-v-for-a-v", "Swapped matrices"),
        ("of a newer version", OTHERS),
    ],
)
def test_a_kind_follows_from_the_id(id: str, title: str) -> None:
    assert group_of(id) == title
