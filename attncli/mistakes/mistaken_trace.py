"""A trace with a mistake in it, in floating point."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np

from attncli.backend import CPU
from attncli.dtypes import DTYPES, Dtype
from attncli.mistakes.model import Changes, with_changes
from attncli.tracing.difference import Doubles
from attncli.tracing.magnitudes import Magnitudes
from attncli.tracing.model import Trace
from attncli.tracing.workers import FloatWorker

# Relative: numbers this near are one, worked out in another order.
ALIKE_WITHIN = 1e-9


class MistakenTrace:
    """A trace with a mistake in it: other numbers of the steps that it changes, and of all that
    follow from them.
    """

    def __init__(self, trace: Trace, changes: Changes) -> None:
        self.trace = with_changes(trace, changes)
        self._given: dict[str, Doubles] = {
            name: np.asarray(change, dtype=np.float64)
            for name, change in changes.items()
            if isinstance(change, np.ndarray)
        }
        # The names are in the order of work.
        self.moved: dict[str, None] = {}
        for name, step in self.trace.steps.items():
            if name in changes or (
                not step.rule.given and self.moved.keys() & set(step.rule.inputs)
            ):
                self.moved[name] = None
        self.first_changed = next(name for name in self.trace.steps if name in changes)
        self._found: dict[str, Doubles] = {}
        self._sizes: dict[Dtype, dict[str, Doubles]] = {}

    def __getitem__(self, name: str) -> Doubles:
        """The numbers of a step, worked out when they are asked for."""
        if name not in self._found:
            self._found[name] = self._worked(name)
        return self._found[name]

    def _worked(self, name: str) -> Doubles:
        if name in self._given:
            return self._given[name]
        if name not in self.moved:
            return self.trace[name].astype(np.float64)
        step = self.trace.steps[name]
        sizes = self.trace.sizes(step.rule.equation) | dict(
            zip(step.rule.target.letters, step.shape, strict=True)
        )
        arrays = {of: self[of] for of in step.rule.inputs if of in self.trace}
        # Where it overflows, it is not what the other side has.
        with np.errstate(all="ignore"):
            return (
                FloatWorker(CPU, DTYPES["float64"], self.trace.parameters, sizes, arrays)
                .work(step.rule)
                .value
            )

    def sizes(self, name: str, dtype: Dtype, right: Magnitudes) -> Doubles:
        """How large the numbers are that each cell of a step is made of, by the equations of the
        mistake.

        `right` are those of the trace without it, which many mistakes may share.
        """
        known = self._sizes.setdefault(dtype, {})
        trace = self._with_values(name)
        for step in self._up_to(name):
            for of in trace.steps[step].rule.inputs:
                if of in trace and of not in self.moved:
                    known[of] = right[of]
        return Magnitudes(trace, dtype, known=known)[name]

    def magnitudes(self, names: Collection[str], dtype: Dtype) -> Magnitudes:
        """The same for several steps, which have much in common."""
        last = [name for name in self.moved if name in names][-1:]
        return Magnitudes(self._with_values(*last), dtype)

    def _with_values(self, *last: str) -> Trace:
        """The trace with its own values up to a step that moved."""
        steps = dict(self.trace.steps)
        for name in last:
            for moved in self._up_to(name):
                steps[moved] = replace(steps[moved], value=self[moved])
        return replace(self.trace, steps=steps)

    def _up_to(self, name: str) -> Iterator[str]:
        """The steps that moved, up to this one."""
        for moved in self.moved:
            yield moved
            if moved == name:
                return
