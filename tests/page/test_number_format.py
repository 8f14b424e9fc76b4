"""Numbers printed by the row are printed as they are one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.page.printer import format_number, format_rows

TIES = st.integers(-3000, 3000).map(lambda number: number / 2000)
NOISE = TIES.flatmap(
    lambda tie: st.sampled_from([tie, tie + 1e-9, tie - 1e-9, tie * (1 + 2**-52), tie + 2e-4])
)


@given(
    row=st.lists(st.floats() | TIES | NOISE | st.floats(-2, 2), min_size=1, max_size=8),
    precision=st.integers(0, 15),
)
@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_each_is_what_show_makes_of_it(row: list[float], precision: int, kind: str) -> None:
    with np.errstate(all="ignore"):
        array = np.array([row, row[::-1]]).astype(kind)
    assert format_rows(array, precision) == [
        [format_number(float(number), precision) for number in each] for each in array
    ]
