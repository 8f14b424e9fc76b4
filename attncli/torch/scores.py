"""What is done to the scores before the softmax: a scale, a softcap and what is added, found by
trying it on scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import atanh, sqrt
from operator import itemgetter
from typing import NamedTuple

import torch
from torch import Tensor

from attncli.english import listed
from attncli.torch.masks import VANISHING_EXPONENT

Doing = Callable[[Tensor], Tensor]

# This score is tried, and half of it; for a softcap, smaller ones until it bends them.
_LARGE_SCORE = 8192.0
_SMALLEST_SCORE = 1e-6
# What makes no sum of three numbers different, if one of them went through 32 bits.
_ROUNDING = 1e-5
# The error of what is found exactly, in 64 bits.
_EXACT = 1e-12
_SMALLEST_SIZE = 1e-30
# The square of a tanh. Below the first, a softcap is not to be told from a product, and above the
# second, it has cut everything off.
_BENDS = (1e-10, 0.9)
# For each of them, eight numbers of 64 bits are needed for a while.
MOST_SCORES = 2**26


class Done(NamedTuple):
    """What is done to scores: `softcap · tanh(factor · score / softcap) + added`, or without a
    softcap `factor · score + added`.

    `added` has the shape of the scores, in float64, and -inf where a key is hidden.
    """

    factor: float
    softcap: float | None
    added: Tensor

    def to(self, scores: Tensor) -> Tensor:
        """It done to scores."""
        return _capped(self.factor * scores, self.softcap) + self.added


def wide(tensor: Tensor) -> Tensor:
    """The numbers in float64, where the device has it."""
    return tensor.detach().to(torch.float32 if tensor.device.type == "mps" else torch.float64)


def too_many(count: int) -> str:
    """Why so many scores are not tried; empty if they are few enough."""
    if count <= MOST_SCORES:
        return ""
    return (
        f"it has {count:,} scores, and what is done to more than {MOST_SCORES:,} is not tried out"
    )


def what_is_done(doing: Doing, scores: Tensor) -> Done | str:
    """What `doing` does to scores of this shape, or in words what it does that attncli has no name
    for.

    It is tried on scores of 0, and on others in the cell to which least is added, which give the
    factor and the softcap. Then it must do the same to the recorded scores, in every cell.
    """
    added = doing(torch.zeros_like(scores))
    if added.isnan().any() or added.isposinf().any():
        return "it makes NaN or +inf of scores of 0"
    added = wide(added).expand_as(scores)
    seen = added.isfinite()
    if not seen.any():
        return Done(1.0, None, added)
    cell = int(added.abs().masked_fill(~seen, torch.inf).argmin())
    made = wide(doing(scores)).expand_as(scores)
    least = float(added.flatten()[cell])
    found: list[tuple[float, Done]] = []
    # What cuts off only larger scores than there are does nothing here.
    for largest in (_LARGE_SCORE, float(scores.abs().max())):
        for numbers in _factors_and_softcaps(doing, scores, cell, least, largest):
            done = Done(*numbers, added)
            error = float(_error(made, done, scores).max())
            if error <= _EXACT:
                return done
            found.append((error, done))
    if not found:
        return f"{_tried(doing, scores, cell)}: no scale, softcap or sum does that"
    error, done = min(found, key=itemgetter(0))
    errors = _error(made, done, scores)
    vanishes = (errors > _ROUNDING) & _vanishes(made) & _vanishes(done.to(scores))
    errors = errors.masked_fill(vanishes, 0)
    if errors.max() > _ROUNDING:
        return _counterexample(scores, made, done, int(errors.argmax()))
    # What has no weight in either way is hidden.
    return done._replace(added=added.masked_fill(vanishes, -torch.inf))


def mask_of(
    done: Done, visible: Tensor | None, number_format: torch.dtype
) -> tuple[Tensor | None, bool]:
    """The mask of a call, and whether it is causal and nothing else: what is added to the scores,
    or true and false where that is all.
    """
    hides = done.added.isneginf()
    if visible is None:
        visible = ~hides
    else:
        visible = visible & ~hides
    if done.added[visible].any():
        added = done.added.masked_fill(~visible, -torch.inf)
        exact = torch.promote_types(number_format, torch.float32)
        return _condensed(added.to(exact)), False
    visible = _condensed(visible)
    if visible.all():
        return None, False
    past = torch.ones_like(visible).tril()
    return (None, True) if torch.equal(visible, past) else (visible, False)


def _condensed(mask: Tensor) -> Tensor:
    """The mask with one entry and one head, where all have the same."""
    for axis in range(mask.ndim - 2):
        first = mask.narrow(axis, 0, 1)
        if torch.equal(mask, first.expand_as(mask)):
            mask = first
    return mask.clone()


def _factors_and_softcaps(
    doing: Doing, scores: Tensor, cell: int, added: float, largest: float
) -> Iterator[tuple[float, float | None]]:
    """What makes of scores up to this one what it makes of them in this cell."""
    score = largest / 2
    while score > _SMALLEST_SCORE:
        once = _tried_at(doing, scores, cell, score) - added
        twice = _tried_at(doing, scores, cell, 2 * score) - added
        if not once or not twice:
            return
        # With t = tanh(x), tanh(2x) is 2t / (1 + t²).
        squared = 2 * once / twice - 1
        if _BENDS[0] < squared < _BENDS[1]:
            bent = sqrt(squared)
            softcap = abs(once) / bent
            factor = softcap / score * atanh(once / softcap)
            yield _without_rounding(factor), _without_rounding(softcap)
        if abs(squared) <= _ROUNDING:
            yield once / score, None
        if squared < _BENDS[1]:
            return
        score /= 4


def _error(made: Tensor, done: Done, scores: Tensor) -> Tensor:
    """How far each cell is from what it should be, compared with what was summed."""
    expected = done.to(scores)
    sizes = (done.factor * scores).abs() + done.added.abs()
    error = (made - expected).abs() / sizes.clamp(min=_SMALLEST_SIZE)
    both_hidden = made.isneginf() & expected.isneginf()
    return error.masked_fill(both_hidden, 0).nan_to_num(torch.inf)


def _vanishes(masked: Tensor) -> Tensor:
    """The cells whose weight is 0, since another one of their row is so much larger."""
    return masked < masked.amax(-1, keepdim=True) - VANISHING_EXPONENT


def _capped(scores: Tensor, softcap: float | None) -> Tensor:
    return scores if softcap is None else softcap * torch.tanh(scores / softcap)


def _without_rounding(number: float) -> float:
    """A number that was worked out, without its last digits."""
    return float(f"{number:.12g}")


def _tried_at(doing: Doing, scores: Tensor, cell: int, score: float) -> float:
    """What becomes of a score in a cell."""
    return float(doing(torch.full_like(scores, score)).expand_as(scores).flatten()[cell])


def _tried(doing: Doing, scores: Tensor, cell: int) -> str:
    """In words what becomes of scores in a cell."""
    tried = (-1.0, 0.0, 1.0, 2.0)
    made = [f"{_tried_at(doing, scores, cell, score):.4g}" for score in tried]
    return f"in cell {_place(scores, cell)} it makes {listed(made)} of the scores -1, 0, 1 and 2"


def _counterexample(scores: Tensor, made: Tensor, done: Done, cell: int) -> str:
    """In words what becomes of the score of this cell, where what is done elsewhere would make
    another.
    """
    score, number, expected, added = (
        float(each.flatten()[cell]) for each in (scores, made, done.to(scores), done.added)
    )
    worked = f"{done.factor:.4g} · score"
    if done.softcap is not None:
        worked = f"{done.softcap:.4g} · tanh({worked} / {done.softcap:.4g})"
    return (
        f"in cell {_place(scores, cell)} it makes {number:.4g} of the score {score:.4g}, and not"
        f" {expected:.4g}, which is {worked} + {added:.4g}"
    )


def _place(scores: Tensor, cell: int) -> list[int]:
    return [int(each) for each in torch.unravel_index(torch.tensor(cell), scores.shape)]
