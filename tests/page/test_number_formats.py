"""Where a format differs from float64, on a page: at the end of a derivation, and for all formats
in one table.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import attncli
from attncli.page.comparison import LARGEST_ERRORS
from attncli.page.derivation import derivation
from attncli.page.document import Document, Heading, Listing, Paragraph, Table, plain
from attncli.page.number_formats import formats_page
from attncli.page.view import View
from attncli.problem.model import Problem
from attncli.render import render
from attncli.tracing import run
from attncli.tracing.number_formats import deviation_from_float64, deviations

Build = Callable[..., Problem]


def closing(given: Problem, dtype: str, view: View | None = None) -> Document:
    trace = run(given, dtype=dtype)
    return derivation(trace, view or View(), deviation_from_float64(given, trace))


def listed(page: Document) -> list[str]:
    return [
        plain(item) for block in page.blocks if isinstance(block, Listing) for item in block.items
    ]


def test_a_derivation_in_a_lower_format_closes_with_its_errors(love: Problem) -> None:
    page = closing(love, "float16")
    heading, losses, table, largest, same = page.blocks[-5:]
    assert heading == Heading("Where float16 differs from float64")
    assert losses == Listing(
        (("Every row of weights has the same sum as in float64, rounded to float16.",),)
    )
    assert isinstance(table, Table)
    assert table.head == ("step", "absolute", "relative", "where", "float64", "float16")
    # 4/√3 = 2.3094; float16 has 1/512 between 2 and 4, and 1182/512 = 2.3086 is the nearest
    assert [plain(cell) for cell in table.rows[0]] == [
        "scaled", "8.1e-4", "3.5e-4", "AI → love", "2.3094", "2.3086",
    ]  # fmt: skip
    assert largest == Paragraph((LARGEST_ERRORS,))
    assert isinstance(same, Paragraph)
    assert (
        plain(same.text) == "Identical to the last bit: X, W_Q, W_K, W_V, Q, K, V, K_T and scores."
    )


def test_data_have_it_where_the_schema_says(love: Problem) -> None:
    trace = run(love, dtype="float16")
    page = derivation(trace, View(), deviation_from_float64(love, trace))
    data = json.loads("".join(render(page, "json")))
    schema = json.loads(
        (Path(attncli.__file__).parent / "tracing/trace.schema.json").read_text(encoding="utf-8")
    )
    assert {*data} <= {*schema["properties"]}
    assert data["parting"]["steps"]["scaled"]["differs"] is True


def test_only_a_whole_page_closes_so(love: Problem) -> None:
    trace = run(love, dtype="float16")
    for view in (View(steps=("scores",)), View(cell="scores[0,0]")):
        blocks = derivation(trace, view, deviation_from_float64(love, trace)).blocks
        assert Heading("Where float16 differs from float64") not in blocks


def test_what_gets_lost(problem: Build) -> None:
    said = listed(closing(problem(Q=[[1], [300]], K=[[1], [300]], V=[[1], [1]]), "float16"))
    overflow = (
        "Overflow: 1 cell of scores does not fit; t2 → t2 is 90000, and the largest float16 is"
        " 65504."
    )
    assert said[-3:-1] == [overflow, "1 weight is too small for float16 and becomes 0."]
    assert said[-1].startswith("1 row of weights no longer sums to 1 when rounded to float16: ")
    vanished = listed(closing(problem(Q=[[1]], K=[[0], [-20]], V=[[1], [1]]), "float16"))
    assert "1 weight is too small for float16 and becomes 0." in vanished


def test_rows_are_told_with_digits_that_tell(problem: Build) -> None:
    said = listed(closing(problem(Q=[[0]], K=[[0]] * 61, V=[[1]] * 61), "bfloat16"))
    assert said[-1] == '1 row of weights no longer sums to 1 when rounded to bfloat16: "t1" 0.998.'


def test_one_table_for_all_formats(love: Problem) -> None:
    page = formats_page(deviations(love), love.title, 3)
    assert page.title == "I love AI: where number formats differ from float64"
    absolute, relative = (block for block in page.blocks if isinstance(block, Table))
    assert absolute.head == relative.head == ("step", "float32", "float16", "bfloat16")
    # bfloat16 has 1/64 between 2 and 4: 4/√3 is nearest to 148/64 = 2.3125, and 5/√3 = 2.88675 to
    # 185/64 = 2.890625
    assert [plain(cell) for cell in absolute.rows[0]][2:] == ["8.1e-4", "3.9e-3"]
    assert [block.text for block in page.blocks if isinstance(block, Heading)] == [
        "float32: about 6 digits", "float16: about 3 digits", "bfloat16: about 2 digits",
    ]  # fmt: skip
    data = json.loads(render(page, "json"))
    assert list(data["formats"]) == ["float32", "float16", "bfloat16"]
    assert data["formats"]["float16"]["overflow"] is None
    assert data["formats"]["float16"]["steps"]["scores"]["max_abs"] == 0
    assert (
        abs(data["formats"]["bfloat16"]["steps"]["scaled"]["max_abs"] - (185 / 64 - 5 / 3**0.5))
        < 1e-12
    )
