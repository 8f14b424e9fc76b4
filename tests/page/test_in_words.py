"""A trace in words: who looks at whom, ties as ties, and where each output row comes from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from attncli.page.in_words import attention_in_words, percent
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.keep_and_hide import Hide, Keep
from attncli.tracing import run
from tests.cases import in_one_test

Build = Callable[..., Problem]


def test_i_love_ai(love: Problem) -> None:
    assert attention_in_words(run(love)) == (
        (
            '"I" pays 70.7 % of its attention to "love", 22.3 % to "AI" and 7.0 % to itself. '
            'Its output is mostly the value of "love" (70.7 %).'
        ),
        (
            '"love" pays the same attention to every token (33.3 % each). Its output is the average'
            " of all values."
        ),
        (
            '"AI" pays 53.3 % of its attention to "love", 29.9 % to itself and 16.8 % to "I". '
            'Its output is mostly the value of "love" (53.3 %).'
        ),
    )


def words(
    problem: Build, weights: Any, tokens: Any = None, context_tokens: Any = None, **choices: Any
) -> str:
    """The first sentence of a row with these weights: their logarithms are given as scores."""
    row = np.log(np.array(weights, dtype=float))
    keys = len(row)
    queries = len(tokens) if tokens else 1
    arrays = {"Q": np.tile(row, (queries, 1)), "K": np.eye(keys), "V": np.ones((keys, 1))}
    given = problem(**arrays, scale="none", tokens=tokens, context_tokens=context_tokens, **choices)
    return attention_in_words(run(given))[0]


@in_one_test(
    ("weights", "sentence"),
    [
        ([1], '"q" pays all of its attention to "c1", so its output is the value of "c1".'),
        (
            [1, 1],
            (
                '"q" pays the same attention to every token (50.0 % each). Its output is the'
                " average of all values."
            ),
        ),
        (
            [0.4, 0.4, 0.2],
            (
                '"q" pays 40.0 % of its attention each to "c1" and "c2", and 20.0 % to "c3". '
                'Its output is mostly the value of "c1" and the value of "c2" (together 80.0 %).'
            ),
        ),
        (
            [0.4, 0.35, 0.25],
            (
                '"q" pays 40.0 % of its attention to "c1", 35.0 % to "c2" and 25.0 % to "c3". '
                'Its output is a mixture. Its largest part is the value of "c1" (40.0 %).'
            ),
        ),
        (
            [0.96, 0.02, 0.02],
            (
                '"q" pays 96.0 % of its attention to "c1", and 2.0 % each to "c2" and "c3". '
                'Its output is almost entirely the value of "c1" (96.0 %).'
            ),
        ),
        (
            [0.3, 0.25, 0.2, 0.15, 0.06, 0.04],
            (
                '"q" pays 30.0 % of its attention to "c1", 25.0 % to "c2", 20.0 % to "c3", 15.0 %'
                ' to "c4" and 10.0 % to the 2 others together.'
            ),
        ),
        (
            [0.3, 0.25, 0.2, 0.15, 0.1],
            (
                '"q" pays 30.0 % of its attention to "c1", 25.0 % to "c2", 20.0 % to "c3", 15.0 %'
                ' to "c4" and 10.0 % to "c5".'
            ),
        ),
        (
            [0.18] * 5 + [0.1],
            (
                '"q" pays 18.0 % of its attention each to 5 tokens and 10.0 % to "c6". '
                "Its output is mostly 5 values of equal weight (together 90.0 %)."
            ),
        ),
    ],
)
def test_a_row_of_weights(problem: Build, weights: list[float], sentence: str) -> None:
    keys = tuple(f"c{place + 1}" for place in range(len(weights)))
    assert words(problem, weights, tokens=("q",), context_tokens=keys) == sentence


def test_a_token_that_looks_at_itself_only(problem: Build) -> None:
    rows = [[1], [2]]
    first, second = attention_in_words(
        run(problem(Q=rows, K=rows, V=rows, tokens=("a", "b"), mask=(Causal(),)))
    )
    assert first == '"a" pays all of its attention to itself, so its output is its own value.'
    assert second.endswith("Its output is mostly its own value (88.1 %).")


def test_evenness_among_the_keys_that_are_seen(problem: Build) -> None:
    hide = np.array([[False, False, True]])
    sentence = words(problem, [1, 1, 1], tokens=("q",), mask=(Hide(hide),))
    assert (
        sentence
        == '"q" pays the same attention to the 2 tokens it sees (50.0 % each). Its output is the'
        " average of their values."
    )


def test_keys_that_are_seen_and_get_no_weight(problem: Build) -> None:
    """e^-1000 is 0 in doubles: the key is seen, and the sentence does not say that it is hidden."""
    given = problem(
        Q=[[1.0]],
        K=[[0.0], [0.0], [-1000.0], [5.0]],
        V=[[1.0]] * 4,
        scale="none",
        tokens=("q",),
        mask=(Hide(np.array([[False, False, False, True]])),),
    )
    assert attention_in_words(run(given)) == (
        (
            '"q" pays the same attention to 2 of the tokens it sees (50.0 % each). The weight of'
            " the other one is so small that it is rounded to 0. Its output is the average of their"
            " values."
        ),
    )


@in_one_test("seed", range(20))
def test_as_many_tokens_are_seen_as_the_mask_lets_through(seed: int, problem: Build) -> None:
    random = np.random.default_rng(seed)
    scores, hide = random.choice([-1000.0, 0.0, 1000.0], 6), random.random((1, 6)) < 0.3
    seen = scores[~hide[0]]
    evenly = int((seen == seen.max(initial=-np.inf)).sum())
    given = problem(
        Q=[[1.0]], K=scores[:, None], V=np.ones((6, 1)), scale="none", mask=(Hide(hide),)
    )
    said = attention_in_words(run(given))[0]
    assert (f"the {evenly} tokens it sees" in said) == (1 < evenly == len(seen) < 6)
    assert (f"{evenly} of the tokens it sees" in said) == (1 < evenly < len(seen))


def test_a_query_that_sees_nothing(problem: Build) -> None:
    sentence = words(problem, [1, 1], tokens=("q",), mask=(Keep(np.array([[False, False]])),))
    assert sentence == '"q" sees no key: it pays no attention to anything, and its output is 0.'


def test_labels_that_occur_twice_are_told_apart(problem: Build) -> None:
    sentence = words(problem, [0.6, 0.3, 0.1], tokens=("q",), context_tokens=("the", "cat", "the"))
    assert sentence.startswith(
        '"q" pays 60.0 % of its attention to "the" (key 0), 30.0 % to "cat" and 10.0 % to "the"'
        " (key 2)."
    )


def test_after_a_cache_the_last_keys_are_those_of_the_queries(problem: Build) -> None:
    """Of equal rows every token sees all; of the last two keys, the first is that of the first
    query.
    """
    rows = {"Q": [[1], [1]], "K": [[0], [2]], "V": [[0], [1]], "past_K": [[0]], "past_V": [[0]]}
    first, second = attention_in_words(
        run(problem(**rows, tokens=("b", "c"), context_tokens=("a", "b", "c")))
    )
    assert (
        first
        == '"b" pays 78.7 % of its attention to "c", and 10.7 % each to "a" and itself. '
        + 'Its output is mostly the value of "c" (78.7 %).'
    )
    assert second.endswith("Its output is mostly its own value (78.7 %).")
    crossed = attention_in_words(
        run(problem(**rows, tokens=("x", "c"), context_tokens=("a", "b", "c")))
    )
    assert not any("itself" in sentence or "own" in sentence for sentence in crossed)


def test_the_same_words_in_a_context_are_not_itself(problem: Build) -> None:
    arrays = {name: [[1.0]] for name in ("X", "context", "W_Q", "W_K", "W_V")}
    sentence = attention_in_words(run(problem(**arrays, tokens=("a",), context_tokens=("a",))))[0]
    assert sentence == '"a" pays all of its attention to "a", so its output is the value of "a".'


def test_numbers_that_do_not_fit(problem: Build) -> None:
    trace = run(
        problem(Q=[[300]], K=[[300]], V=[[1]], tokens=("big",), scale="none"), dtype="float16"
    )
    assert attention_in_words(trace) == (
        '"big" has scores that do not fit into float16, so its weights are unknown.',
    )


def test_weights_that_are_all_rounded_to_0(problem: Build) -> None:
    trace = run(
        problem(Q=[["1"]], K=[["1"]] * 30, V=[["1"]] * 30, tokens=("q",)),
        rounding="paper",
        precision=1,
    )
    assert attention_in_words(trace) == (
        (
            '"q" pays so little attention to each key that every weight is rounded to 0. So its'
            " output is 0, too."
        ),
    )


@in_one_test(
    ("share", "text"),
    [
        (0.7069773, "70.7 %"),
        (0.0005, "0.1 %"),
        (0.1234999, "12.3 %"),
        (0.1235, "12.4 %"),
        (1.0, "100.0 %"),
        (0.0, "0.0 %"),
        (0.0004999, "less than 0.1 %"),
        (1e-300, "less than 0.1 %"),
        (0.99949, "99.9 %"),
        (0.9996, "more than 99.9 %"),
        (1 - 1e-15, "100.0 %"),
    ],
)
def test_percentages_are_rounded_half_up(share: float, text: str) -> None:
    assert percent(share) == text
