"""Attentions in PyTorch: right ones, and ones whose gradients are wrong, by classes with a backward
pass of their own and by what stops a gradient.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

TORCH: Any = torch


def weights_of(q: Tensor, k: Tensor, mask: Tensor | None = None) -> Tensor:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(dim=-1)


def by_hand(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    return weights_of(q, k, mask) @ v


def in_place(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """It changes its own queries, which a gradient does not need."""
    q *= 1 / math.sqrt(q.size(-1))
    return (q @ k.transpose(-2, -1)).softmax(dim=-1) @ v


class OwnBackward(torch.autograd.Function):
    """With a backward pass by hand, of which others change a part."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        weights = weights_of(q, k)
        ctx.save_for_backward(q, k, v, weights)
        return weights @ v

    @classmethod
    def backward(cls, ctx: Any, *d_outputs: Any) -> Any:
        (d_output,) = d_outputs
        q, k, v, weights = ctx.saved_tensors
        d_weights = d_output @ v.transpose(-2, -1)
        d_scores = cls.through(weights, d_weights) / math.sqrt(q.size(-1))
        return cls.ends(d_scores, q, k, weights, d_output)

    @staticmethod
    def through(weights: Tensor, d_weights: Tensor) -> Tensor:
        return weights * (d_weights - (weights * d_weights).sum(dim=-1, keepdim=True))

    @staticmethod
    def ends(d_scores: Tensor, q: Tensor, k: Tensor, weights: Tensor, d_output: Tensor) -> Any:
        d_keys = d_scores.transpose(-2, -1) @ q
        return d_scores @ k, d_keys, weights.transpose(-2, -1) @ d_output


class WithoutMean(OwnBackward):
    @staticmethod
    def through(weights: Tensor, d_weights: Tensor) -> Tensor:
        return weights * d_weights


class ScaledTwice(OwnBackward):
    @staticmethod
    def through(weights: Tensor, d_weights: Tensor) -> Tensor:
        d_scores = OwnBackward.through(weights, d_weights)
        # The queries of all cases of this class have five features.
        return d_scores / math.sqrt(5)


class KeysOfKeys(OwnBackward):
    """Only where there are as many queries as keys, it is no error."""

    @staticmethod
    def ends(d_scores: Tensor, q: Tensor, k: Tensor, weights: Tensor, d_output: Tensor) -> Any:
        d_queries, _, d_values = OwnBackward.ends(d_scores, q, k, weights, d_output)
        return d_queries, d_scores @ k, d_values


class NamedSettings(OwnBackward):
    """With settings that `apply` takes by their places alone, and that have no gradient."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        is_causal: bool = False,
        scale: float | None = None,
    ) -> Tensor:
        ctx.scale = scale or 1 / math.sqrt(q.size(-1))
        scores = q @ k.transpose(-2, -1) * ctx.scale
        if is_causal:
            scores = scores.masked_fill(~torch.ones(scores.shape[-2:]).tril().bool(), -torch.inf)
        weights = scores.softmax(dim=-1)
        ctx.save_for_backward(q, k, v, weights)
        return weights @ v

    @classmethod
    def backward(cls, ctx: Any, *d_outputs: Any) -> Any:
        (d_output,) = d_outputs
        q, k, v, weights = ctx.saved_tensors
        d_scores = cls.through(weights, d_output @ v.transpose(-2, -1)) * ctx.scale
        return *cls.ends(d_scores, q, k, weights, d_output), None, None


class WithSetup(torch.autograd.Function):
    """What is kept is said apart, so that `forward` begins with the queries."""

    @staticmethod
    def forward(q: Tensor, k: Tensor, v: Tensor) -> Any:
        weights = weights_of(q, k)
        return weights @ v, weights

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs, output[1])

    @staticmethod
    def backward(ctx: Any, *d_outputs: Any) -> Any:
        return OwnBackward.backward(ctx, d_outputs[0])


applied = WithoutMean.apply


def own_backward(q: Tensor, k: Tensor, v: Tensor) -> Any:
    return TORCH_APPLY(OwnBackward, q, k, v)


def without_mean(q: Tensor, k: Tensor, v: Tensor) -> Any:
    return TORCH_APPLY(WithoutMean, q, k, v)


def keys_of_another_shape(q: Tensor, k: Tensor, v: Tensor) -> Any:
    return TORCH_APPLY(KeysOfKeys, q, k, v)


def TORCH_APPLY(function: Any, *arguments: Tensor) -> Any:
    return function.apply(*arguments)


def detached_weights(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    return weights_of(q, k, mask).detach() @ v


def detached_keys(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return by_hand(q, k.detach(), v)


def detached(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    with torch.no_grad():
        return by_hand(q, k, v)


def detached_sum(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The sum of a row is taken for a constant, so nothing is subtracted."""
    powers = torch.exp(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)) - 2)
    return powers / powers.sum(dim=-1, keepdim=True).detach() @ v


def nulled_afterwards(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """What is NaN becomes 0, but not its gradient."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores + torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, -torch.inf)
    return torch.nan_to_num(scores.softmax(dim=-1)) @ v


def changed_in_place(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The softmax needs its result to go back through, and has lost it."""
    weights = weights_of(q, k)
    kept = weights.clone()
    weights *= 2
    return kept @ v + 0 * weights @ v


def scale_forgotten(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Forwards, too: its gradients are those of what it computes."""
    scores = q @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(dim=-1) @ v


def straight_through_softcap(
    q: Tensor, k: Tensor, v: Tensor, softcap: float | None = None
) -> Tensor:
    """The tanh is taken as though it were straight."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if softcap is not None:
        capped = softcap * torch.tanh(scores / softcap)
        scores = scores + (capped - scores).detach()
    return scores.softmax(dim=-1) @ v


def by_pytorch(
    q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None, is_causal: bool = False
) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, attn_mask, is_causal=is_causal)


class Layer(nn.Module):
    """Attention with weights of its own; a part of it can be cut off from gradients."""

    def __init__(self, width: int = 6, heads: int = 2, cut: str = "") -> None:
        super().__init__()
        self.num_heads = heads
        self.cut = cut
        self.q_proj = nn.Linear(width, width)
        self.k_proj = nn.Linear(width, width)
        self.v_proj = nn.Linear(width, width)
        self.out_proj = nn.Linear(width, width)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        projected = {"q": self.q_proj(x), "k": self.k_proj(x), "v": self.v_proj(x)}
        if self.cut:
            projected[self.cut] = projected[self.cut].detach()
        q, k, v = (
            each.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for each in projected.values()
        )
        heads = by_hand(q, k, v, mask)
        return self.out_proj(heads.transpose(1, 2).flatten(-2))
