"""Rounding on paper and worked lines with heads, batches, positions and sinks: numbers read back
from what is shown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

import attncli
from attncli.page.document import plain_line
from attncli.page.printer import Printer
from attncli.page.worked.worked_line import worked_line
from tests.conformance.drawn import problem_files

Trace = Callable[..., attncli.Trace]
FEW = settings(settings.get_profile("few"), suppress_health_check=[HealthCheck.filter_too_much])
SHIFTED = ("row_max", "shifted", "exp", "row_sum")  # in one of the two and not in the other
FUNCTIONS = {
    "e": math.e,
    "inf": math.inf,
    "tanh": math.tanh,
    "sin": math.sin,
    "cos": math.cos,
    "max": lambda *numbers: max(numbers),
    "sqrt": math.sqrt,
}
FUNCTIONS |= {"exp": math.exp, "abs": abs}


def calculated(text: str) -> float:
    """One side of a printed line, as a pocket calculator has it."""
    text = re.sub(r"\|([^|]+)\|", r"abs(\1)", text)
    source = re.sub(r"√(\d[\d.e]*)", r"sqrt(\1)", text).replace("√(", "sqrt(")
    for sign, python in (("·", "*"), ("^", "**"), ("∞", "inf"), ("−", "-")):
        source = source.replace(sign, python)
    return float(eval(source, dict(FUNCTIONS)))


@pytest.mark.long
@FEW
@given(problem=problem_files(small=True))
def test_twelve_decimals_on_paper_are_eight_of_the_truth(
    trace: Trace, problem: dict[str, Any]
) -> None:
    exact, paper = trace(problem), trace(problem, rounding="paper", precision=12)
    assume(np.nanmax(np.where(np.isfinite(exact["scores"]), abs(exact["scores"]), 0)) < 30)
    sums = paper["row_sum"]
    assume((sums[sums > 0] > 0.1).all())  # a smaller one has fewer digits left
    for name in exact:
        if name in paper and name not in SHIFTED:
            np.testing.assert_allclose(paper[name], exact[name], rtol=1e-8, atol=1e-8, err_msg=name)


@pytest.mark.long
@FEW
@given(problem=problem_files())
def test_every_worked_cell_gives_its_cell(trace: Trace, problem: dict[str, Any]) -> None:
    found = trace(problem)
    printer, lines = Printer(found, 12), 0
    for step in found.computed():
        if step.name == "mask":
            continue
        for index in np.ndindex(step.shape):
            text = plain_line(worked_line(printer, step, index))
            text = re.split(" hidden| by def", text)[0]
            sides = re.split(" [=≈] ", text)
            value = float(step.value[index])
            assert sides, text
            for side in sides:
                try:
                    worked = calculated(side)
                except (SyntaxError, NameError) as error:
                    pytest.fail(f"{step.name}{index}: cannot read {text!r}: {error}")
                if math.isfinite(value):
                    assert worked == pytest.approx(value, rel=1e-6, abs=1e-6), (
                        f"{step.name}{index}: {text}"
                    )
                else:
                    assert worked == value, f"{step.name}{index}: {text}"
            lines += len(sides) > 1
    assert lines
