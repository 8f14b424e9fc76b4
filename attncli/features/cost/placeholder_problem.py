"""Problems of the same form as another, with axes that it lacks: a context, several heads, entries of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from attncli.features.cost.sizes import Sizes
from attncli.problem.axes import BATCH, HEAD, KEY_HEAD, OF_KEYS, OF_QUERIES, PER_HEAD, Axes
from attncli.problem.keys import ARRAYS
from attncli.problem.model import Matrix, Problem

_ROWS = ("X", "context")
_STACKED = ("Q", "K", "V", "past_K", "past_V")  # by heads, and then by entries


def crossed(problem: Problem) -> Problem:
    """Cross-attention in place of self-attention: X is also the context."""
    given = {**problem.given, "context": problem.given["X"]}
    return replace(problem, given={name: given[name] for name in ARRAYS if name in given})


def with_axes(problem: Problem, axes: Axes, asked: Sizes, sizes: Mapping[str, int]) -> Problem:
    """The problem with an axis for heads, for those of keys and for entries where these sizes need one.

    They are as short as can be: the plan asks only whether there is one head or more, and whether keys have fewer.
    """
    batched, split = axes.batch is not None, axes.heads is not None or axes.kv_heads is not None
    batch, heads = batched or sizes.get("batch", 1) > 1, split or sizes["heads"] > 1
    grouped = sizes["kv_heads"] < sizes["heads"]
    if (batched, split, axes.group > 1) == (batch, heads, grouped) and asked.kv_heads is None:
        return problem  # where one K serves all heads, it goes on doing so
    several = min(sizes["heads"], 2)
    short = {BATCH: 1, HEAD: several, KEY_HEAD: 1 if grouped else several}
    given = {}
    for name, matrix in problem.given.items():
        leading: list[str] = [BATCH] * (batch and name in (*_ROWS, *_STACKED))
        if (heads and name in (*OF_QUERIES, *OF_KEYS)) or (batch and name in _STACKED):
            leading.append(KEY_HEAD if name in OF_KEYS else HEAD)
        own = matrix.value.shape[matrix.value.ndim - len(ARRAYS[name].letters) :]
        given[name] = Matrix(np.broadcast_to(0.0, (*(short[letter] for letter in leading), *own)))
    return replace(problem, given=given | {name: problem.given[name] for name in PER_HEAD if name in given})
