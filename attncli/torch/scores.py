"""What is done to the scores before the softmax: a scale, a softcap and what is added, found by
trying it on scores.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attncli.attention.changes_of_scores import (
    LARGE_SCORE,
    OTHER,
    ROUNDING,
    SCORES,
    ScoreChange,
    possible_changes,
    why_no_change,
)
from attncli.english import listed
from attncli.torch.masks import VANISHING_EXPONENT

Doing = Callable[[Tensor], Tensor]

# The error of what is found exactly, in 64 bits.
_EXACT = 1e-12
_SMALLEST_SIZE = 1e-30
# For each of them, eight numbers of 64 bits are needed for a while.
MOST_SCORES = 2**26
# So many cells say why nothing fits.
_CELLS_ASKED = 4096


class Done(NamedTuple):
    """What is done to scores: the change of each, and what is `added` to it.

    `added` has the shape of the scores, in float64, and -inf where a key is hidden.
    """

    change: ScoreChange
    added: Tensor

    def to(self, scores: Tensor) -> Tensor:
        """It done to scores."""
        changed: Tensor = self.change.of(scores, torch.tanh)
        return changed + self.added


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
    added = wide(doing(torch.zeros_like(scores))).expand_as(scores)
    broken = added.isnan() | added.isposinf()
    if broken.any():
        cell = int(broken.flatten().int().argmax())
        what = "NaN" if added.flatten()[cell].isnan() else "+inf"
        return f"in cell {_place(scores, cell)} it makes {what} of the score 0"
    seen = added.isfinite()
    if not seen.any():
        return Done(ScoreChange(), added)
    cell = int(added.abs().masked_fill(~seen, torch.inf).argmin())
    made = wide(doing(scores)).expand_as(scores)
    least = float(added.flatten()[cell])

    def tried(score: float) -> float:
        return _tried_at(doing, scores, cell, score) - least

    found: list[tuple[float, Done]] = []
    # What cuts off only larger scores than there are does nothing here.
    for largest in (LARGE_SCORE, float(scores.abs().max())):
        for change in possible_changes(tried, largest):
            done = Done(change, added)
            error = float(_error(made, done, scores).max())
            if error <= _EXACT:
                return done
            found.append((error, done))
    if not found:
        return f"{_tried(doing, scores, cell)}, which no scale, softcap or sum does"
    error, done = min(found, key=itemgetter(0))
    errors = _error(made, done, scores)
    vanishes = (errors > ROUNDING) & _vanishes(made) & _vanishes(done.to(scores))
    errors = errors.masked_fill(vanishes, 0)
    if errors.max() > ROUNDING:
        why = _counterexample(scores, made, done, int(errors.argmax()))
        return f"{_kind_of(doing, scores, added)}{why}"
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


def _error(made: Tensor, done: Done, scores: Tensor) -> Tensor:
    """How far each cell is from what it should be, compared with what was summed."""
    expected = done.to(scores)
    sizes = (done.change.factor * scores).abs() + done.added.abs()
    error = (made - expected).abs() / sizes.clamp(min=_SMALLEST_SIZE)
    both_hidden = made.isneginf() & expected.isneginf()
    return error.masked_fill(both_hidden, 0).nan_to_num(torch.inf)


def _vanishes(masked: Tensor) -> Tensor:
    """The cells whose weight is 0, since another one of their row is so much larger."""
    return masked < masked.amax(-1, keepdim=True) - VANISHING_EXPONENT


def _tried_at(doing: Doing, scores: Tensor, cell: int, score: float) -> float:
    """What becomes of a score in a cell."""
    return float(doing(torch.full_like(scores, score)).expand_as(scores).flatten()[cell])


def _tried(doing: Doing, scores: Tensor, cell: int) -> str:
    """In words what becomes of scores in a cell."""
    tried = (-1.0, 0.0, 1.0, 2.0)
    made = [f"{_tried_at(doing, scores, cell, score) + 0:.4g}" for score in tried]
    return f"in cell {_place(scores, cell)} it makes {listed(made)} of the scores -1, 0, 1 and 2"


def _kind_of(doing: Doing, scores: Tensor, added: Tensor) -> str:
    """In words what is done instead, if that has a name: "it adds before the softcap, …: "."""
    seen = added.isfinite().flatten().nonzero().flatten()[:_CELLS_ASKED].cpu()
    made = []
    for score in SCORES:
        of_all = wide(doing(torch.full_like(scores, score))).expand_as(scores)
        made.append(of_all.flatten().cpu()[seen].numpy())
    why = why_no_change(np.stack(made, axis=-1))
    if why == OTHER:
        return ""
    sentence = why.removesuffix(".")
    return f"{sentence[0].lower()}{sentence[1:]}: "


def _counterexample(scores: Tensor, made: Tensor, done: Done, cell: int) -> str:
    """In words what becomes of the score of this cell, where what is done elsewhere would make
    another.
    """
    score, number, expected, added = (
        float(each.flatten()[cell]) for each in (scores, made, done.to(scores), done.added)
    )
    said = (
        f"in cell {_place(scores, cell)} it makes {number:.4g} of the score {score:.4g}, and not"
        f" {expected:.4g}"
    )
    worked = done.change.in_words(added)
    return said if worked == "score" else f"{said}, which is {worked}"


def _place(scores: Tensor, cell: int) -> list[int]:
    return [int(each) for each in torch.unravel_index(torch.tensor(cell), scores.shape)]
