"""What is told of large negative numbers in place of -inf; the numbers themselves are held in
tests/conformance.
"""

from __future__ import annotations

import math

import mpmath
import pytest

from attncli.problem.loader import loads
from attncli.tracing import run
from attncli.tracing.slices import trace_at
from tests.cases import in_one_test


def warnings(
    mask: str, *, keys: str = "[[0], [1]]", query: float = 1, dtype: str = "float64", more: str = ""
) -> tuple[str, ...]:
    """Those of queries q1, q2, … of one number, so that a score is the query times a key."""
    queries = [[query]] * (mask.count("[") - 1)
    text = (
        f"tokens: {[f'q{at}' for at in range(1, len(queries) + 1)]}\nQ: {queries}\nK: {keys}\nV:"
        f" {keys}\n"
    )
    return run(
        loads(f"{text}score: dot\nmask: {{additive: {mask}}}\n{more}".encode(), "p.yaml"),
        dtype=dtype,
    ).warnings


@pytest.mark.parametrize("mask", ["[[0, -1e4]]", "[[0, -1e9]]", "[[-999, -999]]", "[[0, -.inf]]"])
def test_nothing_is_told_of_what_hides(mask: str) -> None:
    assert warnings(mask) == ()


def test_weight_that_leaks() -> None:
    """A score of 1,002 outdoes -1,000: of e^0 and e^2, the second is what leaks."""
    leak = mpmath.exp(2) / (1 + mpmath.exp(2))
    said = (
        f'query "q1" (row 0) gives {float(leak):.3g} of its attention to keys that -1000 should'
        " hide"
    )
    assert warnings("[[0, -1000]]", keys="[[0], [1002]]") == (said,)
    twice = warnings("[[0, -1000], [0, -1001]]", keys="[[0], [1002]]")
    assert twice == (f"{said} (the most in 2 rows)",)


CANCEL = "equal numbers cancel out, so the weights are as if no key were hidden"
LOSES = "{} has no digits left for the scores, so all 2 keys get the same weight"


@in_one_test(
    ("mask", "dtype", "by", "outcome"),
    [
        ("[[-1e4, -1e4]]", "float64", "-10000", CANCEL),
        ("[[-1e9, -1e9]]", "float64", "-1e9", CANCEL),
        ("[[-.inf, -1e4]]", "float64", "-10000", CANCEL),
        (
            "[[-1e4, -2e4]]",
            "float64",
            "-10000",
            "the keys with the highest of these numbers get all attention",
        ),
        # numbers of 24 bits lie 64 apart near 1e9, those of 53 bits 2^75 apart near 3.4e38
        ("[[-1e9, -1e9]]", "float32", "-1e9", LOSES.format("float32")),
        ("[[-3.4e38, -3.4e38]]", "float64", "-3.4e38", LOSES.format("float64")),
    ],
)
def test_rows_of_only_sentinels(mask: str, dtype: str, by: str, outcome: str) -> None:
    said = f'query "q1" (row 0) sees only keys that {by} should hide; {outcome}'
    assert warnings(mask, dtype=dtype) == (said,)


def test_digits_that_are_lost_beside_a_sentinel() -> None:
    """Numbers of 24 bits lie 8 apart near -1e8: the scores 0, 3 and 20 become 0, 0 and 16 or 24."""
    (said,) = warnings("[[-1e8, -1e8, -1e8]]", keys="[[0], [3], [20]]", dtype="float32")
    assert said.endswith("float32 has too few digits left for the scores, so the weights are wrong")


@in_one_test(
    ("lowest", "dtype", "told"),
    [
        ("-1e9", "float16", "-1e9"),
        ("-65520", "float16", "-65520"),
        ("-65519", "float16", ""),
        ("-65504", "float16", ""),
        ("-3.39e38", "bfloat16", ""),
        ("-3.4e38", "bfloat16", "-3.4e38"),
        ("-3.4e38", "float32", ""),
        ("-3.5e38", "float32", "-3.5e38"),
        ("-1e308", "float64", ""),
    ],
)
def test_a_number_that_a_format_has_no_room_for(lowest: str, dtype: str, told: str) -> None:
    """65519 is the last number that is rounded to 65504, the largest of float16."""
    said = f"{dtype} has no number as low as {told}: it becomes -inf and hides a key completely"
    assert warnings(f"[[0, {lowest}]]", dtype=dtype) == ((said,) if told else ())


def test_a_sink_takes_what_a_row_of_sentinels_leaves() -> None:
    (said,) = warnings("[[-1e4, -1e4]]", more="sink: 0")
    assert said.endswith("no key gets any attention")


def test_alike_rows_are_told_together() -> None:
    (said,) = warnings("[[-1e4, -1e4], [0, 0], [-1e4, -1e4], [-1e4, -1e4]]")
    assert said.startswith(
        'queries "q1" (row 0), "q3" (row 2) and "q4" (row 3) see only keys that -10000 should hide;'
    )


def test_heads_are_named() -> None:
    text = "Q: {random: [2, 1, 2]}\nK: {random: [2, 2, 2]}\nV: {random: [2, 2, 2]}\n"
    trace = run(loads(f"{text}mask: {{additive: [[[0, 0]], [[-1e4, -1e4]]]}}".encode(), "p.yaml"))
    assert [said[:37] for said in trace.warnings] == ['query "t1" (row 0) in head 1 sees onl']
    assert trace_at(trace, {"h": 0}).warnings == ()
    assert [said[:28] for said in trace_at(trace, {"h": 1}).warnings] == [
        'query "t1" (row 0) sees only'
    ]


def test_the_row_is_told_as_it_is() -> None:
    """What is said of cancelling holds: the weights are those of the row without a mask."""
    text = b"Q: [[1]]\nK: [[0], [1]]\nV: [[0], [1]]\nscore: dot\nmask: {additive: [[-1e4, -1e4]]}"
    weights = run(loads(text, "p.yaml"))["weights"]
    assert weights.tolist() == [
        [pytest.approx(1 / (1 + math.e)), pytest.approx(math.e / (1 + math.e))]
    ]
