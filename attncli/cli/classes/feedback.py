"""A page of feedback for each student."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from attncli.cli.classes.summary import MOST_STUDENTS_NAMED
from attncli.cli.files import require_usable_name, write, write_bytes
from attncli.english import count, either, listed
from attncli.errors import AttncliError, file_error, reason, unwritable
from attncli.file_names import file_names
from attncli.render import FORMATS
from attncli.render.latex.escape import has_codes, lacks_letters
from attncli.render.pdf import engine


def called(student: str, number: int, format: str | None) -> str:
    """What a student is called on a page of this format: where TeX lacks letters of the name, by
    the number of the row, if that is not 0.

    >>> called("Ada", 1, "latex"), called("王小明", 2, "latex"), called("王小明", 2, "html")
    ('Ada', 'student 2', '王小明')
    """
    if number and format == "latex" and lacks_letters(student):
        return f"student {number}"
    return student


class Feedback:
    """A page for each student, in a folder; each is written when its student has been marked.

    As a context, it waits at its end for pages that TeX is still at. Then it raises AttncliError
    (exit 4) if TeX could not make some. After an error, the pages that are there are whole.
    """

    def __init__(
        self,
        folder: str,
        students: Sequence[str],
        format: str,
        make_folder: Callable[[str], None],
    ) -> None:
        """Make the folder, if it is not there, as `new_folders` does. `format` is one of FORMATS or
        "pdf", which is made of LaTeX.

        Raises AttncliError where the folder cannot be made (exit 4), or no TeX is installed (exit
        5).
        """
        self._students = [*students]
        self._engine = engine() if format == "pdf" else None
        # Each of these threads waits for a process of TeX.
        self._threads = ThreadPoolExecutor(os.cpu_count() or 1)
        self._in_work: dict[int, Future[bytes]] = {}
        self._failed: dict[str, AttncliError] = {}
        self._in_tex = format in ("latex", "pdf")
        self._with_codes: list[str] = []
        self._with_numbers: list[str] = []
        # The numbers of students whose page is to be written, and is not yet.
        self.owed: set[int] = set()
        # And those of students whose page TeX could not make.
        self.not_made: set[int] = set()
        self._written = 0
        self._folder = folder
        _make(folder, make_folder)
        suffix = ".pdf" if format == "pdf" else FORMATS[format].suffixes[0]
        names = file_names(self._students, "student")
        self.paths = [os.path.join(folder, f"{name}{suffix}") for name in names]

    def write(self, number: int, page: str | None) -> list[int]:
        """The page of a student by its number; as PDF as soon as it is made. Returns whose pages
        are there now.

        Raises AttncliError (exit 4) where a page cannot be written, which also says how many are.
        """
        if page is None:
            return [number]
        student = self._students[number]
        if self._in_tex and has_codes(page):
            self._with_codes.append(student)
        if self._in_tex and lacks_letters(student):
            self._with_numbers.append(student)
        self.owed.add(number)
        if self._engine is None:
            self._put(number, page)
            return [number]
        self._in_work[number] = self._threads.submit(self._engine, page)
        # Two pages for each core keep TeX busy, and no more of them wait in memory.
        return self._write_made(most_left=2 * (os.cpu_count() or 1))

    @property
    def warnings(self) -> list[str]:
        """What to say of the pages when all are written: whose have a number in the place of the
        name, and whose have codes for letters that TeX lacks.
        """
        said = []
        if self._with_numbers:
            whose = listed(self._with_numbers)
            pages = count(len(self._with_numbers), "page")
            have = either(len(self._with_numbers), "has", "have")
            said.append(
                f"TeX's basic fonts lack letters of some names, so {pages} of feedback ({whose})"
                f" {have} the number of the student's row in place of the name;"
                " --feedback-format html shows all letters"
            )
        if self._with_codes:
            whose = listed(self._with_codes)
            pages = count(len(self._with_codes), "page")
            said.append(
                f"letters that TeX's basic fonts lack are codes, such as U+738B, in {pages} of"
                f" feedback ({whose}); --feedback-format html shows all letters"
            )
        return said

    def _write_made(self, most_left: int) -> list[int]:
        """Write pages in order, until no more than this many are being made; returns whose."""
        written = []
        while len(self._in_work) > most_left:
            number, page = next(iter(self._in_work.items()))
            try:
                made = page.result()
            except AttncliError as error:
                self._failed[self._students[number]] = error
                self.not_made.add(number)
            else:
                self._put(number, made)
            del self._in_work[number]
            self.owed.discard(number)
            written.append(number)
        return written

    def _put(self, number: int, page: str | bytes) -> None:
        """Write a page that is made where it belongs."""
        try:
            if isinstance(page, str):
                write(page, self.paths[number], portable=True, option="--feedback")
            else:
                write_bytes([page], self.paths[number], option="--feedback")
        except AttncliError as error:
            if not self._written:
                raise
            pages = count(self._written, "page")
            said = f"{error.message}; {pages} of feedback in {self._folder} can be used"
            raise AttncliError(error.exit_code, said, help=error.help) from error
        self.owed.discard(number)
        self._written += 1

    def __enter__(self) -> Feedback:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._threads:
            # After Ctrl-C, too, what is marked has its page.
            self._write_made(most_left=0)
        if self._failed and kind is None:
            self._raise_failed()

    def _raise_failed(self) -> None:
        why = next(iter(self._failed.values()))
        pages = count(len(self._failed), "page")
        whose = listed([*self._failed], most=MOST_STUDENTS_NAMED)
        said = f"{pages} of feedback could not be made ({whose}): {why.message}"
        raise file_error(said, help=why.help)


def _make(folder: str, make_folder: Callable[[str], None]) -> None:
    require_usable_name(folder, "--feedback")
    try:
        make_folder(folder)
    except FileExistsError:
        raise file_error(
            f"--feedback {folder}: this is a file, not a folder", help="name a folder"
        ) from None
    except (OSError, ValueError) as error:
        raise unwritable(folder, reason(error), "--feedback") from None
