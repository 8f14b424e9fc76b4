"""Equations of a problem's own with a mask but no weights, with queries that see no key, and with
conditions of numbers.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncli.cli.main import run as attncli
from attncli.problem.python_values import problem
from attncli.tracing import Trace, run

X = np.array([[0.3, -1.2], [0.5, 0.8], [-0.9, 1.4]])
V = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])


def worked(**keys: Any) -> Trace:
    return run(problem(**keys))


def test_a_mask_needs_no_weights() -> None:
    """With heads, too, between which this mask does not differ."""
    weights = {name: np.eye(2, 4).tolist() for name in ("W_Q", "W_K", "W_V")}
    trace = worked(
        X=X.tolist(),
        **weights,
        heads=2,
        mask="causal",
        equations=[
            "gates[i, j] = where(mask[i, j] == 0, exp(scaled[i, j]), 0)",
            "heads_output[i, c] = sum(j, gates[i, j] * V[j, c])",
        ],
    )
    # The first head has all of X, the second nothing but zeros.
    gates = np.exp(np.where(np.tri(3, dtype=bool), X @ X.T / math.sqrt(2), -np.inf))
    np.testing.assert_allclose(trace["gates"], [gates, np.tri(3)])
    np.testing.assert_allclose(trace["output"], np.hstack([gates @ X, np.zeros((3, 2))]))
    assert trace.warnings == ()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("output_format", ["table", "markdown", "latex", "html", "json"])
def test_masked_numbers_without_weights_are_no_overflow(
    output_format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "gates.yaml"
    file.write_text(
        f"Q: {X.tolist()}\nK: {X.tolist()}\nV: {V.tolist()}\nmask: causal\nequations:\n"
        '  - "gates[i, j] = sigmoid(masked[i, j])"\n'
        '  - "output[i, c] = sum(j, gates[i, j] * V[j, c])"\n'
    )
    assert attncli(["compute", str(file), "--format", output_format]) == 0
    said = capsys.readouterr()
    assert "warning" not in said.err
    assert "-∞" in said.out or r"-\infty" in said.out or "-inf" in said.out or "−∞" in said.out


BLIND: dict[str, Any] = {
    "Q": X.tolist(),
    "K": X.tolist(),
    "V": V.tolist(),
    "mask": {"keep": [[1, 0, 0], [1, 1, 0], [0, 0, 0]]},
    "equations": [
        "other[i, j] = softmax(j, masked[i, j])",
        "free[i, j] = softmax(j, scaled[i, j])",
        "across[j, i] = softmax(j, scores[i, j])",
        "output[i, c] = sum(j, (other[i, j] + free[i, j] * across[j, i]) * V[j, c])",
    ],
}


def test_of_a_query_that_sees_no_key_only_that_is_said_which_is_true() -> None:
    """Its output is not 0: a softmax of the problem's own heeds no mask."""
    trace = worked(**BLIND)
    assert trace.warnings == ('query "t3" (row 2) sees no key',)
    assert trace["output"][2].all()


def test_the_weights_of_an_own_softmax_that_heeds_no_mask_are_not_by_definition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last row of the softmax of masked scores is 0 by definition, of the others nothing is."""
    from attncli.problem.saving import as_yaml

    file = tmp_path / "blind.yaml"
    file.write_text(as_yaml(problem(**BLIND), "")[0])
    for step, rows in {"other": 3, "free": 0, "across": 0}.items():
        assert attncli(["compute", str(file), "--steps", step, "--detail", "cells", "-q"]) == 0
        assert capsys.readouterr().out.count("by definition") == rows, step


def test_a_line_takes_the_branch_that_was_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A small number is above 0 though it is printed as 0.000, and 0.5 is below e^-0.5, 0.607."""
    file = tmp_path / "branches.yaml"
    file.write_text(
        f"Q: {X.tolist()}\nK: {X.tolist()}\nV: {V.tolist()}\nequations:\n"
        '  - "tiny[i, k] = Q[i, k] / 100000"\n'
        '  - "sign[i, k] = where(tiny[i, k] > 0, 3 * Q[i, k], 7 * Q[i, k])"\n'
        '  - "odd[i, k] = where(Q[i, k] < exp(-0.5), 2 * sign[i, k], 5 * sign[i, k])"\n'
        "result: odd\n"
    )
    assert attncli(["compute", str(file), "--detail", "cells", "-q", "--steps", "sign,odd"]) == 0
    lines = " ".join(capsys.readouterr().out.split())
    assert "t1, d1 3·0.3 = 0.900 t1, d2 7·(-1.2) = -8.400 t2, d1 3·0.5 = 1.500" in lines
    # 0.3, -1.2 and 0.5 are below e^-0.5, and 0.8 is not.
    assert "t1, d1 2·0.900 = 1.800 t1, d2 2·(-8.400) = -16.800 t2, d1 2·1.500 = 3 t2" in lines
    assert "t2, d2 5·2.400 = 12 t3" in lines


CHECKED = """
Q: [[0.3, 2], [1, 1]]
K: [[1, 2], [2, 1]]
V: [[1], [2]]
equations:
  - "doubled[i, k] = 2 * Q[i, k]"
  - "whole[i, k] = doubled[i, k] // 0.25"
  - "rest[i, k] = doubled[i, k] % 0.25"
  - "chosen[i, k] = where(doubled[i, k] < 1, whole[i, k], rest[i, k])"
  - "cube[i, k] = doubled[i, k] ** 3"
  - "total = sum(i, sum(k, chosen[i, k] + cube[i, k]))"
result: total
"""
# Of 0.6, a 1.6 was made: 1.6 // 0.25 is 6, 1.6 % 0.25 is 0.1, which is chosen as 1.6 is not below
# 1, and 1.6 ** 3 is 4.096. The right numbers are 2, 0.1, 2 and 0.216.
WRONG = """
doubled: [[1.6, 4], [2, 2]]
whole: [[6, 16], [8, 8]]
rest: [[0.1, 0], [0, 0]]
chosen: [[0.1, 0], [0, 0]]
cube: [[4.096, 64], [8, 8]]
total: 84.196
"""


def test_what_follows_from_a_wrong_number_is_carried_through_any_function(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "problem.yaml").write_text(CHECKED)
    (tmp_path / "answers.yaml").write_text(WRONG)
    command = ["check", str(tmp_path / "problem.yaml"), str(tmp_path / "answers.yaml")]
    assert attncli(command) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "The first wrong number is in doubled, at t1, d1." in said
    # rest is right by chance: 0.6 % 0.25 is 0.1, too.
    assert "21 cells: 16 right, 4 carried and 1 wrong." in said
