"""The numbers of a solution's cells: whole steps at once come to what each cell comes to alone."""

from __future__ import annotations

import numpy as np
import pytest

from attncli.answers.reader import read_answers
from attncli.features.check.cell_values import CellValues
from attncli.features.check.diagnosis import diagnose
from attncli.features.check.verdicts import judge
from attncli.problem.loader import loads
from attncli.problem.text.source import decode
from attncli.tracing import Trace, run

PLAIN = "Q: [[1, 2], [3, 4]]\nK: [[1, 0], [0.5, 1]]\nV: [[1, 2], [2, 0.5]]\n"
PROBLEMS = [
    PLAIN,
    f"{PLAIN}mask: causal\nsoftcap: 5",
    f"{PLAIN}sink: 1\nexp_base: 2",
    f"{PLAIN}position: {{rope: {{}}}}",
    (
        "Q: [[[1], [2]], [[3], [4]]]\nK: [[[1], [0]]]\nV: [[[1], [2]]]\nheads: 2\nkv_heads:"
        " 1\nposition: {alibi: true}"
    ),
    f"{PLAIN}past: {{K: [[1, 1]], V: [[0, 1]]}}",
]


def values_of(trace: Trace, answers: str) -> CellValues:
    return CellValues(trace, read_answers(decode(answers.encode(), "a.yaml", None), trace))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_whole_step_is_worked_out_as_each_of_its_cells(problem: str) -> None:
    trace = run(loads(problem.encode(), "p.yaml"), gradient=True)
    blank = np.full(trace["scores"].shape, None)
    blank.flat[0] = 7.5
    values = values_of(trace, f"scores: {str(blank.tolist()).replace('None', 'null')}")
    for step in trace.computed():
        for index in np.ndindex(step.shape):
            true = values.from_equation(step.name, index, values.true)
            assert float(values.true(step.name, index)) == float(true)
            own = values.from_equation(step.name, index, values._as_written)
            assert float(values.own(step.name, index)) == float(own)


@pytest.mark.long
def test_a_mistake_that_divides_again_on_the_backward_pass_is_tried_beside_row_sums() -> None:
    """δ is 0 and dS is 0 for the first row; 9 is neither, with the mask or without it."""
    trace = run(
        loads(f"{PLAIN}mask: causal\nscore: dot".encode(), "p.yaml"), gradient=True, shifted=False
    )
    answers = (
        "scores: [[1, 2.5], [3, 5.5]]\nrow_sum: [2.718, 0.0]\ndelta: [9, 9]\nd_masked: [[9, 9],"
        " [9, 9]]"
    )
    verdicts = judge(trace, read_answers(decode(answers.encode(), "a.yaml", None), trace))
    assert {cell.verdict for cell in verdicts.steps["delta"].flat} == {"wrong"}
    assert all("mask" not in name for found in diagnose(verdicts) for name in found.mistakes)
