"""The page of a cost says what was counted, how, what dominates, and how much memory it takes."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

from attncli.features.cost.page import cost_page
from attncli.features.cost.sizes import GivenSizes
from attncli.features.cost.study import cost_of, default_problem
from attncli.page.document import Document, Heading, Listing, Paragraph, Table
from attncli.page.document import plain as words
from attncli.problem.model import Problem
from attncli.problem.parts.masks.window import Window


def prose(document: Document) -> list[str]:
    said = []
    for block in document.blocks:
        match block:
            case Paragraph(text=text):
                said.append(words(text))
            case Listing(items=items):
                said += map(words, items)
    return said


def tables(document: Document) -> list[list[list[str]]]:
    found = (block for block in document.blocks if isinstance(block, Table))
    return [[[words(cell) for cell in row] for row in table.rows] for table in found]


def test_the_page_of_i_love_ai(love: Problem) -> None:
    page = cost_page(cost_of(love, GivenSizes()))
    assert page.title == "I love AI: what it costs"
    assert prose(page) == [
        (
            "n = 3, m = 3, d_model = 4, d_k = 3, d_v = 3; 1 head, 1 layer; float32 (4 bytes per"
            " number)."
        ),
        "Q: 3×3 cells × (4 multiplications + 3 additions) = 63",
        "K: 3×3 cells × (4 multiplications + 3 additions) = 63",
        "V: 3×3 cells × (4 multiplications + 3 additions) = 63",
        "scores: 3×3 cells × (3 multiplications + 2 additions) = 45",
        "scaled: 3×3 cells × 1 division + 1 root = 10",
        "exp: 3×3 cells × 1 exponential = 9",
        "row_sum: 3 cells × 2 additions = 6",
        "weights: 3×3 cells × 1 division = 9",
        "output: 3×3 cells × (3 multiplications + 2 additions) = 45",
        (
            "The softmax is counted without the shift that it needs if scores are very large or"
            " very small."
        ),
        "The largest term is n·d_model·d_k: 60.4 % of 313 operations.",
        (
            "The projections Q, K and V take 60.4 % of all operations, more than attention itself"
            " (39.6 %). The projections grow with n, and attention grows with n^2. From n = 5 on,"
            " attention takes more."
        ),
        (
            "With n = 3, one attention matrix in float32 takes 36 B. Twice as many tokens take four"
            " times as much. All steps together take 528 B, if every step is kept."
        ),
        "A cache of K and V takes 24 B for each token, 72 B in all.",
        "The layer has 36 numbers that are learned. They take 144 B.",
    ]


def test_the_table_of_steps(love: Problem) -> None:
    rows, *_ = tables(cost_page(cost_of(love, GivenSizes())))
    assert rows[0] == ["X", "3×4", "0", "", "48 B"]
    assert rows[4] == ["Q", "3×3", "63", "20.1 %", "36 B"]
    assert rows[-2] == ["output", "3×3", "45", "14.4 %", "36 B"]
    assert rows[-1] == ["all", "", "313", "", "528 B"]


def test_the_table_of_terms(love: Problem) -> None:
    # d_k and d_v are one size, so that all three projections are one term, and both products
    # another
    _, rows, _ = tables(cost_page(cost_of(love, GivenSizes())))
    assert rows == [
        ["n·d_model·d_k", "189", "60.4 %", "Q, K and V"],
        ["n^2·d_k", "90", "28.8 %", "scores and output"],
        ["n^2", "34", "10.9 %", "scaled, exp, row_sum and weights"],
    ]
    apart = tables(cost_page(cost_of(love, GivenSizes(d_v=2))))[1]
    assert [row[0] for row in apart] == [
        "n·d_model·d_k",
        "n^2·d_k",
        "n·d_model·d_v",
        "n^2",
        "n^2·d_v",
    ]


def test_heads_and_layers() -> None:
    said = prose(cost_page(cost_of(*default_problem({"n": 512, "heads": 12, "layers": 12}))))
    memory = (
        "With n = 512, one attention matrix in float32 takes 1 MiB. 12 layers × 12 heads take 144"
        " MiB."
    )
    assert said[-3].startswith(memory)
    assert "This list counts one layer. The table above counts 12 layers." in said


def test_fewer_heads_of_keys_and_entries() -> None:
    said = prose(
        cost_page(cost_of(*default_problem({"kv_heads": 2, "batch": 3, "layers": 2}), "float16"))
    )
    assert (
        said[0]
        == "n = 512, m = 512, d_model = 512, d_k = 64, d_v = 64; 3 entries, 8 heads, 2 heads of"
        " keys and values, 2 layers; float16 (2 bytes per number)."
    )
    assert "2 layers × 3 entries × 8 heads take 24 MiB." in said[-3]
    # 2 × 2 heads × 64 numbers of 2 bytes in 2 layers; 3 entries of 512 tokens
    assert said[-2] == "A cache of K and V takes 1 KiB for each token, 1.5 MiB in all."


def test_matrices_are_those_that_differ(problem: Callable[..., Problem]) -> None:
    # Entries have values of their own, but all of them the same weights.
    rows = [[1, 0], [0, 1]]
    said = prose(cost_page(cost_of(problem(Q=rows, K=rows, V=[[rows], [rows]]), GivenSizes())))
    assert said[-2].startswith("With n = 2, one attention matrix in float32 takes 16 B. Twice")
    # K 16 B and V 2 × 16 B: 8 B each for a token
    assert said[-1] == "A cache of K and V takes 16 B for each token, 48 B in all."


def test_a_missing_projection_of_the_heads_is_said(love: Problem) -> None:
    missing = " There is no W_O to mix the heads. The projections grow with n"
    assert missing in prose(cost_page(cost_of(love, GivenSizes(heads=2))))[-4]
    for requested in ({"heads": 8}, {"heads": 1}):
        assert "W_O" not in prose(cost_page(cost_of(*default_problem(requested))))[-4]


def test_what_is_the_same_for_several_cells_stands_apart(problem: Callable[..., Problem]) -> None:
    # 2 heads, 3 queries of 4 features: as many cells as there are sines and cosines, which both
    # heads share
    given = {
        "Q": np.ones((2, 3, 4)),
        "K": np.ones((2, 3, 4)),
        "V": np.ones((2, 3, 4)),
        "rope": (10000, "half"),
    }
    said = prose(cost_page(cost_of(problem(**given), GivenSizes())))
    each = "2 multiplications + 1 subtraction + 1 choice"
    assert f"Q_rot: 2×3×4 cells × ({each}) + 12 sines + 12 cosines + 4 comparisons = 124" in said


def test_large_numbers_are_grouped_everywhere() -> None:
    page = cost_page(cost_of(*default_problem({"n": 100_000, "heads": 1, "d_k": 1000})))
    said = prose(page)
    assert "weights: 100,000×100,000 cells × 1 division = 10,000,000,000" in said
    assert "row_sum: 100,000 cells × 99,999 additions = 9,999,900,000" in said
    assert tables(page)[0][4][1] == "100,000×1,000"


def test_a_mask_is_counted_by_kind(problem: Callable[..., Problem]) -> None:
    rows = [[1], [2]]
    said = prose(
        cost_page(cost_of(problem(Q=rows, K=rows, V=rows, mask=(Window(1, 1),)), GivenSizes()))
    )
    counted = (
        "mask: 2×2 cells × (2 comparisons + 1 conjunction + 1 choice) + 2 additions + 2"
        " subtractions = 20"
    )
    assert counted in said


def test_cross_attention() -> None:
    page = cost_page(cost_of(*default_problem({"n": 2, "m": 1000, "heads": 1})))
    assert page.title == "Cross-attention: what it costs"
    assert prose(page)[-4].endswith(
        "The projections grow with n and with m, and attention grows with n·m."
    )
    assert prose(page)[-3].startswith(
        "With n = 2 and m = 1,000, one attention matrix in float32 takes ≈ 7.8 KiB."
    )


def test_without_projections(problem: Callable[..., Problem]) -> None:
    page = cost_page(cost_of(problem(Q=[[1]], K=[[1]], V=[[1]]), GivenSizes()))
    said = prose(page)
    assert (
        "This problem has no projections. All operations belong to attention, and they grow with"
        " n·m." in said
    )
    assert "row_sum: nothing = 0" in said
    assert "scores: 1×1 cell × 1 multiplication = 1" in said
    assert [block.text for block in page.blocks if isinstance(block, Heading)] == [
        "How the operations are counted",
        "The largest terms",
        "Memory",
    ]


def test_the_table_of_parameters(love: Problem) -> None:
    *_, rows = tables(cost_page(cost_of(love, GivenSizes(layers=2, d_k=5))))
    assert rows == [
        ["W_Q", "4×5", "40", "38.5 %"],
        ["W_K", "4×5", "40", "38.5 %"],
        ["W_V", "4×3", "24", "23.1 %"],
    ]


def test_data_is_exact(love: Problem) -> None:
    data = cost_page(cost_of(love, GivenSizes(heads=2))).data()
    assert json.loads(json.dumps(data)) == data
    assert data["sizes"] == {
        "heads": 2,
        "n": 3,
        "m": 3,
        "d_model": 4,
        "d_k": 3,
        "d_v": 3,
        "layers": 1,
    }
    assert data["steps"]["Q"] == {
        "title": "Queries",
        "equation": "Q[h, i, k] = sum(d, X[i, d] * W_Q[h, d, k])",
        "shape": [2, 3, 3],
        "one_layer": {"multiplications": 72, "additions": 54},
        "operations": 126,
        "operations_grow": "heads*n*d_model*d_k",
        "parameters": 0,
        "bytes": 72,
        "bytes_grow": "heads*n*d_k",
    }
    assert data["steps"]["X"]["operations_grow"] is None
    # the root of d_k is taken once, not in each head
    assert (
        data["operations"],
        data["operations_of_projections"],
        data["operations_of_attention"],
    ) == (625, 378, 247)
    assert data["bytes"] == 4 * (12 + 2 * (3 * 12 + 9 * 9 + 3))
    # K and V of 2 heads × 3 numbers of 4 bytes for each of 3 tokens
    assert (data["bytes_cached_per_token"], data["bytes_cached"]) == (48, 144)
    assert data["crossover"] == 5
    # W_Q, W_K and W_V, each of 2 heads × 4 × 3
    assert data["parameters"] == 3 * 24
    assert data["steps"]["W_V"]["parameters"] == 24
