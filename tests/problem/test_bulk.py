"""Long lists of numbers, read in one go: the same tree as the careful reader's, or none at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from attncli.errors import AttncliError
from attncli.problem import bulk, json_reader, shortened, values, yaml_reader
from attncli.problem import loader as reader
from attncli.problem.digits import read_numbers
from attncli.problem.loader import loads
from attncli.problem.many import Many, moved
from attncli.problem.nodes import Leaf, Mapping, Node, Sequence
from attncli.problem.numbers import as_float
from attncli.problem.source import Source
from attncli.problem.values import ErrorCollector

NUMBERS = st.one_of(
    st.sampled_from(["0", "-0", "1", "-1.5", ".5", "1.", "+2", "1e3", "1E-5", "-.25e+2", "00.5", "010", "-01", "1e",
                     "-", ".", "1e400", "1e-400", "0e-400", "1.5.5", "1-2", "--1", "0.1234567890123456789",
                     "123456789012",
                     "0.000000000000001", "999999999999999", "9999999999999999", "12345678.5", "123456789.5"]),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-1000, 1000, places=9).map(str),
)  # fmt: skip
WORDS = st.sampled_from([
    "x", "love", "1/3", "-inf", "-.inf", "true", "True", "null", "nan", "NaN", "2*sqrt(3)", "*a", "(1)", "/", "-x",
    "--x", "...", "---", "..a", "+", "_", "1_000", "0x10", "a b", "é", "~", "<<", "yes", "falsy", "tru", "trues", "nul",
    '"x"', '""', '"1"', '"1/3"', '"a b"', '"a,b"', '"[1]"', '"', 'a"b', '"a"b', 'a"', '"a""b"', '"\\n"', '"true"',
    "'a'", "'a b'", "'1/3'", "'", "'a", "a'", "it's", "'it''s'", "''", "'\"'", "\"'\"", "'a'b", "'a' 'b'", "%", "5%",
    "%a", "\u22123", "?", "a?", "?a", "\u00a0", "\u2028", "\ufeff", "日本", "'é'", '"é"', "^", "a~", "\u0301",
])  # fmt: skip
FRAMES = (
    '"{}"', "'{}'", "a {}", "{} b", "&a {}", "[{}, 1]", "{{b: {}, c: 2}}", "- {}", "|\n  {}", "# {}",
    "\n  - x\n  - {}", "\n  -\n  - {}", "\n  - {}\n  - x",
    "{{\nb:\n  - {}\n  }}", "[\n  - {}\n  ]",
)  # fmt: skip
BLANKS = st.sampled_from(["", "", " ", "  ", "\n  ", " \n "])


@pytest.fixture(autouse=True)
def _any_list_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "LONG", 0)
    monkeypatch.setattr(shortened, "LONG", 0)
    monkeypatch.setattr(bulk, "_STEP", 7)


def plain(node: Node) -> Any:
    """A tree as tuples, each with its place."""
    match node:
        case Leaf(text=text, quoted=quoted, at=at):
            return text, quoted, at
        case Sequence(items=items, at=at):
            return at, [plain(item) for item in items]
        case Mapping(values=values, keys=keys, at=at):
            return at, {key: plain(value) for key, value in values.items()}, keys


def outcome(read: Callable[[ErrorCollector], Node | None], text: str) -> Any:
    """The tree, or what is wrong with the text and where."""
    errors = ErrorCollector(Source("p", text))
    try:
        node = read(errors)
        errors.stop()
    except AttncliError as error:
        return error.message, error.place
    return None if node is None else plain(node)


@st.composite
def lists(draw: st.DrawFn, depth: int = 0) -> str:
    """A list of numbers, or of lists of them; mostly a regular one."""
    deeper = depth < 3 and draw(st.booleans())
    single = NUMBERS if draw(st.booleans()) else NUMBERS | WORDS
    items = draw(st.lists(lists(depth + 1) if deeper else single, min_size=draw(st.integers(0, 1)), max_size=3))
    if items and deeper and draw(st.booleans()):
        items = [items[0]] * draw(st.integers(1, 3))
    if draw(st.integers(0, 15)) == 0:
        items.append(draw(st.sampled_from(["", "[]", "[1]", "1 2", "1/3", "x", "3", "[[2]]"])))
    blank = [draw(BLANKS) for _ in range(2 * len(items) + 1)]
    return "[" + ",".join(f"{blank[2 * k]}{item}{blank[2 * k + 1]}" for k, item in enumerate(items)) + "]"


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A problem with lists of numbers wherever they may stand, and where they may not."""
    found = []
    for key in draw(
        st.lists(st.sampled_from(["X", "W_Q", "é", "1e5", "[1, 2]", '"a"', "- [3]"]), max_size=4, unique=True)
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
def test_yaml_is_read_as_the_careful_reader_reads_it(text: str) -> None:
    careful = partial(yaml_reader._read, loader=yaml_reader.LOADER)
    quick = outcome(partial(shortened.read_shortened, read=careful, strict=False), text)
    assert quick is None or quick == outcome(careful, text)


@given(data=st.lists(lists(), min_size=1, max_size=3), loose=st.booleans())
def test_json_is_read_as_the_careful_reader_reads_it(data: list[str], loose: bool) -> None:
    text = "{" + ", ".join(f'"{place}": {numbers}' for place, numbers in enumerate(data)) + "}" * (not loose)
    careful = partial(json_reader._read, words=json_reader._WORDS)
    quick = outcome(partial(shortened.read_shortened, read=careful, strict=True), text)
    assert quick is None or quick == outcome(careful, text)


@given(words=st.lists(NUMBERS, min_size=1, max_size=40))
def test_numbers_are_the_nearest_doubles(words: list[str]) -> None:
    text = " " * 16 + " ".join(words)
    ends = np.cumsum([16, *(len(word) + 1 for word in words)]).astype(np.int32)
    lengths = np.array([len(word) for word in words], dtype=np.int32)
    read, odd = read_numbers(np.frombuffer(text.encode(), np.uint8), ends[:-1], ends[:-1] + lengths)
    try:
        expected = [as_float(word) if word.strip("-+")[:2] not in ("00", "01") else float(word) for word in words]
    except ValueError:
        assert odd
        return
    assert not odd
    assert read.tolist() == expected
    assert not np.signbit(read[read == 0]).any()


@pytest.mark.parametrize(
    "text",
    [
        "X: [[1, 2], [3, 4]]\nW: [[1.5, 2.5], [-3, 4e1]]",
        "X:\n- [1, 2]\n- [3, 4]\nmask: causal",
        "a:\n  X:\n  - [1,\n     2]\n  - [3, 4]\n",
        "X: [[[1], [2]], [[3], [4]]]",
        "é: 'ü'\nX: [[1, 2], [3, 4]] # 日本\n",
        "tokens: [I, love, AI]",
        'X: [[1, "1/3"], [-inf, x]]',
        "X: [[1, 2], [3], [], [4, 5, x]]",
        "X: [[[1, 2], [3]], [[x]]]",
        "X:\n  - [1, x]\n  - [3]\nmask: causal",
        "X: [[],[]]",
        "X: [[\u22123, 5%], ['1/3', ~]]",
        "X: [[1, 2], [[3], 4, []], [5]]",
        "tokens: ['a', \"b\", wörd, 日本]",
        "X: [[1, 2], [3, [4]]]",
    ],
)
def test_these_are_read_in_one_go(text: str) -> None:
    careful = partial(yaml_reader._read, loader=yaml_reader.LOADER)
    assert outcome(partial(shortened.read_shortened, read=careful, strict=False), text) == outcome(careful, text)
    assert list(bulk.find(text, strict=False))


@pytest.mark.parametrize("text", ["{Q:\n- [1, 2]\n- [3, 4]\n}", "Q: {b:\n  - [1]\n  - [2]\n}", "[\n- [1]\n- [2]]"])
def test_dashes_inside_brackets_are_refused(text: str) -> None:
    with pytest.raises(AttncliError, match="a value is missing"):
        yaml_reader.read_yaml(ErrorCollector(Source("p", text)))


def test_a_problem_keeps_its_numbers_as_they_were_written() -> None:
    text = "Q: [[1.50, 2], [3, 4]]\nK: [[1, 0], [0, 1e0]]\nV:\n- [0.5, 1]\n- [1, 2]\n"
    problem = loads(text.encode(), "p.yaml")
    assert problem.given["Q"].written is not None
    assert problem.given["Q"].written.tolist() == [["1.50", "2"], ["3", "4"]]
    assert problem.given["V"].written is not None
    assert problem.given["V"].written.tolist() == [["0.5", "1"], ["1", "2"]]
    assert problem.given["K"].value.tolist() == [[1, 0], [0, 1]]
    assert not problem.given["K"].value.flags.writeable


@pytest.mark.parametrize("text", ["[[1, x], ['1/3', 4]]", "[[1, 2], [3]]", "[[1, 2], [3, 4]]", "[[[1], 2], []]"])
def test_a_list_can_be_moved(text: str) -> None:
    """As one is that is given with --set, behind the text of the file."""
    quick = yaml_reader.read_yaml(ErrorCollector(Source("p", text)))
    careful = yaml_reader._read(ErrorCollector(Source("p", text)), yaml_reader.LOADER)
    assert isinstance(quick, Many)
    assert plain(moved(moved(quick, 7), 2)) == plain(moved(careful, 9))
    assert moved(quick, 9).at == 9


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Q: [[1, 2]]\nK: [[1/3, sqrt(2)], [1/3, 1/3], ['1/3', sqrt(2)]]\nV: [[1], [2], [3]]", 3),
        ("Q: [[1, 2]]\nK: [[1, 2], [x, 4], [x, x]]\nV: [[1], [2], [3]]", 1 + 3),  # once for all, and where it is told
    ],
)
def test_each_text_is_read_once(text: str, read: int) -> None:
    no_plain = patch.object(reader, "read_plain", return_value=None)
    with no_plain, patch.object(values, "as_float", wraps=as_float) as reading, suppress(AttncliError):
        loads(text.encode(), "p.yaml")
    assert reading.call_count == read


