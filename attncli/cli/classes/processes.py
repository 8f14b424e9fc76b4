"""Does work in several processes, or in this one where the system gives no others."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

from attncli import system
from attncli.cli import signals
from attncli.errors import reason

Item = TypeVar("Item")
Row = TypeVar("Row")
_ONE_AFTER_THE_OTHER = (
    "one after the other: the system does not let several processes work together"
)


class NoProcessesError(Exception):
    """The system does not let several processes work together. The message says why."""


@dataclass(frozen=True, slots=True)
class ClassWork(Generic[Item, Row]):
    """What is done with each item: `do`, a function that another process can import.

    `result_of` is the row of an item by its future, also where the process has ended. `said` is
    what was done, in words: "the submissions were checked".
    """

    do: Callable[[Item], Row]
    result_of: Callable[[Future[Row], Item], Row]
    said: str


def done_in_processes(
    items: Sequence[Item], work: ClassWork[Item, Row], workers: int, warn: Callable[[str], None]
) -> Iterator[tuple[int, Row]]:
    """Each item by its number with its row, as soon as that is there, from so many processes. If
    one of them ends, those that it may have been at are done alone.

    Where the system gives no processes, or fewer than these, what is left is done in this one,
    after a warning.
    """
    left = dict(enumerate(items))
    try:
        yield from _in_processes(left, work, workers)
        return
    except NoProcessesError as error:
        why = str(error)
    # Python tells people of semaphores that a pool which could not be used has not given back.
    gc.collect()
    warn(f"{work.said} {_ONE_AFTER_THE_OTHER} ({why})")
    for number, item in left.items():
        yield number, work.do(item)


def _in_processes(
    left: dict[int, Item], work: ClassWork[Item, Row], workers: int
) -> Iterator[tuple[int, Row]]:
    """Each of what is left, which is then no longer in there; NoProcessesError where so many cannot
    be had.
    """
    while left:
        with _processes(min(workers, len(left))) as executor:
            for number, future in _ended(executor, left, work):
                if not isinstance(future.exception(), BrokenProcessPool):
                    del left[number]
                    yield number, future.result()
        # ClassWork is handed out in order, so the process that ended was at one of these.
        for number in list(left)[:workers]:
            with _processes(1) as alone:
                ((_, future),) = _ended(alone, {number: left[number]}, work)
                yield number, work.result_of(future, left.pop(number))


def _ended(
    executor: Executor, items: Mapping[int, Item], work: ClassWork[Item, Row]
) -> Iterator[tuple[int, Future[Row]]]:
    """Each item by its number with its future, as soon as that has ended; NoProcessesError as
    above.
    """
    with _lost_thread() as lost:
        futures = _handed_out(executor, items, work)
        for future in islice(as_completed([lost, *futures]), len(futures)):
            if future is lost:
                lost.result()
            yield futures[future], future


@contextmanager
def _lost_thread() -> Iterator[Future[Any]]:
    """A future that ends with NoProcessesError when a thread of this process gets no thread for its
    work.

    A pool has such threads: one hands out the work, and starts another. Without that, no other
    future would ever end.
    """
    import threading

    lost: Future[Any] = Future()
    before = threading.excepthook

    def note(fault: threading.ExceptHookArgs) -> None:
        if not isinstance(fault.exc_value, RuntimeError):
            before(fault)
        elif not lost.done():
            lost.set_exception(NoProcessesError(str(fault.exc_value)))

    threading.excepthook = note
    try:
        yield lost
    finally:
        threading.excepthook = before


def _handed_out(
    executor: Executor, items: Mapping[int, Item], work: ClassWork[Item, Row]
) -> dict[Future[Row], int]:
    """The number of each item by what will come of it; without the last ones if a process
    ends meanwhile.

    The first ones start the processes: NoProcessesError where the system gives no process or no
    thread for one.
    """
    futures: dict[Future[Row], int] = {}
    with _children_ignore_interrupt():
        for number, each in items.items():
            try:
                futures[executor.submit(work.do, each)] = number
            except BrokenProcessPool as error:
                lost: Future[Row] = Future()
                lost.set_exception(error)
                futures[lost] = number
                break
            except OSError as error:
                raise NoProcessesError(reason(error)) from None
            except RuntimeError as error:
                # Python says so where there is no thread for it.
                raise NoProcessesError(str(error)) from None
    return futures


@contextmanager
def _processes(workers: int) -> Iterator[Executor]:
    """A pool that is left at once when an exception ends its work; its processes end with this one.

    NoProcessesError where the system has no semaphores for it, as a container without /dev/shm.
    Meanwhile a pipe to a process that ended is an error, and does not end this process too.
    """
    from multiprocessing import active_children

    executor = _pool(workers)
    piped = system.on_closed_pipe(signal.SIG_IGN)
    try:
        yield executor
    except BaseException:
        for process in active_children():
            process.terminate()
        raise
    finally:
        # Python cannot wait for a thread that the system did not give.
        with suppress(RuntimeError):
            executor.shutdown(cancel_futures=True)
        system.on_closed_pipe(piped)


def _pool(workers: int) -> ProcessPoolExecutor:
    """The only place that makes a pool of processes; they are started when work is handed out."""
    from multiprocessing import get_context

    try:
        return ProcessPoolExecutor(
            min(workers, system.MOST_PROCESSES), get_context("spawn"), _begin
        )
    except OSError as error:
        raise NoProcessesError(reason(error)) from None
    except (
        ImportError,
        NotImplementedError,
    ) as error:
        # Such a Python was built without semaphores.
        raise NoProcessesError(str(error)) from None


@contextmanager
def _children_ignore_interrupt() -> Iterator[None]:
    """Processes that are started in this context leave Ctrl-C to this one, even before they run any
    code of ours.
    """
    before = system.hold_interrupt()
    try:
        yield
    finally:
        system.hold_only(before)


def _begin() -> None:
    """In a new process: leave Ctrl-C to the parent, end cleanly by SIGTERM, and end when the parent
    ends.
    """
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The parent ends it by SIGTERM, and what it has started must not outlive it.
    signals.clean_up_before_exit()
    # Where there is no thread to be had, the parent ends it, unless that is killed.
    with suppress(RuntimeError):
        Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    if parent := parent_process():
        wait([parent.sentinel])
        os._exit(1)
