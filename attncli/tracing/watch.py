"""What must be told of steps for some queries, gathered on the device that works them out."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from attncli.attention.rule import Rule
from attncli.backend import Backend
from attncli.equation.evaluator import Array
from attncli.tracing.hidden import meant_infinite, over


class Watch:
    """Sees each step once, the mask before all others, and asks nothing of the device until the end.

    A copy from a device waits until all work there is done: one truth value, and with a mask one for each query, are
    all that is brought back. `shape` is that of the weights for these queries, `weights` their rule.
    """

    def __init__(self, backend: Backend, weights: Rule, shape: Sequence[int]) -> None:
        self._backend, self._letters, self._shape = backend, weights.target.letters, tuple(shape)
        self._fits: Array = backend.xp.asarray(True)
        self._hidden: Array | None = None
        self._blind: Array | None = None

    def see(self, rule: Rule, value: Array) -> None:
        """Take note of a step that was worked out."""
        xp = self._backend.xp
        if rule.name == "mask":
            own, letters = value == -math.inf, rule.target.letters
            self._hidden = over(own, letters, self._letters, self._shape, xp)
            self._blind = over(xp.all(own, axis=-1), letters[:-1], self._letters[:-1], self._shape[:-1], xp)
        meant = meant_infinite(rule, value, self._hidden, xp)
        finite = value if meant is None else xp.where(meant, xp.zeros((), dtype=value.dtype), value)
        self._fits = self._fits & (xp.min(finite) > -math.inf) & (xp.max(value) < math.inf)  # neither is true of NaN

    def fits(self) -> bool:
        """Whether every number fits its format."""
        return bool(self._fits)

    def blind(self) -> list[tuple[int, ...]]:
        """The rows of the weights from which the mask hides every key, as places on all axes but the last."""
        if self._blind is None:
            return []
        return [tuple(map(int, row)) for row in np.argwhere(self._backend.to_host(self._blind))]
