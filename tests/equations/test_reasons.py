"""A number that is infinite, or none, comes with its reason: where it began, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.cli.main import run
from tests.cases import in_one_test

# The scores are [[1, 0, -1], [1, 2, 1], [2, 2, 0]].
QKV: dict[str, Any] = {
    "Q": [[1, 0], [0, 1], [1, 1]],
    "K": [[1, 1], [0, 2], [-1, 1]],
    "V": [[1, 0], [0, 1], [1, 1]],
}
BY_HAND = """tokens: [a, b, c]
Q: [[1, 0], [0, 1], [1, 1]]
K: [[1, 1], [0, 2], [-1, 1]]
V: [[1, 0], [0, 1], [1, 1]]
mask: {keep: [[0, 0, 0], [1, 0, 1], [1, 1, 1]]}
equations:
  - "row_max[i] = max(j, masked[i, j])"
  - "shifted[i, j] = masked[i, j] - MAXIMUM"
  - "exp[i, j] = exp(shifted[i, j])"
  - "row_sum[i] = sum(j, exp[i, j])"
  - "weights[i, j] = exp[i, j] / DIVISOR"
"""


def of(expression: str, **settings: Any) -> str:
    trace = attncli.trace(**QKV, equations=[f"it[i, j] = {expression}"], result="it", **settings)
    (warning,) = trace.warnings
    return warning


@in_one_test(
    ("expression", "reason"),
    [
        (
            "log(scores[i, j])",
            "in it, 3 of 9 cells are infinite or NaN. The first is it[t1,t2]: log(0) is -inf,"
            " because 0 has no logarithm",
        ),
        (
            "log(scores[i, j] - 3)",
            "in it, 9 of 9 cells are NaN. The first is it[t1,t1]: log(-2) is no number, because a"
            " number below 0 has no logarithm",
        ),
        (
            "sqrt(scores[i, j])",
            "in it, 1 of 9 cells is NaN. The first is it[t1,t3]: sqrt(-1) is no number, because a"
            " number below 0 has no root",
        ),
        (
            "scores[i, j] ** 0.5",
            "in it, 1 of 9 cells is NaN. The first is it[t1,t3]: -1 ** 0.5 is no number, because a"
            " number below 0 has only whole powers",
        ),
        (
            "1 / scores[i, j]",
            "in it, 2 of 9 cells are infinite. The first is it[t1,t2]: 1 / 0 is inf, because the"
            " divisor is 0",
        ),
        (
            "scores[i, j] ** -1",
            "in it, 2 of 9 cells are infinite. The first is it[t1,t2]: 0 ** -1 is inf, because 0"
            " to a power below 0 is a division by 0",
        ),
        (
            "sum(t, (scores[i, t] - 1) / (scores[i, t] - 1))",
            "in it, 6 of 9 cells are NaN. The first is it[t1,t1]: 0 / 0 is no number, because the"
            " divisor is 0",
        ),
        (
            "exp(1000 * scores[i, j]) * 0",
            "in it, 6 of 9 cells are NaN. The first is it[t1,t1]: exp(1000) does not fit"
            " into float64",
        ),
        (
            "10 ** 200 * (10 ** 200 * scores[i, j])",
            "in it, 7 of 9 cells are infinite. The first is it[t1,t1]: 1e200 * 1e200 does not fit"
            " into float64",
        ),
        # What stands in a branch that is not taken is no reason.
        (
            "where(0 < scores[i, j], 1, sqrt(scores[i, j]))",
            "in it, 1 of 9 cells is NaN. The first is it[t1,t3]: sqrt(-1) is no number, because a"
            " number below 0 has no root",
        ),
    ],
)
def test_a_reason_has_the_operation_and_its_numbers(expression: str, reason: str) -> None:
    assert of(expression) == reason


def test_what_a_low_format_cannot_hold_has_no_operation_at_fault() -> None:
    warning = of("50000 * scores[i, j]", dtype="float16")
    assert warning == "it: 3 of 9 cells do not fit into float16 (the first at it[t2,t2])"


def test_a_problem_without_equations_says_it_as_before() -> None:
    trace = attncli.trace(Q=[[1e200]], K=[[1e200]], V=[[1.0]])
    assert trace.warnings == (
        "scores: 1 of 1 cells does not fit into float64 (the first at scores[t1,t1])",
    )


def by_hand(folder: Path, maximum: str, divisor: str) -> str:
    path = folder / "p.yaml"
    text = BY_HAND.replace("MAXIMUM", maximum).replace("DIVISOR", divisor)
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_softmax_by_hand_of_a_row_without_keys_says_what_to_write(tmp_path: Path) -> None:
    trace = attncli.trace(by_hand(tmp_path, "row_max[i]", "row_sum[i]"))
    blind, first = trace.warnings
    assert blind == 'query "a" (row 0) sees no key'
    assert first == (
        "in shifted, 3 of 9 cells are NaN. The first is shifted[a,a]: -inf - -inf is no number."
        " The built-in softmax subtracts 0 there: where(-inf < row_max[i], row_max[i], 0) in place"
        " of row_max[i]"
    )
    maximum = "where(-inf < row_max[i], row_max[i], 0)"
    trace = attncli.trace(by_hand(tmp_path, maximum, "row_sum[i]"))
    assert trace.warnings[1] == (
        "in weights, 3 of 9 cells are NaN. The first is weights[a,a]: 0 / 0 is no number, because"
        " the divisor is 0. With where(row_sum[i] == 0, 1, row_sum[i]) as the divisor, it is 0"
    )
    divisor = "where(row_sum[i] == 0, 1, row_sum[i])"
    path = by_hand(tmp_path, maximum, divisor)
    trace = attncli.trace(path)
    assert trace.warnings == (blind,)
    # As the built-in softmax has it.
    whole = attncli.trace(
        **QKV, tokens=["a", "b", "c"], mask={"keep": [[0, 0, 0], [1, 0, 1], [1, 1, 1]]}
    )
    np.testing.assert_allclose(trace["weights"], whole["weights"], atol=1e-15)
    assert run(["gradient", path, "--verify"]) == 0


@pytest.mark.parametrize("rounding", ["shown", "paper", "exact"])
def test_a_divisor_that_is_0_is_not_said_to_have_digits(
    rounding: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(
        "Q: [[1, 0]]\nK: [[1, 1]]\nV: [[1]]\nequations:\n"
        '  - "of_nothing[i, j] = 1 / (scores[i, j] - scores[i, j])"\n'
        '  - "small[i, j] = exp(-9 * scores[i, j])"\n'
        '  - "of_little[i, j] = 1 / small[i, j]"\n',
        encoding="utf-8",
    )
    options = ["--rounding", rounding, "--steps", "of_nothing,of_little"]
    assert run(["compute", str(path), *options]) == 0
    page = capsys.readouterr().out
    assert "∞  the divisor is 0\n" in page
    # e^9 is 8103.084; on paper, e^-9 is rounded to 0.
    if rounding == "shown":
        assert "8103.084  the divisor is printed as 0; a higher --precision" in page
    if rounding == "paper":
        assert page.count("∞  the divisor is 0\n") == 2


def test_the_words_of_a_softmax_stand_beside_a_whole_one_only() -> None:
    """Of softmax-1, whose rows sum to less than 1: e^x / (1 + Σ e^x)."""
    equation = "row_sum[i] = 1 + sum(j, exp[i, j])"
    trace = attncli.trace(**QKV, equations=[equation])
    said = {step.name: f"{step.rule.meaning} {step.rule.why}" for step in trace.computed()}
    for name in ("exp", "weights"):
        assert "softmax" not in said[name]
    assert "sums to 1" not in said["weights"]
    assert trace.steps["weights"].rule.matrix_source == "share(exp, row_sum)"
    whole = attncli.trace(**QKV)
    assert "Each row sums to 1." in whole.steps["weights"].rule.meaning


def test_the_section_in_words_adds_up_what_is_no_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With one key of score 0, softmax-1 gives it e^0 / (1 + e^0): a half."""
    path = tmp_path / "p.yaml"
    equation = "row_sum[i] = 1 + sum(j, exp[i, j])"
    path.write_text(f'Q: [[0]]\nK: [[1]]\nV: [[4]]\nequations: ["{equation}"]\n', encoding="utf-8")
    assert run(["compute", str(path)]) == 0
    words = capsys.readouterr().out.partition("── In words")[2]
    assert '"t1" pays 50.0 % of its attention to itself. Together, this is 50.0 %.' in " ".join(
        words.split()
    )
    assert "all of its attention" not in words
