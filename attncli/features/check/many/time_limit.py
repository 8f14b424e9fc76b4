"""Work that ends after some time, in any thread and on any system."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Timer, get_ident
from typing import TypeVar

Result = TypeVar("Result")


class OutOfTimeError(BaseException):
    """Work has taken too long. What catches every Exception on the way does not catch this."""


def within(seconds: float | None, work: Callable[[], Result]) -> Result:
    """What the work comes to; OutOfTimeError where that takes longer. Without `seconds` it may take
    any time.

    Python raises the exception between two of its own instructions, so a long one of NumPy is
    finished first.
    """
    if seconds is None:
        return work()
    from ctypes import c_ulong, py_object, pythonapi

    thread, lock = get_ident(), Lock()
    ended = out_of_time = raised = False

    def end() -> None:
        nonlocal out_of_time
        with lock:
            if not ended:
                out_of_time = True
                pythonapi.PyThreadState_SetAsyncExc(c_ulong(thread), py_object(OutOfTimeError))

    timer = Timer(seconds, end)
    timer.daemon = True
    # Where the system gives no thread to watch it, it may take any time.
    with suppress(RuntimeError):
        timer.start()
    try:
        return work()
    except OutOfTimeError:
        raised = True
        raise
    finally:
        with lock:
            ended = True
        timer.cancel()
        # Python raises it here at the latest, and not in what follows.
        while out_of_time and not raised:
            time.sleep(0.001)
