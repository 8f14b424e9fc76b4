"""What the operating system has: the only module that asks which one this is.

Windows, macOS and Linux differ in signals, processes, files, terminals and in how a command line is
read. Whatever is here can be called on each of them.
"""

# Imported before an interruption can be answered, so this imports as little as it can.
from __future__ import annotations

import errno
import os
import signal
import sys

# As typing has it, without the time that its import takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence, Set
    from subprocess import Popen
    from types import FrameType
    from typing import Any, TextIO, TypeAlias

    Handler: TypeAlias = Callable[[int, FrameType | None], Any] | int | None

# Both cmd.exe and PowerShell take these as they are, besides letters and digits.
_PLAIN = "._-/\\:=+@"
# ENABLE_VIRTUAL_TERMINAL_PROCESSING: the console heeds escape sequences.
_ESCAPES = 4
# Processes that start others while they are ended are looked for so often.
_ROUNDS = 50

if sys.platform == "win32":
    # Ctrl-Break, and a console whose window is closed.
    TERMINATING = (signal.SIGINT, signal.SIGTERM, signal.SIGBREAK)
    OPENING = os.O_RDONLY | os.O_BINARY
    ADDING = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_BINARY
    # Windows cannot wait for more of them.
    MOST_PROCESSES = 61
else:
    TERMINATING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    # Without blocking, since the name may be that of a pipe to which nobody writes.
    OPENING = os.O_RDONLY | os.O_NONBLOCK
    # Nor through a link, which may lead to a file of anybody.
    ADDING = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_NOFOLLOW
    MOST_PROCESSES = 1000


# Streams and files


def set_blocking(descriptor: int, blocking: bool) -> None:
    """Let reading and writing wait, or not; OSError for what is no descriptor. On Windows every
    stream waits.
    """
    if sys.platform != "win32":
        os.set_blocking(descriptor, blocking)


def is_reader_gone(error: OSError) -> bool:
    """Whether a stream cannot be written because the program that read it has ended."""
    if isinstance(error, BrokenPipeError):
        return True
    # Windows calls it an invalid argument. A name in the error is that of a file, and none of a
    # stream.
    return sys.platform == "win32" and error.errno == errno.EINVAL and error.filename is None


def is_same(one: os.stat_result, other: os.stat_result | None) -> bool:
    """Whether both are one file. Windows gives no number to consoles, pipes and devices, which all
    look the same.
    """
    return other is not None and bool(one.st_ino) and os.path.samestat(one, other)


def keep_owner(old: os.stat_result, descriptor: int) -> None:
    """Give a new file the owner and the group of the old one, as far as that is allowed."""
    if sys.platform != "win32":
        for owner, group in ((old.st_uid, -1), (-1, old.st_gid)):
            try:
                os.fchown(descriptor, owner, group)
            except PermissionError:
                continue


def without_last_separator(path: str) -> str:
    """The path of a folder without the separators after its name; Windows has two of them."""
    return path.rstrip(os.sep + (os.altsep or ""))


def has_windows_names() -> bool:
    """Whether names of files are those that Windows takes."""
    return sys.platform == "win32"


def command_to_make(folder: str) -> str:
    """The command that makes a folder, and those that it is in; that of Windows always makes
    both.
    """
    above = os.path.dirname(without_last_separator(folder))
    # To a command of Unix, a name that begins with - is an option.
    if sys.platform != "win32" and folder.startswith("-"):
        folder = os.path.join(os.curdir, folder)
    if sys.platform == "win32" or not above or os.path.isdir(above):
        return f"mkdir {quoted(folder)}"
    return f"mkdir -p {quoted(folder)}"


def path_here(path: str) -> str:
    """A path in a file that may have been written on Windows, with the separators of this
    system.
    """
    return path.replace("\\", "/") if os.sep == "/" and "/" not in path else path


# Signals and processes


def on_closed_pipe(handler: Handler) -> Handler:
    """What to do where a pipe has no reader any more, and what was done before; None changes
    nothing.
    """
    if sys.platform == "win32" or handler is None:
        return handler
    return signal.signal(signal.SIGPIPE, handler)


def hold_closed_pipe() -> None:
    """From now on a pipe without a reader is an error to this thread, whatever others do then."""
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})


def hold_interrupt() -> Set[int]:
    """From now on Ctrl-C waits, also in processes that are started meanwhile; what waited before.
    Not on Windows.
    """
    if sys.platform == "win32":
        return frozenset()
    return signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def hold_only(signals: Iterable[int]) -> None:
    """From now on only these signals wait."""
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_SETMASK, signals)


