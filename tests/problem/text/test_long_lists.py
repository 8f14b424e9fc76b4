"""Long lists of numbers, read in one go: the same tree as value by value, or none at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from attncli.errors import AttncliError
from attncli.features.compare.changes import moved
from attncli.problem.loader import loads
from attncli.problem.text import building, long_lists, values
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.json_parser import parse_json
from attncli.problem.text.long_lists import Outline
from attncli.problem.text.nodes import Leaf, ListNode, MappingNode, Node
from attncli.problem.text.numbers import as_float
from attncli.problem.text.source import Source
from attncli.problem.text.yaml_parser import parse_yaml
from tests.cases import in_one_test

NUMBERS = st.one_of(
    st.sampled_from(
        [
            "0",
            "-0",
            "-0.0",
            "1",
            "-1.5",
            ".5",
            "1.",
            "+2",
            "1e3",
            "1E-5",
            "-.25e+2",
            "00.5",
            "010",
            "-01",
            "1e",
            "-",
            ".",
            "1e400",
            "1e-400",
            "0e-400",
            "1e-320",
            "1.5.5",
            "1-2",
            "--1",
            "1.e5",
            "1e05",
            "0.1234567890123456789",
            "9007199254740993",
            "9223372036854775808",
            "1" * 25,
            "1" * 199,
            "1" * 400,
            "1" * 401,
            "0." + "0" * 330 + "1",
            "9" * 310,
        ]
    ),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-1000, 1000, places=9).map(str),
    st.integers(-9, 9).map(str),
)
WORDS = st.sampled_from(
    [
        "x",
        "love",
        "1/3",
        "-inf",
        "-.inf",
        "true",
        "True",
        "false",
        "null",
        "nan",
        "NaN",
        "2*sqrt(3)",
        "*a",
        "(1)",
        "/",
        "-x",
        "--x",
        "...",
        "---",
        "..a",
        "+",
        "_",
        "1_000",
        "0x10",
        "a b",
        "é",
        "~",
        "<<",
        "yes",
        "falsy",
        "tru",
        "trues",
        '"x"',
        '""',
        '"1"',
        '"1/3"',
        '"a b"',
        '"a,b"',
        '"[1]"',
        '"',
        'a"b',
        '"a"b',
        'a"',
        '"a""b"',
        '"\\n"',
        '"true"',
        "'a'",
        "'a b'",
        "'1/3'",
        "'",
        "'a",
        "a'",
        "it's",
        "'it''s'",
        "''",
        "'\"'",
        '"\'"',
        "'a'b",
        "'a' 'b'",
        "%",
        "5%",
        "%a",
        "\u22123",
        "?",
        "a?",
        "?a",
        "\u00a0",
        "\u2028",
        "\ufeff",
        "日本",
        "'é'",
        '"é"',
        "^",
        "a~",
        "\u0301",
        "nul",
        "\t1",
        "1\t",
        "1 # one\n",
        "#",
        "1 2",
        "1:30",
        "1: 2",
        "{a: 1}",
        "truefalse",
        "true1",
        "1true",
        "e",
        "1e5e",
    ]
)
TRUTHS = st.sampled_from(["true", "false"])
FRAMES = (
    '"{}"',
    "'{}'",
    "a {}",
    "{} b",
    "&a {}",
    "!!seq {}",
    "[{}, 1]",
    "{{b: {}, c: 2}}",
    "- {}",
    "|\n  {}",
    "# {}",
    "\n  - x\n  - {}",
    "\n  -\n  - {}",
    "\n  - {}\n  - x",
    "\n{}",
    "{}: 1",
    "? {}",
    "{} # note",
    "{}#",
    "{{\nb:\n  - {}\n  }}",
    "[\n  - {}\n  ]",
)
BLANKS = st.sampled_from(["", "", "", " ", "  ", "\n  ", " \n "])


@pytest.fixture(autouse=True)
def _any_list_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "LONG_TEXT", 0)
    monkeypatch.setattr(long_lists, "SHORTEST_LONG_LIST", 0)


def placed(node: Node) -> Any:
    """A tree as tuples, each with its place."""
    match node:
        case Leaf(text=text, quoted=quoted, at=at):
            return text, quoted, at
        case ListNode(items=items, at=at):
            return at, [placed(item) for item in items]
        case MappingNode(values=values, keys=keys, at=at):
            return at, {key: placed(value) for key, value in values.items()}, keys


def outcome(parse: Callable[[ErrorCollector], Node], text: str) -> Any:
    """The tree, or what is wrong with the text and where."""
    errors = ErrorCollector(Source("p", text))
    try:
        node = parse(errors)
        errors.stop()
    except AttncliError as error:
        return [(each.message, each.place, each.help) for each in (error, *error.more)]
    return placed(node)


def check_same_reading(parse: Callable[[ErrorCollector], Node], text: str) -> None:
    """Both passes see the same in a text."""
    with patch.object(building, "LONG_TEXT", len(text) + 1):
        careful = outcome(parse, text)
    assert outcome(parse, text) == careful


@st.composite
def lists(draw: st.DrawFn, depth: int = 0) -> str:
    """A list of numbers, or of lists of them; mostly a regular one."""
    deeper = depth < 4 and draw(st.booleans())
    single = draw(
        st.sampled_from(
            [NUMBERS, st.integers(-9, 9).map(str), TRUTHS, NUMBERS | TRUTHS, NUMBERS | WORDS]
        )
    )
    items = draw(
        st.lists(
            lists(depth + 1) if deeper else single, min_size=draw(st.integers(0, 1)), max_size=3
        )
    )
    if items and deeper and draw(st.booleans()):
        items = [items[0]] * draw(st.integers(1, 3))
    if draw(st.integers(0, 15)) == 0:
        items.append(draw(st.sampled_from(["", "[]", "[1]", "1 2", "1/3", "x", "3", "[[2]]"])))
    blank = [draw(BLANKS) for _ in range(2 * len(items) + 1)]
    return (
        "["
        + ",".join(f"{blank[2 * k]}{item}{blank[2 * k + 1]}" for k, item in enumerate(items))
        + "]"
    )


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A problem with lists of numbers wherever they may stand, and where they may not."""
    found = []
    for key in draw(
        st.lists(
            st.sampled_from(["X", "W_Q", "é", "1e5", "[1, 2]", '"a"', "- [3]"]),
            max_size=4,
            unique=True,
        )
    ):
        form = draw(st.integers(0, 9))
        numbers = draw(lists())
        if form < 4:
            found.append(f"{key}: {numbers}")
        elif form < 7:
            indent = " " * draw(st.integers(0, 3))
            rows = draw(st.lists(lists(depth=2), min_size=1, max_size=3))
            rows = [rows[0]] * 3 if draw(st.booleans()) else rows
            found.append(f"{key}:\n" + "\n".join(f"{indent}- {row}" for row in rows))
        else:
            frame = draw(st.sampled_from(FRAMES))
            found.append(f"{key}: " + frame.format(numbers))
    return "\n".join(found) + draw(st.sampled_from(["", "\n", "\n---\n", "\n..."]))


