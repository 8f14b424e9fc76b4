"""Whether a softmax can be shown as textbooks do, e to the plain scores, or has to be shifted.

Why a shift changes no weight, the rule of the step `shifted` says (`attention/steps.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from attncli.backend import Host
from attncli.dtypes import Dtype
from attncli.problem.model import Problem


def lowest_shown(precision: int) -> float:
    """The smallest x for which e^x is not rounded to 0: below, a row would be divided by a printed 0."""
    return math.log(0.5) - precision * math.log(10)


@dataclass(frozen=True, slots=True)
class Shift:
    """Says which softmax is shifted: where e to plain numbers overflows, or a whole row is less than e to `lowest`.

    `logits` and `outputs`, where they are not None, say it of the softmax of the attention and of that of a loss.
    """

    problem: Problem
    dtype: Dtype
    lowest: float
    logits: bool | None = None
    outputs: bool | None = None

    def of_logits(self, logits: Host) -> bool:
        """Whether the softmax of the attention is shifted."""
        return self.of_maxima(logits.max(axis=-1), logits.shape[-1]) if self.logits is None else self.logits

    def of_maxima(self, maxima: Host, terms: int) -> bool:
        """The same for rows, maybe some of all, by the largest of the logits in each, of which there are so many."""
        problem = self.problem
        if problem.sink:
            maxima = np.maximum(maxima, problem.sink.value)
        elif "sink" in problem.given:
            maxima = np.maximum(maxima, problem.given["sink"].value[:, None])
        base = problem.exp_base.value if problem.exp_base else math.e
        return self._needed(maxima * math.log(base), terms)

    def of_outputs(self, output: Host) -> bool:
        """Whether that of a cross-entropy is, whose logits are the rows of the output."""
        return self._needed(output.max(axis=-1), output.shape[-1]) if self.outputs is None else self.outputs

    def _needed(self, maxima: Host, terms: int) -> bool:
        maxima = maxima[np.isfinite(maxima)]
        if not maxima.size:
            return False
        room = math.log(terms) + 0.5  # a sum over all of them must still fit
        return bool(maxima.max() > self.dtype.highest_exponent - room or maxima.min() < self.lowest)
