"""The problem that a command line names: read, and changed as its options say."""

from __future__ import annotations

import os
from dataclasses import replace

from attncli.cli.overrides import AS_IN_THE_FILE, Overrides
from attncli.cli.signals import interrupt_arithmetic
from attncli.errors import Exit, usage_error
from attncli.problem.loader import read_problem, read_scale
from attncli.problem.model import Problem
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import Leaf
from attncli.problem.text.reading import Reading
from attncli.problem.text.source import Source, read_source
from attncli.problem.text.values import Value

# Of a text of fewer characters, nothing that it writes out can be large.
CHARACTERS_OF_A_SMALL_TEXT = 1_000_000
# With these words a short text asks for arrays of any size.
WORDS_OF_LARGE_ARRAYS = ("file", "random")


def load(file: str, overrides: Overrides = AS_IN_THE_FILE) -> Problem:
    """The problem in a file, or on standard input for "-", read as the command line says.

    NumPy is to be imported after this. Raises AttncliError: exit 3 for what is wrong in the file,
    exit 4 where it cannot be read, exit 2 for a mask or a scale.
    """
    source = read_source(file, outside=overrides.allow_outside)
    if limit_threads(source.text):
        interrupt_arithmetic()
    problem = read_problem(source, convention=overrides.as_)
    return change(problem, overrides)


def change(problem: Problem, overrides: Overrides) -> Problem:
    """The problem with another mask (in YAML, as in a file) or scale; AttncliError (exit 2) for bad
    ones.

    The mask is read by the convention of the problem. A file that it refers to and that cannot be
    read is exit 4, as in a problem; its folder is the current one.
    """
    if overrides.mask is not None:
        problem = _with_mask(problem, overrides.mask, outside=overrides.allow_outside)
    if overrides.scale is not None:
        problem = _with_scale(problem, overrides.scale)
    return problem


def _with_mask(problem: Problem, text: str, *, outside: bool) -> Problem:
    # Few commands are given a mask.
    from attncli.problem.parts.conventions import OWN, convention_named
    from attncli.problem.parts.mask_reader import read_mask
    from attncli.problem.text.tree import parse_value

    if not text.strip():
        raise usage_error(
            "--mask is empty", help="write none, causal or a form: '{padding: [1, 1, 0]}'"
        )
    errors = ErrorCollector(Source("--mask", text, outside=outside), Exit.USAGE)
    convention = convention_named(problem.convention) if problem.convention else OWN
    reading = read_mask(Value(parse_value(errors), "mask", Reading(errors)), convention)
    reading.check(problem.sized)
    errors.stop()
    return replace(problem, mask=reading.mask())


def _with_scale(problem: Problem, text: str) -> Problem:
    errors = ErrorCollector(Source("--scale", text), Exit.USAGE)
    number = read_scale(Value(Leaf(text.strip(), False, 0), "scale", Reading(errors)))
    errors.stop()
    return replace(problem, scale=number)


def limit_threads(text: str) -> bool:
    """Let NumPy's BLAS use one thread if the text of the problem holds all of its numbers and is
    short; whether not.

    On being imported NumPy starts a thread per core, which on a large machine takes longer than all
    the arithmetic of a problem that was typed by hand. So this looks at the text before anything of
    a problem is understood; where one of the words is only a label, the threads are started for
    nothing, no more. A choice made in the environment stands.
    """
    asks_for_arrays = any(word in text for word in WORDS_OF_LARGE_ARRAYS)
    small = len(text) < CHARACTERS_OF_A_SMALL_TEXT and not asks_for_arrays
    if small:
        for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
            os.environ.setdefault(variable, "1")
    return not small
