"""What answers are made of: claims, each as precise as it was written, in the shape of the steps they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from attncli.errors import Place
from attncli.problem.source import Source

CLOSE = 1e-12  # doubles this close, in relation, are the same


@dataclass(frozen=True, slots=True)
class Claim:
    """One number as it was written.

    `text` is its spelling in ASCII: 0.70, -inf, 2*sqrt(3). `value` is the number it says: all digits of a decimal, 50
    of what is none. `half` is half a unit of the last digit written, so that a number which rounds to this one lies
    within value ± half; 0 for what is exact, as 7/10, sqrt(2) and -inf are. `at` is its offset in the source.
    """

    text: str
    value: Decimal
    half: Decimal
    at: int = field(default=0, compare=False)

    @property
    def exact(self) -> bool:
        """Whether no rounding is claimed."""
        return not self.half


@dataclass(frozen=True, eq=False)
class Answer:
    """The answers to one step: `cells` has its shape and holds a Claim in each, or None where it was left blank.

    `at` is the offset in the source where the answer begins.
    """

    name: str
    cells: NDArray[np.object_]
    at: int

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """What was filled in, row by row."""
        return tuple(cast("Claim", claim) for claim in self.cells.flat if claim is not None)

    @property
    def blank(self) -> bool:
        """Whether nothing was filled in."""
        return not self.claims

    @property
    def complete(self) -> bool:
        """Whether every cell was filled in."""
        return len(self.claims) == self.cells.size


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Answers to some or all steps of a trace, in its order, and the source that they were read from."""

    steps: Mapping[str, Answer]
    source: Source

    @property
    def name(self) -> str:
        """The file, as messages call it."""
        return self.source.name

    def place(self, at: int) -> Place:
        """The line and column of a claim or an answer."""
        return self.source.place(at)
