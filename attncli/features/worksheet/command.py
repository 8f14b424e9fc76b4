"""`attncli worksheet`: a problem to be worked out by hand, and a file for the answers."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from attncli.cli import options
from attncli.errors import usage_error
from attncli.render import FORMATS, WORKBOOK

_COPIES = range(1, 1001)
# decimals of a given number, which people can still work with
_READABLE = 6
_FORMATS = tuple(name for name, format in FORMATS.items() if not format.is_data)


def worksheet(
    file: options.Problem,
    format: Annotated[
        str | None,
        options.choice("--format", (*_FORMATS, *WORKBOOK), options.FORMAT_HELP),
    ] = None,
    output: options.Output = None,
    blank: Annotated[
        Sequence[str] | None,
        options.read_by(
            options.names,
            "--blank",
            metavar="NAME,…",
            help="Leave these steps blank: weights,output.  "
            "[default: all that is worked out; with --gradient, the backward pass]",
        ),
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(
            "--answers", metavar="FILE", help="Also write a file for the answers, in YAML."
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="FILE",
            help="Also write the solution, with a note on the mistakes that the problem shows.",
        ),
    ] = None,
    copies: Annotated[
        int | None,
        options.read_by(
            options.whole,
            "--copies",
            metavar="N",
            help="Put N copies into the file, each on new paper: in LaTeX and HTML.",
            allowed=_COPIES,
        ),
    ] = None,
    gradient: Annotated[
        bool,
        typer.Option(
            "--gradient", help="Leave the backward pass blank; the forward pass is filled in."
        ),
    ] = False,
    detail: options.Detail = None,
    precision: options.Precision = 3,
    mask: options.Mask = None,
    as_: options.As = None,
    allow_outside: options.AllowOutside = False,
    scale: options.Scale = None,
    color: options.Color = "auto",
    ascii: options.Ascii = False,
    math: options.Math = None,
    fragment: options.Fragment = False,
    no_title: options.NoTitle = False,
    quiet: options.Quiet = False,
) -> None:
    """Print a problem with blank steps, to be worked out by hand.

    -o worksheet.tex or .md writes a file to print, .xlsx a workbook to fill in that marks each
    number. --answers answers.yaml also writes a file to fill in. attncli check reads all but the
    workbook.
    """
    format = options.page_format(format, output, formats=_FORMATS, workbook=True)
    options.reject_conflicts(
        *options.workbook_conflicts(format, detail=detail),
        *options.format_conflicts(
            format, output, math=math, fragment=fragment, no_title=no_title, ascii=ascii
        ),
        (
            copies is not None and format not in ("latex", "html"),
            "--copies",
            f"--format {format}",
            "write a .tex or .html file, or let the printer make the copies",
        ),
    )
    if answers is not None:
        _require_separate_files(answers, output)
    key_format = options.page_format(None, key, formats=_FORMATS, option="--key")
    if key is not None:
        _require_separate_pages(key, answers, output)

    # while there is memory for it: an error may be that there is none
    from attncli.cli.error_report import warn
    from attncli.cli.files import require_writable, write
    from attncli.cli.input import load
    from attncli.cli.pages import require_workbook, write_page
    from attncli.cli.progress import progress

    require_writable(output, file)
    require_workbook(format, output)
    require_writable(answers, file, "--answers")
    require_writable(key, file, "--key")
    problem = load(file, mask=mask, scale=scale, convention=as_, outside=allow_outside)

    from attncli.answers.blank import blank_answers
    from attncli.page.view import View
    from attncli.page.worksheet import blank_steps, longest_given
    from attncli.page.worksheet import worksheet as page
    from attncli.tracing import run

    progress.begin("working out")
    trace = run(problem, gradient=gradient)
    left = blank_steps(trace, blank)
    view = View(detail=detail or "rows", precision=precision, blank=frozenset(left))
    document = page(trace, view, copies=copies or 1)
    if format in WORKBOOK:
        from attncli.page.workbook import with_workbook

        document = with_workbook(document, trace, view)
    if answers is not None:
        write(blank_answers(trace, left), answers, portable=True, option="--answers")
    if key is not None:
        from attncli.mistakes.audit import audit
        from attncli.page.worksheet import answer_key

        solution = answer_key(trace, view, audit(trace, left[-1], max(precision, 1)))
        write_page(
            solution,
            key_format,
            key,
            math=math if key_format == "markdown" else None,
            option="--key",
        )
    write_page(
        document,
        format,
        output,
        color=color,
        math=math,
        fragment=fragment,
        title=not no_title,
        ascii=ascii,
    )
    if not quiet:
        for message in trace.warnings:
            warn(message, sys.stderr)
        name, decimals = longest_given(trace)
        if decimals > _READABLE:
            warn(
                f"{name} has numbers with {decimals} decimals, which nobody likes to work with on"
                " paper; a form such as {random: [4, 3], decimals: 1} draws shorter ones",
                sys.stderr,
            )


def _require_separate_pages(key: str, answers: str | None, output: str | None) -> None:
    """Refuse a key on standard output, in a file of numbers, and where something else goes."""
    from attncli.cli.files import is_same_file

    for other in (output or "-", answers):
        if other is not None and is_same_file(key, other):
            where = "standard output" if other == "-" else other
            raise usage_error(
                f"--key and something else cannot both go to {where}",
                help="write it to a file of its own",
            )


def _require_separate_files(answers: str, output: str | None) -> None:
    """Refuse answers in any form but YAML, and where the page goes."""
    from attncli.cli.files import is_same_file

    page = output or "-"
    if is_same_file(answers, page):
        where = "standard output" if page == "-" else page
        help = "write one of them to a file of its own"
        raise usage_error(f"the worksheet and its answers cannot both go to {where}", help=help)
    if options.suffix_of(answers) not in ("", ".yaml", ".yml"):
        raise options.unknown_suffix("--answers", answers, ".yaml")
