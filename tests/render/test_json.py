"""JSON for other programs: strict, exact, and readable."""

import json

import pytest

from attncli.page.document import Document
from attncli.render import render


def written(data: dict[str, object]) -> str:
    return render(Document("", (), lambda: data), "json")


def test_one_row_of_a_matrix_per_line() -> None:
    step = {
        "formula": "S",
        "labels": [["I"], ["I", "AI"]],
        "shape": [2, 2],
        "value": [[1, 5], [3, -0.5]],
    }
    assert (
        written({"format": 1, "steps": {"S": step}, "warnings": []}) == "{\n"
        '  "format": 1,\n'
        '  "steps": {\n'
        '    "S": {\n'
        '      "formula": "S",\n'
        '      "labels": [\n        ["I"],\n        ["I", "AI"]\n      ],\n'
        '      "shape": [2, 2],\n'
        '      "value": [\n        [1, 5],\n        [3, -0.5]\n      ]\n'
        "    }\n"
        "  },\n"
        '  "warnings": []\n'
        "}\n"
    )


def test_cells_of_a_verdict_stand_on_a_line_each() -> None:
    cells = [[{"verdict": "right", "given": 1}, {"verdict": "missing"}]]
    assert '\n      {"verdict": "right", "given": 1},\n' in written({"cells": cells})


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"": {}, "a": [], "b": [[]], "c": None, "d": True},
        {"floats": [0.1, 1e-300, -0.0, 1.7976931348623157e308, 5e-324, 0.5773502691896258]},
        {"words": ["\x1b[31m", "\u202e", "\u2028", '"\\', "日本", "👩", "\x7f\x9b", "</script>"]},
        {"deep": {"deep": [{"a": [[[1]]]}]}},
    ],
)
def test_everything_reads_back(data: dict[str, object]) -> None:
    text = written(data)
    assert json.loads(text) == data
    assert not set("\x1b\x9b\x7f\u202e\u2028") & set(text)
    assert text.encode("utf-8")


def test_half_a_character_is_written_as_an_escape() -> None:
    assert written({"token": "\ud800"}) == '{"token": "\\ud800"}\n'


def test_no_number_json_lacks_is_written() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        written({"value": float("nan")})
