"""Ctrl-C ends the process at once, even amid an import; while a file is written, what ends it
cleans up first.
"""

# Imported before an interruption can be answered, so this imports as little as it can.
from __future__ import annotations

import contextlib
import os
import signal

from attncli import system

# As typing has it, without the time that its import takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import TypeAlias

    _Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | None


def exit_on_interrupt() -> None:
    """From now on Ctrl-C is an exit code and nothing else; where the caller had it ignored, it
    stays so.
    """
    _installed.append(True)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _exit_at_once)


def clean_up_before_exit() -> None:
    """From now on `CleanupBeforeExit` answers SIGTERM and the like, too, as in a process of the
    command line's own.
    """
    _installed.append(True)


def interrupt_arithmetic() -> None:
    """From now on Ctrl-C is answered even while one product of large matrices takes seconds.

    Python itself answers a signal only between two of its own steps; a thread that waits for the
    signal does so at once, since NumPy lets other threads run meanwhile.
    """
    if signal.getsignal(signal.SIGINT) is not _exit_at_once or _waiting:
        return
    _waiting.append(True)
    from threading import Thread

    reading, writing = os.pipe()
    system.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    # Under a limit that has no room for a thread, Ctrl-C waits for Python's own steps.
    with contextlib.suppress(RuntimeError):
        Thread(target=_watch, args=(reading,), daemon=True).start()


def _watch(reading: int) -> None:
    while number := os.read(reading, 1):
        if number[0] == signal.SIGINT and signal.getsignal(signal.SIGINT) is _exit_at_once:
            _exit_at_once(signal.SIGINT, None)


class Terminated(BaseException):
    """The process is to end by this signal, when what must not be left half done has been
    undone.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class CleanupBeforeExit:
    """A context for what must not be left half done: in it Ctrl-C, SIGTERM and the like are
    exceptions.

    Ctrl-C is a KeyboardInterrupt. By another of these the process ends as it would have, when the
    outermost context is left.
    """

    def __enter__(self) -> None:
        # It stays empty inside another such context, which answers the signals until its own end.
        self._before: dict[int, _Handler] = {}
        for number in system.TERMINATING:
            handler = signal.getsignal(number)
            if handler is _exit_at_once or (handler is signal.SIG_DFL and _installed):
                self._before[number] = handler
                signal.signal(number, _raise)

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if isinstance(error, Terminated) and error.number in self._before:
            os.kill(os.getpid(), error.number)


# These have to be written to the terminal before the process ends.
terminal_resets: list[bytes] = []
# It is not empty where a thread waits for Ctrl-C.
_waiting: list[bool] = []
# It is not empty where the process is the command line's own.
_installed: list[bool] = []


def _raise(number: int, frame: FrameType | None) -> None:
    # A second signal must not come amid the cleaning up.
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)


def _exit_at_once(number: int, frame: FrameType | None) -> None:
    try:
        os.write(2, b"".join(terminal_resets))
    finally:
        # This holds even where the terminal is gone.
        # It is Exit.INTERRUPTED, whose module takes long to import.
        os._exit(130)
