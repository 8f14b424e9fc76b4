"""The masks of attncli that show exactly what is seen, the shortest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import combinations
from operator import and_, or_
from typing import NamedTuple

import numpy as np

from attncli.features.mask.pieces import (
    MATRIX,
    OF_EACH_ITEM,
    ONE_NUMBER,
    WORD,
    Ground,
    Piece,
    bits,
    hiding,
    showing,
)
from attncli.features.mask.positions import Positions, Seen
from attncli.problem.keys import CORNERS, Corner
from attncli.problem.parts.masks import Mask, MaskPart
from attncli.problem.parts.masks.any_of import AnyOf
from attncli.problem.parts.masks.documents import Documents
from attncli.problem.parts.masks.keep_and_hide import Keep
from attncli.problem.parts.masks.padding import Padding

# So many forms are joined by and, and so many masks by any.
MOST_TOGETHER = 3
# A mask that is so short is not made longer by any.
SHORT_ENOUGH = 2 * ONE_NUMBER
# Of further masks, the combinations would take long to try.
MOST_SHOWING = 24
MOST_BASES = 24


class FittingMask(NamedTuple):
    """A mask that shows what is seen, and how long it is."""

    mask: Mask
    cost: float

    @property
    def is_general(self) -> bool:
        """Whether it says what holds for any number of queries and keys."""
        return not any(
            isinstance(each, Padding | Documents | Keep) for each in all_parts(self.mask)
        )


def all_parts(mask: Mask) -> Iterator[MaskPart]:
    """The parts of a mask, and of the masks inside of them."""
    for part in mask.parts:
        yield part
        if isinstance(part, AnyOf):
            for each in part.masks:
                yield from all_parts(each)


def fitting_masks(visible: Seen, positions: Positions) -> list[FittingMask]:
    """All masks found for what is visible by entry, query and key: a matrix is one of them."""
    corners = CORNERS if positions.offset else CORNERS[:1]
    found: list[FittingMask] = []
    for corner in corners:
        found += _from_corner(visible, Ground(positions, corner, len(visible)))
    # Behind entries there are heads.
    matrix = visible[:, None] if len(visible) > 1 else visible[0]
    whole = Mask((Keep(matrix),))
    found.append(FittingMask(whole, MATRIX + OF_EACH_ITEM * visible.size))
    return sorted(found, key=lambda each: each.cost)


def _from_corner(visible: Seen, ground: Ground) -> Iterator[FittingMask]:
    wanted = bits(visible)
    pieces = hiding(ground, visible)
    joined = [*_together(pieces, wanted, and_, ground.everything, least=0)]
    for each in joined:
        yield _mask(ground.corner, each)
    if any(each.cost <= SHORT_ENOUGH for each in joined):
        return
    for base in _bases(pieces, ground):
        allowed = visible | ~_unpacked(base.cells, visible)
        shown = showing(ground, visible, allowed)
        useful = sorted(shown, key=lambda each: -(each.cells & wanted).bit_count())[:MOST_SHOWING]
        within = [each._replace(cells=each.cells & base.cells) for each in useful]
        for each in _together(within, wanted, or_, 0, least=2):
            yield _mask(ground.corner, each, base)


class Joined(NamedTuple):
    """Pieces that together show what is wanted, none of which can be left out."""

    pieces: tuple[Piece, ...]
    is_any: bool

    @property
    def cost(self) -> float:
        return sum(each.cost for each in self.pieces)


def _together(
    pieces: Sequence[Piece],
    wanted: int,
    join: Callable[[int, int], int],
    nothing: int,
    *,
    least: int,
) -> Iterator[Joined]:
    """All choices of pieces that `join` makes what is wanted; `nothing` is that of no piece."""
    known: list[set[int]] = []
    for size in range(least, MOST_TOGETHER + 1):
        for chosen in combinations(range(len(pieces)), size):
            if any(each.issubset(chosen) for each in known):
                continue
            cells = reduce(join, (pieces[place].cells for place in chosen), nothing)
            if cells == wanted:
                known.append({*chosen})
                yield Joined(tuple(pieces[place] for place in chosen), join is or_)


def _bases(pieces: Sequence[Piece], ground: Ground) -> list[Piece]:
    """What stands beside any: nothing, or one or two of the forms that hide nothing."""
    found = [Piece((), ground.everything, 0.0), *pieces]
    for one, other in combinations(pieces, 2):
        cells = one.cells & other.cells
        if cells not in (one.cells, other.cells):
            found.append(Piece((*one.parts, *other.parts), cells, one.cost + other.cost))
    return found[:MOST_BASES]


def _unpacked(cells: int, like: Seen) -> Seen:
    """Truth values of the bits of a number, in the shape of others."""
    size = like.size
    packed = np.frombuffer(cells.to_bytes((size + 7) // 8, "big"), np.uint8)
    return np.unpackbits(packed, count=size).astype(bool).reshape(like.shape)


def _mask(corner: Corner, joined: Joined, base: Piece | None = None) -> FittingMask:
    """The mask that these pieces make."""
    cost = joined.cost
    parts = [part for each in joined.pieces for part in each.parts]
    if joined.is_any:
        masks = [Mask(_in_order(each.parts)) for each in joined.pieces]
        masks.sort(key=lambda mask: [part.order for part in mask.parts])
        parts = [AnyOf(tuple(masks))]
        cost += WORD + (base.cost if base else 0)
    beside = base.parts if base else ()
    made = _in_order((*beside, *parts))
    if not any(part.reads_corner for part in made):
        return FittingMask(Mask(made), cost)
    # Top-left is what nobody has to say.
    cost += 0.0 if corner == CORNERS[0] else WORD / 2
    return FittingMask(Mask(tuple(part.at(corner) for part in made), corner), cost)


def _in_order(parts: Sequence[MaskPart]) -> tuple[MaskPart, ...]:
    """Each part once, in the order in which attncli lists them."""
    return tuple(sorted(dict.fromkeys(parts), key=lambda part: part.order))
