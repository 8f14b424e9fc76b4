"""Errors of whole rows and columns, and of the matrices of whole heads: one copied from another, or
two exchanged.

They show as several wrong cells, each of which is the right number of another row, column or head.
One such number may be so by chance; that all of a row are, hardly.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.answers.model import Claim
from attncli.features.check.cell_values import CellIndex
from attncli.features.check.single_cell_errors import share_of_numbers
from attncli.tracing.model import Step

# If more rows or columns have wrong numbers, there is another cause.
MOST_WRONG_LINES = 3
# Says whether a cell, had it been written right, could be this number.
MayBe = Callable[[CellIndex, Claim], bool]


@dataclass(frozen=True, slots=True)
class RowError:
    """What may have been done with a row, a column or a head, and the wrong cells it explains.

    `chance` is how likely numbers that have nothing to do with another row would look so.
    """

    names: tuple[str, ...]
    cells: tuple[CellIndex, ...]
    chance: float


@dataclass(frozen=True, slots=True)
class _RowOrColumn:
    """A row or a column of a step, or its matrix of one head."""

    label: str
    cells: tuple[CellIndex, ...]


class _LineKind(NamedTuple):
    """What rows, say, are called."""

    one: str
    several: str


_MATRIX, _ROW, _COLUMN = (
    _LineKind("matrix", "matrices"),
    _LineKind("row", "rows"),
    _LineKind("column", "columns"),
)


def row_errors(
    step: Step, claims: NDArray[np.object_], wrong: Collection[CellIndex], may_be: MayBe
) -> Iterator[RowError]:
    """The heads, rows and columns of which all cells are those of another one, with two different
    numbers that are wrong.
    """
    explained: set[CellIndex] = set()
    for kind, lines in _lines(step):
        left = set(wrong) - explained
        suspect = [line for line in lines if left.intersection(line.cells)]
        if len(suspect) > MOST_WRONG_LINES:
            continue
        like = {}
        for line in suspect:
            others = [other for other in lines if other != line]
            like[line] = [other for other in others if _is(claims, line, other, may_be)]
        for line, others in like.items():
            swapped = next((other for other in others if line in like.get(other, ())), None)
            if not others or explained.intersection(line.cells):
                continue
            names = [f"{kind.one} {line.label} was copied from {other.label}" for other in others]
            of = line.cells
            if swapped:
                names = [f"{kind.several} {line.label} and {swapped.label} were exchanged"]
                of = line.cells + swapped.cells
            cells = tuple(cell for cell in of if cell in left)
            different = {claims[cell].value: cell for cell in cells}.values()
            if len(different) < 2:
                continue
            explained.update(cells)
            chance = len(lines) * coincidence(step, claims, different)
            yield RowError(tuple(names), cells, chance)


def coincidence(step: Step, claims: NDArray[np.object_], cells: Iterable[CellIndex]) -> float:
    """How likely these cells would all be as they were written, were they any numbers like those of
    their step.
    """
    return prod(share_of_numbers(step, claims[cell], 1) for cell in cells)


def _lines(step: Step) -> Iterator[tuple[_LineKind, list[_RowOrColumn]]]:
    """The matrices of all heads of a step, and the rows of every matrix, and its columns."""
    if len(step.shape) < 2:
        return
    *leading, rows, columns = step.shape
    for before in np.ndindex(*leading[:-1]):
        heads = range(leading[-1]) if leading else range(0)
        yield _MATRIX, [_matrix(step, (*before, head)) for head in heads]
    for before in np.ndindex(*leading):
        name = step.name + "".join(f"[{at}]" for at in before)
        of_rows = []
        for i in range(rows):
            cells = tuple((*before, i, j) for j in range(columns))
            of_rows.append(_RowOrColumn(f"{name}[{i}]", cells))
        yield _ROW, of_rows
        of_columns = []
        for j in range(columns):
            cells = tuple((*before, i, j) for i in range(rows))
            of_columns.append(_RowOrColumn(f"{name}[:, {j}]", cells))
        yield _COLUMN, of_columns


def _matrix(step: Step, place: CellIndex) -> _RowOrColumn:
    """The matrix of a step at a place of its leading axes."""
    label = step.name + "".join(f"[{at}]" for at in place)
    cells = (tuple(map(int, cell)) for cell in np.ndindex(*step.shape[-2:]))
    return _RowOrColumn(label, tuple((*place, *cell) for cell in cells))


def _is(
    claims: NDArray[np.object_], line: _RowOrColumn, other: _RowOrColumn, may_be: MayBe
) -> bool:
    """Whether a line has the numbers of another one, as far as it was filled in."""
    for cell, there in zip(line.cells, other.cells, strict=True):
        claim = claims[cell]
        if claim is not None and not may_be(there, claim):
            return False
    return True
