"""What attention was given in a call, and the linear layers that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan
from typing import Any

import torch
from torch import Tensor

from attncli.torch.tensors import own, size_of, unreadable, unreadable_mask

# The keys of what linear layers read.
INPUTS = ("X", "context")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attention:
    """What attention was given: tensors of batch × heads × n × d, or of only the last three or two
    of these axes.

    `mask` is PyTorch's `attn_mask`, `causal` its `is_causal`. A `scale` of None is 1/√d. There may
    be fewer heads of keys and values than of queries. `sink` has one logit for each head of the
    queries.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None = None
    causal: bool = False
    scale: float | None = None
    softcap: float | None = None
    sink: Tensor | None = None

    @property
    def unreadable(self) -> str:
        """Which of the tensors cannot be read, and why: "its queries are a nested tensor"; empty
        where all can.
        """
        for what, tensor in (
            ("queries", self.query),
            ("keys", self.key),
            ("values", self.value),
            ("sinks", self.sink),
        ):
            if tensor is not None and (kind := unreadable(tensor)):
                return f"its {what} are {kind}"
        kind = "" if self.mask is None else unreadable_mask(self.mask)
        return f"its mask is {kind}" if kind else ""

    @property
    def impossible(self) -> str:
        """Why no problem can have this mask: NaN and +inf in it make every weight of a row NaN."""
        if self.mask is None or not self.mask.is_floating_point() or not self.mask.numel():
            return ""
        # NaN is the largest number of all for PyTorch.
        largest = float(self.mask.max())
        if isnan(largest):
            return "its mask has NaN"
        return "its mask has +inf" if largest == inf else ""

    def aligned(self, leading: torch.Size) -> Attention:
        """The same with at most one axis for entries, and one for heads, of which all tensors have
        as many.

        `leading` are the axes of the output before n × d. PyTorch takes any number of them, and
        repeats a tensor that has fewer, or a single entry. Keys and values keep fewer heads than
        the queries if both have as few.
        """
        if (
            all(tensor.shape[:-2] == leading for tensor in (self.query, self.key, self.value))
            and len(leading) < 3
        ):
            return self
        *batch, heads = leading
        kv_heads = heads_of(self.key.shape)
        if kv_heads != heads_of(self.value.shape):
            kv_heads = heads
        mask = self.mask
        if mask is not None and len(batch) > 1 and mask.ndim > 3:
            mask = mask.expand(*batch, *mask.shape[-3:]).flatten(0, -4)
        return replace(
            self,
            query=_repeated(self.query, batch, heads),
            key=_repeated(self.key, batch, kv_heads),
            value=_repeated(self.value, batch, kv_heads),
            mask=mask,
        )

    @property
    def usual_scale(self) -> float:
        """1/√d, which is the scale where none is given."""
        return float(max(self.query.shape[-1], 1) ** -0.5)

    def largest_score(self) -> float:
        """A bound: no score of a query and a key is larger in size, after the scale and the
        softcap.
        """
        if not self.query.numel() or not self.key.numel():
            return 0.0
        longest = [
            float(torch.linalg.vector_norm(rows.double(), dim=-1).max())
            for rows in (self.query, self.key)
        ]
        scale = self.usual_scale if self.scale is None else abs(self.scale)
        bound = scale * longest[0] * longest[1]
        return bound if self.softcap is None else min(bound, self.softcap)

    def copied(self) -> Attention:
        """The same with tensors of its own, in the computer's memory, which no model changes
        afterwards.
        """
        tensors = {
            name: own(value)
            for name in self.__slots__
            if isinstance(value := getattr(self, name), Tensor)
        }
        others = {name: getattr(self, name) for name in self.__slots__ if name not in tensors}
        return Attention(**others, **tensors)

    @property
    def mask_in_words(self) -> str:
        """What hides keys, for a table."""
        if self.mask is None:
            return "causal" if self.causal else "none"
        kind = "true/false" if self.mask.dtype == torch.bool else "added"
        return f"{kind}, causal" if self.causal else kind

    @property
    def bytes(self) -> int:
        """What the tensors take in memory."""
        tensors = (getattr(self, name) for name in self.__slots__)
        return sum(size_of(each) for each in tensors if isinstance(each, Tensor))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Projections:
    """Where queries, keys and values come from: inputs and weights, by the keys of a problem (`X`,
    `W_Q`, `b_Q`, …).

    Inputs are n × d_model or batch × n × d_model, weights d_model × (heads · d), as a problem has
    them. Where queries and keys were `rotated` afterwards, `rope` is what the model's config says
    of it.
    """

    arrays: Mapping[str, Tensor]
    rotated: bool = False
    rope: Mapping[str, Any] | None = None

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """X, and the context where there is one."""
        return tuple(self.arrays[name] for name in INPUTS if name in self.arrays)

    def copied(self) -> Projections:
        """The same with inputs of its own, as `Attention.copied` has; the weights stay those of the
        model.
        """
        inputs = {name: own(self.arrays[name]) for name in INPUTS if name in self.arrays}
        return replace(self, arrays={**self.arrays, **inputs})

    def gives(self, attention: Attention) -> bool:
        """Whether the weights still give the recorded queries, keys and values: training may have
        changed them.
        """
        return (
            self._gives_one("Q", attention.query)
            and self._gives_one("K", attention.key)
            and self._gives_one("V", attention.value)
        )

    def _gives_one(self, letter: str, tensor: Tensor) -> bool:
        """The same of the queries, the keys or the values."""
        source = self.arrays["X"]
        if letter != "Q":
            source = self.arrays.get("context", source)
        rows = source.double() @ _doubles(self.arrays[f"W_{letter}"])
        bias = self.arrays.get(f"b_{letter}")
        if bias is not None:
            rows = rows + _doubles(bias)
        recorded = tensor.transpose(1, 2).flatten(2).double()
        if rows.shape != recorded.shape:
            return False
        tolerance = 64 * torch.finfo(tensor.dtype).eps * float(recorded.abs().max())
        return float((rows - recorded).abs().max()) <= tolerance

    def of_head(self, head: int, heads: int, kv_heads: int) -> Mapping[str, Tensor]:
        """The inputs and weights of one head: its columns, and no `W_O`, which joins the heads."""
        kv_head = head * kv_heads // heads
        columns = {"Q": (head, heads), "K": (kv_head, kv_heads), "V": (kv_head, kv_heads)}
        found: dict[str, Tensor] = {}
        for name, array in self.arrays.items():
            letter = name[-1]
            if name in INPUTS:
                found[name] = array
            elif letter in columns:
                at, parts = columns[letter]
                found[name] = array.chunk(parts, dim=-1)[at]
        return found


def _doubles(weights: Tensor) -> Tensor:
    """Weights of a model in float64, in the computer's memory."""
    return weights.detach().cpu().double()


def heads_of(shape: Sequence[int]) -> int:
    """How many heads queries, keys or values of this shape have."""
    return shape[-3] if len(shape) > 2 else 1


def _repeated(tensor: Tensor, batch: Sequence[int], heads: int) -> Tensor:
    """A tensor for all these entries, which get one axis, and for so many heads: each is that of as
    many in a row.
    """
    own_heads = heads_of(tensor.shape)
    if heads != own_heads and tensor.ndim > 2:
        tensor = tensor.repeat_interleave(heads // own_heads, dim=-3)
    rows = tensor.shape[-2:]
    tensor = tensor.expand(*batch, heads, *rows)
    if len(batch) < 2:
        return tensor
    return tensor.flatten(0, -4)
