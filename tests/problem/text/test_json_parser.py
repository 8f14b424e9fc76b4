"""JSON into the tree, strictly: what the standard library lets pass is refused with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.errors import AttncliError
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.json_parser import parse_json
from attncli.problem.text.nodes import Leaf
from attncli.problem.text.source import Source
from tests.cases import in_one_test

ENTRY = "put a comma between the entries, and a {} after the last"
MEMBER = 'write {"key": value}'
NUMBERS = "write 10, -0.5, 0.5 or 1e3"
FAULTS = [
    ("", "1:1: the file is empty", 'a problem has lines such as "X": [[1, 0], [0, 1]]'),
    (
        "{",
        "1:1: the file ends, but a key in double quotes or } should follow",
        "the list or mapping that begins here is not closed",
    ),
    ('{"a": [1', '1:9: "]" is missing', "add it here; write a list as [1, 2, 3]"),
    ('{"a": [[1]\n"b": 2}', '1:11: "]" is missing', "add it here; write a list as [1, 2, 3]"),
    ('{"a": [[1],\n"b": 2}', '1:11: "]" is missing', "add it here; write a list as [1, 2, 3]"),
    ('{"a": 1,}', '1:9: there is nothing between "," and "}"', "remove the last comma"),
    ("[1, ]", '1:5: there is nothing between "," and "]"', "remove the last comma"),
    (
        '{"a": }',
        "1:7: found } instead of a value",
        "write a number, a text in double quotes, a list or a mapping",
    ),
    ('{"a" 1}', '1:6: found 1 instead of ":"', MEMBER),
    ('{"a": 1 "b": 2}', '1:9: found "b" instead of "," or "}"', ENTRY.format("}")),
    ('{"a": [1}', '1:9: found } instead of "," or "]"', ENTRY.format("]")),
    ("{a: 1}", "1:2: found a instead of a key in double quotes or }", MEMBER),
    ("{'a': 1}", "1:2: found 'a' instead of a key in double quotes or }", MEMBER),
    ('{"a": 010}', "1:7: 010 is not a number in JSON", "write 10"),
    ('{"a": -01.5e3}', "1:7: -01.5e3 is not a number in JSON", "write -1.5e3"),
    ('{"a": 1_0}', "1:7: 1_0 is not a number in JSON", NUMBERS),
    ('{"a": +1}', "1:7: +1 is not a number in JSON", "write 1"),
    ('{"a": .5}', "1:7: .5 is not a number in JSON", "write 0.5"),
    ('{"a": 1.}', "1:7: 1. is not a number in JSON", "write 1.0"),
    ('{"a": NaN}', "1:7: JSON has no NaN", 'in a mask, "-inf" in quotes hides a key'),
    ('{"a": -Infinity}', "1:7: JSON has no -Infinity", 'in a mask, "-inf" in quotes hides a key'),
    (
        "+" * 57 + "NaN",
        "1:1: JSON has no ++++++++++++++++++++…+++++++NaN (60 characters)",
        'in a mask, "-inf" in quotes hides a key',
    ),
    ('{"a": True}', "1:7: JSON has no True", "write true"),
    ('{"a": causal}', "1:7: causal has no quotes", 'put text in double quotes: "causal"'),
    (
        "// c",
        "1:1: JSON has no comments",
        "remove it, or name the file .yaml, where # begins a comment",
    ),
    (
        '{"a": 1,\n "a": 2}',
        '2:2: "a" is given twice',
        "it is on line 1 already: keep one of the two",
    ),
    (
        '{"a": "x\ny"}',
        "1:7: this text has no closing quotation mark",
        r"end it with a double quote on the same line; write \n for a line break",
    ),
    (
        '{"a": "x',
        "1:7: this text has no closing quotation mark",
        r"end it with a double quote on the same line; write \n for a line break",
    ),
    ('{"a": "x\ty"}', "1:9: a text in JSON cannot hold a tab", r"write \t"),
    ('{"a": "x\x07y"}', "1:9: a text in JSON cannot hold a control character", r"write \u0007"),
    (
        '{"a": "x\\uy"}',
        "1:9: this escape does not exist",
        r"write a backslash as \\ and a line break as \n",
    ),
    (
        '{"a": "\\ud800"}',
        "1:7: this is half of a surrogate pair, not a character",
        "write the character itself",
    ),
    (
        '{"a": 1} x',
        "1:10: found x instead of the end of the file",
        "remove the rest, or check the brackets before it",
    ),
    (
        "[" * 1000,
        "1:65: lists and mappings are nested more than 64 deep",
        "a matrix has two levels: [[1, 0], [0, 1]]",
    ),
]


def value_of(leaf: Leaf) -> Any:
    """What the standard library makes of it."""
    return leaf.text if leaf.quoted else json.loads(leaf.text)


@in_one_test(("text", "message", "help"), FAULTS)
def test_faults(text: str, message: str, help: str, faults: Any) -> None:
    assert faults(parse_json, text) == [f"{message} ({help})"]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([None, 2]))
def test_agrees_with_the_standard_library(plain: Any, value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert plain(parse_json(ErrorCollector(Source("p", text))), value_of) == value


@given(st.text(alphabet='{}[],:"\\ -+.019eEtruefalsn\n', max_size=14))
def test_accepts_no_more_than_the_standard_library(plain: Any, text: str) -> None:
    """Anything read is strict JSON; anything refused is not, or has a key twice."""
    errors = ErrorCollector(Source("p", text))
    try:
        tree = parse_json(errors)
    except AttncliError:
        with pytest.raises((ValueError, RecursionError)):
            json.loads(text)
        return
    if not errors.count:
        assert plain(tree, value_of) == json.loads(text)
