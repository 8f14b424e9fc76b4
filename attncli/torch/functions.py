"""What PyTorch is watched for: its two functions of attention, and the linear layers before
them.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from inspect import signature
from operator import attrgetter
from types import FunctionType
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from attncli.torch.attention import Attention, Projections
from attncli.torch.tensors import plain_mask, unreadable, unreadable_mask

Noted = TypeVar("Noted")

# The last linear layers: those of the queries, the keys and the values are among them.
LINEAR_LAYERS_KEPT = 8

_MULTI_HEAD = {
    name: each.default
    for name, each in signature(functional.multi_head_attention_forward).parameters.items()
}
_MULTI_HEAD_NAME = "F.multi_head_attention_forward"
# Exported modules call this.
_EXPORTED_ATTENTION = torch.ops.aten.scaled_dot_product_attention
_DOT_PRODUCT = frozenset(
    (functional.scaled_dot_product_attention, _EXPORTED_ATTENTION, _EXPORTED_ATTENTION.default)
)
_WATCHED = _DOT_PRODUCT | {functional.multi_head_attention_forward, functional.linear, torch.addmm}


class Seen(NamedTuple):
    """A call: what attention was given, what came back, and where its inputs come from.

    `output` has the axes of the queries, or is that of the whole layer, after W_O: batch × n ×
    d_model. Then `heads_output` is what came before W_O. `reason` says why the call cannot be
    worked out; it is empty where it can.
    """

    attention: Attention
    output: Tensor
    heads_output: Tensor | None = None
    weights: Tensor | None = None
    projections: Projections | None = None
    reason: str = ""


class Linear(NamedTuple):
    """A linear layer that was run; its weight has a row for each feature of the output, unless it
    is `transposed`.
    """

    input: Tensor
    weight: Tensor
    bias: Tensor | None
    output: Tensor
    transposed: bool = False

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
        columns = slice(start, start + features)
        bias = None if self.bias is None else self.bias[columns]
        return Linear(self.input, self.columns[:, columns], bias, self.output, transposed=True)


class CallWatch(TorchFunctionMode):
    """Tells of each call of attention that PyTorch makes while it is active.

    What a function is called with is passed on as it is, and what it gives back, too: nothing that
    a model computes changes. `tell` gets each call, `unseen` the name of a function in which none
    could be seen.
    """

    def __init__(self, tell: Callable[[Seen], None], unseen: Callable[[str], None]) -> None:
        super().__init__()
        self.tell, self.unseen = tell, unseen
        self._inner: list[Seen] | None = None
        self.linear: deque[Linear] = deque(maxlen=LINEAR_LAYERS_KEPT)

    def __torch_function__(
        self,
        function: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        # Nearly no function is watched, and each look at one costs a model time.
        if function not in _WATCHED:
            return function(*args, **kwargs)
        if function is functional.multi_head_attention_forward:
            return self._multi_head(function, args, kwargs)
        result = function(*args, **kwargs)
        # It may be what torch.fx writes a program with, for example.
        if not isinstance(result, Tensor):
            return result
        if function in _DOT_PRODUCT:
            self._tell_or_keep(_scaled_dot_product(result, *args, **kwargs))
        elif function is functional.linear:
            self.linear.append(_linear(result, *args, **kwargs))
        elif function is torch.addmm and args[0].ndim == 1:
            # So GPT-2 writes a linear layer.
            self.linear.append(Linear(args[1], args[2], args[0], result, transposed=True))
        return result

    def _tell_or_keep(self, seen: Seen) -> None:
        """Tell of a call, or keep it for the function that made it."""
        if self._inner is not None:
            self._inner.append(seen)
        elif seen.reason:
            self.tell(seen)
        else:
            self.tell(seen._replace(projections=self.projections(seen.attention)))

    def _multi_head(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        """Run PyTorch's function of the whole layer, and tell of it."""
        given = {**_MULTI_HEAD, **dict(zip(_MULTI_HEAD, args, strict=False)), **kwargs}
        kinds = [
            unreadable_mask(each) for each in given.values() if torch.overrides.is_tensor_like(each)
        ]
        kind = next(filter(None, kinds), "")
        if kind:
            self.unseen(f"{_MULTI_HEAD_NAME} with {kind}")
            return function(*args, **kwargs)
        layers: list[Linear] = []
        inner: list[Seen] = []
        result = _noting(function, layers, inner)(*args, **kwargs)
        seen = _multi_head(given, result, layers, inner)
        if seen is None:
            self.unseen(_MULTI_HEAD_NAME)
        else:
            self.tell(seen)
        return result

    @contextmanager
    def inside(self) -> Iterator[list[Seen]]:
        """Calls that are made inside another one: they are put into this list, and not told."""
        outer, self._inner = self._inner, []
        try:
            yield self._inner
        finally:
            self._inner = outer

    def projections(self, attention: Attention) -> Projections | None:
        """The linear layers that made queries, keys and values, if they were seen and nothing came
        in between.
        """
        if attention.query.ndim != 4 or not attention.query.numel() or not attention.key.numel():
            return None
        found = [
            self._source(tensor) for tensor in (attention.query, attention.key, attention.value)
        ]
        *before, value = found
        if value is None:
            return None
        rotated = before == [None, None]
        if rotated:
            found = [*self._layers_before(value, attention), value]
        sources = [source for source in found if source is not None]
        if len(sources) < 3 or sources[1].input is not sources[2].input:
            return None
        arrays = {"X": _of_entries(sources[0].input, attention.query)}
        if sources[1].input is not sources[0].input:
            arrays["context"] = _of_entries(sources[1].input, attention.key)
        for letter, source in zip("QKV", sources, strict=True):
            arrays[f"W_{letter}"] = source.columns
            if source.bias is not None:
                arrays[f"b_{letter}"] = source.bias
        return Projections(arrays, rotated=rotated)

    def _layers_before(self, value: Linear, attention: Attention) -> list[Linear]:
        """The linear layers of queries and keys that something else came after, as a rotation:
        those that read what the layer of the values reads, in the order of the calls.
        """
        sizes = [_features(tensor) for tensor in (attention.query, attention.key)]
        whole = value.output.shape[-1]
        if whole == sum(sizes) + _features(attention.value):
            # One layer makes all three.
            layer = next(each for each in self.linear if each.output is value.output)
            return [layer.part(0, sizes[0]), layer.part(*sizes)]
        found = []
        alike = [each for each in self.linear if each.input is value.input and each.readable]
        for size in sizes:
            layers = [each for each in alike if each.output.shape[-1] == size]
            if not layers or len(layers[0].output.reshape(-1, size)) != len(
                value.output.reshape(-1, whole)
            ):
                return []
            alike.remove(layers[0])
            found.append(layers[0])
        return found

    def _source(self, tensor: Tensor) -> Linear | None:
        """The linear layer, or the part of one, whose output this is, with the heads as columns
        side by side.
        """
        batch, heads, size, width = tensor.shape
        features = heads * width
        for layer in filter(attrgetter("readable"), reversed(self.linear)):
            output = layer.output.reshape(-1, layer.output.shape[-1])
            if len(output) != batch * size or output.shape[1] % features:
                continue
            first = tensor[0, :, 0].flatten()
            for start in range(0, output.shape[1], features):
                part = slice(start, start + features)
                # All rows are compared only where the first is the same.
                if torch.equal(output[0, part], first) and torch.equal(
                    output[:, part], tensor.transpose(1, 2).reshape(-1, features)
                ):
                    return layer.part(start, features)
        return None


