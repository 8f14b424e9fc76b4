"""Wrong attentions in PyTorch: what shows only in its 16-bit formats."""

from __future__ import annotations

import torch
from torch import Tensor


def scale_left_out_in_bfloat16(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """A path of its own for one format, which lacks the scale."""
    scale = 1.0 if q.dtype == torch.bfloat16 else q.shape[-1] ** -0.5
    return (q @ k.transpose(-2, -1) * scale).softmax(dim=-1) @ v


def minus_1e9_in_float16(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """float16 has no number so large."""
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    if mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(~mask, -1e9)
    elif mask is not None:
        scores = scores + mask
    return scores.softmax(dim=-1) @ v
