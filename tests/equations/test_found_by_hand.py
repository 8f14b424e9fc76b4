"""Equations that people wrote from the docs alone, and that ended in a fault."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import attncli
from attncli.cli.main import run

QKV = "Q: [[1, 0], [0, 1]]\nK: [[1, 1], [0, 2]]\nV: [[1, 0], [0, 1]]\nequations:\n"
MASKED_SUM = f'{QKV}  - "scaled[i, j] = where(j <= i, sum(k, Q[i, k] * K[j, k]), -inf)"\n'
SUM_IN_A_CONDITION = (
    f'{QKV}  - "scaled[i, j] = where(0 < sum(k, Q[i, k] * K[j, k]), 1, -inf) + 0 * scores[i, j]"\n'
)
CHOSEN_BY_A_SOFTMAX = f"""{QKV}
  - "second[i, j] = softmax(j, scaled[i, j])"
  - "rank[i, j] = sum(u, where(second[i, j] < second[i, u], 1, 0))"
  - "third[i, j] = softmax(j, where(rank[i, j] < 1, scaled[i, j], -inf))"
  - "output[i, c] = sum(j, third[i, j] * V[j, c])"
"""
NARROW_OUTPUT = """X: [[1, 0, 1], [0, 1, 0]]
W_Q: [[1, 0], [0, 1], [1, 1]]
W_K: [[1, 0], [0, 1], [1, 1]]
W_V: [[1, 0], [0, 1], [1, 1]]
W_O: [[1, 0], [0, 1]]
equations: ["scaled[i, j] = scores[i, j] / 2"]
"""


def file_of(text: str, folder: Path) -> str:
    path = folder / "p.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("text", [MASKED_SUM, SUM_IN_A_CONDITION, CHOSEN_BY_A_SOFTMAX])
@pytest.mark.parametrize("options", [(), ("--detail", "cells"), ("--rounding", "exact")])
@pytest.mark.parametrize("format", ["table", "markdown", "html"])
def test_a_page_is_written(
    text: str,
    options: tuple[str, ...],
    format: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["compute", file_of(text, tmp_path), "--format", format, *options]) == 0


def test_a_sum_that_is_chosen_is_worked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = file_of(MASKED_SUM, tmp_path)
    assert run(["compute", path, "--steps", "scaled", "--detail", "cells"]) == 0
    assert "t2 → t2   0·0 + 1·2 = 2" in capsys.readouterr().out
    expected = np.where(np.tri(2) == 1, [[1, 0], [1, 2]], -np.inf)
    assert (attncli.trace(path)["scaled"] == expected).all()


def test_the_cost_of_an_output_of_another_width(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["cost", file_of(NARROW_OUTPUT, tmp_path)]) == 0
    assert "W_O       2×2            4" in capsys.readouterr().out
