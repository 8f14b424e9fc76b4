"""Rows of the weights by name: queries of the same heads and entries together, and no more than a
reader wants.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from attncli.problem.model import Problem
from attncli.tracing import run
from attncli.tracing.warnings import named_rows

Build = Callable[..., Problem]
TOKENS = ("a", "b", "c", "d", "e", "f")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([2], ('query "c" (row 2)', "", 1)),
        ([0, 2], ('queries "a" (row 0) and "c" (row 2)', "", 2)),
        ([0, 1, 2, 3], ('queries "a" (row 0), "b" (row 1), "c" (row 2) and "d" (row 3)', "", 4)),
        ([0, 1, 2, 3, 5], ('queries "a" (row 0), "b" (row 1), "c" (row 2) and 2 others', "", 5)),
    ],
)
def test_queries_of_a_single_head(
    rows: list[int], said: tuple[str, str, int], problem: Build
) -> None:
    one = np.ones((6, 1))
    assert list(named_rows(run(problem(Q=one, K=one, V=one, tokens=TOKENS)).steps, rows)) == [said]


@pytest.mark.parametrize(
    ("places", "where"),
    [
        (product(range(3), range(2)), ""),
        ([(1, 0), (1, 1)], " in entry 1"),
        ([(0, 0), (0, 1), (2, 0), (2, 1)], " in entry 0 and entry 2"),
        ([(1, 1)], " in entry 1, head 1"),
        ([(0, 0), (0, 1), (2, 1)], " in entry 0 and entry 2, head 1"),
    ],
)
def test_heads_and_entries(places: list[tuple[int, int]], where: str, problem: Build) -> None:
    batch = np.ones((3, 2, 6, 1))
    trace = run(problem(Q=batch, K=batch, V=batch, tokens=TOKENS))
    found = list(named_rows(trace.steps, [(*place, 4) for place in places]))
    assert found == [('query "e" (row 4)', where, 1)]


def test_many_heads(problem: Build) -> None:
    heads = np.ones((9, 6, 1))
    trace = run(problem(Q=heads, K=heads, V=heads, tokens=TOKENS))
    rows = [(head, query) for head in range(8) for query in (0, 5)]
    where = " in head 0, head 1, head 2 and 5 more"
    assert list(named_rows(trace.steps, rows)) == [
        ('queries "a" (row 0) and "f" (row 5)', where, 2)
    ]
