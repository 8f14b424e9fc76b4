"""Mistakes in what not every problem has, made in NumPy: heads, windows, biases, sinks, positions,
caches. Each gives the numbers of NumPy, and is named from matrices and from outputs.
"""

from __future__ import annotations

import math
import zlib
from functools import cache
from typing import Any

import numpy as np
import pytest

from attncli.mistakes.catalogue import changes_of
from attncli.mistakes.mistaken_trace import MistakenTrace
from attncli.problem.python_values import problem as problem_of
from attncli.tracing import run
from tests.features.check.test_diagnosis import DECIMALS, diagnosed, read, shaped
from tests.reference.back_in_arrays import sheet_of, steps_of
from tests.reference.in_arrays import Problem, worked
from tests.reference.mistaken import FURTHER, KINDS, OF_ROPE, Kind
from tests.reference.on_paper import drawn_problem

AVERAGE = "a query that sees no key got the average of all values"
NAN = "a query that sees no key got NaN"


def made_in(kind: Kind, problem: Problem) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The name of the mistake, and every step by NumPy alone: right, and with the mistake."""
    sheet = sheet_of(problem)
    right = steps_of(sheet)
    made = kind.make(sheet, np.random.default_rng(0), DECIMALS)
    assert set(made.steps) <= set(right)
    shapes = run(read(problem)).shapes()
    with np.errstate(invalid="ignore"):
        both = worked(sheet, right), worked(sheet, right | made.steps)
    of_steps = [
        {name: shaped(solved[name], shapes[name]) for name in right if name in shapes}
        for solved in both
    ]
    return made.names[0], *of_steps


@cache
def drawn_for(name: str) -> Problem:
    """A problem in which the output shows this mistake."""
    kind = KINDS[name]
    for seed in range(100):
        draw = np.random.default_rng([seed, zlib.crc32(kind.name.encode())])
        problem = drawn_problem(draw, kind.needs)
        _, right, wrong = made_in(kind, problem)
        if not np.allclose(wrong["output"], right["output"], 0, 0.02):
            return problem
    raise LookupError(f"no drawn problem shows that {kind.name}")


NAMES = [kind.name for kind in (*FURTHER, *OF_ROPE)]
# What is one mistake, although there are several kinds of work that make it.
MADE_AS_ANOTHER = {
    "the bias of positions was scaled with the scores": "the bias was scaled with the scores",
    "the bias of positions was put inside the softcap": "the bias was put inside the softcap",
    "the weights were divided by their sum, which gave the keys the share of the sink": (
        "the sink got no share of the weights"
    ),
}
# No solution says NaN.
MISTAKES = [name for name in NAMES if name != NAN and name not in MADE_AS_ANOTHER]


@pytest.mark.sampled(40)
@pytest.mark.parametrize("kind", NAMES)
def test_every_number_is_that_of_numpy(kind: str) -> None:
    problem = drawn_for(kind)
    name, _, wrong = made_in(KINDS[kind], problem)
    assert name == MADE_AS_ANOTHER.get(kind, kind)
    trace = run(read(problem))
    mistaken = MistakenTrace(trace, changes_of(name, trace))
    for step in mistaken.moved.keys() & wrong.keys():
        if step == "row_sum" and kind != name:
            # The sums of rows may be right before a sink loses its share.
            continue
        np.testing.assert_allclose(mistaken[step], wrong[step], rtol=1e-12, atol=1e-13)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("from_output", [False, True], ids=["matrices", "output"])
@pytest.mark.parametrize("kind", [kind for kind in NAMES if kind != NAN])
def test_named(kind: str, from_output: bool) -> None:
    problem = drawn_for(kind)
    name, _, wrong = made_in(KINDS[kind], problem)
    answers = {"output": wrong["output"]} if from_output else wrong
    if name == AVERAGE:
        # Any weights may be carried from exponentials that are written as 0.
        answers = {step: array for step, array in answers.items() if step not in ("exp", "row_sum")}
    found = diagnosed(problem, answers)
    assert name in found[0].mistakes
    assert found[0].whole


def test_a_sink_in_the_sums_that_gets_no_share_of_the_weights() -> None:
    """Where each query sees one key, its weight is then 1, as with other mistakes. Sums that are
    right are no reason to prefer these.
    """
    problem: Problem = {
        "Q": [[1, 0], [0, 2]],
        "K": [[1, 2], [2, 1]],
        "V": [[1, 0], [0, 1]],
        "sink": -1,
        "mask": {"keep": [[1, 0], [1, 0]]},
    }
    scores = np.array([1.0, 4.0]) / 2**0.5
    hidden = np.array([-np.inf, -np.inf])
    answers = {
        "masked": np.stack([scores, hidden], axis=1),
        "row_sum": np.exp(scores) + np.exp(-1),
        "weights": np.array([[1.0, 0.0], [1.0, 0.0]]),
        "output": np.array([[1.0, 0.0], [1.0, 0.0]]),
    }
    (found,) = diagnosed(problem, answers)
    assert "the sink got no share of the weights" in found.mistakes


def test_masks_tiled_over_heads() -> None:
    """Program code tiles the rows of the entries, and then takes entry and head from a row."""
    draw = np.random.default_rng(2)
    q, k, v = (draw.normal(size=(3, 2, 3, 4)) for _ in range(3))
    lengths = [1, 2, 3]
    trace = run(problem_of(Q=q, K=k, V=v, mask={"lengths": lengths}))
    name = "the masks of the entries were tiled over the heads, not repeated"
    mistaken = MistakenTrace(trace, changes_of(name, trace))
    seen = np.tile(np.arange(3) < np.reshape(lengths, (3, 1)), (2, 1)).reshape(3, 2, 1, 3)
    exp = np.where(seen, np.exp(q @ k.swapaxes(-1, -2) / 2), 0)
    output = exp / exp.sum(-1, keepdims=True) @ v
    assert abs(output - trace["output"]).max() > 0.1
    np.testing.assert_allclose(mistaken["output"], output, rtol=1e-12)


PADDING = "the padding was inverted"
MATRIX = "the matrix of the mask was inverted, but not the masks beside it"
TURNED_AT = [[0, 1, 1, 0], [1, 0, 0, 1], [1, 1, 1, 0], [0, 1, 0, 1]]
BESIDE = {"window": [1, 1]}


@pytest.mark.parametrize(
    ("mask", "name", "seen"),
    [
        ({"padding": [1, 0, 1, 0]}, PADDING, [0, 1, 0, 1]),
        ({"padding": [[1, 0, 1, 0], [0, 0, 1, 1]]}, PADDING, [[[0, 1, 0, 1]], [[1, 1, 0, 0]]]),
        ({"lengths": [2, 3]}, PADDING, [[[0, 0, 1, 1]], [[0, 0, 0, 1]]]),
        ({"keep": TURNED_AT}, MATRIX, 1 - np.array(TURNED_AT)),
        ({"hide": TURNED_AT}, MATRIX, TURNED_AT),
    ],
)
def test_one_of_several_masks_inverted(mask: Problem, name: str, seen: Any) -> None:
    draw = np.random.default_rng(3)
    q, k, v = (draw.normal(size=(2, 4, 3)) for _ in range(3))
    problem = {"Q": q[:, None], "K": k[:, None], "V": v[:, None], "mask": {**BESIDE, **mask}}
    near = abs(np.subtract.outer(range(4), range(4))) <= 1
    exp = np.exp(q @ k.swapaxes(-1, -2) / 3**0.5) * near * seen
    total = exp.sum(-1, keepdims=True)
    output = np.divide(exp, total, out=np.zeros_like(exp), where=total > 0) @ v
    trace = run(problem_of(**problem))
    mistaken = MistakenTrace(trace, changes_of(name, trace))
    np.testing.assert_allclose(mistaken["output"][:, 0], output, rtol=1e-12)


@pytest.mark.parametrize("mask", [{"padding": [1, 0, 1]}, {"keep": [[1, 0, 1]] * 2}, BESIDE])
def test_a_mask_alone_has_no_other_that_could_be_kept(mask: Problem) -> None:
    rows = [[1.0, 2.0], [0.0, 1.0], [2.0, 1.0]]
    trace = run(problem_of(Q=rows[:2], K=rows, V=rows, mask=mask))
    assert not changes_of(PADDING, trace)
    assert not changes_of(MATRIX, trace)


@pytest.mark.parametrize(("whose", "axis"), [("entry", 0), ("head", 1)])
def test_the_mask_of_the_first_for_all(whose: str, axis: int) -> None:
    draw = np.random.default_rng(5)
    q, k, v = (draw.normal(size=(2, 3, 4, 5)) for _ in range(3))
    keep = draw.integers(0, 2, size=(2, 3, 4, 4)) | np.eye(4, dtype=int)
    trace = run(problem_of(Q=q, K=k, V=v, mask={"keep": keep}))
    all_of_them = {"entry": "entries", "head": "heads"}[whose]
    name = f"the mask of the first {whose} was used for all {all_of_them}"
    mistaken = MistakenTrace(trace, changes_of(name, trace))
    exp = np.exp(q @ k.swapaxes(-1, -2) / 5**0.5) * keep.take([0], axis)
    output = exp / exp.sum(-1, keepdims=True) @ v
    assert abs(output - trace["output"]).max() > 0.1
    np.testing.assert_allclose(mistaken["output"], output, rtol=1e-12)


@pytest.mark.parametrize("mask", [{}, {"mask": "causal"}])
def test_scores_shifted_by_the_largest_of_all_rows(mask: Problem) -> None:
    """It does no harm before the exponentials of a row are all 0."""
    draw = np.random.default_rng(4)
    sizes = np.array([[1], [4000], [-9000]])
    q, k, v = draw.normal(size=(3, 4)) * sizes, draw.normal(size=(3, 4)), draw.normal(size=(3, 4))
    name = "the scores were shifted by the largest of all rows, and exponentials became 0"
    trace = run(problem_of(Q=q, K=k, V=v, **mask))
    mistaken = MistakenTrace(trace, changes_of(name, trace))
    scores = q @ k.T / 2 + (np.triu(np.full((3, 3), -np.inf), 1) if mask else 0)
    exp = np.exp(scores - scores.max())
    with np.errstate(invalid="ignore"):
        output = exp / exp.sum(-1, keepdims=True) @ v
    assert np.isnan(output).any()
    np.testing.assert_allclose(mistaken["output"], output, rtol=1e-12)
    small = run(problem_of(Q=q / 20, K=k, V=v, **mask))
    assert changes_of(name, small) == {}


@pytest.mark.parametrize("sink", [None, 0.5])
@pytest.mark.parametrize("base", [math.e, 3.0])
def test_exponentials_without_a_shift(base: float, sink: float | None) -> None:
    draw = np.random.default_rng(3)
    q, k, v = (draw.normal(size=(3, 4)) * size for size in (np.array([[1], [4000], [-9000]]), 1, 1))
    keys: dict[str, Any] = {} if sink is None else {"sink": sink}
    keys |= {} if base == math.e else {"exp_base": base}
    trace = run(problem_of(Q=q, K=k, V=v, **keys))
    name = "the exponentials were taken without a shift, and overflowed"
    mistaken = MistakenTrace(trace, changes_of(name, trace))
    with np.errstate(over="ignore", invalid="ignore"):
        exp = base ** (q @ k.T / 2)
        total = exp.sum(-1, keepdims=True) + (0 if sink is None else base**sink)
        output = exp / total @ v
    assert np.isnan(output).any()
    np.testing.assert_allclose(mistaken["output"], output, rtol=1e-12)
    small = run(problem_of(Q=q / 1e4, K=k, V=v, **keys))
    assert changes_of(name, small) == {}


def test_products_of_x_have_its_sines_in_them() -> None:
    """Whoever takes X for queries and keys takes the X that these are made of."""
    kind = KINDS["the sines were those of the next position"]
    problem = drawn_problem(np.random.default_rng(4), kind.needs)
    trace = run(read(problem))
    name = "X X^T was worked out instead of Q K^T"
    mistaken = MistakenTrace(trace, changes_of(name, trace))
    x = worked(sheet_of(problem), steps_of(sheet_of(problem)))["X_pos"]
    np.testing.assert_allclose(mistaken["scores"], x @ x.T, rtol=1e-12)


# A section of four pairs, and three positions of each of five tokens: two of text, three of images.
SECTION = (2, 1, 1)
PLACES = np.array([[0, 1, 1, 1, 3], [0, 1, 1, 2, 3], [0, 1, 2, 1, 3]])
IN_BLOCKS, BY_TURNS = (0, 0, 1, 2), (0, 1, 2, 0)


def turned_by(rows: np.ndarray, places: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Rows of eight features, pair r turned by the place on the axis of this number."""
    angles = places[list(axes)].T * 10.0 ** (-np.arange(4) / 4)
    a, b = rows[..., :4], rows[..., 4:]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("interleaved", "axes", "name"),
    [
        (False, IN_BLOCKS, ""),
        (True, BY_TURNS, ""),
        (False, (0, 0, 0, 0), "RoPE turned all pairs by the time, and none by height or width"),
        (True, (0, 0, 0, 0), "RoPE turned all pairs by the time, and none by height or width"),
        (False, (0, 0, 2, 1), "RoPE exchanged height and width"),
        (True, (0, 2, 1, 0), "RoPE exchanged height and width"),
        *(
            (
                interleaved,
                axes,
                "RoPE gave time, height and width blocks of pairs for turns, or turns for blocks",
            )
            for interleaved, axes in ((False, BY_TURNS), (True, IN_BLOCKS))
        ),
    ],
)
def test_pairs_that_turn_by_time_height_and_width(
    interleaved: bool, axes: tuple[int, ...], name: str
) -> None:
    draw = np.random.default_rng(9)
    q, k, v = draw.normal(size=(5, 8)), draw.normal(size=(5, 8)), draw.normal(size=(5, 3))
    rope = {
        "theta": 10,
        "mrope_section": list(SECTION),
        "mrope_interleaved": interleaved,
        "positions": PLACES.tolist(),
    }
    problem = {"Q": q.tolist(), "K": k.tolist(), "V": v.tolist(), "position": {"rope": rope}}
    exp = np.exp(turned_by(q, PLACES, axes) @ turned_by(k, PLACES, axes).T / 8**0.5)
    output = exp / exp.sum(axis=-1, keepdims=True) @ v
    trace = run(read(problem))
    if not name:
        np.testing.assert_allclose(trace["output"], output, rtol=1e-12)
        return
    assert abs(output - trace["output"]).max() > 0.01
    np.testing.assert_allclose(
        MistakenTrace(trace, changes_of(name, trace))["output"], output, rtol=1e-12
    )
    (found,) = diagnosed(problem, {"output": output})
    assert name in found.mistakes


def test_the_positions_of_the_first_entry_for_all() -> None:
    draw = np.random.default_rng(10)
    q, k, v = (draw.normal(size=(2, 1, 5, 8)) for _ in range(3))
    places = [[0, 1, 2, 3, 4], [0, 0, 0, 1, 2]]
    rope = {"theta": 10, "positions": places}
    trace = run(problem_of(Q=q, K=k, V=v, position={"rope": rope}))
    name = "RoPE took the positions of the first entry for all entries"
    mistaken = MistakenTrace(trace, changes_of(name, trace))
    first = np.array([places[0]] * 3)
    queries, keys = (turned_by(rows, first, (0, 0, 0, 0)) for rows in (q, k))
    exp = np.exp(queries @ keys.swapaxes(-1, -2) / 8**0.5)
    output = exp / exp.sum(axis=-1, keepdims=True) @ v
    assert abs(output - trace["output"]).max() > 0.01
    np.testing.assert_allclose(mistaken["output"], output, rtol=1e-12)
