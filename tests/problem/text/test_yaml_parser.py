"""YAML into the tree, with PyYAML's C parser and its Python one: the same tree, the same errors."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from attncli.errors import AttncliError
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import Leaf, ListNode, MappingNode
from attncli.problem.text.source import Source, decode
from attncli.problem.text.yaml_parser import parse_yaml
from tests.cases import in_one_test

LOADERS = [yaml.SafeLoader, *([yaml.CSafeLoader] if hasattr(yaml, "CSafeLoader") else [])]

DEEP = "lists and mappings are nested more than 64 deep"
FAULTS = [
    ("", "1:1: the file is empty", "a problem has lines such as X: [[1, 0], [0, 1]]"),
    ("# a remark\n", "1:1: the file is empty", "a problem has lines such as X: [[1, 0], [0, 1]]"),
    ("---\n", "1:1: the file is empty", "a problem has lines such as X: [[1, 0], [0, 1]]"),
    ("Q: &a [[1]]", "1:4: attncli does not read anchors (&a)", "remove the anchor"),
    ("Q: *a", "1:4: attncli does not read aliases (*a)", "write the value out in full"),
    (
        "Q: !!float 1",
        "1:4: attncli does not read tags (!!float)",
        "remove the tag; the value says what it is",
    ),
    (
        "Q: !!python/object:os.system {}",
        "1:4: attncli does not read tags (!!python/object:os.system)",
        "remove the tag; the value says what it is",
    ),
    (
        "a: {<<: {b: 1}}",
        "1:5: attncli does not read merge keys (<<)",
        "write the value out in full",
    ),
    ("Q: 1\nK: 2\nQ: 3", "3:1: Q is given twice", "it is on line 1 already: keep one of the two"),
    (
        "a: 1\n---\nb: 2",
        "2:1: a second document begins here",
        "a file holds one problem: put the second one in another file",
    ),
    ("Q: " + "[" * 70, f"1:67: {DEEP}", "a matrix has two levels: [[1, 0], [0, 1]]"),
    ("[" * 25_000, f"1:65: {DEEP}", "a matrix has two levels: [[1, 0], [0, 1]]"),
    ("- " * 25_000, f"1:129: {DEEP}", "a matrix has two levels: [[1, 0], [0, 1]]"),
    (
        "a: 1\nb: \x07",
        "2:4: YAML cannot hold the control character U+0007",
        r'remove it; in a quoted text it can be written as an escape such as "\x07"',
    ),
    ("Q: [1, 2", '1:9: "]" is missing', "add it here; write a list as [1, 2, 3]"),
    ("Q: [1, 2\nK: 3", '1:9: "]" is missing', "add it here; write a list as [1, 2, 3]"),
    (
        "mask: {causal: true",
        '1:20: "," or "}" is missing',
        "write a mapping as {padding: [1, 1, 0]}",
    ),
    (
        "a: b: c",
        '1:5: ":" does not belong here',
        "put a text that holds a colon in quotes; if this is a key, check its indentation",
    ),
    ("Q:[[1]]\nK: 1", '1:3: a blank is missing after ":"', "write Q: [[1]]"),
    ("Q: 1\nK:[[1]]\nV: 1", '2:3: a blank is missing after ":"', "write K: [[1]]"),
    ("Q = [[1]]\nK: 1", '1:3: ":" is missing after Q', "write Q: [[1]]"),
    (
        "Q: [[1, 2, [3, 4]]\nK: 1",
        '1:10: "]" is missing',
        "close each list before the next one begins: [[1, 2], [3, 4]]",
    ),
    ("Q: [[1, 2\n\n# no\nK: 1", '1:10: "]]" is missing', "add it here; write a list as [1, 2, 3]"),
    ("Q:\n- [1, 2\n- [3, 4]", '2:8: "]" is missing', "add it here; write a list as [1, 2, 3]"),
    ("Q: [[1, 2]\n  3, [4]]", '1:11: "," or "]" is missing', "write a list as [1, 2, 3]"),
    ("Q: [[1, 2}]", '1:10: found "}" instead of "]"', "write a list as [1, 2, 3]"),
    ("a:\n\t- 1", "2:1: YAML does not allow a tab here", "indent with spaces"),
    ("Q: @x", "1:4: a value cannot begin with @", "put the text in quotes"),
    ('Q: "abc', "1:4: this text has no closing quotation mark", "add the closing quotation mark"),
    ("Q: [1]]", '1:7: "]" closes nothing', "remove it, or add the bracket that it closes"),
    ("Q: ]", '1:4: "]" closes nothing', "remove it, or add the bracket that it closes"),
    (
        "Q: [1], [2]",
        '1:7: "," does not belong here',
        "a matrix is one list of rows: [[1, 2], [3, 4]]",
    ),
    (
        "Q: [[1, 2],\nK: [[3]]\nV: [[4]]",
        '1:11: "]" is missing',
        "close each list before the next one begins: [[1, 2], [3, 4]]",
    ),
    (
        "Q:\n[[1]]\nK: [[2]]",
        "2:1: this list has no key",
        "indent it if it belongs to the key above: Q: [[1, 2], [3, 4]]",
    ),
    (
        "%YAML 2.0\n---\na",
        "1:1: attncli does not know this version of YAML",
        "remove the line that begins with %YAML",
    ),
    (
        "# a remark\n%TAG ! x\n---\na",
        "2:1: attncli does not read tags (%TAG)",
        "remove the line, or indent it if it is text",
    ),
    (
        "".join(f"%TAG !a{i}! x\n" for i in range(60_000)),
        "1:1: attncli does not read tags (%TAG)",
        "remove the line, or indent it if it is text",
    ),
    ("title: a\nmask causal\nQ: 1", '2:1: a ":" is missing', "write a line as key: value"),
    ("[a]: 1", "1:1: a key must be a word, not a list", "write key: value"),
]


def text_of(leaf: Leaf) -> str:
    """Its text, in single quotes where it was quoted."""
    return repr(leaf.text) if leaf.quoted else leaf.text


@pytest.mark.parametrize("loader", LOADERS)
def test_values_keep_their_text_and_place(loader: Any, plain: Any) -> None:
    errors = ErrorCollector(Source("p", "# é\nX: [[1e3, '1'], [010, ~]]\nmask:\n  causal: yes\n"))
    root = parse_yaml(errors, loader)
    assert plain(root, text_of) == {"X": [["1e3", "'1'"], ["010", "~"]], "mask": {"causal": "yes"}}
    assert isinstance(root, MappingNode)
    assert {key: errors.source.place(at).line for key, at in root.keys.items()} == {
        "X": 2,
        "mask": 3,
    }
    assert isinstance(root.values["X"], ListNode)
    last = root.values["X"].items[1]
    assert isinstance(last, ListNode)
    assert isinstance(last.items[0], Leaf)
    assert (
        errors.source.place(last.items[0].at).line,
        errors.source.place(last.items[0].at).column,
    ) == (2, 18)


@in_one_test("loader", LOADERS)
@in_one_test(("text", "message", "help"), FAULTS)
def test_faults(text: str, message: str, help: str, loader: Any, faults: Any) -> None:
    assert faults(lambda errors: parse_yaml(errors, loader), text) == [f"{message} ({help})"]


@in_one_test("loader", LOADERS)
@in_one_test(
    ("text", "column", "message"),
    [
        (r'a: "\ud800"', 5, "this is half of a surrogate pair, not a character"),
        (r'a: "é \\ \" \udfff"', 13, "this is half of a surrogate pair, not a character"),
        (r'"\U0000D800": 1', 2, "this is half of a surrogate pair, not a character"),
        (r'a: "\ud83d\ud83d"', 5, "this is half of a surrogate pair, not a character"),
        (
            r'a: "\ud83d\ude00"',
            5,
            r"YAML cannot hold a character in two halves, as in \ud83d\ude00",
        ),
        (r'a: "\U00110000"', 5, "there is no character U+110000"),
        (r'a: "\Ud8000000"', 5, "there is no character U+D8000000"),
        (r'a: "\xZZ"', 5, r"\x needs 2 hexadecimal digits"),
        (r'a: "\u12"', 5, r"\u needs 4 hexadecimal digits"),
        (r'a: "\u12\q"', 5, r"\u needs 4 hexadecimal digits"),
        (r'a: "\\\q"', 7, "this escape does not exist"),
        ('a: "\\', 5, "this escape does not exist"),
    ],
)
def test_escapes_are_told_by_either_parser_in_the_same_words(
    loader: Any, text: str, column: int, message: str
) -> None:
    with pytest.raises(AttncliError) as caught:
        parse_yaml(ErrorCollector(Source("p", text)), loader)
    assert caught.value.place
    assert (caught.value.message, caught.value.place.column) == (message, column)


@pytest.mark.parametrize("loader", LOADERS)
def test_what_only_looks_like_an_escape(loader: Any, plain: Any) -> None:
    root = parse_yaml(ErrorCollector(Source("p", r"{a: '\U00110000', b: \ud800, c: '\q'}")), loader)
    assert plain(root, text_of) == {
        "a": repr(r"\U00110000"), "b": r"\ud800", "c": repr(r"\q")
    }  # fmt: skip


@pytest.mark.parametrize("loader", LOADERS)
def test_a_quoted_merge_sign_is_an_ordinary_key(loader: Any, plain: Any) -> None:
    assert plain(parse_yaml(ErrorCollector(Source("p", '"<<": 1')), loader), text_of) == {"<<": "1"}


def test_a_byte_order_mark_is_let_pass() -> None:
    source = decode("﻿Q: 1".encode(), "p")
    root = parse_yaml(ErrorCollector(source))
    assert isinstance(root, MappingNode)
    assert source.place(root.keys["Q"]).column == 1
