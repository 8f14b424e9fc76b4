"""An equation may name how long an axis is: n_j is the number of keys, also where it sums over no
key.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import attncli

QKV: dict[str, Any] = {"Q": [[1, 0], [0, 1]], "K": [[1, 2], [2, 1], [0, 0]], "V": [[1], [2], [3]]}


@pytest.mark.parametrize(
    ("written", "length"),
    [("n_i", 2), ("n_j", 3), ("n_k", 2), ("d_k", 2), ("n_t", 4)],
)
def test_it_is_the_number_of_places(written: str, length: int) -> None:
    trace = attncli.trace(
        **QKV,
        arrays={"size[t]": [1, 2, 3, 4]},
        equations=[f"weights[i, j] = scaled[i, j] * size[0] + {written}"],
    )
    np.testing.assert_allclose(trace["weights"], trace["scaled"] + length, rtol=1e-15)


@pytest.mark.parametrize(
    ("written", "message", "help"),
    [
        ("n_z", "nothing says how long z is", "read an array with the index z"),
        ("n_keys", "nothing is called n_keys", "give it under arrays, or define it: n_keys[i] = …"),
    ],
)
def test_a_length_that_nothing_says_is_an_error(written: str, message: str, help: str) -> None:
    with pytest.raises(attncli.AttncliError) as caught:
        attncli.trace(**QKV, equations=[f"weights[i, j] = scaled[i, j] + {written}"])
    assert str(caught.value) == f"equations[0]: {message}"
    assert caught.value.help == help
