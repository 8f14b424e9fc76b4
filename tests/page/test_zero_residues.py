"""What is left where terms cancel is printed as the 0 it is; what is small, but not nothing, as
0.000.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attncli.page.printer import MOST_NUMBERS_WITH_RESIDUES, printer_for, zero_residues
from attncli.page.view import View
from attncli.problem.loader import load, loads
from attncli.tracing import run
from attncli.tracing.model import Trace

LOVE = str(Path(__file__).parents[2] / "inputs" / "i_love_ai.yaml")


def traced(text: str) -> Trace:
    return run(loads(text.encode(), "problem.yaml"))


def test_scores_that_cancel() -> None:
    """0.1·3 + 0.3·(-1) is 5.6e-17 in floats; 1e-17 that is given stays what it is."""
    trace = traced("Q: [[0.1, 0.3]]\nK: [[3, -1], [1e-16, 0]]\nV: [[1], [2]]\n")
    assert 0 < abs(trace["scores"][0, 0]) < 1e-15
    printer = printer_for(trace, View())
    assert [printer.text(printer.trace.steps["scores"], (0, key)) for key in (0, 1)] == [
        "0",
        "0.000",
    ]
    assert printer.trace is not trace
    assert trace["scores"][0, 0] != 0  # for programs, what was computed


def test_gradients_that_cancel() -> None:
    """All keys have the same second number, and a row of dS sums to 0: dQ is 0 there, since sum_j
    dS[i, j]·1 is.
    """
    trace = run(load(LOVE), gradient=True)
    assert np.abs(trace["d_Q"][:, 1:]).max() < 1e-15
    printer = printer_for(trace, View())
    texts = [printer.text(printer.trace.steps["d_Q"], place) for place in np.ndindex(3, 3)]
    assert [text == "0" for text in texts] == [False, True, True] * 3


@pytest.mark.parametrize("decimals", [3, 6, 15])
def test_more_decimals_show_more(decimals: int) -> None:
    trace = traced("Q: [[1]]\nK: [[0], [-40]]\nV: [[1], [2]]\n")
    weight = float(trace["weights"][0, 1])
    assert weight == pytest.approx(np.exp(-40), rel=1e-12)
    assert zero_residues(trace, decimals)["weights"][0, 1] == weight


def test_a_large_trace_is_left_alone() -> None:
    tokens = int(MOST_NUMBERS_WITH_RESIDUES**0.5) + 1
    ones = ", ".join(["[0.1, 0.3]"] * tokens)
    trace = traced(f"Q: [{ones}]\nK: [{', '.join(['[3, -1]'] * tokens)}]\nV: [{ones}]\n")
    assert zero_residues(trace, 3) is trace
