"""The page of a comparison: the answer first, then hints, the cell worked on both sides, what
moved, all steps.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from attncli.attention.registry import RULES
from attncli.comparison.page import comparison_page
from attncli.features.compare.dumps import Dump, in_order
from attncli.features.schema.command import schemas
from attncli.page.document import (
    Document,
    Grid,
    Heading,
    Listing,
    Paragraph,
    Table,
    Worked,
    plain,
    plain_line,
)
from attncli.problem.loader import load
from attncli.problem.matrix import Scalar
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.render import FORMATS, Style, render
from attncli.tracing import Trace, run
from attncli.tracing.comparison import Comparison, Operand, compare, match_queries
from tests.cases import in_one_test

COMPARISON_SCHEMA = json.loads(schemas()["comparison"].read_text(encoding="utf-8"))

INPUTS = Path(__file__).parents[3] / "inputs"
Build = Callable[..., Problem]


def a_b(a: Trace, b: Trace) -> tuple[Operand, Operand]:
    return Operand.of_trace(a, "a.yaml", "A", "in A"), Operand.of_trace(b, "b.yaml", "B", "in B")


def before_after(a: Trace, b: Trace, **options: Any) -> Comparison:
    return compare(
        Operand.of_trace(a, "p.yaml", "before", "before"),
        Operand.of_trace(b, "the same", "after", "after"),
        **options,
    )


def ours_theirs(ours: Trace, dtype: str = "float64", **arrays: Any) -> Comparison:
    theirs = Dump(
        in_order({name: np.array(array, dtype=float) for name, array in arrays.items()}), dtype
    )
    return compare(
        Operand.of_trace(ours, "p.yaml", "ours", "in ours"),
        theirs.operand("d.npz", "theirs", "in theirs"),
    )


def sentences(page: Document) -> list[str]:
    found = []
    for block in page.blocks:
        match block:
            case Paragraph(text=text):
                found.append(plain(text))
            case Listing(items=items):
                found += map(plain, items)
            case Worked(lines=lines):
                found += [f"{line.label}: {plain_line(line)}" for line in lines]
    return found


def rows(page: Document) -> list[list[str]]:
    return [
        [plain(cell) for cell in row]
        for block in page.blocks
        if isinstance(block, Table)
        for row in block.rows
    ]


def headings(page: Document) -> list[str]:
    return [block.text for block in page.blocks if isinstance(block, Heading)]


@pytest.fixture(scope="module")
def masked(love: Problem) -> Comparison:
    return before_after(run(love), run(replace(love, mask=type(love.mask)((Causal(),)))))


def test_a_mask_before_and_after(masked: Comparison) -> None:
    page = comparison_page(masked)
    assert page.title == "I love AI: compared"
    assert headings(page) == ["Exponentials, I → love", "Which weights moved", "Step by step"]
    assert sentences(page) == [
        (
            "The steps mask and masked exist only after. Of the steps that both sides have, exp"
            " (exponentials) is the first that differs. 3 of 9 cells differ. The largest difference"
            " is at I → love: 17.935 before and 0 after (absolute difference 17.935, relative 1)."
        ),
        (
            "Before: p.yaml. After: the same. Tolerance: 1e-9, relative to the terms that each cell"
            " is computed from."
        ),
        "before: e^2.887 ≈ 17.935",
        "after: e^(-∞) = 0",
        '"I": 93.0 % of its attention moved from "love" (70.7 %) and "AI" (22.3 %) to itself.',
        '"love": 33.3 % of its attention moved from "AI" to "I" (16.7 %) and itself (16.7 %).',
        "Identical to the last bit: X, W_Q, W_K, W_V, Q, K, V, K_T, scores and scaled.",
    ]
    assert rows(page)[0] == ["mask", "", "", "only after", "", "3×3"]
    assert rows(page)[4] == ["weights", "6 of 9", "0.930", "I → I", "0.070", "1"]


def test_steps_on_one_side_before_and_after_the_first_that_differs(problem: Build) -> None:
    given: dict[str, Any] = {"Q": [[1, 2], [3, 1]], "K": [[1, 0], [1, 1]], "V": [[1], [2]]}
    found = sentences(
        comparison_page(
            before_after(run(problem(**given)), run(problem(**given, scale="none", softcap=3)))
        )
    )
    assert found[0].startswith(
        "The step capped exists only after. The step scaled exists only before. Of the steps that"
        " both sides have, exp (exponentials) is the first that differs. 4 of 4 cells differ. "
    )
    shifted = sentences(
        comparison_page(
            before_after(run(problem(**given)), run(problem(**given, scale=2), shifted=True))
        )
    )
    assert shifted[0].startswith("The first step that differs is scaled (scaled scores). ")
    assert "Only after: row_max and shifted." in shifted


def test_less_detail_and_more(masked: Comparison) -> None:
    assert headings(comparison_page(masked, detail="brief")) == [
        "Which weights moved",
        "Step by step",
    ]
    page = comparison_page(masked, detail="cells")
    assert headings(page)[3:] == ["Exponentials", "Row sums", "Attention weights", "Output"]
    grids = [block for block in page.blocks if isinstance(block, Grid)]
    assert len(grids) == 12
    assert [[cell.text for cell in row] for row in grids[7].cells] == [
        ["1", "0", "0"], ["0.500", "0.500", "0"], ["0.168", "0.533", "0.299"],
    ]  # fmt: skip
    assert [cell.text for cell in grids[8].cells[0]] == ["0.930", "-0.707", "-0.223"]
    assert len(rows(page)) == 16


def test_nothing_differs(love: Problem) -> None:
    page = comparison_page(before_after(run(love), run(love)))
    assert (
        sentences(page)[0]
        == "No difference: the 14 steps that both sides have are identical to the last bit."
    )
    assert headings(page) == []


def test_what_is_lost_on_both_sides_is_told(problem: Build) -> None:
    given = {name: [[1e200, 1], [1, 1]] for name in "QK"}
    trace = run(problem(**given, V=[[1], [2]]))
    assert np.isnan(trace["output"][0]).all()
    first, *_ = sentences(comparison_page(before_after(trace, trace)))
    assert first.startswith("No difference: ")
    names = [name for name in trace.steps if np.isnan(trace[name]).any()]
    assert names[-1] == "output"
    assert first.endswith(
        f" Some cells of {', '.join(names[:-1])} and output are NaN on both sides."
    )


def test_a_difference_within_the_tolerance(love: Problem) -> None:
    page = comparison_page(before_after(run(love), run(love, dtype="float32")))
    assert sentences(page)[0].startswith(
        "No difference larger than the tolerance: the 14 steps that both sides have agree. The step"
        " that comes "
    )
    assert rows(page)[-1][:2] == ["output", "none"]


def test_a_dump_without_the_scale(love: Problem) -> None:
    ours = run(love)
    found = sentences(
        comparison_page(ours_theirs(ours, scores=ours["scores"], scaled=ours["scores"]))
    )
    assert found[:4] == [
        (
            "The first step that differs is scaled (scaled scores). 9 of 9 cells differ. The"
            " largest difference is at I → love: 2.887 in ours and 5 in theirs (absolute difference"
            " 2.113, relative 0.423)."
        ),
        "Every cell of scaled in theirs is 1.732 times the cell in ours, which is √d_k.",
        "A known mistake gives all numbers of scaled in theirs: the scores were not scaled.",
        "Both sides agree up to scores.",
    ]
    assert found[5:7] == ["ours: 5 / √3 ≈ 2.887", "theirs: 5"]


@pytest.mark.long
def test_what_a_dump_leaves_out_in_between(love: Problem) -> None:
    found = sentences(
        comparison_page(ours_theirs(run(love), scores=run(love)["scores"], weights=np.eye(3)))
    )
    assert (
        "Both sides agree up to scores. Only one side has the next steps: scaled, exp and row_sum."
        in found
    )
    assert rows(comparison_page(ours_theirs(run(love), weights=np.eye(3))))[0][0] == "weights"


def test_a_dump_with_a_step_that_ours_does_not_have(love: Problem) -> None:
    page = comparison_page(ours_theirs(run(love), capped=np.eye(3), weights=run(love)["weights"]))
    assert "Only in theirs: capped." in sentences(page)
    assert rows(page) == [["capped", "only theirs", "3×3"]]


def test_a_dump_transposed(love: Problem) -> None:
    ours = run(love)
    found = sentences(comparison_page(ours_theirs(ours, K_T=ours["K"])))
    assert "K_T in theirs equals K_T in ours, transposed." in found


def test_a_transposed_shape(problem: Build) -> None:
    ours = run(problem(Q=[[1, 0], [0, 1], [1, 1]], K=[[1, 2], [3, 4]], V=[[1], [2]]))
    found = sentences(comparison_page(ours_theirs(ours, scores=ours["scores"].T)))
    assert found[:2] == [
        "The first step that differs is scores. Its shape is 3×2 in ours and 2×3 in theirs.",
        "scores in theirs equals scores in ours, transposed.",
    ]


@pytest.fixture
def layer(problem: Build) -> Trace:
    """Four heads on two KV heads, 3 tokens, with biases."""
    random = np.random.default_rng(8)
    sizes = {
        "X": (3, 5),
        "W_Q": (4, 5, 2),
        "W_K": (2, 5, 2),
        "W_V": (2, 5, 2),
        "W_O": (8, 6),
        "b_Q": (4, 2),
        "b_O": (6,),
    }
    return run(
        problem(joined=True, **{name: random.normal(size=size) for name, size in sizes.items()})
    )


@pytest.mark.long
def test_layouts_of_heads(layer: Trace) -> None:
    def hint(**arrays: Any) -> list[str]:
        found = sentences(comparison_page(ours_theirs(layer, **arrays), detail="brief"))
        return [
            each
            for each in found[1:]
            if " in theirs " in each or " in ours " in each or "mistake" in each
        ]

    q, k = layer["Q"], layer["K"]
    flat = np.concatenate(q, axis=1)
    assert hint(Q=flat, K=np.concatenate(k, axis=1)) == [
        "Q and K in theirs have their heads side by side. attncli splits them into heads to"
        " compare."
    ]
    assert hint(Q=q.swapaxes(0, 1)) == [
        "Q in theirs equals Q in ours, with the axes of heads and rows exchanged."
    ]
    assert hint(Q=flat.reshape(4, 3, 2)) == [
        "Q in theirs equals Q in ours, divided into heads by rows, not by features.",
        (
            "A known mistake gives all numbers of Q in theirs: heads were split by rows, without"
            " moving their axis."
        ),
    ]
    assert hint(weights=layer["weights"].mean(axis=0)) == [
        "weights in theirs equals weights in ours, averaged over the heads."
    ]
    assert hint(Q=q - layer["b_Q"][:, None]) == [
        "A known mistake gives all numbers of Q in theirs: the bias was left out of Q."
    ]
    assert hint(output=layer["output"] - layer["b_O"]) == [
        "A known mistake gives all numbers of output in theirs: the bias was left out of the"
        " output."
    ]
    scores = q @ np.tile(k, (2, 1, 1)).swapaxes(-1, -2)
    assert hint(scores=scores) == [
        "A known mistake gives all numbers of scores in theirs: KV heads were tiled, not repeated."
    ]


def test_keys_and_values_repeated_for_all_heads(problem: Build) -> None:
    random = np.random.default_rng(2)
    ours = run(
        problem(
            Q=random.normal(size=(4, 3, 2)),
            K=random.normal(size=(2, 3, 2)),
            V=random.normal(size=(2, 3, 2)),
        )
    )
    keys, values = np.repeat(ours["K"], 2, axis=0), np.repeat(ours["V"], 2, axis=0)
    page = sentences(comparison_page(ours_theirs(ours, K=keys, V=values)))
    assert (
        page[0] == "No difference: the 2 steps that both sides have are identical to the last bit."
    )
    assert (
        page[1]
        == "K and V in theirs are repeated for every query head. attncli compares them in this"
        " form."
    )
    page = sentences(comparison_page(ours_theirs(ours, K=np.tile(ours["K"], (2, 1, 1)))))
    assert page[0].startswith(
        "The first step that differs is K (keys). 12 of 24 cells differ. The largest difference is"
        " at head "
    )
    assert page[2:4] == [
        "A known mistake gives all numbers of K in theirs: KV heads were tiled, not repeated.",
        "Query head h reads KV head h mod 2 in theirs. Each KV head in ours serves consecutive"
        " query heads.",
    ]
    keys[3, 2, 1] += 1  # of KV head 1, as query head 3 has it
    page = sentences(comparison_page(ours_theirs(ours, K=keys)))
    assert page[0].startswith(
        "The first step that differs is K (keys). 1 of 24 cells differs. The largest difference is"
        " at head 3, t3, d2: "
    )


def test_the_worked_cell_of_a_repeated_head(problem: Build) -> None:
    """Keys worked out from X = 1: those of KV head 1 are 5 and 7, and the last query head has 9 for
    7.
    """
    weights = {
        "W_Q": np.ones((4, 1, 2)),
        "W_K": np.array([[[1.0, 3]], [[5, 7]]]),
        "W_V": np.ones((2, 1, 2)),
    }
    ours = run(problem(X=np.ones((1, 1)), **weights))
    keys = np.repeat(ours["K"], 2, axis=0)
    keys[3, 0, 1] = 9
    assert sentences(comparison_page(ours_theirs(ours, K=keys)))[-2:] == [
        "ours: 1·7 = 7",
        "theirs: 9",
    ]


def test_the_worked_cell_of_heads_side_by_side(problem: Build) -> None:
    given = {name: np.arange(8.0).reshape(2, 4) for name in "QKV"}
    split = {name: value.reshape(2, 2, 2).swapaxes(0, 1) for name, value in given.items()}
    flat = run(problem(X=np.eye(2), **{f"W_{name}": value for name, value in given.items()}))
    split["V"] = split["V"] + [[[0, 0], [0, 0]], [[0, 0], [0, 9]]]  # of row 1, the last feature
    apart = run(problem(X=np.eye(2), **{f"W_{name}": value for name, value in split.items()}))
    page = comparison_page(compare(*a_b(flat, apart), steps=("V",)))
    assert sentences(page)[0].startswith(
        "The first step that differs is V (values). 1 of 8 cells differs. The largest difference is"
        " at head 1, t2, d2: "
    )
    assert sentences(page)[-2:] == ["A: 0·3 + 1·7 = 7", "B: 0·3 + 1·16 = 16"]


def test_what_hides_both_ways(problem: Build) -> None:
    ours = run(problem(Q=[[1], [2]], K=[[1], [1]], V=[[1], [2]], mask=(Causal(),)))
    found = sentences(comparison_page(ours_theirs(ours, masked=[[1, -1e9], [2, 2]])))
    assert found[0].startswith("No difference")
    assert (
        found[1]
        == "In masked, one side hides 1 cell by -∞, and the other side by a number such as -1e+9."
        " This does not count as a difference. If attention leaks to a hidden key, the weights"
        " differ."
    )


def test_an_infinite_difference(problem: Build) -> None:
    ours = run(problem(Q=[[1], [2]], K=[[1], [1]], V=[[1], [2]], mask=(Causal(),)))
    found = sentences(comparison_page(ours_theirs(ours, masked=[[1, 1], [2, 2]])))
    assert found[0].endswith(
        "1 of 4 cells differs. The largest difference is at t1 → t2: -∞ in ours and 1 in theirs."
    )


def test_a_tolerance_that_would_do(love: Problem) -> None:
    ours = run(love)
    page = comparison_page(ours_theirs(ours, weights=np.round(ours["weights"], 4)))
    (hint,) = [each for each in sentences(page) if each.startswith("With --tolerance")]
    tolerance = float(hint.split()[2].rstrip(","))
    again = ours_theirs(ours, weights=np.round(ours["weights"], 4))
    assert compare(again.a, again.b, tolerance=tolerance).first is None
    assert compare(again.a, again.b, tolerance=tolerance / 2).first is not None


def test_two_problems_of_other_sizes(problem: Build) -> None:
    a = run(problem(Q=[[1, 0]], K=[[1, 2], [3, 4]], V=[[1], [2]]))
    b = run(problem(Q=[[1, 0], [1, 1]], K=[[1, 2]], V=[[1]], scale=2))
    page = comparison_page(compare(*a_b(a, b)))
    found = sentences(page)
    assert (
        found[0]
        == "The first step that differs is Q (queries). Its shape is 1×2 in A and 2×2 in B."
    )
    assert "There are 1 query and 2 keys in A, 2 queries and 1 key in B." in found
    assert "Different settings: scale is 0.707107 in A and 2 in B." in found
    assert rows(page)[0] == ["Q", "shapes differ", "1×2", "2×2"]


def test_a_row_that_loses_everything(problem: Build) -> None:
    from attncli.problem.parts.masks.padding import Padding

    given: dict[str, Any] = {"Q": [[0]], "K": [[0], [0]], "V": [[1], [2]]}
    a, b = run(problem(**given)), run(problem(**given, mask=(Padding(((False, False),)),)))
    assert (
        '"t1": 100.0 % less attention to "c1" (50.0 %) and "c2" (50.0 %). The row sums to 1 before'
        " and to 0 after." in sentences(comparison_page(before_after(a, b)))
    )
    assert (
        '"t1": 100.0 % more attention to "c1" (50.0 %) and "c2" (50.0 %). The row sums to 0 before'
        " and to 1 after." in sentences(comparison_page(before_after(b, a)))
    )


def test_many_rows_are_summed_up(problem: Build) -> None:
    random = np.random.default_rng(1)
    given = {name: random.normal(size=(40, 4)) for name in "QKV"}
    page = comparison_page(before_after(run(problem(**given)), run(problem(**given, scale=2))))
    (moved,) = [
        block for block in page.blocks if isinstance(block, Listing) and len(block.items) > 5
    ]
    assert len(moved.items) == 13
    assert plain(moved.items[-1]).startswith("28 other rows: ")


@in_one_test("detail", ["brief", "rows", "cells"])
@in_one_test("format", [name for name in FORMATS if name != "json"])
def test_every_format_takes_the_page(masked: Comparison, format: str, detail: str) -> None:
    assert "weights" in render(comparison_page(masked, detail=detail), format, Style(width=80))


def test_it_fits_a_terminal(masked: Comparison) -> None:
    assert (
        max(map(len, render(comparison_page(masked), "table", Style(width=80)).splitlines())) <= 80
    )


@pytest.mark.sampled(10)
@pytest.mark.parametrize("file", sorted(INPUTS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_step_keeps_to_one_line_of_a_terminal(file: Path) -> None:
    problem = load(str(file))
    found = before_after(
        run(problem, shifted=True), run(replace(problem, scale=Scalar.of(3.25)), shifted=True)
    )
    _, _, text = render(comparison_page(found), "table", Style(width=80)).partition(
        "── Step by step "
    )
    head, line, *rows = text.split("\n\n")[1].splitlines()
    assert line.strip("─ ") == ""
    assert {row.split()[0] for row in (head, *rows)} <= {"step", *RULES}
    assert max(map(len, (head, line, *rows))) <= 80


def test_the_relative_difference_is_that_of_the_cell(problem: Build) -> None:
    ours = run(problem(Q=[[1.0]], K=[[1.0], [10.0]], V=[[1.0], [1.0]]))
    found = sentences(comparison_page(ours_theirs(ours, scores=[[2, 12]])))
    assert found[0].endswith(
        "10 in ours and 12 in theirs (absolute difference 2, relative 0.167; relative up to 0.500"
        " in other cells)."
    )


def test_the_data(masked: Comparison) -> None:
    data = json.loads(render(comparison_page(masked), "json"))
    jsonschema.validate(data, COMPARISON_SCHEMA, jsonschema.Draft7Validator)
    assert (data["same"], data["first_difference"]["step"]) == (False, "exp")
    assert data["first_difference"]["where"]["labels"] == ["I", "love"]
    assert data["steps"]["mask"] == {
        "present": ["b"], "shape": {"a": None, "b": [3, 3]}, "differs": False, "transposed": False,
        "layout": None,
    }  # fmt: skip
    assert data["steps"]["scores"]["max_abs"] == 0
    assert data["moved"][1]["labels"] == ["love"]
    assert data["moved"][1]["from"] == [{"key": 2, "label": "AI", "amount": pytest.approx(1 / 3)}]
    assert data["settings"] == {"mask": {"a": [], "b": ["causal"]}}


def test_data_with_infinities_is_valid(problem: Build) -> None:
    ours = run(problem(Q=[[1], [2]], K=[[1], [1]], V=[[1], [2]], mask=(Causal(),)))
    data = json.loads(
        render(comparison_page(ours_theirs(ours, masked=[[1, 1], [2, np.nan]])), "json")
    )
    jsonschema.validate(data, COMPARISON_SCHEMA, jsonschema.Draft7Validator)
    assert data["steps"]["masked"]["max_abs"] == "Infinity"
    assert data["b"] == {
        "name": "d.npz",
        "kind": "dump",
        "dtype": "float64",
        "title": "",
        "rows": None,
        "read_as": {},
        "sees_no_key": None,
    }


def test_the_own_key_of_a_decoded_token_is_the_last() -> None:
    """A whole run against one step of decoding with another scale: query AI is row 2 here, row 0
    there, and key 2.
    """
    whole, step = load(str(INPUTS / "causal.yaml")), load(str(INPUTS / "kv_cache.yaml"))
    one = Scalar.of(1.0)
    page = comparison_page(
        compare(
            *match_queries(
                Operand.of_trace(run(whole), "w", "A", "in A"),
                Operand.of_trace(run(replace(step, scale=one)), "s", "B", "in B"),
            )
        )
    )
    assert [line for line in sentences(page) if line.startswith('"AI": ')] == [
        '"AI": 13.2 % of its attention moved from "I" (7.8 %) and itself (5.4 %) to "love".'
    ]