def in_own_group() -> dict[str, Any]:
    """The settings of a subprocess that Ctrl-C does not reach."""
    if sys.platform == "win32":
        from subprocess import CREATE_NEW_PROCESS_GROUP

        return {"creationflags": CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def end_group(process: Popen[bytes]) -> None:
    """End a process that was started `in_own_group`, with all that it has started; on Windows it
    alone.
    """
    if sys.platform != "win32":
        from contextlib import suppress

        # Where it has ended, so has its group.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def end_marked(mark: str) -> None:
    """End the processes that have this text in their environment, wherever they went; Linux alone
    says which these are.
    """
    if sys.platform != "linux":
        return
    wanted = mark.encode()
    for _ in range(_ROUNDS):
        found = [pid for pid in os.listdir("/proc") if pid.isdigit() and _has(pid, wanted)]
        if not found:
            return
        for pid in found:
            try:
                os.kill(int(pid), signal.SIGKILL)
            # It has ended by itself.
            except ProcessLookupError:
                continue


def _has(pid: str, mark: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return mark in file.read()
    # It is that of somebody else, or has ended.
    except OSError:
        return False


def process_limits(memory: int, seconds: int, file_size: int) -> dict[str, int]:
    """The limits of a process by their names in `resource`: bytes of memory, seconds of work, bytes
    in a file; none on Windows.
    """
    if sys.platform == "win32":
        return {}
    return {
        "RLIMIT_DATA": memory,
        "RLIMIT_CPU": seconds,
        "RLIMIT_FSIZE": file_size,
        "RLIMIT_CORE": 0,
    }


def signal_name(number: int) -> str:
    """What a signal is called: SIGSEGV; its number where it has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def processor_count() -> int:
    """How many cores this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_limit() -> int | None:
    """How many bytes the limits of the process allow it; None where there are no limits, as on
    Windows.
    """
    if sys.platform == "win32":
        return None
    import resource

    limits = [resource.getrlimit(which)[0] for which in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return min((limit for limit in limits if limit != resource.RLIM_INFINITY), default=None)


# Terminals and command lines


def heeds_escapes(terminal: TextIO) -> bool:
    """Whether a terminal shows colours where escape sequences ask for them. The console of Windows
    is told to.
    """
    if os.environ.get("TERM") == "dumb":
        return False
    if sys.platform != "win32":
        return True
    import ctypes
    import msvcrt

    kernel = ctypes.WinDLL("kernel32")
    console, mode = ctypes.c_void_p(msvcrt.get_osfhandle(terminal.fileno())), ctypes.c_ulong()
    if not kernel.GetConsoleMode(console, ctypes.byref(mode)):
        return False
    return bool(kernel.SetConsoleMode(console, ctypes.c_ulong(mode.value | _ESCAPES)))


def unquoted(word: str) -> str:
    """A word of the command line without the single quotes that the cmd.exe of Windows leaves
    around it.

    >>> unquoted("'scores[0,1]'"), unquoted("it's")
    ('scores[0,1]', "it's")
    """
    inner = word[1:-1]
    return inner if word == f"'{inner}'" and "'" not in inner else word


def quoted(word: str) -> str:
    """A word as people have to type it in a shell, so that it arrives as this one."""
    # What takes a while to import, and few need, is imported here.
    if sys.platform == "win32":
        import re

        if word and all(sign.isalnum() or sign in _PLAIN for sign in word):
            return word
        # A quotation mark would end the word. Backslashes before one are read in pairs, and are
        # themselves elsewhere.
        escaped = re.sub(r'(\\*)"', r'\1\1\\"', word)
        before_end = re.sub(r"(\\+)\Z", r"\1\1", escaped)
        return f'"{before_end}"'
    from shlex import quote

    return quote(word)


def as_typed(arguments: Sequence[str]) -> list[str]:
    """The arguments of the command line. On Windows, cmd.exe takes single quotes for letters, and
    cuts at blanks.

    So what stands between two of them there is one argument: 'scores[0, 1]' arrives as "'scores[0,"
    and "1]'". How many blanks there were is lost on the way: 'a  b' comes to a single one. A name
    that begins with a single quote is joined with what follows, up to one that ends with a single
    quote: 'tis.yaml o' is one argument. Double quotes around them do not help, since they are gone
    when Python begins.
    """
    if sys.platform != "win32":
        return list(arguments)
    found: list[str] = []
    left = list(arguments)
    while left:
        option, opening, text = _before_quote(left[0])
        end = (
            next((at for at, each in enumerate(left) if each.endswith("'")), None)
            if opening
            else None
        )
        if end is None or (end == 0 and not text):
            found.append(left.pop(0))
            continue
        within = " ".join([text, *left[1 : end + 1]])
        found.append(option + within.removesuffix("'"))
        left = left[end + 1 :]
    return found


def _before_quote(argument: str) -> tuple[str, str, str]:
    """What stands before the single quote with which an argument, or the value of an option,
    begins, and after it.
    """
    if argument.startswith("--") and "='" in argument:
        option, _, text = argument.partition("='")
        return f"{option}=", "'", text
    return ("", "'", argument[1:]) if argument.startswith("'") else ("", "", argument)


def files_named(paths: Iterable[str]) -> list[str]:
    """The files that these names stand for. On Windows no shell replaces *.yaml by the names of
    files, so this does.
    """
    if sys.platform != "win32":
        return list(paths)
    from glob import glob

    found: list[str] = []
    for path in paths:
        # A bracket is a letter there.
        pattern = path.replace("[", "[[]")
        found += sorted(glob(pattern)) or [path]
    return found
