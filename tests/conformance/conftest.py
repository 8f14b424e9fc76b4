"""Runs one problem file by the program and by the reference."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.problem.loader import loads
from attncli.problem.model import Problem
from tests.reference import in_arrays

Solve = Callable[[dict[str, Any]], dict[str, np.ndarray]]


def read_problem(problem: dict[str, Any]) -> Problem:
    """A problem file, read as JSON."""
    return loads(json.dumps(problem).encode(), "p.json")


def trace_of(problem: dict[str, Any], **choices: Any) -> attncli.Trace:
    """The program's trace of a problem file, read as JSON."""
    return attncli.trace(read_problem(problem), **choices)


def in_full(step: dict[str, Any], joined: bool) -> np.ndarray:
    """A step of a trace's JSON with all axes: batch × head × …, or batch × … once the heads are
    joined.
    """
    value, axes = (
        np.array(step["value"], dtype=object).astype(float).reshape(step["shape"]),
        list(step["axes"]),
    )
    if not joined and not {"head", "kv_head"} & {*axes}:
        place = axes.index("batch") + 1 if "batch" in axes else 0
        value = np.expand_dims(value, place)
    return value if "batch" in axes else value[None]


def solved(problem: dict[str, Any], **choices: Any) -> dict[str, np.ndarray]:
    """Every step the program shows, in full."""
    steps = trace_of(problem, **choices).to_dict()["steps"]
    joined = {"concat", "output"} if "heads_output" in steps else {"concat"}
    return {name: in_full(step, name in joined) for name, step in steps.items()}


@pytest.fixture(scope="session")
def trace() -> Callable[..., attncli.Trace]:
    """`trace(problem, …)` is the program's trace of a problem file."""
    return trace_of


@pytest.fixture(scope="session")
def full() -> Callable[[dict[str, Any], bool], np.ndarray]:
    """`full(step, joined)` is a step of JSON with all axes."""
    return in_full


@pytest.fixture(scope="session")
def read() -> Callable[[dict[str, Any]], Problem]:
    """`read(problem)` is the problem that the program reads in a file."""
    return read_problem


@pytest.fixture(scope="session")
def program() -> Callable[..., dict[str, np.ndarray]]:
    """`program(problem)["weights"]` is batch × head × query × key."""
    return solved


@pytest.fixture(scope="session", params=["reference", "program"])
def solve(request: pytest.FixtureRequest) -> Solve:
    """The reference and the program in turn: both must agree with an outside oracle."""
    return solved if request.param == "program" else in_arrays.attention
