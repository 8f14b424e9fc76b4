"""Recording: every call of attention that PyTorch makes while a block runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, SupportsIndex

import torch
from torch import nn

from attncli.english import byte_size, listed
from attncli.errors import usage_error
from attncli.torch.call import OTHER_LAYERS, OTHER_STEPS, Call, dtype_name, own, size_of
from attncli.torch.calls import NOTHING_ASKED, Calls
from attncli.torch.functions import Seen, Watch
from attncli.torch.registry import watched_registry

LIMIT = 2**30  # bytes that are kept where nobody says how many
_HELP = (
    "attncli sees torch.nn.functional.scaled_dot_product_attention, nn.MultiheadAttention and the attention of "
    "Transformers: load the model with attn_implementation='sdpa' or 'eager'; FlexAttention, flash kernels and models "
    "that write attention out themselves are not seen"
)


class _Recorder:
    """Counts runs and layers, and keeps of each call what was asked for."""

    def __init__(
        self, calls: Calls, model: nn.Module | None, layers: frozenset[int] | None, steps: int | None, limit: int
    ) -> None:
        self.calls, self._layers, self._steps, self._limit = calls, layers, steps, limit
        self._model = None if model is None else _uncompiled(model)
        self._kept = 0
        self._step, self._layer = -1, 0
        self._running: list[nn.Module] = []
        self._names: dict[nn.Module, dict[nn.Module, str]] = {}

    def begin(self, module: nn.Module) -> None:
        """A module begins to run; the model begins a step, which is the outermost one where none was named."""
        module = _uncompiled(module)
        if module is self._model if self._model is not None else not self._running:
            self._step, self._layer = self._step + 1, 0
        self._running.append(module)

    def end(self) -> None:
        """The module that began last has run."""
        self._running.pop()

    def tell(self, seen: Seen) -> None:
        """Keep a call, unless it is made outside the model that was named."""
        if self._model is not None and self._model not in self._running:
            return
        given = seen.attention.with_one_batch()
        self._step = max(self._step, 0)  # a call outside any module is of the first
        reason = seen.reason or self._why_not()
        inputs = seen.projections.inputs if seen.projections else ()
        size = given.bytes + sum(map(size_of, (seen.output, seen.weights, *inputs)))
        if not reason and self._kept + size > self._limit:
            reason = f"the limit of {byte_size(self._limit)} was reached"
        copied = None if reason else given.copied()
        if copied:
            self._kept += size
        self.calls.add(
            Call(
                number=len(self.calls),
                step=self._step,
                layer=self._layer,
                where=self._where(),
                shapes=(given.query.shape, given.key.shape, given.value.shape),
                dtype=dtype_name(given.query),
                mask=given.mask_in_words,
                attention=copied,
                output=own(seen.output.flatten(0, -4) if seen.output.ndim > 4 else seen.output) if copied else None,
                weights=own(seen.weights) if copied and seen.weights is not None else None,
                projections=seen.projections.copied() if copied and seen.projections else None,
                reason=reason,
            )
        )
        self._layer += 1

    def _why_not(self) -> str:
        if self._layers is not None and self._layer not in self._layers:
            return OTHER_LAYERS if self._layers else NOTHING_ASKED
        if self._steps is not None and self._step >= self._steps:
            return OTHER_STEPS
        return ""

    def _where(self) -> str:
        """The name of the module that runs, as the outermost one has it."""
        if not self._running:
            return ""
        root, module = self._running[0], self._running[-1]
        if root not in self._names:
            self._names[root] = {each: name for name, each in root.named_modules()}
        return self._names[root].get(module, "") or type(module).__name__


def _uncompiled(module: nn.Module) -> nn.Module:
    """The module that `torch.compile` was given; it runs without being called itself."""
    return module._modules.get("_orig_mod") or module


@contextmanager
def recording(
    model: nn.Module | None = None,
    *,
    layers: Collection[int] | None = None,
    steps: int | None = None,
    limit: int = LIMIT,
) -> Iterator[Calls]:
    """Record the calls of attention that are made in this block: `with recording() as calls: model(**inputs)`.

    With a `model`, only its calls are recorded. `layers` are those to keep, by the order of the calls in one run of
    the model, and `steps` says of how many runs: `generate()` runs the model once for each token. If a call does not
    fit into `limit` bytes, only its shapes are kept. With `layers=[]` this is so for all calls. The model computes the
    same as without recording; compiled modules run as they were before they were compiled.
    Raises AttncliError where no call was seen, or none of these layers.
    """
    if not isinstance(model, nn.Module | None):
        raise usage_error(f"the model is a torch.nn.Module, not {model!r}", help="recording() takes all calls")
    wanted = None if layers is None else _layers(layers)
    if steps is not None:
        _require_whole("steps", steps, least=1)
    _require_whole("limit", limit, least=0)
    calls = Calls()
    recorder = _Recorder(calls, model, wanted, steps, limit)
    watch = Watch(recorder.tell, lambda name: calls.unseen.update([name]))
    fast_path = torch.backends.mha.get_fastpath_enabled()
    with ExitStack() as stack:
        stack.callback(torch.backends.mha.set_fastpath_enabled, fast_path)
        torch.backends.mha.set_fastpath_enabled(False)  # it is one fused function, which nothing is seen of
        if hasattr(torch.compiler, "set_stance"):  # PyTorch 2.6 and newer
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        stack.enter_context(_watched_modules(recorder))
        stack.enter_context(watched_registry(watch))
        stack.enter_context(watch)
        yield calls
    if not calls:
        seen = f" (but {listed(list(calls.unseen))})" if calls.unseen else ""
        raise usage_error(f"no call of attention was seen{seen}", help=_HELP)
    if wanted and wanted.isdisjoint(call.layer for call in calls):
        last = max(call.layer for call in calls)
        raise usage_error(
            f"no call was kept: there is no layer {listed([str(layer) for layer in sorted(wanted)], last='or')}",
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


@contextmanager
def _watched_modules(recorder: _Recorder) -> Iterator[None]:
    """While this runs, the recorder is told of every module that runs.

    PyTorch's own hooks for all modules would warn of compiled ones.
    """
    call = nn.Module.__call__

    def watched(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
        recorder.begin(module)
        try:
            return call(module, *args, **kwargs)
        finally:
            recorder.end()

    nn.Module.__call__ = watched
    try:
        yield
    finally:
        nn.Module.__call__ = call
