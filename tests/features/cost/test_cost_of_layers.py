"""Costs of heads, batches, caches and positions: those counted by hand, and shapes that really
occur.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from attncli.attention import variants
from attncli.equation.notation import PLAIN
from attncli.equation.printer import write
from attncli.errors import AttncliError
from attncli.features.cost.sizes import GivenSizes
from attncli.features.cost.study import Cost, cost_of, default_problem
from attncli.problem.keys import SCORES, Score
from attncli.problem.loader import load, loads
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.tracing import run

INPUTS = Path(__file__).parents[3] / "inputs"
FILES = sorted(INPUTS.glob("*.[jy]*"))
LLAMA = GivenSizes(n=512, d_model=4096, d_k=128, d_v=128, heads=32, kv_heads=8, layers=32)


def operations(cost: Cost) -> dict[str, int]:
    return {step.rule.name: step.operations for step in cost.steps if step.kinds}


def shapes(cost: Cost) -> dict[str, tuple[int, ...]]:
    return {step.rule.name: step.shape for step in cost.steps}


def worked(problem: Problem) -> dict[str, tuple[int, ...]]:
    """The shapes in a trace, but for the shift, which is not counted."""
    trace = run(problem)
    return {name: trace[name].shape for name in trace if name not in ("row_max", "shifted")}


def grown(cost: Cost) -> dict[str, str]:
    return {
        step.rule.name: write(step.operations_grow, PLAIN)
        for step in cost.steps
        if step.operations_grow
    }


def product(cells: int, terms: int) -> int:
    """The operations of a product: in each cell so many multiplications, and one addition fewer."""
    return cells * (2 * terms - 1)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_shapes_are_those_of_the_steps_as_they_are_worked(file: Path) -> None:
    assert shapes(cost_of(load(str(file)), GivenSizes())) == worked(load(str(file)))


def test_a_llama_layer_by_hand() -> None:
    cost = cost_of(load(str(INPUTS / "llama_layer.yaml")), LLAMA, "bfloat16")
    n, d_model, d, heads, kv_heads, layers = 512, 4096, 128, 32, 8, 32
    own = operations(cost)
    assert own["Q"] == layers * product(heads * n * d, d_model)
    assert own["K"] == own["V"] == layers * product(kv_heads * n * d, d_model)
    assert own["output"] == layers * product(n * d_model, heads * d)
    assert own["scores"] == layers * product(heads * n * n, d)
    assert own["heads_output"] == layers * product(heads * n * d, n)
    assert own["row_sum"] == layers * heads * n * (n - 1)
    assert own["weights"] == own["exp"] == own["masked"] == layers * heads * n * n
    assert own["mask"] == layers * 2 * n * n  # a comparison and a choice, the same for all heads
    # Sines and cosines once for each position and feature; each cell 2 products, one sum or
    # difference, one choice.
    assert own["Q_rot"] == layers * (4 * heads * n * d + 2 * n * d + d)
    assert own["K_rot"] == layers * (4 * kv_heads * n * d + 2 * n * d + d)
    assert cost.projections == own["Q"] + own["K"] + own["V"] + own["output"]
    assert cost.bytes_cached_per_token == 2 * kv_heads * d * 2 * layers == 128 * 1024
    assert cost.bytes_cached == n * 128 * 1024
    assert cost.bytes("weights") == layers * heads * n * n * 2
    assert cost.bytes("W_Q", "W_K", "W_V", "W_O") == layers * 2 * (
        2 * d_model * heads * d + 2 * d_model * kv_heads * d
    )
    assert (grown(cost)["Q"], grown(cost)["K"]) == ("heads*n*d_model*d_k", "kv_heads*n*d_model*d_k")
    assert grown(cost)["output"] == "heads*n*d_model*d_v"
    assert grown(cost)["angles"] == "n*d_k"


def test_one_token_more_by_hand() -> None:
    # 4,095 tokens in the cache and one new: only that one is projected, and it meets all keys.
    file = load(str(INPUTS / "kv_cache.yaml"))
    cost = cost_of(file, GivenSizes(m=4096, d_model=64, d_k=16, d_v=16, heads=4, kv_heads=2))
    assert {"n": 1, "m": 4096, "n_past": 4095}.items() <= cost.sizes.items()
    own, shape = operations(cost), shapes(cost)
    assert own["Q"] == product(4 * 1 * 16, 64)
    assert own["new_K"] == own["new_V"] == product(2 * 1 * 16, 64)
    assert own["scores"] == product(4 * 1 * 4096, 16)
    assert own["output"] == product(4 * 1 * 16, 4096)
    assert (shape["past_K"], shape["new_K"], shape["K"]) == (
        (2, 4095, 16),
        (2, 1, 16),
        (2, 4096, 16),
    )
    assert cost.projections == own["Q"] + own["new_K"] + own["new_V"]
    assert cost.bytes_cached_per_token == 2 * 2 * 16 * 4
    assert cost.crossover is None
    longer = cost_of(file, GivenSizes(n=5))
    assert {"n": 5, "m": 7, "n_past": 2}.items() <= longer.sizes.items()


def test_entries_of_a_batch_share_only_weights_and_masks(
    love: Problem, problem: Callable[..., Problem]
) -> None:
    causal = problem(
        mask=(Causal(),), **{name: matrix.value for name, matrix in love.given.items()}
    )
    one, five = cost_of(causal, GivenSizes()), cost_of(causal, GivenSizes(batch=5))
    for step in ("Q", "K", "V", "scores", "exp", "row_sum", "weights", "output"):
        assert operations(five)[step] == 5 * operations(one)[step]
    # the root of d_k and the mask are worked once
    assert operations(five)["scaled"] == 5 * 9 + 1
    assert operations(five)["mask"] == operations(one)["mask"] == 18
    assert shapes(five)["X"] == (5, 3, 4)
    assert shapes(five)["W_Q"] == (4, 3)
    assert five.bytes_cached_per_token == one.bytes_cached_per_token == 2 * 3 * 4
    assert five.bytes_cached == 5 * one.bytes_cached


@pytest.mark.each_choice
@pytest.mark.parametrize(
    ("heads", "kv_heads", "batch"), [(1, 1, 2), (4, 4, 1), (4, 2, 1), (6, 1, 3)]
)
@pytest.mark.parametrize(
    "settings", [{}, {"rope": (10000, "half")}, {"alibi": True}, {"sink": 1.0}], ids=str
)
def test_a_problem_that_is_given_heads_costs_what_one_with_them_does(
    heads: int,
    kv_heads: int,
    batch: int,
    settings: dict[str, object],
    problem: Callable[..., Problem],
) -> None:
    def layer(entries: tuple[int, ...], own: tuple[int, ...], shared: tuple[int, ...]) -> Problem:
        given = {
            "X": (*entries, 3, 4),
            "W_Q": (*own, 4, 2),
            "W_K": (*shared, 4, 2),
            "W_V": (*shared, 4, 5),
        }
        return problem(**{name: np.ones(shape) for name, shape in given.items()}, **settings)

    split = heads > 1
    real = layer((batch,) * (batch > 1), (heads,) * split, (kv_heads,) * split)
    resized = cost_of(layer((), (), ()), GivenSizes(heads=heads, kv_heads=kv_heads, batch=batch))
    assert shapes(resized) == worked(real)
    assert operations(resized) == operations(cost_of(real, GivenSizes()))


def test_usual_slopes_of_any_number_of_heads(problem: Callable[..., Problem]) -> None:
    rows = np.ones((2, 2))
    one = problem(Q=rows, K=rows, V=rows, alibi=True)
    # 1 / 2^(8(h + 1) / heads): 2 divisions, a power, a multiplication and an addition
    assert operations(cost_of(one, GivenSizes(heads=8)))["slopes"] == 8 * 5
    # With 6 heads, the slopes of 4, and 2 between them by 1 / 2^(4(2(h - 4) + 1) / 4): a
    # subtraction and a product more; and which of both a head has takes a comparison and a choice.
    assert operations(cost_of(one, GivenSizes(heads=6)))["slopes"] == 6 * (7 + 2)
    assert "slopes" not in operations(cost_of(one, GivenSizes()))


def test_the_usual_layer_takes_any_number_of_heads_of_keys() -> None:
    cost = cost_of(*default_problem({"n": 16, "d_model": 32, "heads": 8, "kv_heads": 2}))
    assert (shapes(cost)["Q"], shapes(cost)["K"]) == ((8, 16, 4), (2, 16, 4))
    assert cost.bytes_cached_per_token == 2 * 2 * 4 * 4
    assert shapes(cost_of(*default_problem({"heads": 8, "kv_heads": 8})))["K"] == (8, 512, 64)


@pytest.mark.parametrize(
    ("file", "requested", "message", "help"),
    [
        (
            "rope.yaml",
            GivenSizes(d_k=3),
            "rope rotates pairs of features, and d_k = 3 is odd",
            "give an even --d-k",
        ),
        (
            "i_love_ai.yaml",
            GivenSizes(heads=3, kv_heads=2),
            "3 query heads cannot be divided evenly among 2 heads of keys and values",
            "make --heads a multiple of --kv-heads",
        ),
        (
            "grouped_query.yaml",
            GivenSizes(kv_heads=3),
            "4 query heads cannot be divided evenly among 3 heads of keys and values",
            "make --heads a multiple of --kv-heads",
        ),
        (
            "kv_cache.yaml",
            GivenSizes(n=4, m=4),
            "4 keys cannot be 4 new keys and at least one key from the cache",
            "give --m 5 or more, or give a smaller --n",
        ),
    ],
)
def test_sizes_that_do_not_go_together(
    file: str, requested: GivenSizes, message: str, help: str
) -> None:
    with pytest.raises(AttncliError) as caught:
        cost_of(load(str(INPUTS / file)), requested)
    assert (caught.value.exit_code, str(caught.value), caught.value.help) == (2, message, help)


def test_keys_that_serve_all_heads_go_on_doing_so(problem: Callable[..., Problem]) -> None:
    shared = problem(Q=np.ones((2, 3, 4)), K=np.ones((5, 4)), V=np.ones((5, 4)))
    assert shapes(cost_of(shared, GivenSizes(heads=6)))["K"] == (5, 4)
    assert shapes(cost_of(shared, GivenSizes(heads=6, kv_heads=6)))["K"] == (6, 5, 4)
    assert shapes(cost_of(shared, GivenSizes(heads=6, kv_heads=2)))["K"] == (2, 5, 4)


def test_a_score_of_equal_widths_may_have_a_letter_of_its_own_for_features_of_queries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    equation = "scores[i, j] = sum(k, Q[i, k] * K_T[k, j]) / sqrt(sum(p, Q[i, p] * Q[i, p]))"
    monkeypatch.setitem(cast("dict[str, Score]", SCORES), "by_length", Score(equation))
    monkeypatch.setitem(
        variants.SCORES, "by_length", replace(variants.SCORES["dot"], formula=equation)
    )
    for width, requested in ((2, GivenSizes()), (4, GivenSizes(d_k=4))):
        problem = loads(b"Q: [[1, 0]]\nK: [[1, 2]]\nV: [[1]]\nscore: by_length", "p.yaml")
        costs = {step.rule.name: step for step in cost_of(problem, requested).steps}
        assert costs["scores"].kinds == {
            "multiplications": 2 * width, "additions": 2 * (width - 1), "roots": 1, "divisions": 1,
        }  # fmt: skip
