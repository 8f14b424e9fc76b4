"""Finite differences find a wrong gradient, and no fault in a right one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from attncli.problem.model import Additive, Causal, Matrix, Problem, read_only
from attncli.study.finite_differences import MOST, held
from attncli.tracing import run


def test_right_gradients_agree(love: Problem) -> None:
    found = list(held(love, run(love, gradient=True)))
    assert [each.name for each in found] == [
        "d_weights", "d_scaled", "d_scores", "d_Q", "d_K", "d_V", "d_W_Q", "d_W_K", "d_W_V", "d_X",
    ]  # fmt: skip
    assert all(each.agrees and each.error < 1e-6 for each in found)
    assert found[0].cells == found[0].checked == 9


@pytest.mark.parametrize("factor", [1.001, -1.0, 0.0])
def test_a_wrong_gradient_is_found(love: Problem, factor: float) -> None:
    trace = run(love, gradient=True)
    step = trace.steps["d_K"]
    wrong = replace(trace, steps={**trace.steps, "d_K": replace(step, value=read_only(step.value * factor))})
    assert [each.name for each in held(love, wrong) if not each.agrees] == ["d_K"]


def test_a_single_wrong_cell_is_told(love: Problem) -> None:
    trace = run(love, gradient=True)
    moved = trace["d_X"].copy()
    moved[1, 2] += 1e-4
    wrong = replace(trace, steps={**trace.steps, "d_X": replace(trace.steps["d_X"], value=read_only(moved))})
    (found,) = (each for each in held(love, wrong) if not each.agrees)
    assert (found.name, found.where) == ("d_X", (1, 2))
    assert found.worked - found.by_differences == pytest.approx(1e-4, rel=1e-4)


def test_the_one_sink_of_all_heads(problem: Callable[..., Problem]) -> None:
    random = np.random.default_rng(1)
    heads = problem(**{name: random.normal(size=(2, 3, 2)) for name in "QKV"}, sink=0.5, mask=(Causal(),))
    found = {each.name: each for each in held(heads, run(heads, gradient=True))}
    assert found["d_sink"].agrees
    assert found["d_sink"].where == ()


def test_rows_of_sentinels_have_few_digits(problem: Callable[..., Problem]) -> None:
    random = np.random.default_rng(4)
    mask = np.full((3, 3), -1e9)
    mask[:2, 0] = 0
    made = problem(**{name: random.normal(size=(3, 2)) for name in "QKV"}, mask=(Additive(Matrix(mask)),))
    assert all(each.agrees for each in held(made, run(made, gradient=True)))


def test_of_many_cells_some_are_moved(problem: Callable[..., Problem]) -> None:
    random = np.random.default_rng(9)
    large = problem(**{name: random.normal(size=(12, 12)) for name in "QKV"})
    found = next(each for each in held(large, run(large, gradient=True)) if each.name == "d_Q")
    assert found.cells == 144
    assert found.checked <= MOST
