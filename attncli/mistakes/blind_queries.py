"""Blind queries, which see no key with a mistake: what other software makes of them.

attncli gives such a query weights of 0. The softmax of a row of -inf is NaN. A large negative
number in the place of -inf gives equal weights where it replaces the scores, or is so large that it
swallows them. Where it is added and swallows nothing, the weights are those without a mask.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.equation.nodes import Call, Expression, Name, number_node
from attncli.mistakes.model import Changes, with_calls
from attncli.tracing.model import Trace
from attncli.tracing.true_runs import true_runs

# Each run of rows beside each other is a condition in an equation, and long equations are slow.
MOST_RUNS = 16
# Whether a query is blind, for every query in every entry and head.
Blind = NDArray[np.bool_]


def blind_queries(masked: NDArray[np.float64]) -> Blind:
    """The rows of masked scores that are hidden whole."""
    return np.asarray(np.isneginf(masked).all(axis=-1))


def blind_readings(trace: Trace, changes: Changes, blind: Blind) -> Iterator[Changes]:
    """The changes of a mistake, each time with another way to treat its blind queries; none where
    no query is blind.

    NaN first, then equal weights, then those without a mask.
    """
    if not blind.any() or trace.logits != "masked":
        return
    weights, masked = (_equation_of(trace, changes, name) for name in ("weights", "masked"))
    if weights is not None:
        yield {
            **changes,
            "weights": with_calls("share", _plainly_divided)(weights, trace) or weights,
        }
    if not isinstance(masked, Call) or masked.function != "add_mask":
        return
    runs = list(_runs(blind))
    if len(runs) > MOST_RUNS:
        return
    letters = trace.steps["masked"].rule.target.letters[:-1]
    for instead in (number_node(0), masked.arguments[0]):
        other: Expression = masked
        for run in runs:
            other = run.put(letters, instead, other)
        yield {**changes, "masked": other}


def _equation_of(trace: Trace, changes: Changes, name: str) -> Expression | None:
    """The equation of a step with the mistake; None where numbers stand in its place."""
    found = changes.get(name, trace.steps[name].rule.expression)
    return None if isinstance(found, np.ndarray) else found


def _plainly_divided(arguments: tuple[Expression, ...]) -> Expression:
    """A share without the rule that 0 of 0 is 0."""
    return Call("div", arguments)


class _Run(NamedTuple):
    """Rows beside each other, from `first` to `last`, of one entry and head."""

    leading: tuple[int, ...]
    first: int
    last: int

    def put(self, letters: tuple[str, ...], instead: Expression, own: Expression) -> Expression:
        """An equation with another expression in these rows; `letters` are those of the entry, the
        head and the row.
        """
        *outer, row = letters
        conditions = [
            Call("eq", (Name(letter), number_node(at)))
            for letter, at in zip(outer, self.leading, strict=True)
        ]
        conditions += [
            Call("le", (number_node(self.first), Name(row))),
            Call("le", (Name(row), number_node(self.last))),
        ]
        # 1 in these rows, and 0 elsewhere, so that the equation itself is written once, however
        # many runs there are.
        is_here: Expression = number_node(1)
        for condition in conditions:
            is_here = Call("where", (condition, is_here, number_node(0)))
        return Call("where", (Call("eq", (is_here, number_node(1))), instead, own))


def _runs(blind: Blind) -> Iterator[_Run]:
    *outer, _ = blind.shape
    for leading in np.ndindex(*outer):
        for first, after in true_runs(blind[leading]):
            yield _Run(leading, first, after - 1)
