"""Ctrl-C ends the process on the spot, even amid an import; only while a file is written does it clean up first."""

# Imported before an interruption can be answered, so this imports as little as it can.
from __future__ import annotations

import os
import signal

TYPE_CHECKING = False  # as typing has it, without the time its import takes
if TYPE_CHECKING:
    from types import FrameType


def end_on_the_spot() -> None:
    """From now on Ctrl-C is an exit code and nothing else; where the caller had it ignored, it stays so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def also_amid_arithmetic() -> None:
    """From now on Ctrl-C is answered even while one product of large matrices takes seconds.

    Python itself answers a signal only between two of its own steps; a thread that waits for the signal does so at
    once, since NumPy lets other threads run meanwhile.
    """
    if signal.getsignal(signal.SIGINT) is not _end:
        return
    from threading import Thread

    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    Thread(target=_watch, args=(reading,), daemon=True).start()


def _watch(reading: int) -> None:
    while number := os.read(reading, 1):
        if number[0] == signal.SIGINT and signal.getsignal(signal.SIGINT) is _end:
            _end(signal.SIGINT, None)


class CleaningUp:
    """A context within which Ctrl-C is a KeyboardInterrupt, for what must not be left half done."""

    def __enter__(self) -> None:
        self._before = signal.getsignal(signal.SIGINT)
        if self._before is _end:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def __exit__(self, *exception: object) -> None:
        if self._before is _end:
            signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(130)  # Exit.INTERRUPTED, whose module takes long to import
