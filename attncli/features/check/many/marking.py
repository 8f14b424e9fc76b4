"""Checks many submissions, in this process or in others: each becomes a row, whatever is wrong with
it.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from math import prod
from typing import Any, Literal, NamedTuple

from attncli import system
from attncli.answers.reader import mentions_gradients, read_answers
from attncli.english import as_written, listed
from attncli.errors import AttncliError, input_error, reason, usage_error
from attncli.features.check.diagnosis import Diagnosis, diagnose
from attncli.features.check.many.manifest import Submission
from attncli.features.check.many.time_limit import OutOfTimeError, within
from attncli.features.check.page import check_page
from attncli.features.check.verdicts import Solution, Verdict, judge_solution
from attncli.page.document import Document, Paragraph
from attncli.page.view import chosen_steps, steps_back
from attncli.problem.loader import load, read_problem
from attncli.problem.model import Problem
from attncli.problem.python_values import read_values
from attncli.problem.text.source import Source, read_source
from attncli.render import Style, render

_ALONE = (
    "the submissions were checked one after the other: the system does not let several processes"
    " work together"
)
_ENDED = "the process that checked this ended; perhaps there was not enough memory"


class Settings(NamedTuple):
    """How all submissions are checked, and in which format each student's page is written, if any.

    `seconds` is how long each of them may take.
    """

    lenient: bool = False
    steps: tuple[str, ...] | None = None
    marks: int | None = None
    convention: str | None = None
    outside: bool = False
    seconds: float | None = None
    feedback: str | None = None
    math: Literal["fences", "dollars"] = "fences"


@dataclass(frozen=True, slots=True)
class Marked:
    """What came of one submission: a row of the results.

    `marks` are the cells that earn a mark, of all cells that were asked for; or the share of them,
    of as many marks as were said. They are None where there is an `error`, and `counts` has no
    verdicts. `mistakes` are pairs of a step and what explains its wrong numbers. `page` is the
    feedback, if it was asked for.
    """

    student: str
    problem: str
    answers: str
    marks: float | None = None
    of: int | None = None
    counts: Mapping[Verdict, int] = field(default_factory=dict)
    first_wrong: str = ""
    mistakes: tuple[tuple[str, str], ...] = ()
    passed: bool = False
    error: str = ""
    more: Mapping[str, str] = field(default_factory=dict)
    page: str | None = field(default=None, compare=False)

    @property
    def plain_marks(self) -> float | int | None:
        """The marks, without a decimal point if they are a whole number."""
        return (
            int(self.marks)
            if self.marks is not None and self.marks == int(self.marks)
            else self.marks
        )

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON data."""
        return {
            "student": self.student,
            "problem": self.problem,
            "answers": self.answers,
            "marks": self.plain_marks,
            "of": self.of,
            "counts": dict(self.counts) or None,
            "first_wrong": self.first_wrong or None,
            "mistakes": [{"step": step, "mistake": mistake} for step, mistake in self.mistakes],
            "passed": self.passed,
            "error": self.error or None,
            "more": dict(self.more),
        }


def check_solution(
    problem: Problem, source: Source, *, lenient: bool, gradient: bool = False
) -> tuple[Solution, tuple[Diagnosis, ...]]:
    """The verdicts on the answers in a file, and the mistakes that explain them. Raises what
    `read_answers` raises.

    The backward pass is worked out if the answers mention it, or if `gradient` asks for it.
    """
    gradient = gradient or mentions_gradients(source)
    solution = judge_solution(
        problem, lambda trace: read_answers(source, trace), lenient=lenient, gradient=gradient
    )
    return solution, diagnose(solution.verdicts)


def on_steps(
    solution: Solution,
    diagnoses: Sequence[Diagnosis],
    steps: Sequence[str],
    source: Source,
    option: str = "--steps",
) -> tuple[Solution, tuple[Diagnosis, ...]]:
    """The verdicts on these steps alone, and what explains them; all other numbers still say what
    follows.

    Raises AttncliError (exit 2), in the name of the `option`, for a step that the answers in
    `source` do not have.
    """
    answered = list(solution.verdicts.steps)
    # gradients are worked out only if the answers mention them
    back = [] if mentions_gradients(source) else steps_back(steps)
    names = () if back else chosen_steps(solution.verdicts.trace, steps)
    if lacking := back or [name for name in names if name not in answered]:
        raise usage_error(
            f"{option}: {source.name} has no answers to {listed(lacking)}",
            help=f"it has {listed(answered)}",
        )
    return solution.only(names), tuple(found for found in diagnoses if found.step in names)


def answers_source(answers: object) -> Source:
    """The text of answers: that of a file, or of a dict of steps to arrays or lists."""
    if isinstance(answers, Source):
        return answers
    if isinstance(answers, Mapping):
        import json

        from attncli.problem.text.source import decode

        try:
            text = json.dumps(answers, default=_plain)
        except (TypeError, ValueError, RecursionError) as error:
            help = 'give a dict of steps to arrays or lists: {"weights": [[0.7, 0.3]]}'
            raise input_error(f"the answers cannot be read: {error}", help=help) from None
        return decode(text.encode(), "answers")
    if not isinstance(answers, str | os.PathLike):
        raise usage_error(
            f"answers cannot be {as_written(answers)}",
            help="give a file, or a dict of steps to arrays",
        )
    return read_source(str(answers))


