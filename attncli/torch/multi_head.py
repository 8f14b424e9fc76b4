"""`nn.MultiheadAttention`: the function of PyTorch that works out the whole layer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from inspect import signature
from types import FunctionType
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.functional import pad

from attncli.torch.attention import Attention, Projections
from attncli.torch.seen import Linear, Seen, dropped, linear_layer, scaled_dot_product
from attncli.torch.tensors import unreadable_mask

Noted = TypeVar("Noted")

NAME = "F.multi_head_attention_forward"
_DEFAULTS = {
    name: each.default
    for name, each in signature(functional.multi_head_attention_forward).parameters.items()
}


def run_and_see(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[Any, Seen | str]:
    """Run PyTorch's function of the whole layer: what it gives back, and the call, or the words for
    one that could not be seen.
    """
    given = {**_DEFAULTS, **dict(zip(_DEFAULTS, args, strict=False)), **kwargs}
    kinds = [
        unreadable_mask(each) for each in given.values() if torch.overrides.is_tensor_like(each)
    ]
    kind = next(filter(None, kinds), "")
    if kind:
        return function(*args, **kwargs), f"{NAME} with {kind}"
    layers: list[Linear] = []
    inner: list[Seen] = []
    result = _noting(function, layers, inner)(*args, **kwargs)
    return result, _seen(given, result, layers, inner) or NAME


def _seen(
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
    key, value, added = _with_added_keys(given, key, value)
    if inner:
        mask, causal = inner[0].attention.mask, inner[0].attention.causal
    else:
        mask, causal = _mask(given, len(query), heads, added), False
    attention = Attention(query, key, value, mask, causal)
    reason = _reason(given)
    batched = given["query"].ndim == 3
    inputs = [
        given[name].transpose(0, 1) if batched else given[name][None]
        for name in ("query", "key", "value")
    ]
    x, context, values = inputs
    heads_output = _split(layers[-1].input.view(rows[0].shape), heads)
    is_projected = given["key"] is given["value"] or torch.equal(context, values)
    if added or not is_projected:
        # No problem makes keys that come from no input, or keys and values of different inputs.
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


def _with_added_keys(
    given: Mapping[str, Any], key: Tensor, value: Tensor
) -> tuple[Tensor, Tensor, int]:
    """Keys and values with those that the layer adds, and how many these are: `bias_k` and
    `bias_v`, and one of zeros with `add_zero_attn`.
    """
    before, heads = key.shape[-2], key.shape[1]
    if given["bias_k"] is not None:
        key = _with_row(key, _split(given["bias_k"], heads))
        value = _with_row(value, _split(given["bias_v"], heads))
    if given["add_zero_attn"]:
        key = _with_row(key, key.new_zeros(()))
        value = _with_row(value, value.new_zeros(()))
    return key, value, key.shape[-2] - before


def _with_row(rows: Tensor, row: Tensor) -> Tensor:
    """The rows of every entry and head, and this one after them."""
    return torch.cat([rows, row.expand_as(rows[..., :1, :])], dim=-2)


def _mask(given: Mapping[str, Any], batch: int, heads: int, added_keys: int) -> Tensor | None:
    """Both masks as the one that is added to the scores, batch × heads × n × m; added keys are
    seen by all.
    """
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
    return pad(sum(parts[1:], parts[0]), (0, added_keys)) if parts else None


def _added(mask: Tensor) -> Tensor:
    if mask.dtype != torch.bool:
        return mask
    return torch.zeros_like(mask, dtype=torch.float32).masked_fill(mask, -torch.inf)


def _reason(given: Mapping[str, Any]) -> str:
    for name in ("static_k", "static_v"):
        if given[name] is not None:
            return f"it has {name}, which attncli does not know"
    return dropped(given["dropout_p"] if given["training"] else 0)


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
        "linear": _noted(module["linear"], linear_layer, layers),
        "scaled_dot_product_attention": _noted(
            module["scaled_dot_product_attention"], scaled_dot_product, inner
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
        found = note(result, *args, **kwargs)
        noted.append(found)
        return result

    return call
