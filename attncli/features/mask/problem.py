"""The problem with the mask of a function, or with what a score_mod does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.features.mask.study import Study
from attncli.features.mask.words import is_matrix, score_keys
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.masks import Mask
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.keep_and_hide import Keep
from attncli.problem.python_values import read_values

# It stands above a problem in a file.
COMMENT = """\
# Q, K and V are only here so that attncli can work the problem out: all scores are 1 at first, and
# the value of a key is its position. The other keys can stand in any problem of this size.
"""
# With fewer digits, a number may be another one.
DIGITS_OF_FLOAT32 = 9


def problem_of(study: Study) -> Problem:
    """Queries and keys of ones, and values that are the positions of keys, with what the function
    does.
    """
    sizes = study.sizes
    leading = [sizes.entries, sizes.heads]
    while leading and leading[0] == 1:
        leading.pop(0)
    keys = np.broadcast_to(np.arange(sizes.keys)[:, None], (*leading, sizes.keys, 1))
    values: dict[str, Any] = {
        "title": study.name,
        "tokens": [f"q{place}" for place in range(sizes.queries)],
        "context_tokens": [f"k{place}" for place in range(sizes.keys)],
        "Q": np.ones((*leading, sizes.queries, 1), dtype=int).tolist(),
        "K": np.ones_like(keys).tolist(),
        "V": keys.tolist(),
    }
    problem = read_values(values | score_keys(study))
    return replace(problem, mask=mask_of(study))


def mask_of(study: Study) -> Mask:
    """The mask of a problem: the shortest of all heads, or else a matrix for each; and numbers that
    a score_mod adds.
    """
    if len(study.masks) == 1:
        mask = study.masks[0].mask
    else:
        mask = Mask((Keep(_without_ones(study.visible)),))
    if is_matrix(mask):
        mask = Mask((Keep(_without_ones(study.visible)),))
    if not study.adds_matrix:
        return mask
    assert study.score is not None
    assert study.score.added is not None
    added = _without_ones(study.score.added)
    written = np.array([_written(each) for each in added.ravel().tolist()], dtype=object)
    part = Additive(Matrix(added, written.reshape(added.shape)))
    return Mask((*mask.parts, part), mask.corner)


def _without_ones(array: NDArray[Any]) -> NDArray[Any]:
    """Without the axes of entries and heads that say nothing, as far as a mask can leave them
    out.
    """
    if (array == array[:, :1]).all():
        array = array[:, :1]
    if len(array) == 1:
        array = array[0]
        if len(array) == 1:
            array = array[0]
    return array


def _written(number: float) -> str:
    """A number in its shortest spelling, of a float32 if it is one."""
    short = np.float32(number)
    text = str(short) if float(short) == number else repr(number)
    return text.removesuffix(".0")
