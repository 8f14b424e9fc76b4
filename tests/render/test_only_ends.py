"""Much of anything on a terminal: its two ends, and a line that says what is not there."""

from __future__ import annotations

import pytest

from attncli.page.derivation import derivation
from attncli.page.ends import MOST_ROWS_SHOWN, ROWS_AT_EACH_END
from attncli.page.view import View
from attncli.problem.loader import loads
from attncli.render import Style, render
from attncli.tracing import run
from attncli.tracing.model import Trace


def trace(rows: int, columns: int, more: str = "") -> Trace:
    """Of so many queries and keys."""
    problem = f"Q: {{random: [{rows}, 2], seed: 1}}\nK: {{random: [{columns}, 2], seed: 2}}\n"
    return run(loads(f"{problem}V: {{random: [{columns}, 2], seed: 3}}\n{more}".encode(), "p.yaml"))


def page(
    found: Trace, *steps: str, only_ends: bool = True, detail: str = "rows", encoding: str = "utf-8"
) -> str:
    view = View(detail=detail, steps=steps or None, only_ends=only_ends)
    return render(derivation(found, view), "table", Style(width=120, encoding=encoding))


@pytest.mark.long
def test_what_is_not_large_is_whole() -> None:
    small = trace(MOST_ROWS_SHOWN, MOST_ROWS_SHOWN)
    assert page(small) == page(small, only_ends=False)


@pytest.mark.parametrize(
    ("rows", "columns", "said"),
    [
        (50, 3, "left out: rows 5–46 of 50; --all shows all"),
        (3, 60, "left out: columns 5–56 of 60; --all shows all"),
        (50, 60, "left out: rows 5–46 of 50 and columns 5–56 of 60; --all shows all"),
    ],
)
def test_a_large_matrix_has_its_ends(rows: int, columns: int, said: str) -> None:
    found = trace(rows, columns)
    text = page(found, "scores", detail="brief")
    assert text.rstrip().endswith(said)
    for row in {0, min(ROWS_AT_EACH_END, rows) - 1, rows - 1}:
        for column in {0, min(ROWS_AT_EACH_END, columns) - 1, columns - 1}:
            assert f"{found['scores'][row, column]:.3f}" in text
    assert "…" in text
    assert "without" not in page(found, "scores", detail="brief", only_ends=False)


def test_worked_lines_are_those_of_the_rows_that_are_there() -> None:
    found = trace(50, 60)
    lines = [line for line in page(found, "scores").splitlines() if " → " in line]
    assert [line.split()[0] for line in lines] == [
        f"t{row}" for row in (1, 2, 3, 4, 47, 48, 49, 50)
    ]
    assert "left out: rows 5–46 of 50; --all shows all" in page(found, "scores")
    every = page(found, "scores", detail="cells")
    assert every.count(" → ") == 8 * 8
    assert "left out: rows 5–46 of 50 and columns 5–56 of 60; --all shows all" in every


def test_a_column_and_the_reading() -> None:
    found = trace(50, 3)
    text = page(found)
    words = text[text.index("In words") :]
    assert words.count("• ") == 8
    assert '"t47" pays' in words
    assert words.rstrip().endswith("left out: rows 5–46 of 50; --all shows all")
    # the column, and its lines
    assert page(found, "row_sum").count("left out: rows 5–46 of 50; --all shows all") == 2
    assert "--all" not in page(found, only_ends=False)


def test_heads_keep_their_ends() -> None:
    heads = "\n".join(
        f"{name}: {{random: [1, 2, 50, 2], seed: {seed}}}" for seed, name in enumerate("QKV")
    )
    found = run(loads(heads.encode(), "p.yaml"))
    text = page(found)
    assert text.count("in words") == 2
    assert text.count("• ") == 2 * 8


def test_blocks_of_columns_are_captioned_as_in_the_whole_matrix() -> None:
    view = View(detail="brief", steps=("scores",), only_ends=True)
    text = render(derivation(trace(3, 2000), view), "table", Style(width=40))
    captions = [line.strip() for line in text.splitlines() if line.strip().startswith("column")]
    assert captions == ["columns 1–4 of 2,000", "columns 5–1,999 of 2,000", "column 2,000 of 2,000"]
    second = text[text.index(captions[1]) : text.index(captions[2])]
    assert second.split("\n")[1].split() == ["S", "…", "c1997", "c1998", "c1999"]
    assert "left out: columns 5–1,996 of 2,000" in " ".join(text.split())


def test_an_ascii_terminal() -> None:
    text = page(trace(50, 60), "scores", detail="brief", encoding="ascii")
    assert text.isascii()
    assert "S, columns: c1, c2, c3, c4, ..., c57, c58, c59, c60\n" in text
    assert "\nrow ...: ..., ..., ..., ..., ..., ..., ..., ..., ...\n" in text
    assert "left out: rows 5 to 46 of 50 and columns 5 to 56 of 60; --all shows all" in text
