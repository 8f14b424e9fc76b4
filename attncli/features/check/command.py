"""`attncli check`: a solution worked by hand, judged cell by cell."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from attncli.cli import options
from attncli.english import listed
from attncli.errors import Exit, usage_error

_MARKS = range(1, 1001)


def check(
    file: Annotated[str, typer.Argument(metavar="PROBLEM", help="The problem in YAML or JSON; - is standard input.")],
    answers: Annotated[
        str,
        typer.Argument(
            metavar="ANSWERS",
            help="The solution: some or all steps in YAML or JSON, or a filled-in worksheet; - is standard input.",
        ),
    ],
    format: options.Format = None,
    output: options.Output = None,
    steps: Annotated[
        Sequence[str] | None,
        options.read_by(
            options.names,
            "--steps",
            metavar="NAME,…",
            help="Judge these steps only. The numbers of the other steps are still used.",
        ),
    ] = None,
    marks: Annotated[
        int | None,
        options.read_by(
            options.whole, "--marks", metavar="N", help="Say how many of N marks the solution earns.", allowed=_MARKS
        ),
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Accept numbers that differ by at most one unit in the last digit.")
    ] = False,
    as_: options.As = None,
    allow_outside: options.AllowOutside = False,
    color: options.Color = "auto",
    ascii: options.Ascii = False,
    math: options.Math = None,
    fragment: options.Fragment = False,
    no_title: options.NoTitle = False,
    quiet: options.Quiet = False,
) -> int:
    """Check a solution worked out by hand: find the first wrong number, and check all others.

    The digits that are written say how precise a number is. Each number gets one verdict. right: it is the true value
    at that precision. carried: it follows from the solution's own earlier numbers. rounding: it differs by at most one
    unit in the last digit. wrong: the error was made here. missing: the cell is blank. The exit code is 0 if all
    numbers are right or carried, else 1. With --lenient, rounding counts as right. Steps that are not in the answers
    do not count.
    """
    format = options.page_format(format, output)
    options.reject_conflicts(
        *options.format_conflicts(format, output, math=math, fragment=fragment, no_title=no_title, ascii=ascii)
    )
    if file == answers == "-":
        raise usage_error("standard input cannot be both files", help="name a file for one of the two")

    from attncli.cli.error_report import warn  # while there is memory for it: an error may be that there is none
    from attncli.cli.input import load
    from attncli.cli.output import require_writable, write_page
    from attncli.cli.progress import progress
    from attncli.problem.source import read_source

    require_writable(output, file)
    require_writable(output, answers, what="the answers")
    problem, written = load(file, convention=as_, outside=allow_outside), read_source(answers)

    from attncli.answers.reader import mentions_gradients, read_answers
    from attncli.features.check.diagnosis import diagnose
    from attncli.features.check.page import check_page
    from attncli.features.check.solution import judge_solution
    from attncli.page.view import chosen_steps, steps_back

    progress.begin("checking")
    gradient = mentions_gradients(written)
    solution = judge_solution(problem, lambda trace: read_answers(written, trace), lenient=lenient, gradient=gradient)
    trace = solution.verdicts.trace
    diagnoses = diagnose(solution.verdicts)
    if steps is not None:
        answered = list(solution.verdicts.steps)
        back = [] if gradient else steps_back(steps)  # which only answers to them ask for
        names = () if back else chosen_steps(trace, steps)
        if lacking := back or [name for name in names if name not in answered]:
            raise usage_error(
                f"--steps: {written.name} has no answers to {listed(lacking)}", help=f"it has {listed(answered)}"
            )
        solution = solution.only(names)
        diagnoses = tuple(found for found in diagnoses if found.step in names)
    page = check_page(solution, marks=marks, diagnoses=diagnoses)
    write_page(page, format, output, color=color, math=math, fragment=fragment, title=not no_title, ascii=ascii)
    if not quiet:
        for message in trace.warnings:
            warn(message, sys.stderr)
    return Exit.OK if solution.passed else Exit.DIFFERENCE
