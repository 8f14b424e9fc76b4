"""PyTorch's attention on the GPU, with the mask upside down."""

import torch


def attention(q, k, v, mask=None):
    q, k, v = (each.cuda() for each in (q, k, v))
    if mask is not None:
        mask = ~mask.bool().cuda()
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask).cpu()
