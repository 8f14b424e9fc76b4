"""Functions that hide later tokens without being asked, and those that take as many keys as
queries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attncli.testing.battery import all_cases
from attncli.testing.data import problem_data
from attncli.testing.meant import ANYTHING, Meant, meant_by
from attncli.testing.trial import Trial, answers, trial_of
from tests.testing.in_process import asking

UNASKED = "a causal mask was applied that the problem does not ask for"


def softmax(scores: Any) -> Any:
    with np.errstate(all="ignore"):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)


def scaled(q: Any, k: Any) -> Any:
    return q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])


def from_the_left(q: Any, k: Any, v: Any) -> Any:
    scores = scaled(q, k)
    queries, keys = scores.shape[-2:]
    return softmax(np.where(np.tri(queries, keys, dtype=bool), scores, -np.inf)) @ v


def from_the_right(q: Any, k: Any, v: Any, mask: Any = None, softcap: Any = None) -> Any:
    scores = scaled(q, k)
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    queries, keys = scores.shape[-2:]
    is_past = np.tri(queries, keys, keys - queries, dtype=bool)
    scores = np.where(is_past, scores, -np.inf)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    return softmax(scores) @ v


def when_asked_and_else(q: Any, k: Any, v: Any, causal: bool = False) -> Any:
    return from_the_left(q, k, v)


def one_too_many(q: Any, k: Any, v: Any) -> Any:
    scores = scaled(q, k)
    queries, keys = scores.shape[-2:]
    return softmax(np.where(np.tri(queries, keys, 1, dtype=bool), scores, -np.inf)) @ v


def without_a_scale(q: Any, k: Any, v: Any) -> Any:
    return from_the_left(q * np.sqrt(q.shape[-1]), k, v)


def square(q: Any, k: Any, v: Any) -> Any:
    scores = scaled(q, k)
    tokens = q.shape[-2]
    scores[..., np.triu(np.ones((tokens, tokens)), 1) == 1] = -np.inf
    return softmax(scores) @ v


def square_with_a_mask(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    scores = scaled(q, k) + np.zeros((q.shape[-2],) * 2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    return softmax(scores) @ v


def square_by_columns(q: Any, k: Any, v: Any) -> Any:
    scores = scaled(q, k) + np.zeros((q.shape[-2],) * 2)
    return np.swapaxes(softmax(np.swapaxes(scores, -1, -2)), -1, -2) @ v


def gpt(made: Callable[[Any], Any], scale: float = 1.0, axis: int = -1) -> Callable[..., Any]:
    """The attention of a GPT in a few lines, with a mistake in what it makes of its mask."""

    def attention(q: Any, k: Any, v: Any) -> Any:
        seen = np.tri(q.shape[-2], dtype=bool)
        scores = np.moveaxis(made((scaled(q, k) * scale, seen)), axis, -1)
        return np.moveaxis(softmax(scores), -1, axis) @ v

    return attention


def hidden(scores: Any, seen: Any) -> Any:
    return np.where(seen, scores, -np.inf)


GPTS = {
    "hidden scores were set to 0, not to -inf": gpt(lambda both: both[0] * both[1]),
    "the mask hid each token from itself": gpt(
        lambda both: hidden(both[0], both[1] & ~np.eye(len(both[1]), dtype=bool))
    ),
    "the mask let each token see the next one": gpt(
        lambda both: hidden(both[0], np.tri(len(both[1]), k=1, dtype=bool))
    ),
    "the causal mask hid what comes before, not what comes after": gpt(
        lambda both: hidden(both[0], both[1].T)
    ),
    "the scores were scaled twice": gpt(lambda both: hidden(*both), 5**-0.5),
    "the softmax was taken down the columns": gpt(lambda both: hidden(*both), axis=-2),
}


def trial(function: Callable[..., Any], meant: Meant = ANYTHING, expression: str = "") -> Trial:
    asked = asking(function)
    asked.meant, asked.expression = meant, expression
    results = answers(asked, all_cases())
    return trial_of(function.__name__, results, meant, asked.layout.words)


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", GPTS)
def test_a_mistake_in_what_is_always_hidden_has_its_name(name: str) -> None:
    # Of another width, the scale of a case would be another one.
    cases = [each for each in all_cases() if each.keys.shape[-1] == 5]
    asked = asking(GPTS[name])
    results = answers(asked, cases)
    found = trial_of("gpt", results, ANYTHING, asked.layout.words)
    assert name in mistakes(found)
    # What is right beside it is worked out with a causal mask, too.
    assert all("mask" in each.meaning.keys for each in found.results if each.result == "differs")


def mistakes(found: Trial) -> set[str]:
    return {name for each in found.explanations for name in each.mistakes}


@pytest.mark.parametrize(
    ("function", "corner"), [(from_the_left, "top-left"), (from_the_right, "bottom-right")]
)
def test_what_is_hidden_always_is_a_fact(function: Callable[..., Any], corner: str) -> None:
    found = trial(function)
    assert found.agrees
    assert found.facts["always causal"] == f"yes, {corner}"
    plain = found.results[0]
    # The problem that is shown and saved asks for it, so it gives the same.
    assert problem_data(plain.case, plain.chosen)["mask"] == {"causal": True, "corner": corner}


@pytest.mark.parametrize(
    ("function", "meant", "expression"),
    [
        # Without being asked it is a mistake where a parameter asks for it.
        (when_asked_and_else, ANYTHING, ""),
        # No function of PyTorch does so.
        (from_the_left, meant_by("torch"), ""),
        (from_the_left, ANYTHING, "f(q, k, v)"),
    ],
)
def test_what_could_be_asked_for_is_a_mistake(
    function: Callable[..., Any], meant: Meant, expression: str
) -> None:
    found = trial(function, meant, expression)
    assert not found.agrees
    assert mistakes(found) == {UNASKED}


def test_who_hides_nothing_says_so() -> None:
    assert trial(square_with_a_mask).facts["always causal"] == "no"


@pytest.mark.long
def test_another_corner_is_no_fact() -> None:
    found = trial(one_too_many)
    assert not found.agrees
    # Of four keys and three queries, it is the corner on the right; of others it is none.
    wrong = [each.case.name for each in found.results if each.result == "differs"]
    assert wrong == ["plain, in float16", "4,096 equal keys"]


@pytest.mark.long
def test_a_mistake_beside_it_is_named() -> None:
    found = trial(without_a_scale)
    assert mistakes(found) == {"the scores were not scaled"}
    assert found.facts["always causal"] == "yes, top-left"


@pytest.mark.parametrize("function", [square, square_with_a_mask])
def test_as_many_keys_as_queries_is_a_fact(function: Callable[..., Any]) -> None:
    found = trial(function)
    assert found.agrees
    assert found.facts["layout"].endswith("; as many keys as queries")
    # A long row of keys says nothing of such a function.
    assert found.facts["precision"] == "not asked"
    for each in found.results:
        if each.result == "same":
            assert each.case.queries.shape[-2] == each.case.keys.shape[-2]


def test_a_mistake_shows_with_as_many_keys_as_queries() -> None:
    found = trial(square_by_columns)
    assert found.facts["layout"].endswith("; as many keys as queries")
    assert any("column" in name for name in mistakes(found))