@given(text=texts() | lists())
def test_both_passes_agree_on_yaml(text: str) -> None:
    check_same_reading(parse_yaml, text)


@given(
    data=st.lists(lists(), min_size=1, max_size=3),
    end=st.sampled_from(["}", "}", "", "]", ', "0": 1}', "} x"]),
)
def test_both_passes_agree_on_json(data: list[str], end: str) -> None:
    check_same_reading(
        parse_json,
        "{" + ", ".join(f'"{place}": {numbers}' for place, numbers in enumerate(data)) + end,
    )


@given(rows=st.lists(st.lists(NUMBERS | TRUTHS, min_size=2, max_size=2), min_size=1, max_size=4))
def test_both_passes_agree_on_problems(rows: list[list[str]]) -> None:
    """On the numbers, the way they were written, and all that is wrong."""
    matrix = "[" + ", ".join(f"[{', '.join(row)}]" for row in rows) + "]"
    mask = "[" + ", ".join(f"[{', '.join(row[:1] * len(rows))}]" for row in rows) + "]"
    text = f"Q: {matrix}\nK: {matrix}\nV: {matrix}\nmask: {mask}"

    def read() -> Any:
        try:
            problem = loads(text.encode(), "p.yaml")
        except AttncliError as error:
            return [(str(each), each.place, each.help) for each in (error, *error.more)]
        given = [
            (each.value.tobytes(), np.array(each.written).tolist())
            for each in problem.given.values()
        ]
        return given, [
            (
                part.matrix.tobytes()
                if hasattr(part.matrix, "tobytes")
                else part.matrix.value.tobytes()
            )
            for part in problem.mask.parts
        ]

    quick = read()
    with patch.object(building, "LONG_TEXT", len(text) + 1):
        assert quick == read()


