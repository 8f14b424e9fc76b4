"""The gradient of a result that is a list, or one number, begins with `d_output` or a loss of its
shape.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.cli.main import run

Q = [[1, 0], [2, 1]]
K = [[1, 1], [0, 2], [3, 1]]
V = [[1, -2], [0.5, 3], [2, 1]]
QKV: dict[str, Any] = {"Q": Q, "K": K, "V": V, "result": "it"}
OF_OWN_LETTER = "it[w] = sum(j, V[j, 0] * one[w]) * one[w]"
LIST, NUMBER = "it[j] = V[j, 0] * V[j, 1]", "it = sum(j, V[j, 0] ** 2)"
HEADS: dict[str, Any] = {"Q": [Q, Q], "K": [K, K], "V": [V, V], "result": "it"}

VALUES = np.array(V)
# The derivative of a product, by hand.
OF_LIST = VALUES[:, ::-1]
OF_NUMBER = np.stack([2 * VALUES[:, 0], np.zeros(3)], axis=1)
CASES = [
    (LIST, {"d_output": [1, -2, 3]}, OF_LIST * [[1], [-2], [3]]),
    (LIST, {}, OF_LIST),
    (NUMBER, {"d_output": 3}, 3 * OF_NUMBER),
    (NUMBER, {"d_output": "1/3"}, OF_NUMBER / 3),
    # it is -2, 1.5 and 2: the mean of (it - 1)² has the gradient 2 (it - 1) / 3.
    (
        LIST,
        {"loss": {"kind": "mse", "target": [1, 1, 1]}},
        OF_LIST * np.array([[-6], [1], [2]]) / 3,
    ),
    (OF_OWN_LETTER, {"arrays": {"one[w]": [1, 2]}, "d_output": [3, 1]}, [[7, 0]] * 3),
    # it is (3.5, 14), and the gradient of the mean of (it - target)² is it - target: 1.5 and 1.
    (
        OF_OWN_LETTER,
        {"arrays": {"one[w]": [1, 2]}, "loss": {"kind": "mse", "target": [2, 13]}},
        [[5.5, 0]] * 3,
    ),
    # it is 5.25, and the gradient of (it - 5)² is 2 · 0.25.
    (NUMBER, {"loss": {"kind": "mse", "target": 5}}, OF_NUMBER / 2),
]


@pytest.mark.sampled(4, "long")
@pytest.mark.parametrize(("equation", "more", "expected"), CASES)
def test_the_gradient_begins_with_what_is_given(
    equation: str, more: dict[str, Any], expected: Any, tmp_path: Path
) -> None:
    problem = {**QKV, **more, "equations": [equation]}
    trace = attncli.trace(problem, gradient=True)
    np.testing.assert_allclose(trace["d_V"], expected, rtol=1e-12)
    again = attncli.Trace.from_dict(json.loads(json.dumps(trace.to_dict())))
    assert again.to_dict() == trace.to_dict()
    file = tmp_path / "problem.json"
    file.write_text(json.dumps(problem))
    saved = tmp_path / "saved.yaml"
    attncli.save(attncli.load(str(file)), str(saved))
    assert attncli.trace(str(saved), gradient=True)["d_V"].tolist() == trace["d_V"].tolist()
    assert run(["gradient", str(file), "--verify"]) == 0
    for name in ("page.md", "page.tex"):
        page = str(tmp_path / name)
        assert run(["gradient", str(file), "-o", page]) == 0
        assert run(["check", str(file), page]) == 0
    for name in ("page.html", "sheet.xlsx"):
        assert run(["gradient", str(file), "-o", str(tmp_path / name)]) == 0


@pytest.mark.parametrize(("equation", "given"), [(LIST, [[1, 2, 3], [4, 5, 6]]), (NUMBER, [2, -1])])
def test_there_is_one_start_for_each_head(equation: str, given: Any, tmp_path: Path) -> None:
    problem = {**HEADS, "d_output": given, "equations": [equation]}
    trace = attncli.trace(problem, gradient=True)
    for head, start in enumerate(given):
        alone = attncli.trace({**QKV, "d_output": start, "equations": [equation]}, gradient=True)
        assert trace["d_V"][head].tolist() == alone["d_V"].tolist()
    file = tmp_path / "problem.json"
    file.write_text(json.dumps(problem))
    page = str(tmp_path / "page.md")
    assert run(["gradient", str(file), "-o", page]) == 0
    assert run(["check", str(file), page]) == 0


@pytest.mark.parametrize(
    ("equation", "given", "said"),
    [
        (LIST, 3, "d_output is one number, and it is a list of 3 numbers"),
        (LIST, [1, 2], "d_output is a list of 2 numbers, and it is a list of 3 numbers"),
        (LIST, [[1], [2], [3]], "d_output is 3×1, and it is a list of 3 numbers"),
        (NUMBER, [[3]], "d_output is 1×1, and it is one number"),
        (NUMBER, "inf", "d_output: must be a list of rows"),
    ],
)
def test_another_shape_is_refused(
    equation: str, given: Any, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "problem.json"
    file.write_text(json.dumps({**QKV, "d_output": given, "equations": [equation]}))
    assert run(["gradient", str(file)]) == 3
    assert said in capsys.readouterr().err


def test_without_equations_rows_are_needed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "problem.json"
    file.write_text(json.dumps({"Q": Q, "K": K, "V": V, "d_output": [1, 2]}))
    assert run(["gradient", str(file)]) == 3
    assert "must be a list of rows, not a list of numbers" in capsys.readouterr().err
