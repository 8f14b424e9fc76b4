"""Numbers as JSON has them: whole ones without a point, and all the same bits when they are read
back.
"""

from __future__ import annotations

import json

import numpy as np

from attncli.tracing.json_numbers import array_of, json_values
from tests.cases import in_one_test


@in_one_test(
    ("numbers", "text"),
    [
        ([1.0, -2.0, 0.0], "[1, -2, 0]"),
        ([-1.0], "[-1]"),
        ([-0.0, 0.5], "[-0.0, 0.5]"),
        ([-9007199254740991.0, 9007199254740991.0], "[-9007199254740991, 9007199254740991]"),
        ([-1e16, 1e16], "[-1e+16, 1e+16]"),
        ([-np.inf, np.nan, -3.0], '["-Infinity", "NaN", -3]'),
    ],
)
def test_whole_numbers_have_no_point(numbers: list[float], text: str) -> None:
    assert json.dumps(json_values(np.array(numbers))) == text
    assert array_of(json.loads(text)).tobytes() == np.array(numbers).tobytes()
