"""`attncli worksheet`: a problem to be worked out by hand, and a file for the answers."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from attncli.cli import options
from attncli.errors import usage_error
from attncli.render import FORMATS

_FORMATS = tuple(name for name, format in FORMATS.items() if not format.is_data)


def worksheet(
    file: options.Problem,
    format: Annotated[
        str | None,
        options.choice("--format", _FORMATS, options.FORMAT_HELP),
    ] = None,
    output: options.Output = None,
    blank: Annotated[
        Sequence[str] | None,
        options.read_by(
            options.names,
            "--blank",
            metavar="NAME,…",
            help="Leave these steps blank: weights,output.  "
            "[default: all but what is given; with --gradient, the way back]",
        ),
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option("--answers", metavar="FILE", help="Write a file for the answers, too, in YAML."),
    ] = None,
    gradient: Annotated[
        bool, typer.Option("--gradient", help="Ask for the way back: the gradients, after the way forward as it is.")
    ] = False,
    detail: options.Detail = None,
    precision: options.Precision = 3,
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
    format = options.page_format(format, output)
    if format == "json":
        help = "end the name in .txt, .md or .tex; --answers writes a file for programs to fill in"
        raise usage_error(f"-o {output}: a worksheet is not written as JSON", help=help)
    options.reject_conflicts(*options.format_conflicts(format, math=math, fragment=fragment))
    if answers is not None:
        _require_separate_files(answers, output)

    from attncli.cli.error_report import warn  # while there is memory for it: an error may be that there is none
    from attncli.cli.input import load
    from attncli.cli.output import require_writable, write, write_page
    from attncli.cli.progress import progress

    require_writable(output, file)
    require_writable(answers, file, "--answers")
    problem = load(file, mask=mask, scale=scale, convention=as_, outside=allow_outside)

    from attncli.features.worksheet.page import blank_answers, blank_steps
    from attncli.features.worksheet.page import worksheet as page
    from attncli.page.view import View
    from attncli.tracing import run

    progress.begin("working out")
    trace = run(problem, gradient=gradient)
    left = blank_steps(trace, blank)
    view = View(detail=detail or "rows", precision=precision, blank=frozenset(left))
    document = page(trace, view)
    if answers is not None:
        write(blank_answers(trace, left), answers, portable=True, option="--answers")
    write_page(document, format, output, color=color, math=math, fragment=fragment)
    if not quiet:
        for message in trace.warnings:
            warn(message, sys.stderr)


def _require_separate_files(answers: str, output: str | None) -> None:
    """Refuse answers in any form but YAML, and where the page goes."""
    import os

    from attncli.cli.output import is_same_file

    page = output or "-"
    if is_same_file(answers, page):
        where = "standard output" if page == "-" else page
        help = "write one of them to a file of its own"
        raise usage_error(f"the worksheet and its answers cannot both go to {where}", help=help)
    suffix = os.path.splitext(answers)[1].lower()
    if suffix in (".json", ".md", ".markdown", ".tex", ".latex", ".txt"):
        raise usage_error(f"--answers {answers}: the answers are written in YAML", help="end the name in .yaml")
