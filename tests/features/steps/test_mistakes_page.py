"""The list of mistakes: each with equations that can be read back, in every format."""

from __future__ import annotations

import json

import pytest

from attncli.cli.main import run
from attncli.equation.parser import parse_equation
from attncli.features.steps import mistakes_page
from attncli.features.steps.mistakes_page import changed_steps
from attncli.mistakes.catalogue import known_mistakes
from attncli.mistakes.model import Mistake


@pytest.mark.long
def test_every_mistake_can_be_made_in_some_problem() -> None:
    assert [name for name, steps in changed_steps().items() if not steps] == []


@pytest.mark.long
def test_a_mistake_for_which_there_is_no_problem_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = Mistake("upside-down", "the numbers were read upside down", lambda trace: {})
    monkeypatch.setattr(mistakes_page, "known_mistakes", lambda: (nowhere,))
    with pytest.raises(LookupError, match=r"_SETTINGS in .*: the numbers were read upside down"):
        changed_steps()


@pytest.mark.long
def test_equations_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """Each is one of the language; where numbers are only rounded there is none."""
    assert run(["steps", "--mistakes", "--format", "json"]) == 0
    mistakes = json.loads(capsys.readouterr().out)["mistakes"]
    assert list(mistakes) == [mistake.name for mistake in known_mistakes()]
    assert mistakes["the scores were divided by d_k, not by its root"] == {
        "scaled": "scaled[i, j] = scores[i, j] / d_k"
    }
    assert mistakes["the scores were rounded to one decimal first"] == {"scores": None}
    for equations in mistakes.values():
        for step, equation in equations.items():
            assert equation is None or parse_equation(equation).target.name == step


@pytest.mark.long
def test_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["steps", "--mistakes"]) == 0
    page = capsys.readouterr().out
    assert (
        "  the softmax was taken down the columns:\n\n"
        "    r[i] = Σ_p E[p, i]     A[i, j] = E[i, j] / (Σ_p E[p, j])\n" in page
    )
    assert "  the weights were rounded to one decimal first.\n" in page
    assert (
        page.index("── Scaled scores (scaled)")
        < page.index("the scores were not scaled")
        < page.index("── Mask")
    )


@pytest.mark.long
def test_the_mistakes_in_one_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["steps", "A", "--mistakes"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("Mistakes in weights\n")
    assert "the scale was applied after the softmax:" in page
    assert "the scores were not scaled" not in page
    assert run(["steps", "row_max", "--mistakes"]) == 0
    assert "attncli check knows no mistake that changes this step." in capsys.readouterr().out
    assert run(["steps", "wieghts", "--mistakes"]) == 2
    assert "did you mean weights?" in capsys.readouterr().err
