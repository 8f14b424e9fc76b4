"""`--watch`: a page worked out again whenever a file that it is made of changes, until Ctrl-C."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import TypeAlias

from attncli.cli.error_report import report_error
from attncli.cli.progress import progress
from attncli.errors import AttncliError, Exit, usage_error
from attncli.problem.files import OPENED_FILES
from attncli.system import heeds_escapes

# How often the files are looked at.
SECONDS_BETWEEN_LOOKS = 0.2
_CLEAR = "\x1b[H\x1b[2J"
# Of a file, these are which one it is, when it was changed, and how long it is.
_State: TypeAlias = tuple[int, int, int] | None


def watch(work: Callable[[], object], file: str, output: str | None, *, quiet: bool) -> int:
    """Do the work now, and again whenever the file, or an array that it refers to, has changed.

    What is wrong in the file is shown, and the file watched on. Only what no change of the file can
    mend ends this: AttncliError for a file that cannot be read at first, and for wrong usage.
    """
    if file == "-":
        raise usage_error(
            "--watch needs a file: standard input can be read only once",
            help="write the problem to a file, and name that file",
        )
    states: dict[str, _State] = {}
    while True:
        _clear_terminal(output)
        done = True
        try:
            progress.begin("reading")
            work()
        except AttncliError as error:
            if not states and (error.exit_code == Exit.USAGE or OPENED_FILES.get(file) is None):
                raise
            report_error(error, sys.stderr)
            done = False
        progress.end()
        if OPENED_FILES.get(file) is None and not states:
            # A stream has come by another name, and can be read only once.
            return Exit.OK
        states |= {path: _state(status) for path, status in OPENED_FILES.items()}
        sys.stdout.flush()
        if not quiet:
            what = f"watching {file}; press Ctrl-C to stop"
            if done and output not in (None, "-"):
                what = f"{output} is written; {what}"
            print(f"attncli: {what}", file=sys.stderr, flush=True)
        # The collector is switched off otherwise.
        gc.collect()
        _wait_for_change(states)


def _clear_terminal(output: str | None) -> None:
    if output in (None, "-") and sys.stdout.isatty() and heeds_escapes(sys.stdout):
        sys.stdout.write(_CLEAR)


def _wait_for_change(states: Mapping[str, _State]) -> None:
    """Come back when a file has changed, and does not change any more: an editor may write it in
    several pieces.
    """
    before: Mapping[str, _State] = states
    while True:
        time.sleep(SECONDS_BETWEEN_LOOKS)
        now = {path: _state_now(path) for path in states}
        if now == before != states:
            return
        before = now


def _state_now(path: str) -> _State:
    try:
        return _state(os.stat(path))
    except OSError:
        return None


def _state(status: os.stat_result | None) -> _State:
    return status and (status.st_ino, status.st_mtime_ns, status.st_size)
