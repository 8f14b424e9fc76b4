"""Tests functions one by one: each becomes a row, whatever is wrong with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial

from attncli.cli.classes.feedback import called
from attncli.cli.classes.processes import ClassWork, done_in_processes
from attncli.errors import AttncliError
from attncli.features.test.many.manifest import StudentFunction
from attncli.features.test.many.result_row import ENDS, Tested, TestSettings
from attncli.features.test.points import asked_cases, earned, mistakes_of
from attncli.page.document import Document, Paragraph
from attncli.render import Style, render
from attncli.testing.asking import CaseResult
from attncli.testing.meant import meant_by
from attncli.testing.page import trial_page
from attncli.testing.required import requiring
from attncli.testing.running.process import Limits
from attncli.testing.trial import Trial, try_function

_ENDED = "the process that tested this ended; perhaps there was not enough memory"
ASK_THE_TEACHER = "ask your teacher why"


def try_all(
    submissions: Sequence[StudentFunction],
    settings: TestSettings,
    workers: int,
    warn: Callable[[str], None],
) -> Generator[tuple[int, Tested], None, None]:
    """Each function by its number with what came of it, as soon as it is there; in so many
    processes, if there is more than one.
    """
    if workers == 1 or len(submissions) == 1:
        for number, each in enumerate(submissions):
            yield number, try_one(each, settings)
        return
    work = ClassWork(
        partial(try_one, settings=settings),
        partial(_result_of, settings=settings),
        "the functions were tested",
    )
    yield from done_in_processes(submissions, work, workers, warn)


def try_one(submission: StudentFunction, settings: TestSettings) -> Tested:
    """One function tested. What is wrong with its file is the `error` of the row, and never
    raised.
    """
    if submission.error:
        # The error is in the manifest, and may name other students.
        return _untested(submission, submission.error, settings, told=ASK_THE_TEACHER)
    try:
        trial = try_function(
            submission.function,
            expression=settings.expression,
            meant=meant_by(settings.convention),
            weights=settings.weights,
            limits=Limits(seconds=settings.seconds),
            gradient=settings.gradient,
        )
        return _row(submission, requiring(trial, settings.required), settings)
    except AttncliError as error:
        return _untested(submission, error.message, settings)
    except MemoryError:
        return _untested(submission, "there is not enough memory to test this", settings)
    except Exception as error:
        named = f"{type(error).__name__}: {error}".rstrip(": ")
        return _untested(submission, f"a fault of attncli: {named}", settings)


def _row(submission: StudentFunction, trial: Trial, settings: TestSettings) -> Tested:
    asked = asked_cases(trial)
    found = earned(trial, settings.scheme)
    page = None
    if settings.feedback:
        shown = replace(trial, name=submission.shown)
        page = _feedback(submission, trial_page(shown, settings.precision), settings)
    return Tested(
        submission.student,
        submission.function,
        marks=found.marks,
        of=found.of,
        counts=_counts(asked),
        first_wrong=_first_wrong(asked),
        first_error=_first_error(asked),
        mistakes=mistakes_of(trial),
        remarks=trial.remarks,
        passed=trial.agrees,
        more=submission.more,
        page=page,
    )


def _counts(asked: Sequence[CaseResult]) -> dict[str, int]:
    """How many cases have each end."""
    ended = Counter("failed" if each.result == "error" else each.result for each in asked)
    return {end: ended[end] for end in ENDS}


def _first_wrong(asked: Sequence[CaseResult]) -> str:
    """The name of the first case that differs or fails."""
    wrong = (each.case.name for each in asked if each.result != "same")
    return next(wrong, "")


def _first_error(asked: Sequence[CaseResult]) -> str:
    """a mask of truth values: ValueError: operands could not be broadcast together."""
    failed = (f"{each.case.name}: {each.error}" for each in asked if each.result == "error")
    return next(failed, "")


def _untested(
    submission: StudentFunction, error: str, settings: TestSettings, told: str = ""
) -> Tested:
    """The row of a function that could not be tested; `told` is what the student reads in place of
    the error.
    """
    page = None
    if settings.feedback:
        said = Paragraph((f"This function could not be tested: {told or error}.",), "warning")
        page = _feedback(submission, Document(submission.shown, (said,)), settings)
    return Tested(
        submission.student,
        submission.function,
        error=error,
        more=submission.more,
        page=page,
    )


def _feedback(submission: StudentFunction, page: Document, settings: TestSettings) -> str:
    """The page of a student, with the name in its title."""
    student = called(submission.student, submission.number, settings.feedback)
    titled = Document(f"{student}: {page.title}", page.blocks)
    return render(titled, settings.feedback or "markdown", Style())


def _result_of(
    future: Future[Tested], submission: StudentFunction, settings: TestSettings
) -> Tested:
    """What came of a function; one whose process has ended has an `error`."""
    try:
        return future.result()
    except BrokenProcessPool:
        return _untested(submission, _ENDED, settings)
