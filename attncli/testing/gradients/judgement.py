"""Whether gradients are those of a problem, and which mistakes give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attncli.equation.indexing import replace_letters
from attncli.mistakes.blind_queries import blind_queries
from attncli.mistakes.catalogue import applicable
from attncli.mistakes.model import Changes, with_changes
from attncli.testing.case import Case, Meaning
from attncli.testing.judgement import FAR, Expected, Rows
from attncli.tracing import run
from attncli.tracing.backward import rules_back
from attncli.tracing.difference import Doubles
from attncli.tracing.model import Trace

# In the order of a backward pass: what comes first needs the least of what is before the output.
OF_FUNCTIONS = ("d_V", "d_Q", "d_K")
OF_ROWS = ("d_X", "d_context")
OF_LAYERS = (
    "d_W_O",
    "d_b_O",
    "d_W_V",
    "d_b_V",
    "d_W_Q",
    "d_b_Q",
    "d_W_K",
    "d_b_K",
    *OF_ROWS,
)
# Said of a mistake in the forward pass that changes the weights, and not how they are gone through.
IN_THE_WEIGHTS = ", in the weights of the backward pass"


class ExpectedGradients(Expected):
    """The gradients that a trace gives in a number format, one after another in a row, and what
    with each mistake.

    Those of the backward pass are made in it. With one of the forward pass, the gradients are those
    of what comes out with it.
    """

    @classmethod
    def of(cls, case: Case, meaning: Meaning, dtype: str) -> ExpectedGradients:
        """What a case with an upstream gradient gives by one of its meanings."""
        return cls(run(case.problem(meaning), gradient=True), dtype)

    @cached_property
    def judged(self) -> tuple[str, ...]:
        """The steps that are judged."""
        known = OF_LAYERS if "X" in self.trace else OF_FUNCTIONS
        return tuple(name for name in known if name in self.trace)

    @cached_property
    def changes(self) -> Mapping[str, Changes]:
        """What each mistake that can be made changes, by its name."""
        found: dict[str, Changes] = {}
        for mistake, changes in applicable(self.trace):
            found.update(_with_gradients(self.trace, mistake.name, changes))
        return found

    def other_ways(self, name: str) -> Iterator[Changes]:
        """What a mistake changes if it is made in one mask of several."""
        if name not in self._applicable:
            return
        for changes in super().other_ways(name):
            own = differentiated(self.trace, changes)
            if own is not None:
                yield own

    @cached_property
    def has_blind_queries(self) -> bool:
        """Whether a query sees no key."""
        if "masked" not in self.trace:
            return False
        return bool(blind_queries(np.asarray(self.trace["masked"], np.float64)).any())

    def fitted(self, name: str, given: Doubles) -> Doubles:
        """A gradient in the shape that it has here: the weights of a layer have all heads side by
        side, and those of a trace have them apart.
        """
        shape = self.trace.steps[name].shape
        if name not in OF_LAYERS or given.ndim != len(shape) - 1:
            return given
        heads, width = shape[0], shape[-1]
        if given.shape[-1] != heads * width:
            return given
        apart = given.reshape(*given.shape[:-1], heads, width)
        return np.moveaxis(apart, -2, 0)

    def blind_rows(self, masked: NDArray[np.floating]) -> Rows:
        """None: the gradients of a query that sees no key are compared, too."""
        return self._no_rows

    def are_far(self, one: Doubles, other: Doubles, blind: Rows) -> bool:
        """Whether gradients are farther apart than any rounding brings them."""
        with np.errstate(invalid="ignore"):
            apart = np.abs(one - other)
        apart[np.isnan(one) & np.isnan(other)] = 0
        for place in self.places.values():
            ours = np.abs(one[place])
            largest = ours[np.isfinite(ours)].max(initial=float(self.sizes[place].max()))
            if not bool((apart[place] <= FAR * largest).all()):
                return True
        return False


def _with_gradients(trace: Trace, name: str, changes: Changes) -> Iterator[tuple[str, Changes]]:
    """A mistake as it shows in gradients."""
    order = list(trace.steps)
    back_from = order.index("d_output")
    if all(order.index(step) > back_from for step in changes):
        yield name, changes
        return
    own = differentiated(trace, changes)
    if own is None:
        return
    yield name, own
    if own.keys() != changes.keys():
        yield f"{name}{IN_THE_WEIGHTS}", changes


def differentiated(trace: Trace, changes: Changes) -> Changes | None:
    """The changes of a mistake with those of the gradients that follow from it; None where they
    are not known, such as those of another softmax.
    """
    for name, change in changes.items():
        # Numbers that stand in the place of an equation do not say how they were made.
        if isinstance(change, np.ndarray) and not trace.steps[name].rule.given:
            return None
    try:
        rules = rules_back(with_changes(trace, changes))
    # A mistake may be any equation, and nothing is derived of some, such as of endless indices.
    except (ValueError, TypeError, ArithmeticError, LookupError):
        return None
    found = dict(changes)
    for rule in rules:
        if rule.given:
            continue
        if rule.name not in trace:
            return None
        own = trace.steps[rule.name].rule
        letters = dict(zip(rule.target.letters, own.target.letters, strict=True))
        expression = replace_letters(rule.equation.expression, letters)
        if expression != own.equation.expression:
            found[rule.name] = expression
    return found
