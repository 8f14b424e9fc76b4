"""The attention functions of Transformers' models, which it looks up in a registry each time one is
called.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from torch import Tensor

from attncli.torch.attention import Attention
from attncli.torch.functions import CallWatch
from attncli.torch.replacing import replaced
from attncli.torch.seen import Seen, dropped

# It has the registry.
_REGISTRY_MODULE = "transformers.modeling_utils"


def is_imported() -> bool:
    """Whether anybody has imported the models of Transformers."""
    return _REGISTRY_MODULE in sys.modules


@contextmanager
def watched_registry(watch_here: Callable[[], CallWatch | None]) -> Iterator[None]:
    """While this runs, watches are told of every attention function that a model takes from the
    registry.

    `watch_here` gives the watch of a thread, or None in one that is not watched. It is the model's
    own function that runs: only its arguments and its output are looked at. So this reaches models
    whose attention is made of plain products, as with a softcap (Gemma 2) or sinks (gpt-oss).
    """

    def telling(look_up: Callable[..., Any]) -> Callable[..., Any]:
        def get_interface(self: Any, name: str, default: Callable[..., Any]) -> Callable[..., Any]:
            function = look_up(self, name, default)
            watch = watch_here()
            if watch is None:
                return function
            return _watched(function, name, function is default, watch)

        return get_interface

    with replaced(sys.modules[_REGISTRY_MODULE].AttentionInterface, "get_interface", telling):
        yield


def _watched(
    function: Callable[..., Any], name: str, eager: bool, watch: CallWatch
) -> Callable[..., Any]:
    """The function, of which a call is told: if it is the model's own, in plain products, or calls
    PyTorch's.
    """

    def attention(
        module: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        with watch.inside(follows=not eager) as inner:
            result = function(module, query, key, value, attention_mask, *args, **kwargs)
        if inner or eager:
            # Only these take sinks into account: sdpa computes without them.
            sink = kwargs.get("s_aux") if eager or name == "flex_attention" else None
            watch.tell(_seen(query, key, value, attention_mask, kwargs, sink, result, inner, watch))
        else:
            watch.unseen(f"{name} of Transformers")
        return result

    return attention


def _seen(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Any,
    kwargs: dict[str, Any],
    sink: Tensor | None,
    result: Any,
    inner: list[Seen],
    watch: CallWatch,
) -> Seen:
    """The call as the model made it, with the mask that PyTorch was given where it was one call of
    PyTorch's.

    Transformers has rules of its own about when a call without a mask is causal.
    """
    output = result[0].transpose(1, 2)
    if len(inner) == 1 and inner[0].weights is not None:
        # It was written out, with queries and keys that may have been scaled before.
        return inner[0]._replace(projections=watch.projections(inner[0].attention))
    if len(inner) == 1 and inner[0].attention.query.shape == query.shape:
        called = inner[0].attention
        # Keys that no query sees may be cut off.
        length = called.key.shape[-2]
        asked = replace(
            called, query=query, key=key[:, :, :length], value=value[:, :, :length], sink=sink
        )
        reason = inner[0].reason
    else:
        asked = Attention(
            query,
            key,
            value,
            _mask(mask, kwargs),
            False,
            kwargs.get("scaling"),
            kwargs.get("softcap"),
            sink,
        )
        reason = dropped(kwargs.get("dropout") or 0)
    if why := asked.unreadable:
        return Seen(asked, output, reason=f"{why}, which attncli cannot read")
    weights = result[1] if len(result) > 1 else None
    # FlexAttention gives the logarithm of each row's sum there.
    if not isinstance(weights, Tensor) or weights.ndim != 4:
        weights = None
    return Seen(asked, output, weights=weights, projections=watch.projections(asked), reason=reason)


def _mask(mask: Any, kwargs: dict[str, Any]) -> Tensor | None:
    bias = kwargs.get("position_bias")
    if mask is None:
        return bias
    # What is no tensor cannot be read, and is not kept.
    if bias is None or not isinstance(mask, Tensor):
        return mask
    return mask + bias
