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
            help="What somebody worked out: some or all steps in YAML or JSON, or a page of ours in Markdown or LaTeX "
            "with numbers written in; - is standard input.",
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
            help="Judge these steps only; the others are still built upon.",
        ),
    ] = None,
    marks: Annotated[
        int | None,
        options.read_by(
            options.whole, "--marks", metavar="N", help="Tell how many of N marks it earns.", allowed=_MARKS
        ),
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Let pass what is off by one unit of the last digit at most.")
    ] = False,
    as_: options.As = None,
    allow_outside: options.AllowOutside = False,
    color: options.Color = "auto",
    math: options.Math = None,
    fragment: options.Fragment = False,
    quiet: options.Quiet = False,
) -> int:
    """Check a solution worked by hand: find the first wrong number, and judge every other.

    The digits as written are the precision claimed. Each cell is right; carried, where it follows from the solution's
    own numbers before it; rounding, off by one unit of the last digit at most; wrong; or missing, where it was left
    blank. The exit code is 1 where a cell is wrong or missing, or, without --lenient, off by rounding; it is 0 where
    all are right or carried. Steps that are not in the answers do not count.
    """
    format = options.page_format(format, output)
    options.reject_conflicts(*options.format_conflicts(format, math=math, fragment=fragment))
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
    write_page(page, format, output, color=color, math=math, fragment=fragment)
    if not quiet:
        for message in trace.warnings:
            warn(message, sys.stderr)
    return Exit.OK if solution.passed else Exit.DIFFERENCE
