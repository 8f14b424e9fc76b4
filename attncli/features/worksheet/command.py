"""`attncli worksheet`: a problem to be worked out by hand, and a file for the answers."""

import sys
from typing import Annotated

from attncli.cli import options, values
from attncli.dtypes import PRECISION, chosen
from attncli.errors import usage_error

_FORMATS = tuple(name for name in values.CHOICES["--format"] if name != "json")


def worksheet(
    file: options.Problem,
    format: Annotated[
        str | None,
        options.Option(
            "--format",
            metavar="|".join(_FORMATS),
            help="How the page is written.  [default: by the suffix of -o, else table]",
            show_default=False,
        ),
    ] = None,
    output: options.Output = None,
    blank: Annotated[
        str | None,
        options.Option(
            "--blank",
            metavar="NAME,…",
            help="Leave these steps blank: weights,output.  "
            "[default: all but what is given; with --gradient, the way back]",
            show_default=False,
        ),
    ] = None,
    answers: Annotated[
        str | None,
        options.Option("--answers", metavar="FILE", help="Write a file for the answers, too, in YAML."),
    ] = None,
    gradient: Annotated[
        bool, options.Option("--gradient", help="Ask for the way back: the gradients, after the way forward as it is.")
    ] = False,
    detail: options.Detail = None,
    precision: options.Precision = "3",
    mask: options.Mask = None,
    as_: options.As = None,
    allow_outside: options.AllowOutside = False,
    scale: options.Scale = None,
    color: options.Color = "auto",
    math: options.Math = None,
    fragment: options.Fragment = False,
    quiet: options.Quiet = False,
) -> None:
    """Print a problem with its steps left blank, to be worked out by hand.

    With -o worksheet.md or .tex it is written to be printed; --answers answers.yaml writes a file to fill in.
    """
    page_format = values.output_format(format and chosen("--format", format, _FORMATS), output)
    if page_format == "json":
        help = "end the name in .txt, .md or .tex; --answers writes a file for programs to fill in"
        raise usage_error(f"-o {output}: a worksheet is not written as JSON", help=help)
    decimals = values.whole("--precision", precision, PRECISION)
    names = None if blank is None else values.names("--blank", blank)
    values.words(detail=detail, as_=as_, color=color, math=math)
    values.apart(values.FORMAT_ADVICE, *values.of_format(page_format, math=math, fragment=fragment))
    if answers is not None:
        _insist_apart(answers, output)

    from attncli.cli.output import check, write
    from attncli.cli.threads import limit_threads
    from attncli.problem.source import read_source

    check(output, file)
    check(answers, file, "--answers")
    source = read_source(file, outside=allow_outside)
    limit_threads(source.text)  # before the first import of NumPy

    from attncli.cli.error_report import warn  # while there is memory for it: an error may be that there is none
    from attncli.problem.loader import change, read_problem

    problem = read_problem(source, convention=as_)  # which tells what is wrong before NumPy is needed
    if mask is not None or scale is not None:
        problem = change(problem, mask=mask, scale=scale, outside=allow_outside)

    from attncli.cli.page import write_page
    from attncli.cli.progress import progress
    from attncli.features.worksheet.answer_file import blank_answers
    from attncli.features.worksheet.page import blank_steps
    from attncli.features.worksheet.page import worksheet as page
    from attncli.page.view import View
    from attncli.tracing import run

    progress.begin("working out")
    trace = run(problem, gradient=gradient)
    left = blank_steps(trace, names)
    view = View(detail=detail or "rows", precision=decimals, blank=frozenset(left))
    document = page(trace, view)
    if answers is not None:
        write(blank_answers(trace, left), answers, portable=True, option="--answers")
    write_page(document, page_format, output, color=color, math=math or "fences", fragment=fragment)
    if not quiet:
        for message in trace.warnings:
            warn(message, sys.stderr)


def _insist_apart(answers: str, output: str | None) -> None:
    """Refuse answers in any form but YAML, and where the page goes."""
    import os

    from attncli.cli.output import is_one_place

    page = output or "-"
    if is_one_place(answers, page):
        where = "standard output" if page == "-" else page
        help = "write one of them to a file of its own"
        raise usage_error(f"the worksheet and its answers cannot both go to {where}", help=help)
    suffix = os.path.splitext(answers)[1].lower()
    if suffix in (".json", ".md", ".markdown", ".tex", ".latex", ".txt"):
        raise usage_error(f"--answers {answers}: the answers are written in YAML", help="end the name in .yaml")
