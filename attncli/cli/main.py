"""The guard around the command line: whatever happens inside becomes a report and an exit code."""

from __future__ import annotations

import codecs
import errno
import gc
import os
import signal
import sys

from attncli import system
from attncli.cli.signals import exit_on_interrupt

# As typing has it, without the time that its import takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

# What else is imported is imported inside the functions: an interruption meanwhile must end in an
# exit code, too.

# Bytes of address space for us, NumPy, a thread, and buffers that an older BLAS seeks without
# end.
_BYTES_FOR_ONE_THREAD = 220 * 2**20
# What streams do with signs that their encoding lacks.
_SPELLED = "attncli.spelled"
# With fewer bytes of address space there is no room for more than one thread.
_BYTES_FOR_SEVERAL_THREADS = 2**30


def main() -> NoReturn:
    """Run the process's own arguments and leave with the contract's exit code."""
    exit_on_interrupt()
    _prepare_process()
    code = run(system.as_typed(sys.argv[1:]))
    # This flushes the others.
    _silence_failed_streams()
    # All is written, and taking NumPy apart would take a tenth of a small run.
    os._exit(code)


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code; errors are reported on standard error."""
    try:
        from attncli.cli.app import call

        if not {"-h", "--help", "--version"}.intersection(arguments):
            _fit_into_address_space()
        code = call(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        from attncli.errors import Exit

        code = Exit.INTERRUPTED
    except Exception as error:
        code = _report(error)
    return code


def _report(error: Exception) -> int:
    """Report the error on standard error and give its exit code; 3 where not even a report is
    possible.
    """
    try:
        return _reported(error)
    except (MemoryError, ImportError):
        # A limit leaves no room for the report.
        os.write(
            2,
            b"attncli: error: there is not enough memory to run\nhelp: let the process use more"
            b" memory\n",
        )
        return 3


def _reported(error: Exception) -> int:
    from attncli.cli.error_report import report_error, report_fault
    from attncli.errors import AttncliError, Exit, file_error, input_error, missing_error, reason

    try:
        if isinstance(error, AttncliError):
            report_error(error, sys.stderr)
            return error.exit_code
        if isinstance(error, MemoryError):
            report_error(
                input_error(
                    "there is not enough memory to do this",
                    help=(
                        "allow more memory, or use --steps output --detail brief, which needs less"
                    ),
                ),
                sys.stderr,
            )
            return Exit.INPUT
        if isinstance(error, ImportError):
            why = str(error.__cause__ or error).strip().partition("\n")[0]
            missing = missing_error(
                f"a package that attncli needs cannot be imported: {why}",
                help=(
                    "install it again with pip install attncli, or let the process use more memory"
                ),
            )
            report_error(missing, sys.stderr)
            return missing.exit_code
        if isinstance(error, OSError) and system.is_reader_gone(error):
            return Exit.UNREAD
        if isinstance(error, OSError):
            # Every command answers for the files it names; what is left is a stream that failed.
            lost = f"cannot write {error.filename or 'standard output'}: {reason(error)}"
            is_full = error.errno == errno.ENOSPC
            help = (
                "free some space, or write to another place"
                if is_full
                else "write to another place"
            )
            report_error(file_error(lost, help=help), sys.stderr)
            return Exit.FILE
        report_fault(error, sys.stderr, traceback=os.environ.get("ATTNCLI_TRACEBACK") == "1")
        return Exit.FAULT
    finally:
        _silence_failed_streams()


def _prepare_process() -> None:
    """Set up what belongs to the whole process: signals, the standard streams, memory."""
    # It finds next to no cycles here, and costs a twentieth of a small run and more of a large one.
    gc.disable()
    # Python ignores it; `attncli … | head` should just end.
    system.on_closed_pipe(signal.SIG_DFL)
    # A stream that was closed is None here. Something must hold its number, or the next file opened
    # gets it and receives what was meant for the stream; and a write to standard output must fail,
    # not vanish.
    if sys.stdout is None:
        sys.stdout = open(os.devnull)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    codecs.register_error(_SPELLED, _spelled)
    for stream in (sys.stdout, sys.stderr):
        # Both are open now, as files of text; the types of `sys` allow any stream.
        stream.reconfigure(errors=_SPELLED)  # type: ignore[union-attr]


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """How a stream writes what its encoding lacks, and where it goes on."""
    from attncli.escaping import in_ascii

    assert isinstance(error, UnicodeEncodeError)
    return in_ascii(error.object[error.start : error.end]), error.end


def _silence_failed_streams() -> None:
    """Point a stream that cannot be flushed at the null device.

    Python flushes once more on its way out and would end with exit code 120 and a message of its
    own.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)


def _fit_into_address_space() -> None:
    """Before NumPy is imported under a limit (`ulimit -v`): one thread where there is room for no
    more.

    Raises MemoryError where there is not even that, since NumPy's library would end the process by
    itself, with the exit code of a difference.
    """
    allowed = system.memory_limit()
    if allowed is None:
        return
    if allowed < _BYTES_FOR_ONE_THREAD:
        raise MemoryError
    if allowed < _BYTES_FOR_SEVERAL_THREADS:
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
