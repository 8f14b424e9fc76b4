"""A call of attention as it was seen: what it was given, what came back, and why it cannot be
worked out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attncli.torch.attention import Attention, Projections
from attncli.torch.tensors import plain_mask, unreadable


class Seen(NamedTuple):
    """A call: what attention was given, what came back, and where its inputs come from.

    `output` has the axes of the queries, or is that of the whole layer, after W_O: batch × n ×
    d_model. Then `heads_output` is what came before W_O. `reason` says why the call cannot be
    worked out; it is empty where it can. `number_format` is the one with the fewest digits on the
    way, where it may be another than that of the output.
    """

    attention: Attention
    output: Tensor
    heads_output: Tensor | None = None
    weights: Tensor | None = None
    projections: Projections | None = None
    reason: str = ""
    number_format: torch.dtype | None = None


class Linear(NamedTuple):
    """A linear layer that was run; its weight has a row for each feature of the output, unless it
    is `transposed`.

    Of a part whose heads do not stand side by side in the output, `starts` are the first columns of
    each head.
    """

    input: Tensor
    weight: Tensor
    bias: Tensor | None
    output: Tensor
    transposed: bool = False
    starts: tuple[int, ...] = ()

    @property
    def readable(self) -> bool:
        """Whether all its numbers can be read."""
        return not any(unreadable(tensor) for tensor in self[:4] if tensor is not None)

    @property
    def columns(self) -> Tensor:
        """The weight as a problem has it: features of the input × features of the output."""
        return self.weight if self.transposed else self.weight.T

    def part(self, start: int, features: int) -> Linear:
        """The layer that gives only these features; its output is still that of the whole."""
        return self.at(slice(start, start + features))

    def at(self, columns: slice | Tensor) -> Linear:
        """The same for the features in these columns."""
        bias = None if self.bias is None else self.bias[columns]
        return Linear(self.input, self.columns[:, columns], bias, self.output, transposed=True)

    def heads_at(self, starts: Sequence[int], width: int) -> Linear:
        """The layer that gives only the heads that begin at these columns, side by side."""
        columns = [start + feature for start in starts for feature in range(width)]
        bias = None if self.bias is None else self.bias[columns]
        weight = self.columns[:, columns]
        part = Linear(self.input, weight, bias, self.output, transposed=True)
        return part._replace(starts=tuple(starts))


def linear_layer(
    output: Tensor, input: Tensor, weight: Tensor, bias: Tensor | None = None
) -> Linear:
    return Linear(input, weight, bias, output)


def scaled_dot_product(
    output: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Seen:
    mask = None if attn_mask is None else plain_mask(attn_mask)
    attention = Attention(query, key, value, mask, is_causal, scale)
    if why := attention.unreadable:
        return Seen(attention, output, reason=f"{why}, which attncli cannot read")
    attention = attention.aligned(output.shape[:-2])
    return Seen(
        attention, output.flatten(0, -4) if output.ndim > 4 else output, reason=dropped(dropout_p)
    )


def dropped(probability: float) -> str:
    """Why a call with dropout cannot be worked out."""
    return (
        f"dropout of {probability} changes its weights by chance: run the model after model.eval()"
        if probability
        else ""
    )
