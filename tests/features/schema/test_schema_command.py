"""The schemas are valid draft-07, and what attncli writes is valid by them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from attncli.attention.registry import RULES, STEP_NAMES
from attncli.cli.main import run
from attncli.dtypes import DTYPES
from attncli.features.check.verdicts import VERDICTS
from attncli.features.schema.command import schemas


def printed(name: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert run(["schema", name]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    schema: dict[str, object] = json.loads(out)
    return schema


@pytest.mark.parametrize(
    "name",
    [
        *("problem", "trace", "answers", "results", "verdict", "comparison", "test", "functions"),
        *("recording", "against"),
    ],
)
def test_a_schema_is_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    schema = printed(name, capsys)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    jsonschema.Draft7Validator.check_schema(schema)


# by one that is among them
NAMES = {"scores": list(RULES), "carried": list(VERDICTS), "bfloat16": list(DTYPES)}


def enumerations(schema: Any) -> Iterator[dict[str, Any]]:
    """Every part of a schema that lists what may stand there."""
    inner = (
        schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    )
    if isinstance(schema, dict) and isinstance(schema.get("enum"), list):
        yield schema
    for each in inner:
        yield from enumerations(each)


def keep(name: str, schema: dict[str, Any], config: pytest.Config) -> None:
    """With --update, write to its file what the program has."""
    if config.getoption("--update"):
        schemas()[name].write_text(
            json.dumps(schema, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )


@pytest.mark.parametrize("name", ["trace", "verdict", "comparison"])
def test_names_in_a_schema_are_those_of_the_program(name: str, pytestconfig: pytest.Config) -> None:
    schema = json.loads(schemas()[name].read_text(encoding="utf-8"))
    held = [
        (part, names)
        for part in enumerations(schema)
        for one, names in NAMES.items()
        if one in part["enum"]
    ]
    assert held
    before = [part["enum"] for part, _ in held]
    for part, names in held:
        part["enum"] = names
    keep(name, schema, pytestconfig)
    assert before == [names for _, names in held] or pytestconfig.getoption("--update")


def test_answers_may_be_to_every_step_by_its_name_or_letter(pytestconfig: pytest.Config) -> None:
    schema = json.loads(schemas()["answers"].read_text(encoding="utf-8"))
    before, schema["properties"] = schema["properties"], {}
    for called, name in STEP_NAMES.items():
        rule = RULES[name]
        axes = " × ".join(rule.axis_names) or (
            "one number" if name == "loss" else "one for each head"
        )
        description = (
            f"{rule.title}: {axes}."
            if called == name
            else f"{rule.title}: another name for {name}."
        )
        schema["properties"][called] = {
            "allOf": [{"$ref": "#/definitions/cells"}],
            "description": description,
        }
    keep("answers", schema, pytestconfig)
    assert before == schema["properties"] or pytestconfig.getoption("--update")


def test_an_unknown_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "pages"]) == 2
    assert (
        capsys.readouterr().err == "attncli: error: there is no schema pages\n"
        "help: the schemas are problem, trace, answers, comparison, test, recording, results,"
        " verdict, mask, functions, against\n"
    )


PROBLEMS = {
    "plain": "Q: [[1, 0]]\nK: [[1, 0]]\nV: [[1, 2]]\n",
    "fractions": 'Q: [["1/3", "sqrt(2)"]]\nK: [[1, 0]]\nV: [[1, 2]]\n',
    "masked": (
        "X: [[1, 0], [0, 1]]\nW_Q: [[1, 0], [0, 1]]\nK: [[1, 0]]\nV: [[1, 2]]\nmask: {padding:"
        " [0]}\n"
    ),
    "shifted": "Q: [[1000, 0]]\nK: [[1000, 0]]\nV: [[1, 2]]\nsoftcap: 5000\nexp_base: 2\n",
}


@pytest.mark.each_choice
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--detail", "cells"],
        ["--cell", "weights[0,0]"],
        ["--rounding", "paper"],
        ["--dtype", "bfloat16"],
    ],
)
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_trace_is_valid(
    name: str, options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(PROBLEMS[name])
    assert run(["compute", "-q", str(path), "--format", "json", *options]) == 0
    trace = json.loads(capsys.readouterr().out)
    jsonschema.validate(trace, printed("trace", capsys), jsonschema.Draft7Validator)


@pytest.mark.parametrize(
    "change",
    [
        {"steps": {"nonsense": {}}},
        {"fully_masked": [-1]},
        {"attncli": {"version": "0", "format": 2}},
        {"tokens": [1]},
    ],
)
def test_what_is_no_trace_is_not_valid(
    change: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(PROBLEMS["plain"])
    run(["compute", str(path), "--format", "json"])
    trace = json.loads(capsys.readouterr().out) | change
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(trace, printed("trace", capsys), jsonschema.Draft7Validator)


def test_a_later_version_may_add_a_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(PROBLEMS["plain"])
    run(["compute", str(path), "--format", "json"])
    trace = json.loads(capsys.readouterr().out) | {"extra": 1}
    jsonschema.validate(trace, printed("trace", capsys), jsonschema.Draft7Validator)
