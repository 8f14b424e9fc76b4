"""`attncli export`: problems as questions for a learning platform, with an answer to every known
mistake.
"""

from collections.abc import Sequence
from typing import Annotated

import typer

from attncli.cli import options
from attncli.cli.error_report import warn_of
from attncli.cli.files import require_writable, write, write_files
from attncli.cli.groups import grouped
from attncli.cli.overrides import AllOverrides
from attncli.cli.progress import progress
from attncli.english import listed
from attncli.errors import usage_error
from attncli.render import SECTION
from attncli.system import files_named

SUFFIX_OF_PLATFORM = {"moodle": ".xml", "rexams": ".rmd", "canvas": ".txt"}
POSSIBLE_DECIMALS = range(1, 7)
USUAL_DECIMALS = 3
# text2qti writes the bounds of an answer with one decimal more, and reads four.
MOST_DECIMALS_IN_CANVAS = 3


@grouped
def export(
    *,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE…", help="The problems in YAML or JSON; - is standard input."),
    ],
    to: Annotated[
        str | None,
        options.choice(
            "--to",
            SUFFIX_OF_PLATFORM,
            "The platform, or what makes files for it.  [default: from the name after -o]",
        ),
    ] = None,
    output: options.Output = None,
    ask: Annotated[
        Sequence[str] | None,
        options.read_by(
            options.names,
            "--ask",
            metavar="NAME,…",
            help="Ask for the numbers of these steps.  [default: weights,output]",
        ),
    ] = None,
    precision: Annotated[
        int | None,
        options.read_by(
            options.whole,
            "--precision",
            metavar="N",
            help="Decimals that are asked for, 1 to 6.  [default: those of the set that a problem"
            f" is from; else {USUAL_DECIMALS}]",
            allowed=POSSIBLE_DECIMALS,
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        options.read_by(
            options.number,
            "--tolerance",
            metavar="T",
            help="How far off a right number may be.  [default: 1.5 units of the last decimal]",
            example="0.01",
            zero=False,
        ),
    ] = None,
    category: Annotated[
        str,
        typer.Option(
            "--category",
            metavar="NAME",
            help="The category of the question bank, or title of the quiz.",
        ),
    ] = "Attention",
    no_formulas: Annotated[
        bool, typer.Option("--no-formulas", help="Leave out the formulas of the steps.")
    ] = False,
    overrides: AllOverrides,
    quiet: options.Quiet = False,
) -> None:
    """Write problems as questions for Moodle, Canvas or R/exams.

    Students type the numbers. Who made a known mistake is told which one it was. -o quiz.xml is for
    Moodle, problem.Rmd for R/exams, and quiz.txt for Canvas.

    Examples:
      attncli export homework.yaml -o quiz.xml
      attncli export set/problems/*.yaml -o quiz.txt --ask weights,output
    """
    files = files_named(files)
    to = to or _platform(output)
    _check(files, to, output, category)
    _require_possible(to, precision or USUAL_DECIMALS)

    for file in files:
        require_writable(output, file)

    from attncli.cli.input import load

    problems = [load(file, overrides) for file in files]

    from decimal import Decimal
    from importlib import import_module

    from attncli.features.export.question import UNITS_OFF, Asking, question
    from attncli.features.export.sets import decimals_of_set

    def asking(file: str) -> Asking:
        decimals = precision or decimals_of_set(file) or USUAL_DECIMALS
        _require_possible(to, decimals)
        allowed = UNITS_OFF.scaleb(-decimals) if tolerance is None else Decimal(repr(tolerance))
        return Asking(ask or (), decimals, allowed, formulas=not no_formulas)

    progress.begin("working out")
    each = progress.over(zip(files, problems, strict=True), len(files))
    questions = [question(problem, asking(file), file) for file, problem in each]
    stream = import_module(f"attncli.features.export.{to}").stream
    if output and SECTION in output:
        width = len(str(len(files)))
        write_files(
            (output.replace(SECTION, f"{number:0{width}}"), stream([one], category))
            for number, one in enumerate(questions, 1)
        )
    else:
        write(stream(questions, category), output, portable=True)
    for file, one in zip(files, questions, strict=True):
        which = f"{file}: " if len(files) > 1 else ""
        warn_of([f"{which}{message}" for message in one.warnings], quiet=quiet)


def _platform(output: str | None) -> str:
    """The platform that the name of the output says; AttncliError (exit 2) where it says none."""
    suffix = options.suffix_of(output)
    found = next((name for name, own in SUFFIX_OF_PLATFORM.items() if own == suffix), None)
    if found is None:
        if suffix:
            raise options.unknown_suffix(
                "-o", output or "", ".xml, .Rmd or .txt, or choose a platform with --to"
            )
        raise usage_error(
            "--to is missing",
            help=f"choose a platform: --to {listed(tuple(SUFFIX_OF_PLATFORM), last='or')}",
        )
    return found


def _check(files: Sequence[str], to: str, output: str | None, category: str) -> None:
    """Refuse what the platform cannot have, before any work is done."""
    if files.count("-") > 1:
        raise usage_error(
            "standard input cannot be several files", help="name a file for each problem"
        )
    if to == "rexams" and len(files) > 1 and SECTION not in (output or ""):
        help = f"let -o name a file for each problem: -o problem-{SECTION}.Rmd"
        raise usage_error("R/exams has one problem in a file", help=help)
    if not category.strip():
        raise usage_error("--category is empty", help="name the category, or leave the option out")


def _require_possible(to: str, decimals: int) -> None:
    """AttncliError (exit 2) for more decimals than the platform compares."""
    if to == "canvas" and decimals > MOST_DECIMALS_IN_CANVAS:
        allowed = f"give --precision {MOST_DECIMALS_IN_CANVAS} or less"
        help = f"Canvas compares at most 4 decimals: {allowed}"
        raise usage_error(f"--precision {decimals} cannot be used with --to canvas", help=help)