def _noting(
    function: Callable[..., Any], layers: list[Linear], inner: list[Seen]
) -> Callable[..., Any]:
    """A copy of this Python function of PyTorch, which notes the linear layers and the attention
    that it calls.

    A function that is written in Python asks first whether it is watched, and then hands itself
    over as a whole: the copy is told that it is not. It has a namespace of its own, so nothing of
    PyTorch is changed, in this thread or in others. To watch everything that it calls instead takes
    several times as long.
    """
    module = function.__globals__
    names = {
        **module,
        "has_torch_function": lambda tensors: False,
        "linear": _noted(module["linear"], _linear, layers),
        "scaled_dot_product_attention": _noted(
            module["scaled_dot_product_attention"], _scaled_dot_product, inner
        ),
    }
    for name in _callers_of_linear(module["__name__"]):
        if getattr(module[name], "__globals__", None) is module:
            names[name] = _with_names(module[name], names)
    return _with_names(function, names)


@cache
def _callers_of_linear(module: str) -> tuple[str, ...]:
    """The functions of this module that call its `linear`."""
    functions = {
        name: each
        for name, each in vars(sys.modules[module]).items()
        if isinstance(each, FunctionType)
    }
    return tuple(name for name, each in functions.items() if "linear" in each.__code__.co_names)


