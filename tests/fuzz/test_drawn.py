"""Drawn problems of every kind, asked for in every way; and the same with a part of them replaced
by something odd.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conformance.drawn import problem_files
from tests.tools.fuzz.ends import check_end, end_of

choose = st.sampled_from
SHARED = [HealthCheck.function_scoped_fixture]
FEW = settings(settings.get_profile("few"), suppress_health_check=SHARED)
ODD = [
    None,
    True,
    False,
    0,
    -1,
    2,
    2**53 + 1,
    10**30,
    1.5,
    -0.0,
    1e308,
    5e-324,
    "",
    "x",
    "1",
    "1/3",
    "1/0",
    "-inf",
    "sqrt(2)",
    "sqrt(-1)",
    "none",
    "default",
    "causal",
    "\u202e",
    "\0",
    [],
    {},
    [[]],
    [[[]]],
    [[1]],
    [[1, 2], [3]],
    [None],
    {"a": 1},
    {"file": "x.npz"},
    {"file": "../x.npz"},
    {"file": 1},
    {"random": [2, 2]},
    {"random": [10**6, 10**6]},
    {"random": [0]},
    {"causal": True},
    {"window": [10**20, -2]},
    {"lengths": -1},
    {"padding": [[0]]},
    {"rope": {"theta": 0}},
    {"alibi": {}},
    {"alibi": {"slopes": [1e308]}},
    {"K": [[1, 2]], "V": 3},
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@st.composite
def asked(draw: st.DrawFn) -> list[str]:
    """Options of compute that fit every problem."""
    words = {
        "--format": ["table", "markdown", "latex", "html", "json"],
        "--detail": ["brief", "rows", "cells"],
        "--precision": ["0", "3", "12"],
        "--dtype": ["float16", "bfloat16", "float32"],
        "--steps": ["output", "weights,scores"],
    }
    chosen = draw(st.sets(choose(list(words))))
    found = [word for name in sorted(chosen) for word in (name, draw(choose(words[name])))]
    paper = [] if "--dtype" in chosen else draw(choose([[], ["--rounding", "paper"]]))
    return found + paper


@st.composite
def odd_problems(draw: st.DrawFn) -> dict[str, Any]:
    """A problem with one to three of its values, at any depth, lost, doubled or replaced."""
    problem = json.loads(json.dumps(draw(problem_files())))
    for _ in range(draw(st.integers(1, 3))):
        holder: Any = problem
        key: Any = draw(choose(sorted(problem))) if problem else "X"
        while isinstance(
            holder.get(key) if isinstance(holder, dict) else holder[key], dict | list
        ) and draw(st.booleans()):
            below = holder[key]
            if not below:
                break
            holder, key = (
                below,
                draw(choose(sorted(below) if isinstance(below, dict) else range(len(below)))),
            )
        match draw(choose(["replaced", "replaced", "lost", "wrapped", "doubled"])):
            case "replaced":
                holder[key] = draw(choose(ODD))
            case "lost":
                del holder[key]
            case "wrapped":
                holder[key] = [holder[key]]
            case _ if isinstance(holder, list):
                holder.insert(key, holder[key])
            case _:
                holder[key] = [holder[key], holder[key]]
        if not problem:
            break
    return problem


@pytest.mark.long
@FEW
@given(problem=problem_files() | problem_files(mixed=True), options=asked())
def test_every_problem_is_worked_out(problem: dict[str, Any], options: list[str]) -> None:
    Path("p.json").write_text(json.dumps(problem), encoding="utf-8")
    check_end(end_of(["compute", "p.json", *options]), (0,))


@FEW
@given(problem=odd_problems(), options=asked())
def test_odd_ones_are_worked_out_or_refused(problem: dict[str, Any], options: list[str]) -> None:
    Path("p.json").write_text(json.dumps(problem), encoding="utf-8")
    end = check_end(end_of(["compute", "p.json", *options]), (0, 3, 4))
    assert end.code != 4 or '{"file":' in json.dumps(problem)


@FEW
@given(
    problem=problem_files(),
    command=choose([("gradient",), ("cost",), ("compare", "--dtypes"), ("worksheet",)]),
)
def test_every_command(problem: dict[str, Any], command: tuple[str, ...]) -> None:
    Path("p.json").write_text(json.dumps(problem), encoding="utf-8")
    check_end(end_of([command[0], "p.json", *command[1:]]), (0, 1))
