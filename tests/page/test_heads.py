"""The page of several heads and entries: a part for each, and what belongs to all of them once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from attncli.errors import AttncliError, Exit
from attncli.page.data import view_data
from attncli.page.derivation import derivation
from attncli.page.document import Document, Heading, Paragraph, Worked, plain, plain_line
from attncli.page.gradient import gradient_page
from attncli.page.view import View
from attncli.problem.loader import loads
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.lengths import Lengths
from attncli.render import FORMATS, render
from attncli.tracing import run

Build = Callable[..., Problem]
WORK = [
    "Keys, transposed",
    "Scores",
    "Scaled scores",
    "Exponentials",
    "Row sums",
    "Attention weights",
]
ORDER = "This part comes first. The numbers of the steps give the order of the calculation."


def page(problem: Problem, **choice: Any) -> Document:
    return derivation(run(problem), View(**choice))


def headings(problem: Problem, **choice: Any) -> list[str]:
    return [block.text for block in page(problem, **choice).blocks if isinstance(block, Heading)]


def parts(document: Document) -> Iterator[tuple[str, list[str]]]:
    """The title of every part, and the sentences in it."""
    title, said = "", list[str]()
    for block in document.blocks:
        if isinstance(block, Heading) and block.part:
            yield title, said
            title, said = block.text, []
        elif isinstance(block, Paragraph):
            said.append(plain(block.text))
    yield title, said


@pytest.fixture
def two(problem: Build) -> Problem:
    """Two heads from X, put together, with a mask that both share."""
    weights = {f"W_{name}": np.arange(8.0).reshape(2, 2, 2) / 8 for name in "QKV"}
    return problem(X=np.eye(2), **weights, W_O=np.ones((4, 3)), mask=(Causal(),))


@pytest.fixture
def grouped(problem: Build) -> Problem:
    """Four query heads, of which two each share keys and values, with ALiBi's slopes."""
    shared = np.arange(8.0).reshape(2, 2, 2) / 8
    return problem(Q=np.arange(16.0).reshape(4, 2, 2) / 16, K=shared, V=shared, alibi=True)


def test_the_parts_of_a_page_and_their_order(two: Problem) -> None:
    head = [
        "Queries, keys and values",
        *WORK[1:3],
        "Masked scores",
        *WORK[3:],
        "Outputs of the heads",
    ]
    assert headings(two) == [
        "What all heads share",
        "Mask",
        "Head 0",
        "Head 0 in words",
        *head,
        "Head 1",
        "Head 1 in words",
        *head,
        "All heads together",
        "Heads, side by side",
        "Output",
    ]


def test_a_page_says_why_its_numbers_jump_where_they_do(two: Problem, problem: Build) -> None:
    assert dict(parts(page(two)))["What all heads share"][0] == ORDER
    assert ORDER not in dict(parts(page(two, steps=("mask", "Q"))))["What all heads share"]
    plain_heads = problem(X=np.eye(2), **{f"W_{name}": np.ones((2, 2, 2)) for name in "QKV"})
    assert ORDER not in [sentence for _, said in parts(page(plain_heads)) for sentence in said]


def test_steps_are_numbered_alike_in_every_head(two: Problem) -> None:
    numbers = [
        block.number for block in page(two).blocks if isinstance(block, Heading) and block.number
    ]
    head = ["1–3", "4–5", 6, 8, 9, 10, 11, 12]
    assert numbers == [7, *head, *head, 13, 14]


def test_only_parts_with_something_in_them_have_a_heading(two: Problem, grouped: Problem) -> None:
    assert headings(two, steps=("output",), detail="brief") == ["All heads together", "Output"]
    assert headings(two, steps=("mask",), detail="brief") == ["What all heads share", "Mask"]
    assert headings(two, steps=("Q",)) == ["Head 0", "Queries", "Head 1", "Queries"]
    assert headings(grouped, steps=("K_T",)) == ["Head 0", WORK[0], "Head 2", WORK[0]]