def test_no_more_is_read_of_what_is_wrong_than_is_told() -> None:
    rows = ", ".join(f"[x{number}]" for number in range(3000))
    with patch.object(values, "as_float", wraps=as_float) as reading, pytest.raises(AttncliError) as caught:
        loads(f"Q: [[1]]\nK: [{rows}]\nV: [{rows}]\n".encode(), "p.yaml")
    assert len(caught.value.more) + 1 + caught.value.untold == 1000
    assert reading.call_count == 2000


def test_errors_are_told_where_they_are() -> None:
    text = "X: [[1, 2], [3, 4]]\nW_Q: [[1, 2], [3, 4]]\nW_K: [[1, 2], [3, x]]\nW_V: [[1, 2], [3, 4]]\nmask: 3"
    with pytest.raises(AttncliError) as found:
        loads(text.encode(), "p.yaml")
    error, (other,) = found.value, found.value.more
    assert error.place is not None
    assert other.place is not None
    assert (error.place.line, error.place.column, other.place.line, other.place.column) == (3, 19, 5, 7)


def test_a_file_of_numbers_agrees_with_other_readers() -> None:
    random = np.random.default_rng(0)
    arrays = {name: random.standard_normal((40, 8)).round(9) for name in "QKV"}
    data = {name: array.tolist() for name, array in arrays.items()}
    for name, text in (("p.json", json.dumps(data)), ("p.yaml", yaml.safe_dump(data, default_flow_style=None))):
        problem = loads(text.encode(), name)
        for letter, array in arrays.items():
            np.testing.assert_array_equal(problem.given[letter].value, array)
    errors = ErrorCollector(Source("p.json", json.dumps(data)))
    root = json_reader.read_json(errors)
    assert isinstance(root, Mapping)
    assert all(isinstance(node, Many) for node in root.values.values())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[[1, 2],\n\t[3, 4]]", "a.json"),
        ("[[1, 2], # the first row\n  [3, 4]]", "a.yaml"),
        ("[[1,\t2], [3, 4]]", "a.json"),
        ("[[\t1, 2], [3, 4]]", "a.json"),
        ("[[1, 2], [3,\t4]]", "a.yaml"),
    ],
)
def test_rows_read_by_themselves_keep_their_numbers(text: str, name: str) -> None:
    """Of a list with a tab or a comment in it, which is not read in one go, each row may be."""
    document = (
        f'{{"Q": {text}, "K": {text}, "V": {text}}}' if name == "a.json" else f"Q: {text}\nK: {text}\nV: {text}\n"
    )
    for matrix in loads(document.encode(), name).given.values():
        assert matrix.value.tolist() == [[1, 2], [3, 4]]
        assert np.array(matrix.written).tolist() == [["1", "2"], ["3", "4"]]


def test_matrices_read_by_themselves_keep_their_numbers() -> None:
    heads = "[[[1, 2], [3, 4]],  # head 0\n  [[5, 6], [7, 8]]]"
    for matrix in loads(f"Q: {heads}\nK: {heads}\nV: {heads}\n".encode(), "p.yaml").given.values():
        assert matrix.value.tolist() == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
        assert np.array(matrix.written).ravel().tolist() == list("12345678")
    uneven = heads.replace("[5, 6]", "[5, 6, 0]")
    with pytest.raises(AttncliError, match="has 3 entries where the first row has 2"):
        loads(f"Q: {uneven}\nK: {heads}\nV: {heads}\n".encode(), "p.yaml")
