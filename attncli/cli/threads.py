"""Keeps NumPy from starting more threads than a problem is worth."""

from __future__ import annotations

import os

_SMALL = 1_000_000  # characters
_ARRAYS_OF_ANY_SIZE = ("file", "random")  # the words by which a short text can ask for them


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
