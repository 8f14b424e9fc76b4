"""Columns of a matrix that are equal, or opposite in all signs: so are then columns of the output,
and who copied one of them cannot be told from who wrote wrong signs.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

# As few columns are alike as in at least this share of draws: fewer would take too long to find.
LEAST_SHARE = 0.02


def columns_alike(matrices: NDArray[np.float64]) -> NDArray[np.intp]:
    """How many pairs of columns are equal or opposite in each of these draws of a matrix, or of
    those of its heads.

    >>> columns_alike(np.array([[[1.0, 0, -1], [2, 1, -2]], [[1, 0, 1], [2, 1, 0]]]))
    array([1, 0])
    """
    products = matrices.swapaxes(-1, -2) @ matrices
    lengths = np.diagonal(products, axis1=-2, axis2=-1)
    # Vectors of one length are parallel if their product is the square of it.
    is_as_long = lengths[..., :, None] == lengths[..., None, :]
    is_parallel = abs(products) == lengths[..., None, :]
    is_alike = is_as_long & is_parallel
    alike = is_alike.reshape(len(matrices), -1).sum(axis=-1)
    each_with_itself = lengths[0].size
    return np.asarray((alike - each_with_itself) // 2)


def fewest_alike(matrices: Mapping[str, NDArray[np.float64]]) -> dict[str, int]:
    """How many pairs of columns of each matrix are alike at least, as far as these draws say."""
    fewest = {}
    for name, drawn in matrices.items():
        if not len(drawn):
            continue
        pairs = np.sort(columns_alike(drawn))
        fewest[name] = int(pairs[int(LEAST_SHARE * len(pairs))])
    return fewest
