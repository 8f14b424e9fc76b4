"""Attentions in PyTorch that are right, as `right_functions.py` has them in NumPy."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def by_pytorch(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    choices = {"is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
    return F.scaled_dot_product_attention(q, k, v, attn_mask, **choices)


def by_hand(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Every step rounded to the format of the arguments."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        hidden = mask == 0 if mask.dtype == torch.bool else torch.zeros_like(mask, dtype=torch.bool)
        scores = (scores if mask.dtype == torch.bool else scores + mask).masked_fill(
            hidden, float("-inf")
        )
    return scores.softmax(dim=-1) @ v


def in_single_precision(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, scaling: float | None = None
) -> tuple[Tensor, Tensor]:
    """The softmax in float32, as models have it; what is hidden gets the lowest number there is."""
    weights = torch.matmul(q, k.transpose(2, 3)).float() * (scaling or q.shape[-1] ** -0.5)
    if mask is not None and mask.dtype == torch.bool:
        mask = torch.where(mask, 0.0, torch.finfo(torch.float32).min)
    if mask is not None:
        weights = weights + mask
    weights = F.softmax(weights, dim=-1).to(q.dtype)
    return torch.matmul(weights, v).contiguous(), weights


def tokens_first(q: Tensor, k: Tensor, v: Tensor, softcap: float | None = None) -> Tensor:
    scores = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    return torch.einsum("bhij,bjhd->bihd", scores.float().softmax(-1).to(v.dtype), v)


def in_blocks(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> Tensor:
    """As flash attention does, with sums in float32."""
    n, m = q.shape[-2], k.shape[-2]
    top = torch.full((*q.shape[:-1], 1), -torch.inf)
    total = torch.zeros(*q.shape[:-1], 1)
    mixed = torch.zeros(*q.shape[:-1], v.shape[-1])
    past = torch.ones(n, m, dtype=torch.bool).tril()
    for start in range(0, m, 2):
        block = slice(start, start + 2)
        scores = q.float() @ k[..., block, :].float().transpose(-1, -2) / math.sqrt(q.shape[-1])
        if causal:
            scores = scores.masked_fill(~past[:, block], -torch.inf)
        new_top = torch.maximum(top, scores.amax(-1, keepdim=True))
        powers, fade = torch.exp(scores - new_top), torch.exp(top - new_top)
        total = total * fade + powers.sum(-1, keepdim=True)
        mixed = mixed * fade + powers.to(v.dtype).float() @ v[..., block, :].float()
        top = new_top
    return (mixed / total).to(q.dtype)
