"""The short page: what it means comes first, then the steps, and what is given once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from attncli.equation.notation import UNICODE
from attncli.equation.printer import write
from attncli.page.derivation import derivation
from attncli.page.document import Grid, Product
from attncli.page.view import View
from attncli.problem.model import Problem
from attncli.render import Style, render
from attncli.tracing import run
from attncli.tracing.model import Trace

Build = Callable[..., Problem]


def lines(trace: Trace, width: int = 80, detail: str = "rows") -> list[str]:
    page = derivation(trace, View(detail=detail))
    return render(page, "table", Style(width=width)).splitlines()


def matrices(trace: Trace, view: View) -> Counter[str]:
    """How often each array stands on a page as numbers, beside the map of the weights."""
    found: Counter[str] = Counter()
    for block in derivation(trace, view).blocks:
        grids: tuple[Grid, ...] = ()
        if isinstance(block, Product):
            grids = block.matrices
        elif isinstance(block, Grid) and block.picture != "map":
            grids = (block,)
        found.update(write(grid.name, UNICODE) for grid in grids)
    return found


def test_three_words_have_130_lines_and_53_in_brief(love: Problem) -> None:
    trace = run(love)
    assert len(lines(trace)) <= 130
    assert len(lines(trace, detail="brief")) <= 53
    # A worked line of every row: three of each of the nine steps.
    worked = [line for line in lines(trace) if re.search(r"[·+/^].* [=≈] -?[0-9.]+$", line)]
    assert len(worked) == 9 * 3


def test_what_is_given_stands_once_where_it_is_used(love: Problem) -> None:
    found = matrices(run(love), View())
    assert [found[name] for name in ("X", "W_Q", "W_K", "W_V")] == [1, 1, 1, 1]
    assert found["Kᵀ"] == 1
    page = "\n".join(lines(run(love)))
    assert page.index("W_K             K") > page.index("1–3 Queries, keys and values")
    assert "    X  ·  ⎢ 1  0  1 ⎥  =  love" in page


def test_what_is_given_of_a_product_that_is_too_wide_stands_before_it(love: Problem) -> None:
    page = lines(run(love), width=40)
    names = [line.split()[0] for line in page if re.match(r" +(X|W_Q|W_K|W_V|Q|K|V) +d1", line)]
    assert names[:4] == ["X", "W_Q", "Q", "W_K"]
    assert Counter(names)["X"] == 1


def test_a_page_of_some_steps_says_where_it_has_other_matrices_from(love: Problem) -> None:
    def page(*steps: str) -> str:
        return render(derivation(run(love), View(steps=steps, summary=True)), "table")

    assert "The steps above read E of step 7 and r of step 8." in page("weights")
    # What is given, or stands above, has no step to look for.
    assert "The steps above read" not in page("Q")
    assert "The steps above read Z of step 6 and r of step 8." in page("exp", "weights")


def test_formulas_of_a_section_stand_on_a_line_in_markdown(love: Problem) -> None:
    page = render(derivation(run(love), View()), "markdown")
    assert (
        "\n```math\nQ = X \\, W^{Q} \\qquad K = X \\, W^{K} \\qquad V = X \\, W^{V} \\qquad"
        " (3 \\times 4) \\cdot (4 \\times 3) = (3 \\times 3)\n```\n"
    ) in page


def test_rotated_keys_keep_their_letter_when_they_are_transposed(problem: Build) -> None:
    one = problem(Q=[[1, 0], [0, 1]], K=[[1, 2], [3, 4]], V=[[1], [2]], rope=(100, "half"))
    for gradient in (False, True):
        trace = run(one, gradient=gradient)
        pages = [derivation(trace, View(detail=detail)) for detail in ("brief", "rows", "cells")]
        for page in pages:
            for said in render(page, "table").splitlines():
                assert "Kᵀ" not in said
        whole = render(pages[1], "table")
        assert "Scores   S = Q_rot K_rotᵀ" in whole
        assert "Step 4: K_rotᵀ is K_rot with its rows as columns." in whole
    # Whatever a page calls it, the step is that of the transposed keys.
    for called in ("K_T", "Kᵀ", "K^T", "K_rot^T", "K_rotᵀ"):
        assert "── 4 Keys, transposed" in render(derivation(trace, View(steps=[called])), "table")


def test_each_head_has_its_own_weights_once(problem: Build) -> None:
    weights = np.arange(8.0).reshape(2, 2, 2)
    one = problem(X=np.eye(2), W_Q=weights, W_K=weights[:1], W_V=weights[:1])
    found = matrices(run(one), View())
    assert (found["X"], found["W_Q"]) == (1, 2)
    # Both heads read the same keys and values.
    assert (found["W_K"], found["W_V"]) == (1, 1)


def test_worked_lines_stand_beside_the_rows_that_they_are_of(love: Problem) -> None:
    page = lines(run(love))
    assert "    love ⎢ 1.732  1.732  1.732 ⎥     love → I    3 / √3 ≈ 1.732" in page
    narrow = lines(run(love), width=60)
    assert "    love ⎢ 1.732  1.732  1.732 ⎥" in narrow


def test_a_map_has_the_weights_as_shades(love: Problem) -> None:
    page = lines(run(love))
    at = page.index("    A     I    love AI")
    assert page[at + 2].rstrip() == "    love  ▒▒▒▒ ▒▒▒▒ ▒▒▒▒"
    assert page[at + 3] == "    AI    ░░░░ ████ ▒▒▒▒   ░▒▓█ from 0 to 0.707"
    assert not any(
        line.startswith("    A     I    love") for line in lines(run(love), detail="brief")
    )


@pytest.mark.parametrize("format", ["markdown", "latex", "html"])
def test_every_format_has_the_same_order(love: Problem, format: str) -> None:
    whole = render(derivation(run(love), View()), format)
    # A list of contents stands before a page of HTML.
    page = whole.partition("<main>")[2] or whole
    assert "70.7" in page
    order = [page.index(said) for said in ("In words", "Shapes", "Queries, keys and values")]
    assert order == sorted(order)
    assert len(re.findall("Scores(?!: )", page)) == 1
