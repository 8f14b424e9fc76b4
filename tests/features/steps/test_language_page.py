"""attncli steps --language: every sign and function that an equation takes, with the range and the
gradient that its numbers have.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

import attncli
from attncli.cli.main import run
from attncli.equation.own_parser import KNOWN
from attncli.features.steps.language_page import Entry, language_page, rows
from attncli.page.document import Table, plain
from tests.cases import in_one_test

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "equations.md"
NUMBERS = (-40, -3, -1.7, -0.75, -0.2, 0.3, 1, 2.5, 40)
# How a difference quotient is taken, and how near it comes.
STEP, ERROR = 1e-5, 1e-4

BY_PYTHON = {
    "exp": math.exp,
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
    "erf": math.erf,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "phi": lambda x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi),
    "where": lambda condition, yes, no: yes if condition else no,
}


def value(expression: str) -> float:
    trace = attncli.trace(
        Q=[[1]], K=[[1]], V=[[1]], equations=[f"it = 0 * Q[0, 0] + {expression}"], result="it"
    )
    return float(trace["it"])


def at(row: Entry, x: float, y: float = 1.5) -> float:
    form = re.sub(r"\bx\b", f"({x!r})", row.form)
    return value(re.sub(r"\by\b", f"({y!r})", form))


def test_every_name_that_an_equation_may_call_is_on_the_page() -> None:
    tables = [block for block in language_page().blocks if isinstance(block, Table)]
    written = [plain(row[0]) for table in tables for row in table.rows]
    called = {form.partition("(")[0] for form in written if "(" in form}
    assert called == set(KNOWN)


def test_the_reference_has_an_example_of_each() -> None:
    page = REFERENCE.read_text(encoding="utf-8")
    examples = " ".join(re.findall(r'value\("(.*?)"\)', page)) + " ".join(
        re.findall(r"`noise\[.*?`", page)
    )
    assert [name for name in KNOWN if f"{name}(" not in examples] == []


ONE = [row for row in rows() if row.form == f"{row.name}(x)"]


@pytest.mark.parametrize("row", ONE, ids=lambda row: row.name)
def test_no_number_is_outside_of_its_range_and_all_of_it_is_reached(row: Entry) -> None:
    numbers = [x for x in NUMBERS if x > 0 or row.name not in ("log", "sqrt")]
    found = [at(row, x) for x in numbers]
    assert row.range is not None
    assert row.range.low <= min(found)
    assert max(found) <= row.range.high
    # One that goes on for ever is far from 0 somewhere.
    if row.range.low > -1e300:
        assert min(found) == pytest.approx(row.range.low, abs=0.8)
    else:
        assert min(found) < -1.1
    if row.range.high < 1e300:
        assert max(found) == pytest.approx(row.range.high, abs=0.3)
    else:
        assert max(found) > 1.1


@in_one_test("row", ONE, ids=lambda row: row.name)
@in_one_test("x", [0.3, 1.7])
def test_the_gradient_is_that_of_a_difference_quotient(row: Entry, x: float) -> None:
    slope = (at(row, x + STEP) - at(row, x - STEP)) / (2 * STEP)
    # The rules are in Python's syntax, so Python works them out by itself.
    printed = eval(row.derivatives["x"], {**BY_PYTHON, "x": x, "d": 1.0})
    assert printed == pytest.approx(slope, abs=ERROR)


def test_programs_get_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["steps", "--language", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["functions"]["exp"] == {
        "form": "exp(x)",
        "meaning": "e to the power of x",
        "range": [0.0, None],
        "gradient": {"x": "d * exp(x)"},
    }
    assert data["over_a_letter"]["mean"]["gradient"] == "d / n_t"
    assert data["letters"]["j"] == "a key"


@pytest.mark.parametrize("others", [["scores"], ["--all"], ["--mistakes"]])
def test_the_language_is_listed_alone(
    capsys: pytest.CaptureFixture[str], others: list[str]
) -> None:
    assert run(["steps", "--language", *others]) == 2
    printed, said = capsys.readouterr()
    assert printed == ""
    assert said.startswith("attncli: error: --language cannot be used with")


@pytest.mark.parametrize("form", ["table", "markdown", "html", "latex"])
def test_every_format_has_every_form(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["steps", "--language", "--format", form]) == 0
    page = capsys.readouterr().out
    assert [name for name in KNOWN if name not in page] == []
