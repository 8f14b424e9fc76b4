"""A line of a table does what Rich's Text of the same words does."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len as by_rich
from rich.console import Console
from rich.text import Text

from attncli.render.table.styled_line import ONE_CELL, Line, cell_len, colored


def test_signs_of_pages_are_as_wide_as_rich_has_them() -> None:
    assert [sign for sign in map(chr, ONE_CELL) if by_rich(sign) != 1] == []
    assert cell_len("─·√語") == by_rich("─·√語") == 5


STYLES = ("", "bold", "cyan", "rgb(1,2,3) on rgb(200,0,9)")
WORDS = st.text("ab 语·x-", max_size=8)
STEPS: dict[str, Callable[..., Any]] = {
    "append": lambda line, word, style, at: line.append(word, style),
    "append a line": lambda line, word, style, at: line.append(type(line)(word, style)),
    "stylize": lambda line, word, style, at: (
        style and at < len(line) and line.stylize(style, at, at + 2)
    ),
    "pad left": lambda line, word, style, at: line.pad_left(at),
    "pad right": lambda line, word, style, at: line.pad_right(at),
    "rstrip": lambda line, word, style, at: line.rstrip(),
    "divide": lambda line, word, style, at: line.divide([min(at, len(line)), len(line)])[0],
    "join": (
        lambda line, word, style, at: type(line)(word, style).join(
            [line, type(line)("end", "bold"), line]
        )
    ),
    "assemble": lambda line, word, style, at: type(line).assemble(word, line, (word, style)),
}


@given(
    st.text("ab 语", max_size=6),
    st.sampled_from(STYLES),
    st.lists(
        st.tuples(st.sampled_from(list(STEPS)), WORDS, st.sampled_from(STYLES), st.integers(0, 9)),
        max_size=6,
    ),
)
def test_the_same_as_rich(word: str, style: str, steps: list[tuple[str, str, str, int]]) -> None:
    ours, rich = Line(word, style), Text(word, style)
    for step, *values in steps:
        ours = STEPS[step](ours, *values) or ours
        rich = STEPS[step](rich, *values) or rich
    assert ours.plain == rich.plain
    assert ours.cell_len == rich.cell_len
    assert colored([ours], 500) == _colored(rich)


def _colored(text: Text) -> list[str]:
    console = Console(
        width=500, color_system="truecolor", force_terminal=True, legacy_windows=False, _environ={}
    )
    with console.capture() as captured:
        console.print(text, soft_wrap=True, end="")
    return captured.get().split("\n")


@given(WORDS)
def test_widths(word: str) -> None:
    assert cell_len(word) == by_rich(word)


@pytest.mark.parametrize(
    ("word", "width", "folded"),
    [("abcdef", 4, ["abcd", "ef"]), ("语语语", 4, ["语语", "语"]), ("abcd", 4, ["abcd"])],
)
def test_folding(word: str, width: int, folded: list[str]) -> None:
    assert [line.plain for line in Line(word, "bold").folded(width)] == folded