def _plain(value: Any) -> Any:
    """An array as nested lists, a fraction as text, for JSON."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def mark(submission: Submission, settings: Settings) -> Marked:
    """One submission checked. What is wrong with its files is the `error` of the row, and never
    raised.
    """
    # of the manifest, which may name other students
    if submission.error:
        return failed(submission, submission.error, settings, told="ask your teacher why")
    try:
        return within(settings.seconds, lambda: _mark(submission, settings))
    except OutOfTimeError:
        return failed(submission, f"this took more than {settings.seconds:g} s", settings)
    except AttncliError as error:
        where = (
            f"{error.place.file}:{error.place.line}:{error.place.column}: " if error.place else ""
        )
        others = len(error.more) + error.untold
        more = f" ({others:,} more error{'s' * (others > 1)})" if others else ""
        return failed(submission, f"{where}{error}{more}", settings, error.help)
    except MemoryError:
        return failed(submission, "there is not enough memory to check this", settings)
    except Exception as error:
        return failed(
            submission,
            f"a fault of attncli: {type(error).__name__}: {error}".rstrip(": "),
            settings,
        )


def failed(
    submission: Submission, error: str, settings: Settings, help: str = "", told: str = ""
) -> Marked:
    """The row of a submission that could not be checked; `told` is what the student reads in place
    of the error.
    """
    page = None
    if settings.feedback:
        said = Paragraph((f"These answers could not be checked: {told or error}.",), "warning")
        end = "" if help.endswith("?") else "."
        blocks = (said, Paragraph((f"{help[0].upper()}{help[1:]}{end}",))) if help else (said,)
        page = _rendered(Document(submission.student, blocks), settings)
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


def _mark(submission: Submission, settings: Settings) -> Marked:
    problem = _problem(submission.problem, settings)
    solution, diagnoses = check_solution(
        problem,
        answers_source(submission.answers),
        lenient=settings.lenient,
        gradient=settings.steps is not None and bool(steps_back(settings.steps)),
    )
    trace, unanswered = solution.verdicts.trace, 0
    if settings.steps is not None:
        names = chosen_steps(trace, settings.steps)
        unanswered = sum(
            prod(trace.steps[name].shape) for name in names if name not in solution.verdicts.steps
        )
        solution = solution.only(names)
        diagnoses = tuple(found for found in diagnoses if found.step in names)
    first = solution.verdicts.first_wrong
    counts = dict(solution.verdicts.counts)
    counts["missing"] += unanswered
    earned, asked = solution.earned(follow_through=True)
    asked += unanswered
    page = None
    if settings.feedback:
        document = check_page(solution, marks=settings.marks, diagnoses=diagnoses)
        # as the title of a problem is that was made for the student
        named = submission.student in document.title
        title = document.title if named else f"{submission.student}: {document.title}"
        page = _rendered(Document(title, document.blocks), settings)
    return Marked(
        submission.student,
        name_of(submission.problem),
        name_of(submission.answers),
        marks=earned if settings.marks is None else _rounded_share(settings.marks, earned, asked),
        of=asked if settings.marks is None else settings.marks,
        counts=counts,
        first_wrong=(
            f"{first[0]}, {trace.steps[first[0]].cell_label(first[1])}".rstrip(", ")
            if first
            else ""
        ),
        mistakes=tuple(
            (found.step, f"{'' if found.likely else 'perhaps '}{', or '.join(found.mistakes)}")
            for found in diagnoses
        ),
        passed=solution.passed and not unanswered,
        more=submission.more,
        page=page,
    )


def _rounded_share(marks: int, earned: int, asked: int) -> float:
    """The share of the marks, to two decimals, half up: 8.33 of 10 for 5 of 6."""
    return (200 * marks * earned + asked) // (2 * max(asked, 1)) / 100


def _problem(given: object, settings: Settings) -> Problem:
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
        yield number, _found(future, submissions[number], settings)


def _found(future: Future[Marked], submission: Submission, settings: Settings) -> Marked:
    """What came of a submission; one that an executor lost has an `error`."""
    try:
        return future.result()
    except BrokenProcessPool:
        return failed(submission, _ENDED, settings)
    except Exception as error:
        return failed(submission, f"{type(error).__name__}: {error}".rstrip(": "), settings)


class NoProcessesError(Exception):
    """The system does not let several processes work together. The message says why."""


def mark_in_processes(
    submissions: Sequence[Submission], settings: Settings, workers: int, warn: Callable[[str], None]
) -> Iterator[tuple[int, Marked]]:
    """The same in so many processes. If one of them ends, those that it may have been at are
    checked alone.

    Where the system gives no processes, or fewer than these, what is left is done in this one,
    after a warning.
    """
    left = dict(enumerate(submissions))
    try:
        yield from _in_processes(left, settings, workers)
        return
    except NoProcessesError as error:
        why = str(error)
    # Python tells people of semaphores that a pool which could not be used has not given back.
    gc.collect()
    warn(f"{_ALONE} ({why})")
    for number, submission in left.items():
        yield number, mark(submission, settings)


def _in_processes(
    left: dict[int, Submission], settings: Settings, workers: int
) -> Iterator[tuple[int, Marked]]:
    """Each of what is left, which is then no longer in there; NoProcessesError where so many cannot
    be had.
    """
    while left:
        with _processes(min(workers, len(left))) as executor:
            for number, future in _ended(executor, left, settings):
                if not isinstance(future.exception(), BrokenProcessPool):
                    del left[number]
                    yield number, future.result()
        # work is handed out in order, so these are what was being done
        for number in list(left)[:workers]:
            with _processes(1) as alone:
                ((_, future),) = _ended(alone, {number: left[number]}, settings)
                yield number, _found(future, left.pop(number), settings)


def _ended(
    executor: Executor, submissions: Mapping[int, Submission], settings: Settings
) -> Iterator[tuple[int, Future[Marked]]]:
    """Each submission by its number with its future, as soon as that has ended; NoProcessesError as
    above.
    """
    with _lost_thread() as lost:
        futures = _handed_out(executor, submissions, settings)
        for future in islice(as_completed([lost, *futures]), len(futures)):
            if future is lost:
                lost.result()
            yield futures[future], future


@contextmanager
def _lost_thread() -> Iterator[Future[Marked]]:
    """A future that ends with NoProcessesError when a thread of this process gets no thread for its
    work.

    A pool has such threads: one hands out the work, and starts another. Without that, no other
    future would ever end.
    """
    import threading

    lost: Future[Marked] = Future()
    before = threading.excepthook

    def note(fault: threading.ExceptHookArgs) -> None:
        if not isinstance(fault.exc_value, RuntimeError):
            before(fault)
        elif not lost.done():
            lost.set_exception(NoProcessesError(str(fault.exc_value)))

    threading.excepthook = note
    try:
        yield lost
    finally:
        threading.excepthook = before


def _handed_out(
    executor: Executor, submissions: Mapping[int, Submission], settings: Settings
) -> dict[Future[Marked], int]:
    """The number of each submission by what will come of it; without the last ones if a process
    ends meanwhile.

    The first ones start the processes: NoProcessesError where the system gives no process or no
    thread for one.
    """
    futures: dict[Future[Marked], int] = {}
    with _children_ignore_interrupt():
        for number, each in submissions.items():
            try:
                futures[executor.submit(mark, each, settings)] = number
            except BrokenProcessPool as error:
                lost: Future[Marked] = Future()
                lost.set_exception(error)
                futures[lost] = number
                break
            except OSError as error:
                raise NoProcessesError(reason(error)) from None
            except RuntimeError as error:
                # of Python, which has no thread either
                raise NoProcessesError(str(error)) from None
    return futures


@contextmanager
def _processes(workers: int) -> Iterator[Executor]:
    """A pool that is left at once when an exception ends its work; its processes end with this one.

    NoProcessesError where the system has no semaphores for it, as a container without /dev/shm.
    Meanwhile a pipe to a process that ended is an error, and does not end this process too.
    """
    from multiprocessing import active_children

    executor = _pool(workers)
    piped = system.on_closed_pipe(signal.SIG_IGN)
    try:
        yield executor
    except BaseException:
        for process in active_children():
            process.terminate()
        raise
    finally:
        # Python cannot wait for a thread that the system did not give.
        with suppress(RuntimeError):
            executor.shutdown(cancel_futures=True)
        system.on_closed_pipe(piped)


def _pool(workers: int) -> ProcessPoolExecutor:
    """The only place that makes a pool of processes; they are started when work is handed out."""
    from multiprocessing import get_context

    try:
        return ProcessPoolExecutor(
            min(workers, system.MOST_PROCESSES), get_context("spawn"), _begin
        )
    except OSError as error:
        raise NoProcessesError(reason(error)) from None
    except (
        ImportError,
        NotImplementedError,
    ) as error:
        # of a Python that was built without semaphores
        raise NoProcessesError(str(error)) from None


@contextmanager
def _children_ignore_interrupt() -> Iterator[None]:
    """Processes that are started in this context leave Ctrl-C to this one, even before they run any
    code of ours.
    """
    before = system.hold_interrupt()
    try:
        yield
    finally:
        system.hold_only(before)


def _begin() -> None:
    """In a new process: leave Ctrl-C to the parent, and end when that ends."""
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Where there is no thread to be had, the parent ends it, unless that is killed.
    with suppress(RuntimeError):
        Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    if parent := parent_process():
        wait([parent.sentinel])
        os._exit(1)
