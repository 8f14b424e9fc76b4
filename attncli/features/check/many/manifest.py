"""Whose answers are where: the rows of a manifest, and what two rows must not share."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from attncli.cli.classes.manifest import ManifestRow, earlier_with_same, file_of, manifest_rows
from attncli.english import count, either, listed
from attncli.features.check.many.handed_in import FilesBeside, is_blank_or_lacking, near_names
from attncli.system import without_last_separator

COLUMNS_OF_MANIFEST = ("student", "problem", "answers")
MOST_FILES_NAMED = 3
MOST_STRAYS_NAMED = 10


@dataclass(frozen=True, slots=True)
class Submission:
    """The answers of one student: files by their paths, or what `attncli.check` takes.

    `more` has the further columns of the manifest. With an `error` there is nothing to check. Where
    the answers are in another file than the manifest names, they stand `in_place_of` that one.
    `number` is that of the row, from 1 on; 0 is none.
    """

    student: str
    problem: object
    answers: object
    more: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    in_place_of: str = ""
    number: int = field(default=0, compare=False)


def read_manifest(path: str, folder: str | None = None) -> list[Submission]:
    """The rows of a manifest; what is wrong with one row is its `error`.

    Files are relative to the manifest. With `folder`, answers are there: under the path in the
    manifest, else under the name of the file alone. A file that is blank or not there gives way to
    one of the same name with another ending. Raises AttncliError where the manifest itself cannot
    be read (exit 3 or 4).
    """
    rows = manifest_rows(path, COLUMNS_OF_MANIFEST)
    named = [_submission(row, path, folder) for row in rows]
    files = [each.problem for each in named] + [each.answers for each in named]
    beside = FilesBeside(files)
    handed_in = [_as_handed_in(each, beside) for each in named]
    return numbered_without_doubles(handed_in)


def _submission(row: ManifestRow, manifest: str, folder: str | None) -> Submission:
    problem, answers = row.cells["problem"], row.cells["answers"]
    return Submission(
        row.cells["student"],
        problem and file_of(problem, manifest),
        answers and file_of(answers, manifest, folder),
        row.more,
        row.error,
    )


def _as_handed_in(submission: Submission, beside: FilesBeside) -> Submission:
    """The same with the file that the student handed in, if it has another ending; several such
    files are an error.
    """
    answers = submission.answers
    if submission.error or not isinstance(answers, str):
        return submission
    match beside.instead_of(answers):
        case []:
            return submission
        case [file]:
            return replace(submission, answers=file, in_place_of=answers)
        case files:
            error = (
                f"{answers} is blank or not there, and several files stand beside it:"
                f" {listed([os.path.basename(file) for file in files])}; leave one of them"
            )
            return replace(submission, error=error)


class Stray(NamedTuple):
    """A file among the answers that belongs to no student, and the one that it may be meant as."""

    name: str
    meant: str = ""

    @property
    def in_words(self) -> str:
        return f"{self.name} (did you mean {self.meant}?)" if self.meant else self.name


def strays_among(
    submissions: Sequence[Submission], manifest: str, output: str | None = None
) -> list[Stray]:
    """The files that stand among the answers and belong to no student. Folders that hold other
    things, too, are not looked at, nor is the `output` of an earlier run.
    """
    named = [str(each.answers) for each in submissions if each.answers]
    problems = [str(each.problem) for each in submissions if each.problem]
    first_named = [each.in_place_of for each in submissions if each.in_place_of]
    of_others = {os.path.dirname(file) for file in [manifest, *problems]}
    folders = {os.path.dirname(file) for file in named} - of_others
    known = [*named, *problems, *first_named, output]
    files = FilesBeside(known).of_nobody(folders)
    lacking = [file for file in named if is_blank_or_lacking(file)]
    meant = near_names(files, lacking)
    strays = []
    for file in files:
        name = os.path.basename(file)
        near = meant.get(file, "")
        strays.append(Stray(name, os.path.basename(near)))
    return strays


def strays_in_words(strays: Sequence[Stray]) -> list[str]:
    """A warning that names the files of nobody, if there are some."""
    if not strays:
        return []
    names = [each.in_words for each in strays]
    return [f"{belong_to_nobody(strays)}: {listed(names, most=MOST_STRAYS_NAMED)}"]


def belong_to_nobody(strays: Sequence[Stray]) -> str:
    """2 files among the answers belong to no student of the manifest."""
    belong = either(len(strays), "belongs", "belong")
    files = count(len(strays), "file")
    return f"{files} among the answers {belong} to no student of the manifest"


def taken_in_words(submissions: Sequence[Submission]) -> list[str]:
    """A warning that says how many answers are in files of another ending, and in which."""
    taken = [each for each in submissions if each.in_place_of and not each.error]
    if not taken:
        return []
    files = [os.path.basename(str(each.answers)) for each in taken]
    return [
        f"the answers of {count(len(taken), 'student')} are taken from files beside those that the"
        " manifest names, which are blank or not there:"
        f" {listed(files, most=MOST_FILES_NAMED)}"
    ]


def numbered_without_doubles(submissions: Iterable[Submission]) -> list[Submission]:
    """The same with their numbers, where a file that comes again is an error from the second time
    on.
    """
    checked = [replace(each, number=number) for number, each in enumerate(submissions, start=1)]
    for number, other in earlier_with_same(checked, _file_of_answers).items():
        error = f"this file of answers is already that of {other.student}"
        checked[number] = replace(checked[number], error=error)
    return checked


def _file_of_answers(submission: Submission) -> str | None:
    answers = submission.answers
    if submission.error or not answers or not isinstance(answers, str):
        return None
    return os.path.realpath(answers)


def students_of(paths: Sequence[str]) -> list[str]:
    """A name for each file: that of the file without its suffix, or the whole path where two are
    alike.

    >>> students_of(["ada.yaml", "ben.yaml"]), students_of(["1/ada.yaml", "2/ada.yaml"])
    (['ada', 'ben'], ['1/ada.yaml', '2/ada.yaml'])
    """
    stems = [
        os.path.splitext(os.path.basename(without_last_separator(path)))[0] or path
        for path in paths
    ]
    return [
        stem if stems.count(stem) == 1 else path for stem, path in zip(stems, paths, strict=True)
    ]
