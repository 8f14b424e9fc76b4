"""Costs are those counted by hand for "I love AI", and for sizes so large that no array of them
could exist.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import attncli
from attncli.equation.nodes import Expression
from attncli.equation.notation import PLAIN
from attncli.equation.printer import write
from attncli.errors import AttncliError
from attncli.features.cost.sizes import GivenSizes
from attncli.features.cost.study import Cost, cost_of, default_problem
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.padding import Padding

BLOCK = Path(__file__).parents[3] / "inputs" / "equations" / "transformer_block_2017.yaml"


def plain(growth: Expression | None) -> str:
    return "" if growth is None else write(growth, PLAIN)


def by_name(cost: Cost) -> dict[str, int]:
    return {step.rule.name: step.operations for step in cost.steps if step.kinds}


def test_i_love_ai_by_hand(love: Problem) -> None:
    # Q, K, V: 3×3 cells × (4 multiplications + 3 additions); scores and output: 9 × (3 + 2);
    # scaled: 9 divisions and one root; exp 9; row sums 3 × 2; weights 9
    found = cost_of(love, GivenSizes())
    assert by_name(found) == {
        "Q": 63,
        "K": 63,
        "V": 63,
        "scores": 45,
        "scaled": 10,
        "exp": 9,
        "row_sum": 6,
        "weights": 9,
        "output": 45,
    }
    assert found.operations == 313
    assert found.projections == 189
    # X and the weights 12 numbers each; Q, K, V, K_T, scores, scaled, exp, weights, output 9 each;
    # row sums 3
    assert found.bytes() == 4 * (4 * 12 + 9 * 9 + 3)
    assert cost_of(love, GivenSizes(), "float64").bytes() == 2 * found.bytes()
    assert cost_of(love, GivenSizes(), "bfloat16").bytes() == found.bytes() // 2


def test_the_operations_of_a_step_by_kind(love: Problem) -> None:
    steps = {step.rule.name: step for step in cost_of(love, GivenSizes()).steps}
    assert steps["Q"].kinds == {"multiplications": 36, "additions": 27}
    assert steps["scaled"].kinds == {"divisions": 9, "roots": 1}
    assert steps["K_T"].kinds == {}
    assert steps["X"].shape == (3, 4)
    assert steps["row_sum"].shape == (3,)


def test_the_attention_matrix_of_512_tokens_is_one_mebibyte() -> None:
    one = cost_of(*default_problem({"n": 512, "heads": 1, "layers": 1}))
    assert one.bytes("weights") == 2**20
    many = cost_of(*default_problem({"n": 512, "heads": 12, "layers": 12}))
    assert many.bytes("weights") == 144 * 2**20


@pytest.mark.long
def test_without_a_file() -> None:
    found = cost_of(*default_problem({}))
    assert found.sizes == {"heads": 8, "n": 512, "m": 512, "d_model": 512, "d_k": 64, "d_v": 64}
    assert (found.heads, found.layers, found.dtype.name) == (8, 1, "float32")
    # 8 heads × 512 × 64 cells × (512 multiplications + 511 additions)
    assert by_name(found)["Q"] == 8 * 512 * 64 * 1023
    # W_O: 512 × 512 cells, each of the 8 × 64 numbers that the heads have found
    assert by_name(found)["output"] == 512 * 512 * 1023
    for requested, d_k in (
        ({"heads": 1}, 512),
        ({"d_model": 768, "heads": 12}, 64),
        ({"d_model": 100, "heads": 3}, 64),
    ):
        sizes = cost_of(*default_problem(requested)).sizes
        assert (sizes["d_k"], sizes["d_v"]) == (d_k, d_k)
    assert cost_of(*default_problem({"d_k": 32})).sizes["d_v"] == 32
    assert cost_of(*default_problem({"d_k": 32, "d_v": 16})).sizes["d_v"] == 16


def test_growth(love: Problem) -> None:
    steps = cost_of(love, GivenSizes()).steps
    grown = {
        step.rule.name: (plain(step.operations_grow), plain(step.bytes_grow)) for step in steps
    }
    assert grown["X"] == ("", "n*d_model")
    assert grown["Q"] == ("n*d_model*d_k", "n*d_k")
    assert grown["K"] == ("n*d_model*d_k", "n*d_k")
    assert grown["scores"] == ("n^2*d_k", "n^2")
    assert grown["scaled"] == ("n^2", "n^2")
    assert grown["row_sum"] == ("n^2", "n")
    assert grown["output"] == ("n^2*d_v", "n*d_v")


@pytest.mark.long
def test_crossover_by_hand(love: Problem) -> None:
    # Projections 63 n, attention 15 n² - 4 n + 1: 252 against 225 for n = 4, 315 against 356 for n
    # = 5.
    assert cost_of(love, GivenSizes()).crossover == 5
    for n, attention in ((4, 225), (5, 356)):
        found = cost_of(love, GivenSizes(n=n))
        assert found.projections == 63 * n
        assert found.operations - found.projections == attention
    # One head of 64 without W_O: projections 3 · 64 · 1023 n, attention 259 n² - 65 n + 1, equal at
    # n = 758.6.
    assert cost_of(*default_problem({"heads": 1, "d_k": 64})).crossover == 759
    # 8 heads: projections (3 · 8 · 64 + 512) · 1023 n, attention 8 · (259 n² - 65 n) + 1, equal at
    # n = 1011.4
    for layers, batch in ((1, 1), (12, 1), (1, 5)):
        assert cost_of(*default_problem({"layers": layers, "batch": batch})).crossover == 1012


def test_there_is_no_crossover_without_projections_or_with_m_apart(
    problem: Callable[..., Problem],
) -> None:
    direct = cost_of(problem(Q=[[1, 2]], K=[[3, 4]], V=[[5]]), GivenSizes())
    assert direct.crossover is None
    assert direct.projections == 0
    assert cost_of(*default_problem({"m": 100})).crossover is None


def test_heads_share_what_is_not_theirs(love: Problem, problem: Callable[..., Problem]) -> None:
    masked = problem(
        mask=(Causal(),), **{name: matrix.value for name, matrix in love.given.items()}
    )
    steps = cost_of(masked, GivenSizes(heads=8, layers=3)).steps
    assert {step.rule.name for step in steps if step.shape[0] != 8} == {"X", "mask"}
    assert {step.layers for step in steps} == {3}


def test_other_sizes_than_the_problems(love: Problem) -> None:
    changed = cost_of(love, GivenSizes(n=10, d_model=6, d_k=2, d_v=5))
    assert changed.sizes == {"n": 10, "m": 10, "d_model": 6, "d_k": 2, "d_v": 5}
    shapes = {step.rule.name: step.shape for step in changed.steps}
    assert shapes["X"] == (10, 6)
    assert shapes["W_V"] == (6, 5)
    assert shapes["K_T"] == (2, 10)
    assert shapes["output"] == (10, 5)


def test_another_m_makes_it_cross_attention(love: Problem) -> None:
    changed = cost_of(love, GivenSizes(m=7))
    shapes = {step.rule.name: step.shape for step in changed.steps}
    assert shapes["context"] == (7, 4)
    assert shapes["weights"] == (3, 7)
    assert {step.rule.name: plain(step.operations_grow) for step in changed.steps}[
        "K"
    ] == "m*d_model*d_k"
    assert "context" not in {step.rule.name for step in cost_of(love, GivenSizes(n=7, m=7)).steps}


def test_a_context_may_have_a_width_of_its_own(problem: Callable[..., Problem]) -> None:
    given = {
        "X": [[1, 0], [0, 1]],
        "W_Q": [[1], [2]],
        "W_K": [[1], [2], [3]],
        "W_V": [[1], [2], [3]],
    }
    as_cross_attention = problem(**given, context=[[1, 0, 1], [0, 1, 0], [1, 1, 1]])
    found = cost_of(as_cross_attention, GivenSizes())
    assert list(found.sizes.items()) == [
        ("n", 2),
        ("m", 3),
        ("d_model", 2),
        ("d_context", 3),
        ("d_k", 1),
        ("d_v", 1),
    ]
    operations = {step.rule.name: plain(step.operations_grow) for step in found.steps}
    assert (operations["Q"], operations["K"], operations["V"]) == (
        "n*d_model*d_k", "m*d_context*d_k", "m*d_context*d_v",
    )  # fmt: skip
    sizes = {step.rule.name: plain(step.bytes_grow) for step in found.steps}
    assert (sizes["X"], sizes["context"], sizes["W_V"]) == (
        "n*d_model",
        "m*d_context",
        "d_context*d_v",
    )
    wider = {
        step.rule.name: step.shape
        for step in cost_of(as_cross_attention, GivenSizes(d_model=9)).steps
    }
    assert (wider["X"], wider["context"], wider["W_K"]) == ((2, 9), (3, 3), (3, 1))


def test_x_may_serve_only_keys(problem: Callable[..., Problem]) -> None:
    mixed = problem(Q=[[1, 2]], X=[[1], [2], [3]], W_K=[[1, 1]], W_V=[[1]])
    changed = cost_of(mixed, GivenSizes(n=5, m=9))
    shapes = {step.rule.name: step.shape for step in changed.steps}
    assert (shapes["Q"], shapes["X"], shapes["scores"]) == ((5, 2), (9, 1), (5, 9))
    assert {step.rule.name: plain(step.bytes_grow) for step in changed.steps}["X"] == "m*d_model"


def test_keys_given_beside_a_projection_follow_n(problem: Callable[..., Problem]) -> None:
    mixed = problem(X=[[1], [2]], W_Q=[[1, 1]], K=[[1, 2], [3, 4]], W_V=[[1]])
    assert {step.rule.name: step.shape for step in cost_of(mixed, GivenSizes(n=6)).steps}["K"] == (
        6,
        2,
    )


def test_a_mask_grows_with_the_sizes(problem: Callable[..., Problem]) -> None:
    padded = problem(Q=[[1]], K=[[1], [2]], V=[[1], [2]], mask=(Padding(((True, False),)),))
    shapes = {step.rule.name: step.shape for step in cost_of(padded, GivenSizes(n=30, m=40)).steps}
    assert shapes["mask"] == (30, 40)


def test_a_query_may_have_a_width_of_its_own(problem: Callable[..., Problem]) -> None:
    luong = problem(
        Q=[[1, 2, 3]], K=[[1, 2]], V=[[1]], W_a=[[1, 2], [3, 4], [5, 6]], score="multiplicative"
    )
    found = cost_of(luong, GivenSizes())
    assert (found.sizes["d_q"], found.sizes["d_k"]) == (3, 2)
    # Q·W_a: 2 × (3 multiplications + 2 additions), then one dot product of length 2
    assert by_name(found)["scores"] == 10 + 3
    widened = cost_of(luong, GivenSizes(d_k=8))
    assert (widened.sizes["d_q"], widened.sizes["d_k"]) == (8, 8)


def test_sizes_are_only_numbers() -> None:
    huge = cost_of(
        *default_problem({"n": 10**9, "d_model": 10**9, "heads": 10**9, "layers": 10**9}), "float64"
    )
    assert huge.bytes("weights") == 8 * 10**36


def test_a_size_that_is_not_there(problem: Callable[..., Problem]) -> None:
    with pytest.raises(AttncliError) as caught:
        cost_of(problem(Q=[[1]], K=[[1]], V=[[1]]), GivenSizes(d_model=4))
    assert caught.value.exit_code == 2
    assert str(caught.value) == "this problem has no d_model: Q, K and V are given"
    assert caught.value.help == "leave out --d-model"


def parameters(found: Cost) -> dict[str, int]:
    return {step.rule.name: step.numbers for step in found.learned}


def test_parameters_of_layers_of_gpt2_by_hand() -> None:
    """The four matrices of 768 × 768 in each of its 12 layers of attention, without biases."""
    found = cost_of(*default_problem({"d_model": 768, "heads": 12, "layers": 12}))
    assert found.parameters == 12 * 4 * 768 * 768


def test_parameters_of_a_block_by_hand() -> None:
    """Four matrices of 4 × 4; a network with 5 inner features and its biases; two norms. The number
    eps is chosen, and X is none.
    """
    found = cost_of(attncli.load(BLOCK), GivenSizes())
    assert parameters(found) == {
        **dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), 16),
        "W_in": 20,
        "b_in": 5,
        "W_out": 20,
        "b_out": 4,
        **dict.fromkeys(("gain_1", "bias_1", "gain_2", "bias_2"), 4),
    }


def test_what_is_of_a_text_or_is_chosen_is_no_parameter() -> None:
    of_heads = [[[1.0, 2.0]], [[3.0, 4.0]]]
    problem = attncli.problem(
        Q=of_heads,
        K=of_heads,
        V=of_heads,
        sink=[1, 2],
        position={"alibi": {"slopes": [0.5, 0.25]}},
    )
    assert parameters(cost_of(problem, GivenSizes())) == {"sink": 2}
