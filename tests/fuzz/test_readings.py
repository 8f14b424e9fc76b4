"""Long texts are read another way than short ones: it takes the same for a problem, and tells the
same of a bad one.
"""

from __future__ import annotations

import re
from random import Random
from unittest.mock import patch

import pytest

from attncli.problem.text import long_lists, nodes
from tests.tools.fuzz.matrices import text
from tests.tools.fuzz.readings import assert_agreement, readings

DRAWN = 150


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("suffix", ["yaml", "json"])
@pytest.mark.parametrize("seed", range(3))
def test_all_readers_agree(suffix: str, seed: int) -> None:
    chance = Random(seed)
    for _ in range(DRAWN):
        assert_agreement(text(chance, suffix), f"p.{suffix}")


@pytest.mark.parametrize("first", ["1", "x"])
def test_each_matrix_of_a_batch_is_told_uneven(first: str) -> None:
    """Only what is wrong in the first row of all keeps back what the lengths of others say."""
    queries = f"[[[{first}], [2, 3]], [[4], [5, 6]]]"
    problem = f"Q: {queries}\nK: [[[1]], [[2]]]\nV: [[[1]], [[2]]]\n".encode()
    assert_agreement(problem, "p.yaml")
    told, _ = readings(problem, "p.yaml")["quick"]
    assert len(told) == (2 if first == "1" else 1)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_all_kinds_are_drawn(suffix: str) -> None:
    """Problems that are right and such that are wrong, many of them read in one go."""
    chance, name = Random(0), f"p.{suffix}"
    with patch.object(long_lists, "_decoded", wraps=long_lists._decoded) as read:
        good = [readings(text(chance, suffix), name)["quick"][0] == "Problem" for _ in range(100)]
    assert 15 < sum(good) < 85
    assert read.call_count > 50


def test_a_difference_would_be_told() -> None:
    zeros = f"[{', '.join(['[0]'] * 20)}]"
    with patch.object(nodes, "NUMBER_TEXT", re.compile("[0-9]")):
        assert_agreement(f"Q: {zeros}\nK: {zeros}\nV: {zeros}\n".encode(), "p.yaml")
        with pytest.raises(AssertionError, match="quick"):
            assert_agreement(
                f"Q: {zeros}\nK: {zeros}\nV: {zeros.replace('0', '-1')}\n".encode(), "p.yaml"
            )
