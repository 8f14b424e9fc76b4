"""Values of Python that no argument can be: whatever is given, the error is in attncli's own
words.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.problem.python_values import ProblemKeys

KEYS: dict[str, Any] = {"Q": [[1, 0], [0, 1]], "K": [[1, 0], [0, 1]], "V": [[1], [2]]}
PROBLEM = attncli.problem(**KEYS)
ANSWERS = {"weights": [[0.7, 0.3], [0.3, 0.7]]}
JOB = ("Ada", PROBLEM, ANSWERS)
VALUES: list[Any] = [
    None,
    True,
    0,
    1,
    -1,
    1.5,
    float("nan"),
    float("inf"),
    10**400,
    10**5000,
    1j,
    Fraction(1, 3),
    Decimal("sNaN"),
    "",
    "x",
    "\0",
    "\ud800",
    "weights",
    "output,",
    b"x",
    bytearray(b"a"),
    memoryview(b"a"),
    [],
    [[]],
    ["x"],
    [["weights"]],
    [None],
    (),
    ({},),
    set(),
    {1},
    {},
    {"x": 1},
    {1: 2},
    {"Q": None},
    np.zeros(3),
    np.array("x"),
    np.array([["weights"]]),
    np.array([None], dtype=object),
    np.ma.masked,
    np.int64(3),
    np.datetime64("2020-01-01"),
    object(),
    object,
    len,
    range(3),
    slice(0, 1),
    ...,
    Path("nothing"),
    Path(),
]
Use = Callable[[Any], object]


def uses() -> dict[str, Use]:
    """What is called with each of the values, by the names of the function and of the argument."""
    found: dict[str, Use] = {
        "trace problem": attncli.trace,
        "check problem": lambda value: attncli.check(value, ANSWERS),
        "check answers": lambda value: attncli.check(PROBLEM, value),
        "check cells": lambda value: attncli.check(PROBLEM, {"weights": value}),
        "check_many jobs": attncli.check_many,
        "check_many job": lambda value: attncli.check_many([value]),
        "check_many student": lambda value: attncli.check_many([(value, *JOB[1:])]),
        "check_many problem": lambda value: attncli.check_many([("Ada", value, ANSWERS)]),
        "check_many answers": lambda value: attncli.check_many([("Ada", PROBLEM, value)]),
        "check_many executor": lambda value: attncli.check_many([JOB], value),
        "problem convention": lambda value: attncli.problem(convention=value, **KEYS),
        "load source": attncli.load,
        "load convention": lambda value: attncli.load(KEYS, convention=value),
        "save problem": lambda value: attncli.save(value, "problem.yaml"),
        "save path": lambda value: attncli.save(PROBLEM, value),
    }
    for name in ("device", "dtype", "rounding", "precision", "gradient", "steps"):
        found[f"trace {name}"] = lambda value, name=name: attncli.trace(PROBLEM, **{name: value})
    for name in ("lenient", "steps", "marks"):
        found[f"check {name}"] = lambda value, name=name: attncli.check(
            PROBLEM, ANSWERS, **{name: value}
        )
    for name in ("lenient", "steps", "marks", "seconds"):
        found[f"check_many {name}"] = lambda value, name=name: attncli.check_many(
            [JOB], **{name: value}
        )
    for name in ProblemKeys.__annotations__:
        found[f"problem {name}"] = lambda value, name=name: attncli.problem(**{**KEYS, name: value})
    return found


@pytest.mark.sampled(1)
@pytest.mark.parametrize("use", uses().values(), ids=uses().keys())
def test_what_an_argument_cannot_be_is_an_error_of_attncli(
    use: Use, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for value in VALUES:
        rows: Any = []
        with contextlib.suppress(attncli.AttncliError):
            rows = use(value)
        if isinstance(rows, list):
            assert not [row for row in rows if "a fault of attncli" in row.error]


@pytest.mark.parametrize("steps", [None, "output"])
def test_a_step_of_another_type_is_none(steps: str | None) -> None:
    trace = attncli.trace(PROBLEM, steps=steps)
    for value in VALUES:
        if not isinstance(value, str) and value is not VALUES[9]:
            with pytest.raises(KeyError, match="no step"):
                trace[value]
