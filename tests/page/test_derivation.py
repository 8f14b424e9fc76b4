"""The page of a trace: what it holds at every detail, its notes, and the same page as data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import jsonschema
import numpy as np
import pytest

import attncli
from attncli.equation.notation import UNICODE
from attncli.equation.printer import write, write_equation
from attncli.page.derivation import derivation
from attncli.page.document import (
    Document,
    Formula,
    Grid,
    Heading,
    Listing,
    Paragraph,
    Product,
    Table,
    Worked,
    plain,
    plain_line,
)
from attncli.page.view import View
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.keep_and_hide import Keep
from attncli.tracing import Trace, run

Build = Callable[..., Problem]
Kind = TypeVar("Kind")
TRACE_SCHEMA = json.loads(
    (Path(attncli.__file__).parent / "tracing/trace.schema.json").read_text(encoding="utf-8")
)
COMPUTED = ("Q", "K", "V", "K_T", "scores", "scaled", "exp", "row_sum", "weights", "output")


@pytest.fixture(scope="module")
def trace(love: Problem) -> Trace:
    return run(love)


def blocks(page: Document, kind: type[Kind]) -> Iterator[Kind]:
    return (block for block in page.blocks if isinstance(block, kind))


def sentences(page: Document, kind: str) -> list[str]:
    return [plain(block.text) for block in blocks(page, Paragraph) if block.kind == kind]


def test_the_headings_of_a_page(trace: Trace) -> None:
    headings = [
        (heading.number, heading.text) for heading in blocks(derivation(trace, View()), Heading)
    ]
    assert headings == [
        (None, "In words"),
        ("1–3", "Queries, keys and values"),
        ("4–5", "Scores"),
        (6, "Scaled scores"),
        (7, "Exponentials"),
        (8, "Row sums"),
        (9, "Attention weights"),
        (10, "Output"),
    ]
    apart = blocks(derivation(trace, View(short=False)), Heading)
    assert [(heading.number, heading.text) for heading in apart][1:7] == [
        (None, "What is given"),
        (1, "Queries"),
        (2, "Keys"),
        (3, "Values"),
        (4, "Keys, transposed"),
        (5, "Scores"),
    ]


def test_the_first_line_says_what_is_computed(trace: Trace, problem: Build) -> None:
    def about(trace: Trace) -> str:
        return plain(next(blocks(derivation(trace, View()), Paragraph)).text)

    assert about(trace) == "Scaled dot-product attention: 3 tokens, d_model = 4, d_k = 3, d_v = 3."
    cross = problem(
        Q=np.ones((2, 3)), K=np.ones((4, 3)), V=np.ones((4, 1)), score="dot", mask=(Causal(),)
    )
    weights = {"W_Q": np.ones((2, 1)), "W_K": np.ones((3, 1)), "W_V": np.ones((3, 1))}
    wider = problem(X=np.ones((2, 2)), context=np.ones((4, 3)), **weights)
    assert (
        about(run(wider))
        == "Scaled dot-product attention: 2 queries, 4 keys, d_model = 2, d_context = 3, d_k = 1,"
        " d_v = 1."
    )
    assert (
        about(run(cross))
        == "Attention with the dot score: 2 queries, 4 keys, d_k = 3, d_v = 1; mask: causal."
    )


def test_every_matrix_is_shown_with_its_labels(trace: Trace) -> None:
    shown = (
        block.result if isinstance(block, Product) else block
        for block in derivation(trace, View(short=False)).blocks
    )
    grids = {write(block.name, UNICODE): block for block in shown if isinstance(block, Grid)}
    assert list(grids) == [
        "X",
        "W_Q",
        "W_K",
        "W_V",
        "Q",
        "K",
        "V",
        "Kᵀ",
        "S",
        "Z",
        "E",
        "r",
        "A",
        "O",
    ]
    assert grids["S"].rows == grids["S"].columns == ("I", "love", "AI")
    assert [[cell.text for cell in row] for row in grids["A"].cells] == [
        ["0.070", "0.707", "0.223"], ["0.333", "0.333", "0.333"], ["0.168", "0.533", "0.299"],
    ]  # fmt: skip
    assert (grids["r"].rows, grids["r"].columns) == (("I", "love", "AI"), ())
    assert [row[0].text for row in grids["r"].cells] == ["25.368", "16.957", "18.894"]


def test_formulas_carry_their_shapes(trace: Trace) -> None:
    formulas = [
        (write_equation(formula.equation, UNICODE), formula.shapes)  # type: ignore[arg-type]
        for formula in blocks(derivation(trace, View(detail="brief")), Formula)
    ]
    assert formulas == [
        ("Q = X W_Q", ((3, 4), (4, 3), (3, 3))),
        ("K = X W_K", ((3, 4), (4, 3), (3, 3))),
        ("V = X W_V", ((3, 4), (4, 3), (3, 3))),
        ("S = Q Kᵀ", ((3, 3), (3, 3), (3, 3))),
        ("Z = S / √d_k", ((3, 3),)),
        ("E = exp(Z)", ((3, 3),)),
        ("r = row sums of E", ((3,),)),
        ("A = softmax(Z)", ((3, 3),)),
        ("O = A V", ((3, 3), (3, 3), (3, 3))),
    ]


@pytest.mark.parametrize(("detail", "lines"), [("brief", 0), ("rows", 9 * 3), ("cells", 8 * 9 + 3)])
def test_the_detail_is_how_many_lines_are_worked(trace: Trace, detail: str, lines: int) -> None:
    """Nine of the ten steps have three rows each; K transposed is a copy. Eight have nine cells,
    the sums three.
    """
    page = derivation(trace, View(detail=detail))
    assert sum(len(block.lines) for block in blocks(page, Worked)) == lines


def test_a_page_begins_with_what_it_means(trace: Trace) -> None:
    page = derivation(trace, View())
    assert [type(block) for block in page.blocks[:5]] == [
        Paragraph,
        Heading,
        Listing,
        Grid,
        Paragraph,
    ]
    (words,) = blocks(page, Listing)
    assert plain(words.items[0]).startswith(
        '"I" pays 70.7 % of its attention to "love", 22.3 % to "AI" and 7.0 % to itself.'
    )
    shades = next(blocks(page, Grid))
    assert (shades.picture, shades.step) == ("map", "weights")
    assert sentences(page, "text")[1] == (
        "X has a row for each token; the weights that a model learns are W_Q, W_K and W_V."
        " Shapes: X (3×4) → Q, K, V (3×3) → S (3×3) → A (3×3) → O (3×3)"
    )


def test_a_page_of_some_steps_ends_with_those_that_lead_there(trace: Trace) -> None:
    page = derivation(trace, View(steps=("scores",), summary=True))
    (summary,) = blocks(page, Table)
    rows = [tuple(plain(cell) for cell in row) for row in summary.rows]
    assert rows[-1] == ("5", "Scores", "S = Q Kᵀ", "(3×3)·(3×3) = (3×3)")
    assert [row[1] for row in rows] == [trace.steps[name].rule.title for name in COMPUTED[:5]]
    assert not list(blocks(derivation(trace, View(summary=True)), Table))


def test_some_steps_only(trace: Trace) -> None:
    page = derivation(trace, View(steps=("output", "scores")))
    assert [heading.text for heading in blocks(page, Heading)] == ["Scores", "Output"]
    assert [heading.number for heading in blocks(page, Heading)] == [5, 10]
    assert not list(blocks(page, Table))


def test_one_cell_only(trace: Trace) -> None:
    page = derivation(trace, View(cell="scores[I,love]"))
    (worked,) = blocks(page, Worked)
    assert [plain_line(line) for line in worked.lines] == ["2·2 + 0·1 + 1·1 = 5"]
    assert [heading.text for heading in blocks(page, Heading)] == ["Scores: scores[0, 1]"]


def test_the_note_on_rounded_lines_comes_once_and_only_where_there_are_some(trace: Trace) -> None:
    note = (
        "≈ means: the printed numbers give the result only after rounding. attncli itself"
        " calculates with unrounded numbers."
    )
    assert sentences(derivation(trace, View()), "note") == [note]
    assert sentences(derivation(trace, View(steps=("scores",))), "note") == []
    assert sentences(derivation(trace, View(detail="brief")), "note") == []


def test_a_small_number_format_is_named(love: Problem) -> None:
    notes = sentences(derivation(run(love, dtype="bfloat16"), View(detail="brief")), "note")
    assert len(notes) == 1
    assert "bfloat16" in notes[0]
    assert "float32" in notes[0]


def test_warnings_come_before_everything_else(problem: Build) -> None:
    rows = [[1], [2]]
    blind = problem(Q=rows, K=rows, V=rows, mask=(Keep(np.array([[False, False], [True, True]])),))
    assert sentences(derivation(run(blind), View()), "warning") == [
        'Query "t1" (row 0) sees no key: its weights and its output are 0.'
    ]


def test_on_paper_the_page_says_where_it_differs(love: Problem) -> None:
    """Truth, from mpmath: e^(4/√3) = 10.0684 and the sum 18.8937; on paper e^2.309 = 10.064 and
    18.890.
    """
    page = derivation(run(love, rounding="paper"), View())
    assert sentences(page, "note") == [
        "This page is calculated as on paper: every result is rounded to 3 decimals, and the next"
        " step uses the rounded number. A half is rounded away from 0. Inputs are not rounded. The"
        " weights of a row may therefore add up to a little more or less than 1. ≈ means: the"
        " printed numbers give the result only after rounding."
    ]
    differences, _ = blocks(page, Listing)
    assert [plain(item) for item in differences.items] == [
        (
            "Exponentials: 3 of 9 cells. The largest difference is at AI → love: 10.064 here,"
            " 10.068 without rounding."
        ),
        (
            "Row sums: 3 of 3 cells. The largest difference is at AI: 18.890 here, 18.894 without"
            " rounding."
        ),
        (
            "Output: 2 of 9 cells. The largest difference is at love, d1: 0.999 here, 1 without"
            " rounding."
        ),
    ]


def test_on_paper_with_a_mask(problem: Build) -> None:
    """What is hidden is hidden in truth too: no difference, and no warning of NumPy's."""
    rows = [["1"], ["2"]]
    page = derivation(
        run(problem(Q=rows, K=rows, V=rows, mask=(Causal(),)), rounding="paper"), View()
    )
    assert len(list(blocks(page, Listing))) == 1


