"""`attncli check`: a solution worked by hand, held against the problem."""

import sys
from typing import Annotated

from attncli.cli import options, values
from attncli.english import listed
from attncli.errors import Exit, usage_error

_MARKS = range(1, 1001)


def check(
    file: Annotated[str, options.Argument(metavar="PROBLEM", help="The problem in YAML or JSON; - is standard input.")],
    answers: Annotated[
        str,
        options.Argument(
            metavar="ANSWERS",
            help="What somebody worked out: some or all steps in YAML or JSON, or a page of ours in Markdown or LaTeX "
            "with numbers written in; - is standard input.",
        ),
    ],
    format: options.Format = None,
    output: options.Output = None,
    steps: Annotated[
        str | None,
        options.Option("--steps", metavar="NAME,…", help="Judge these steps only; the others are still built upon."),
    ] = None,
    marks: Annotated[
        str | None, options.Option("--marks", metavar="N", help="Tell how many of N marks it earns.")
    ] = None,
    lenient: Annotated[
        bool, options.Option("--lenient", help="Let pass what is off by one unit of the last digit at most.")
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
    page_format = values.output_format(format, output)
    chosen = None if steps is None else values.names("--steps", steps)
    of = None if marks is None else values.whole("--marks", marks, _MARKS)
    values.words(as_=as_, color=color, math=math)
    values.apart(values.FORMAT_ADVICE, *values.of_format(page_format, math=math, fragment=fragment))
    if file == answers == "-":
        raise usage_error("standard input cannot be both files", help="name a file for one of the two")

    from attncli.cli import output as files
    from attncli.cli.threads import limit_threads
    from attncli.problem.source import read_source

    files.check(output, file)
    files.check(output, answers, what="the answers")
    source, written = read_source(file, outside=allow_outside), read_source(answers)
    limit_threads(source.text)  # before the first import of NumPy

    from attncli.cli.error_report import warn  # while there is memory for it: an error may be that there is none
    from attncli.problem.loader import read_problem

    problem = read_problem(source, convention=as_)  # which tells what is wrong before NumPy is needed

    from attncli.answers.reader import of_gradients, read_answers
    from attncli.cli.page import write_page
    from attncli.cli.progress import progress
    from attncli.features.check.diagnosis import diagnose
    from attncli.features.check.page import check_page
    from attncli.features.check.solution import judged
    from attncli.page.selection import chosen_steps, steps_back

    progress.begin("checking")
    gradient = of_gradients(written)
    solution = judged(problem, lambda trace: read_answers(written, trace), lenient=lenient, gradient=gradient)
    trace = solution.verdicts.trace
    diagnoses = diagnose(solution.verdicts)
    if chosen is not None:
        answered = list(solution.verdicts.steps)
        back = [] if gradient else steps_back(chosen)  # which only answers to them ask for
        names = () if back else chosen_steps(trace, chosen)
        if lacking := back or [name for name in names if name not in answered]:
            raise usage_error(
                f"--steps: {written.name} has no answers to {listed(lacking)}", help=f"it has {listed(answered)}"
            )
        solution = solution.only(names)
        diagnoses = tuple(found for found in diagnoses if found.step in names)
    page = check_page(solution, marks=of, diagnoses=diagnoses)
    write_page(page, page_format, output, color=color, math=math or "fences", fragment=fragment)
    if not quiet:
        for message in trace.warnings:
            warn(message, sys.stderr)
    return Exit.OK if solution.passed else Exit.DIFFERENCE
