"""Keeps NumPy from starting more threads than a problem is worth."""

from __future__ import annotations

import os
from contextlib import suppress

_SMALL = 1_000_000  # characters
_ARRAYS_OF_ANY_SIZE = ("file", "random")  # the words by which a short text can ask for them
_NUMPY = 200 * 2**20  # bytes of address space for NumPy, a thread, and buffers that an older BLAS seeks without end
_SEVERAL = 2**30  # below it there is no room for more than one thread


def limit_threads(text: str) -> bool:
    """Let NumPy's BLAS use one thread if the text of the problem holds all of its numbers and is short; whether not.

    On being imported NumPy starts a thread per core, which on a large machine takes longer than all the
    arithmetic of a problem that was typed by hand. So this looks at the text before anything of a problem
    is understood; where one of the words is only a label, the threads are started for nothing, no more.
    A choice made in the environment stands.
    """
    small = len(text) < _SMALL and not any(word in text for word in _ARRAYS_OF_ANY_SIZE)
    if small:
        for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
            os.environ.setdefault(variable, "1")
    return not small


def fit_into_address_space() -> None:
    """Before NumPy is imported under a limit (`ulimit -v`): one thread where there is room for no more.

    Raises MemoryError where there is not even that, since NumPy's library would end the process by itself, with the
    exit code of a difference.
    """
    left = _address_space()
    if left is None:
        return
    if left < _NUMPY:
        raise MemoryError
    if left < _SEVERAL:
        os.environ["OPENBLAS_NUM_THREADS"] = "1"


def _address_space() -> int | None:
    """How many bytes the limits of the process leave of it; None where there are no limits."""
    try:
        import resource
    except ImportError:  # Windows has none
        return None
    limits = [resource.getrlimit(which)[0] for which in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    limits = [limit for limit in limits if limit != resource.RLIM_INFINITY]
    used = 0
    with suppress(OSError), open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    return min(limits) - used if limits else None
