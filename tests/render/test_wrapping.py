"""Where lines of prose and formulas may end."""

import pytest
from rich.cells import cell_len

from attncli.render.table.line import Line
from attncli.render.table.wrapping import longest, wrap


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("a few words", 5, ["a few", "words"]),
        ("Q[i, k]·Kᵀ[k, j]", 10, ["Q[i, k]·", "Kᵀ[k, j]"]),
        ("tanh(logits) (so)", 8, ["tanh(", "logits)", "(so)"]),
        ("unbreakable", 4, ["unbr", "eaka", "ble"]),
        ("日本語の文", 4, ["日本", "語の", "文"]),
        ("", 4, [""]),
    ],
)
def test_lines_end_between_words_factors_and_arguments(text: str, width: int, lines: list[str]) -> None:
    assert [line.plain for line in wrap(Line(text), width)] == lines


@pytest.mark.parametrize("text", ["[" * 3000, "((" * 2000, "[i·(" * 1000, "a [b] (c) " * 300])
def test_nothing_is_lost_whatever_the_text(text: str) -> None:
    lines = [line.plain for line in wrap(Line(text), 20)]
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(cell_len(line) <= 20 for line in lines)


def test_the_longest_piece() -> None:
    assert longest(Line("D[i, j] = logits[i, j] - m[i]")) == len("logits[i, j]")
