"""Long matrices of JSON read row by row: the same numbers as one by one, or none at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.problem import bulk
from attncli.problem.numbers import as_float
from attncli.problem.quick import quick_reader, read_matrix

NUMBERS = st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.sampled_from(
    ["0", "-0", "-1.5", "1e3", "1E-5", "-0.25e+2", "12345678901234567890123", "0.1234567890123456789", "0e-400", "0e5"]
)
BLANKS = st.sampled_from(["", " ", "\n  "])


each_reader = pytest.mark.parametrize(
    "loads",
    [json.loads, pytest.param(quick_reader(), marks=pytest.mark.skipif(not quick_reader(), reason="no orjson"))],
)


MATRICES = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(NUMBERS, min_size=width, max_size=width), min_size=1)
)


@each_reader
@given(rows=MATRICES, blank=BLANKS, after=st.sampled_from(["", ", ", "]", "\n"]))
def test_a_matrix(rows: list[list[str]], blank: str, after: str, loads: Callable[[bytes], Any]) -> None:
    text = f"[{blank}" + f"{blank},{blank}".join(f"[{f',{blank}'.join(row)}]" for row in rows) + f"{blank}]"
    found = read_matrix(f"{text}{after}".encode(), loads)
    expected = np.array([[as_float(number) for number in row] for row in rows])
    if found is None:  # where one may be too small
        assert (expected == 0).any()
        assert "e-" in text
        return
    assert found[1] == len(text)
    np.testing.assert_array_equal(found[0], expected)
    assert not np.signbit(found[0][found[0] == 0]).any()


@each_reader
@pytest.mark.parametrize(
    "text",
    ["", "[", "[]", "[[]]", "[1, 2]", "[[1, 2], [3]]", "[[1], [2, 3]]", "[[1, 2]", "[[1, 2], 3]", "[[1, 2], ]",
     "[[1 2]]", "[[1,, 2]]", "[[1, 2,]]", "[[01]]", "[[+1]]", "[[.5]]", "[[1.]]", "[[1.e5]]", "[[1e]]", "[[-]]",
     "[[--1]]", "[[1e400]]", "[[1e-400]]", "[[1, 0, 1e-400]]", "[[[1]]]", "[[1]][", f"[[1, 0.{'0' * 398}1]]",
     f"[[{'1' * 401}]]", f"[[{'1' * 250}]]"],
)  # fmt: skip
def test_what_is_left_to_others(text: str, loads: Callable[[bytes], Any]) -> None:
    found = read_matrix(text.encode(), loads)
    assert found is None or (text == "[[1]][" and found[1] == 5)


@each_reader
def test_it_is_the_way_of_a_long_list(loads: Callable[[bytes], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "quick_reader", lambda: loads)
    monkeypatch.setattr(bulk, "read_part", None)
    numbers = np.random.default_rng(0).standard_normal((40, 60))
    text = json.dumps({"X": numbers.tolist(), "title": "[[1, 2]]"})
    (found,) = bulk.find(text, strict=True)
    np.testing.assert_array_equal(found.value, numbers)
    assert text[found.start : found.end] == json.dumps(numbers.tolist())
    monkeypatch.undo()
    monkeypatch.setattr(bulk, "LONG", 0)
    lists = bulk.lists_of(found, text, strict=True)
    assert lists.texts(slice(184, 185)) == [repr(float(numbers[3, 4]))]
