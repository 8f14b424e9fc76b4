"""The reference leaves nothing out: every key, option, exit code, step, field and example stands on
its page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, get_args

import numpy as np
import pytest
from typer.models import OptionInfo

from attncli import features
from attncli.attention.losses import LOSS_RULES
from attncli.attention.registry import GIVEN
from attncli.attention.steps import COMPUTED
from attncli.attention.variants import variants_of
from attncli.cli import options
from attncli.cli.main import run
from attncli.equation.notation import PYTHON
from attncli.equation.printer import write
from attncli.equation.rule import Rule
from attncli.errors import Exit
from attncli.features.schema.command import schemas
from attncli.features.steps.mistakes_page import changed_steps
from attncli.features.steps.page import gradient_rules
from attncli.mistakes.catalogue import known_mistakes
from attncli.problem.keys import KEYS
from attncli.problem.model import Problem
from attncli.problem.parts.conventions import CONVENTIONS, Convention
from attncli.problem.parts.masks import forms
from attncli.problem.parts.masks.causal import Causal
from attncli.render import FORMATS
from attncli.tracing import run as run_trace
from attncli.tracing.serialization import formula
from tests.cases import in_one_test

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
SCHEMAS = {name: json.loads(file.read_text(encoding="utf-8")) for name, file in schemas().items()}
COMMANDS = [module.name for module in iter_modules(features.__path__)]


def text(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def section(page: str, title: str) -> str:
    """What stands below a heading of level 2, up to the next one."""
    return page.split(f"\n## {title}\n")[1].split("\n## ")[0]


def rows(page: str) -> dict[str, str]:
    """The rows of all tables, by the word in their first cell that stands in a code span or
    alone.
    """
    return {row[1]: row[0] for row in re.finditer(r"^\| `?([^|`]+?)`? \|.*$", page, re.MULTILINE)}


@in_one_test("name", SCHEMAS)
def test_the_reference_leads_to_each_schema_of_the_program(name: str) -> None:
    inside = schemas()[name].relative_to(ROOT).as_posix()
    pages = REFERENCE.glob("*.md")
    assert any(f"(../../{inside})" in page.read_text(encoding="utf-8") for page in pages)


def test_keys_of_a_problem() -> None:
    keys = rows(text("input.md"))
    assert [key for key in KEYS if key not in keys] == []
    assert [key for key in SCHEMAS["problem"]["properties"] if key not in keys] == []


def test_forms_of_a_mask() -> None:
    masks = section(text("input.md"), "Masks")
    assert [form for form in forms() if f"{form}:" not in masks] == []


@in_one_test("convention", CONVENTIONS.values(), ids=lambda convention: convention.name)
def test_conventions(convention: Convention) -> None:
    row = rows(section(text("conventions.md"), "Masks: `--as`"))[convention.name]
    name, call, true, one, numbers, corner, source = (
        cell.strip() for cell in row.strip("| ").split("|")
    )
    assert (name, call) == (f"`{convention.name}`", f"`{convention.call}`")
    assert [true, one.split(" (")[0], corner.split(" (")[0]] == [
        convention.true,
        convention.one,
        convention.corner,
    ]
    assert numbers.split(" (")[0] == ("added" if convention.adds else "refused")
    assert convention.source in source


def test_examples() -> None:
    examples = text("input.md")
    assert [
        file.name for file in (ROOT / "inputs").iterdir() if f"inputs/{file.name}" not in examples
    ] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_options_of_a_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    help = capsys.readouterr().out.partition("\n\n")[2]
    options = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", help, re.MULTILINE)
    described = section(text("command-line.md"), command)
    assert "--help" in options
    assert [
        option for option in options if option != "--help" and f"`{option}" not in described
    ] == []


def test_words_an_option_takes() -> None:
    described = text("command-line.md")
    declared = [
        each
        for option in vars(options).values()
        for each in get_args(option)
        if isinstance(each, OptionInfo)
    ]
    words = [
        word for each in declared if "|" in (each.metavar or "") for word in each.metavar.split("|")
    ]
    assert {"table", "gpu", "torch"} <= {*words}
    assert [word for word in words if f"`{word}`" not in described] == []


def test_formats_and_their_suffixes() -> None:
    described = rows(text("formats.md"))
    for name, format in FORMATS.items():
        assert all(f"`{suffix}`" in described[name] for suffix in format.suffixes)


def test_exit_codes() -> None:
    codes = rows(text("exit-codes-and-errors.md"))
    assert [int(code) for code in Exit if str(int(code)) not in codes] == []


def _equation(rule: Rule) -> str:
    return rule.source or write(rule.target, PYTHON)


@in_one_test("rule", [*GIVEN, *COMPUTED], ids=_equation)
def test_steps(rule: Rule) -> None:
    described = section(text("steps.md"), "What is given" if rule.given else "What is worked out")
    row = rows(described)[rule.name]
    # its equation depends on the mask; the page has a table of its own for it
    if rule.name == "mask":
        return
    expected = [rule.symbol, _equation(rule)] + ([formula(rule)] if rule.matrix_form else [])
    assert [part for part in expected if f"`{part}`" not in row] == []
    assert rule.when in row
    assert not rule.given or rule.meaning.replace("`", "").rstrip(".") in row.replace("`", "")


@in_one_test("rule", LOSS_RULES.values(), ids=lambda rule: rule.name)
def test_steps_of_the_loss(rule: Rule) -> None:
    row = rows(section(text("steps.md"), "The loss"))[rule.name]
    expected = [rule.symbol, _equation(rule)] + ([formula(rule)] if rule.matrix_form else [])
    assert [part for part in expected if f"`{part}`" not in row] == []
    assert rule.when in row


@in_one_test("rule", gradient_rules().values(), ids=lambda rule: rule.name)
def test_steps_of_the_backward_pass(rule: Rule) -> None:
    row = rows(section(text("steps.md"), "The backward pass"))[rule.name]
    expected = [rule.symbol, _equation(rule)] + ([formula(rule)] if rule.matrix_form else [])
    assert [part for part in expected if f"`{part}`" not in row] == []


OTHERS = {
    f"{rule.name}, {when}": other
    for rule in COMPUTED
    for when, other in variants_of(rule.name).items()
}


@in_one_test("form", [form for form in OTHERS if not form.startswith("mask,")])
def test_variants_of_steps(form: str) -> None:
    page, rule = (
        section(text("steps.md"), "What is given" if OTHERS[form].given else "Variants"),
        OTHERS[form],
    )
    assert f"`{_equation(rule)}`" in page
    assert rule.matrix_form is None or f"`{formula(rule)}`" in page


def test_equations_of_heads_and_batches(problem: Callable[..., Problem]) -> None:
    """The page's table and its sentence on groups, for a batch of two heads and for four heads on
    two.
    """
    page = section(text("steps.md"), "Heads and batches")
    weights = {f"W_{name}": np.ones((2, 4, 3)) for name in "QKV"}
    batch = run_trace(problem(X=np.ones((2, 3, 4)), **weights, mask=(Causal(),), joined=True))
    one = run_trace(problem(X=np.ones((3, 4)), **{f"W_{name}": np.ones((4, 3)) for name in "QKV"}))
    for name in ("Q", "scores", "masked", "concat"):
        assert f"`{batch.steps[name].rule.source}` |" in page
    assert all(f"`{one.steps[name].rule.source}` |" in page for name in ("Q", "scores"))
    grouped = run_trace(problem(Q=np.ones((4, 3, 2)), K=np.ones((2, 3, 2)), V=np.ones((2, 3, 2))))
    assert f"`{grouped.steps['scores'].rule.source}`" in page


@pytest.mark.parametrize("name", ["trace", "comparison", "recording", "against"])
def test_fields_of_the_json(name: str) -> None:
    described = text("json.md")
    assert [field for field in _fields(SCHEMAS[name]) if f"`{field}`" not in described] == []


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    for name, value in schema.get("properties", {}).items():
        yield name
        yield from _fields(value)
    for definition in schema.get("definitions", {}).values():
        yield from _fields(definition)
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            yield from _fields(schema[inner])


@pytest.mark.long
def test_every_mistake_stands_in_the_reference_with_its_id_and_the_steps_it_changes() -> None:
    rows = re.findall(r"^\| (.+?) \| `([^`]+)` \| (`.+`) \|$", text("mistakes.md"), re.MULTILINE)
    steps = changed_steps()
    expected = []
    for mistake in known_mistakes():
        changes = ", ".join(f"`{step.name}`" for step in steps[mistake.name])
        expected.append((mistake.name, mistake.id, changes))
    assert rows == expected
