"""The workbook of a problem with equations of its own: its formulas, worked out by a spreadsheet of
these tests, give the numbers of the trace, and those of the gradient.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import attncli
from attncli.problem.loader import load
from tests.conformance.test_workbooks import book_of, values
from tests.page.test_live_own_steps import ODD

EXAMPLES = sorted((Path(__file__).parents[2] / "inputs" / "equations").glob("*.yaml"))
# A query that sees no key has a share of nothing in its gradient, of which no number follows.
ODD_ONES = [(name, gradient) for name in ODD for gradient in (False, True) if "blind" not in name]


def must_agree(file: Path, gradient: bool) -> None:
    trace = attncli.trace(load(str(file)), gradient=gradient)
    book = book_of(trace)
    for number, step in enumerate(trace.computed(), 1):
        found = values(book, number, step.shape)
        np.testing.assert_allclose(found, step.value, rtol=1e-9, atol=1e-9, err_msg=step.name)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example(file: Path, gradient: bool) -> None:
    must_agree(file, gradient)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "gradient"), [*ODD_ONES, (next(n for n in ODD if "blind" in n), False)]
)
def test_odd_ones(name: str, gradient: bool, tmp_path: Path) -> None:
    file = tmp_path / "odd.yaml"
    file.write_text(ODD[name], encoding="utf-8")
    must_agree(file, gradient)
