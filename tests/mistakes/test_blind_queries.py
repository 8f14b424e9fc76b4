"""Queries that a mistake hides whole: their readings are equations of a size that goes with the
number of queries.
"""

from __future__ import annotations

import numpy as np
import pytest

from attncli.equation.nodes import Call, Name, number_node, walk
from attncli.mistakes.blind_queries import MOST_RUNS, _runs


@pytest.mark.parametrize("runs", [1, 2, 8, MOST_RUNS])
def test_each_run_of_queries_makes_an_equation_longer_by_as_much(runs: int) -> None:
    blind = np.zeros((1, 2 * runs), dtype=bool)
    blind[0, ::2] = True
    own = Call("add_mask", (Name("S"), Name("M")))
    sizes = []
    equation = own
    for run in _runs(blind):
        equation = run.put(("h", "i"), number_node(0), equation)
        sizes.append(sum(1 for _ in walk(equation)))
    assert len(sizes) == runs
    more = np.diff([sum(1 for _ in walk(own)), *sizes])
    assert len(set(more.tolist())) == 1