def test_hidden_cells_are_marked_and_shades_follow_the_numbers(problem: Build) -> None:
    rows = [[1], [2]]
    trace = run(problem(Q=rows, K=rows, V=rows, mask=(Causal(),)))
    grids = {
        write(grid.name, UNICODE): grid
        for grid in blocks(derivation(trace, View(heatmap=True, short=False)), Grid)
    }
    assert [[cell.hidden for cell in row] for row in grids["Z'"].cells] == [
        [False, True],
        [False, False],
    ]
    assert [[cell.shade for cell in row] for row in grids["A"].cells] == [
        [1, None],
        trace["weights"][1].tolist(),
    ]
    assert [[cell.shade for cell in row] for row in grids["Z'"].cells] == [
        [0, None],
        [pytest.approx(1 / 3), 1],
    ]
    assert all(cell.shade is None for row in grids["V"].cells for cell in row)


@pytest.mark.each_choice
@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"detail": "cells"},
        {"detail": "brief"},
        {"steps": ("weights",)},
        {"cell": "exp[0,1]"},
        {"cell": "X[0,1]"},
    ],
    ids=str,
)
@pytest.mark.parametrize("rounding", ["shown", "paper"])
def test_the_page_as_data_is_valid_json(
    love: Problem, choice: dict[str, Any], rounding: str
) -> None:
    data = derivation(run(love, rounding=rounding), View(**choice)).data()
    read = json.loads(json.dumps(data, allow_nan=False))
    jsonschema.validate(read, TRACE_SCHEMA)
    assert len(read["reading"]) == 3


