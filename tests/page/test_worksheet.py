"""A worksheet leaves room for numbers, and tells none of them anywhere else."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from markdown_it import MarkdownIt

from attncli.errors import AttncliError, Exit
from attncli.page.document import Document, Grid, Heading, Listing, Worked
from attncli.page.view import View
from attncli.page.worksheet import blank_steps, worksheet
from attncli.problem.loader import loads
from attncli.problem.model import Problem
from attncli.problem.text.numbers import as_float
from attncli.render import Style, render
from attncli.tracing import run
from attncli.tracing.model import Trace

Build = Callable[..., Problem]


@pytest.fixture(scope="module")
def trace(love: Problem) -> Trace:
    return run(love)


def page(trace: Trace, *names: str, **choice: object) -> Document:
    blank = frozenset(blank_steps(trace, names or None))
    return worksheet(trace, View(blank=blank, **choice))  # type: ignore[arg-type]


def worked(document: Document) -> dict[str, bool]:
    """The numbered steps of a page, and whether lines are worked in them."""
    found: dict[str, bool] = {}
    title = ""
    for block in document.blocks:
        if isinstance(block, Heading):
            title = block.text
            found.setdefault(title, False)
        elif isinstance(block, Worked):
            found[title] = True
    return found


def test_all_that_is_worked_out_is_blank(trace: Trace) -> None:
    document = page(trace, detail="cells")
    grids = [block for block in document.blocks if isinstance(block, Grid)]
    assert len(grids) == len(trace.steps)
    for grid, step in zip(grids, trace.steps.values(), strict=True):
        texts = {cell.text for row in grid.cells for cell in row}
        assert texts == {""} if not step.rule.given else "" not in texts
    assert not any(isinstance(block, Worked | Listing) for block in document.blocks)


@pytest.mark.parametrize(
    "mask", ["{random: [1, 2], seed: 1}", "[[0.123456789, -inf]]", "[[0, 1/3]]"]
)
def test_a_given_mask_stays_with_all_its_digits(mask: str) -> None:
    problem = loads(
        f"{{Q: [[1]], K: [[1], [2]], V: [[1], [2]], mask: {{additive: {mask}}}}}".encode(), "p.yaml"
    )
    trace = run(problem)
    document = worksheet(trace, View(blank=frozenset(blank_steps(trace))))
    grids = {block.step: block for block in document.blocks if isinstance(block, Grid)}
    (row,) = grids["mask"].cells
    assert [as_float(cell.text.replace("−∞", "-inf")) for cell in row] == trace["mask"][0].tolist()


@pytest.mark.long
def test_no_number_of_a_blank_step_is_told(trace: Trace) -> None:
    """These weights and outputs stand nowhere else on the page."""
    numbers = {"0.707", "0.223", "0.168", "0.533", "0.299", "1.637", "1.365"}
    for format in ("table", "markdown", "latex", "html"):
        for detail in ("brief", "rows", "cells"):
            text = render(page(trace, "weights", "output", detail=detail), format, Style())
            assert "17.935" in text
            assert not numbers & set(re.findall(r"[0-9]+\.[0-9]+", text))


def test_lines_that_read_a_blank_step_are_left_out(trace: Trace) -> None:
    found = worked(page(trace, "weights"))
    assert found["Row sums"]
    assert not found["Attention weights"]
    assert not found["Output"]
    assert "In words" not in found
    assert "Summary" not in found


def test_what_copies_a_blank_step_is_blank_too(trace: Trace, problem: Build) -> None:
    assert blank_steps(trace, ["K"]) == ("K", "K_T")
    assert blank_steps(trace, ["K_T"]) == ("K_T",)
    assert blank_steps(trace, ["A", "S"]) == ("scores", "weights")
    stacked = np.arange(24.0).reshape(2, 4, 3)
    heads = run(problem(X=np.eye(3, 4), W_Q=stacked, W_K=stacked, W_V=stacked, joined=True))
    assert blank_steps(heads, ["heads_output"]) == ("heads_output", "concat", "output")


def test_heads_have_no_reading_in_words(problem: Build) -> None:
    heads = run(problem(Q=[[[1, 2]], [[3, 4]]], K=[[[1, 2]], [[3, 4]]], V=[[[1, 2]], [[3, 4]]]))
    assert not [title for title in worked(page(heads)) if "words" in title]


@pytest.mark.parametrize(
    ("names", "message", "help"),
    [
        (["X"], "X cannot be blank: the problem gives it", "the steps that can be blank are Q, K"),
        (
            ["X", "W_Q"],
            "X and W_Q cannot be blank: the problem gives them",
            "the steps that can be blank are Q, K",
        ),
        (["wieghts"], "no step is called 'wieghts'", "did you mean weights?"),
        (["mask"], "this problem has no step mask", "its steps are"),
    ],
)
def test_what_cannot_be_blank(names: list[str], message: str, help: str, trace: Trace) -> None:
    with pytest.raises(AttncliError) as error:
        blank_steps(trace, names)
    assert error.value.exit_code == Exit.USAGE
    assert str(error.value) == message
    assert help in error.value.help


def test_markdown_shows_a_line_to_write_on(trace: Trace) -> None:
    written = render(page(trace, "weights"), "markdown", Style(math="dollars"))
    html = MarkdownIt("commonmark").enable("table").render(written)
    assert html.count(">______</td>") == 9
