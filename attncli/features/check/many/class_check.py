"""Many solutions in one go: what is to be checked, by whom, and where the results go."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from attncli.cli.files import is_file, is_same_file, require_writable, write, write_bytes
from attncli.cli.input import limit_threads
from attncli.cli.options import holds_numbers
from attncli.cli.pages import write_page
from attncli.cli.progress import progress
from attncli.english import count, listed
from attncli.errors import AttncliError, file_error, missing_error, reason, unwritable, usage_error
from attncli.escaping import visible
from attncli.features.check.many.class_page import class_page
from attncli.features.check.many.kept_rows import KeptRows, began_anew, kept_rows
from attncli.features.check.many.manifest import (
    Submission,
    read_manifest,
    students_of,
    without_doubles,
)
from attncli.features.check.many.marking import (
    Marked,
    Settings,
    mark_all,
    mark_in_processes,
    name_of,
)
from attncli.features.check.many.results import read_results
from attncli.file_names import file_names
from attncli.problem.loader import read_problem
from attncli.problem.text.source import read_source
from attncli.render import FORMATS
from attncli.render.latex.escape import has_codes
from attncli.render.pdf import engine

TO_CONNECT = 10  # seconds
# submissions, for which no other process is started
FEW = 8


class Feedback:
    """A page for each student, in a folder; each is written when its student has been marked.

    As a context, it waits at its end for pages that TeX is still at. Then it raises AttncliError
    (exit 4) if TeX could not make some.
    """

    def __init__(self, folder: str, submissions: Sequence[Submission], format: str) -> None:
        """Make the folder, if it is not there. `format` is one of FORMATS or "pdf", which is made
        of LaTeX.

        Raises AttncliError where the folder cannot be made (exit 4), or no TeX is installed (exit
        5).
        """
        self._students = [each.student for each in submissions]
        self._engine = engine() if format == "pdf" else None
        self._threads = ThreadPoolExecutor(os.cpu_count() or 1)  # each waits for TeX
        self._in_work: dict[int, Future[bytes]] = {}
        self._failed: dict[str, AttncliError] = {}
        self._in_tex = format in ("latex", "pdf")
        self._with_codes: list[str] = []
        try:
            os.makedirs(folder, exist_ok=True)
        except FileExistsError:
            raise file_error(
                f"--feedback {folder}: this is a file, not a folder", help="name a folder"
            ) from None
        except (OSError, ValueError) as error:
            raise unwritable(folder, reason(error), "--feedback") from None
        suffix = ".pdf" if format == "pdf" else FORMATS[format].suffixes[0]
        names = file_names(self._students, "student")
        self.paths = [os.path.join(folder, f"{name}{suffix}") for name in names]

    def write(self, number: int, marked: Marked) -> list[int]:
        """The page of a student by its number; as PDF as soon as it is made. Returns whose pages
        are there now.
        """
        if marked.page is None:
            return [number]
        if self._in_tex and has_codes(marked.page):
            self._with_codes.append(self._students[number])
        if self._engine is None:
            write(marked.page, self.paths[number], portable=True, option="--feedback")
            return [number]
        self._in_work[number] = self._threads.submit(self._engine, marked.page)
        return self._write_made(most_left=2 * (os.cpu_count() or 1))

    @property
    def warnings(self) -> list[str]:
        """What to say of the pages when all are written: whose have codes for letters that TeX
        lacks.
        """
        if not self._with_codes:
            return []
        pages = count(len(self._with_codes), "page")
        return [
            f"letters that TeX's basic fonts lack are codes, such as U+738B, in {pages} of feedback"
            f" ({listed(self._with_codes, most=3)}); --feedback-format html shows all letters"
        ]

    def _write_made(self, most_left: int) -> list[int]:
        """Write pages in order, until no more than this many are being made; returns whose."""
        written = []
        while len(self._in_work) > most_left:
            number, page = next(iter(self._in_work.items()))
            try:
                made = page.result()
            except AttncliError as error:
                self._failed[self._students[number]] = error
            else:
                write_bytes([made], self.paths[number], option="--feedback")
            del self._in_work[number]
            written.append(number)
        return written

    def __enter__(self) -> Feedback:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._threads:
            # after Ctrl-C, too: what is marked has its page
            self._write_made(most_left=0)
        if self._failed and kind is None:
            why = next(iter(self._failed.values()))
            pages = count(len(self._failed), "page")
            said = (
                f"{pages} of feedback could not be made ({listed([*self._failed], most=3)}):"
                f" {why.message}"
            )
            raise file_error(said, help=why.help)


def class_of(
    problem: str | None,
    answers: Sequence[str],
    *,
    batch: str | None,
    folder: str | None,
    output: str | None,
    outside: bool,
) -> list[Submission]:
    """The submissions that a command line names: those of a manifest, or files of answers to one
    problem.

    A problem that all have is read before anything else is done. Raises AttncliError: exit 2 where
    the results would be written over a file that is checked, exit 3 or 4 for a manifest or a
    problem that cannot be read.
    """
    require_writable(
        output, batch or problem or "-", what="the manifest" if batch else "the problem itself"
    )
    if folder is not None and not os.path.isdir(folder):
        raise file_error(
            f"-d {folder}: there is no such folder", help="name the folder with the answers"
        )
    if batch is not None:
        submissions = read_manifest(batch, folder)
    else:
        if "-" in answers:
            raise usage_error("- is one solution", help="name files if there are several")
        source = read_source(problem or "", outside=outside)
        read_problem(source)
        names = students_of(answers)
        submissions = without_doubles(map(Submission, names, [source] * len(names), answers))
    # since each process has a core of its own
    limit_threads("")
    if output is not None and output != "-":
        for name in {
            name_of(given) for each in submissions for given in (each.problem, each.answers)
        } - {""}:
            if is_same_file(output, name):
                raise usage_error(
                    f"-o {output} would write over {name}", help="give the output another name"
                )
    return submissions


class Marking:
    """The submissions of a class and what came of them so far. `marked` has them in order, after an
    end, too.

    `warnings` say what was done otherwise than it was asked for.
    """

    def __init__(self, submissions: Sequence[Submission], before: Sequence[Marked] = ()) -> None:
        """With results from `before`: what they have is not checked again, but for what could not
        be checked.
        """
        self.submissions = submissions
        keys = [_key(each.student, name_of(each.answers)) for each in submissions]
        done = {_key(each.student, each.answers): each for each in before}
        self._found = {
            at: done[key] for at, key in enumerate(keys) if key in done and not done[key].error
        }
        # How many rows have all that belongs to them, their page too.
        self._complete = len(self._found)
        self.warnings: list[str] = []
        self._others = [each for key, each in done.items() if key not in set(keys)]

    @property
    def marked(self) -> list[Marked]:
        """A row for each submission that is done; before them those of earlier results that are not
        asked for now.
        """
        return [*self._others, *(self._found[number] for number in sorted(self._found))]

    @property
    def passed(self) -> bool:
        """Whether no row has an error, a blank or a file that could not be checked."""
        return all(each.passed for each in self.marked)

    def write(self, format: str, output: str | None, **style: Any) -> None:
        """The page or the results of all that is marked; `style` is as for `write_page`."""
        write_page(class_page(self.marked), format, output, **style)

    def end_early(
        self, format: str, output: str | None, kept: KeptRows | None, **style: Any
    ) -> str:
        """What to say when a signal ends the run: a file stays as it was; standard output gets what
        is marked.
        """
        said = f"{self._complete} of {count(len(self.submissions), 'solution')} are checked"
        if output is None or not is_file(output):
            if self.marked:
                self.write(format, output, **style)
            return said
        if kept is not None and self._complete:
            return f"{said}; go on with --resume"
        return f"{said}; {output} is not written"

    def run(
        self,
        settings: Settings,
        workers: int,
        feedback: Feedback | None,
        scheduler: str | None = None,
        kept: KeptRows | None = None,
    ) -> None:
        """Check what is not done, in processes here or by a scheduler of Dask; each row is `kept`
        when it is done.

        A signal is a KeyboardInterrupt or Terminated, and leaves what is done until then. Raises
        AttncliError (exit 4 or 5) where the scheduler cannot be reached, or a page of feedback
        cannot be made.
        """
        numbers = [number for number in range(len(self.submissions)) if number not in self._found]
        left = [self.submissions[number] for number in numbers]
        # which the command line turns off for work that is soon over
        gc.enable()
        progress.begin("checking")
        with (
            feedback or nullcontext(),
            _executor(scheduler) as executor,
            closing(_marked(left, settings, workers, executor, self.warnings.append)) as results,
        ):
            for done, (at, marked) in enumerate(results, start=1):
                number = numbers[at]
                self._found[number] = marked
                progress.report(done / len(left))
                complete = [number] if feedback is None else feedback.write(number, marked)
                self._complete += len(complete)
                if kept is not None:
                    kept.add(self._found[each] for each in complete)


def _key(student: str, answers: str) -> tuple[str, str]:
    """What rows are known by, as results hold it."""
    return visible(student), visible(answers)


@contextmanager
def _executor(scheduler: str | None) -> Iterator[Executor | None]:
    """The workers of a scheduler of Dask, whose certificates are where Dask's own configuration
    says.
    """
    if scheduler is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        message = "--scheduler needs Dask, which is not installed"
        raise missing_error(message, help="pip install 'attncli[dask]'") from None
    # what goes wrong is in the rows
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(scheduler, timeout=TO_CONNECT)
    except (OSError, ValueError, TypeError, ImportError, RuntimeError) as error:
        why = (str(error) or type(error).__name__).strip().splitlines()[0]
        help = (
            "start it with dask scheduler; with tls://, say in Dask's configuration where its"
            " certificates are"
        )
        raise file_error(f"cannot reach the scheduler {scheduler}: {why}", help=help) from None
    with client:
        yield client.get_executor()


def _sent(submission: Submission, settings: Settings) -> Submission:
    """The same with the texts of its files, for a computer without them; as it is where they cannot
    be read.
    """
    if submission.error:
        return submission
    try:
        problem, answers = submission.problem, submission.answers
        return replace(
            submission,
            problem=(
                read_source(problem, outside=settings.outside)
                if isinstance(problem, str)
                else problem
            ),
            answers=read_source(answers) if isinstance(answers, str) else answers,
        )
    except AttncliError:
        return submission


def _marked(
    submissions: Sequence[Submission],
    settings: Settings,
    workers: int,
    executor: Executor | None,
    warn: Callable[[str], None],
) -> Generator[tuple[int, Marked], None, None]:
    """Each submission by its number, in other processes if that is worth it, or by an executor."""
    if executor is not None:
        yield from mark_all([_sent(each, settings) for each in submissions], settings, executor)
        return
    if workers == 1 or len(submissions) < FEW:
        yield from mark_all(submissions, settings)
    else:
        yield from mark_in_processes(submissions, settings, workers, warn)


def kept_beside(output: str | None, format: str, *, goes_on: bool) -> KeptRows | None:
    """Where rows are kept until the results are written; None where there is no file that --resume
    could read.
    """
    if output is None or not is_file(output) or not holds_numbers(format):
        return None
    return KeptRows(output, goes_on=goes_on)


def write_results(
    marking: Marking, format: str, output: str | None, kept: KeptRows | None, **style: Any
) -> None:
    """Write all that is marked, after which no row needs to be kept.

    Raises AttncliError (exit 4) where it cannot be written; the help says so if the rows are kept.
    """
    try:
        marking.write(format, output, **style)
    except AttncliError as error:
        if kept is None or not kept.has_rows:
            raise
        help = "what is done is kept: the same command with --resume goes on from there"
        raise file_error(error.message, help=help) from None
    if kept is not None:
        kept.remove()


def earlier_results(
    output: str | None, format: str, *, lenient: bool, marks: int | None
) -> list[Marked]:
    """The results in the file that is to be written, if it is there, and the rows that a killed run
    kept beside it.

    Raises AttncliError: exit 2 where they are of another number of `marks`, exit 3 or 4 where the
    file holds none.
    """
    if output is None or output == "-" or not holds_numbers(format):
        raise usage_error(
            "--resume needs results that can be read",
            help="write them with -o results.csv, .xlsx or .json",
        )
    # A run that began anew has left the old results in their place: they are not its own.
    has_earlier = os.path.exists(output) and not began_anew(output)
    earlier = read_results(output, lenient=lenient) if has_earlier else []
    earlier += kept_rows(output)
    others = [each.of for each in earlier if None not in (each.of, marks) and each.of != marks]
    if others:
        help = f"write --marks {others[0]}, or name another file after -o"
        raise usage_error(
            f"--marks {marks} cannot be used: the results in {output} are of {others[0]} marks",
            help=help,
        )
    return earlier
