"""What steps of a problem's own are called in formulas."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncli.cli.main import run as attncli
from attncli.equation.notation import LATEX
from attncli.equation.parser import parse_expression
from attncli.equation.printer import write

PROBLEM = """
Q: [[1, 0], [0, 1]]
K: [[1, 2], [2, 1]]
V: [[1], [2]]
equations:
  - equation: "raw[i, k] = 2 * Q[i, k]"
    symbol: {symbol}
"""


@pytest.mark.parametrize("symbol", ["H", "W_in", "Z'", "C_1"])
def test_a_symbol_is_a_letter_with_marks(symbol: str, tmp_path: Path) -> None:
    file = tmp_path / "problem.yaml"
    file.write_text(PROBLEM.format(symbol=f'"{symbol}"'))
    assert attncli(["compute", str(file), "-q"]) == 0


@pytest.mark.parametrize("symbol", ["$x$", "<b>", "a%", "Σ", "x^2", "_a", "A B"])
def test_what_no_formula_can_hold_is_refused(
    symbol: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "problem.yaml"
    file.write_text(PROBLEM.format(symbol=f'"{symbol}"'), encoding="utf-8")
    assert attncli(["compute", str(file)]) == 3
    assert "cannot stand in a formula" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("W_G[d, c] ** 2", "(W^{G}_{d,c})^{2}"),
        ("X[i, d] ** 2", "X_{i,d}^{2}"),
        ("d_k ** 2", "d_{k}^{2}"),
    ],
)
def test_a_power_stands_beside_nothing_that_is_raised(expression: str, expected: str) -> None:
    """LaTeX stops at a double superscript."""
    assert write(parse_expression(expression), LATEX) == expected
