"""A recording: what is kept of the calls that it is told of, and where in its models each thread
is.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace
from weakref import WeakSet

from torch import nn

from attncli.english import byte_size
from attncli.torch.call import OTHER_LAYERS, OTHER_STEPS, Call
from attncli.torch.calls import NOTHING_ASKED, Calls
from attncli.torch.origins.latents import Latents, latents_of
from attncli.torch.origins.rotations import rope_of
from attncli.torch.seen import Linear, Seen
from attncli.torch.tensors import format_name, own, size_of, sizes_of


class Recorder:
    """Keeps of each call what was asked for, until it is closed. Several threads may tell it of
    calls.

    `threads` are those that were started meanwhile by threads that it watches. `strangers` has a
    model that runs in a thread that it does not watch, by the name of its class, if there is one.
    `has_softmax` says whether a softmax was worked out. All stay as they are once it is closed.
    """

    def __init__(
        self,
        calls: Calls,
        model: nn.Module | None,
        layers: frozenset[int] | None,
        steps: int | None,
        limit: int,
    ) -> None:
        self.calls, self._layers, self._steps, self._limit = calls, layers, steps, limit
        self.model = None if model is None else uncompiled(model)
        self.closed = False
        self.threads: WeakSet[threading.Thread] = WeakSet()
        self.has_started_threads = False
        self.has_softmax = False
        self.strangers: dict[int, str] = {}
        self._lock = threading.Lock()
        self._kept = 0
        self._runs = 0
        self._names: dict[nn.Module, dict[nn.Module, str]] = {}

    def close(self) -> None:
        """Keep no more calls, and nothing of the model: threads that go on may know this recorder
        for long.
        """
        with self._lock:
            self.closed = True
            self.calls, self.model = Calls(), None
            self._names.clear()

    def name_of(self, module: nn.Module, root: nn.Module) -> str:
        """The name of a module, as the outermost one has it; empty for this one itself."""
        names = self._names.get(root)
        if names is None:
            names = {each: name for name, each in root.named_modules()}
            with self._lock:
                if not self.closed:
                    self._names[root] = names
        return names.get(module, "")

    def next_step(self) -> int:
        """The number of a run of the model that begins."""
        with self._lock:
            self._runs += 1
            return self._runs - 1

    def note_stranger(self, module: nn.Module) -> None:
        """A module begins to run in a thread that is not watched."""
        with self._lock:
            if not self.closed:
                self.strangers.setdefault(threading.get_ident(), type(module).__name__)

    def note_thread(self, thread: threading.Thread) -> None:
        """A thread that it watches starts this one."""
        with self._lock:
            if not self.closed:
                self.threads.add(thread)
                self.has_started_threads = True

    def unseen(self, name: str) -> None:
        """A function was called in which no call could be seen."""
        with self._lock:
            self.calls.unseen.update([] if self.closed else [name])

    def keep(
        self, seen: Seen, step: int, layer: int, where: str, latents: Latents | None = None
    ) -> None:
        """Add a call, with copies of its tensors where they are wanted."""
        with self._lock:
            if not self.closed:
                self.calls.add(self._call(seen, step, layer, where, latents))

    def _call(self, seen: Seen, step: int, layer: int, where: str, latents: Latents | None) -> Call:
        given = seen.attention
        reason = seen.reason or self._why_not(step, layer) or given.impossible
        if not reason:
            inputs = seen.projections.inputs if seen.projections else ()
            size = given.bytes + sum(
                map(size_of, (seen.output, seen.heads_output, seen.weights, *inputs))
            )
            size += 0 if latents is None else latents.bytes
            if self._kept + size > self._limit:
                reason = f"the limit of {byte_size(self._limit)} was reached"
            else:
                self._kept += size
        call = Call(
            number=len(self.calls),
            step=step,
            layer=layer,
            where=where,
            shapes=(sizes_of(given.query), sizes_of(given.key), sizes_of(given.value)),
            dtype=format_name(seen.number_format or seen.output.dtype),
            mask=given.mask_in_words,
            attention=None,
            reason=reason,
        )
        if reason:
            return call
        return replace(
            call,
            attention=given.copied(),
            output=own(seen.output),
            heads_output=None if seen.heads_output is None else own(seen.heads_output),
            weights=None if seen.weights is None else own(seen.weights),
            projections=seen.projections.copied() if seen.projections else None,
            latents=None if latents is None else latents.copied(),
        )

    def _why_not(self, step: int, layer: int) -> str:
        if self._layers is not None and layer not in self._layers:
            return OTHER_LAYERS if self._layers else NOTHING_ASKED
        if self._steps is not None and step >= self._steps:
            return OTHER_STEPS
        return ""


class ThreadPlace:
    """Where one thread is in the models that it runs: which modules, and which step and layer a
    recording counts.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._step, self._layer = -1, 0
        self._running: list[nn.Module] = []

    def begin(self, module: nn.Module) -> None:
        """A module begins to run; the model begins a step, which is the outermost one where none
        was named.
        """
        module = uncompiled(module)
        model = self.recorder.model
        begins_a_step = not self._running
        if model is not None:
            begins_a_step = module is model
        if begins_a_step:
            self._step = self.recorder.next_step()
            self._layer = 0
        self._running.append(module)

    def end(self) -> None:
        """The module that began last has run."""
        self._running.pop()

    def tell(self, seen: Seen, layers: Iterable[Linear]) -> None:
        """Keep a call, unless it is made outside the model that was named. `layers` are the linear
        layers before it.
        """
        if self.recorder.model is not None and self.recorder.model not in self._running:
            return
        # A call outside any module is one of a run of its own.
        if self._step < 0:
            self._step = self.recorder.next_step()
        module = self._running[-1] if self._running else None
        latents = None if seen.reason else latents_of(module, seen.attention, layers)
        self.recorder.keep(self._with_rope(seen), self._step, self._layer, self._where(), latents)
        self._layer += 1

    def _with_rope(self, seen: Seen) -> Seen:
        """The call with what the module that runs says of its RoPE, where something turned its
        queries and keys.
        """
        projections = seen.projections
        if projections is None or not projections.rotated:
            return seen
        rope = rope_of(self._running[-1] if self._running else None)
        return seen._replace(projections=replace(projections, rope=rope))

    def _where(self) -> str:
        """The name of the module that runs, as the outermost one has it."""
        if not self._running:
            return ""
        root = self._running[0]
        module = self._running[-1]
        name = self.recorder.name_of(module, root)
        return name or type(module).__name__


def uncompiled(module: nn.Module) -> nn.Module:
    """The module that `torch.compile` was given; it runs without being called itself."""
    # In torch.jit this is another mapping, without get().
    modules = module._modules
    if "_orig_mod" not in modules:
        return module
    return modules["_orig_mod"] or module
