"""The schemas are valid draft-07, and what attncli writes is valid by them."""

import json

import jsonschema
import pytest

from attncli.cli import run


def printed(name: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert run(["schema", name]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    schema: dict[str, object] = json.loads(out)
    return schema


@pytest.mark.parametrize("name", ["problem", "trace"])
def test_a_schema_is_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    schema = printed(name, capsys)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    jsonschema.Draft7Validator.check_schema(schema)


def test_an_unknown_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "answer"]) == 2
    assert capsys.readouterr().err == (
        "attncli: error: there is no schema answer\nhelp: the schemas are problem, trace\n"
    )