def test_data_of_one_cell_and_of_worked_lines(trace: Trace) -> None:
    cell: Any = derivation(trace, View(cell="scores[I,love]")).data()
    assert cell["cell"] == {
        "step": "scores",
        "index": [0, 1],
        "label": "I → love",
        "text": "2·2 + 0·1 + 1·1 = 5",
    }
    assert list(cell["steps"]) == ["scores"]
    rows: Any = derivation(trace, View(steps=("exp",))).data()
    assert rows["steps"]["exp"]["worked"][0] == {"cell": "I → love", "text": "e^2.887 ≈ 17.935"}


def test_numbers_that_do_not_fit_are_still_a_page(problem: Build) -> None:
    for rounding in ("shown", "paper"):
        trace = run(problem(Q=[["1e200"]], K=[["1e200"]], V=[["1"]]), rounding=rounding)
        page = derivation(trace, View(detail="cells", heatmap=True))
        jsonschema.validate(json.loads(json.dumps(page.data(), allow_nan=False)), TRACE_SCHEMA)
        assert sentences(page, "warning") == [
            "Scores: 1 of 1 cells does not fit into float64 (the first at scores[t1,t1])."
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("past", "rows"), [(1, "The first row is from the cache."), (2, "The first 2 rows are from")]
)
def test_a_cache_is_told_in_words(problem: Build, past: int, rows: str) -> None:
    one, kept = np.ones((1, 2)), np.ones((past, 2))
    trace = run(problem(Q=one, K=one, V=one, past_K=kept, past_V=kept, rope=(10_000, "half")))
    words = " ".join(sentences(derivation(trace, View(short=False)), "text"))
    assert f"The keys of all tokens. {rows}" in words
    assert f"Query i is at position i + {past}, after the positions of the cache." in words
    assert "With RoPE, these are the rotated keys." in words


def test_another_base_is_called_by_its_number(problem: Build) -> None:
    rows = [[1]]
    words = " ".join(
        sentences(derivation(run(problem(Q=rows, K=rows, V=rows, exp_base=2)), View()), "text")
    )
    assert "2 to the power of every score." in words
