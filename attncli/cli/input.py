"""The problem that a command line names: read, and changed as its options say."""

from __future__ import annotations

import os
from dataclasses import replace

from attncli.cli.signals import interrupt_arithmetic
from attncli.errors import Exit, usage_error
from attncli.problem.loader import read_problem, read_scale
from attncli.problem.model import Problem
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import Leaf
from attncli.problem.text.reading import Reading
from attncli.problem.text.source import Source, read_source
from attncli.problem.text.values import Value

SMALL = 1_000_000  # characters
# the words by which a short text can ask for them
ARRAYS_OF_ANY_SIZE = ("file", "random")


def load(
    file: str,
    *,
    convention: str | None = None,
    outside: bool = False,
    mask: str | None = None,
    scale: str | None = None,
    holds_scores: bool = True,
) -> Problem:
    """The problem in a file, or on standard input for "-", with another mask and scale where these
    are given.

    `convention`, `outside` and `holds_scores` are as for `read_problem`. NumPy is to be imported
    after this. Raises AttncliError: exit 3 for what is wrong in the file, exit 4 where it cannot be
    read, exit 2 for a mask or a scale.
    """
    source = read_source(file, outside=outside)
    if limit_threads(source.text):
        interrupt_arithmetic()
    problem = read_problem(source, convention=convention, holds_scores=holds_scores)
    return change(problem, mask=mask, scale=scale, outside=outside)


def change(
    problem: Problem, *, mask: str | None = None, scale: str | None = None, outside: bool = False
) -> Problem:
    """The problem with another mask (in YAML, as in a file) or scale; AttncliError (exit 2) for bad
    ones.

    The mask is read by the convention of the problem. A file that it refers to and that cannot be
    read is exit 4, as in a problem; `outside` is as for `load`, and the folder the current one.
    """
    if mask is not None:
        from attncli.problem.parts.conventions import OWN, convention_named
        from attncli.problem.parts.mask_reader import read_mask
        from attncli.problem.text.yaml_parser import parse_yaml

        if not mask.strip():
            raise usage_error(
                "--mask is empty", help="write none, causal or a form: '{padding: [1, 1, 0]}'"
            )
        errors = ErrorCollector(Source("--mask", mask, outside=outside), Exit.USAGE)
        convention = convention_named(problem.convention) if problem.convention else OWN
        reading = read_mask(Value(parse_yaml(errors), "mask", Reading(errors)), convention)
        reading.check(problem.given)
        errors.stop()
        problem = replace(problem, mask=reading.mask())
    if scale is not None:
        errors = ErrorCollector(Source("--scale", scale), Exit.USAGE)
        number = read_scale(Value(Leaf(scale.strip(), False, 0), "scale", Reading(errors)))
        errors.stop()
        problem = replace(problem, scale=number)
    return problem


def limit_threads(text: str) -> bool:
    """Let NumPy's BLAS use one thread if the text of the problem holds all of its numbers and is
    short; whether not.

    On being imported NumPy starts a thread per core, which on a large machine takes longer than all
    the arithmetic of a problem that was typed by hand. So this looks at the text before anything of
    a problem is understood; where one of the words is only a label, the threads are started for
    nothing, no more. A choice made in the environment stands.
    """
    small = len(text) < SMALL and not any(word in text for word in ARRAYS_OF_ANY_SIZE)
    if small:
        for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
            os.environ.setdefault(variable, "1")
    return not small
