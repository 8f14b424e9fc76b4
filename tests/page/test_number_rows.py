"""Numbers as JSON, row by row: the same text with and without orjson, whole numbers as integers, in
little memory.
"""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.page import data
from attncli.page.data import number_rows
from attncli.page.document import Document
from attncli.render import json as json_pages
from attncli.render import pieces, render
from attncli.tracing.json_numbers import json_values
from tests.cases import in_one_test

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -3.0,
    2.5,
    1e-5,
    1.5e-7,
    1e15,
    2.0**49,
    2.0**53,
    1e16,
    1e22,
    1.7e308,
    -np.inf,
    np.inf,
    np.nan,
    float(np.finfo(np.float64).min),
    5e-324,
    100.0,
    1230.0,
    0.1,
]
NUMBERS = st.sampled_from(SPECIAL) | st.floats()


@pytest.fixture(params=["alone", "orjson"], autouse=True)
def _writers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "orjson":
        pytest.importorskip("orjson")
    else:
        monkeypatch.setattr(json_pages, "_row_writer", lambda: json_pages._dump)
    monkeypatch.setattr(data, "MOST_NUMBERS_AS_LISTS", 0)


def text(array: np.ndarray) -> str:
    return render(Document("", (), lambda: {"value": number_rows(array)}), "json")


@given(row=st.lists(NUMBERS, min_size=1, max_size=6), kind=st.sampled_from(["float64", "float32"]))
def test_values_are_those_of_plain_lists(row: list[float], kind: str) -> None:
    with np.errstate(all="ignore"):
        array = np.array([row, row[::-1]]).astype(kind)
    expected = json_values(array)
    written = text(array)
    assert written == render(Document("", (), lambda: {"value": expected}), "json")
    for found, wanted in zip(json.loads(written)["value"], expected, strict=True):
        assert list(map(type, found)) == list(map(type, wanted))
        assert repr(found) == repr(wanted)


@in_one_test("shape", [(3,), (2, 3), (2, 2, 3), (1, 2, 1, 2)])
def test_the_layout_is_that_of_lists(shape: tuple[int, ...]) -> None:
    array = np.arange(1, np.prod(shape) + 1).reshape(shape) / 4
    lists = Document("", (), lambda: {"value": array.tolist(), "more": {"a": [[1]]}})
    rows = Document("", (), lambda: {"value": number_rows(array), "more": {"a": [[1]]}})
    whole = render(rows, "json")
    plain = render(
        Document("", (), lambda: {"value": json_values(array), "more": {"a": [[1]]}}), "json"
    )
    assert whole == plain
    assert json.loads(whole) == json.loads(render(lists, "json"))
    assert "".join(pieces(rows, "json")) == whole


@pytest.mark.slow
def test_no_more_than_some_rows_is_text_at_once() -> None:
    array = np.random.default_rng(0).standard_normal((500, 500))

    def drain(all_of_it: Iterator[str]) -> int:
        return sum(map(len, all_of_it))

    document = Document("", (), lambda: {"value": number_rows(array)})
    tracemalloc.start()
    written = drain(pieces(document, "json"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert written > 4 * 10**6
    assert peak < 2**20
