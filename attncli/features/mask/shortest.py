"""The shortest mask that shows what a function does, here and, if there is one, elsewhere too."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attncli.features.mask.positions import Positions, Seen, seen
from attncli.features.mask.search import FittingMask, all_parts, fitting_masks
from attncli.problem.parts.masks import Mask, MaskSizes
from attncli.problem.parts.masks.any_of import AnyOf
from attncli.problem.parts.masks.chunk import Chunk

# So many masks of an `any` are believed without other positions that show the same.
FEW_MASKS = 2


class Tried(NamedTuple):
    """What a function shows at these positions, by entry, query and key; None with the error where
    it fails there.
    """

    positions: Positions
    visible: Seen | None
    error: str = ""


class Check(NamedTuple):
    """Whether a mask is that of the function at other positions, too, and where it is not: the
    positions of a query and a key.

    `error` says why the function could not be called there.
    """

    positions: Positions
    holds: bool
    differs_at: tuple[int, int] | None = None
    error: str = ""


class Shortest(NamedTuple):
    """A mask, and what came of it elsewhere."""

    mask: Mask
    checks: tuple[Check, ...]


def shortest_mask(here: Tried, elsewhere: tuple[Tried, ...]) -> Shortest:
    """The shortest mask for what is seen here, of those that hold at most of the other positions.

    More positions may say more: a window is seen where it is shorter than the keys.
    """
    assert here.visible is not None
    candidates = fitting_masks(here.visible, here.positions)
    for each in elsewhere:
        if each.visible is not None and is_whole(each.positions):
            candidates += _also_here(fitting_masks(each.visible, each.positions), here)

    def order(candidate: FittingMask) -> tuple[int, bool, float]:
        checks = _checks(candidate, elsewhere)
        failed = [each for each in checks if not each.holds and not each.error]
        return len(failed), _is_far_fetched(candidate, checks), candidate.cost

    best = min(candidates, key=order)
    return Shortest(best.mask, _checks(best, elsewhere))


def _is_far_fetched(found: FittingMask, checks: tuple[Check, ...]) -> bool:
    """Whether it fits by chance: an `any`, or chunks of several lengths, where other positions show
    something else, or nothing shows that so many are meant.
    """
    parts = [*all_parts(found.mask)]
    masks = max((len(part.masks) for part in parts if isinstance(part, AnyOf)), default=0)
    chunks = sum(isinstance(part, Chunk) for part in parts)
    if masks == 0 and chunks < 2:
        return False
    if any(each.differs_at is not None for each in checks):
        return True
    is_confirmed = any(each.holds for each in checks)
    return not is_confirmed and (masks > FEW_MASKS or chunks > 1)


def is_whole(positions: Positions) -> bool:
    """Whether no position is left out."""
    return positions == Positions.of(*positions.shape)


def _also_here(found: list[FittingMask], here: Tried) -> list[FittingMask]:
    """Those of more positions that show the same here, and that a problem of this size may have."""
    assert here.visible is not None
    queries, keys = here.positions.shape
    sizes = MaskSizes(queries, keys, len(here.visible), 1)
    fitting = []
    for each in found:
        fits = all(part.size_error(sizes) is None for part in all_parts(each.mask))
        if each.is_general and fits and _differs_at(each.mask, here) is None:
            fitting.append(each)
    return fitting


def _checks(found: FittingMask, elsewhere: tuple[Tried, ...]) -> tuple[Check, ...]:
    return tuple(_check(found, each) for each in elsewhere)


def _check(found: FittingMask, other: Tried) -> Check:
    if other.visible is None:
        return Check(other.positions, False, error=other.error)
    if not found.is_general:
        return Check(other.positions, False)
    place = _differs_at(found.mask, other)
    return Check(other.positions, place is None, place)


def _differs_at(mask: Mask, tried: Tried) -> tuple[int, int] | None:
    """The first query and key of which a mask says something else than the function; each entry
    has to be shown alike.
    """
    assert tried.visible is not None
    queries, keys = tried.positions.queries, tried.positions.keys
    for entry, visible in enumerate(tried.visible):
        wrong = np.argwhere(seen(mask, tried.positions, entry) != visible)
        if len(wrong):
            query, key = wrong[0]
            return queries[query], keys[key]
    return None