def test_the_page_of_one_head_or_entry(two: Problem, problem: Build) -> None:
    assert headings(two, head=1)[:3] == [
        "In words",
        "Queries, keys and values",
        "Scores",
    ]
    assert page(two, head=1).title == "Head 1"
    batch = problem(Q=np.ones((2, 2, 2, 2)), K=np.ones((2, 2, 2, 2)), V=np.ones((2, 2, 2, 2)))
    assert headings(batch, steps=("scores",), entry=1) == ["Head 0", "Scores", "Head 1", "Scores"]
    assert headings(batch, steps=("scores",), entry=1, head=0) == ["Scores"]
    assert page(batch, entry=1, head=0).title == "Entry 1, head 0"


def test_a_head_says_whose_keys_it_reads(grouped: Problem) -> None:
    first, later = (f"Query heads 2 and 3 share the keys and values of KV head 1{end}" for end in (
        ".", ", which are shown under head 2."
    ))  # fmt: skip
    said = dict(parts(page(grouped, steps=("V", "scores"))))
    assert (said["Head 2"][0], said["Head 3"][0]) == (first, later)
    assert dict(parts(page(grouped, steps=("scaled",))))["Head 3"][0] == first
    for choice in ({}, {"steps": ("K",)}, {"cell": "K[0,0]"}):
        assert [
            plain(block.text)
            for block in page(grouped, head=3, **choice).blocks
            if _is(block, "KV")
        ] == [first]


def _is(block: object, word: str) -> bool:
    return isinstance(block, Paragraph) and word in plain(block.text)


@pytest.mark.parametrize("choice", [{}, {"steps": ("bias",)}, {"cell": "bias[1,0]"}], ids=str)
def test_the_page_of_a_head_says_where_its_slope_comes_from(
    grouped: Problem, choice: dict[str, object]
) -> None:
    """The slopes of four heads are 2^-2, 2^-4, 2^-6 and 2^-8."""
    worked = next(
        block for block in page(grouped, head=2, **choice).blocks if isinstance(block, Worked)
    )
    assert [(line.label, plain_line(line)) for line in worked.lines] == [
        ("slope of head 2", "1 / 2^(8·(2 + 1) / 4) = 1 / 2^6 = 1 / 64 ≈ 0.016")
    ]


def test_a_slope_that_is_given_is_said_to_be(problem: Build) -> None:
    rows = np.ones((2, 2, 1))
    trace = run(problem(Q=rows, K=rows, V=rows, alibi=True, slopes=[0.5, 0.125]))
    worked = next(
        block
        for block in derivation(trace, View(steps=("bias",), head=1)).blocks
        if isinstance(block, Worked)
    )
    assert plain_line(worked.lines[0]) == "0.125 given"


@pytest.mark.parametrize(
    ("step", "instead"),
    [("slopes", "bias"), ("sink", "row_sum"), ("W_O", "heads_output"), ("concat", "heads_output")],
)
def test_what_belongs_to_all_heads_is_not_of_one(problem: Build, step: str, instead: str) -> None:
    rows = np.ones((2, 2, 1))
    trace = run(problem(Q=rows, K=rows, V=rows, W_O=np.ones((2, 1)), alibi=True, sink=[0, 1]))
    for view in (View(head=1, steps=(step,)), View(head=1, cell=f"{step}[0]")):
        for show in (derivation, view_data):
            with pytest.raises(AttncliError) as refused:
                show(trace, view)
            error = refused.value
            assert (error.message, error.exit_code) == (
                f"{step} is no step of a single head",
                Exit.USAGE,
            )
            assert (
                error.help
                == f"it belongs to all heads together: leave out --head, or ask for {instead}"
            )


def test_every_entry_is_told_of_its_own_mask(problem: Build) -> None:
    batch = problem(
        X=np.ones((2, 3, 1)), **{f"W_{name}": [[1]] for name in "QKV"}, mask=(Lengths((3, 2)),)
    )
    for entry, keys in enumerate((3, 2)):
        (said,) = dict(parts(page(batch, steps=("mask",))))[f"Entry {entry}"]
        assert f"Lengths: only the first {keys} keys exist." in said


def test_values_alone_may_have_entries_and_heads(problem: Build) -> None:
    """The weights are those of all entries, and stand before the first; each entry has its own
    output.
    """
    values = np.arange(8.0).reshape(2, 1, 2, 2)
    one = problem(Q=np.eye(2), K=np.eye(2), V=values)
    assert headings(one, detail="brief") == [
        "What all entries share", *WORK[1:],
        "Entry 0, head 0", "Entry 0, head 0 in words", "Output",
        "Entry 1, head 0", "Entry 1, head 0 in words", "Output",
    ]  # fmt: skip
    trace = run(one)
    np.testing.assert_allclose(trace["output"], trace["weights"] @ values)
    for format in FORMATS:
        assert render(derivation(trace, View()), format)


