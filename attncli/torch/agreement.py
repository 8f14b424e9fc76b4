"""Whether attncli's numbers are those that a recorded call gave back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from attncli.dtypes import DTYPES
from attncli.english import count
from attncli.torch.call import to_numpy
from attncli.tracing.comparison import Comparison, Operand, compare
from attncli.tracing.run import run

if TYPE_CHECKING:
    from attncli.torch.call import Call


class Agreement(NamedTuple):
    """attncli's numbers beside the recorded ones. It is true where they agree, and printed as a sentence."""

    comparison: Comparison

    def __bool__(self) -> bool:
        return self.comparison.first is None

    def __repr__(self) -> str:
        first = self.comparison.first or self.comparison["output"]
        assert first.difference is not None
        differ = first.difference
        if self:
            return f"attncli's output is the one that was recorded: they differ by at most {differ.absolute:.2g}"
        cells = count(differ.differing, "cell")
        return f"the first step that differs is {first.name}: {cells}, by at most {differ.absolute:.2g}"


def agreement(call: Call) -> Agreement:
    """Compare the recorded output, and the weights where the call gave them, with what attncli works out.

    The tolerance is that of the recorded number format. Queries that see no key are left out: attncli has 0 there, and
    others have NaN, or the plain mean of all values.
    """
    call.kept()
    assert call.output is not None
    joined = call.projections is not None and "W_O" in call.projections.arrays
    problem = call.problem(from_inputs=joined)
    trace = run(problem)
    arrays = {"output": _numbers(call.output, call.entries, joined)}
    if call.weights is not None:
        arrays["weights"] = _numbers(call.weights, call.entries, joined=False)
    for name, array in arrays.items():
        for row in trace.fully_masked:
            at = (*row[:-2], row[-1]) if isinstance(row, tuple) and joined and name == "output" else row
            array[at] = trace[name][at]
    recorded = Operand("the recorded call", "recorded", "in the call", arrays, DTYPES[call.dtype], {})
    return Agreement(compare(Operand.of_trace(trace, "attncli", "attncli", "in attncli"), recorded, steps=list(arrays)))


def _numbers(tensor: Tensor, entries: int, joined: bool) -> NDArray[Any]:
    """A recorded tensor without an axis for the only entry of a batch."""
    alone = entries == 1 and tensor.ndim == (3 if joined else 4)
    return np.array(to_numpy(tensor[0] if alone else tensor))
