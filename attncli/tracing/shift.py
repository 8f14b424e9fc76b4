"""Which softmax is shifted: the largest number of each row is subtracted before the exponentials.

Why that changes no weight, the rule `shifted` in `attention/steps.py` says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attncli.backend import Host
from attncli.dtypes import Dtype
from attncli.problem.model import Problem
from attncli.problem.parts.axes import HEAD, KEY_HEAD

# Decimals by which it is decided whether a softmax is shifted, even where fewer are shown: what is
# only printed shorter is the same trace. On paper these are the decimals that are worked with,
# however few.
FEWEST_DECIMALS = 3


class Shift(NamedTuple):
    """Says which softmax is shifted: where e to plain numbers overflows, or a whole row is less
    than e to `lowest`.

    `logits` and `outputs`, where they are not None, say it of the softmax of the attention and of
    that of a loss.
    """

    problem: Problem
    dtype: Dtype
    lowest: float
    logits: bool | None = None
    outputs: bool | None = None

    @classmethod
    def at(
        cls, precision: int, problem: Problem, dtype: Dtype, logits: bool | None = None
    ) -> Shift:
        """Where so many decimals are shown: e to less is rounded to 0, and a row would be divided
        by a printed 0.
        """
        lowest_shown = math.log(0.5) - precision * math.log(10)
        lowest = max(lowest_shown, dtype.lowest_exponent)
        return cls(problem, dtype, lowest, logits)

    def of_logits(self, logits: Host, letters: Sequence[str]) -> bool:
        """Whether the softmax of the attention is shifted, whose logits have these letters."""
        if self.logits is not None:
            return self.logits
        maxima = logits.max(axis=-1)
        if "sink" in self.problem.given:
            maxima = self._in_each_head(maxima, letters)
        return self.of_maxima(maxima, logits.shape[-1])

    def _in_each_head(self, maxima: Host, letters: Sequence[str]) -> Host:
        """The largest logit of each row in each query head, also where several heads share their
        logits.
        """
        if HEAD in letters:
            return maxima
        if KEY_HEAD not in letters:
            return maxima[..., np.newaxis, :]
        at = letters.index(KEY_HEAD)
        heads = self.problem.given["sink"].shape[0]
        return np.repeat(maxima, heads // maxima.shape[at], axis=at)

    def of_maxima(self, maxima: Host, terms: int) -> bool:
        """The same for rows, maybe some of all, by the largest of the logits in each, of which
        there are so many.
        """
        problem = self.problem
        # A sink is one more logit of every row, and of each head if there are several.
        if problem.sink:
            maxima = np.maximum(maxima, problem.sink.value)
            terms += 1
        elif "sink" in problem.given:
            of_heads = problem.given["sink"].value[:, None]
            maxima = np.maximum(maxima, of_heads)
            terms += 1
        base = problem.exp_base.value if problem.exp_base else math.e
        return self._needed(maxima * math.log(base), terms)

    def of_outputs(self, output: Host) -> bool:
        """Whether that of a cross-entropy is, whose logits are the rows of the output."""
        if self.outputs is not None:
            return self.outputs
        return self._needed(output.max(axis=-1), output.shape[-1])

    def is_far(self, output: Host) -> bool:
        """Whether e to the largest number of a row overflows, or is 0, in the format itself."""
        maxima = output.max(axis=-1)
        sizes = abs(maxima[np.isfinite(maxima)])
        return bool(sizes.max(initial=0.0) > self.dtype.highest_exponent_of(output.shape[-1]))

    def _needed(self, maxima: Host, terms: int) -> bool:
        maxima = maxima[np.isfinite(maxima)]
        if not maxima.size:
            return False
        overflows = maxima.max() > self.dtype.highest_exponent_of(terms)
        vanishes = maxima.min() < self.lowest
        return bool(overflows or vanishes)
