"""The mistakes that compare names, against attention worked out wrongly by NumPy alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from attncli.comparison.known_mistakes import MOST_MISTAKES_NAMED, explanation
from attncli.comparison.page import comparison_page
from attncli.dtypes import DTYPES
from attncli.features.compare.dumps import Dump, in_order
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.python_values import problem as problem_of
from attncli.render import render
from attncli.tracing import run
from attncli.tracing.comparison import Operand, compare

Build = Callable[..., Problem]
Array = np.ndarray[Any, Any]

RANDOM = np.random.default_rng(7)
X, W_Q, W_K, W_V = (RANDOM.normal(size=size) for size in ((5, 4), (4, 4), (4, 4), (4, 4)))


def softmax(scores: Array, axis: int | None = -1) -> Array:
    exp = np.exp(scores)
    total: Array = exp / exp.sum(axis=axis, keepdims=True)
    return total


def worked(
    *,
    w_q: Array = W_Q,
    w_k: Array = W_K,
    scale: float = 2.0,
    axis: int | None = -1,
    hidden: float | None = None,
) -> dict[str, Array]:
    """Attention over X with d_k = 4, so that the scores are to be divided by 2."""
    Q, K, V = X @ w_q, X @ w_k, X @ W_V
    scores = Q @ K.T
    scaled = scores / scale
    weights = softmax(scaled if hidden is None else np.where(np.tri(5) > 0, scaled, hidden), axis)
    return {
        "Q": Q,
        "K": K,
        "V": V,
        "scores": scores,
        "scaled": scaled,
        "weights": weights,
        "output": weights @ V,
    }


def named(problem: Problem, theirs: Mapping[str, Array], dtype: str = "float64") -> tuple[str, ...]:
    dump = Dump(in_order({name: array.astype(dtype) for name, array in theirs.items()}), dtype)
    ours = Operand.of_trace(run(problem), "p.yaml", "ours", "in ours")
    found = explanation(compare(ours, dump.operand("d.npz", "theirs", "in theirs")))
    return () if found is None else found.mistakes


@pytest.fixture
def plain(problem: Build) -> Problem:
    return problem(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("wrong", "steps", "mistake"),
    [
        ({"axis": -2}, ("weights", "output"), "the softmax was taken down the columns"),
        ({"axis": -2}, ("output",), "the softmax was taken down the columns"),
        ({"axis": None}, ("weights",), "the softmax was taken over the whole matrix"),
        ({"scale": 1.0}, ("scores", "scaled"), "the scores were not scaled"),
        ({"scale": 1.0}, ("weights", "output"), "the scores were not scaled"),
        ({"w_q": W_Q.T}, ("Q", "scores"), "W_Q was transposed"),
        ({"w_k": W_K.T}, ("weights",), "W_K was transposed"),
    ],
)
def test_a_mistake_in_a_dump(
    wrong: dict[str, Any], steps: tuple[str, ...], mistake: str, dtype: str, plain: Problem
) -> None:
    made = worked(**wrong)
    assert named(plain, {name: made[name] for name in steps}, dtype) == (mistake,)


@pytest.mark.long
def test_a_mask_that_was_forgotten(problem: Build) -> None:
    causal = problem(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V, mask=(Causal(),))
    assert named(causal, {"weights": worked()["weights"]}) == ("the mask was forgotten",)
    assert named(causal, {"weights": worked(hidden=-np.inf)["weights"]}) == ()
    assert "hidden scores were set to 0, not to -inf" in named(
        causal, {"weights": worked(hidden=0.0)["weights"]}
    )


def test_later_steps_decide_between_mistakes_that_begin_alike(plain: Problem) -> None:
    # the scale left out before the softmax, and applied to the weights: the scaled scores alone do
    # not show it
    made = worked(scale=1.0)
    late = {"scaled": made["scaled"], "weights": made["weights"] / 2}
    assert named(plain, late) == ("the scale was applied after the softmax",)


@pytest.mark.parametrize("cell", [(0, 0), (3, 1)])
def test_one_cell_that_a_mistake_does_not_give_denies_it(
    cell: tuple[int, int], plain: Problem
) -> None:
    weights = worked(axis=-2)["weights"]
    weights[cell] *= 1.001
    assert named(plain, {"weights": weights}) == ()


def test_a_step_before_the_first_difference_denies_a_mistake(plain: Problem) -> None:
    # with W_Q transposed the scores would differ, but they agree
    right, wrong = worked(), worked(w_q=W_Q.T)
    assert named(plain, {"scores": right["scores"], "weights": wrong["weights"]}) == ()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(20))
def test_numbers_from_nowhere_have_no_name(seed: int, plain: Problem) -> None:
    random = np.random.default_rng(seed)
    assert named(plain, {"weights": softmax(random.normal(size=(5, 5)))}) == ()


@pytest.mark.sampled(1)
@pytest.mark.each_choice
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("scale", [1, 30, 1000])
def test_unrelated_weights_have_no_name_however_large_the_scores(
    scale: int, dtype: str, problem: Build
) -> None:
    random = np.random.default_rng(scale)
    Q, K, V = (random.normal(size=(6, 8)) * size for size in (scale, scale, 1))
    ours = Operand.of_trace(run(problem(Q=Q, K=K, V=V)), "p.yaml", "ours", "in ours")
    scores = random.normal(size=(6, 6)) * scale**2
    weights = softmax(scores - scores.max(axis=-1, keepdims=True))
    for dump in ({"weights": weights}, {"output": weights @ V}):
        there = Operand("d.npz", "theirs", "in theirs", dump, DTYPES[dtype], {})
        assert explanation(compare(ours, there)) is None


def test_a_single_number_says_too_little(problem: Build) -> None:
    one = problem(
        Q=np.array([[2.0, 1.0, 1.0, 1.0]]), K=np.array([[1.0, 1.0, 1.0, 1.0]]), V=np.array([[3.0]])
    )
    assert named(one, {"scaled": np.array([[5.0]])}) == ()


def test_numbers_that_many_mistakes_give_name_none(problem: Build) -> None:
    same = problem(Q=np.ones((3, 2)), K=np.ones((3, 2)), V=np.ones((3, 2)), mask=(Causal(),))
    assert len(named(same, {"weights": np.full((3, 3), 1 / 3)})) <= MOST_MISTAKES_NAMED


def test_a_second_problem(problem: Build) -> None:
    one = problem(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V)
    other = problem(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V, scale=1.0)
    sides = [
        Operand.of_trace(run(each), f"{word}.yaml", word, f"in {word}")
        for each, word in ((one, "A"), (other, "B"))
    ]
    found = explanation(compare(*sides))
    assert found is not None
    assert (found.side.word, found.step, found.mistakes) == (
        "B",
        "scaled",
        ("the scores were not scaled",),
    )


def test_the_problem_may_be_either_side(plain: Problem) -> None:
    dump = Dump({"weights": worked(axis=-2)["weights"]}, "float64")
    found = explanation(
        compare(
            dump.operand("d.npz", "theirs", "in theirs"),
            Operand.of_trace(run(plain), "p.yaml", "ours", "in ours"),
        )
    )
    assert found is not None
    assert found.side.word == "theirs"


def test_the_data_name_the_mistake(plain: Problem) -> None:
    def explained(theirs: Mapping[str, Array]) -> Any:
        ours = Operand.of_trace(run(plain), "p.yaml", "ours", "in ours")
        dump = Dump(in_order(dict(theirs)), "float64").operand("d.npz", "theirs", "in theirs")
        return comparison_page(compare(ours, dump)).data()["explanation"]

    mistake = {
        "side": "b",
        "step": "weights",
        "mistakes": ["the softmax was taken down the columns"],
    }
    assert explained(worked(axis=-2)) == {**mistake, "shared": [], "sees_no_key": []}
    assert explained(worked()) is None


@pytest.mark.long
@pytest.mark.parametrize(("tokens", "said"), [(547, False), (548, True)])
def test_too_many_weights_are_said(tokens: int, said: bool, problem: Build) -> None:
    column = np.linspace(0, 1, tokens)[:, None]
    ours = Operand.of_trace(run(problem(Q=column, K=column, V=column)), "p.yaml", "ours", "in ours")
    theirs = Dump({"output": column}, "float64").operand("d.npz", "theirs", "in theirs")
    page = render(comparison_page(compare(ours, theirs)), "markdown")
    assert (
        "tries its known mistakes on at most 300,000 weights. Here are 300,304." in page
    ) is said


def batch_with(mask: dict[str, Any]) -> Problem:
    """Two entries, each with two heads."""
    draw = np.random.default_rng(11)
    q, k, v = (draw.normal(size=(2, 2, 3, 4)) for _ in range(3))
    return problem_of(Q=q, K=k, V=v, heads=2, mask=mask)


def said_of(problem: Problem, keep: Array) -> str:
    """The page, if the other side sees these keys."""
    trace = run(problem)
    exp = np.exp(trace["scaled"]) * keep
    total = exp.sum(axis=-1, keepdims=True)
    weights = np.divide(exp, total, out=np.zeros_like(exp), where=total > 0)
    dump = Dump(in_order({"weights": weights, "output": weights @ trace["V"]}), "float64")
    ours = Operand.of_trace(trace, "p.yaml", "ours", "in ours")
    comparison = compare(ours, dump.operand("d.npz", "theirs", "in theirs"))
    return " ".join(render(comparison_page(comparison, detail="brief"), "table").split())


CAUSAL_KEYS = np.tri(3) > 0


@pytest.mark.parametrize(
    ("mask", "seen", "sentence"),
    [
        # Each entry has a padding of its own.
        (
            {"causal": True, "padding": [[1, 1, 0], [0, 0, 1]]},
            [[[[0, 0, 1]]], [[[1, 1, 0]]]],
            'these see no key: entry 0, queries "t1" and "t2".',
        ),
        # All entries have one.
        (
            {"causal": True, "padding": [1, 0, 0]},
            [0, 1, 1],
            'the query "t1" sees no key.',
        ),
        # Each head has a matrix of its own.
        (
            {"causal": True, "keep": [[[1, 1, 1], [0, 0, 1], [0, 0, 1]], [[0, 1, 1]] * 3]},
            [[[0, 0, 0], [1, 1, 0], [1, 1, 0]], [[1, 0, 0]] * 3],
            'these see no key: head 0, query "t1".',
        ),
    ],
)
def test_where_a_query_sees_no_key_with_a_mistake(
    mask: dict[str, Any], seen: Any, sentence: str
) -> None:
    said = said_of(batch_with(mask), CAUSAL_KEYS & (np.array(seen) == 1))
    assert f"With this mistake, {sentence}" in said
