"""No worked line is false as it is printed: each is read from the page and worked again from its
own numbers alone.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from attncli.errors import AttncliError
from attncli.features.gradient.page import gradient_document
from attncli.page.document import Document
from attncli.page.view import View
from attncli.problem.loader import loads
from attncli.render import Style, render
from attncli.tracing import run
from tests.cases import in_one_test
from tests.conformance.drawn import problem_files
from tests.conformance.printed_lines import fault_of, lines_of

choose = st.sampled_from
PAGES = ("table", "markdown", "latex")
FEW = settings.get_profile("few")


def page_of(problem: dict[str, Any], view: View, rounding: Any, gradient: bool) -> Document | None:
    """The derivation of a problem or of its gradients; None where it has none, as with exact
    numbers of rope.
    """
    from attncli.page.derivation import derivation

    try:
        trace = run(
            loads(json.dumps(problem).encode(), "p.json"),
            rounding=rounding,
            precision=view.precision,
            gradient=gradient,
        )
        return gradient_document(trace, view, (), None) if gradient else derivation(trace, view)
    except AttncliError:
        return None


# fewer than few, since each has hundreds of lines; and the line says it, however large the problem
@pytest.mark.long
@settings(FEW, max_examples=FEW.max_examples // 2, phases=[Phase.explicit, Phase.generate])
@given(
    problem=problem_files(),
    precision=choose([0, 1, 2, 3, 5, 8, 12]),
    rounding=choose(["shown", "shown", "paper", "exact"]),
    detail=choose(["rows", "cells"]),
    gradient=st.booleans(),
)
def test_no_printed_line_is_false(
    problem: dict[str, Any], precision: int, rounding: str, detail: str, gradient: bool
) -> None:
    view = View(detail=detail, precision=precision)
    page = page_of(problem, view, rounding, gradient)
    if page is None:
        return
    steps = page.data()["steps"].values()
    lines = {
        "json": [(line["cell"], line["text"]) for step in steps for line in step.get("worked", ())]
    }
    for format in PAGES:
        found = lines_of(render(page, format, Style()), format)
        lines[format] = [(label, line) for label, line in found if re.search("[=≈]| hidden", line)]
    labels = [[label.replace("\\", "") for label, _ in lines[format]] for format in PAGES]
    assert labels[0] == labels[1] == labels[2]
    for format, found in lines.items():
        for label, line in found:
            fault = fault_of(line, of_doubles=rounding == "shown")
            assert not fault, f"{format}: {label}: {line}: {fault}"


@in_one_test(
    ("line", "fault"),
    [
        ("2·2 + 0·1 + 1·1 = 5", None),
        ("5 / √3 ≈ 2.887", None),
        ("√2·√2 = 2", None),
        ("50·tanh(100 / 50) = 50·tanh(2) ≈ 50·0.964 ≈ 48.201", None),
        ("j ≤ i: 1 ≤ 0 is false, so hidden: -∞", None),
        ("e^-∞ = 0", None),
        ("2·2 + 0·1 + 1·1 = 6", "= between"),
        ("√2·√2 ≈ 2", "≈ between equals"),
        ("0.5 + 0.5 ≈ 1.3", "≈ between"),
        ("0 / 0 ≈ 1", "has no value"),
        ("j ≤ i: 1 ≤ 0 is true, so visible: 0", "is true"),
        ("i = j or j ≤ i: 1 = 0 or 1 ≤ 2 is true, so visible: 0", None),
        ("i = j or j ≤ i: 1 = 0 or 1 ≤ 0 is true, so visible: 0", "is true"),
        ("i = j or (j ≥ i and j ≤ i): 1 = 0 or (2 ≥ 1 and 2 ≤ 1) is false, so hidden: -∞", None),
        (
            "(i = j or j ≤ i) and j < 9: (1 = 0 or 2 ≤ 1) and 2 < 9 is true, so visible: 0",
            "is true",
        ),
        ("i = j and j ≤ i: 1 = 0 and 1 ≤ 2 is true, so visible: 0", "is true"),
        ("1.5^66.46804 ≈ 506337855943.61180", "has digits that no float64 has"),
    ],
)
def test_the_judge_knows_what_is_false(line: str, fault: str | None) -> None:
    found = fault_of(line, of_doubles=True)
    assert found is None if fault is None else fault in str(found)
