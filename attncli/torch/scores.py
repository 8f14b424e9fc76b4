"""What is done to the scores before the softmax: a scale, a softcap and what is added, found by
trying it on scores.
"""

from __future__ import annotations

from collections.abc import Callable
from math import atanh, sqrt
from typing import NamedTuple

import torch
from torch import Tensor

from attncli.english import listed
from attncli.torch.masks import VANISHING_EXPONENT

Doing = Callable[[Tensor], Tensor]

# Two scores are tried, this one and twice this; for a softcap, smaller ones until it bends them.
_LARGE_SCORE = 4096.0
_SMALLEST_SCORE = 1e-6
# What makes no sum of three numbers different, if one of them went through 32 bits.
_ROUNDING = 1e-5
# The square of a tanh. Below the first, a softcap is not to be told from a product, and above the
# second, it has cut everything off.
_BENDS = (0.02, 0.9)


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


def what_is_done(doing: Doing, scores: Tensor) -> Done | str:
    """What `doing` does to scores of this shape, or in words what it does that attncli has no name
    for.

    It is tried on scores of 0, and on two others in the cell to which least is added, which give
    the factor and the softcap. Then it must do the same to the recorded scores, in every cell.
    """
    added = doing(torch.zeros_like(scores))
    if added.isnan().any() or added.isposinf().any():
        return "it makes NaN or +inf of scores of 0"
    added = wide(added).expand_as(scores)
    seen = added.isfinite()
    if not seen.any():
        return Done(1.0, None, added)
    cell = int(added.abs().masked_fill(~seen, torch.inf).argmin())
    found = _factor_and_softcap(doing, scores, cell, float(added.flatten()[cell]))
    if found is None:
        return f"{_tried(doing, scores, cell)}: no scale, softcap or sum does that"
    done = Done(*found, added)
    made = wide(doing(scores)).expand_as(scores)
    differs = _differs(made, done, scores)
    # What has no weight in either way is hidden.
    vanishes = differs & _vanishes(made) & _vanishes(done.to(scores))
    done = done._replace(added=added.masked_fill(vanishes, -torch.inf))
    differs &= ~vanishes
    if not differs.any():
        return done
    return _counterexample(scores, made, done, int(differs.flatten().to(torch.uint8).argmax()))


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


def _factor_and_softcap(
    doing: Doing, scores: Tensor, cell: int, added: float
) -> tuple[float, float | None] | None:
    """What makes of two scores what it makes of them in this cell."""
    score = _LARGE_SCORE
    while score > _SMALLEST_SCORE:
        once = _tried_at(doing, scores, cell, score) - added
        twice = _tried_at(doing, scores, cell, 2 * score) - added
        if abs(twice - 2 * once) <= _ROUNDING * abs(twice):
            factor = once / score
            return None if factor == 0 else (factor, None)
        # With t = tanh(x), tanh(2x) is 2t / (1 + t²).
        squared = 2 * once / twice - 1 if twice else 1.0
        if not 0 <= squared <= 1 + _ROUNDING:
            return None
        if _BENDS[0] < squared < _BENDS[1]:
            bent = sqrt(squared)
            softcap = abs(once) / bent
            factor = softcap / score * atanh(once / softcap)
            return _without_rounding(factor), _without_rounding(softcap)
        score /= 4
    return None


def _differs(made: Tensor, done: Done, scores: Tensor) -> Tensor:
    """The cells that are not as they should be."""
    expected = done.to(scores)
    sizes = (done.factor * scores).abs() + done.added.abs()
    both_hidden = made.isneginf() & expected.isneginf()
    is_near = (made - expected).abs() <= _ROUNDING * sizes
    return ~(is_near | both_hidden)


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
