"""A heat map of a long matrix on a terminal: no digits, some characters a cell, or some cells a
character.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from attncli.page.derivation import derivation
from attncli.page.view import View
from attncli.problem.loader import loads
from attncli.render import Style, render
from attncli.render.table.styled_line import cell_len
from attncli.tracing import run
from attncli.tracing.model import Trace


def trace(tokens: int, more: str = "mask: causal") -> Trace:
    """Every query attends most to itself: its score is the largest by far."""
    arrays = "\n".join(
        f"{name}: {{random: [{tokens}, 2], seed: {seed}}}" for seed, name in enumerate("QKV")
    )
    return run(loads(f"{arrays}\n{more}".encode(), "p.yaml"))


def page(
    found: Trace, width: int, *, color: bool = False, ascii: bool = False, only_ends: bool = True
) -> str:
    view = View(detail="brief", steps=("weights",), heatmap=True, only_ends=only_ends)
    return render(derivation(found, view), "table", Style(width=width, color=color, ascii=ascii))


def drawn(text: str) -> list[str]:
    """The lines of the picture."""
    return [line.split()[-1] for line in text.splitlines() if line.startswith("    t")]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("color", [False, True])
def test_128_tokens_fit_80_columns(color: bool) -> None:
    painted = page(trace(128), 80, color=color)
    said = re.sub(r"\x1b\[[\d;]*m", "", painted)
    assert max(map(cell_len, said.splitlines())) <= 80
    assert sum(line.startswith("    t") for line in said.splitlines()) == 64
    assert "Each character is the largest of 2 rows by 2 columns. There is no room for" in said
    assert "0.0" not in said
    assert "from 0 to the largest of the row; · hidden by the mask" in said
    assert ("48;2;" in painted) is color
    assert ("░▒▓█" in said) is not color


# Two for a cell, one for a cell, one for four cells.
@pytest.mark.parametrize(("width", "characters", "rows"), [(160, 2, 60), (100, 1, 60), (60, 1, 30)])
def test_as_large_as_there_is_room_for(width: int, characters: int, rows: int) -> None:
    lines = drawn(page(trace(60), width))
    assert len(lines) == rows
    assert {len(line) for line in lines} == {characters * rows}


def test_shades_are_those_of_the_numbers() -> None:
    found = trace(50)
    weights = found["weights"]
    for row, line in zip(weights, drawn(page(found, 70)), strict=True):
        parts = np.where(row > 0, row / row.max(), -1)
        expected = ["·" if part < 0 else "░▒▓█"[min(int(part * 4), 3)] for part in parts]
        assert list(line) == expected


def test_labels_of_columns_stand_over_their_own_column() -> None:
    lines = page(trace(60), 100).splitlines()
    head = next(line for line in lines if line.startswith("    A ") and "=" not in line)
    first = next(line for line in lines if line.startswith("    t1 "))
    start = first.index("█")
    names = head.split()[1:]
    assert names[0] == "t1"
    for name in names:
        assert head.index(f" {name}") + 1 - start == int(name[1:]) - 1
    assert len(names) < 60


def test_digits_stay_where_they_are_asked_for_or_have_room() -> None:
    assert "0.0" in page(trace(50), 80, only_ends=False)
    assert "no room for digits" not in page(trace(40), 80)
    words = page(trace(50), 80, ascii=True)
    assert "left out: rows 5 to 46 of 50" in words


def test_other_steps_are_shaded_from_their_smallest_number() -> None:
    view = View(detail="brief", steps=("scores",), heatmap=True, only_ends=True)
    found = trace(50)
    said = render(derivation(found, view), "table", Style(width=80))
    low, high = found["scores"].min(), found["scores"].max()
    assert f"░▒▓█ from {low:.3f} to {high:.3f}" in said.replace("−", "-")
