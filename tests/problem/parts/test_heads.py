"""Heads side by side are cut apart, in numbers and as they were written; heads that do not fit are
told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attncli.problem.loader import loads
from tests.cases import in_one_test

Problems = Callable[..., list[str]]

# three lines; line 4 is tested
FLAT = "Q: [[1, 2, 3, 4], [5, 6, 7, 8]]\nK: [[1, 2, 3, 4]]\nV: [[9, 8, 7, 6]]\n"
LAYER = (
    "X: [[1, 2]]\nW_Q: [[1, 2, 3, 4], [5, 6, 7, 8]]\nW_K: [[1, 2], [5, 6]]\nW_V: [[1, 2, 3, 4], [5,"
    " 6, 7, 8]]\n"
)


def given(text: str) -> dict[str, np.ndarray]:
    return {name: matrix.value for name, matrix in loads(text.encode(), "p.yaml").given.items()}


def random(**shapes: tuple[int, ...]) -> str:
    return "".join(f"{name}: {{random: {list(shape)}}}\n" for name, shape in shapes.items())


def test_columns_become_heads() -> None:
    """Head 0 has the first columns, head 1 the next."""
    found = given(f"{FLAT}heads: 2")
    assert found["Q"].tolist() == [[[1, 2], [5, 6]], [[3, 4], [7, 8]]]
    assert found["K"].tolist() == [[[1, 2]], [[3, 4]]]
    assert found["V"].tolist() == [[[9, 8]], [[7, 6]]]
    assert all(array.flags.c_contiguous and not array.flags.writeable for array in found.values())


def test_weights_and_biases_are_cut_alike_and_w_o_stays() -> None:
    found = given(
        f"{LAYER}heads: 2\nkv_heads: 1\nb_Q: [1, 2, 3, 4]\nb_V: [5, 6, 7, 8]\nW_O: {{random: [8,"
        " 3]}"
    )
    assert found["W_Q"].tolist() == [[[1, 2], [5, 6]], [[3, 4], [7, 8]]]
    assert found["b_Q"].tolist() == [[1, 2], [3, 4]]
    assert found["W_K"].tolist() == [[[1, 2], [5, 6]]]
    assert found["b_V"].tolist() == [[5, 6, 7, 8]]
    assert found["W_O"].shape == (8, 3)


def test_numbers_are_cut_as_they_were_written() -> None:
    problem = loads(
        b'heads: 2\nQ: [["1/2", 0.50, "sqrt(2)", 1e1]]\nK: [[1, 2, 3, 4]]\nV: [[1, 2]]', "p.yaml"
    )
    written = problem.given["Q"].written
    assert written is not None
    assert written.tolist() == [[["1/2", "0.50"]], [["sqrt(2)", "1e1"]]]
    assert not written.flags.writeable
    assert problem.given["Q"].value.tolist() == [[[0.5, 0.5]], [[2**0.5, 10]]]


def test_what_a_generator_made_is_cut_and_not_written() -> None:
    problem = loads(f"heads: 3\n{random(Q=(2, 6), K=(2, 6), V=(2, 9))}".encode(), "p")
    drawn = np.random.default_rng(0).uniform(0, 1, (2, 6))
    assert problem.given["Q"].written is None
    np.testing.assert_array_equal(
        problem.given["Q"].value, drawn.reshape(2, 3, 2).transpose(1, 0, 2)
    )


@in_one_test(
    ("text", "shapes", "joined"),
    [
        # no heads, or one: no axis
        (FLAT, {"Q": (2, 4), "K": (1, 4), "V": (1, 4)}, False),
        (f"{FLAT}heads: 1", {"Q": (2, 4), "K": (1, 4), "V": (1, 4)}, False),
        (f"{FLAT}heads: 1\nkv_heads: 1", {"Q": (2, 4), "K": (1, 4), "V": (1, 4)}, False),
        # side by side
        (f"{FLAT}heads: 4", {"Q": (4, 2, 1), "K": (4, 1, 1), "V": (4, 1, 1)}, True),
        (f"{FLAT}heads: 4\nkv_heads: 4", {"Q": (4, 2, 1), "K": (4, 1, 1), "V": (4, 1, 1)}, True),
        (
            f"heads: 4\nkv_heads: 2\n{random(Q=(3, 8), K=(3, 4), V=(3, 6))}",
            {"Q": (4, 3, 2), "K": (2, 3, 2), "V": (2, 3, 3)},
            True,
        ),
        (
            f"heads: 4\nkv_heads: 1\n{random(Q=(3, 8), K=(3, 2), V=(3, 6))}",
            {"Q": (4, 3, 2), "K": (1, 3, 2), "V": (1, 3, 6)},
            True,
        ),
        # an axis of their own, said again or not
        (
            random(Q=(4, 3, 2), K=(2, 3, 2), V=(2, 3, 2)),
            {"Q": (4, 3, 2), "K": (2, 3, 2), "V": (2, 3, 2)},
            False,
        ),
        (
            f"heads: 4\nkv_heads: 2\n{random(Q=(4, 3, 2), K=(2, 3, 2), V=(2, 3, 2))}",
            {"Q": (4, 3, 2), "K": (2, 3, 2), "V": (2, 3, 2)},
            False,
        ),
        (
            random(Q=(1, 3, 2), K=(1, 3, 2), V=(1, 3, 2)),
            {"Q": (1, 3, 2), "K": (1, 3, 2), "V": (1, 3, 2)},
            False,
        ),
        (
            random(Q=(5, 4, 3, 2), K=(5, 2, 3, 2), V=(5, 2, 3, 2)),
            {"Q": (5, 4, 3, 2), "K": (5, 2, 3, 2), "V": (5, 2, 3, 2)},
            False,
        ),
        # some of them as an axis: the others are for all, unless heads are written out
        (
            random(Q=(4, 3, 2), K=(3, 2), V=(3, 2)),
            {"Q": (4, 3, 2), "K": (3, 2), "V": (3, 2)},
            False,
        ),
        (
            f"kv_heads: 2\n{random(Q=(4, 3, 2), K=(3, 4), V=(3, 4))}",
            {"Q": (4, 3, 2), "K": (2, 3, 2), "V": (2, 3, 2)},
            False,
        ),
        (
            f"heads: 4\n{random(Q=(4, 3, 2), K=(3, 8), V=(3, 8))}",
            {"Q": (4, 3, 2), "K": (4, 3, 2), "V": (4, 3, 2)},
            False,
        ),
        # a batch of inputs, weights of all heads
        (
            f"heads: 2\n{random(X=(5, 3, 4), W_Q=(4, 6), W_K=(4, 6), W_V=(4, 2))}",
            {"X": (5, 3, 4), "W_Q": (2, 4, 3), "W_K": (2, 4, 3), "W_V": (2, 4, 1)},
            True,
        ),
        # a cache, with its heads side by side or apart
        (
            f"heads: 2\npast: {{K: [[1, 2, 3, 4]], V: [[5, 6, 7, 8]]}}\n{FLAT}",
            {
                "past_K": (2, 1, 2),
                "past_V": (2, 1, 2),
                "Q": (2, 2, 2),
                "K": (2, 1, 2),
                "V": (2, 1, 2),
            },
            True,
        ),
        (
            f"heads: 2\npast: {{K: {{random: [2, 5, 2]}}, V: {{random: [2, 5, 2]}}}}\n{FLAT}",
            {
                "past_K": (2, 5, 2),
                "past_V": (2, 5, 2),
                "Q": (2, 2, 2),
                "K": (2, 1, 2),
                "V": (2, 1, 2),
            },
            True,
        ),
    ],
)
def test_shapes(text: str, shapes: dict[str, Any], joined: bool) -> None:
    problem = loads(text.encode(), "p.yaml")
    assert {name: matrix.value.shape for name, matrix in problem.given.items()} == shapes
    assert problem.joined is joined


@in_one_test(
    ("line", "messages"),
    [
        (
            "heads: two",
            [
                "4:8: heads: must be a whole number of at least 1, not two (write how many heads"
                " there are, such as 8)"
            ],
        ),
        (
            "heads: 0",
            [
                "4:8: heads: must be a whole number of at least 1, not 0 (write how many heads"
                " there are, such as 8)"
            ],
        ),
        (
            "kv_heads: 1.5",
            [
                "4:11: kv_heads: must be a whole number of at least 1, not 1.5 "
                "(write how many heads there are, such as 8)"
            ],
        ),
        (
            "heads: 3",
            [
                (
                    "1:1: Q: its 4 columns cannot be split into 3 heads (make them a multiple of"
                    " heads (3))"
                ),
                (
                    "2:1: K: its 4 columns cannot be split into 3 heads (make them a multiple of"
                    " kv_heads (3))"
                ),
                (
                    "3:1: V: its 4 columns cannot be split into 3 heads (make them a multiple of"
                    " kv_heads (3))"
                ),
            ],
        ),
        (
            "heads: 4\nkv_heads: 3",
            [
                "5:1: kv_heads: 4 query heads cannot be divided evenly among 3 heads of keys "
                "and values "
                "(heads must be a multiple of kv_heads: 3, 6, …)"
            ],
        ),
        (
            "heads: 2\nkv_heads: 4",
            [
                "5:1: kv_heads: 2 query heads cannot be divided evenly among 4 heads of keys "
                "and values "
                "(heads must be a multiple of kv_heads: 4, 8, …)"
            ],
        ),
        (
            "heads: 1\nkv_heads: 2",
            [
                "5:1: kv_heads: 1 query head cannot be divided evenly among 2 heads of keys "
                "and values "
                "(heads must be a multiple of kv_heads: 2, 4, …)"
            ],
        ),
        (
            "kv_heads: 2",
            [
                "4:1: kv_heads: there are 2 heads of keys and values, but the queries have no heads"
                " (write heads: 2 for the queries, or a multiple of it)"
            ],
        ),
        (
            "heads: 2\npast: {K: [[1, 2, 3]], V: [[1, 2, 3, 4]]}",
            [
                "5:8: past.K: its 3 columns cannot be split into 2 heads (make them a multiple of"
                " kv_heads (2))"
            ],
        ),
    ],
)
def test_heads_side_by_side_that_do_not_fit(
    line: str, messages: list[str], problems: Problems
) -> None:
    assert problems(FLAT + line) == messages


BEHIND = "heads stand before rows here: if"
SAVED = "behind, as in JAX and flash-attention, save"


@in_one_test(
    ("text", "messages"),
    [
        (
            f"heads: 3\n{random(Q=(2, 4, 2), K=(2, 4, 2), V=(2, 4, 2))}",
            [
                "1:1: heads: is 3, but Q has 2 heads "
                "(write heads: 2, or leave it out: the last axis but two of Q is that of its heads)"
            ],
        ),
        (
            f"kv_heads: 3\n{random(Q=(6, 4, 2), K=(2, 4, 2), V=(2, 4, 2))}",
            [
                "1:1: kv_heads: is 3, but K has 2 heads (write kv_heads: 2, or leave it out: the"
                " last axis but two of K is that of its heads)"
            ],
        ),
        (
            random(Q=(5, 3, 2), K=(2, 3, 2), V=(2, 4, 2)),
            [
                "2:1: K: 5 query heads cannot be divided evenly among 2 heads of keys and values "
                "(heads must be a multiple of kv_heads: 2, 4, …)"
            ],
        ),
        # Heads behind rows, as in JAX: of all three, of the queries, of the cache.
        (
            random(Q=(2, 3, 4, 8), K=(2, 5, 2, 8), V=(2, 5, 2, 8)),
            [
                "2:1: K: 3 query heads cannot be divided evenly among 5 heads of keys and values"
                f" (heads must be a multiple of kv_heads: 5, 10, …; {BEHIND} Q, K and V have their"
                f" heads {SAVED} Q.swapaxes(-3, -2), K.swapaxes(-3, -2), V.swapaxes(-3, -2))"
            ],
        ),
        (
            random(Q=(2, 3, 4, 8), K=(2, 2, 5, 8), V=(2, 2, 5, 8)),
            [
                "2:1: K: 3 query heads cannot be divided evenly among 2 heads of keys and values"
                f" (heads must be a multiple of kv_heads: 2, 4, …; {BEHIND} Q has its heads {SAVED}"
                " Q.swapaxes(-3, -2))"
            ],
        ),
        (
            random(Q=(2, 4, 3, 8), K=(2, 5, 2, 8), V=(2, 5, 2, 8)),
            [
                "2:1: K: 4 query heads cannot be divided evenly among 5 heads of keys and values"
                f" (heads must be a multiple of kv_heads: 5, 10, …; {BEHIND} K and V have their"
                f" heads {SAVED} K.swapaxes(-3, -2), V.swapaxes(-3, -2))"
            ],
        ),
        (
            f"heads: 4\n{random(Q=(2, 3, 4, 8), K=(2, 3, 4, 8), V=(2, 3, 4, 8))}",
            [
                "1:1: heads: is 4, but Q has 3 heads (write heads: 3, or leave it out: the last"
                f" axis but two of Q is that of its heads; {BEHIND} Q, K and V have their heads"
                f" {SAVED} Q.swapaxes(-3, -2), K.swapaxes(-3, -2), V.swapaxes(-3, -2))"
            ],
        ),
        (
            random(Q=(3, 2), K=(2, 3, 2), V=(2, 3, 2)),
            [
                "2:1: K: there are 2 heads of keys and values, but the queries have no heads "
                "(write heads: 2 for the queries, or a multiple of it)"
            ],
        ),
        (
            f"heads: 3\n{LAYER}",
            [
                (
                    "3:1: W_Q: its 4 columns cannot be split into 3 heads (make them a multiple of"
                    " heads (3))"
                ),
                (
                    "4:1: W_K: its 2 columns cannot be split into 3 heads (make them a multiple of"
                    " kv_heads (3))"
                ),
                (
                    "5:1: W_V: its 4 columns cannot be split into 3 heads (make them a multiple of"
                    " kv_heads (3))"
                ),
            ],
        ),
        # what was wrong before the heads were cut is told of the whole, not of a part
        (
            f"heads: 2\n{LAYER}b_Q: [1, 2]",
            [
                "6:1: b_Q: has 2 numbers, but Q has 4 columns (give one number for each column of"
                " W_Q)"
            ],
        ),
    ],
)
def test_heads_that_do_not_fit(text: str, messages: list[str], problems: Problems) -> None:
    assert problems(text) == messages


@pytest.mark.parametrize(
    ("text", "place"),
    [
        # 4 heads of queries on 3 of values
        (random(Q=(4, 3, 2), K=(3, 2), V=(3, 3, 2)), "3:1: V: "),
        (random(Q=(4, 3, 2), K=(3, 2), V=(8, 3, 2)), "3:1: V: "),
        (random(Q=(3, 2), K=(3, 2), V=(2, 3, 2)), "3:1: V: "),  # as for K: queries without heads
        (
            (
                f"{random(Q=(4, 3, 2), K=(3, 2), V=(3, 2))}past: {{K: {{random: [3, 1, 2]}}, V:"
                " {random: [3, 1, 2]}}"
            ),
            "4:8: past",
        ),
    ],
)
def test_heads_of_values_or_a_cache_alone_have_to_fit_those_of_queries(
    text: str, place: str, problems: Problems
) -> None:
    message, *_ = problems(text)
    assert message.startswith(place)
