"""Every bad input of the corpus ends with its exit code and the exact first line of each of its
errors.

`--update` writes into the corpus what the program says now; the marks, and so the places, stay.
Read the difference.
"""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path

import pytest

from attncli.cli.main import run
from tests.cases import in_one_test
from tests.corpus.cases import Case, cases, lay_files, written

CASES = cases()
CARET = re.compile(r"^attncli.*?:(\d+):(\d+): .*\n  (.*)\n  ( *)\^$", re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the command lines of the corpus are run."""
    folder = tmp_path_factory.mktemp("corpus") / "folder"
    lay_files(folder)
    return folder


@in_one_test("case", CASES, ids=[f"{case.group}: {case.title} ({case.name})" for case in CASES])
def test_the_answer(
    case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    pytestconfig: pytest.Config,
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    if case.name == "-":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(case.data)))
    elif case.name and not case.missing:
        Path(case.name).write_bytes(case.data)
    before = sorted(os.listdir())
    code = run(case.arguments)
    out, err = capsys.readouterr()
    assert (code, out, sorted(os.listdir())) == (case.code, "", before)
    lines = err.splitlines()
    if pytestconfig.getoption("--update"):
        case.path.write_text(written(case, first_lines(lines)), encoding="utf-8")
    else:
        assert first_lines(lines) == case.expected()
    errors = [line for line in lines if line.startswith("attncli: error: ")]
    assert len([line for line in lines if line.startswith("help: ")]) == len(errors) > 0
    for line, column, source, before_caret in CARET.findall(err):
        point_at_the_place(case, int(line), int(column), source, len(before_caret))


def first_lines(lines: list[str]) -> list[str]:
    """The first line of every error, and its help where that knows what was meant."""
    return [line for line in lines if line.startswith(("attncli: error: ", "help: did you mean "))]


def point_at_the_place(case: Case, line: int, column: int, source: str, at: int) -> None:
    """The caret stands under the very character, wherever that can be told without knowing how wide
    others are.
    """
    if case.name and case.data.isascii() and "\\" not in source:
        text = re.split(r"\r\n|\r|\n", case.data.decode())[line - 1].replace("\t", " ").rstrip()
        assert source[at : at + 1] == text[column - 1 : column]


def test_every_place_is_marked_by_hand() -> None:
    """No error of a file names a place that the corpus does not mark."""
    for case in CASES:
        assert not [
            line for line in case.errors if re.match(rf"{re.escape(case.name or '-')}:\d+:", line)
        ], case.title
        assert len([line for line in case.errors if line.startswith("‸")]) == len(case.places), (
            case.title
        )


def test_the_corpus_is_large_and_of_every_kind() -> None:
    assert len(CASES) >= 350
    assert {case.code for case in CASES} == {2, 3, 4}
    assert len([case for case in CASES if len(case.errors) > 1]) >= 15
    assert len([case for case in CASES if case.name.endswith(".json")]) >= 60
