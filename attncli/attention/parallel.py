"""Runs tasks in several threads, while NumPy's BLAS uses only one thread for each of them."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from glob import escape, glob
from typing import Any, TypeVar

import numpy as np

from attncli.system import processor_count

Task = TypeVar("Task")
# It gets the share of the work that is done, from 0 to 1.
Report = Callable[[float], None]
# Variables of the environment with which people limit the number of threads.
_THREAD_LIMITS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
_SECONDS_BETWEEN_REPORTS = 0.1


def run_tasks(
    tasks: Sequence[Task],
    worker: Callable[[], Callable[[Task], None]],
    threads: int | None,
    report: Report | None,
) -> None:
    """Do all tasks, with one worker for each thread; raises what a thread raises.

    By default there is one thread for each core that this process may use. The calling thread only
    waits and reports, so Ctrl-C works at once. Where the system gives fewer threads, these do all
    tasks; where it gives none, the calling thread does them.
    """
    left, done = iter(tasks), [0]
    faults: list[BaseException] = []

    def work() -> None:
        try:
            do = worker()
            # Each thread has a setting of its own.
            with np.errstate(all="ignore"):
                # An iterator of a sequence hands each task to one thread only.
                for task in left:
                    if faults:
                        return
                    do(task)
                    # Two threads may count at once: at worst, the report is a little behind.
                    done[0] += 1
        except BaseException as error:
            faults.append(error)

    with one_blas_thread() as alone:
        many = (threads or thread_count()) if alone else 1
        crew = _started(work, min(many, len(tasks)))
        if not crew:
            work()
        for thread in crew:
            while thread.is_alive():
                thread.join(_SECONDS_BETWEEN_REPORTS)
                if report is not None:
                    report(done[0] / len(tasks))
    if faults:
        raise faults[0]
    if report is not None:
        report(1.0)


def _started(work: Callable[[], None], most: int) -> list[threading.Thread]:
    """So many threads that work, or as many as the system gives."""
    crew: list[threading.Thread] = []
    # Python says "can't start new thread".
    with suppress(RuntimeError):
        for _ in range(most):
            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            crew.append(thread)
    return crew


def thread_count() -> int:
    """How many threads to use: the number in the environment, or one for each core that this
    process may use.
    """
    for name in _THREAD_LIMITS:
        if os.environ.get(name, "").isdigit() and int(os.environ[name]):
            return int(os.environ[name])
    return processor_count()


@contextmanager
def one_blas_thread() -> Iterator[bool]:
    """A context in which a matrix product uses one thread; gives False if the BLAS has no such
    setting.
    """
    found = _blas()
    if found is None:
        yield False
        return
    get, set = found
    before = get()
    set(1)
    try:
        yield True
    finally:
        set(before)


@lru_cache
def _blas() -> tuple[Callable[[], int], Callable[[int], Any]] | None:
    """The functions that get and set the number of threads of the OpenBLAS in NumPy's own
    packages.
    """
    folder = escape(os.path.dirname(np.__file__))
    for path in (*glob(f"{folder}.libs/*openblas*"), *glob(f"{folder}/.dylibs/*openblas*")):
        try:
            library = ctypes.CDLL(path)
            return (
                library.scipy_openblas_get_num_threads64_,
                library.scipy_openblas_set_num_threads64_,
            )
        except (OSError, AttributeError):
            continue
    return None
