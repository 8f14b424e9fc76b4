"""Masks as students write them, each solution worked out by NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import attncli
from tests.cases import in_one_test
from tests.features.check.solutions_by_hand import Array, softmax

STEPS = ("mask", "masked", "weights", "output")
MARKING: dict[str, Any] = {
    "marks": 20,
    "decimals": 2,
    "steps": dict.fromkeys(STEPS, 5),
    "mistake": 2,
}
D = 2


def drawn(n: int, heads: int, mask: Any) -> dict[str, Any]:
    """Q, K and V of small whole numbers, with a mask."""
    choice = np.random.default_rng([n, heads])
    shape = (heads, n, D) if heads > 1 else (n, D)
    given = {name: choice.integers(-3, 4, size=shape).tolist() for name in "QKV"}
    return given | {"mask": mask}


def scaled(problem: dict[str, Any]) -> Array:
    q, k = (np.array(problem[name], dtype=float) for name in "QK")
    return np.asarray(q @ k.swapaxes(-1, -2) / math.sqrt(D))


def solved(problem: dict[str, Any], mask: Array, masked: Array) -> dict[str, Any]:
    """All that comes after a mask and masked scores, whoever wrote these."""
    weights = softmax(masked)
    output = weights @ np.array(problem["V"])
    arrays = dict(zip(STEPS, (mask, masked, weights, output), strict=True))
    return {name: as_written(array) for name, array in arrays.items()}


def as_written(array: Any) -> Any:
    """Numbers with two decimals, and -inf."""
    if np.ndim(array):
        return [as_written(part) for part in array]
    return "-inf" if array == -np.inf else f"{array:.2f}"


def marked(problem: dict[str, Any], answers: dict[str, Any]) -> attncli.Checked:
    return attncli.check(problem, answers, marking=MARKING)


def seen_by(n: int) -> dict[str, Any]:
    """Masks for n tokens."""
    in_matrix = np.tri(n, dtype=int)
    in_matrix[-1, 0] = 0
    numbers = np.where(in_matrix, 0.5, -1.5)
    return {
        "causal": "causal",
        "padding": {"padding": [1] * (n - 1) + [0]},
        "window": {"window": [1, 0]},
        "causal window": {"causal": True, "window": [1, 0]},
        "matrix": {"keep": in_matrix.tolist()},
        "numbers": {"additive": numbers.tolist()},
    }


@in_one_test(
    ("n", "heads", "kind"),
    [(n, heads, kind) for n in (3, 4, 5) for heads in (1, 2) for kind in seen_by(n)],
)
def test_a_mask_of_zeros_was_forgotten(n: int, heads: int, kind: str) -> None:
    """It costs one mistake, whether or not what follows is worked out with it."""
    problem = drawn(n, heads, seen_by(n)[kind])
    right = scaled(problem)
    forgotten = solved(problem, np.zeros((n, n)), right)
    for answers in (forgotten, {"mask": forgotten["mask"]}):
        found = marked(problem, answers)
        assert found.earned is not None
        assert found.earned.points == 5 * len(answers) - 2
        assert [each.said for each in found.earned.mistakes] == ["the mask was forgotten"]
        named = [(each.step, each.mistakes, each.whole) for each in found.diagnoses]
        assert named == [("mask", ("the mask was forgotten",), True)]


def test_a_single_0_in_a_mask_is_a_slip() -> None:
    """A causal mask for two tokens hides one key."""
    problem = drawn(2, 1, "causal")
    found = marked(problem, solved(problem, np.zeros((2, 2)), scaled(problem)))
    assert found.earned is not None
    assert found.earned.points == 19
    assert len(found.earned.slips) == 1
    assert not found.earned.mistakes


def test_zeros_beside_a_mask_that_is_right_are_no_mask_that_was_forgotten() -> None:
    """Masked scores of zeros follow from nothing."""
    problem = drawn(4, 1, "causal")
    zeros = np.zeros((4, 4)).tolist()
    mask = np.where(np.tri(4), 0, -np.inf)
    found = marked(problem, {"mask": as_written(mask), "masked": zeros})
    assert found.earned is not None
    assert found.earned.points == 5
    assert not found.diagnoses


HIDDEN_4 = np.triu(np.ones((4, 4), dtype=bool), 1)


@in_one_test(
    ("number", "said"),
    [(-1000, "-1000"), (-1e9, "-1e9"), (-10000, "-1e4"), (-100, "-100"), (-10, "-10")],
)
def test_a_large_negative_number_for_minus_infinity_costs_once(number: float, said: str) -> None:
    """In the mask, in the masked scores, or in both, where it was added or put in their place."""
    problem = drawn(4, 1, "causal")
    right = scaled(problem)
    mask = np.where(HIDDEN_4, number, 0)
    set_to = np.where(HIDDEN_4, number, right)
    wanted = np.where(HIDDEN_4, -np.inf, 0)
    added = f"{said} was added instead of -inf"
    was_set = f"hidden scores were set to {said}, not to -inf"
    for answers, steps, name in (
        (solved(problem, mask, set_to), ["mask", "masked"], was_set),
        (solved(problem, mask, right + mask), ["mask"], added),
        (solved(problem, wanted, set_to), ["masked"], was_set),
        (solved(problem, mask, right + wanted), ["mask"], added),
        ({"mask": as_written(mask)}, ["mask"], added),
    ):
        found = marked(problem, answers)
        assert found.earned is not None
        assert found.earned.points == 5 * len(answers) - 2
        assert [each.said for each in found.earned.mistakes] == [name]
        named = [(each.step, each.mistakes) for each in found.diagnoses]
        assert named == [(step, (name,)) for step in steps]


@in_one_test(
    ("heads", "blank"), [(heads, blank) for heads in (1, 2) for blank in (None, "_", "-", "–")]
)
def test_what_is_hidden_may_be_left_blank_in_the_mask_as_in_the_masked_scores(
    heads: int, blank: str | None
) -> None:
    """All heads have one mask."""
    problem = drawn(4, heads, "causal")
    mask = np.where(HIDDEN_4, -np.inf, 0)
    answers = solved(problem, mask, scaled(problem) + mask)
    for name in ("mask", "masked"):
        left_out = _instead_of_hidden(answers[name], blank)
        found = marked(problem, {**answers, name: left_out})
        assert found.earned is not None
        assert (found.earned.points, found.earned.lost) == (20, ())
        # A row in which nothing stands is missing.
        row = left_out[0]
        while isinstance(row[0], list):
            row = row[0]
        row[0] = blank
        found = marked(problem, {**answers, name: left_out})
        assert found.solution.verdicts.counts["missing"] == 4


def _instead_of_hidden(written: Any, instead: str | None) -> Any:
    if isinstance(written, list):
        return [_instead_of_hidden(part, instead) for part in written]
    return instead if written == "-inf" else written


@in_one_test(
    ("steps", "spelled"),
    [
        (("mask",), "inf"),
        (("masked",), "∞"),
        (("mask", "masked"), "+oo"),
    ],
)
def test_inf_for_minus_inf_is_one_slip_and_the_rest_is_marked(
    steps: tuple[str, ...], spelled: str
) -> None:
    """What follows is worked out with what was meant."""
    problem = drawn(4, 1, "causal")
    mask = np.where(HIDDEN_4, -np.inf, 0)
    answers = solved(problem, mask, scaled(problem) + mask)
    for name in steps:
        answers[name] = _instead_of_hidden(answers[name], spelled)
    found = marked(problem, answers)
    assert found.solution.verdicts.counts["wrong"] == 6 * len(steps)
    assert found.earned is not None
    assert found.earned.points == 19
    assert found.earned.lost == ()
    said = "inf was written for -inf, which hides a key"
    named = [(each.step, each.mistakes, len(each.cells)) for each in found.diagnoses]
    assert named == [(step, (said,), 6) for step in steps]
    assert f"{steps[0]}: {said}. This explains" in found.to_markdown()
    given = found.to_dict()["steps"][steps[0]]["cells"][0][1]["given"]
    assert given == "Infinity"


def test_a_slip_is_found_beside_inf() -> None:
    problem = drawn(4, 1, "causal")
    mask = np.where(HIDDEN_4, -np.inf, 0)
    answers = solved(problem, mask, scaled(problem) + mask)
    answers["masked"] = _instead_of_hidden(answers["masked"], "inf")
    answers["masked"][0][0] = "9.99"
    found = marked(problem, answers)
    assert found.earned is not None
    assert found.earned.points == 18
    assert len(found.earned.slips) == 1


def test_inf_where_a_key_is_seen_is_wrong_and_no_sign_that_is_missing() -> None:
    problem = drawn(4, 1, "causal")
    mask = np.where(HIDDEN_4, -np.inf, 0)
    answers = solved(problem, mask, scaled(problem) + mask)
    answers["masked"][1][0] = "inf"
    found = marked(problem, answers)
    assert found.solution.verdicts.counts["wrong"] == 1
    assert found.solution.verdicts.first_wrong == ("masked", (1, 0))
    assert "inf was written for -inf" not in found.to_markdown()
