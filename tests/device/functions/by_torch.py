"""PyTorch's attention, worked out on the GPU."""

import torch


def attention(q, k, v, attn_mask=None, is_causal=False, scale=None):
    q, k, v = (each.cuda() for each in (q, k, v))
    if attn_mask is not None:
        attn_mask = attn_mask.cuda()
    return torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=attn_mask, is_causal=is_causal, scale=scale
    )
