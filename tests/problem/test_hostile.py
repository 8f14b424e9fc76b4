"""Bytes nobody meant as a problem: whatever they are, the answer is a problem or an error with a
place.
"""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.errors import AttncliError
from attncli.problem.loader import loads
from tests.cases import in_one_test
from tests.tools.fuzz.mutations import ODD, PIECES

GOOD = (
    'title: "a"\ntokens: [a, b]\nX: [[1, 0.5], ["1/3", -1e3]]\nW_Q: [[1], [sqrt(2)]]\nW_K: [[1],'
    " [2]]\nW_V: {random: [2, 2], seed: 1}\nmask: [{causal: true, corner: bottom-right}, {padding:"
    " [1, 0], lengths: [2]}, {additive: [[0, -.inf], [1, 2]]}]\nscale: none\n"
)
ODD_PIECES = st.sampled_from([*PIECES, *ODD])
NAMES = st.sampled_from(["p.yaml", "p.json", "standard input"])


@given(st.binary(max_size=60), NAMES)
def test_any_bytes(data: bytes, name: str) -> None:
    with contextlib.suppress(AttncliError):
        loads(data, name)


@given(
    st.lists(st.tuples(st.integers(0, len(GOOD)), ODD_PIECES, st.integers(0, 6)), max_size=4),
    NAMES,
)
def test_a_problem_with_slips_of_the_pen(slips: list[tuple[int, str, int]], name: str) -> None:
    text = GOOD
    for at, piece, dropped in slips:
        text = text[:at] + piece + text[at + dropped :]
    try:
        loads(text.encode(), name)
    except AttncliError as error:
        for each in (error, *error.more):
            _check(each, text)


def _check(error: AttncliError, text: str) -> None:
    """An error has words, a help line, and a place that is in the file."""
    assert error.message
    assert error.help
    assert error.place is not None
    lines = re.split("\r\n|[\r\n]", text.removeprefix("\ufeff"))
    assert 1 <= error.place.line <= len(lines)
    assert error.place.source == lines[error.place.line - 1]
    assert 1 <= error.place.column <= len(error.place.source) + 1


def test_the_unchanged_problem_is_good() -> None:
    assert loads(GOOD.encode(), "p.yaml").title == "a"


@in_one_test(
    "text", ["? " * 5000, "{a: " * 5000, "&a " * 5000, "[{" * 5000, "a: |\n" + " x\n" * 5000]
)
@in_one_test("name", ["p.yaml", "p.json"])
def test_deep_and_long(text: str, name: str) -> None:
    with pytest.raises(AttncliError):
        loads(text.encode(), name)
