"""Attention that is written out: a product, a softmax of it, and the product of that with values.

What stands between them is followed (`tapes.py`) and tried on other numbers (`scores.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isclose, prod
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attncli.torch.attention import Attention
from attncli.torch.scores import Done, mask_of, too_many, what_is_done, wide
from attncli.torch.seen import Seen, dropped
from attncli.torch.tensors import unreadable
from attncli.torch.written_out.contractions import PRODUCTS, Contraction, product_of
from attncli.torch.written_out.places import (
    NotAttention,
    Places,
    Use,
    is_same_along,
    places_of,
    used_for,
)
from attncli.torch.written_out.tapes import SOFTMAX, STEPS, Operation, Tape, Tapes

FOLLOWED = PRODUCTS | SOFTMAX | STEPS

_NO_PRODUCT = "softmax of scores that no product gave"
# A scale that is 1/√d but for its rounding to 32 bits.
_SCALE_ROUNDING = 3e-7
# A weight differs from the softmax by so many roundings of a score, and of itself.
_ROUNDINGS = 8.0
# A factor of e to this is as good as any.
_ANYTHING = 80.0


class Follower:
    """Follows products of one thread until they are the weights of another product."""

    def __init__(self) -> None:
        self.tapes = Tapes()

    def see(
        self, function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any], result: Any
    ) -> Seen | str | None:
        """One of the functions `FOLLOWED` was called: the call of attention that ends with it, or
        in words what looked like one.
        """
        if function in STEPS:
            self.tapes.step(function, args, kwargs, result)
            return None
        if not isinstance(result, Tensor):
            return None
        if function in SOFTMAX:
            self._softmax(args, kwargs, result)
            return None
        product = product_of(function, args, kwargs)
        if product is None:
            return None
        for weights, values in (product[:2], (product.right, product.left)):
            tape = self.tapes[weights.tensor]
            if tape is not None and tape.axis is not None:
                self.tapes.forget(weights.tensor)
                if tape.product is None:
                    return _NO_PRODUCT
                return _seen(tape, tape.product, Use(weights, values, product, result))
        if result.is_floating_point():
            self.tapes[result] = Tape(product, _sum(function, args, kwargs))
        return None

    def _softmax(self, args: Any, kwargs: Mapping[str, Any], result: Tensor) -> None:
        """A softmax was worked out."""
        scores = args[0] if args else kwargs.get("input")
        axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
        if not isinstance(scores, Tensor) or not isinstance(axis, int):
            return
        tape = self.tapes[scores] or Tape(None)
        axis %= scores.ndim
        has_sink_elsewhere = tape.sink is not None and axis != scores.ndim - 1
        if tape.axis is None and not has_sink_elsewhere:
            self.tapes[result] = tape._replace(axis=axis)


def _sum(function: Any, args: Any, kwargs: Mapping[str, Any]) -> tuple[Operation, ...]:
    """The steps after the product in `baddbmm`, which adds it to another tensor."""
    if "baddbmm" not in function.__name__:
        return ()
    added = kwargs.get("input", args[0] if args else None)
    alpha, beta = kwargs.get("alpha", 1), kwargs.get("beta", 1)
    steps = [Operation(torch.mul, (None, alpha), {}, 0)]
    if beta:
        steps.append(Operation(torch.add, (None, added), {"alpha": beta}, 0))
    return tuple(steps)


def _seen(tape: Tape, product: Contraction, use: Use) -> Seen | str:
    """The call of attention, or in words why it is none."""
    for factor in (product.left, product.right, use.values):
        if kind := unreadable(factor.tensor):
            return f"attention written out with {kind}"
    try:
        with torch.no_grad():
            return _call(tape, product, use)
    except NotAttention as error:
        return f"softmax {error}"
    except Exception as error:
        # The steps of a model are played again in another number format, which they may refuse.
        return f"softmax between two products that cannot be followed ({error})"


def _call(tape: Tape, product: Contraction, use: Use) -> Seen:
    places = places_of(tape, product)
    used = used_for(tape, places, use)
    queries = places.query_rows[places.queries[..., 0]]
    keys = places.key_rows[places.keys[..., 0, :]]
    attention = Attention(queries, keys, used.values, scale=1.0)
    sink = None if tape.sink is None else places.to_weights(wide(tape.sink))
    reason = dropped(tape.dropout) or too_many(prod(product.shape))
    if not reason:
        scores = wide(queries) @ wide(keys).transpose(-2, -1)
        done = what_is_done(_doing(tape, product, places), scores)
        if isinstance(done, str):
            reason = f"what stands between its product and its softmax is not understood: {done}"
        else:
            attention = _with_what_is_done(attention, done, _narrowest(tape, queries))
            reason = _why_not_its_softmax(tape, done, scores, used.weights, sink)
    key_numbers = places.keys[..., 0, :]
    # With five axes and more, keys that several heads share have an axis for these alone.
    few = FewAxes(key_numbers.ndim > 3 and is_same_along(key_numbers, -2))
    kv_heads = _kv_heads(few.of(key_numbers, 1), few.of(used.numbers, 0))
    if sink is not None:
        of_heads = _of_heads(few.of(sink, 2))
        if of_heads is None:
            reason = reason or "its sink is not one number for each head"
        attention = replace(attention, sink=of_heads)
    return Seen(
        few.of_attention(attention, kv_heads),
        few.of(used.output, 2),
        weights=few.of(used.weights, 2),
        reason=reason,
        number_format=_narrowest(tape, used.output),
    )


def _with_what_is_done(attention: Attention, done: Done, number_format: torch.dtype) -> Attention:
    """The call with the mask, the scale and the softcap that were found."""
    mask, causal = mask_of(done, None, number_format)
    factor = done.change.factor
    usual = isclose(factor, attention.usual_scale, rel_tol=_SCALE_ROUNDING)
    scale = None if usual else factor
    return replace(attention, mask=mask, causal=causal, scale=scale, softcap=done.change.softcap)


class FewAxes(NamedTuple):
    """Brings tensors to at most one axis for entries and one for heads. If heads are `grouped`, the
    last two of these axes are both of heads.
    """

    grouped: bool

    def of(self, tensor: Tensor, rows: int) -> Tensor:
        """The tensor, whose last axes are so many axes of rows."""
        if self.grouped:
            tensor = tensor.flatten(-2 - rows, -1 - rows)
        return tensor.flatten(0, -2 - rows) if tensor.ndim > 2 + rows else tensor

    def of_attention(self, attention: Attention, kv_heads: int) -> Attention:
        """The same of what attention is given, with so many heads of keys, or all for 0."""
        query, key, value = (
            self.of(each, 2) for each in (attention.query, attention.key, attention.value)
        )
        if kv_heads:
            key, value = _each(key, kv_heads), _each(value, kv_heads)
        mask = attention.mask
        if mask is not None and mask.ndim > 4:
            leading = attention.query.shape[:-2]
            mask = self.of(mask.expand(*leading, *mask.shape[-2:]), 2)
        return replace(attention, query=query, key=key, value=value, mask=mask)


def _narrowest(tape: Tape, *others: Tensor) -> torch.dtype:
    """The number format with the fewest digits among those on the way."""
    formats = [each for each in tape.formats if each.is_floating_point]
    formats.extend(each.dtype for each in others)
    return max(formats, key=lambda each: torch.finfo(each).eps)


def _doing(tape: Tape, product: Contraction, places: Places) -> Callable[[Tensor], Tensor]:
    """What the model does to scores, which have the axes of the weights here and afterwards."""
    order = places.cells.flatten()
    is_in_order = torch.equal(order, torch.arange(prod(product.shape), device=order.device))

    def doing(scores: Tensor) -> Tensor:
        if is_in_order:
            played = scores.reshape(product.shape).clone()
        else:
            played = scores.new_zeros(prod(product.shape))
            played[order] = scores.flatten()
            played = played.view(product.shape)
        for step in tape.before:
            played = step.play(played)
        return places.to_weights(played)

    return doing


def _of_heads(sink: Tensor) -> Tensor | None:
    """One number for each head, of numbers for each query; None where these differ."""
    rows = sink.squeeze(-1)
    if not is_same_along(rows, -1):
        return None
    of_heads = rows[..., 0]
    if of_heads.ndim < 2:
        return of_heads.reshape(-1)
    return of_heads[0] if is_same_along(of_heads, 0) else None


def _why_not_its_softmax(
    tape: Tape, done: Done, scores: Tensor, weights: Tensor, sink: Tensor | None
) -> str:
    """Why the weights are not those of these scores, as they were rounded on the way; empty if they
    are.
    """
    masked = done.to(scores)
    sees_nothing = masked.isneginf().all(-1, keepdim=True)
    if sink is None:
        expected = masked.softmax(-1)
    else:
        expected = torch.cat([masked, sink], dim=-1).softmax(-1)[..., :-1]
    # What a score may be off, as often as it was rounded.
    epsilon = float(torch.finfo(_narrowest(tape, weights)).eps)
    sizes = _largest(scores) + _largest(masked.masked_fill(expected == 0, 0))
    allowed = torch.expm1((_ROUNDINGS * epsilon * (1 + sizes)).clamp(max=_ANYTHING))
    is_near = (wide(weights) - expected).abs() <= allowed * expected + epsilon
    if (is_near | sees_nothing).all():
        return ""
    changes = [step.function.__name__ for step in tape.after if step.changes]
    if changes:
        return f"its weights are changed after the softmax, by {changes[0]}()"
    return "its weights are not the softmax of its scores; something may have been changed in place"


def _largest(scores: Tensor) -> Tensor:
    """The size of the largest score of each row."""
    return scores.abs().amax(-1, keepdim=True)


def _kv_heads(keys: Tensor, values: Tensor) -> int:
    """How many heads of keys and of values there are, if several in a row are the same; 0 where
    each head has its own, or none is known.
    """
    if values.ndim < 1 or not values.numel():
        return 0
    heads = values.shape[-1]
    for count in range(1, heads):
        if heads % count:
            continue
        if all(
            is_same_along(numbers.unflatten(axis, (count, -1)), place)
            for numbers, axis, place in ((keys, -2, -2), (values, -1, -1))
        ):
            return count
    return 0


def _each(tensor: Tensor, kv_heads: int) -> Tensor:
    """So many heads, where each is repeated."""
    return tensor.unflatten(-3, (kv_heads, -1))[..., 0, :, :]
