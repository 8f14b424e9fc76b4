"""Solutions of drawn problems, rounded at every step as on paper: `check` never calls one of their
numbers wrong.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.answers.reader import mentions_gradients, read_answers
from attncli.features.check.verdicts import judge_solution
from attncli.problem.loader import loads
from attncli.problem.text.source import decode
from attncli.tracing import run
from tests.conformance.drawn import problem_files

FEW = settings(settings.get_profile("few"), suppress_health_check=list(HealthCheck))


@FEW
@given(problem=problem_files(), precision=st.integers(2, 6), fixed=st.booleans())
def test_what_is_rounded_at_every_step_is_never_wrong(
    problem: dict[str, Any], precision: int, fixed: bool
) -> None:
    """As our pages print the numbers, 2 for 2.000, or with all decimals."""
    assert_never_wrong(problem, precision, fixed, gradient=False)


@pytest.mark.long
@FEW
@given(problem=problem_files(), precision=st.integers(2, 6), fixed=st.booleans())
def test_nor_is_any_gradient(problem: dict[str, Any], precision: int, fixed: bool) -> None:
    assert_never_wrong(problem, precision, fixed, gradient=True)


def assert_never_wrong(
    problem: dict[str, Any], precision: int, fixed: bool, *, gradient: bool
) -> None:
    file = json.dumps(problem).encode()

    def text(written: str) -> str:
        if "Inf" in written:
            return "-inf"
        # 7.38E+16 has three digits, and written out it would claim seventeen.
        if "E+" in written:
            return written
        return f"{Decimal(written):.{precision}f}" if fixed else f"{Decimal(written):f}"

    paper = run(loads(file, "p.json"), rounding="paper", precision=precision, gradient=gradient)
    answers = {
        step.name: np.vectorize(text, otypes=[object])(step.written).tolist()
        for step in paper.computed()
    }
    source = decode(json.dumps(answers).encode(), "a.json", None)
    assert mentions_gradients(source) == gradient
    solution = judge_solution(
        loads(file, "p.json"), lambda trace: read_answers(source, trace), gradient=gradient
    )
    counts = solution.verdicts.counts
    assert counts["wrong"] == counts["missing"] == 0
