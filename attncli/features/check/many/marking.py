"""Checks submissions one by one: each becomes a row, whatever is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from itertools import chain
from math import prod

from attncli.cli.classes.feedback import called
from attncli.cli.classes.processes import ClassWork, done_in_processes
from attncli.cli.classes.summary import rounded_share
from attncli.english import as_written, count
from attncli.errors import AttncliError, usage_error
from attncli.features.check.cut_digits import CUT_OFF, cut_off
from attncli.features.check.diagnosis import Diagnosis, each_alone
from attncli.features.check.diagnosis_page import with_labels
from attncli.features.check.many.copies import written_numbers
from attncli.features.check.many.examples import by_step, examples_of
from attncli.features.check.many.manifest import Submission
from attncli.features.check.many.result_row import SLIP, Marked, Settings
from attncli.features.check.many.time_limit import OutOfTimeError, within
from attncli.features.check.many.told import ASK, BY_TEACHER, Told, told_of
from attncli.features.check.marks.model import LossReason, Marks, WrongCell
from attncli.features.check.marks.page import reasons, rounded_marks
from attncli.features.check.marks.solution import is_slip
from attncli.features.check.one_solution import (
    answers_source,
    check_solution,
    marked,
    of_steps,
)
from attncli.features.check.page import check_page, checked
from attncli.features.check.verdicts import Solution
from attncli.page.document import Document
from attncli.page.view import chosen_steps, steps_back
from attncli.problem.loader import load, read_problem
from attncli.problem.model import Problem
from attncli.problem.python_values import read_values
from attncli.problem.text.source import Source
from attncli.render import Style, render

_ENDED = "the process that checked this ended; perhaps there was not enough memory"


def mark_all(
    submissions: Sequence[Submission], settings: Settings, executor: Executor | None = None
) -> Iterator[tuple[int, Marked]]:
    """Each submission by its number with what came of it, as soon as it is there.

    Without an executor, one after the other in this process. If an executor loses one, that is its
    `error`.
    """
    if executor is None:
        for number, submission in enumerate(submissions):
            yield number, mark(submission, settings)
        return
    futures = {
        executor.submit(mark, each, settings): number for number, each in enumerate(submissions)
    }
    for future in as_completed(futures):
        number = futures[future]
        yield number, result_of(future, submissions[number], settings)


def mark_in_processes(
    submissions: Sequence[Submission], settings: Settings, workers: int, warn: Callable[[str], None]
) -> Iterator[tuple[int, Marked]]:
    """The same in so many processes."""
    work = ClassWork(
        partial(mark, settings=settings),
        partial(result_of, settings=settings),
        "the submissions were checked",
    )
    return done_in_processes(submissions, work, workers, warn)


def mark(submission: Submission, settings: Settings) -> Marked:
    """One submission checked. What is wrong with its files is the `error` of the row, and never
    raised.
    """
    if submission.error:
        # The error is in the manifest, and may name other students.
        return failed(submission, submission.error, settings, Told(f"{ASK} why"))
    try:
        return within(settings.seconds, lambda: _mark(submission, settings))
    except OutOfTimeError:
        return failed(submission, f"this took more than {settings.seconds:g} s", settings)
    except AttncliError as error:
        told = told_of(error, name_of(submission.answers))
        return failed(submission, _in_one_line(error), settings, told)
    except MemoryError:
        return failed(submission, "there is not enough memory to check this", settings)
    except Exception as error:
        fault = f"a fault of attncli: {_named_error(error)}"
        return failed(submission, fault, settings, BY_TEACHER)


def _in_one_line(error: AttncliError) -> str:
    """ada.yaml:2:5: scores[0][1]: "x" is no number (2 more errors)."""
    where = ""
    if error.place:
        where = f"{error.place.file}:{error.place.line}:{error.place.column}: "
    others = len(error.more) + error.untold
    more = f" ({count(others, 'more error')})" if others else ""
    return f"{where}{error}{more}"


def _named_error(error: Exception) -> str:
    """ValueError: what it says; or only ValueError, if it says nothing."""
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _mark(submission: Submission, settings: Settings) -> Marked:
    problem = problem_of(submission.problem, settings)
    scheme = settings.scheme
    asked = tuple(scheme.steps) if scheme is not None else settings.steps or ()
    solution, diagnoses = check_solution(
        problem,
        answers_source(submission.answers),
        lenient=settings.lenient,
        gradient=bool(steps_back(asked)),
        decimals=settings.decimals,
        for_marks=scheme is not None,
    )
    # What is alike in two solutions shows in all steps.
    written = written_numbers(solution, diagnoses)
    unanswered = 0
    earned = None
    names: Sequence[str] = ()
    if scheme is not None:
        solution, diagnoses, earned = marked(solution, diagnoses, scheme)
        unanswered = _cells_unanswered(solution, asked)
    elif settings.steps is not None:
        names = chosen_steps(solution.verdicts.trace, settings.steps)
        unanswered = _cells_unanswered(solution, names)
        solution = solution.only(names)
        diagnoses = of_steps(diagnoses, [*names, *solution.wrong_outside])
    page = None
    if settings.feedback:
        page = _page(submission, solution, diagnoses, settings, earned, names)
    # Of a class it is enough to know that somebody made a slip; each mistake is taught by itself.
    told = [each for each in diagnoses if not each.of_unwritten]
    diagnoses = tuple(chain.from_iterable(map(each_alone, told)))
    row = _row(submission, settings, solution, diagnoses, unanswered, page)
    if earned is not None:
        row = replace(
            row,
            marks=rounded_marks(earned.points),
            of=earned.of,
            mistakes=(*row.mistakes, *_slips(earned, diagnoses)),
            taken_off=tuple(_taken_off(solution, earned)),
            losses=tuple(_losses(earned)),
        )
    return replace(
        row,
        written=written,
        other_shapes=tuple(each.in_words for each in solution.verdicts.answers.other_shapes),
        examples=examples_of(solution, diagnoses),
        named_slips=tuple(map(is_slip, diagnoses)),
        by_step=by_step(solution, asked or ()),
    )


def _cells_unanswered(solution: Solution, names: Sequence[str]) -> int:
    """How many cells the steps have that were asked for and are not in the answers at all."""
    trace, answered = solution.verdicts.trace, solution.verdicts.steps
    return sum(prod(trace.steps[name].shape) for name in names if name not in answered)


def _page(
    submission: Submission,
    solution: Solution,
    diagnoses: Sequence[Diagnosis],
    settings: Settings,
    earned: Marks | None,
    asked: Sequence[str],
) -> str:
    """The page of feedback, with the student in its title."""
    student = _called(submission, settings)
    document = check_page(
        solution,
        marks=settings.marks,
        diagnoses=diagnoses,
        earned=earned,
        asked=asked,
    )
    title = solution.verdicts.trace.title.replace(submission.student, student)
    # The title of a problem that was made for this student has the name already.
    if student not in title:
        title = f"{title} – {student}" if title else student
    return _rendered(Document(checked(title), document.blocks), settings)


def _called(submission: Submission, settings: Settings) -> str:
    return called(submission.student, submission.number, settings.feedback)


def _row(
    submission: Submission,
    settings: Settings,
    solution: Solution,
    diagnoses: Sequence[Diagnosis],
    unanswered: int,
    page: str | None,
) -> Marked:
    earned, asked = solution.earned(follow_through=True)
    asked += unanswered
    counts = dict(solution.verdicts.counts)
    counts["missing"] += unanswered
    marks, of = float(earned), asked
    if settings.marks is not None:
        marks, of = rounded_share(settings.marks, earned, asked), settings.marks
    return Marked(
        submission.student,
        name_of(submission.problem),
        name_of(submission.answers),
        marks=marks,
        of=of,
        counts=counts,
        first_wrong=_first_wrong(solution),
        mistakes=_mistakes(solution, diagnoses),
        passed=solution.passed and not unanswered,
        more=submission.more,
        page=page,
    )


def _mistakes(solution: Solution, diagnoses: Sequence[Diagnosis]) -> tuple[tuple[str, str], ...]:
    """What explains the numbers that are not right, each with its step."""
    found = [(each.step, _mistakes_text(solution, each)) for each in diagnoses]
    cut = cut_off(solution, diagnoses)
    if cut is not None:
        steps = dict.fromkeys(step for step, _ in cut)
        found += [(step, CUT_OFF) for step in steps]
    return tuple(found)


def _slips(earned: Marks, diagnoses: Sequence[Diagnosis]) -> Iterator[tuple[str, str]]:
    """The steps with numbers that are wrong by themselves, as mistakes have theirs; also those that
    follow from a number which is not written.
    """
    diagnosed = set[WrongCell]()
    for found in diagnoses:
        diagnosed.update((found.step, cell) for cell in found.cells)
    for each in earned.slips:
        if not each.said or diagnosed.isdisjoint(each.cells):
            yield each.cells[0][0], SLIP


def _taken_off(solution: Solution, earned: Marks) -> Iterator[tuple[float, str]]:
    """The marks that are lost, and why."""
    for marks, why in reasons(solution.verdicts, earned):
        yield rounded_marks(marks), why


def _losses(earned: Marks) -> Iterator[tuple[str, LossReason]]:
    """What has no marks, each with its step; nothing of a sheet that is blank."""
    if earned.points:
        for each in earned.lost:
            yield each.step, each.reason


def _first_wrong(solution: Solution) -> str:
    """scores, I → AI; nothing if no number is wrong."""
    first = solution.verdicts.first_wrong
    if first is None:
        return ""
    name, index = first
    label = solution.verdicts.trace.steps[name].cell_label(index)
    return f"{name}, {label}" if label else name


def _mistakes_text(solution: Solution, found: Diagnosis) -> str:
    judgement = solution.of_all
    said = ", or ".join(with_labels(judgement, mistake) for mistake in found.mistakes)
    return said if found.likely else f"perhaps {said}"


def failed(
    submission: Submission, error: str, settings: Settings, told: Told | None = None
) -> Marked:
    """The row of a submission that could not be checked; the student reads what is `told`, or else
    the error.
    """
    told = told or Told(error)
    page = None
    if settings.feedback:
        blocks = tuple(told.blocks())
        page = _rendered(Document(_called(submission, settings), blocks), settings)
    return Marked(
        submission.student,
        name_of(submission.problem),
        name_of(submission.answers),
        error=error,
        more=submission.more,
        page=page,
    )


def name_of(given: object) -> str:
    """How a row calls a file: by its path."""
    if isinstance(given, Source):
        return given.name
    return str(given) if isinstance(given, str | os.PathLike) else ""


def result_of(future: Future[Marked], submission: Submission, settings: Settings) -> Marked:
    """What came of a submission; one that an executor lost has an `error`."""
    try:
        return future.result()
    except BrokenProcessPool:
        return failed(submission, _ENDED, settings)
    except Exception as error:
        return failed(submission, _named_error(error), settings)


def problem_of(given: object, settings: Settings) -> Problem:
    """A problem that is given as such, as a file, a text or a dict. AttncliError where it cannot be
    read.
    """
    if isinstance(given, Problem):
        return given
    if isinstance(given, Source):
        return read_problem(given, convention=settings.convention)
    if isinstance(given, Mapping):
        return read_values(given, convention=settings.convention, outside=settings.outside)
    if not isinstance(given, str | os.PathLike):
        raise usage_error(
            f"a problem cannot be {as_written(given)}", help="give a Problem, a file or a dict"
        )
    return load(str(given), convention=settings.convention, outside=settings.outside)


def _rendered(document: Document, settings: Settings) -> str:
    return render(document, settings.feedback or "markdown", Style(math=settings.math))
