"""Many solutions in one go: what is to be checked, by whom, and where the results go."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor
from contextlib import closing, nullcontext
from dataclasses import replace

from attncli.cli.classes.feedback import Feedback
from attncli.cli.classes.manifest import require_folder, require_none_of
from attncli.cli.files import is_file, require_writable
from attncli.cli.input import limit_threads
from attncli.cli.look import Look
from attncli.cli.pages import write_page
from attncli.cli.progress import progress
from attncli.english import count
from attncli.errors import AttncliError, file_error, usage_error
from attncli.escaping import visible
from attncli.features.check.many.class_page import class_page
from attncli.features.check.many.copies_in_class import copies_in, with_notes
from attncli.features.check.many.kept_rows import KeptRows, began_anew, file_of_rows, kept_rows
from attncli.features.check.many.manifest import (
    Stray,
    Submission,
    numbered_without_doubles,
    read_manifest,
    strays_in_words,
    students_of,
    taken_in_words,
)
from attncli.features.check.many.marking import mark_all, mark_in_processes, name_of
from attncli.features.check.many.result_row import Marked, Settings
from attncli.features.check.many.results_read_back import read_results
from attncli.features.check.many.scheduler import with_texts, workers_of
from attncli.features.check.marks.other_shapes import other_shapes_in_words
from attncli.problem.loader import read_problem
from attncli.problem.text.source import read_source

# For fewer submissions than these, starting another process takes longer than checking them.
FEWEST_FOR_PROCESSES = 8


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
    given = batch or problem or "-"
    require_writable(output, given, what="the manifest" if batch else "the problem itself")
    require_folder(folder, "the answers")
    if batch is not None:
        submissions = read_manifest(batch, folder)
    else:
        submissions = _of_one_problem(problem or "", answers, outside)
    # Each process has a core of its own, so NumPy's threads would only be in each other's way.
    limit_threads("")
    read = [each.problem for each in submissions] + [each.answers for each in submissions]
    require_none_of(output, map(name_of, read))
    return submissions


def _of_one_problem(problem: str, answers: Sequence[str], outside: bool) -> list[Submission]:
    if "-" in answers:
        raise usage_error("- is one solution", help="name files if there are several")
    source = read_source(problem, outside=outside)
    # What is wrong with the problem of all is an error, and no row.
    read_problem(source)
    students = students_of(answers)
    return numbered_without_doubles(
        Submission(student, source, path) for student, path in zip(students, answers, strict=True)
    )


class Marking:
    """The submissions of a class and what came of them so far. `marked` has them in order, after an
    end, too.

    `warnings` say what was done otherwise than it was asked for.
    """

    def __init__(
        self,
        submissions: Sequence[Submission],
        before: Sequence[Marked] = (),
        strays: Sequence[Stray] = (),
    ) -> None:
        """With results from `before`: what they have is not checked again, but for what could not
        be checked, or was blank. `strays` are files of nobody.
        """
        self.submissions = submissions
        self.warnings = [*taken_in_words(submissions), *strays_in_words(strays)]
        self._strays = strays
        self._settings = Settings()
        self._found: dict[int, Marked] = {}
        earlier = {_key(row.student, row.answers): row for row in before}
        for number, each in enumerate(submissions):
            key = _key(each.student, name_of(each.answers))
            row = earlier.get(key)
            if row is not None and not row.is_open:
                self._found[number] = row
        # How many rows have all that belongs to them, their page too.
        self._complete = len(self._found)
        # Who hands in the same file with another ending does so in the place of the earlier one.
        asked_now = {_without_ending(each.student, name_of(each.answers)) for each in submissions}
        self._others = [
            row
            for row in earlier.values()
            if _without_ending(row.student, row.answers) not in asked_now
        ]

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

    def write(self, look: Look) -> None:
        """Write the page or the results of all that is marked."""
        found = copies_in(self.marked, self.submissions, self._settings)
        rows = with_notes(self.marked, found)
        write_page(class_page(rows, found, self._strays), look)

    def end_early(self, look: Look, kept: KeptRows | None) -> str:
        """What to say when a signal ends the run: a file stays as it was; standard output gets what
        is marked.
        """
        said = f"{self._complete:,} of {count(len(self.submissions), 'solution')} are checked"
        output = look.output
        if output is None or not is_file(output):
            if self.marked:
                self.write(look)
            return said
        if kept is not None and self._complete:
            # A name that begins with a dot is in no usual list of files.
            return f"{said}, and kept in {kept.name}; go on with --resume"
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
        cannot be made. A row whose page could not be written is not done.
        """
        self._settings = settings
        numbers = [number for number in range(len(self.submissions)) if number not in self._found]
        left = [self.submissions[number] for number in numbers]
        # The command line turns it off for work that is soon over.
        gc.enable()
        progress.begin("checking")
        try:
            with (
                feedback or nullcontext(),
                workers_of(scheduler) if scheduler is not None else nullcontext() as executor,
                closing(_marked(left, settings, workers, executor, self.warnings.append)) as rows,
            ):
                for done, (at, marked) in enumerate(rows, start=1):
                    progress.report(done / len(left))
                    self._add(numbers[at], marked, feedback, kept)
            self.warnings += self._of_other_shapes()
        finally:
            if feedback is not None:
                self._without_pages(feedback)

    def _without_pages(self, feedback: Feedback) -> None:
        """Take back the rows whose page is not written, and the pages that TeX could not make."""
        for number in feedback.owed:
            self._found.pop(number, None)
        for number in feedback.not_made:
            self._found[number] = replace(self._found[number], feedback="")

    def _of_other_shapes(self) -> list[str]:
        return other_shapes_in_words({each.student: each.other_shapes for each in self.marked})

    def _add(
        self, number: int, marked: Marked, feedback: Feedback | None, kept: KeptRows | None
    ) -> None:
        """Add what came of one submission, and keep the rows that have all that belongs to them."""
        if feedback is not None and marked.page is not None:
            marked = replace(marked, feedback=feedback.paths[number])
        self._found[number] = marked
        complete = [number] if feedback is None else feedback.write(number, marked.page)
        self._complete += len(complete)
        if kept is not None:
            kept.add(self._found[each] for each in complete)


