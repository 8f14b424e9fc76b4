"""A page made piece by piece is the same, letter for letter, as one that is in memory, and takes
little of it.
"""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from attncli.page import data, document, printer
from attncli.page.derivation import derivation
from attncli.page.document import Document, Lazy
from attncli.page.gradient import gradient_page
from attncli.page.view import View
from attncli.problem.loader import load, loads
from attncli.problem.model import Problem
from attncli.render import Style, cells, pieces, render
from attncli.tracing import run
from attncli.tracing.slices import backward_steps

INPUTS = sorted((Path(__file__).parents[2] / "inputs").glob("*.yaml"))
STYLES = [
    ("table", Style()),
    ("table", Style(width=60, color=True)),
    ("markdown", Style()),
    ("markdown", Style(math="dollars")),
    ("latex", Style()),
    ("latex", Style(fragment=True)),
    ("html", Style()),
    ("json", Style()),
]


def page_of(problem: Problem, view: View, *, gradient: bool) -> Document:
    trace = run(problem, gradient=gradient)
    return gradient_page(trace, view) if backward_steps(trace) else derivation(trace, view)


FEW = ("causal", "grouped_query")


@pytest.mark.long
@pytest.mark.at_most(44)
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[] if path.stem in FEW else pytest.mark.slow)
        for path in INPUTS
    ],
)
@pytest.mark.parametrize("gradient", [False, True])
def test_pieces_make_the_same_page(
    path: Path, gradient: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = load(str(path))
    view = View(heatmap=True) if gradient else View(detail="cells", precision=1)
    first = INPUTS.index(path) + 2 * gradient
    styles = (
        STYLES if path.stem in FEW else [STYLES[(first + more) % len(STYLES)] for more in (0, 4)]
    )
    whole = page_of(problem, view, gradient=gradient)
    monkeypatch.setattr(printer, "MOST_NUMBERS_AT_ONCE", 0)
    monkeypatch.setattr(data, "MOST_NUMBERS_AS_LISTS", 0)
    monkeypatch.setattr(document, "MOST_CELLS_IN_MEMORY", 0)
    monkeypatch.setattr(cells, "CELLS_AT_ONCE", 7)
    piecewise = page_of(problem, view, gradient=gradient)
    assert isinstance(piecewise.blocks, Lazy)
    rendered = [render(piecewise, format, style) for format, style in styles]
    monkeypatch.undo()
    for (format, style), text in zip(styles, rendered, strict=True):
        assert text == render(whole, format, style)


@pytest.mark.slow
@pytest.mark.parametrize("format", ["table", "html"])
def test_a_large_page_takes_little_memory(format: str) -> None:
    """What its largest matrix takes as text, 6 to 7 MB; with all pieces of the page in memory it
    would be 10 to 13.
    """
    tokens, width = 300, 4
    numbers = np.random.default_rng(0).uniform(-1, 1, (3, tokens, width)).round(3)
    given = "".join(
        f"{name}: {matrix.tolist()}\n" for name, matrix in zip("QKV", numbers, strict=True)
    )
    page = derivation(run(loads(given.encode(), "large.yaml")), View())
    tracemalloc.start()
    written = sum(map(len, pieces(page, format)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert written > 28 * 10**5
    assert peak < 85 * 10**5