@in_one_test(
    ("text", "count"),
    [
        ("X: [[1, 2], [3, 4]]\nW: [[1.5, 2.5], [-3, 4e1]]", 2),
        ("X:\n- [1, 2]\n- [3, 4]\nmask: causal", 2),
        ("a:\n  X:\n  - [1,\n     2]\n  - [3, 4]\n", 2),
        ("X: [[[1], [2]], [[3], [4]]]", 1),
        ("é: 'ü'\nX: [[1, 2], [3, 4]] # 日本\n", 1),
        ("mask: [[true, false], [true, true]]", 1),
        ("X: [[1, 2], [3], [4, 5]]", 3),
        ("X: [[1, 2], [1/3, 3], [4, 5]]", 2),
        ("X: [[1, 2], [3, true], [4, 5]]", 2),
        ("X: [[1, 2],\t[3, 4]]", 2),
        ("X: [[1, 2],  # the first\n  [3, 4]]", 2),
    ],
)
def test_these_are_read_in_one_go(text: str, count: int) -> None:
    assert Outline(text).count == count
    check_same_reading(parse_yaml, text)


@in_one_test(
    "text",
    [
        "X: [x, y]",
        "X: [[]]",
        "[]",
        "X: [1,, 2]",
        "X: [1, 2,]",
        "X: [01]",
        "X: [+1]",
        "X: [.5]",
        "X: [1.]",
        "X: [1.e5]",
        "X: [1e]",
        "X: [-]",
        "X: [--1]",
        "X: [1e400]",
        "X: [1e-400]",
        "X: [1, 0, 1e-400]",
        "X: [[[[[1]]]]]",
        "X: [1",
        "X: [NaN]",
        "X: [1, true]",
        "X: [null]",
        f"X: [0.{'0' * 398}1]",
        f"X: [{'1' * 401}]",
        "X: ['1']",
        "X: [1_0]",
    ],
)
def test_what_is_left_to_the_parsers(text: str) -> None:
    assert Outline(text).count == 0


@pytest.mark.parametrize(
    "text", ["{Q:\n- [1, 2]\n- [3, 4]\n}", "Q: {b:\n  - [1]\n  - [2]\n}", "[\n- [1]\n- [2]]"]
)
def test_dashes_inside_brackets_are_refused(text: str) -> None:
    with pytest.raises(AttncliError, match="a value is missing"):
        parse_yaml(ErrorCollector(Source("p", text)))


def test_a_list_that_is_too_deep_with_its_own_lists() -> None:
    for depth in (62, 63):
        check_same_reading(parse_json, "[0, " * depth + "[[1]]" + "]" * depth)


