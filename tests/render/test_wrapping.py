"""Where lines of prose and formulas may end."""

import pytest
from rich.cells import cell_len

from attncli.render.table.broken_lines import broken
from attncli.render.table.styled_line import Line
from tests.cases import in_one_test


@in_one_test(
    ("text", "width", "lines"),
    [
        ("a few words", 5, ["a few", "words"]),
        ("Q[i, k]·Kᵀ[k, j]", 10, ["Q[i, k]·", "Kᵀ[k, j]"]),
        ("tanh(logits) (so)", 8, ["tanh(", "logits)", "(so)"]),
        ("unbreakable", 4, ["unbr", "eaka", "ble"]),
        ("日本語の文", 4, ["日本", "語の", "文"]),
        ("a 70.7 % share", 7, ["a", "70.7 %", "share"]),
        ("", 4, [""]),
    ],
)
def test_lines_end_between_words_factors_and_arguments(
    text: str, width: int, lines: list[str]
) -> None:
    assert [line.plain for line in Line(text).wrapped(width)] == lines


@pytest.mark.parametrize("text", ["[" * 3000, "((" * 2000, "[i·(" * 1000, "a [b] (c) " * 300])
def test_nothing_is_lost_whatever_the_text(text: str) -> None:
    lines = [line.plain for line in Line(text).wrapped(20)]
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(cell_len(line) <= 20 for line in lines)


def test_the_longest_piece() -> None:
    assert Line("D[i, j] = logits[i, j] - m[i]").longest == len("logits[i, j]")


@in_one_test(
    ("text", "room", "lines"),
    [
        ("1 + 2 + 3 = 6", 13, ["1 + 2 + 3 = 6"]),
        ("1 + 2 + 3 + 4 = 10", 12, ["1 + 2 + 3", "+ 4 = 10"]),
        # not within the second
        ("20·(1 - 0.5) = 2·(1 - 0.25) = 1.5", 24, ["20·(1 - 0.5)", "= 2·(1 - 0.25) = 1.5"]),
        ("(1 + 2)·3 + (4 + 5)·6 + (7 + 8)·9", 26, ["(1 + 2)·3 + (4 + 5)·6", "+ (7 + 8)·9"]),
        # a term too long for a line
        ("-12.5·(-30.25) + 4 = 5", 10, ["-12.5·", "(-30.25)", "+ 4 = 5"]),
        ("1 + 2·exp(3·x) + 4", 10, ["1 + 2·", "exp(3·x)", "+ 4"]),
        ("H[i + 1, j + 2] = 5", 11, ["H[i + 1,", "j + 2]", "= 5"]),
        # an index too long for a line
        ("W[(h·3 + i) mod 4, d]", 12, ["W[(h·3 + i)", "mod 4, d]"]),
        ("ln(1 + 2 + 3 + 4 + 5 + 6)", 14, ["ln(1 + 2 + 3", "+ 4 + 5 + 6)"]),
    ],
)
def test_a_sum_goes_on_where_a_stage_or_a_term_begins(
    text: str, room: int, lines: list[str]
) -> None:
    assert broken(text, room) == lines


@pytest.mark.parametrize(
    "text", ["a + (b - c) = d " * 40, "(" * 300 + " + 1" * 300, "1234567890 + " * 9, " = " * 50]
)
def test_broken_sums_lose_nothing(text: str) -> None:
    text = " ".join(text.split())
    lines = broken(text, 16)
    assert " ".join(lines) == text
    assert all(
        len(line) <= 16 or " " not in line.removeprefix("+ ").removeprefix("= ") for line in lines
    )
