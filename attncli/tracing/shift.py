"""Whether a softmax can be shown as textbooks do, e to the plain scores, or has to be shifted."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from attncli.backend import Host
from attncli.choices import Dtype
from attncli.problem.model import Problem


def lowest_shown(precision: int) -> float:
    """The smallest x for which e^x is not rounded to 0: below, a row would be divided by a printed 0."""
    return math.log(0.5) - precision * math.log(10)


def shift_where_needed(problem: Problem, dtype: Dtype, lowest: float) -> Callable[[Host], bool]:
    """Whether e to the plain logits would overflow in some row, or be less than e to `lowest` in all of it."""

    def needed(logits: Host) -> bool:
        maxima = logits.max(axis=-1)
        if problem.sink:
            maxima = np.maximum(maxima, problem.sink.value)
        elif "sink" in problem.given:
            maxima = np.maximum(maxima, problem.given["sink"].value[:, None])
        base = problem.exp_base.value if problem.exp_base else math.e
        maxima = maxima[np.isfinite(maxima)] * math.log(base)
        if not maxima.size:
            return False
        room = math.log(logits.shape[-1]) + 0.5  # a sum over all keys must still fit
        return bool(maxima.max() > dtype.highest_exponent - room or maxima.min() < lowest)

    return needed
