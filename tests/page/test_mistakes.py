"""The list of mistakes: each with equations that can be read back, in every format."""

from __future__ import annotations

import json

import pytest

from attncli.cli import run
from attncli.equation.parse import parse_equation
from attncli.page.mistakes import changed_steps
from attncli.study.mistakes import MISTAKES


def test_every_mistake_can_be_made_in_some_problem() -> None:
    assert [name for name, steps in changed_steps().items() if not steps] == []


def test_equations_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """Each is one of the language; where numbers are only rounded there is none."""
    assert run(["steps", "--mistakes", "--format", "json"]) == 0
    mistakes = json.loads(capsys.readouterr().out)["mistakes"]
    assert list(mistakes) == [mistake.name for mistake in MISTAKES]
    assert mistakes["the scores were divided by d_k, not by its root"] == {
        "scaled": "scaled[i, j] = scores[i, j] / d_k"
    }
    assert mistakes["the scores were rounded to one decimal first"] == {"scores": None}
    for equations in mistakes.values():
        for step, equation in equations.items():
            assert equation is None or parse_equation(equation).target.name == step


def test_a_row_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["steps", "--mistakes"]) == 0
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "the softmax was taken down the columns weights A[i, j] = E[i, j] / (Σ_p E[p, j])" in rows
    assert "the weights were rounded to one decimal first weights its own numbers, rounded" in rows


def test_mistakes_of_one_step_are_not_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["steps", "scores", "--mistakes"]) == 2
    assert "--mistakes does not go with a step" in capsys.readouterr().err
