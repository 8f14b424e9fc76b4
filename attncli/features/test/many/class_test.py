"""The functions of a class in one go: what is to be tested, by whom, and where the results go."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing, nullcontext

from attncli.cli.classes.feedback import Feedback
from attncli.cli.classes.manifest import require_folder, require_none_of
from attncli.cli.error_report import warn_of
from attncli.cli.files import is_file, new_folders, require_writable
from attncli.cli.input import limit_threads
from attncli.cli.look import Look
from attncli.cli.pages import require_workbook, write_page
from attncli.cli.progress import progress
from attncli.cli.signals import CleanupBeforeExit, Terminated
from attncli.english import count
from attncli.features.test.many.class_page import class_page
from attncli.features.test.many.manifest import StudentFunction, read_manifest
from attncli.features.test.many.result_row import Tested, TestSettings
from attncli.features.test.many.trying import try_all


def functions_of(
    manifest: str, *, folder: str | None, name: str, output: str | None
) -> list[StudentFunction]:
    """The functions that a manifest names.

    Raises AttncliError: exit 2 where the results would be written over one of the files, exit 3 or
    4 for a manifest that cannot be read.
    """
    require_writable(output, manifest, what="the manifest")
    require_folder(folder, "the functions")
    submissions = read_manifest(manifest, folder, name)
    require_none_of(output, [each.file for each in submissions])
    return submissions


def test_class(
    submissions: Sequence[StudentFunction],
    settings: TestSettings,
    look: Look,
    *,
    feedback: str | None,
    feedback_format: str,
    workers: int | None,
) -> bool:
    """Write a row for each function, and a page for each student if `feedback` names a folder.
    Returns whether all of them agree.

    Ctrl-C and the like leave a file of results as it was; standard output gets what is tested.
    """
    require_workbook(look, "results")
    # Each process has a core of its own, so NumPy's threads would only be in each other's way.
    limit_threads("")
    testing = _Testing(submissions)
    pages = None
    with CleanupBeforeExit(), new_folders() as make_folder:
        try:
            if feedback is not None:
                students = [each.student for each in submissions]
                pages = Feedback(feedback, students, feedback_format, make_folder)
            try:
                testing.run(settings, workers or os.cpu_count() or 1, pages)
            except Exception:
                # A page of feedback cannot be made, say: what is done is written all the same.
                if testing.tested:
                    write_page(class_page(testing.tested), look)
                raise
            write_page(class_page(testing.tested), look)
        except (KeyboardInterrupt, Terminated):
            warn_of([testing.end_early(look)], quiet=False)
            raise
    warn_of(testing.warnings, quiet=False)
    if pages is not None:
        warn_of(pages.warnings, quiet=False)
    return all(each.passed for each in testing.tested)


class _Testing:
    """The functions of a class and what came of them so far."""

    def __init__(self, submissions: Sequence[StudentFunction]) -> None:
        self.warnings: list[str] = []
        self._submissions = submissions
        self._found: dict[int, Tested] = {}

    @property
    def tested(self) -> list[Tested]:
        """A row for each function that is done, in the order of the manifest."""
        return [self._found[number] for number in sorted(self._found)]

    def run(self, settings: TestSettings, workers: int, feedback: Feedback | None) -> None:
        """Test all; AttncliError (exit 4 or 5) where a page of feedback cannot be made."""
        progress.begin("testing")
        rows = try_all(self._submissions, settings, workers, self.warnings.append)
        with feedback or nullcontext(), closing(rows):
            for number, row in rows:
                self._found[number] = row
                progress.report(len(self._found) / len(self._submissions))
                if feedback is not None:
                    feedback.write(number, row.page)

    def end_early(self, look: Look) -> str:
        """What to say when a signal ends the run."""
        total = count(len(self._submissions), "function")
        said = f"{len(self._found):,} of {total} are tested"
        if look.output is not None and is_file(look.output):
            return f"{said}; {look.output} is not written"
        if self._found:
            write_page(class_page(self.tested), look)
        return said
