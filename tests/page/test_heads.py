"""The page of several heads and entries: a part for each, and what belongs to all of them once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attncli.page.derivation import derivation
from attncli.page.document import Heading
from attncli.page.view import View
from attncli.problem.model import Problem
from attncli.render import FORMATS, render
from attncli.tracing import run

Build = Callable[..., Problem]


def headings(problem: Problem, **choice: object) -> list[str]:
    page = derivation(run(problem), View(**choice))  # type: ignore[arg-type]
    return [block.text for block in page.blocks if isinstance(block, Heading)]


def test_values_alone_may_have_entries_and_heads(problem: Build) -> None:
    """The weights are those of all entries, and stand before the first; each entry has its own output."""
    values = np.arange(8.0).reshape(2, 1, 2, 2)
    one = problem(Q=np.eye(2), K=np.eye(2), V=values)
    assert headings(one, detail="brief")[:-1] == [
        "What is given", "Keys, transposed", "Scores", "Scaled scores", "Exponentials", "Row sums", "Attention weights",
        "Entry 0", "Entry 0, head 0", "Output", "Entry 0, head 0 in words",
        "Entry 1", "Entry 1, head 0", "Output", "Entry 1, head 0 in words",
    ]  # fmt: skip
    trace = run(one)
    np.testing.assert_allclose(trace["output"], trace["weights"] @ values)
    for format in FORMATS:
        assert render(derivation(trace, View()), format)
