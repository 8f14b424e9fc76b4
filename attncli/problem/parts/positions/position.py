"""What every kind of positions is: a class that reads and checks itself, and says which steps it
adds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import ClassVar, NamedTuple

from attncli.equation.rule import Rule
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.axes import Shaped, axes_of, past_length, sizes, width
from attncli.problem.parts.masks import Mask
from attncli.problem.parts.offset import Offset
from attncli.problem.text.reading import Reading
from attncli.problem.text.values import Value

# The rules of each step by what asks for them.
Variants = Mapping[str, Mapping[str, Rule]]


class PositionSizes(NamedTuple):
    """What the steps of a position depend on besides itself.

    There are `n` queries and `m` keys, `past` of them from a cache; a key has `d_k` features in
    each of the `heads`, and X `d_model` of them, 0 where there is none. Distances count from
    `offset`; `given` are the names of the arrays that the problem gives.
    """

    n: int
    m: int
    past: int
    d_k: int
    heads: int
    offset: Offset
    given: frozenset[str]
    d_model: int = 0

    @classmethod
    def of(cls, given: Mapping[str, Shaped], mask: Mask) -> PositionSizes:
        """Those of a problem with these arrays and this mask."""
        past = past_length(given)
        n, m = sizes(given)
        d_k = width("K", given)
        heads = axes_of(given).number
        offset = mask.offset(n, m, past)
        d_model = given["X"].shape[-1] if "X" in given else 0
        return cls(n, m, past, d_k, heads, offset, frozenset(given), d_model)


class Position(ABC):
    """One kind of positions, as a problem has it.

    `name` is its key in `position: {…}`, `example` what a problem may write, `title` what people
    call it. `rules` are the steps that it adds, each in its plain form. `replaces` says which of
    them the scores read in place of queries and keys, and `keys_meaning` what `K_T` then is; or
    `bias` is the one that is added to the scores; or `inputs` says which projections read in place
    of what is given. `keys` are the keys of fields that cannot be called so in Python.
    """

    __slots__ = ()
    name: ClassVar[str]
    example: ClassVar[str]
    title: ClassVar[str]
    rules: ClassVar[tuple[Rule, ...]]
    replaces: ClassVar[Mapping[str, str]] = {}
    keys_meaning: ClassVar[str] = ""
    bias: ClassVar[str] = ""
    inputs: ClassVar[Mapping[str, str]] = {}
    keys: ClassVar[Mapping[str, str]] = {}

    @classmethod
    @abstractmethod
    def read(cls, value: Value) -> Position | None:
        """The position that is written under its name; None where there is none, or after adding an
        error.
        """

    @abstractmethod
    def steps(self, sizes: PositionSizes) -> Iterable[Rule]:
        """The steps that it adds to a plan, in order."""

    def parameters(self, sizes: PositionSizes) -> Mapping[str, Scalar | Matrix]:
        """What its steps read besides other steps."""
        return {}

    def leads(self, sizes: PositionSizes) -> Mapping[str, tuple[str, ...]]:
        """The letters of the leading axes that arrays of its parameters have."""
        return {}

    def lengths(self, sizes: PositionSizes) -> Mapping[str, int]:
        """How long the indices of its steps are that are on no axis of an array."""
        return {}

    @property
    def arrays(self) -> Mapping[str, Matrix]:
        """The arrays that are written in it, by the names that they have in `ARRAYS`."""
        return {}

    def check(self, given: Mapping[str, Shaped], reading: Reading) -> None:
        """Report what does not fit these arrays, whose queries, keys and heads fit together."""
        return

    @classmethod
    def variants(cls) -> Variants:
        """The rules that its steps may have other than their plain ones."""
        return {}
