"""Tokens, features and heads that are added to a page and taken away: what the page then shows is
what attncli makes of the file that it saves.
"""

from __future__ import annotations

import json
import random
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from attncli.page.live.data import live_data
from attncli.problem.loader import load, loads
from attncli.problem.model import Problem
from attncli.tracing import run
from tests.page.test_live import asked, known_digits, must_agree, question

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "inputs").glob("*.[jy]*ml")) + sorted(
    (ROOT / "inputs" / "equations").glob("*.yaml")
)
NUMBERS = ("0", "1", "-2", "1/3", "0.5", "sqrt(2)", "3", "-0.75")
WORDS = ("new", "<b>", "two words", "שלום", '"quoted"', "tab\tand\u200bmore")
pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")


@cache
def example(file: Path) -> tuple[Problem, dict[str, Any]]:
    problem = load(str(file))
    return problem, json.loads(json.dumps(live_data(problem, 3), allow_nan=False))


def drawn_action(chosen: random.Random, data: dict[str, Any]) -> list[Any]:
    """One thing that a reader does."""
    kind = chosen.choice(["add", "add", "remove", "edit", "edit", "rename"])
    share = chosen.random()
    if kind in ("add", "remove"):
        return [kind, chosen.randrange(len(data["sizes"]["dimensions"])), share]
    if kind == "edit":
        return [kind, chosen.choice(data["given"]), share, chosen.choice(NUMBERS)]
    return [kind, data["tokens"]["tokens"], share, chosen.choice(WORDS)]


def drawn_case(seed: int) -> dict[str, Any]:
    """An example in one of its settings, and what a reader does."""
    chosen = random.Random(seed)
    _, data = example(chosen.choice(EXAMPLES))
    # A scale that was slid to is written by the page.
    settings = [each for each in data["settings"] if isinstance(each["scaled"], bool)]
    setting = chosen.choice(settings)
    actions = [drawn_action(chosen, data) for _ in range(chosen.randint(1, 8))]
    return {
        "data": data,
        "mask": setting["mask"],
        "scaled": setting["scaled"],
        "actions": actions,
    }


@pytest.mark.parametrize(
    "seeds",
    [range(40), pytest.param(range(40, 800), marks=pytest.mark.slow)],
    ids=["few", "many"],
)
def test_a_page_of_other_sizes_has_the_numbers_and_lines_of_the_file_that_it_saves(
    seeds: range,
) -> None:
    cases = [drawn_case(seed) for seed in seeds]
    saved = asked(*({"ask": "saved", **case} for case in cases))
    traces, asking, expected = [], [], []
    for case, found in zip(cases, saved, strict=True):
        trace = run(loads(found["text"].encode(), "problem.yaml"))
        one, lines = question(case["data"], trace)
        traces.append(trace)
        asking.append({**one, **case, "ask": "trace"})
        expected.append(lines)
    answers = asked(*asking)
    moved = 0
    for seed, trace, found, lines, one in zip(seeds, traces, answers, expected, saved, strict=True):
        try:
            if must_agree(trace, found, digits=15):
                for worked, line in zip(found["worked"], lines, strict=True):
                    # A mask that a reader clicked has its own name beside that of the problem.
                    named = [text.replace("keep_own", "keep") for text in worked]
                    assert known_digits(named) == known_digits(line)
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise
        moved += "" in one["refused"]
    assert moved > len(seeds) / 2


def test_slopes_that_a_reader_has_changed_are_in_the_file() -> None:
    _, data = example(ROOT / "inputs" / "alibi.yaml")
    action = ["edit", "slopes", 0, "1/3"]
    (saved,) = asked(
        {"ask": "saved", "data": data, "mask": "given", "scaled": True, "actions": [action]}
    )
    assert "position: {alibi: {slopes: [1/3, 1/4]}}\n" in saved["text"]


@pytest.mark.slow
def test_each_number_that_can_be_changed_has_a_place_in_the_file() -> None:
    for file in EXAMPLES:
        _, data = example(file)
        texts = [data["yaml"], *(setting["yaml"] for setting in data["settings"])]
        whole = "".join(texts)
        missing = [name for name in data["given"] if f"⟨{name}" not in whole]
        assert not missing, file.name
