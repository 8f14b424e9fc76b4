"""Names of files that somebody types: on Windows, every command refuses what would be another file
there; elsewhere people name their files as they like. A folder that is lacking can be made by the
command in the help.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path, PurePath

import pytest

from attncli.cli import files
from attncli.cli.main import run
from attncli.errors import Exit
from tests.cli.test_full_disk import LINES, made_folder, writing_options

# one line for each option that writes
ONE_OF_EACH = list({(line[0], line[-2]): line for line in LINES}.values())
MAKE_THEIR_FOLDERS = ("-d", "--feedback", "--export")


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made_folder(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def as_device(name: str) -> str:
    """The name with that of a device before its suffix, and so that a pattern stays one."""
    path = PurePath(name)
    return f"w/con.{path.name}" if "{" in name else f"w/con{path.suffix}"


@pytest.mark.sampled(2)
@pytest.mark.each_choice
@pytest.mark.parametrize("renamed", [as_device, "w/x:{}".format], ids=["device", "stream"])
@pytest.mark.parametrize("line", ONE_OF_EACH, ids=" ".join)
def test_windows_alone_refuses_a_name(
    line: list[str],
    renamed: Callable[[str], str],
    given: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (given / "w").mkdir()
    name = renamed(PurePath(line[-1]).name)
    before = sorted(os.listdir(given))
    with monkeypatch.context() as patch:
        patch.setattr(files, "has_windows_names", lambda: True)
        assert run([*line[:-1], name]) == Exit.USAGE
    error = capsys.readouterr().err
    assert error.startswith(f"attncli: error: cannot write {name}: Windows takes ")
    *_, option, better = shlex.split(error.splitlines()[-1])
    assert option == line[-2]
    assert (sorted(os.listdir(given)), os.listdir("w")) == (before, [])
    for taken in (better, name):
        assert run([*line[:-1], taken]) < Exit.USAGE
    assert os.listdir("w")


@pytest.mark.sampled(2)
@pytest.mark.each_choice
@pytest.mark.parametrize("folder", ["new", "new one/in it", "-new", "-new/in it"])
@pytest.mark.parametrize("line", ONE_OF_EACH, ids=" ".join)
def test_the_help_makes_a_folder_that_is_lacking(
    line: list[str], folder: str, given: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"{folder}/{PurePath(line[-1]).name}"
    if line[-2] in MAKE_THEIR_FOLDERS:
        assert run([*line[:-1], name]) < Exit.USAGE
        return
    assert run([*line[:-1], name]) == Exit.FILE
    error = capsys.readouterr().err
    assert error.startswith(f"attncli: error: cannot write {name}: there is no folder {folder}\n")
    takes = writing_options()[line[0], line[-2]]
    start, end = (
        "help: make the folder with ",
        f", or write to another place with {line[-2]} {takes}",
    )
    help = error.splitlines()[-1]
    assert help.startswith(start)
    assert help.endswith(end)
    command = shlex.split(help.removeprefix(start).removesuffix(end))
    subprocess.run(command, check=True)
    assert run([*line[:-1], name]) < Exit.USAGE
    assert os.listdir(folder)
