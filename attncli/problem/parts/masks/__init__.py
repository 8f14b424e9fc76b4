"""The forms of a mask, one file each: every class of this folder that is a `MaskPart` is a form
that a problem may use.

A form reads itself from `mask: {NAME: …}`, checks its size, and says as text in the language of
equations which keys a query sees. How to add one is in `docs/contributing.md`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self, TypeAlias

from attncli.english import count, shape_text
from attncli.problem.keys import Corner
from attncli.problem.matrix import Matrix, Scalar, read_only
from attncli.problem.parts.axes import BATCH, HEAD, Shaped, axes_of, sizes
from attncli.problem.parts.offset import Offset

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from attncli.problem.text.values import Value

# What reads a mask that stands inside of a form.
ReadMask: TypeAlias = "Callable[[Value], Mask]"
_MATRIX_HELP = (
    "a mask can also be heads × n × m or batch × heads × n × m; heads and batch can be 1, for all"
)


class MaskSizes(NamedTuple):
    """How many queries, keys, entries of the batch and heads a mask is for; 1 where there is no
    batch, or no heads.
    """

    queries: int
    keys: int
    batch: int
    heads: int

    @classmethod
    def of(cls, given: Mapping[str, Shaped]) -> MaskSizes:
        """The sizes of a problem whose arrays fit together."""
        axes = axes_of(given)
        return cls(*sizes(given), axes.batch or 1, axes.number)


@dataclass(frozen=True, slots=True)
class Clause:
    """What one part of a mask says about query i and key j.

    A key is visible where all `conditions` hold; `added` names a cell to add to the scores.
    `parameters` holds the numbers and arrays that these read, `leads` the letters of the leading
    axes of those arrays that have any. `meaning` says it in words, `meanings` for each entry of a
    batch where it is not the same for all.
    """

    meaning: str
    conditions: tuple[str, ...] = ()
    added: str = ""
    parameters: Mapping[str, Scalar | Matrix] = field(default_factory=dict)
    leads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    meanings: tuple[str, ...] = ()
    counts_positions: bool = False


class MaskPart(ABC):
    """One form of a mask, as a problem has it.

    `name` is its key in `mask: {…}`, `order` its place among the forms where they are listed.
    `needs_no_value` says that the name alone is a mask, as in `mask: causal`; `has_corner` that a
    `corner` says where its positions begin; `adds` that it may add numbers to the scores.
    """

    __slots__ = ()
    name: ClassVar[str]
    order: ClassVar[int]
    needs_no_value: ClassVar[bool] = False
    has_corner: ClassVar[bool] = False
    adds: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def read(cls, value: Value, inner: ReadMask) -> MaskPart | None:
        """The part that is written under its name; None where there is none, or after adding an
        error. `inner` reads masks that stand inside of it.
        """

    @classmethod
    @abstractmethod
    def examples(cls) -> Mapping[str, Mask]:
        """What a problem may write, each with such a mask for two queries and three keys: for
        `attncli steps mask`.
        """

    @abstractmethod
    def clause(self, offset: Offset, suffix: str) -> Clause:
        """What it says about query i and key j; `suffix` ends the names of parameters where a form
        is used twice.
        """

    @property
    def reads_corner(self) -> bool:
        """Whether the corner of the mask matters to it."""
        return self.has_corner

    def at(self, corner: Corner) -> Self:
        """The same with this corner wherever masks stand inside of it."""
        return self

    def numbered(self, offset: Offset, before: list[type[MaskPart]]) -> Clause:
        """Its clause behind parts of the forms `before`, which it joins: a second window has the
        names left_2 and right_2.
        """
        form = type(self)
        before.append(form)
        often = before.count(form)
        return self.clause(offset, f"_{often}" if often > 1 else "")

    def size_error(self, sizes: MaskSizes) -> tuple[str, str] | None:
        """What is wrong with its size, and what helps; None where it fits, or fits any size."""
        return None

    def existing_keys(self, keys: int) -> NDArray[np.bool_] | None:
        """Which of so many keys exist, a row for each entry or one for all; None where it says
        nothing about that.
        """
        return None


@dataclass(frozen=True, slots=True)
class Mask:
    """All parts of a mask: a key is visible only if every one of them allows it."""

    parts: tuple[MaskPart, ...] = ()
    corner: Corner = "top-left"

    @property
    def names(self) -> list[str]:
        """The parts in words, as in the settings of a trace: ["causal", "padding"]."""
        return [part.name for part in self.parts]

    def offset(self, queries: int, keys: int, past: int) -> Offset:
        """The length of the cache, or m - n at the bottom-right corner, where m counts the keys
        that exist.
        """
        if self.corner == "top-left":
            return Offset((past,), queries=queries)
        import numpy as np

        exists = np.ones((1, keys), dtype=bool)
        for part in self.parts:
            there = part.existing_keys(keys)
            if there is not None:
                exists = exists & there
        by = tuple(int(count) - queries for count in exists.sum(axis=1))
        return Offset(by, self.corner, queries)


@cache
def forms() -> Mapping[str, type[MaskPart]]:
    """All forms by their names, in their order."""
    from pkgutil import iter_modules

    found = [
        part
        for module in iter_modules(__path__)
        for part in vars(import_module(f"{__name__}.{module.name}")).values()
        if isinstance(part, type) and issubclass(part, MaskPart) and hasattr(part, "name")
    ]
    return in_order(found)


def in_order(parts: Sequence[type[MaskPart]]) -> Mapping[str, type[MaskPart]]:
    """These forms by their names, in their order.

    Raises ValueError where one has no `order`, or the same as another.
    """
    for part in parts:
        if not hasattr(part, "order"):
            placed = [each for each in parts if hasattr(each, "order")]
            raise ValueError(
                f"the mask {part.name} has no order, its place in lists; {_taken(placed)}"
            )
    ordered = sorted(parts, key=lambda part: part.order)
    for before, part in pairwise(ordered):
        if part.order != before.order or part is before:
            continue
        raise ValueError(
            f"the masks {before.name} and {part.name} have the same order {part.order}: give one of"
            f" them another; {_taken(ordered)}"
        )
    return {part.name: part for part in ordered}


def _taken(parts: Iterable[type[MaskPart]]) -> str:
    numbers = sorted((part.order, part.name) for part in parts)
    return "these are taken: " + ", ".join(f"{order} {name}" for order, name in numbers)


def matrix_size_error(
    shape: tuple[int, ...], sizes: MaskSizes, one_row: str
) -> tuple[str, str] | None:
    """What is wrong with the shape of a matrix of queries by keys; rows and columns are never
    repeated to fit. `one_row` says what to write for one row for all queries.
    """
    n, m = sizes.queries, sizes.keys
    is_shape = f"is {shape_text(shape)}"
    *found, rows, columns = shape
    if (rows, columns) != (n, m):
        message = f"{is_shape}, but {count(n, 'query')} and {count(m, 'key')} need {n}×{m}"
        help = "give one row per query and one column per key"
        if (rows, columns) == (m, n):
            help += "; perhaps it is transposed"
        elif columns == m and _has_one_row(shape, sizes):
            help += f"; {one_row}"
        return message, help
    leading = (sizes.batch, sizes.heads)[2 - len(found) :]
    for length, needed in zip(found, leading, strict=True):
        if length not in (1, needed):
            whole = shape_text((*leading, n, m))
            return f"{is_shape}, but {whole} is needed", _MATRIX_HELP
    return None


def _has_one_row(shape: tuple[int, ...], sizes: MaskSizes) -> bool:
    """Whether it has one row for all queries: of each entry, as batch × 1 × 1 × m or batch × m, or
    of all.
    """
    *found, rows, _ = shape
    return rows == 1 or (not found and rows == sizes.batch)


def entries_error(entries: int, sizes: MaskSizes) -> tuple[str, str] | None:
    """What is wrong with so many of something that each entry of the batch has, or all of them
    one.
    """
    if entries in (1, sizes.batch):
        return None
    return (
        f"there are {entries} for {count(sizes.batch, 'entry')} of the batch",
        "give one for each entry of the batch, or one for all",
    )


def with_leading_axes(clause: Clause, name: str, own: int) -> Clause:
    """The clause with the letters of its array's leading axes, before its `own`; those of length 1
    are left out.
    """
    matrix = clause.parameters[name]
    assert isinstance(matrix, Matrix)
    letters: tuple[str, ...] = (BATCH,) if own == 1 else (BATCH, HEAD)
    letters = letters[len(letters) - (matrix.ndim - own) :]
    ones = tuple(axis for axis, _ in enumerate(letters) if matrix.shape[axis] == 1)
    letters = tuple(letter for axis, letter in enumerate(letters) if axis not in ones)
    if ones:
        matrix = _squeezed(matrix, ones)
    leads = {name: letters} if letters else {}
    return replace(clause, parameters={name: matrix}, leads=leads)


def _squeezed(matrix: Matrix, axes: tuple[int, ...]) -> Matrix:
    """The matrix without these axes, which have the length 1."""
    value = read_only(matrix.value.squeeze(axes))
    if matrix.written is None:
        return Matrix(value)
    return Matrix(value, read_only(matrix.written.squeeze(axes)))


def unless_one(meanings: Iterable[str]) -> tuple[str, ...]:
    """The meaning for each entry; nothing where there is one for all.

    >>> unless_one(["2 keys", "3 keys"]), unless_one(["2 keys"])
    (('2 keys', '3 keys'), ())
    """
    found = tuple(meanings)
    return found if len(found) > 1 else ()
