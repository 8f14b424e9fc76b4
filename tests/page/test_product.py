"""A step that is a product of matrices stands beside these, and a cell of it beside its row and its
column.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from attncli.equation.notation import UNICODE
from attncli.equation.printer import write
from attncli.page.derivation import derivation
from attncli.page.document import Block, Factor, Grid, Paragraph, Product, Worked, plain
from attncli.page.gradient import gradient_page
from attncli.page.printer import Printer
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.tracing import Trace, run
from attncli.tracing.model import Step

Build = Callable[..., Problem]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def trace(love: Problem) -> Trace:
    return run(love)


def example(name: str, *, gradient: bool = False) -> Trace:
    return run(load(str(ROOT / "inputs" / f"{name}.yaml")), gradient=gradient)


def products(blocks: tuple[Block, ...]) -> dict[str, Product]:
    found = [block for block in blocks if isinstance(block, Product)]
    return {write(block.result.name, UNICODE): block for block in found}


def on_page(trace: Trace, view: View | None = None) -> dict[str, Product]:
    return products(tuple(derivation(trace, view or View()).blocks))


def spelled(product: Product) -> str:
    """[X]·[W_Q] + [b_Q] = Q."""
    before = "".join(sign + _named(factor) for sign, factor in product.operands)
    return f"{before}={write(product.result.name, UNICODE)}"


def _named(factor: Factor) -> str:
    """A matrix in brackets, and a letter that stands for one as it is."""
    if isinstance(factor, Grid):
        return f"[{write(factor.name, UNICODE)}]"
    return write(factor.expression, UNICODE)


def texts(grid: Grid) -> list[list[str]]:
    return [[cell.text for cell in row] for row in grid.cells]


def test_the_steps_of_a_page_that_are_products(trace: Trace) -> None:
    found = on_page(trace)
    assert [spelled(product) for product in found.values()] == [
        "[X]·[W_Q]=Q",
        "X·[W_K]=K",
        "X·[W_V]=V",
        "[Q]·[Kᵀ]=S",
        "[A]·[V]=O",
    ]
    query, key = found["S"].factors
    assert texts(query) == [["2", "0", "1"], ["0", "2", "1"], ["1", "1", "1"]]
    assert texts(key) == [["0", "2", "1"], ["1", "1", "1"], ["1", "1", "1"]]
    assert texts(found["S"].result) == [["1", "5", "3"], ["3", "3", "3"], ["2", "4", "3"]]
    assert found["S"].result.rows == ("I", "love", "AI")
    assert found["S"].instead == (found["S"].result,)


def test_a_bias_is_added_to_the_product() -> None:
    product = on_page(example("torch_mha"), View(steps=("Q",), head=0))["Q"]
    assert spelled(product) == "[X]·[W_Q]+[b_Q]=Q"
    assert texts(product.added[0]) == [["1", "0"]]


def test_a_gradient_takes_a_matrix_with_its_rows_as_columns() -> None:
    trace = example("causal", gradient=True)
    found = products(
        tuple(gradient_page(trace, View(steps=("d_V", "d_W_Q", "d_weights", "d_X"))).blocks)
    )
    assert [spelled(product) for product in found.values()] == [
        "[dO]·[Vᵀ]=dA",
        "[Aᵀ]·[dO]=dV",
        "[Xᵀ]·[dQ]=dW_Q",
    ]
    weights = np.array([[float(cell) for cell in row] for row in texts(found["dV"].factors[0])])
    assert np.allclose(weights, trace["weights"].T, atol=0.0005)


def test_each_head_has_its_own_product() -> None:
    trace = example("multi_head")
    found = [
        block
        for block in derivation(trace, View(steps=("scores",))).blocks
        if isinstance(block, Product)
    ]
    assert len(found) == 2
    for head, product in enumerate(found):
        left, right = (
            np.array([[float(cell) for cell in row] for row in texts(each)])
            for each in product.factors
        )
        assert np.allclose(left @ right, trace["scores"][head])


@pytest.mark.parametrize(
    "view",
    [
        View(detail="brief"),
        View(blank=frozenset({"output"})),
        View(steps=("K_T", "scaled", "exp", "weights")),
    ],
    ids=["brief", "worksheet", "no product"],
)
def test_where_a_matrix_stands_alone(trace: Trace, view: View) -> None:
    assert on_page(trace, view) == {}


def test_a_large_matrix_stands_alone(problem: Build) -> None:
    assert (
        on_page(
            run(problem(Q=np.ones((17, 1)), K=np.ones((2, 1)), V=np.ones((2, 1)))),
            View(steps=("scores",)),
        )
        == {}
    )
    found = on_page(
        run(problem(Q=np.ones((16, 1)), K=np.ones((2, 1)), V=np.ones((2, 1)))),
        View(steps=("scores",)),
    )
    assert list(found) == ["S"]


def test_what_a_mask_hides_is_marked_in_the_result_alone(problem: Build) -> None:
    matrix = np.arange(4.0).reshape(2, 2)
    trace = run(problem(Q=matrix, K=matrix, V=matrix, mask=(Causal(),)))
    product = on_page(trace)["O"]
    assert not any(cell.hidden for row in product.factors[0].cells for cell in row)


def cell_page(trace: Trace, cell: str) -> tuple[Block, ...]:
    return tuple(derivation(trace, View(cell=cell)).blocks)


def test_a_cell_has_the_row_and_the_column_that_meet_in_it(trace: Trace) -> None:
    blocks = cell_page(trace, "scores[I,love]")
    said = [plain(block.text) for block in blocks if isinstance(block, Paragraph)]
    assert 'Row "I" of Q times column "love" of Kᵀ:' in said
    (whole,) = (block for block in blocks if isinstance(block, Product))
    assert whole.meeting == (0, 1)
    marked = whole.marked()
    query, key = ([[cell.marked for cell in row] for row in grid.cells] for grid in marked.factors)
    assert query == [[True] * 3, [False] * 3, [False] * 3]
    assert key == [[False, True, False]] * 3
    assert [[cell.text for cell in row if cell.marked] for row in marked.result.cells] == [
        ["5"],
        [],
        [],
    ]
    (strip,) = whole.instead
    assert isinstance(strip, Product)
    assert [texts(grid) for _, grid in strip.operands] == [[["2", "0", "1"]], [["2"], ["1"], ["1"]]]
    assert texts(strip.result) == [["5"]]
    assert isinstance(blocks[-1], Worked)


def test_a_cell_of_a_head_has_the_row_and_the_column_of_that_head() -> None:
    trace = example("grouped_query")
    (whole,) = (block for block in cell_page(trace, "scores[1,0,2]") if isinstance(block, Product))
    left, right = (
        np.array([[float(cell) for cell in row] for row in texts(each)]) for each in whole.factors
    )
    assert np.allclose(left @ right, trace["scores"][1])
    assert whole.meeting == (0, 2)


def test_of_a_large_matrix_a_cell_has_its_row_and_its_column_alone(problem: Build) -> None:
    trace = run(problem(Q=np.ones((17, 2)), K=np.ones((2, 2)), V=np.ones((2, 1))))
    (strip,) = (block for block in cell_page(trace, "scores[3,1]") if isinstance(block, Product))
    assert [texts(grid) for _, grid in strip.operands] == [[["1", "1"]], [["1"], ["1"]]]
    assert strip.meeting is None


def test_the_row_of_a_cell_may_be_one_that_a_terminal_leaves_out_of_its_matrix(
    problem: Build,
) -> None:
    queries = np.arange(100.0).reshape(50, 2)
    trace = run(problem(Q=queries, K=np.eye(2), V=np.ones((2, 1))))
    blocks = tuple(derivation(trace, View(cell="scores[30,1]", only_ends=True)).blocks)
    (strip,) = (block for block in blocks if isinstance(block, Product))
    assert [texts(grid) for _, grid in strip.operands] == [[["60", "61"]], [["0"], ["1"]]]
    assert texts(strip.result) == [["61"]]


def test_the_numbers_of_other_cells_of_a_large_matrix_are_not_printed(
    problem: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = run(problem(Q=np.ones((300, 2)), K=np.ones((300, 2)), V=np.ones((300, 1))))
    printed: list[tuple[int, ...]] = []
    text = Printer.text

    def noted(printer: Printer, array: Step, index: tuple[int, ...]) -> str:
        printed.append(index)
        return text(printer, array, index)

    monkeypatch.setattr(Printer, "text", noted)
    assert products(cell_page(trace, "scores[3,1]"))
    assert len(printed) < 20


@pytest.mark.parametrize("cell", ["scaled[0,1]", "X[0,1]", "K_T[0,1]", "row_sum[0]"])
def test_a_cell_of_no_product_has_none(trace: Trace, cell: str) -> None:
    assert not [block for block in cell_page(trace, cell) if isinstance(block, Product)]
