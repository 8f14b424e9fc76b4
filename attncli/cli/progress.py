"""A bar on standard error for work that takes longer than a second, where that is a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO, TypeVar

from attncli.cli.signals import terminal_resets
from attncli.system import heeds_escapes

if TYPE_CHECKING:
    from threading import Event, Thread

    from rich.progress import Progress as Bar

Item = TypeVar("Item")
# Quick work shows no bar, which would only flicker.
SECONDS_BEFORE_BAR = 1.0
# How often the bar looks how far the work is.
SECONDS_BETWEEN_LOOKS = 0.25
# The terminal may be gone, or there is too little memory for Rich.
_NO_BAR = OSError, ValueError, ImportError, MemoryError
# This clears the line of the bar.
_CLEARED = b"\r\x1b[2K"


class Progress:
    """What the command is doing, and how much of it is done; a thread of its own shows both after a
    second.

    Where standard error is no terminal there is no thread. Whoever writes to the terminal ends it
    before.
    """

    def __init__(self) -> None:
        self._what = ""
        self._share: float | None = None
        self._running: tuple[Thread, Event] | None = None

    def begin(self, what: str, stream: TextIO | None = None) -> None:
        """From now on this is done, and nobody knows how much of it there is."""
        self._what, self._share = what, None
        stream = stream or sys.stderr
        if self._running is None and stream is not None and stream.isatty():
            from threading import Event, Thread

            over = Event()
            thread = Thread(target=self._show, args=(stream, over), daemon=True)
            # A limit may leave no room for a thread.
            with contextlib.suppress(RuntimeError):
                thread.start()
                self._running = thread, over

    def report(self, share: float) -> None:
        """So much is done, from 0 to 1; work that is begun anew goes back to less."""
        self._share = share

    def over(self, items: Iterable[Item], count: int) -> Iterator[Item]:
        """The items as they come, of which there will be so many."""
        for number, item in enumerate(items, start=1):
            self.report(number / count)
            yield item

    def end(self) -> None:
        """Take the bar away, if there is one."""
        if self._running is not None:
            thread, over = self._running
            self._running = None
            over.set()
            thread.join()

    def _show(self, stream: TextIO, over: Event) -> None:
        if over.wait(SECONDS_BEFORE_BAR) or not heeds_escapes(stream):
            return
        terminal_resets.append(_CLEARED)
        try:
            with contextlib.suppress(*_NO_BAR), _bar(stream) as bar:
                bar.add_task("", total=None, percent="")
                (task,) = bar.tasks
                # So much time has passed already.
                task.start_time = bar.get_time() - SECONDS_BEFORE_BAR
                while True:
                    share = self._share
                    task.description, task.completed = self._what, share or 0.0
                    # Without a total the bar pulses.
                    task.total = None if share is None else 1.0
                    bar.update(
                        task.id, percent="" if share is None else f"{share:4.0%}", refresh=True
                    )
                    if over.wait(SECONDS_BETWEEN_LOOKS):
                        return
        finally:
            terminal_resets.remove(_CLEARED)


# The progress of the command that runs.
progress = Progress()


def _bar(stream: TextIO) -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    class Terminal(Console):
        def show_cursor(self, show: bool = True) -> bool:
            """Leave the cursor as it is: a process that is killed could not bring it back."""
            return False

    what, percent = (
        TextColumn(f"{{task.{field}}}", markup=False)
        for field in ("description", "fields[percent]")
    )
    columns = what, BarColumn(), percent, TimeElapsedColumn()
    return Bar(*columns, console=Terminal(file=stream), transient=True, auto_refresh=False)
