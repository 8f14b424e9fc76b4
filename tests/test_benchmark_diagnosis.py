"""The confusion table of `check`, with a few kinds of mistakes: what must hold of all of them."""

from __future__ import annotations

import pytest

from attncli.mistakes.catalogue import known_mistakes
from tests.reference.mistaken import ELSEWHERE, GROUPS, KINDS, SENTINELS
from tests.tools.benchmarks.diagnosis import judged, main, right_solutions

FEW = (
    "the scores were divided by d_k, not by its root",
    "the mask was forgotten",
    "a term was left out",
    "a row was copied from another",
    "dS Q was worked out instead of dS K",
    "(no name) each row of V was taken for the one before it",
    "(no name) a number from nowhere",
)
CHOSEN = {name: kind for name, kind in KINDS.items() if name in FEW}


def test_every_kind_has_a_name_of_its_own() -> None:
    assert len(KINDS) == sum(map(len, GROUPS.values()))
    assert len(CHOSEN) == len(FEW)


def test_every_known_mistake_is_a_kind() -> None:
    """Those with a number in the place of -inf are two, which take one of these numbers each
    time.
    """
    numbers = [
        name
        for name in known_names()
        if " instead of -inf" in name or "hidden scores were set to -" in name
    ]
    assert known_names() - {*numbers, *ELSEWHERE} <= set(KINDS)
    assert len(numbers) == 2 * len(SENTINELS)


def known_names() -> set[str]:
    return {mistake.name for mistake in known_mistakes()}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FEW)
def test_the_first_wrong_cell_is_right(name: str) -> None:
    row = judged(CHOSEN[name], 1, 0)
    assert row.number > 0
    assert row.first_right == row.number


def test_nothing_is_blamed_for_what_is_right() -> None:
    number, wrong = right_solutions(list(CHOSEN.values()), 1, 0)
    assert number > 0
    assert wrong == []


@pytest.mark.long
def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--kinds", "scores were divided by d_k,down the columns", "--problems", "1"])
    assert (
        capsys.readouterr().out
        == "| mistake | solutions | named | perhaps | not named | perhaps another | another | first"
        " wrong cell right |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n| the"
        " scores were divided by d_k, not by its root | 1 | 1 |  |  |  |  | 1 |\n| the softmax"
        " was taken down the columns | 1 | 1 |  |  |  |  | 1 |\n| the softmax's Jacobian was"
        " taken down the columns | 1 | 1 |  |  |  |  | 1 |\n| *in attention: 2 kinds* | 2 | 2 | "
        " |  |  |  | 2 |\n| *in the backward pass: 1 kind* | 1 | 1 |  |  |  |  | 1 |\n\nOf 2"
        " right solutions 0 had a number called wrong.\n"
    )
