"""The shape of the house: imports go one way, every rule has its use, and no two are called alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

from attncli.attention.indices import INDICES
from attncli.attention.rules import COMPUTED, GIVEN, RULES
from attncli.equation.parse import parse_equation, parse_expression
from attncli.page.document import text
from attncli.problem.model import GIVEN as KEYS
from attncli.problem.model import Causal, Problem
from attncli.tracing import run

ROOT = Path(__file__).parents[1]
MOST_LINES = 200


def test_imports_go_one_way(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


def test_files_stay_short() -> None:
    long = {
        path.relative_to(ROOT): count
        for path in ROOT.joinpath("attncli").rglob("*.py")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    }
    assert long == {}


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        path.relative_to(ROOT)
        for path in ROOT.joinpath("attncli").rglob("*.py")
        if not path.read_text(encoding="utf-8").lstrip("r").startswith('"""')
    ]
    assert silent == []


def test_no_two_steps_share_a_name_or_a_letter() -> None:
    for rules in (GIVEN, COMPUTED):
        assert max(Counter(rule.name for rule in rules).values()) == 1
    assert max(Counter(rule.symbol for rule in RULES.values()).values()) == 1


def test_every_key_of_a_problem_that_holds_numbers_has_a_rule() -> None:
    assert {rule.name for rule in GIVEN} == set(KEYS)


@pytest.mark.parametrize("rule", [*GIVEN, *COMPUTED], ids=lambda rule: f"{rule.name}-{'given' if rule.given else ''}")
def test_every_rule_can_be_read(rule: Any) -> None:
    assert rule.target.name == rule.name
    assert set(rule.target.indices) <= set(INDICES)
    assert rule.meaning
    assert all(text(prose) for prose in (rule.meaning, rule.why) if prose)
    assert rule.given or parse_equation(rule.source) == rule.equation
    assert rule.matrix_form is None or parse_expression(rule.matrix_source) == rule.matrix_form


def test_every_step_can_be_reached(problem: Callable[..., Problem]) -> None:
    square, row = np.ones((2, 2)), np.ones(2)
    projected = {f"{part}_{name}": square if part == "W" else row for part in "Wb" for name in "QKV"}
    problems = [
        problem(X=square, context=square, **projected, softcap=1.0, mask=(Causal(),), scale=5000.0),
        problem(Q=square * 30, K=square * 30, V=square, mask=(Causal(),), scale="none"),
        problem(Q=square, K=square, V=square, score="multiplicative", W_a=square),
        problem(Q=square, K=square, V=square, score="additive", W_1=square, W_2=square, v=row),
    ]
    traces = [run(each) for each in problems]
    reached = {(name, step.rule.given) for trace in traces for name, step in trace.steps.items()}
    assert reached == {(rule.name, rule.given) for rule in (*GIVEN, *COMPUTED)}
