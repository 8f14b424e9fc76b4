"""The plainest YAML read without PyYAML: the same tree as by it, or none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from attncli.problem.nodes import LONG, Leaf, Mapping, Sequence
from attncli.problem.plain import read_plain
from attncli.problem.source import Source
from attncli.problem.values import ErrorCollector
from attncli.problem.yaml_reader import LOADER, read_yaml

LOVE = (Path(__file__).parents[2] / "inputs" / "i_love_ai.yaml").read_text(encoding="utf-8")
PIECES = ("\n", "\n", " ", "  ", "- ", "[", "]", "[1, 2]", "[[1, 0], [0, 1]]", ", ", ",", "1", "-1", ".5", "-.inf",
          "1/3", "sqrt(2)", "I", "love it", "#", " # a", ": ", ":", "X: ", "\nW_Q:", "\n  - [1, 2]", "\n- [1]",
          "\n   - [2]", "---", "...", "'", '"', "{", "}", "&a", "*", "!", "|", ">", "%", "@", "`", "? ", "~", "null",
          "\t", "é", "<<: ", "\x7f", "\nX: [1]", "\nQ: a b")  # fmt: skip
DRAWN = st.lists(st.sampled_from(PIECES), max_size=9).map("".join)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A good file with something else in one place of it."""
    at = draw(st.integers(0, len(LOVE)))
    return LOVE[:at] + draw(st.sampled_from(PIECES)) + LOVE[at + draw(st.integers(0, 3)) :]


def by_pyyaml(text: str, loader: Any = LOADER) -> object:
    return read_yaml(ErrorCollector(Source("problem.yaml", text)), loader)


@given(DRAWN | DRAWN.map("X: {}".format) | damaged())
def test_it_is_the_tree_of_yaml_or_none(text: str) -> None:
    found = read_plain(text)
    if found is not None:
        assert found == by_pyyaml(text) == by_pyyaml(text, yaml.SafeLoader)


def test_where_things_stand() -> None:
    text = "# a\ntitle: I love - it  # b\nX:\n # c\n   - [ 1,-.5 ]\n\n   - [z]\nK: [[2], [sqrt(3)]]"

    def at(piece: str, after: int = 0) -> int:
        return text.index(piece) + after

    def row(piece: str, *words: str) -> Sequence:
        return Sequence(at(piece), [Leaf(word, False, at(word)) for word in words])

    title, entries = Leaf("I love - it", False, at("I love")), [row("[ 1", "1", "-.5"), row("[z]", "z")]
    column = Sequence(at("[[2]"), [row("[2]", "2"), row("[sqrt", "sqrt(3)")])
    assert read_plain(text) == Mapping(
        at("title"),
        {"title": title, "X": Sequence(at("- [ 1"), entries), "K": column},
        {"title": at("title"), "X": at("X:"), "K": at("K:")},
    )


@pytest.mark.parametrize(
    "text",
    ["", "# only a remark", "X:", "X:\nK: 1", "X: [1", "X: [1]]", "X: []", "X: [1, ]", "X: [1 2]", "X: [1] 2",
     "X: [[1][2]]", "X: 1\nX: 2", "X: 1\n  2", "X:\n- [1]", "X:\n  - [1]\n   - [2]", "X: {a: 1}", "X: 'a'", "X: a: b",
     "X: a\n  - [1]", "X: é", "X: \t1", "---\nX: 1", "X: &a 1", "X: " + "[" * 9 + "1" + "]" * 9, f"X: {'a' * LONG}"],
)  # fmt: skip
def test_all_else_is_left_alone(text: str) -> None:
    assert read_plain(text) is None


def test_the_first_example_is_of_this_kind() -> None:
    assert read_plain(LOVE) == by_pyyaml(LOVE)
    assert read_plain(re.sub(r"\[I, love, AI\]", "[I, 'love', AI]", LOVE)) is None


def test_a_long_line_of_blanks_takes_no_time() -> None:
    for text in ("X: a" + " " * (LONG - 9) + "b", "X: [" + " " * (LONG - 9) + "b", "X:" + " " * (LONG - 9) + "#"):
        found = read_plain(text)
        assert found is None or found == by_pyyaml(text)
