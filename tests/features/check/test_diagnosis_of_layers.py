"""Mistakes with heads, groups of heads and turned positions, made in NumPy: named from matrices and
from outputs.
"""

from __future__ import annotations

import numpy as np
import pytest

from attncli.mistakes.catalogue import changes_of, known_mistakes
from attncli.mistakes.mistaken_trace import MistakenTrace
from attncli.tracing import run
from tests.features.check.test_diagnosis import CASES as OF_ONE_HEAD
from tests.features.check.test_diagnosis import UNSEEN, answers_of, diagnosed, read
from tests.features.check.test_diagnosis_of_gradients import CASES as ON_THE_WAY_BACK
from tests.features.check.test_diagnosis_of_settings import MISTAKES as OF_SETTINGS
from tests.features.check.test_diagnosis_of_settings import NAN, drawn_for
from tests.reference.in_arrays import Problem
from tests.reference.mistaken import ELSEWHERE, FEATURES_IN_ANOTHER_ORDER

_RANDOM = np.random.default_rng(4)
X, W_Q, W_K, W_V = (
    _RANDOM.uniform(-1, 1, size=size).round(1) for size in ((3, 5), (5, 8), (5, 4), (5, 4))
)
W_O = _RANDOM.uniform(-1, 1, size=(8, 8)).round(1)


def layer(heads: int, kv_heads: int) -> Problem:
    width = 4 if kv_heads == 1 else 2
    arrays = {
        "X": X,
        "W_Q": W_Q[:, : heads * width],
        "W_K": W_K[:, : kv_heads * width],
        "W_V": W_V[:, : kv_heads * width],
        "W_O": W_O[: heads * width, : heads * width],
    }
    lists = {name: array.tolist() for name, array in arrays.items()}
    return {**lists, "heads": heads, "kv_heads": kv_heads}


LAYER, SHARED = layer(2, 2), layer(4, 2)
TURNED = {**layer(2, 1), "position": {"rope": {"theta": 100, "pairing": "half"}}}
CASES: list[tuple[str, Problem]] = [
    ("heads were split by rows, without moving their axis", LAYER),
    ("heads were joined without moving their axis back", LAYER),
    ("KV heads were tiled, not repeated", SHARED),
    ("W_O was transposed", LAYER),
    ("W_O was left out", LAYER),
    ("the scores were divided by the root of d_k of all heads together", SHARED),
    ("RoPE rotated the wrong pairs of features", TURNED),
    ("RoPE was left out", TURNED),
    ("RoPE rotated in the wrong direction", TURNED),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "problem"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize("whole", [True, False], ids=["matrices", "output"])
def test_named(name: str, problem: Problem, whole: bool) -> None:
    answers = answers_of(problem, name)
    assert diagnosed(problem, answers_of(problem)) == ()
    found = diagnosed(problem, answers if whole else {"output": answers["output"]})
    named, *alike = found[0].mistakes
    assert named == name
    # With the features of queries and keys in another order, the pairs turn alike.
    assert set(alike) <= set(FEATURES_IN_ANOTHER_ORDER)


ALL = [case[:2] for case in (*CASES, *OF_ONE_HEAD, *UNSEEN, *ON_THE_WAY_BACK)]
# Their problems are drawn when they are played.
ALL += [(name, None) for name in OF_SETTINGS]


def test_every_mistake_is_made_in_a_test() -> None:
    made = {name for name, _ in ALL} | {*ELSEWHERE, NAN}
    assert {mistake.name for mistake in known_mistakes()} == made


@pytest.mark.sampled(40)
@pytest.mark.parametrize("case", ALL, ids=[name for name, _ in ALL])
def test_every_step_that_follows_is_that_of_numpy(case: tuple[str, Problem | None]) -> None:
    """A mistake is named from its first step, so a wrong equation for a later one shows nowhere
    else.
    """
    name, problem = case
    problem = problem or drawn_for(name)
    gradient = bool({"d_output", "loss"} & set(problem))
    trace = run(read(problem), gradient=gradient)
    made = MistakenTrace(trace, changes_of(name, trace))
    answers = answers_of(problem, name, gradient=gradient)
    assert made.moved.keys() & set(answers)
    for step, theirs in answers.items():
        ours = made[step].astype(float)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9, err_msg=step)


@pytest.mark.parametrize("whole", [True, False], ids=["matrices", "output"])
def test_heads_that_are_given_and_split_by_rows(whole: bool) -> None:
    """Q, K and V themselves: two heads side by side, cut where the rows end."""
    name = "heads were split by rows, without moving their axis"
    answers = answers_of(LAYER, name)
    projected = {letter: X @ np.array(LAYER[f"W_{letter}"]) for letter in "QKV"}
    given = {letter: array.tolist() for letter, array in projected.items()}
    later = {step: answers[step] for step in ("scores", "scaled", "weights", "output")}
    found = diagnosed(
        {**given, "W_O": LAYER["W_O"], "heads": 2},
        later if whole else {"output": answers["output"]},
    )
    assert found[0].mistakes == (name,)