def _key(student: str, answers: str) -> tuple[str, str]:
    """What rows are known by, as results hold it."""
    return visible(student), visible(answers)


def _without_ending(student: str, answers: str) -> tuple[str, str]:
    """The same for a file of any ending."""
    file, _ = os.path.splitext(answers)
    return _key(student, file)


def _marked(
    submissions: Sequence[Submission],
    settings: Settings,
    workers: int,
    executor: Executor | None,
    warn: Callable[[str], None],
) -> Generator[tuple[int, Marked], None, None]:
    """Each submission by its number, in other processes if that is worth it, or by an executor."""
    if executor is not None:
        yield from mark_all(
            [with_texts(each, settings) for each in submissions], settings, executor
        )
        return
    if workers == 1 or len(submissions) < FEWEST_FOR_PROCESSES:
        yield from mark_all(submissions, settings)
    else:
        yield from mark_in_processes(submissions, settings, workers, warn)


def kept_beside(look: Look, *, goes_on: bool) -> KeptRows | None:
    """Where rows are kept until the results are written; None where there is no file that --resume
    could read.
    """
    if look.output is None or not is_file(look.output):
        return None
    if not look.holds_numbers():
        return None
    return KeptRows(look.output, goes_on=goes_on)


def write_results(marking: Marking, look: Look, kept: KeptRows | None) -> None:
    """Write all that is marked, after which no row needs to be kept.

    Raises AttncliError (exit 4) where it cannot be written; the help says so if the rows are kept.
    """
    try:
        marking.write(look)
    except AttncliError as error:
        if kept is None or not kept.has_rows:
            raise
        help = "what is done is kept: the same command with --resume goes on from there"
        raise file_error(error.message, help=help) from None
    if kept is not None:
        kept.remove()


def earlier_results(
    look: Look, *, lenient: bool, marks: int | None, marking: str | None = None
) -> list[Marked]:
    """The results in the file that is to be written, if it is there, and the rows that a killed run
    kept beside it.

    Raises AttncliError: exit 2 where they are of another number of `marks`, or older than the file
    of the `marking`, exit 3 or 4 where the file holds none.
    """
    output = look.output
    if output is None or output == "-" or not look.holds_numbers():
        raise usage_error(
            "--resume needs results that can be read",
            help="write them with -o results.csv, .xlsx or .json",
        )
    # A run that began anew has left the old results in their place: they are not its own.
    has_earlier = os.path.exists(output) and not began_anew(output)
    if marking is not None:
        read = [output, file_of_rows(output)] if has_earlier else [file_of_rows(output)]
        for file in read:
            _require_older(marking, file)
    earlier = read_results(output, lenient=lenient) if has_earlier else []
    earlier += kept_rows(output)
    if marks is not None:
        _require_marks(marks, earlier, output, marking)
    return earlier


def _require_older(marking: str, output: str) -> None:
    """Raises AttncliError where marks would be of two schemes: the file of the marking was changed
    after the results were written.
    """
    if not (os.path.isfile(marking) and os.path.isfile(output)):
        return
    if os.path.getmtime(marking) <= os.path.getmtime(output):
        return
    help = "leave out --resume to mark all anew, or name another file after -o"
    raise usage_error(
        f"--resume cannot be used: {marking} was changed after {output} was written", help=help
    )


def _require_marks(marks: int, earlier: Sequence[Marked], output: str, marking: str | None) -> None:
    others = [each.of for each in earlier if each.of is not None and each.of != marks]
    if not others:
        return
    used = f"--marks {marks}"
    instead = f"write --marks {others[0]}"
    if marking is not None:
        used = f"{marking} of {marks} marks"
        instead = "leave out --resume to mark all anew"
    raise usage_error(
        f"{used} cannot be used: the results in {output} are of {others[0]} marks",
        help=f"{instead}, or name another file after -o",
    )
