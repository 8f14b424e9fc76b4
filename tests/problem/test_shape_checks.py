"""What is around Q, K and V in a layer has to fit: entries, a cache, W_O, pairs to turn, slopes and
sinks of heads.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from attncli.problem.loader import loads
from attncli.problem.matrix import Scalar
from tests.cases import in_one_test

Problems = Callable[..., list[str]]

# three lines; what is tested is line 4
QKV = "Q: [[1, 0], [0, 1]]\nK: [[1, 0], [0, 1]]\nV: [[1, 2, 3], [3, 4, 5]]\n"
EQUAL = (
    "all arrays of a batch must have the same number of entries, and K and V the same number of"
    " heads"
)
WIDE = "the rows of the cache come before the new rows, so they must be equally long"
PAIRS = "in each head, queries and keys must have the same even number of features"


def random(**shapes: tuple[int, ...]) -> str:
    return "".join(f"{name}: {{random: {list(shape)}}}\n" for name, shape in shapes.items())


LAYER = random(X=(2, 3, 4), W_Q=(4, 6), W_K=(4, 6), W_V=(4, 2))  # lines 1 to 4, two entries


@in_one_test(
    ("line", "message"),
    [
        ("W_O: [[1]]", "4:1: W_O: is 1×1, but a value has 3 numbers (W_O needs 3 rows)"),
        (
            "W_O: [[1, 2, 3]]",
            (
                "4:1: W_O: is 1×3, but a value has 3 numbers "
                "(W_O needs 3 rows; transpose W_O if it is laid out as in torch.nn.Linear)"
            ),
        ),
        (
            "W_O: [1, 2, 3]",
            "4:6: W_O: must be a list of rows, not a list of numbers (write W_O: [[1, 0], [0, 1]])",
        ),
        ("b_O: [1]", "4:1: b_O: is not added to anything (give W_O, or remove b_O)"),
        (
            "W_O: [[1], [2], [3]]\nb_O: [1, 2]",
            (
                "5:1: b_O: has 2 numbers, but W_O has 1 column (give one number for each column of"
                " W_O)"
            ),
        ),
        (
            "past: {K: [[1, 2, 3]], V: [[1, 2, 3]]}",
            f"4:8: past.K: has rows of 3, but K has rows of 2 ({WIDE})",
        ),
        (
            "past: {K: [[1, 2]], V: [[1, 2]]}",
            f"4:21: past.V: has rows of 2, but V has rows of 3 ({WIDE})",
        ),
        (
            "past: {K: [[1, 2], [3, 4]], V: [[1, 2, 3]]}",
            "4:29: past.V: has 1 row, but past.K has 2 (every key of the cache needs a value)",
        ),
        (
            "past: {K: [[1, 2]], V: [[1, 2, 3]]}\ncontext_tokens: [a, b]",
            (
                "5:1: context_tokens: 2 labels for 3 keys (give one label for each, or remove"
                " context_tokens to get numbered labels)"
            ),
        ),
        (
            "past: {K: [[1, 2]], V: [[1, 2, 3]]}\nmask: {keep: [[1, 0], [1, 1]]}",
            (
                "5:14: mask.keep: is 2×2, but 2 queries and 3 keys need 2×3 "
                "(give one row per query and one column per key)"
            ),
        ),
        (
            "past: {K: [[1, 2]], V: [[1, 2, 3]]}\nmask: {lengths: 4}",
            "5:17: mask.lengths: 4 keys cannot exist: there are 3 (write a number from 0 to 3)",
        ),
        (
            "position: {alibi: {slopes: [1, 2]}}",
            "4:20: position.alibi.slopes: 2 numbers for 1 head (give one number for each head)",
        ),
        ("sink: [1, 2]", "4:1: sink: 2 numbers for 1 head (give one number for each head)"),
    ],
)
def test_around_a_single_head(line: str, message: str, problems: Problems) -> None:
    assert problems(QKV + line) == [message]


@in_one_test(
    ("text", "messages"),
    [
        (
            random(Q=(2, 4, 3, 2), K=(3, 2, 3, 2), V=(2, 2, 3, 2)),
            [f"2:1: K: has 3 entries, but Q has 2 ({EQUAL})"],
        ),
        (
            random(Q=(2, 4, 3, 2), K=(2, 2, 3, 2), V=(2, 4, 3, 2)),
            [f"3:1: V: has 4 heads, but K has 2 ({EQUAL})"],
        ),
        (
            random(X=(2, 3, 4), context=(3, 5, 4), W_Q=(4, 6), W_K=(4, 6), W_V=(4, 5)),
            [f"2:1: context: has 3 entries, but X has 2 ({EQUAL})"],
        ),
        (
            f"heads: 2\n{LAYER}past: {{K: {{random: [3, 1, 3]}}, V: {{random: [3, 1, 1]}}}}",
            [
                f"6:{at}: past.{name}: has 3 heads, but W_K has 2 ({EQUAL})"
                for name, at in (("K", 8), ("V", 32))
            ],
        ),
        (
            f"heads: 2\n{LAYER}past: {{K: {{random: [1, 2, 1, 3]}}, V: {{random: [1, 2, 1, 1]}}}}",
            [
                f"6:{at}: past.{name}: has 1 entry, but X has 2 ({EQUAL})"
                for name, at in (("K", 8), ("V", 35))
            ],
        ),
        # side by side, as W_V is
        (
            f"heads: 2\n{LAYER}past:\n  K: [[1, 2, 3, 4, 5, 6]]\n  V: [[1, 2, 3, 4]]",
            [f"8:3: past.V: has rows of 2, but V has rows of 1, in each of 2 heads ({WIDE})"],
        ),
        (f"heads: 2\n{LAYER}W_O: {{random: [1, 4]}}", ["6:1: W_O: is 1×4, but 2 heads of 1 value"]),
        (
            (
                "heads: 2\nkv_heads:"
                f" 1\n{LAYER.replace('W_K: {random: [4, 6', 'W_K: {random: [4, 4')}W_O: {{random:"
                " [2, 4]}"
            ),
            [
                "5:1: W_K: a key has 4 numbers and a query 3: a dot product needs the same number",
                "7:1: W_O: is 2×4, but 2 heads of 2 values have 4 numbers ",
            ],
        ),
        (
            f"heads: 2\n{LAYER}position: {{rope: true}}",
            [f"6:12: position.rope: a key has 3 numbers: rope turns pairs of them ({PAIRS})"],
        ),
        (
            random(Q=(3, 4), K=(3, 2), V=(3, 2), W_a=(4, 2))
            + "score: multiplicative\nposition: {rope: true}",
            [
                "6:12: position.rope: a key has 2 numbers and a query 4: rope turns pairs of them"
                f" ({PAIRS})"
            ],
        ),
        (
            f"heads: 2\n{LAYER}position: {{alibi: {{slopes: [1]}}}}\nsink: [1, 2, 3]",
            [
                "6:20: position.alibi.slopes: 1 number for 2 heads (give one number for each head)",
                "7:1: sink: 3 numbers for 2 heads (give one number for each head)",
            ],
        ),
        (
            f"heads: 2\n{LAYER}tokens: [a, b]",
            [
                "6:1: tokens: 2 labels for 3 queries (give one label for each, or remove tokens to"
                " get numbered labels)"
            ],
        ),
    ],
)
def test_around_heads_and_batches(text: str, messages: list[str], problems: Problems) -> None:
    found = problems(text)
    assert [line[: len(message)] for line, message in zip(found, messages, strict=True)] == messages


@pytest.mark.parametrize("sink", ["0.5", "[0.5]", "1/2", "[1/2]"])
def test_the_sink_of_a_single_head_is_a_number(sink: str) -> None:
    problem = loads(f"{QKV}sink: {sink}\nposition: {{alibi: {{slopes: [1/4]}}}}".encode(), "p.yaml")
    assert problem.sink == Scalar(0.5, sink.strip("[]"))
    assert problem.slope == Scalar(0.25, "1/4")
    assert not {"sink", "slopes"} & problem.given.keys()


def test_sinks_come_from_a_file_too(tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", sinks=[0.5, -1])
    text = f"heads: 2\n{LAYER}sink: {{file: s.npz, name: sinks}}"
    assert loads(text.encode(), "p.yaml", folder=tmp_path).given["sink"].value.tolist() == [0.5, -1]


def test_one_sink_and_many() -> None:
    text = f"heads: 2\n{LAYER}position: {{alibi: {{slopes: [1/4, 0.5]}}}}\n"
    all_alike = loads(f"{text}sink: -1".encode(), "p.yaml")
    assert (all_alike.sink, "sink" in all_alike.given) == (Scalar(-1, "-1"), False)
    each = loads(f"{text}sink: [-1, 2]".encode(), "p.yaml")
    assert (each.sink, each.given["sink"].value.tolist()) == (None, [-1, 2])
    assert each.slope is None
    np.testing.assert_array_equal(each.given["slopes"].written, ["1/4", "0.5"])


def test_keys_of_a_cache_come_first() -> None:
    cached = f"{QKV}past: {{K: [[1, 2], [3, 4]], V: [[1, 2, 3], [1, 2, 3]]}}\n"
    assert loads(cached.encode(), "p.yaml").context_tokens == ("p1", "p2", "t1", "t2")
    assert loads(f"{cached}tokens: [a, b]".encode(), "p.yaml").context_tokens == (
        "p1",
        "p2",
        "a",
        "b",
    )
    named = loads(f"{cached}context_tokens: [w, x, y, z]".encode(), "p.yaml")
    assert (named.tokens, named.context_tokens) == (("t1", "t2"), ("w", "x", "y", "z"))
    cross = random(X=(1, 2), context=(1, 2), W_Q=(2, 2), W_K=(2, 2), W_V=(2, 3))
    context = loads(f"{cross}past: {{K: [[1, 2]], V: [[1, 2, 3]]}}".encode(), "p.yaml")
    assert context.context_tokens == ("c1", "c2")
    assert list(context.given) == ["X", "context", "W_Q", "W_K", "W_V", "past_K", "past_V"]
