"""The guard around the command line: whatever happens inside becomes a report and an exit code."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import NoReturn

from attncli.errors import AttncliError, Exit, reason, unwritable


def main() -> NoReturn:
    """Run the process's own arguments and leave with the contract's exit code."""
    _prepare_process()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code; errors are reported on standard error."""
    try:
        # Imported here so that an interruption during start-up ends in an exit code, too.
        from attncli.commands import call

        code = call(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
    except Exception as error:
        code = _report(error)
    return code


def _report(error: Exception) -> int:
    from attncli.console.report import report_error, report_fault

    try:
        if isinstance(error, AttncliError):
            report_error(error, sys.stderr)
            return error.exit_code
        if isinstance(error, MemoryError):
            report_error(_TOO_LARGE, sys.stderr)
            return Exit.INPUT
        if isinstance(error, OSError):
            # Every command answers for the files it names; what is left is a stream that failed.
            report_error(unwritable(error.filename or "standard output", reason(error)), sys.stderr)
            return Exit.FILE
        report_fault(error, sys.stderr, traceback=os.environ.get("ATTNCLI_TRACEBACK") == "1")
        return Exit.FAULT
    finally:
        _silence_failed_streams()


_TOO_LARGE = AttncliError(
    Exit.INPUT,
    "there is not enough memory to work this problem",
    help="make the matrices smaller, or ask for less with --detail brief",
)


def _prepare_process() -> None:
    """Set up what belongs to the whole process: signals, the standard streams, memory."""
    gc.disable()  # it finds next to no cycles here, and costs a twentieth of a small run and more of a large one
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it; `attncli … | head` should just end
    # A stream that was closed is None here. Something must hold its number, or the next file opened gets it
    # and receives what was meant for the stream; and a write to standard output must fail, not vanish.
    if sys.stdout is None:
        sys.stdout = open(os.devnull)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _silence_failed_streams() -> None:
    """Point a stream that cannot be flushed at the null device.

    Python flushes once more on its way out and would end with exit code 120 and a message of its own.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)
