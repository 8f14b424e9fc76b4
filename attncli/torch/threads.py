"""Which threads are watched, and what is changed in PyTorch meanwhile: once for all recordings,
however they overlap.

A recording watches the thread that runs its block, and the threads that are started by those it
watches. All other threads run as if there were no recording, but for compiled modules, which run as
they were before in any thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import torch
from torch import nn
from torch.overrides import _get_current_function_mode

from attncli.torch.functions import CallWatch
from attncli.torch.recorder import Recorder, ThreadPlace
from attncli.torch.registry import is_imported, watched_registry
from attncli.torch.replacing import replaced
from attncli.torch.seen import Seen


class WatchedThread:
    """A thread in which calls are noted, and where it is for each recording that wants them."""

    def __init__(self, recorders: Iterable[Recorder] = ()) -> None:
        self.places = tuple(map(ThreadPlace, recorders))
        self.watch = CallWatch(self._tell, self._unseen, self._softmaxed)
        # PyTorch tells the watch of what is called.
        self.is_watching = False

    def open_places(self) -> list[ThreadPlace]:
        """Its places in the recordings that are not over."""
        return [place for place in self.places if not place.recorder.closed]

    def _tell(self, seen: Seen) -> None:
        for place in self.places:
            place.tell(seen, self.watch.linear)

    def _unseen(self, name: str) -> None:
        for place in self.places:
            place.recorder.unseen(name)

    def _softmaxed(self) -> None:
        for place in self.places:
            place.recorder.has_softmax = True

    def begin_watching(self) -> None:
        """Have the watch told of what this thread calls."""
        if not self.is_watching:
            self.watch.__enter__()
            self.is_watching = True

    def end_watching(self) -> None:
        """No longer have it told, unless another mode of PyTorch was begun since, and not ended.

        Modes can only be ended in the opposite order. Then the watch stays, and tells nobody.
        """
        if self.is_watching and _here() is self and _get_current_function_mode() is self.watch:
            self.watch.__exit__(None, None, None)
            self.watch.forget()
            self.is_watching = False

    def run(
        self,
        places: list[ThreadPlace],
        call: Callable[..., Any],
        module: nn.Module,
        args: Any,
        kwargs: Any,
    ) -> Any:
        """Run a module, of which these are told that it begins and ends; the outermost one is
        watched in any thread.
        """
        was_watching = self.is_watching
        self.begin_watching()
        for place in places:
            place.begin(module)
        try:
            return call(module, *args, **kwargs)
        finally:
            for place in places:
                place.end()
            if not was_watching:
                self.end_watching()


_this_thread = threading.local()


def _here() -> WatchedThread | None:
    """The thread that runs this, if it is watched."""
    return getattr(_this_thread, "watched", None)


def _watch_here() -> CallWatch | None:
    """The watch of this thread, if there is one."""
    thread = _here()
    return thread.watch if thread is not None else None


@contextmanager
def watched(recorder: Recorder) -> Iterator[None]:
    """While this runs, the recorder is told of the calls of this thread, and of those that it
    starts.
    """
    with _CHANGES.made_for(recorder):
        thread = _here()
        if thread is None:
            thread = _this_thread.watched = WatchedThread()
        own = ThreadPlace(recorder)
        thread.places += (own,)
        thread.begin_watching()
        try:
            yield
        finally:
            recorder.close()
            thread.places = tuple(place for place in thread.places if place is not own)
            if not thread.places:
                thread.end_watching()


class _Changes:
    """What is changed in PyTorch and Python, from the beginning of the first recording to the end
    of the last.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recorders: tuple[Recorder, ...] = ()
        self._undo = ExitStack()
        self._reaches_registry = False

    @contextmanager
    def made_for(self, recorder: Recorder) -> Iterator[None]:
        """While this runs, the changes are made."""
        with self._lock:
            if not self._recorders:
                self._make()
            if is_imported() and not self._reaches_registry:
                self._undo.enter_context(watched_registry(_watch_here))
                self._reaches_registry = True
            self._recorders += (recorder,)
        try:
            yield
        finally:
            with self._lock:
                self._recorders = tuple(each for each in self._recorders if each is not recorder)
                if not self._recorders:
                    self._undo.close()
                    self._reaches_registry = False

    def _make(self) -> None:
        with ExitStack() as undo:
            undo.enter_context(_uncompiled())
            undo.enter_context(replaced(nn.Module, "__call__", self._telling_of_modules))
            undo.enter_context(replaced(threading.Thread, "start", _starting_watched))
            self._undo = undo.pop_all()

    def _telling_of_modules(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """`Module.__call__`, of which this thread is told. PyTorch's own hooks would warn of
        compiled modules.
        """

        def run(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            thread = _here()
            places = [] if thread is None else thread.open_places()
            if thread is not None and places:
                return thread.run(places, call, module, args, kwargs)
            for recorder in self._recorders:
                recorder.note_stranger(module)
            return call(module, *args, **kwargs)

        return run


_CHANGES = _Changes()


def _uncompiled() -> AbstractContextManager[Any]:
    """While this runs, what was compiled runs as it was before, and nothing is compiled."""
    if hasattr(torch.compiler, "set_stance"):
        return torch.compiler.set_stance("force_eager")
    # PyTorch 2.5 has no stances: there, compiled code is run by what this function sets.
    from torch._dynamo import eval_frame

    return replaced(
        eval_frame,
        "_maybe_set_eval_frame",
        lambda set_callback: lambda callback: set_callback(None),
    )


def _starting_watched(start: Callable[..., Any]) -> Callable[..., Any]:
    """`Thread.start`, after which the new thread is watched by those that watch the thread that
    starts it.
    """

    def started(thread: threading.Thread) -> None:
        parent = _here()
        recorders = [place.recorder for place in parent.places] if parent else []
        if not recorders:
            start(thread)
            return
        for recorder in recorders:
            recorder.note_thread(thread)
        run = thread.run

        def run_watched() -> None:
            # From here on the thread has the method of its class again.
            del vars(thread)["run"]
            _this_thread.watched = WatchedThread(recorders)
            run()

        vars(thread)["run"] = run_watched
        try:
            start(thread)
        except BaseException:
            vars(thread).pop("run", None)
            raise

    return started
