"""On a full disk, whatever a command writes, the help names its option and what that takes."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from attncli.cli import files
from attncli.cli.app import _group, command_names
from attncli.cli.main import run
from attncli.errors import Exit

LOVE = Path(__file__).parents[2] / "inputs" / "i_love_ai.yaml"
CLASS = "student,problem,answers\nAda,love.yaml,ada.yaml\n"
# A command line for each option that writes, and for each way in which it writes; the option is the
# last but one.
LINES = [
    *(
        ["compute", "love.yaml", "-o", name]
        for name in ("a.txt", "a.md", "a.html", "a.tex", "a.json", "a.xlsx")
    ),
    *(
        ["compute", "love.yaml", "--steps", "weights", "-o", name]
        for name in ("a.npy", "a.csv", "a.tsv")
    ),
    ["compute", "love.yaml", "--fragment", "-o", "a{n}.tex"],
    ["compute", "love.yaml", "--pictures", "-o", "a.md"],
    ["gradient", "love.yaml", "-o", "a.md"],
    ["compare", "love.yaml", "--set", "scale=1", "-o", "a.md"],
    ["cost", "love.yaml", "-o", "a.md"],
    ["scaling", "love.yaml", "-o", "a.md"],
    ["check", "love.yaml", "ada.yaml", "-o", "a.md"],
    ["check", "--batch", "class.csv", "-o", "a.csv"],
    ["check", "--batch", "class.csv", "--feedback", "pages"],
    ["worksheet", "love.yaml", "-o", "a.md"],
    ["worksheet", "love.yaml", "-o", "a.md", "--answers", "a.yaml"],
    ["worksheet", "love.yaml", "-o", "a.md", "--key", "key.md"],
    ["steps", "-o", "a.md"],
    ["schema", "trace", "-o", "a.json"],
    ["example", "i_love_ai", "-o", "a.yaml"],
    ["new", "-o", "a.yaml"],
    ["generate", "--audit", "love.yaml", "-o", "a.md"],
    ["generate", "--seed", "1", "--count", "1", "--dims", "2,3,2,2", "-d", "set"],
    *(
        ["export", "love.yaml", "--to", to, "-o", name]
        for to, name in (("moodle", "a.xml"), ("canvas", "a.txt"))
    ),
    ["export", "love.yaml", "--to", "rexams", "-o", "a.Rmd"],
    ["picture", "love.yaml", "--of", "weights", "-o", "a.svg"],
]
# an empty folder; rows that are done, with which --resume goes on
KEPT = ("pages", ".a.csv.partial")
IN_TESTS_OF_ITS_OWN = {("record", "-o")}  # which needs a model


def writing_options() -> dict[tuple[str, str], str]:
    """What each option takes that says it writes files, by its command and its short name."""
    found = {}
    for name, command in _group(*command_names()).commands.items():
        for parameter in command.params:
            help = getattr(parameter, "help", "") or ""
            takes = parameter.metavar
            writes = help.startswith(("Write", "Also write")) and not help.startswith(
                "Write nothing"
            )
            if takes is not None and writes:
                found[name, parameter.opts[0]] = takes
    return found


@pytest.fixture
def full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the lines read, on a disk that has no room for more."""
    shutil.copy(LOVE, tmp_path / "love.yaml")
    (tmp_path / "ada.yaml").write_text("scaled: [[0.58, 2.89, 1.73], null, null]\n")
    (tmp_path / "class.csv").write_text(CLASS)

    def refuse(name: str, mode: str) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)

    monkeypatch.setattr(files, "open", refuse, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_option_that_writes_has_a_line() -> None:
    tried = {(line[0], line[-2]) for line in LINES}
    assert {*writing_options()} - IN_TESTS_OF_ITS_OWN <= tried


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_the_help_names_the_option_and_what_it_takes(
    line: list[str], full: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    option = line[-2]
    takes = writing_options()[line[0], option]
    before = os.listdir(full)
    assert run(line) == Exit.FILE
    error = capsys.readouterr().err
    assert "no space left on device" in error
    added = {*os.listdir(full)} - {*before}
    assert added <= {*KEPT}
    # In another place, the rows that are kept would not be found.
    elsewhere = f"write to another place with {option} {takes}"
    goes_on = "what is done is kept: the same command with --resume goes on from there"
    assert error.endswith(f"help: {goes_on if '.a.csv.partial' in added else elsewhere}\n")
