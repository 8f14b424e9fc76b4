"""The published schema of a trace says what traces hold: every key of the JSON, and every word of a
choice.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import attncli
from attncli.attention.registry import RULES
from attncli.dtypes import DEVICES, DTYPES, ROUNDINGS
from attncli.equation.indices import INDICES
from attncli.problem.keys import CORNERS, PAIRINGS, SCORES
from attncli.problem.model import Problem
from attncli.problem.parts.conventions import CONVENTIONS
from attncli.problem.parts.masks.causal import Causal
from attncli.tracing import run
from attncli.tracing.model import OPTIONAL_SETTINGS, Settings
from attncli.tracing.serialization import TRACE_FORMAT, to_dict

Build = Callable[..., Problem]
FILE = Path(attncli.__file__).parent / "tracing/trace.schema.json"
SCHEMA = json.loads(FILE.read_text(encoding="utf-8"))
PROPERTIES = SCHEMA["properties"]
SETTINGS, STEP = PROPERTIES["settings"], PROPERTIES["steps"]["additionalProperties"]


def test_it_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert PROPERTIES["attncli"]["properties"]["format"] == {"const": TRACE_FORMAT}


def test_its_settings_are_those_of_a_trace() -> None:
    names = list(Settings._fields)
    assert set(SETTINGS["properties"]) == set(names)
    assert SETTINGS["required"] == [name for name in names if name not in OPTIONAL_SETTINGS]


def test_its_words_are_those_of_the_program(pytestconfig: pytest.Config) -> None:
    """`pytest tests/tracing/test_schema.py --update` writes them."""
    schema = copy.deepcopy(SCHEMA)
    settings, steps = schema["properties"]["settings"]["properties"], schema["properties"]["steps"]
    words = {
        "score": SCORES,
        "corner": CORNERS,
        "convention": CONVENTIONS,
        "dtype": DTYPES,
        "device": DEVICES,
        "rounding": ROUNDINGS,
        "pairing": PAIRINGS,
    }
    for name, known in words.items():
        settings[name]["enum"] = list(known)
    steps["propertyNames"]["anyOf"][0]["enum"] = list(RULES)
    axes = steps["additionalProperties"]["properties"]["axes"]
    axes["items"]["anyOf"][0]["enum"] = sorted({index.axis for index in INDICES.values()})
    if pytestconfig.getoption("--update"):
        FILE.write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return
    assert schema == SCHEMA


def test_it_describes_a_trace_of_equations_of_the_problem_s_own() -> None:
    trace = attncli.trace(
        Q=np.ones((2, 2)),
        K=np.ones((3, 2)),
        V=np.ones((3, 1)),
        arrays={"mix[c, z]": [[1, 2]]},
        equations=["mixed[i, z] = sum(c, output[i, c] * mix[c, z])"],
        result="mixed",
        gradient=True,
    )
    data = to_dict(trace)
    jsonschema.validate(data, SCHEMA)
    assert data["settings"]["result"] == "mixed"
    assert [name for name, step in data["steps"].items() if step.get("own")] >= ["mix", "mixed"]
    assert data["steps"]["mix"]["axes"] == ["value", "z"]
    assert "own" not in data["steps"]["output"]
    keys = {key for step in data["steps"].values() for key in step}
    assert keys <= set(STEP["properties"])


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_every_key_that_is_written_is_described(
    problem: Build, matrix: Callable[[Any], Any], rounding: str
) -> None:
    lengths = {"Q": (2, 2), "K": (3, 2), "V": (3, 1)}
    given = problem(**{name: np.ones(shape) for name, shape in lengths.items()}, mask=(Causal(),))
    data = to_dict(run(given, rounding=rounding))
    jsonschema.validate(data, SCHEMA)
    assert set(data) <= set(PROPERTIES)
    assert set(SCHEMA["required"]) <= set(data)
    for step in data["steps"].values():
        assert set(STEP["required"]) <= set(step) <= set(STEP["properties"])