def test_parts_are_a_level_above_their_sections(two: Problem, love: Problem) -> None:
    """In Markdown the title of the page is the only heading of the first level."""
    found = re.findall(r"^(#+) (.*)$", render(page(two), "markdown"), re.MULTILINE)
    assert [level for level, _ in found].count("#") == 0
    assert [said for level, said in found if level == "##"] == [
        "What all heads share",
        "Head 0",
        "Head 1",
        "All heads together",
    ]
    assert ("###", "7. Mask") in found
    alone = re.findall(r"^(#+) (.*)$", render(page(love), "markdown"), re.MULTILINE)
    assert {level for level, _ in alone[1:]} == {"##"}


def many(batch: int, heads: int, kv_heads: int) -> Problem:
    """Queries, keys and values in this many entries and heads."""
    shapes = {"Q": heads, "K": kv_heads, "V": kv_heads}
    given = "".join(
        f"{name}: {{random: [{batch}, {count}, 2, 2], seed: {count}}}\n"
        for name, count in shapes.items()
    )
    return loads(given.encode(), "p.yaml")


def test_a_terminal_has_the_first_and_the_last_of_many_heads() -> None:
    found = dict(parts(page(many(1, 9, 9), only_ends=True)))
    assert [title for title in found if "ead" in title] == [
        "Entry 0, head 0",
        "Entry 0, heads 1–7",
        "Entry 0, head 8",
    ]
    assert found["Entry 0, heads 1–7"] == [
        "These parts are left out. --all shows all parts, --entry 0 --head 1 shows one of them."
    ]
    assert not [title for title in headings(many(1, 9, 9)) if "heads 1" in title]
    assert not [title for title in headings(many(2, 4, 4), only_ends=True) if "–" in title]


def test_of_many_entries_and_heads_both_ends_are_there() -> None:
    found = dict(parts(page(many(3, 3, 3), only_ends=True, steps=("weights",))))
    assert list(found)[1:] == [
        *("Entry 0, head 0", "Entry 0, head 1", "Entry 0, head 2"),
        "Entry 1",
        *("Entry 2, head 0", "Entry 2, head 1", "Entry 2, head 2"),
    ]
    gaps = [title for title, said in found.items() if any("--all" in sentence for sentence in said)]
    assert gaps == ["Entry 0, head 1", "Entry 1", "Entry 2, head 1"]
    assert found["Entry 1"] == [
        "This part is left out. --all shows all parts, --entry 1 shows this part."
    ]


def test_keys_that_heads_share_are_shown_under_the_first_that_is_there() -> None:
    found = page(many(1, 12, 3), only_ends=True, steps=("K",))
    assert [title for title, _ in parts(found) if title] == [
        "Entry 0, head 0",
        "Entry 0, heads 1–10",
        "Entry 0, head 11",
    ]
    last = dict(parts(found))["Entry 0, head 11"]
    assert last[0] == "Query heads 8, 9, 10 and 11 share the keys and values of KV head 2."


@pytest.mark.sampled(2)
@pytest.mark.parametrize("names", [("d_Q",), ("d_K",), ("d_W_Q",), None])
def test_the_way_back_keeps_both_ends_too(names: tuple[str, ...] | None) -> None:
    numbers = (
        "W_Q: {random: [4, 8], seed: 1}\nW_K: {random: [4, 8], seed: 2}\nW_V: {random: [4, 8],"
        " seed: 3}\n"
    )
    problem = loads(f"X: {{random: [3, 2, 4], seed: 4}}\nheads: 4\n{numbers}".encode(), "p.yaml")
    trace = run(problem, gradient=True)
    whole, ended = (
        gradient_page(trace, View(steps=names, only_ends=only_ends)) for only_ends in (False, True)
    )
    titles = [{title for title, _ in parts(each) if title} for each in (whole, ended)]
    gaps = {title for title in titles[1] if "–" in title or title == "Entry 1"}
    assert titles[1] - gaps < titles[0]
    assert gaps
    assert not any("ead 1" in title or "ead 2" in title for title in titles[1])
