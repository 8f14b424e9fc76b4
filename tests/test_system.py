"""What attncli asks of the system, on Windows too, as far as functions can be asked without it."""

from __future__ import annotations

import ctypes
import errno
import ntpath
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import ModuleType, SimpleNamespace
from typing import Any, TextIO, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attncli import system
from attncli.cli.classes import processes
from attncli.cli.main import run
from attncli.problem.arrays.references import is_special, leads_elsewhere
from tests.cases import in_one_test

ROOT = Path(__file__).parents[1]


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What asks for the system is told that it is Windows, with the separators of paths there."""
    monkeypatch.setattr("attncli.system.sys", SimpleNamespace(platform="win32"))
    monkeypatch.setattr(system.os, "sep", "\\")
    monkeypatch.setattr(system.os, "altsep", "/")


def test_no_other_module_asks_which_system_this_is() -> None:
    asks = re.compile(
        r"sys\.platform|os\.name\b|import platform|hasattr\((os|signal|sys|socket|time), "
    )
    modules = {
        path
        for path in (ROOT / "attncli").rglob("*.py")
        if asks.search(path.read_text(encoding="utf-8"))
    }
    assert modules == {ROOT / "attncli" / "system.py"}


# Command lines


def cut_on_windows(line: str) -> list[str]:
    """The arguments that a program gets of a line there, by the rules that Microsoft gives for
    argv.

    Backslashes before a quotation mark are read in pairs. If one is left, the mark is a letter.
    """
    words: list[str] = []
    at = 0
    while at < len(line):
        if line[at] in " \t":
            at += 1
            continue
        word, at = _word(line, at)
        words.append(word)
    return words


def _word(line: str, at: int) -> tuple[str, int]:
    """The argument that begins there, and where it ends."""
    word, quoted = "", False
    while at < len(line) and (quoted or line[at] not in " \t"):
        after = at
        while line[after : after + 1] == "\\":
            after += 1
        backslashes = after - at
        if line[after : after + 1] == '"':
            word += "\\" * (backslashes // 2)
            if backslashes % 2:
                word += '"'
            else:
                quoted = not quoted
            at = after + 1
        elif backslashes:
            word += "\\" * backslashes
            at = after
        else:
            word += line[at]
            at += 1
    return word, at


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (r'"a b c" d e', ["a b c", "d", "e"]),
        (r'"ab\"c" "\\" d', ['ab"c', "\\", "d"]),
        (r'a\\\b d"e f"g h', ["a\\\\\\b", "de fg", "h"]),
        (r"a\\\"b c d", ['a\\"b', "c", "d"]),
        (r'a\\\\"b c" d e', ["a\\\\b c", "d", "e"]),
    ],
)
def test_the_rules_are_those_of_microsoft(line: str, words: list[str]) -> None:
    """Its own examples, of "Parsing C command-line arguments"."""
    assert cut_on_windows(line) == words


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize(
    "line",
    [
        "compute p.yaml --cell 'weights[0,1]'",
        "compute p.yaml --cell='weights[0,1]' -q",
        "compute p.yaml --cell 'scores[I, love it]' --heatmap",
        "compute p.yaml --mask '{padding: [1, 1, 0]}'",
        "compute p.yaml --mask='{padding: [1, 1, 0]}' --detail rows",
        "compare p.yaml --set 'mask=causal' --set 'scale=1/3'",
        "record folder --text '' -o p.yaml",
        "compute p.yaml",
        "compute p.yaml -o don.md --query isn.t",
        "",
    ],
)
def test_single_quotes_do_in_cmd_what_they_do_in_other_shells(line: str) -> None:
    assert system.as_typed(cut_on_windows(line)) == shlex.split(line)


@pytest.mark.usefixtures("windows")
def test_blanks_come_to_one_and_names_with_quotes_join() -> None:
    """As the function says of itself: the blanks are lost before Python begins."""
    assert system.as_typed(cut_on_windows("--title 'a  b'")) == ["--title", "a b"]
    assert system.as_typed(cut_on_windows("'tis.yaml p.yaml o'")) == ["tis.yaml p.yaml o"]


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize(
    "arguments",
    [
        ["'"],
        ["don't"],
        ["rock'n'roll"],
        ["dogs'"],
        ["'tis", "here"],
        ["--query", "it's"],
        ["--x='"],
        [""],
    ],
)
def test_a_quote_that_is_not_closed_or_stands_inside_is_a_letter(arguments: list[str]) -> None:
    assert system.as_typed(arguments) == arguments


def test_elsewhere_the_shell_has_read_the_quotes() -> None:
    assert system.as_typed(["--cell", "'weights[0,1]'"]) == ["--cell", "'weights[0,1]'"]


@pytest.mark.usefixtures("windows")
@given(st.text("ab\\'\" &|<>^[{,.:", max_size=8))
@example("C:\\my dir\\")
@example('a\\"b')
@example("")
def test_what_help_lines_say_can_be_pasted_on_windows(word: str) -> None:
    line = f"attncli {system.quoted(word)}"
    assert cut_on_windows(line) == ["attncli", word]
    if '"' not in word:
        outside = re.sub(r'"[^"]*"', "", line)
        assert not {*outside} & {*"&|<>^'"}


@pytest.mark.usefixtures("windows")
@given(st.text('a\\" ', max_size=8))
def test_quotes_are_those_of_python_for_windows(word: str) -> None:
    """What Python itself would write, but for the quotes around a word that needs none there."""
    assert system.quoted(f" {word}") == subprocess.list2cmdline([f" {word}"])


def test_stars_stand_for_files_on_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("b.yaml", "a.yaml", "[1].yaml", "c.md"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("attncli.system.sys", SimpleNamespace(platform="win32"))
    assert system.files_named(["*.yaml", "c.md", "?.md"]) == [
        "[1].yaml",
        "a.yaml",
        "b.yaml",
        "c.md",
        "c.md",
    ]
    assert system.files_named(["[1]*", "*.txt", "-", "a[0]"]) == ["[1].yaml", "*.txt", "-", "a[0]"]


def test_elsewhere_the_shell_has_replaced_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.yaml").touch()
    monkeypatch.chdir(tmp_path)
    assert system.files_named(["*.yaml"]) == ["*.yaml"]


def test_commands_of_several_files_take_stars_on_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    love, answers = (
        ROOT / "inputs" / "i_love_ai.yaml",
        ROOT / "inputs" / "answers" / "i_love_ai.yaml",
    )
    for name in ("ada", "bob"):
        (tmp_path / f"{name}.yaml").write_bytes(answers.read_bytes())
    monkeypatch.setattr("attncli.system.sys", SimpleNamespace(platform="win32"))
    assert run(["check", str(love), str(tmp_path / "*.yaml"), "--format", "csv"]) == 1
    students = [line.split(",")[0].strip('"') for line in capsys.readouterr().out.splitlines()]
    assert students == ["student", "ada", "bob"]
    assert run(["export", str(ROOT / "inputs" / "caus*.yaml"), "--to", "canvas"]) == 0


# Terminals


class Console:
    """The functions of kernel32 on the modes of a console, or on something that is none."""

    def __init__(self, mode: int | None, changes: bool) -> None:
        self.mode = mode
        self._changes = changes

    def GetConsoleMode(self, handle: ctypes.c_void_p, mode: Any) -> int:
        assert handle.value == 1007
        mode._obj.value = self.mode or 0
        return int(self.mode is not None)

    def SetConsoleMode(self, handle: ctypes.c_void_p, mode: ctypes.c_ulong) -> int:
        assert handle.value == 1007
        if self._changes:
            self.mode = mode.value
        return int(self._changes)


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize(
    ("console", "heeds", "mode"),
    [
        (Console(3, changes=True), True, 7),  # a console of Windows 10
        (Console(7, changes=True), True, 7),
        (Console(3, changes=False), False, 3),  # one of Windows 8
        (Console(None, changes=False), False, None),  # NUL, which says that it is a terminal
    ],
)
def test_a_console_of_windows_is_asked_for_colours(
    console: Console, heeds: bool, mode: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = ModuleType("msvcrt")
    runtime.get_osfhandle = lambda descriptor: descriptor + 1000  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "msvcrt", runtime)
    monkeypatch.setattr(ctypes, "WinDLL", lambda name: {"kernel32": console}[name], raising=False)
    monkeypatch.delenv("TERM", raising=False)
    terminal = cast("TextIO", SimpleNamespace(fileno=lambda: 7))
    assert system.heeds_escapes(terminal) is heeds
    assert console.mode == mode
    monkeypatch.setenv("TERM", "dumb")
    assert system.heeds_escapes(terminal) is False


# Streams and files


def test_a_pipe_without_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    invalid = OSError(errno.EINVAL, "Invalid argument")
    assert system.is_reader_gone(BrokenPipeError(errno.EPIPE, "Broken pipe"))
    assert not system.is_reader_gone(invalid)
    monkeypatch.setattr("attncli.system.sys", SimpleNamespace(platform="win32"))
    assert system.is_reader_gone(invalid)
    assert not system.is_reader_gone(OSError(errno.ENOSPC, "No space left on device"))
    assert not system.is_reader_gone(OSError(errno.EINVAL, "Invalid argument", "a:b?.yaml"))


def test_what_has_no_number_on_windows_is_not_the_same_file(tmp_path: Path) -> None:
    """There NUL, a pipe and a console have all zeros, so `-o NUL` would go to standard output."""
    device = os.stat_result((0o020000, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    assert os.path.samestat(device, device)
    assert not system.is_same(device, device)
    file = tmp_path.stat()
    assert system.is_same(file, tmp_path.stat())
    assert not system.is_same(file, None)


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a\\", "a"),
        ("a/", "a"),
        ("a\\b", "a\\b"),
        ("C:\\x\\/", "C:\\x"),
        ("a/b", "a/b"),
        ("a", "a"),
    ],
)
def test_a_folder_with_either_separator(path: str, found: str) -> None:
    assert system.without_last_separator(path) == found


def test_a_path_that_was_written_on_windows() -> None:
    assert system.path_here("arrays\\w.npz") == "arrays/w.npz"
    assert system.path_here("arrays/w\\x.npz") == "arrays/w\\x.npz"


@pytest.mark.usefixtures("windows")
def test_a_path_stays_on_windows() -> None:
    assert system.path_here("arrays\\w.npz") == "arrays\\w.npz"


def test_a_problem_of_windows_finds_its_arrays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "arrays").mkdir()
    (tmp_path / "arrays" / "v.csv").write_text("1\n2\n", encoding="utf-8")
    problem = tmp_path / "p.yaml"
    problem.write_text(
        "Q: [[1, 0]]\nK: [[1, 0], [0, 1]]\nV: {file: arrays\\v.csv}\n", encoding="utf-8"
    )
    assert run(["compute", str(problem), "--format", "json"]) == 0
    problem.write_text("Q: [[1, 0]]\nK: [[1, 0], [0, 1]]\nV: {file: ..\\v.csv}\n", encoding="utf-8")
    capsys.readouterr()
    assert run(["compute", str(problem)]) == 3
    assert "../v.csv is outside the problem's folder\n" in capsys.readouterr().err


# Paths of Windows


FOLDER = PureWindowsPath("C:\\hw\\set 1")
PIECES = st.sampled_from(
    ["..", ".", "a", "b.npz", "hw", "set 1", "\\", "/", "C:", "D:", "\\\\server\\share", "a:b"]
)
PATHS = st.lists(PIECES, min_size=1, max_size=6).map("".join) | st.lists(
    PIECES, min_size=1, max_size=6
).map("\\".join)


@in_one_test(
    "path",
    [
        "..\\x.npz",
        "a\\..\\..\\x.npz",
        "C:x.npz",
        "D:x.npz",
        "C:\\x.npz",
        "\\x.npz",
        "\\\\server\\share\\x.npz",
        "../x",
    ],
)
def test_paths_that_lead_out_of_their_folder(path: str) -> None:
    assert leads_elsewhere(PureWindowsPath(path))


@given(PATHS)
@example("C:a")
@example("..\\hw\\set 1\\a")
def test_what_lies_outside_says_so_by_itself(path: str) -> None:
    """Else its error would say that it is a link."""
    whole = PureWindowsPath(ntpath.normpath(ntpath.join(str(FOLDER), path)))
    assert whole.is_relative_to(FOLDER) or leads_elsewhere(PureWindowsPath(path))


@in_one_test(
    "path",
    ["NUL", "nul.npz", "a\\CON", "COM1.npy", "a.npz:b.npz", "a\\b:c", "C:\\x\\a:b", "con .csv"],
)
def test_devices_and_streams_are_no_files_on_windows(path: str) -> None:
    assert is_special(PureWindowsPath(path))
    assert not is_special(PurePosixPath(path))


@pytest.mark.parametrize(
    "path", ["a.npz", "C:\\x\\a.npz", "C:a.npz", "\\\\server\\share\\a.npz", "..\\console.npz"]
)
def test_files_on_windows(path: str) -> None:
    assert not is_special(PureWindowsPath(path))


# Processes


@pytest.mark.parametrize(
    ("asked", "platform_has", "most"), [(100, 61, 61), (4, 61, 4), (100, 1000, 100)]
)
def test_a_pool_has_no_more_processes_than_the_system_takes(
    asked: int, platform_has: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []

    class Pool:
        def __init__(self, workers: int, *_: object) -> None:
            begun.append(workers)

        def shutdown(self, **_: object) -> None:
            """Nothing runs."""

    monkeypatch.setattr(processes, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(system, "MOST_PROCESSES", platform_has)
    with processes._processes(asked):
        pass
    assert begun == [most]
