"""A page of some steps is the same, letter for letter, whether the others were kept or not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from attncli.page import printer
from attncli.page.derivation import derivation
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.render import render
from attncli.tracing import chunked, run

INPUTS = sorted((Path(__file__).parents[2] / "inputs").glob("*.yaml"))


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked, "MANY_WEIGHTS", 0)
    monkeypatch.setattr(
        printer, "MOST_NUMBERS_WITH_RESIDUES", 0
    )  # as large as traces are of which not all is kept


@pytest.mark.sampled(8)
@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    "names", [("output",), ("weights",), ("scores", "A", "O"), ("row_sum",)], ids=",".join
)
def test_pages_of_some_steps(path: Path, names: tuple[str, ...]) -> None:
    problem = load(str(path))
    whole, view = run(problem), View(detail="brief", steps=names)
    some = run(problem, keep=view.steps_needed(numbers_alone=False))
    for format in ("table", "markdown", "latex", "html"):
        assert render(derivation(some, view), format) == render(derivation(whole, view), format)
    some = run(problem, keep=view.steps_needed(numbers_alone=True))
    ours, theirs = (json.loads(render(derivation(trace, view), "json")) for trace in (some, whole))
    assert round_off(ours) == round_off(theirs)


def test_some_of_them_are_not_kept() -> None:
    problem = load(str(INPUTS[0]))
    assert not run(problem, keep=("output",)).steps["weights"].kept
    with pytest.raises(KeyError, match="was not kept"):
        run(problem, keep=("output",))["weights"]


@pytest.mark.parametrize(
    "view",
    [
        View(),
        View(steps=("output",)),
        View(detail="brief"),
        View(detail="brief", steps=("output",), head=0),
    ],
)
def test_pages_that_show_more_need_all(view: View) -> None:
    assert view.steps_needed(numbers_alone=False) is None


def test_the_output_needs_no_mask_and_the_weights_do() -> None:
    assert View(detail="brief", steps=("O",)).steps_needed(numbers_alone=False) == {"output"}
    assert View(detail="brief", steps=("A",)).steps_needed(numbers_alone=False) == {
        "weights",
        "mask",
    }
    assert View(detail="brief", steps=("A",)).steps_needed(numbers_alone=True) == {
        "weights",
        "mask",
    }
    assert View(detail="brief", steps=("S",)).steps_needed(numbers_alone=True) == {"scores"}


def round_off(data: Any) -> Any:
    """The data with numbers as they are apart from the last bits, in which ways of work may
    differ.
    """
    if isinstance(data, dict):
        return {key: round_off(value) for key, value in data.items()}
    if isinstance(data, list):
        return [round_off(value) for value in data]
    return float(f"{data:.12g}") if isinstance(data, float) else data