def test_a_problem_keeps_its_numbers_as_they_were_written() -> None:
    text = "Q: [[1.50, 2], [3, 4]]\nK: [[1, 0], [0, 1e0]]\nV:\n- [0.5, 1]\n- [1, 2]\n"
    problem = loads(text.encode(), "p.yaml")
    assert np.array(problem.given["Q"].written).tolist() == [["1.50", "2"], ["3", "4"]]
    assert np.array(problem.given["V"].written).tolist() == [["0.5", "1"], ["1", "2"]]
    assert problem.given["K"].value.tolist() == [[1, 0], [0, 1]]
    assert not problem.given["K"].value.flags.writeable


@pytest.mark.parametrize(
    "text", ["[[1, x], ['1/3', 4]]", "[[1, 2], [3]]", "[[1, 2], [3, 4]]", "{a: [1], b: 2}"]
)
def test_a_tree_can_be_moved(text: str) -> None:
    """As one is that is given with --set, behind the text of the file."""
    quick = parse_yaml(ErrorCollector(Source("p", text)))
    with patch.object(building, "LONG_TEXT", 1000):
        careful = parse_yaml(ErrorCollector(Source("p", " " * 9 + text)))
    assert placed(moved(moved(quick, 7), 2)) == placed(careful)


@pytest.mark.long
def test_no_more_is_read_of_what_is_wrong_than_is_told() -> None:
    rows = ", ".join(f"[x{number}]" for number in range(3000))
    with (
        patch.object(values, "as_float", wraps=as_float) as reading,
        pytest.raises(AttncliError) as caught,
    ):
        loads(f"Q: [[1]]\nK: [{rows}]\nV: [{rows}]\n".encode(), "p.yaml")
    assert len(caught.value.more) + 1 + caught.value.untold == 1000
    assert reading.call_count <= 1001


def test_errors_are_told_where_they_are() -> None:
    text = (
        "X: [[1, 2], [3, 4]]\nW_Q: [[1, 2], [3, 4]]\nW_K: [[1, 2], [3, x]]\nW_V: [[1, 2], [3,"
        " 4]]\nmask: 3"
    )
    with pytest.raises(AttncliError) as found:
        loads(text.encode(), "p.yaml")
    error, (other,) = found.value, found.value.more
    assert error.place is not None
    assert other.place is not None
    assert (error.place.line, error.place.column, other.place.line, other.place.column) == (
        3,
        19,
        5,
        7,
    )


def test_a_file_of_numbers_agrees_with_other_readers() -> None:
    random = np.random.default_rng(0)
    arrays = {name: random.standard_normal((40, 8)).round(9) for name in "QKV"}
    data = {name: array.tolist() for name, array in arrays.items()}
    for name, text in (
        ("p.json", json.dumps(data)),
        ("p.yaml", yaml.safe_dump(data, default_flow_style=None)),
    ):
        problem = loads(text.encode(), name)
        for letter, array in arrays.items():
            np.testing.assert_array_equal(problem.given[letter].value, array)
    root = parse_json(ErrorCollector(Source("p.json", json.dumps(data))))
    assert isinstance(root, MappingNode)
    assert all(
        isinstance(node, ListNode) and node.numbers is not None for node in root.values.values()
    )


def test_heads_beside_remarks_keep_their_numbers() -> None:
    heads = "[[[1, 2], [3, 4]],  # head 0\n  [[5, 6], [7, 8]]]"
    for matrix in loads(f"Q: {heads}\nK: {heads}\nV: {heads}\n".encode(), "p.yaml").given.values():
        assert matrix.value.tolist() == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
        assert np.array(matrix.written).ravel().tolist() == list("12345678")
    uneven = heads.replace("[5, 6]", "[5, 6, 0]")
    with pytest.raises(AttncliError, match="has 3 entries, but the first row has 2"):
        loads(f"Q: {uneven}\nK: {heads}\nV: {heads}\n".encode(), "p.yaml")


def test_short_texts_are_read_without_numpy_s_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with patch.object(long_lists, "Outline") as outline:
        loads(b"Q: [[1, 2]]\nK: [[1, 2]]\nV: [[3]]\n", "p.yaml")
    assert not outline.called
