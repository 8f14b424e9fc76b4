"""Errors of whole rows and columns, and of the matrices of whole heads: one copied from another, or
two exchanged; and two numbers of a row or a column that were exchanged.

They show as several wrong cells, each of which is the right number of another row, column or head.
One such number may be so by chance; that all of a row are, hardly, nor two in each other's place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attncli.answers.model import Claim
from attncli.features.check.cell_values import CellIndex
from attncli.features.check.single_cell_errors import miswritten, share_of_numbers
from attncli.tracing.model import Step

# If more rows or columns have wrong numbers, there is another cause.
MOST_WRONG_LINES = 3
# If more numbers are wrong, no two of them are said to have been exchanged.
MOST_WRONG_NUMBERS = 4
# Says whether a cell, had it been written right, could be this number.
MayBe = Callable[[CellIndex, Claim], bool]


@dataclass(frozen=True, slots=True)
class RowError:
    """What may have been done with a row, a column or a head, and the wrong cells it explains.

    `chance` is how likely numbers that have nothing to do with another row would look so. It may be
    no more than two numbers that were exchanged. Where all cells are also right but for how they
    were written, such as their signs, the `names` say that, too.
    """

    names: tuple[str, ...]
    cells: tuple[CellIndex, ...]
    chance: float
    of_two_numbers: bool = False


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
    numbers that are wrong; then the numbers that were exchanged.
    """
    explained: set[CellIndex] = set()
    for found in _of_lines(step, claims, wrong, may_be):
        explained.update(found.cells)
        yield found
    yield from _exchanged(step, claims, set(wrong) - explained, may_be)


def _of_lines(
    step: Step, claims: NDArray[np.object_], wrong: Collection[CellIndex], may_be: MayBe
) -> Iterator[RowError]:
    """The heads, rows and columns, in this order."""
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
            names += _how_all_were_written(claims, cells, may_be)
            yield RowError(tuple(names), cells, chance)


def _exchanged(
    step: Step, claims: NDArray[np.object_], wrong: Collection[CellIndex], may_be: MayBe
) -> Iterator[RowError]:
    """Every two wrong numbers of a row or a column, each of which is right in the place of the
    other.
    """
    left = sorted(wrong) if len(wrong) <= MOST_WRONG_NUMBERS and len(step.shape) > 1 else []
    for one, other in combinations(left, 2):
        is_in_column = one[-1] == other[-1] and one[:-2] == other[:-2]
        if one[:-1] != other[:-1] and not is_in_column:
            continue
        if claims[one].value == claims[other].value:
            continue
        if may_be(one, claims[other]) and may_be(other, claims[one]):
            names = [f"{_named(step, one)} and {_named(step, other)} were exchanged"]
            names += _how_all_were_written(claims, (one, other), may_be)
            others_in_line = sum(step.shape[-2:]) - 2
            chance = others_in_line * coincidence(step, claims, (one, other))
            yield RowError(tuple(names), (one, other), chance, of_two_numbers=True)


def _how_all_were_written(
    claims: NDArray[np.object_], cells: Collection[CellIndex], may_be: MayBe
) -> list[str]:
    """What explains all of these cells, too, and as precisely: each is the right number, written
    otherwise.
    """
    of_cells = []
    for cell in cells:
        claim = claims[cell]
        meant = [each for each in miswritten(claim) if each[1].half <= claim.half]
        of_cells.append([said for said, other in meant if may_be(cell, other)])
    of_all = set.intersection(*map(set, of_cells))
    return [said for said in dict.fromkeys(of_cells[0]) if said in of_all]


def _named(step: Step, cell: CellIndex) -> str:
    """The cell of a step: weights[0][1]."""
    return step.name + "".join(f"[{at}]" for at in cell)


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
