"""`attncli worksheet`: a problem to be worked out by hand, and a file for the answers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from attncli.cli import options
from attncli.cli.error_report import warn_of
from attncli.cli.files import is_same_file, require_writable, together, write
from attncli.cli.groups import grouped
from attncli.cli.look import Look, look_options, page_format
from attncli.cli.options import Conflict, reject_conflicts
from attncli.cli.overrides import AllOverrides
from attncli.cli.pages import require_workbook, write_page
from attncli.cli.progress import progress
from attncli.cli.sheet_options import Ask, marks_of
from attncli.cli.view_options import ViewOptions, workbook_conflicts
from attncli.dtypes import PRECISION
from attncli.english import either, listed
from attncli.errors import usage_error
from attncli.marking.sheet_marks import SheetMarks
from attncli.render import PAGES, WORKBOOK

if TYPE_CHECKING:
    from attncli.marking.scheme import Scheme
    from attncli.marking.sheet import SheetSteps
    from attncli.page.document import Document
    from attncli.page.view import View
    from attncli.page.worksheet import Worth
    from attncli.tracing.model import Trace

POSSIBLE_COPIES = range(1, 1001)
USUAL_DECIMALS = 3
# Of a given number: people can still work with so many on paper.
MOST_READABLE_DECIMALS = 6
FORMATS_OF_PAGES = tuple(name for name, format in PAGES.items() if not format.is_data)

WorksheetFormat: TypeAlias = Annotated[
    str | None,
    options.choice("--format", (*FORMATS_OF_PAGES, *WORKBOOK), options.FORMAT_HELP),
]
WorksheetLook: TypeAlias = Annotated[
    Look,
    look_options(
        "color",
        "ascii",
        "math",
        "fragment",
        "no_title",
        "heading_level",
        option=WorksheetFormat,
        formats=FORMATS_OF_PAGES,
        data=WORKBOOK,
    ),
]


WorksheetDetail: TypeAlias = Annotated[
    str | None,
    options.choice(
        "--detail",
        options.DETAILS,
        "brief: only formulas and matrices; rows: also room to calculate one line for each row, and"
        " the calculation of one cell in each row that is not blank; cells: of every cell.  "
        "[default: brief; with --explain, rows]",
    ),
]


WorksheetPrecision: TypeAlias = Annotated[
    int | None,
    options.read_by(
        options.whole,
        "--precision",
        metavar="N",
        help=f"Decimals shown, {PRECISION[0]} to {PRECISION[-1]}."
        f"  [default: those of the answers, or {USUAL_DECIMALS}]",
        allowed=PRECISION,
    ),
]


# What a page in a browser calls the file of answers of somebody without a name.
FILE_OF_ANSWERS = "answers.yaml"


@grouped
def worksheet(
    *,
    file: options.ProblemFile,
    look: WorksheetLook,
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
    ask: Ask = None,
    decimals: Annotated[
        int | None,
        options.read_by(
            options.whole,
            "--decimals",
            metavar="N",
            help="Decimals of the answers.  [default: --precision]",
            allowed=PRECISION,
        ),
    ] = None,
    marks: Annotated[Any, marks_of("the sheet")] = None,
    marking: Annotated[
        str | None,
        typer.Option(
            "--marking",
            metavar="FILE",
            help="Ask for the steps of this scheme, with its decimals and marks.",
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
            allowed=POSSIBLE_COPIES,
        ),
    ] = None,
    gradient: Annotated[
        bool,
        typer.Option(
            "--gradient", help="Leave the backward pass blank; the forward pass is filled in."
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say what each step is, and why. It gives the method away."),
    ] = False,
    compact: Annotated[
        bool,
        typer.Option(
            "--compact",
            help="All formulas in one paragraph, and the matrices below. A small problem takes one"
            " page.",
        ),
    ] = False,
    detail: WorksheetDetail = None,
    precision: WorksheetPrecision = None,
    overrides: AllOverrides,
    quiet: options.Quiet = False,
) -> None:
    """Print a problem with blank steps, to be worked out by hand.

    -o worksheet.tex or .md writes a file to print, .xlsx a workbook to fill in that marks each
    number. --answers answers.yaml also writes a file to fill in. attncli check reads all but the
    workbook.

    For an exam, --ask names the steps to hand in, and --marks what they are worth. All steps have
    room then, so that no printed number gives another one away.

    Examples:
      attncli worksheet homework.yaml -o worksheet.tex
      attncli worksheet homework.yaml --blank output --answers answers.yaml
      attncli worksheet exam.yaml --ask scores,weights,output --decimals 2 --marks 20 -o exam.pdf
      attncli worksheet exam.yaml --marking marking.yaml -o exam.html
    """
    reject_conflicts(
        *workbook_conflicts(look, ViewOptions(detail=detail)),
        Conflict(
            copies is not None and look.format not in ("latex", "html"),
            "--copies",
            f"--format {look.format}",
            "write a .tex or .html file, or let the printer make the copies",
        ),
        *_conflicts_of_detail(look, detail, explain=explain, compact=compact),
        Conflict(
            ask is not None and blank is not None,
            "--ask",
            "--blank",
            "with --ask, no step has numbers that could give another one away",
        ),
        *(
            Conflict(
                marking is not None and value is not None,
                option,
                "--marking",
                "the marking says what is asked for, and its marks",
            )
            for option, value in (("--ask", ask), ("--blank", blank), ("--marks", marks))
        ),
    )
    if answers is not None:
        _require_separate_files(answers, look.output)
    key_format = page_format(None, key, formats=FORMATS_OF_PAGES, option="--key")
    if key is not None:
        _require_separate_pages(key, answers, look.output)
    require_writable(look.output, file)
    require_workbook(look)
    require_writable(answers, file, "--answers")
    require_writable(key, file, "--key")

    from attncli.cli.input import load

    problem = load(file, overrides)

    from attncli.answers.blank import blank_answers
    from attncli.marking.sheet import to_fill_in
    from attncli.page.kept_problem import with_problem
    from attncli.page.view import View
    from attncli.page.worksheet import FIELDS
    from attncli.page.worksheet import worksheet as worksheet_page
    from attncli.tracing import run

    scheme = None if marking is None else _scheme(marking, quiet=quiet)
    if decimals is None and scheme is not None:
        decimals = scheme.decimals
    shown = _first_said(precision, decimals, USUAL_DECIMALS)
    decimals = _first_said(decimals, shown)
    progress.begin("working out")
    trace = run(problem, gradient=gradient)
    steps, worth = _asked(trace, blank, ask, marks, scheme)
    view = View(
        detail=detail or ("rows" if explain else "brief"),
        precision=shown,
        blank=frozenset(steps.room),
        explains=explain,
    )
    page = worksheet_page(
        trace,
        view,
        steps.only,
        copies or 1,
        fields=() if look.no_title else tuple(FIELDS),
        compact=compact,
        worth=worth,
        decimals=decimals,
    )
    page = replace(page, to_fill_in=to_fill_in(trace, steps, FILE_OF_ANSWERS))
    page = with_problem(page, problem, view)
    if look.is_workbook():
        from attncli.page.workbook import with_workbook

        page = with_workbook(page, trace, view)
    with together():
        if answers is not None:
            write(blank_answers(trace, steps.asked), answers, portable=True, option="--answers")
        if key is not None:
            math = look.math if key_format == "markdown" else None
            key_look = Look(key_format, key, option="--key", math=math)
            key_view = replace(view, detail=detail or "rows", explains=True)
            write_page(_key_page(trace, key_view, steps.asked[-1], decimals), key_look)
        write_page(page, look)
    # In a workbook, all answers can be looked up anyway.
    given_away = [] if look.is_workbook() else _warnings_of_given_away(trace, steps)
    warn_of([*trace.warnings, *_warnings_of_given(trace), *given_away], quiet=quiet)


def _first_said(*decimals: int | None) -> int:
    """The first of these numbers that is one."""
    return next(each for each in decimals if each is not None)


def _scheme(marking: str, *, quiet: bool) -> "Scheme":
    """The scheme of marks in a file, with a warning of what is hardly meant."""
    from attncli.marking.scheme import read_scheme
    from attncli.problem.text.source import read_source

    scheme = read_scheme(read_source(marking))
    warn_of([f"{marking}: {each}" for each in scheme.warnings], quiet=quiet)
    return scheme


def _asked(
    trace: "Trace",
    blank: Sequence[str] | None,
    ask: Sequence[str] | None,
    marks: SheetMarks | None,
    scheme: "Scheme | None",
) -> tuple["SheetSteps", "Worth | None"]:
    """What the sheet asks for, and what that is worth, if anything."""
    from attncli.marking.sheet import SheetSteps, sheet_of_scheme, sheet_steps
    from attncli.page.worksheet import blank_steps

    if scheme is not None:
        return sheet_of_scheme(trace, scheme)
    if blank is not None:
        left = blank_steps(trace, blank)
        steps = SheetSteps(left, left)
    else:
        # Who says what each step is worth has said which are asked for.
        with_marks = [] if marks is None else [*marks.of_steps]
        steps = sheet_steps(trace, ask or with_marks or None)
    worth = None if marks is None else steps.worth(trace, marks)
    return steps, worth


def _conflicts_of_detail(
    look: Look, detail: str | None, *, explain: bool, compact: bool
) -> list[Conflict]:
    """What says more, and what says less; and a workbook, which has its own."""
    found = []
    workbook = f"--format {look.format}"
    for option, is_given in (("--explain", explain), ("--compact", compact)):
        help = f"the sheets of a workbook are always the same; leave out {option}"
        found.append(Conflict(look.is_workbook() and is_given, option, workbook, help))
    texts = "a brief page has no texts; leave out one of the two"
    found.append(Conflict(explain and detail == "brief", "--explain", "--detail brief", texts))
    room = "a compact page has only formulas and matrices; leave out one of the two"
    found.append(Conflict(compact and explain, "--compact", "--explain", room))
    is_long = detail in ("rows", "cells")
    found.append(Conflict(compact and is_long, "--compact", f"--detail {detail}", room))
    return found


def _key_page(trace: "Trace", view: "View", last_step: str, decimals: int) -> "Document":
    """The solution, with a note on the mistakes that the numbers of the last step show."""
    from attncli.mistakes.audit import audit
    from attncli.page.worksheet import answer_key

    return answer_key(trace, view, audit(trace, last_step, max(decimals, 1)))


def _warnings_of_given(trace: "Trace") -> list[str]:
    """A warning of given numbers that nobody likes to work with on paper, if there are such."""
    from attncli.page.worksheet import longest_given

    name, decimals = longest_given(trace)
    if decimals <= MOST_READABLE_DECIMALS:
        return []
    return [
        f"{name} has numbers with {decimals} decimals, which nobody likes to work with on"
        " paper; a form such as {random: [4, 3], decimals: 1} draws shorter ones"
    ]


def _warnings_of_given_away(trace: "Trace", steps: "SheetSteps") -> list[str]:
    """A warning of printed numbers that say what blank steps are, if there are such."""
    from attncli.marking.given_away import given_away

    found = given_away(trace, steps.room)
    if not found.steps:
        return []
    verb = either(len(found.by), "stands", "stand")
    give = either(len(found.by), "gives", "give")
    return [
        f"{listed(found.by)} {verb} on the sheet with numbers, and {give}"
        f" {listed(found.steps)} nearly away: leave more steps blank, or name with --ask the steps"
        " to hand in"
    ]


def _require_separate_pages(key: str, answers: str | None, output: str | None) -> None:
    """Refuse a key on standard output, in a file of numbers, and where something else goes."""
    for other in (output or "-", answers):
        if other is not None and is_same_file(key, other):
            where = "standard output" if other == "-" else other
            raise usage_error(
                f"--key and something else cannot both go to {where}",
                help="write it to a file of its own",
            )


def _require_separate_files(answers: str, output: str | None) -> None:
    """Refuse answers in any form but YAML, and where the page goes."""
    page = output or "-"
    if is_same_file(answers, page):
        where = "standard output" if page == "-" else page
        help = "write one of them to a file of its own"
        raise usage_error(f"the worksheet and its answers cannot both go to {where}", help=help)
    if options.suffix_of(answers) not in ("", ".yaml", ".yml"):
        raise options.unknown_suffix("--answers", answers, ".yaml")
