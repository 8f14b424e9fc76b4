"""How much memory this process may still take, and an error before a step that would take more.

Without it the system ends a process that takes too much, without a word; so it looks before it takes.
"""

from __future__ import annotations

import os
from contextlib import suppress

from attncli.errors import AttncliError, Exit

TYPE_CHECKING = False  # as typing has it, without the time its import takes
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NUMPY = 200 * 2**20  # bytes of address space for NumPy, a thread, and buffers that an older BLAS seeks without end
THREADS = 2**30  # below it there is no room for more than one
SMALL = 2**26  # bytes; nobody lacks them, and it is not worth asking
_CGROUPS = ("/sys/fs/cgroup", "/sys/fs/cgroup/memory")


class NoRoom(AttncliError):
    """There is less memory than a step needs."""


def prepare() -> None:
    """Before NumPy is imported under a limit (`ulimit -v`): one thread where there is room for no more.

    Raises MemoryError where there is not even that, since NumPy's library would end the process by itself, with the
    exit code of a difference.
    """
    room = min(_limits(), default=None)
    if room is None:
        return
    if room < NUMPY:
        raise MemoryError
    if room < THREADS:
        os.environ["OPENBLAS_NUM_THREADS"] = "1"


def available() -> int | None:
    """Bytes that may still be taken, by the limits of the process, its group and the machine; None where untold."""
    return min((*_limits(), *_groups(), *_machine()), default=None)


def insist(
    needed: int, what: str, help: str, left_of: Callable[[], int | None] | None = None, name: str = "memory"
) -> None:
    """Raises NoRoom (exit 3) where so many bytes are more than there are; `what` is what they are taken for.

    `left_of` says how many bytes are left, None where that is not known, where they are not to be taken of the
    computer's own memory but of one that has this name.
    """
    if needed < SMALL:
        return
    left = (left_of or available)()
    if left is not None and needed > left:
        message = f"{what} would take {_size(needed)}, and {_size(max(left, 0))} of {name} are left"
        raise NoRoom(Exit.INPUT, message, help=help)


def _size(number: int) -> str:
    unit, name = (2**30, "GiB") if number >= 2**30 else (2**20, "MiB")
    return f"{number / unit:,.1f} {name}"


def _limits() -> Iterator[int]:
    """What the limits of the process leave, such as `ulimit -v`."""
    try:
        import resource
    except ImportError:  # Windows has none
        return
    for name, column in (("RLIMIT_AS", 0), ("RLIMIT_DATA", 5)):
        limit = resource.getrlimit(getattr(resource, name))[0]
        if limit != resource.RLIM_INFINITY:
            yield limit - _used(column) * resource.getpagesize()


def _used(column: int) -> int:
    with suppress(OSError), open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[column])
    return 0


def _groups() -> Iterator[int]:
    """What the control group leaves, in which a container lives."""
    for folder in _CGROUPS:
        for most, taken in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
            with suppress(OSError, ValueError):  # "max" is no number, and no limit
                yield _number(f"{folder}/{most}") - _number(f"{folder}/{taken}") + _reclaimable(folder)


def _number(path: str) -> int:
    with open(path, encoding="ascii") as file:
        return int(file.read())


def _reclaimable(folder: str) -> int:
    """Bytes of files that the group keeps only as long as nobody needs the room."""
    with suppress(OSError, ValueError), open(f"{folder}/memory.stat", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("inactive_file "))
    return 0


def _machine() -> Iterator[int]:
    with suppress(OSError, ValueError), open("/proc/meminfo", encoding="ascii") as file:
        yield from (int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))
