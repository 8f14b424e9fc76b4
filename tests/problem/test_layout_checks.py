"""Weights that do not fit because kv_heads, a part or transpose was forgotten are told by that, and
by nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from attncli.errors import AttncliError
from attncli.problem.loader import load, loads
from tests.cases import in_one_test

Problems = Callable[..., list[str]]
D, HEADS, KV_HEADS, D_K = 4, 4, 2, 2  # X is 3×4; eight columns of q, four of k, four of v
FUSED = np.random.default_rng(0).normal(size=(D, (HEADS + 2 * KV_HEADS) * D_K))


def layer(heads: str, *, k: int = 4, v: int = 4, o: int = 8, more: str = "") -> str:
    """W_K is on the line after W_Q, which is on line 2; what says how many heads there are comes
    last.
    """
    shapes = {"W_Q": (4, 8), "W_K": (4, k), "W_V": (4, v), "W_O": (o, 4)}
    arrays = "".join(f"{name}: {{random: {list(shape)}}}\n" for name, shape in shapes.items())
    return f"X: {{random: [3, 4]}}\n{arrays}{more}{heads}\n"


FEWER = "if W_K holds fewer heads than W_Q"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            layer("heads: 4"),
            f"W_K: has 4 columns for 4 heads, but W_Q has 8 for 4 (write kv_heads: 2 {FEWER})",
        ),
        # one head for all: its columns cannot even be split
        (
            layer("heads: 4", k=2, v=2),
            f"W_K: has 2 columns for 4 heads, but W_Q has 8 for 4 (write kv_heads: 1 {FEWER})",
        ),
        (
            layer("heads: 4\nkv_heads: 1"),
            f"W_K: has 4 columns for 1 head, but W_Q has 8 for 4 (write kv_heads: 2 {FEWER})",
        ),
        (
            layer("heads: 4\nkv_heads: 2", k=8, v=8),
            (
                "W_K: has 8 columns for 2 heads, but W_Q has 8 for 4 (write kv_heads: 4, or leave"
                " it out)"
            ),
        ),
        (
            layer("heads: 4", more="position: {rope: true}\nscore: dot\n"),
            f"W_K: has 4 columns for 4 heads, but W_Q has 8 for 4 (write kv_heads: 2 {FEWER})",
        ),
    ],
)
def test_heads_of_keys_that_are_not_said(text: str, message: str, problems: Problems) -> None:
    assert problems(text) == [f"3:1: {message}"]
    (number,) = [word.strip(",") for word in message.split() if word.strip(",").isdigit()][-1:]
    lines = [line for line in text.splitlines() if "kv_heads" not in line]
    assert loads("\n".join([*lines, f"kv_heads: {number}"]).encode(), "p.yaml"), (
        "what is advised helps"
    )


def test_keys_that_are_given(problems: Problems) -> None:
    given = "heads: 4\nQ: {random: [3, 8]}\nK: {random: [3, 4]}\nV: {random: [3, 4]}"
    help = "write kv_heads: 2 if K holds fewer heads than Q"
    assert problems(given) == [f"3:1: K: has 4 columns for 4 heads, but Q has 8 for 4 ({help})"]


@pytest.mark.parametrize(
    "text",
    [
        layer("heads: 4", k=12, v=8),  # no number of heads as wide as those of W_Q
        layer("heads: 4", k=8, v=4, o=8),  # keys fit: nothing says that W_O is not what is wrong
    ],
)
def test_what_kv_heads_would_not_mend(text: str, problems: Problems) -> None:
    (message,) = problems(text)
    assert "kv_heads" not in message


def test_other_scores_compare_what_is_of_different_widths() -> None:
    assert loads(
        layer("heads: 4", v=8, more="score: multiplicative\nW_a: {random: [2, 1]}\n").encode(),
        "p.yaml",
    )


@pytest.fixture
def layout_faults(tmp_path: Path) -> Callable[..., list[str]]:
    """`layout_faults(q=…, k=…, v=…)` is what is wrong with weights of which each is a reference
    with these words.
    """
    stacked = np.random.default_rng(1).normal(size=(3, D, HEADS * D_K))
    np.savez(tmp_path / "w.npz", qkv=FUSED, linear=np.ones((16, 8)), stacked=stacked)

    def find(q: str, k: str, v: str, *, more: str = "kv_heads: 2", features: int = D) -> list[str]:
        references = "".join(
            f"W_{letter}: {{file: w.npz, {said}}}\n"
            for letter, said in zip("QKV", (q, k, v), strict=True)
        )
        path = tmp_path / "p.yaml"
        path.write_text(
            f"{references}X: {{random: [3, {features}]}}\nheads: 4\nW_O: {{random: [8,"
            f" 4]}}\n{more}\n"
        )
        try:
            load(str(path))
        except AttncliError as error:
            return [f"{each} ({each.help})" for each in (error, *error.more)]
        return []

    return find


def whole(letter: str, other: str) -> str:
    return (
        f"W_{letter}: takes all 16 columns of an array, and so does W_{other} "
        f"(add part: {letter.lower()} if it holds those of q, k and v together)"
    )


@in_one_test(
    ("parts", "messages"),
    [
        ("qkv", []),
        (" kv", [whole("Q", "K")]),
        ("q v", [whole("K", "Q")]),
        ("qk ", [whole("V", "Q")]),
        ("  v", [whole("Q", "V"), whole("K", "V")]),
        ("   ", [whole("Q", "K"), whole("K", "Q"), whole("V", "Q")]),
    ],
)
def test_a_part_that_is_forgotten(
    parts: str, messages: list[str], layout_faults: Callable[..., list[str]]
) -> None:
    each = [f"name: qkv, part: {part}" if part != " " else "name: qkv" for part in parts]
    assert layout_faults(*each, more="kv_heads: 2\nposition: {rope: true}") == messages


def test_entries_of_one_array_are_not_the_same(layout_faults: Callable[..., list[str]]) -> None:
    entries = ["name: stacked, index: 0", "name: stacked, index: [1]", "name: stacked, index: 2"]
    assert layout_faults(*entries, more="") == []
    assert layout_faults(*entries) == [
        "W_K: has 8 columns for 2 heads, but W_Q has 8 for 4 (write kv_heads: 4, or leave it out)"
    ]


LINEAR = "if it is laid out as in torch.nn.Linear"


def test_parts_of_a_fused_array_that_is_not_turned(layout_faults: Callable[..., list[str]]) -> None:
    """A part of 16×4 has too few columns to show that the whole, turned, would fit."""
    each = [f"name: linear, part: {part}" for part in "qkv"]
    assert [line.partition("; ")[2] for line in layout_faults(*each, features=8)] == [
        f"write transpose: true {LINEAR})"
    ] * 3
    assert layout_faults(*[f"{part}, transpose: true" for part in each], features=8) == []


def test_advice_on_turning_is_that_of_a_reference(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.ones((8, 4)))
    problem = tmp_path / "p.yaml"

    def help(reference: str, features: int) -> str:
        first = f"X: {{random: [3, {features}]}}\nW_Q: {{file: w.npy{reference}}}\n"
        problem.write_text(f"{first}K: [[1]]\nV: [[1]]\n")
        with pytest.raises(AttncliError) as caught:
            load(str(problem))
        return caught.value.help

    assert help("", 4) == f"Q = X·W_Q needs these two to be equal; write transpose: true {LINEAR}"
    assert (
        help(", transpose: true", 8)
        == "Q = X·W_Q needs these two to be equal; remove transpose: true if it is not laid out as"
        " in torch.nn.Linear"
    )
