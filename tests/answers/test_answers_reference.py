"""The page on answers says what is read, and its schema takes what is read and nothing else."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from attncli.answers.claims import read_claim
from attncli.answers.reader import read_answers
from attncli.attention.registry import RULES
from attncli.features.schema.command import schemas
from attncli.problem.model import Problem
from attncli.problem.text.latex_numbers import from_latex
from attncli.problem.text.number_forms import NumberError
from attncli.problem.text.source import decode
from attncli.tracing import run

ANSWERS_SCHEMA = json.loads(schemas()["answers"].read_text(encoding="utf-8"))

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "answers.md").read_text(encoding="utf-8")


def test_the_example_is_read(love: Problem) -> None:
    example = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0]
    answers = read_answers(decode(example.encode(), "answers.yaml"), run(love))
    assert [claim and claim.text for claim in answers.steps["weights"].cells.flat] == [
        "0.07", "0.707", "0.223", "1/3", "1/3", "1/3", None, None, None,
    ]  # fmt: skip
    jsonschema.validate(yaml.safe_load(example), ANSWERS_SCHEMA, jsonschema.Draft7Validator)


def test_every_way_to_write_a_number() -> None:
    rows = re.findall(
        r"^\| (`.*) \| .*? \| *(.*?) *\|$",
        PAGE.split("## Numbers")[1].split("\n\n- ")[0],
        re.MULTILINE,
    )
    assert len(rows) == 11
    for written, ends in rows:
        for text in re.findall(r"`(.*?)`", written):
            claim = read_claim(text)
            assert claim is not None
            assert claim.exact == (not ends)
            if ends:
                assert [claim.value - claim.half, claim.value + claim.half] == [
                    Decimal(end) for end in ends.split(" … ")
                ]


def test_what_can_be_read_in_two_ways_is_an_error() -> None:
    table = PAGE.split("| you write | it may mean |")[1].split("\n\n")[0]
    rows = re.findall(r"^  \| (`.*?) \| .* \|$", table, re.MULTILINE)
    assert len(rows) == 18
    for row in rows:
        spelled = from_latex if row.endswith(" in LaTeX") else str
        for text in re.findall(r"`(.*?)`", row):
            with pytest.raises(NumberError):
                read_claim(spelled(text))


VALID: list[dict[str, Any]] = [
    {"scores": [[1, 5, 3]], "A": [["1/3", None, "0.70"]], "output": None},
    {"Name": "Jonas", "matriculation number": 4711, "note": None, "A": [["22 %"]]},
    {"row_sum": [25.4, "e^2"], "Z'": [[["-inf"]]], "K^T": [[[[1]]]]},
]
INVALID: list[dict[str, Any]] = [
    {},
    {"scroes": [[1]]},
    {"scores": [[True]]},
    {"scores": {"I": [1]}},
    {"scores": []},
    {"scores": [[1]], "name": ["Jonas"]},
]


@pytest.mark.parametrize("data", VALID, ids=json.dumps)
def test_the_schema_takes(data: dict[str, Any]) -> None:
    jsonschema.validate(data, ANSWERS_SCHEMA, jsonschema.Draft7Validator)


@pytest.mark.parametrize("data", INVALID, ids=json.dumps)
def test_the_schema_refuses(data: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, ANSWERS_SCHEMA, jsonschema.Draft7Validator)


def test_the_schema_knows_every_step() -> None:
    assert set(RULES) <= set(ANSWERS_SCHEMA["properties"])
