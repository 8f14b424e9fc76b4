"""The printed form of all numbers of an array: what `show` makes of each, most of them in one go for a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from attncli.page.printer import NEAR, SAFE, show

if TYPE_CHECKING:
    from numpy.typing import NDArray


def show_all(array: NDArray[Any], precision: int) -> list[list[str]]:
    """The rows of a matrix, printed: far from ties and from whole numbers Python rounds as `show` does."""
    values = array.astype(np.float64)
    with np.errstate(all="ignore"):
        size = np.abs(values)
        scaled = size * 10.0**precision
        plain = (scaled < SAFE) & (np.abs(scaled % 1 - 0.5) > NEAR) & (np.abs(values - np.round(values)) > NEAR)
        plain &= (values > 0) | (scaled > 1)  # no minus before a zero
    form = f"%.{precision}f\n" * values.shape[1]
    rows = []
    for row, sure in zip(values.tolist(), plain, strict=True):
        texts = (form % tuple(row)).split("\n")[:-1]
        for place in np.flatnonzero(~sure).tolist():
            number = row[place]
            texts[place] = "0" if number == 0 else show(number, precision)
        rows.append(texts)
    return rows
