"""The problem that a command line names: read, and changed as its options say."""

from __future__ import annotations

import os

from attncli.cli.signals import interrupt_arithmetic
from attncli.problem.loader import read_problem
from attncli.problem.model import Problem
from attncli.problem.source import read_source

SMALL = 1_000_000  # characters
ARRAYS_OF_ANY_SIZE = ("file", "random")  # the words by which a short text can ask for them


def load(
    file: str,
    *,
    convention: str | None = None,
    outside: bool = False,
    mask: str | None = None,
    scale: str | None = None,
    holds_scores: bool = True,
) -> Problem:
    """The problem in a file, or on standard input for "-", with another mask and scale where these are given.

    `convention`, `outside` and `holds_scores` are as for `read_problem`. NumPy is to be imported after this. Raises
    AttncliError: exit 3 for what is wrong in the file, exit 4 where it cannot be read, exit 2 for a mask or a scale.
    """
    source = read_source(file, outside=outside)
    if limit_threads(source.text):
        interrupt_arithmetic()
    problem = read_problem(source, convention=convention, holds_scores=holds_scores)
    if mask is None and scale is None:
        return problem
    from attncli.problem.changes import change

    return change(problem, mask=mask, scale=scale, outside=outside)


def limit_threads(text: str) -> bool:
    """Let NumPy's BLAS use one thread if the text of the problem holds all of its numbers and is short; whether not.

    On being imported NumPy starts a thread per core, which on a large machine takes longer than all the
    arithmetic of a problem that was typed by hand. So this looks at the text before anything of a problem
    is understood; where one of the words is only a label, the threads are started for nothing, no more.
    A choice made in the environment stands.
    """
    small = len(text) < SMALL and not any(word in text for word in ARRAYS_OF_ANY_SIZE)
    if small:
        for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
            os.environ.setdefault(variable, "1")
    return not small
