"""The schemas are valid draft-07, and what attncli writes is valid by them."""

import json
from pathlib import Path

import jsonschema
import pytest

from attncli.cli.main import run


def printed(name: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert run(["schema", name]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    schema: dict[str, object] = json.loads(out)
    return schema


@pytest.mark.parametrize("name", ["problem", "trace", "answers", "verdict", "comparison"])
def test_a_schema_is_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    schema = printed(name, capsys)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    jsonschema.Draft7Validator.check_schema(schema)


def test_an_unknown_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "pages"]) == 2
    assert capsys.readouterr().err == (
        "attncli: error: there is no schema pages\nhelp: the schemas are problem, trace, answers, verdict, comparison\n"
    )


PROBLEMS = {
    "plain": "Q: [[1, 0]]\nK: [[1, 0]]\nV: [[1, 2]]\n",
    "fractions": 'Q: [["1/3", "sqrt(2)"]]\nK: [[1, 0]]\nV: [[1, 2]]\n',
    "masked": "X: [[1, 0], [0, 1]]\nW_Q: [[1, 0], [0, 1]]\nK: [[1, 0]]\nV: [[1, 2]]\nmask: {padding: [0]}\n",
    "shifted": "Q: [[1000, 0]]\nK: [[1000, 0]]\nV: [[1, 2]]\nsoftcap: 5000\nexp_base: 2\n",
}


@pytest.mark.parametrize(
    "options", [[], ["--detail", "cells"], ["--cell", "weights[0,0]"], ["--rounding", "paper"], ["--dtype", "bfloat16"]]
)
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_trace_is_valid(name: str, options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(PROBLEMS[name])
    assert run(["compute", "-q", str(path), "--format", "json", *options]) == 0
    trace = json.loads(capsys.readouterr().out)
    jsonschema.validate(trace, printed("trace", capsys), jsonschema.Draft7Validator)


@pytest.mark.parametrize(
    "change",
    [{"steps": {"nonsense": {}}}, {"fully_masked": [-1]}, {"attncli": {"version": "0", "format": 2}}, {"tokens": [1]}],
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


def test_a_later_version_may_add_a_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(PROBLEMS["plain"])
    run(["compute", str(path), "--format", "json"])
    trace = json.loads(capsys.readouterr().out) | {"extra": 1}
    jsonschema.validate(trace, printed("trace", capsys), jsonschema.Draft7Validator)
