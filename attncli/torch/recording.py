"""Recording: every call of attention that PyTorch makes while a block runs."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import SupportsIndex

from torch import nn

from attncli.english import listed
from attncli.errors import usage_error
from attncli.torch.calls import Calls
from attncli.torch.recorder import Recorder
from attncli.torch.threads import watched
from attncli.torch.ways_around import way_around

# Bytes that are kept where nobody says how many.
BYTES_KEPT = 2**30
_WHAT_IS_SEEN = (
    "attncli sees torch.nn.functional.scaled_dot_product_attention, nn.MultiheadAttention,"
    " FlexAttention, the attention of Transformers, and products with a softmax of PyTorch between"
    " them: load the model with attn_implementation='sdpa' or 'eager'; flash kernels, modules"
    " of torch.jit and a softmax that is written with exp() or logsumexp() (Reformer) are not seen:"
    " there, take queries, keys and values from a hook of the module"
)
_ONLY_A_SOFTMAX = (
    "a softmax was seen, but not the product that gave its scores, or the one with the values, as"
    " where a model cuts its scores into blocks (Longformer); take queries, keys and values from a"
    " hook of the module, and say with a mask which keys a query sees"
)


@contextmanager
def recording(
    model: nn.Module | None = None,
    *,
    layers: Collection[int] | None = None,
    steps: int | None = None,
    limit: int = BYTES_KEPT,
) -> Iterator[Calls]:
    """Record the calls of attention that are made in this block: `with recording() as calls:
    model(**inputs)`.

    With a `model`, only its calls are recorded. `layers` are those to keep, by the order of the
    calls in one run of the model, and `steps` says of how many runs: `generate()` runs the model
    once for each token. If a call does not fit into `limit` bytes, only its shapes are kept. With
    `layers=[]` this is so for all calls. The model computes the same as without recording; compiled
    modules run as they were before they were compiled. Models in threads that are started in the
    block are recorded, too, as long as the block runs. Raises AttncliError where no call was seen,
    or none of these layers.
    """
    if not isinstance(model, nn.Module | None):
        raise usage_error(
            f"the model is a torch.nn.Module, not {model!r}", help="recording() takes all calls"
        )
    wanted = None if layers is None else _layers(layers)
    if steps is not None:
        _require_whole("steps", steps, least=1)
    _require_whole("limit", limit, least=0)
    calls = Calls()
    recorder = Recorder(calls, model, wanted, steps, limit)
    with watched(recorder):
        yield calls
    if not calls:
        seen = f" (but {listed(list(calls.unseen))})" if calls.unseen else ""
        raise usage_error(
            f"no call of attention was seen{seen}", help=_what_to_try(recorder, calls.unseen)
        )
    if wanted and wanted.isdisjoint(call.layer for call in calls):
        last = max(call.layer for call in calls)
        raise usage_error(
            "no call was kept: there is no layer"
            f" {listed([str(layer) for layer in sorted(wanted)], last='or')}",
            help=f"there are layers 0 to {last}" if last else "there is only layer 0",
        )


def _layers(layers: Collection[int]) -> frozenset[int]:
    """The layers to keep; raises AttncliError for what cannot be one."""
    if isinstance(layers, int):
        raise usage_error("layers are a list of numbers", help=f"write layers=[{layers}]")
    for layer in layers:
        _require_whole("a layer", layer, least=0)
    return frozenset(layers)


def _require_whole(what: str, number: int, *, least: int) -> None:
    if not isinstance(number, SupportsIndex) or number < least:
        raise usage_error(f"{what} is a whole number, at least {least}, not {number!r}")


def _what_to_try(recorder: Recorder, unseen: Iterable[str]) -> str:
    """Why no call was seen, as far as it is known."""
    if any(thread.is_alive() for thread in recorder.threads):
        return (
            "a thread that the block started was still running when the block ended: wait for it"
            " there with join()"
        )
    names = sorted(set(recorder.strangers.values()))
    if names:
        return (
            f"{listed(names)} ran in a thread that was there before the block: begin the recording"
            " in that thread"
        )
    for name in unseen:
        if way := way_around(name):
            return way
    if recorder.has_softmax:
        return _ONLY_A_SOFTMAX
    if recorder.has_started_threads:
        calls = "only calls of a torch.nn.Module are"
        return f"{_WHAT_IS_SEEN}; in a thread that the block starts, {calls}"
    if threading.active_count() > 1:
        return f"{_WHAT_IS_SEEN}; nor are calls in a thread that was there before the block"
    return _WHAT_IS_SEEN
