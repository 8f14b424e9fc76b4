"""Numbers that are nothing but roundings: where large terms cancel, what is left of them is printed as the 0 it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attncli.dtypes import DTYPES
from attncli.tracing.model import Step, Trace

MOST = 2**12  # numbers of the largest step; in larger traces nobody looks for zeros, and not all is kept


def cleared(trace: Trace, precision: int) -> Trace:
    """The trace with 0 in place of each residue that these decimals would print as 0.000.

    Whether a number is one is told by the magnitudes of its terms: 3·0.1 - 0.3 is, a weight of 1e-17 is not.
    """
    if max((step.value.size for step in trace.steps.values()), default=0) > MOST:
        return trace
    doubtful = [step for step in trace.computed() if _may_have(step, precision)]
    if not doubtful:
        return trace
    from attncli.tracing.magnitudes import HONEST, Magnitudes  # which few pages need

    dtype = DTYPES[trace.settings.dtype]
    magnitudes = Magnitudes(trace, dtype)
    steps = dict(trace.steps)
    for step in doubtful:
        noise = HONEST * dtype.epsilon * magnitudes[step.name]
        residue = (np.abs(step.value) <= noise) & (np.abs(step.value) < _unseen(precision))
        if (residue & (step.value != 0)).any():
            steps[step.name] = replace(step, value=np.where(residue, step.value.dtype.type(0), step.value))
    return replace(trace, steps=steps)


def _may_have(step: Step, precision: int) -> bool:
    if step.written is not None or step.exact is not None:
        return False
    return bool(((np.abs(step.value) < _unseen(precision)) & (step.value != 0)).any())


def _unseen(precision: int) -> float:
    return 0.5 * 10.0**-precision
