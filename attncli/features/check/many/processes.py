"""Checks submissions in several processes, or in this one where the system gives no others."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import islice

from attncli import system
from attncli.errors import reason
from attncli.features.check.many.manifest import Submission
from attncli.features.check.many.marking import mark, result_of
from attncli.features.check.many.result_row import Marked, Settings

_ONE_AFTER_THE_OTHER = (
    "the submissions were checked one after the other: the system does not let several processes"
    " work together"
)


class NoProcessesError(Exception):
    """The system does not let several processes work together. The message says why."""


def mark_in_processes(
    submissions: Sequence[Submission], settings: Settings, workers: int, warn: Callable[[str], None]
) -> Iterator[tuple[int, Marked]]:
    """The same in so many processes. If one of them ends, those that it may have been at are
    checked alone.

    Where the system gives no processes, or fewer than these, what is left is done in this one,
    after a warning.
    """
    left = dict(enumerate(submissions))
    try:
        yield from _in_processes(left, settings, workers)
        return
    except NoProcessesError as error:
        why = str(error)
    # Python tells people of semaphores that a pool which could not be used has not given back.
    gc.collect()
    warn(f"{_ONE_AFTER_THE_OTHER} ({why})")
    for number, submission in left.items():
        yield number, mark(submission, settings)


def _in_processes(
    left: dict[int, Submission], settings: Settings, workers: int
) -> Iterator[tuple[int, Marked]]:
    """Each of what is left, which is then no longer in there; NoProcessesError where so many cannot
    be had.
    """
    while left:
        with _processes(min(workers, len(left))) as executor:
            for number, future in _ended(executor, left, settings):
                if not isinstance(future.exception(), BrokenProcessPool):
                    del left[number]
                    yield number, future.result()
        # Work is handed out in order, so the process that ended was at one of these.
        for number in list(left)[:workers]:
            with _processes(1) as alone:
                ((_, future),) = _ended(alone, {number: left[number]}, settings)
                yield number, result_of(future, left.pop(number), settings)


def _ended(
    executor: Executor, submissions: Mapping[int, Submission], settings: Settings
) -> Iterator[tuple[int, Future[Marked]]]:
    """Each submission by its number with its future, as soon as that has ended; NoProcessesError as
    above.
    """
    with _lost_thread() as lost:
        futures = _handed_out(executor, submissions, settings)
        for future in islice(as_completed([lost, *futures]), len(futures)):
            if future is lost:
                lost.result()
            yield futures[future], future


@contextmanager
def _lost_thread() -> Iterator[Future[Marked]]:
    """A future that ends with NoProcessesError when a thread of this process gets no thread for its
    work.

    A pool has such threads: one hands out the work, and starts another. Without that, no other
    future would ever end.
    """
    import threading

    lost: Future[Marked] = Future()
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
    executor: Executor, submissions: Mapping[int, Submission], settings: Settings
) -> dict[Future[Marked], int]:
    """The number of each submission by what will come of it; without the last ones if a process
    ends meanwhile.

    The first ones start the processes: NoProcessesError where the system gives no process or no
    thread for one.
    """
    futures: dict[Future[Marked], int] = {}
    with _children_ignore_interrupt():
        for number, each in submissions.items():
            try:
                futures[executor.submit(mark, each, settings)] = number
            except BrokenProcessPool as error:
                lost: Future[Marked] = Future()
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
    """In a new process: leave Ctrl-C to the parent, and end when that ends."""
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Where there is no thread to be had, the parent ends it, unless that is killed.
    with suppress(RuntimeError):
        Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    if parent := parent_process():
        wait([parent.sentinel])
        os._exit(1)
