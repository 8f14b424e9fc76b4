"""In which order a function takes the axes of queries, keys and values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from attncli.testing.case import MOST_AXES, Array, Case


class AxisLayout(NamedTuple):
    """How many axes there are, whether tokens come before heads, whether values may be wider than
    keys, and whether there may be another number of keys than of queries.
    """

    axes: int = MOST_AXES
    tokens_first: bool = False
    wide_values: bool = True
    other_keys: bool = True

    @property
    def words(self) -> str:
        """The axes in words, as in "entries × heads × tokens × features"."""
        axes = ["entries", "heads", "tokens", "features"][MOST_AXES - self.axes :]
        if self.tokens_first:
            axes[-3:-1] = ["tokens", "heads"]
        said = [" × ".join(axes)]
        if not self.wide_values:
            said.append("values as wide as keys")
        if not self.other_keys:
            said.append("as many keys as queries")
        return "; ".join(said)

    def case(self, case: Case) -> Case | None:
        """A case as a function of this layout is asked it, still with heads first; None where it
        cannot be.
        """
        fitted = case.with_axes(self.axes)
        if fitted is not None and not self.other_keys:
            fitted = fitted.with_as_many_keys_as_queries()
        if fitted is None or self.wide_values:
            return fitted
        return fitted.with_values_as_wide_as_keys()

    def arranged(self, case: Case) -> Case:
        """The case with its axes in this order."""
        return replace(
            case,
            queries=self.swapped(case.queries),
            keys=self.swapped(case.keys),
            values=self.swapped(case.values),
            upstream=None if case.upstream is None else self.swapped(case.upstream),
        )

    def swapped(self, array: Array) -> Array:
        """Heads first as this order has them, and the other way round."""
        return np.swapaxes(array, -3, -2) if self.tokens_first else array


def possible_layouts(tokens_first: bool | None = None) -> Iterator[AxisLayout]:
    """All layouts, those with the most axes first: who takes these, takes fewer by chance.

    Of the two with entries and heads, the one that is meant comes first; `tokens_first` says which
    that is. Those in which less can be asked come last.
    """
    orders = (True, False) if tokens_first else (False, True)
    axes = [*((4, order) for order in orders), (3, False), (2, False)]
    for other_keys in (True, False):
        for wide_values in (True, False):
            for number, order in axes:
                yield AxisLayout(number, order, wide_values, other_keys)