def _with_names(function: Any, names: dict[str, Any]) -> Callable[..., Any]:
    """The same function, which finds its names among these."""
    copy = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _noted(
    function: Callable[..., Any], note: Callable[..., Noted], noted: list[Noted]
) -> Callable[..., Any]:
    """The function, of which each call is noted in a list: what it gives back, and what it is
    called with.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        noted.append(note(result, *args, **kwargs))
        return result

    return call


def _features(tensor: Tensor) -> int:
    """How many columns batch × heads × n × d has with its heads side by side."""
    return tensor.shape[1] * tensor.shape[3]


def _of_entries(input: Tensor, attention_side: Tensor) -> Tensor:
    """The input of a linear layer, as batch × n × d_model, by the axes of what was made of it."""
    return input.reshape(attention_side.shape[0], attention_side.shape[2], -1)


def _linear(output: Tensor, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Linear:
    return Linear(input, weight, bias, output)


def _scaled_dot_product(
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


def _multi_head(
    given: Mapping[str, Any],
    result: tuple[Tensor, Tensor | None],
    layers: list[Linear],
    inner: list[Seen],
) -> Seen | None:
    """A call of `F.multi_head_attention_forward`, whose tensors are n × batch × d_model, or n ×
    d_model.

    `layers` and `inner` are what it called: one to three linear layers that make queries, keys and
    values, the one that joins the heads, and attention, unless it works this out itself in order to
    return the weights. None where it called anything else. Its masks mean the opposite of those of
    the other function: true hides a key.
    """
    width, heads = given["embed_dim_to_check"], given["num_heads"]
    rows = [part for layer in layers[:-1] for part in layer.output.split(width, dim=-1)]
    if len(rows) != 3:
        return None
    query, key, value = (_split(part, heads) for part in rows)
    if inner:
        mask, causal = inner[0].attention.mask, inner[0].attention.causal
    else:
        mask, causal = _multi_head_mask(given, len(query), heads), False
    attention = Attention(query, key, value, mask, causal)
    reason = _multi_head_reason(given)
    batched = given["query"].ndim == 3
    inputs = [
        given[name].transpose(0, 1) if batched else given[name][None]
        for name in ("query", "key", "value")
    ]
    x, context, values = inputs
    heads_output = _split(layers[-1].input.view(rows[0].shape), heads)
    if given["key"] is not given["value"] and not torch.equal(context, values):
        # Keys and values of different inputs are no problem's.
        return Seen(attention, heads_output, reason=reason)
    if given["use_separate_proj_weight"]:
        weights = [given[f"{letter}_proj_weight"] for letter in "qkv"]
    else:
        weights = list(given["in_proj_weight"].chunk(3))
    biases = [None] * 3 if given["in_proj_bias"] is None else list(given["in_proj_bias"].chunk(3))
    arrays = {"X": x} | ({} if given["key"] is given["query"] else {"context": context})
    for letter, weight, bias in zip("QKV", weights, biases, strict=True):
        arrays |= {f"W_{letter}": weight.T} | ({} if bias is None else {f"b_{letter}": bias})
    arrays["W_O"] = given["out_proj_weight"].T
    if given["out_proj_bias"] is not None:
        arrays["b_O"] = given["out_proj_bias"]
    output = result[0].transpose(0, 1) if batched else result[0][None]
    return Seen(attention, output, heads_output, projections=Projections(arrays), reason=reason)


def _split(rows: Tensor, heads: int) -> Tensor:
    """n × batch × (heads · d) as batch × heads × n × d."""
    return rows.view(*rows.shape[:2], heads, -1).permute(1, 2, 0, 3)


def _multi_head_mask(given: Mapping[str, Any], batch: int, heads: int) -> Tensor | None:
    """Both masks as the one that is added to the scores, batch × heads × n × m."""
    mask, padding = given["attn_mask"], given["key_padding_mask"]
    parts = []
    if mask is not None:
        parts.append(
            _added(mask).unflatten(0, (batch, heads))
            if mask.ndim == 3
            else _added(mask)[None, None]
        )
    if padding is not None:
        parts.append(_added(padding).reshape(batch, 1, 1, -1))
    return sum(parts[1:], parts[0]) if parts else None


def _added(mask: Tensor) -> Tensor:
    if mask.dtype != torch.bool:
        return mask
    return torch.zeros_like(mask, dtype=torch.float32).masked_fill(mask, -torch.inf)


def _multi_head_reason(given: Mapping[str, Any]) -> str:
    for name in ("bias_k", "bias_v", "static_k", "static_v"):
        if given[name] is not None:
            return f"it has {name}, which attncli does not know"
    if given["add_zero_attn"]:
        return "it has add_zero_attn, which attncli does not know"
    return dropped(given["dropout_p"] if given["training"] else 0)
