"""`attncli check`: one solution worked by hand, judged cell by cell, or many, with a row for
each.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from attncli.cli import class_options, options
from attncli.cli.class_options import (
    POSSIBLE_MARKS,
    FeedbackFolder,
    FeedbackFormat,
    format_of_pages,
    require_folder_of_feedback,
)
from attncli.cli.error_report import warn_of
from attncli.cli.files import require_writable
from attncli.cli.groups import grouped
from attncli.cli.look import Look, conflicts_with_format, look_options
from attncli.cli.options import Conflict, reject_conflicts
from attncli.cli.overrides import Overrides, ReadingOverrides
from attncli.cli.pages import require_workbook, write_page
from attncli.cli.progress import progress
from attncli.dtypes import PRECISION
from attncli.english import listed
from attncli.errors import Exit, usage_error
from attncli.render import OF_ONE_STEP, WORKBOOK
from attncli.system import files_named

if TYPE_CHECKING:
    from attncli.features.check.many.result_row import Marked, Settings
    from attncli.marking.scheme import Scheme

# What generate writes into its set, beside the manifest.
MARKING = "marking.yaml"
SAID_BY_MARKING = "the marking says what is marked"
POSSIBLE_TIME_LIMITS = range(1, 10**6)
# The step, what it means, and its formula.
POSSIBLE_HINTS = range(1, 4)
# In seconds, for one solution of a class.
USUAL_TIME_LIMIT = 600
# A table of these has a row for each solution, even if there is only one.
DATA_FORMATS = (*OF_ONE_STEP, *WORKBOOK)

# Where there are pages of feedback, --math is theirs, whatever the format of the results.
CheckLook: TypeAlias = Annotated[
    Look,
    look_options(
        "color",
        "ascii",
        "math",
        "fragment",
        "no_title",
        "heading_level",
        option=options.TraceFormat,
        data=DATA_FORMATS,
        checked_later=("--math",),
    ),
]


@grouped
def check(
    *,
    file: Annotated[
        str | None,
        typer.Argument(metavar="PROBLEM", help="The problem in YAML or JSON; - is standard input."),
    ] = None,
    answers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ANSWERS…",
            help=(
                "The solution: some or all steps in YAML or JSON, or a filled-in worksheet; - is"
                " standard input. "
                "Several solutions make a table with a row for each."
            ),
        ),
    ] = None,
    look: CheckLook,
    steps: Annotated[
        Sequence[str] | None,
        options.read_by(
            options.names,
            "--steps",
            metavar="NAME,…",
            help="Judge these steps only. The numbers of the other steps are still used.",
        ),
    ] = None,
    marking: Annotated[
        str | None,
        typer.Option(
            "--marking",
            metavar="FILE",
            help=(
                "Give marks by this scheme: the marks of each step, and what mistakes cost."
                "  [default with --batch: marking.yaml beside the manifest]"
            ),
        ),
    ] = None,
    decimals: Annotated[
        int | None,
        options.read_by(
            options.whole,
            "--decimals",
            metavar="N",
            help="So many decimals were asked for: 0 for 0.07 is not right with 2.",
            allowed=PRECISION,
        ),
    ] = None,
    marks: Annotated[
        int | None,
        options.read_by(
            options.whole,
            "--marks",
            metavar="N",
            help="Say how many of N marks the solution earns.",
            allowed=POSSIBLE_MARKS,
        ),
    ] = None,
    lenient: Annotated[
        bool,
        typer.Option(
            "--lenient", help="Accept numbers that differ by at most one unit in the last digit."
        ),
    ] = False,
    hint: Annotated[
        int | None,
        options.read_by(
            options.whole,
            "--hint",
            metavar="N",
            help=(
                "Say only what comes next, in an unfinished solution. 2 also says what the step"
                " means, and 3 its formula."
            ),
            allowed=POSSIBLE_HINTS,
        ),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch",
            metavar="FILE",
            help="Check a class: a CSV file with the columns student, problem and answers.",
        ),
    ] = None,
    directory: Annotated[
        str | None,
        typer.Option(
            "-d",
            "--directory",
            metavar="FOLDER",
            help="The folder of the answers that --batch names.",
        ),
    ] = None,
    feedback: FeedbackFolder = None,
    feedback_format: FeedbackFormat = None,
    workers: Annotated[int | None, class_options.workers("Check a class")] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Check a class on a cluster: the address of Dask's scheduler.",
        ),
    ] = None,
    time_limit: Annotated[
        int | None,
        options.read_by(
            options.whole,
            "--time-limit",
            metavar="SECONDS",
            help="In a class, give up on a solution after this time.  "
            f"[default: {USUAL_TIME_LIMIT}]",
            allowed=POSSIBLE_TIME_LIMITS,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Check only what is not in the results of -o yet, and add it to them."
        ),
    ] = False,
    overrides: ReadingOverrides,
    quiet: options.Quiet = False,
) -> int:
    """Check a solution worked out by hand: find the first wrong number, and check all others.

    The digits that are written say how precise a number is. Each number gets one verdict. right: it
    is the true value at that precision. carried: it follows from the solution's own earlier
    numbers. rounding: it differs by at most one unit in the last digit. wrong: the error was made
    here. missing: the cell is blank. The exit code is 0 if all numbers are right or carried, else
    1. With --lenient, rounding counts as right. Steps that are not in the answers do not count.

    Several solutions, or a class with --batch, make a table with a row for each student, and a
    summary of the mistakes. There, a step that --steps names counts as missing if it is not in the
    answers.

    Examples:
      attncli check homework.yaml answers.yaml
      attncli check homework.yaml answers.md --lenient --marks 20
      attncli check homework.yaml answers.yaml --marking marking.yaml
      attncli check --batch set/manifest.csv --feedback feedback
    """
    paths = files_named(answers or [])
    _require_what_is_checked(file, paths, batch, directory)
    math_of_page = {"--math": look.math is not None and feedback is None}
    reject_conflicts(
        *conflicts_with_format(look.format, math_of_page),
        Conflict(
            hint is not None and marks is not None,
            "--marks",
            "--hint",
            "a hint judges no number",
        ),
        Conflict(
            hint is not None and marking is not None,
            "--marking",
            "--hint",
            "a hint judges no number",
        ),
        *(
            Conflict(
                marking is not None and value is not None, option, "--marking", SAID_BY_MARKING
            )
            for option, value in (("--marks", marks), ("--steps", steps))
        ),
        Conflict(
            scheduler is not None and workers is not None,
            "--scheduler",
            "--workers",
            "the cluster has its own workers",
        ),
    )
    require_folder_of_feedback(feedback, feedback_format)
    _require_two_places(look.output, feedback)
    several = batch is not None or len(paths) > 1
    has_a_row_each = several or look.format in DATA_FORMATS or feedback is not None or resume
    if not has_a_row_each and scheduler is None and time_limit is None:
        assert file is not None
        return _check_solution(
            file,
            paths[0],
            look,
            overrides,
            steps=steps,
            marks=marks,
            lenient=lenient,
            hint=hint,
            marking=marking,
            decimals=decimals,
            quiet=quiet,
        )
    if hint is not None:
        raise usage_error("--hint is for one solution", help="leave out --hint, or name one file")

    from attncli.features.check.many.result_row import Settings
    from attncli.features.check.one_solution import decimals_asked

    marking = marking or _beside(batch, marks=marks, steps=steps, quiet=quiet)
    scheme = _scheme(marking, quiet=quiet)
    settings = Settings(
        lenient=lenient,
        steps=None if steps is None else tuple(steps),
        marks=marks,
        convention=overrides.as_,
        outside=overrides.allow_outside,
        seconds=time_limit or USUAL_TIME_LIMIT,
        feedback=format_of_pages(feedback, feedback_format),
        math="dollars" if look.math == "dollars" else "fences",
        scheme=scheme,
        decimals=decimals_asked(decimals, scheme),
    )
    return _check_class(
        file,
        paths,
        look,
        settings,
        marking=marking,
        batch=batch,
        directory=directory,
        feedback=feedback,
        feedback_format=feedback_format,
        workers=workers,
        scheduler=scheduler,
        resume=resume,
        quiet=quiet,
    )


def _check_solution(
    file: str,
    answers: str,
    look: Look,
    overrides: Overrides,
    *,
    steps: Sequence[str] | None,
    marks: int | None,
    lenient: bool,
    hint: int | None,
    marking: str | None,
    decimals: int | None,
    quiet: bool,
) -> int:
    """One solution: a page with every number that is not right, and what explains it; or only a
    hint.
    """
    if file == answers == "-":
        raise usage_error(
            "standard input cannot be both files", help="name a file for one of the two"
        )
    require_writable(look.output, file)
    require_writable(look.output, answers, what="the answers")

    from attncli.cli.input import load
    from attncli.problem.text.source import read_source

    problem = load(file, overrides)
    written = read_source(answers)

    from attncli.features.check import one_solution
    from attncli.features.check.hint import hint_page
    from attncli.features.check.marks.other_shapes import brings_no_marks
    from attncli.features.check.page import check_page

    scheme = _scheme(marking, quiet=quiet)
    progress.begin("checking")
    solution, diagnoses = one_solution.check_solution(
        problem,
        written,
        lenient=lenient,
        gradient=scheme is not None and scheme.marks_gradients,
        decimals=one_solution.decimals_asked(decimals, scheme),
        for_marks=scheme is not None,
    )
    others = solution.verdicts.answers.other_shapes
    warnings = [*solution.verdicts.trace.warnings, *map(brings_no_marks, others)]
    earned = None
    if scheme is not None:
        solution, diagnoses, earned = one_solution.marked(solution, diagnoses, scheme)
    elif steps is not None:
        solution, diagnoses = one_solution.on_steps(solution, diagnoses, steps, written)
    if hint is None:
        page = check_page(solution, marks=marks, diagnoses=diagnoses, earned=earned)
    else:
        page = hint_page(solution, hint)
    write_page(page, look)
    warn_of(warnings, quiet=quiet)
    unfinished = earned is not None and earned.is_unfinished
    return Exit.OK if solution.passed and not unfinished else Exit.DIFFERENCE


def _scheme(marking: str | None, *, quiet: bool) -> "Scheme | None":
    """The scheme of marks in a file, if one is named, with a warning of what is hardly meant."""
    if marking is None:
        return None
    from attncli.features.check.one_solution import scheme_of

    scheme = scheme_of(marking)
    warn_of([f"{marking}: {each}" for each in scheme.warnings], quiet=quiet)
    return scheme


def _beside(
    batch: str | None,
    *,
    marks: int | None,
    steps: Sequence[str] | None,
    quiet: bool,
) -> str | None:
    """The file of marks that stands beside a manifest. The options of the command line come
    first, and a warning says so.
    """
    if batch is None or batch == "-":
        return None
    beside = os.path.join(os.path.dirname(batch), MARKING)
    if not os.path.isfile(beside):
        return None
    options_of_marks = {"--marks": marks, "--steps": steps}
    given = [option for option, value in options_of_marks.items() if value is not None]
    if given:
        warn_of([f"{beside} is not used, because of {listed(given)}"], quiet=quiet)
        return None
    return beside


def _check_class(
    file: str | None,
    paths: Sequence[str],
    look: Look,
    settings: "Settings",
    *,
    marking: str | None,
    batch: str | None,
    directory: str | None,
    feedback: str | None,
    feedback_format: str | None,
    workers: int | None,
    scheduler: str | None,
    resume: bool,
    quiet: bool,
) -> int:
    """A row for each solution, and a page for each student if `feedback` names a folder."""
    from attncli.attention.registry import RULES
    from attncli.cli.classes.feedback import Feedback
    from attncli.cli.files import new_folders
    from attncli.cli.signals import CleanupBeforeExit, Terminated
    from attncli.features.check.many.class_check import (
        Marking,
        class_of,
        earlier_results,
        kept_beside,
        write_results,
    )
    from attncli.features.check.many.manifest import strays_among
    from attncli.features.check.many.steps_of_class import require_steps_of_class
    from attncli.page.view import chosen_names

    require_workbook(look, "results")
    earlier: Sequence[Marked] = ()
    if resume:
        of = settings.marks if settings.scheme is None else settings.scheme.marks
        earlier = earlier_results(look, lenient=settings.lenient, marks=of, marking=marking)
    students = class_of(
        file, paths, batch=batch, folder=directory, output=look.output, outside=settings.outside
    )
    if settings.steps is not None:
        # This refuses a step that no problem has.
        chosen_names(settings.steps, tuple(RULES))
    require_steps_of_class(students, settings)
    strays = [] if batch is None else strays_among(students, batch, look.output)
    work = Marking(students, earlier, strays)
    pages = kept = None
    with CleanupBeforeExit(), new_folders() as make_folder:
        try:
            if feedback is not None:
                names = [each.student for each in students]
                pages = Feedback(feedback, names, feedback_format or "markdown", make_folder)
            kept = kept_beside(look, goes_on=resume)
            try:
                work.run(settings, workers or os.cpu_count() or 1, pages, scheduler, kept)
            except Exception:
                # A page of feedback cannot be made, say: what is done is written all the same.
                if work.marked:
                    write_results(work, look, kept)
                raise
            write_results(work, look, kept)
        except (KeyboardInterrupt, Terminated):
            warn_of([work.end_early(look, kept)], quiet=quiet)
            raise
    warn_of(work.warnings, quiet=quiet)
    if pages is not None:
        warn_of(pages.warnings, quiet=quiet)
    return Exit.OK if work.passed else Exit.DIFFERENCE


def _require_two_places(output: str | None, feedback: str | None) -> None:
    """Raises AttncliError (exit 2) where the results and the folder of pages have one name."""
    if output is None or feedback is None:
        return
    if os.path.realpath(output) == os.path.realpath(feedback):
        said = f"-o and --feedback both name {output}"
        raise usage_error(said, help="name a folder after --feedback")


def _require_what_is_checked(
    file: str | None, paths: Sequence[str], batch: str | None, directory: str | None
) -> None:
    """Raises AttncliError (exit 2) unless there is either a manifest, or a problem with answers."""
    if batch is not None:
        if file is not None:
            raise usage_error(
                f"--batch cannot be used with {file}",
                help="the manifest names the problems and the answers",
            )
        return
    if file is None or not paths:
        missing = "PROBLEM" if file is None else "ANSWERS"
        raise usage_error(f"{missing} is missing", help="see attncli check --help")
    if directory is not None:
        raise usage_error(
            "-d cannot be used without --batch", help="write the answers after the problem"
        )
