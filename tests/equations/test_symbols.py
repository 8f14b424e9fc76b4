"""What steps of a problem's own are called in formulas."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attncli.api import check, load
from attncli.attention.registry import RULES
from attncli.cli.main import run as attncli
from attncli.equation.notation import LATEX
from attncli.equation.parser import parse_expression
from attncli.equation.printer import write
from attncli.problem.parts.equations import SYMBOL

# A mean squared error, or a cross-entropy.
LOSSES = (
    {"kind": "mse", "target": [[1, 0], [2, 3]]},
    {"kind": "cross_entropy", "targets": [0, 1]},
)
OURS = sorted({rule.symbol for rule in RULES.values() if SYMBOL.fullmatch(rule.symbol)})
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


def is_read_back(symbol: str, loss: dict[str, object], folder: Path) -> bool:
    """Whether the page of a gradient is right, with this symbol for a step; or it is refused."""
    steps = [{"equation": "raw[i, k] = 2 * Q[i, k]", "symbol": symbol}]
    file = folder / "problem.json"
    problem = {
        "Q": [[1, 0], [0, 1]],
        "K": [[1, 2], [2, 1], [0, 1]],
        "V": [[1, 3], [2, 1], [1, 1]],
        "loss": loss,
        "equations": [*steps, "scores[i, j] = sum(k, raw[i, k] * K_T[k, j])"],
    }
    file.write_text(json.dumps(problem))
    for name in ("page.tex", "page.md", "page.txt"):
        page = folder / name
        words = ["gradient", str(file), "--forward", "-q", "-o", str(page)]
        if name == "page.txt":
            words += ["--format", "table"]
        if attncli(words) == 3:
            return False
        found = check(load(file), page).to_dict()
        assert {"raw", "d_raw"} <= {*found["steps"]}, (symbol, name)
        counts = found["counts"]
        assert counts["right"] == sum(counts.values()), (symbol, name)
    return True


@pytest.mark.sampled(1)
@pytest.mark.parametrize("symbol", ["H", "M", "K_rot", "W_a", "dW_a", "dH", "U", "stretched_theta"])
def test_a_step_may_be_called_as_one_that_is_not_there(symbol: str, tmp_path: Path) -> None:
    """As a step of another problem, or its gradient: what this problem has comes first."""
    assert is_read_back(symbol, LOSSES[0], tmp_path)


@pytest.mark.parametrize(
    ("symbol", "loss"), [("dQ", 0), ("dS", 0), ("S", 0), ("L", 0), ("P", 1), ("J", 1), ("dA", 1)]
)
def test_what_a_page_has_for_something_else_is_refused(
    symbol: str, loss: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A gradient, a step of the loss, a step that an equation replaces, and the Jacobian."""
    assert not is_read_back(symbol, LOSSES[loss], tmp_path)
    said = capsys.readouterr().err
    assert f"{symbol} is the symbol of" in said
    assert f"give raw another symbol, such as {symbol}'" in said


@pytest.mark.slow
@pytest.mark.parametrize("symbol", OURS)
def test_every_symbol_is_read_back_or_refused(symbol: str, tmp_path: Path) -> None:
    for loss in LOSSES:
        is_read_back(symbol, loss, tmp_path)
