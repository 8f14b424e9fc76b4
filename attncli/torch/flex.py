"""FlexAttention: its mask, and what its function of the scores (`score_mod`) does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch._higher_order_ops.flex_attention import flex_attention as OPERATION

from attncli.torch.attention import Attention
from attncli.torch.scores import mask_of, too_many, what_is_done, wide
from attncli.torch.seen import Seen

__all__ = ["OPERATION", "flex_attention"]


def flex_attention(
    result: Sequence[Tensor],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable[..., Tensor],
    block_mask: Sequence[Any],
    scale: float,
    kernel_options: Any = None,
    score_buffers: Sequence[Tensor] = (),
    mask_buffers: Sequence[Tensor] = (),
) -> Seen:
    """A call of `flex_attention`, which hands this to its operation, and gets the output first.

    `block_mask` ends with the function that says which keys a query sees. Both functions are of
    one cell, and are called with its entry, head, query and key.
    """
    attention = Attention(query, key, value, scale=scale)
    output = result[0]
    if why := attention.unreadable:
        return Seen(attention, output, reason=f"{why}, which attncli cannot read")
    try:
        with torch.no_grad():
            attention = _understood(attention, score_mod, block_mask, score_buffers, mask_buffers)
    except _NotUnderstood as error:
        return Seen(attention, output, reason=str(error))
    except Exception as error:
        # It is somebody else's function, made for scores of one number format.
        return Seen(attention, output, reason=f"its score_mod cannot be tried: {error}")
    return Seen(attention.aligned(output.shape[:-2]), output)


class _NotUnderstood(Exception):
    """Why it is not known what is done to the scores."""


def _understood(
    attention: Attention,
    score_mod: Callable[..., Tensor],
    block_mask: Sequence[Any],
    score_buffers: Sequence[Tensor],
    mask_buffers: Sequence[Tensor],
) -> Attention:
    """The call with what its functions do: the mask, the scale and the softcap."""
    query, key, scale = attention.query, attention.key, attention.scale
    assert scale is not None
    if why := too_many(query[..., 0].numel() * key.shape[-2]):
        raise _NotUnderstood(why)
    scores = _scores(query, key, scale)
    done = what_is_done(_of_all_cells(score_mod, scores, score_buffers), scores)
    if isinstance(done, str):
        raise _NotUnderstood(f"its score_mod is not understood: {done}")
    visible = _of_all_cells(block_mask[-1], scores, mask_buffers)(None).expand_as(scores)
    mask, causal = mask_of(done, visible, query.dtype)
    return replace(
        attention,
        mask=mask,
        causal=causal,
        scale=scale * done.change.factor,
        softcap=done.change.softcap,
    )


def _scores(query: Tensor, key: Tensor, scale: float) -> Tensor:
    """The scaled scores, batch × heads × n × m."""
    keys = wide(key).repeat_interleave(query.shape[1] // key.shape[1], dim=1)
    return wide(query) @ keys.transpose(-2, -1) * scale


def _of_all_cells(
    function: Callable[..., Tensor], scores: Tensor, buffers: Sequence[Tensor]
) -> Callable[[Tensor | None], Tensor]:
    """A function of one cell, for all of them at once; for None it is one of the cell alone, as
    that of a mask is.

    The functions may look up numbers by the cell, which only PyTorch's own way allows.
    """
    from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
    from torch.nn.attention.flex_attention import _vmap_for_bhqkv

    places = [torch.arange(size, device=scores.device) for size in scores.shape]
    suffix = (None,) * len(buffers)

    def of_all(given: Tensor | None) -> Tensor:
        first = () if given is None else (given,)
        mapped = _vmap_for_bhqkv(function, prefix=(0,) * len(first), suffix=suffix)
        with TransformGetItemToIndex():
            return mapped(*first, *places, *buffers)

    return of_all
