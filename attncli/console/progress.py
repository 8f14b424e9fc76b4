"""A bar on standard error for work that takes longer than a second, where that is a terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

PATIENCE = 1.0  # seconds before there is anything to see


class Progress:
    """Told how much is done, from 0 to 1; shows it after a second, and takes it away again at the end.

    Work that is begun anew goes back to less.
    """

    def __init__(self, what: str, stream: TextIO | None) -> None:
        self._what, self._stream = what, stream
        self._begun = time.monotonic()
        self._bar: Bar | None = None

    def __call__(self, share: float) -> None:
        if self._bar is None:
            if share >= 1 or time.monotonic() - self._begun < PATIENCE or not _is_terminal(self._stream):
                return
            self._bar = self._start()
        self._bar.update(self._bar.task_ids[0], completed=share, refresh=True)
        if share >= 1:
            self._bar.stop()
            self._bar = None

    def _start(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
        )
        bar = Bar(*columns, console=Console(file=self._stream), transient=True, auto_refresh=False)
        bar.add_task(self._what, total=1.0)
        bar.start()
        return bar


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()
