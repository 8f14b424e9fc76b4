"""The number π in equations: in every kind of numbers, and as each notation spells it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import attncli
from attncli.cli.main import run
from attncli.equation.notation import PYTHON
from attncli.equation.own_parser import read_equation
from attncli.equation.printer import write_equation

QKV: dict[str, Any] = {"Q": [[1, 0], [0, 1]], "K": [[1, 2], [2, 1]], "V": [[1], [2]]}
TURNED = {
    **QKV,
    "arrays": {"share[i]": [0.5, 0.25]},
    "equations": ["angle[i] = 2 * pi * share[i]", "it[i] = sin(angle[i]) + Q[i, 0]"],
    "result": "it",
}
SPELLINGS = {
    "table": "angle[i] = 2·π·share[i]",
    "markdown": r"2 \cdot \pi \cdot \mathrm{share}_{i}",
    "latex": r"2 \cdot \pi \cdot \mathrm{share}_{i}",
    "html": "<mi>π</mi>",
}


def test_its_value() -> None:
    trace = attncli.trace(**TURNED)
    assert trace["angle"].tolist() == [math.pi, math.pi / 2]
    assert trace["it"].tolist() == pytest.approx([1, 1])


def test_it_is_read_and_written_by_its_name() -> None:
    equation = read_equation("angle[i] = 2 * pi * share[i]")
    assert write_equation(equation, PYTHON) == "angle[i] = 2 * pi * share[i]"


@pytest.mark.parametrize("form", SPELLINGS)
def test_every_format_spells_it(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "turned.json"
    file.write_text(json.dumps(TURNED))
    assert run(["compute", str(file), "--format", form]) == 0
    assert SPELLINGS[form] in capsys.readouterr().out


def test_an_exact_page_has_its_digits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It has no closed form here, so it is near its decimals, and never equal to them."""
    file = tmp_path / "turned.json"
    file.write_text(json.dumps(TURNED))
    look = ["--rounding", "exact", "--steps", "angle", "--precision", "12"]
    assert run(["compute", str(file), *look]) == 0
    page = capsys.readouterr().out
    assert "2·π·0.5  ≈ 3.141592653590" in page


@pytest.mark.parametrize(
    "keys",
    [
        {"equations": ["pi = 3", "it[i] = pi * Q[i, 0]"], "result": "it"},
        {"arrays": {"pi": 3}, "equations": ["it[i] = pi * Q[i, 0]"], "result": "it"},
    ],
)
def test_nothing_else_is_called_so(keys: dict[str, Any]) -> None:
    with pytest.raises(attncli.AttncliError, match="pi has a meaning of its own in problems"):
        attncli.trace(**QKV, **keys)
