"""On a full disk, whatever a command writes, the help names its option and what that takes; and
nothing is left of what it wrote, at whichever of its files the disk was full.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from attncli.cli import files
from attncli.cli.app import _group, command_names
from attncli.cli.main import run
from attncli.errors import Exit

LOVE = Path(__file__).parents[2] / "inputs" / "i_love_ai.yaml"
FUNCTIONS = LOVE.with_name("functions")
CLASS = "student,problem,answers\nAda,love.yaml,ada.yaml\nBen,love.yaml,ben.yaml\n"
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
    ["scaling", "love.yaml", "--draws", "3", "-o", "a.md"],
    ["test", f"{FUNCTIONS}/corrected.py:attention", "-o", "a.md"],
    ["test", f"{FUNCTIONS}/homework.py:attention", "-o", "a.yaml"],
    ["test", "--batch", "functions.csv", "-o", "a.csv"],
    ["test", "--batch", "functions.csv", "--feedback", "pages"],
    ["mask", f"{FUNCTIONS}/masks.py:capped", "-n", "2", "-o", "a.md"],
    ["mask", f"{FUNCTIONS}/masks.py:capped", "-n", "2", "-o", "a.yaml"],
    ["check", "love.yaml", "ada.yaml", "-o", "a.md"],
    ["check", "--batch", "class.csv", "-o", "a.csv"],
    ["check", "--batch", "class.csv", "--feedback", "pages"],
    ["worksheet", "love.yaml", "-o", "a.md"],
    ["worksheet", "love.yaml", "-o", "a.md", "--answers", "a.yaml"],
    ["worksheet", "love.yaml", "-o", "a.md", "--key", "key.md"],
    ["worksheet", "love.yaml", "-o", "a.md", "--key", "key.md", "--answers", "a.yaml"],
    ["steps", "-o", "a.md"],
    ["schema", "trace", "-o", "a.json"],
    ["example", "i_love_ai", "-o", "a.yaml"],
    ["example", "gpt2_layer", "-o", "a.yaml"],
    ["new", "-o", "a.yaml"],
    ["generate", "--audit", "love.yaml", "-o", "a.md"],
    ["generate", "--seed", "1", "--count", "2", "--dims", "2,3,2,2", "-d", "new/set"],
    ["test", "--export", "new/cases"],
    *(
        ["export", "love.yaml", "--to", to, "-o", name]
        for to, name in (("moodle", "a.xml"), ("canvas", "a.txt"))
    ),
    ["export", "love.yaml", "--to", "rexams", "-o", "a.Rmd"],
    ["export", "love.yaml", "other.yaml", "--to", "rexams", "-o", "a-{n}.Rmd"],
    ["picture", "love.yaml", "--of", "weights", "-o", "a.svg"],
]
# rows that are done, with which --resume goes on
KEPT = ".a.csv.partial"
# What these options write must not be there before.
ONLY_NEW = {("example", "-o"), ("generate", "-d"), ("new", "-o"), ("test", "--export")}
# Calls to the system that need room on a disk. Another name may need some, too, but not one that
# was there a moment ago.
CALLS = ("open", "fsync", "mkdir", "rename", "replace")
NAMING = ("rename", "replace")
# Options that write more than one file.
OF_SEVERAL = {"--pictures", "--feedback", "--answers", "--key", "-d", "--export"}
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


def writes_several(line: list[str]) -> bool:
    return "{n}" in line[-1] or not OF_SEVERAL.isdisjoint(line)


class Disk:
    """A disk that is full from one call on which needs room; it counts these calls."""

    def __init__(self, full_from: int | None = None) -> None:
        self.calls = 0
        self._full_from = full_from

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "open", self._with_room(open), raising=False)
        for name in CALLS[1:]:
            monkeypatch.setattr(os, name, self._with_room(getattr(os, name), name in NAMING))

    def _with_room(self, call: Callable[..., Any], is_naming: bool = False) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            if self._is_full(is_naming):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), arguments[0])
            return call(*arguments, **named)

        return called

    def _is_full(self, is_naming: bool) -> bool:
        at, self.calls = self.calls, self.calls + 1
        if self._full_from is None:
            return False
        return at == self._full_from if is_naming else at >= self._full_from


def made_folder(folder: Path) -> Path:
    """A folder with what the lines read."""
    folder.mkdir(exist_ok=True)
    for name in ("love.yaml", "other.yaml"):
        shutil.copy(LOVE, folder / name)
    for name in ("ada.yaml", "ben.yaml"):
        (folder / name).write_text("scaled: [[0.58, 2.89, 1.73], null, null]\n")
    (folder / "class.csv").write_text(CLASS)
    (folder / "functions.csv").write_text(f"student,function\nAda,{FUNCTIONS}/five_lines.py\n")
    return folder


def contents(folder: Path) -> dict[str, bytes | None]:
    """What is in a folder and in those inside it, which have no bytes themselves."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def run_in(folder: Path, line: list[str], disk: Disk) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        disk.install(patch)
        return run(line)


@pytest.fixture
def full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the lines read, on a disk that has no room for more."""
    made_folder(tmp_path)
    Disk(full_from=0).install(monkeypatch)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_option_that_writes_has_a_line() -> None:
    tried = {(line[0], line[-2]) for line in LINES}
    assert {*writing_options()} - IN_TESTS_OF_ITS_OWN <= tried


@pytest.mark.sampled(3)
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
    assert added <= {KEPT}
    # In another place, the rows that are kept would not be found.
    elsewhere = f"write to another place with {option} {takes}"
    goes_on = "what is done is kept: the same command with --resume goes on from there"
    assert error.endswith(f"help: {goes_on if KEPT in added else elsewhere}\n")


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_these_write_several_files(line: list[str], tmp_path: Path) -> None:
    given = made_folder(tmp_path / "given")
    before = {*contents(given)}
    assert run_in(given, line, Disk()) < Exit.USAGE
    assert (len({*contents(given)} - before) > 1) == writes_several(line)


@pytest.mark.long
@pytest.mark.parametrize("places", [2, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("line", [*filter(writes_several, LINES)], ids=" ".join)
def test_nothing_is_left_of_several_files(
    line: list[str], places: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pages of a class are written one by one: the error says how many are there, and are whole.

    A single file is tried in `test_faults.py`, at every call.
    """
    given = contents(made_folder(tmp_path / "given"))
    disk = Disk()
    assert run_in(tmp_path / "given", line, disk) < Exit.USAGE
    written = {
        name: data for name, data in contents(tmp_path / "given").items() if name not in given
    }
    assert len(written) > 1
    olds = [b"", b"old"] if (line[0], line[-2]) not in ONLY_NEW else [b""]
    for old, full_from in product(olds, range(0, disk.calls, disk.calls // places + 1)):
        folder = made_folder(tmp_path / f"{full_from}{old!r}")
        for name in filter(written.get, written if old else ()):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(old)
        before = contents(folder)
        capsys.readouterr()
        code = run_in(folder, line, full_disk := Disk(full_from))
        left = contents(folder)
        left.pop(KEPT, None)
        if full_disk.calls <= full_from:
            # There was less to write, since a folder was there.
            assert code < Exit.USAGE
            continue
        assert code == Exit.FILE
        pages = {name for name in left if "pages/" in name and left[name] == written[name]}
        said = re.findall(r"(\d+) pages? of feedback in pages", capsys.readouterr().err)
        assert said == ([str(len(pages))] if pages else [])
        assert {*left} - {*before} == (pages | {"pages"} if pages else set()) - {*before}
        assert all(left[name] == before[name] for name in {*before} - pages)
