"""A process that is ended in the midst of its work ends as the signal says, and leaves no file half
written or lost.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

# a shell says 143 and 129
ENDED = {"SIGINT": 130, "SIGTERM": -signal.SIGTERM, "SIGHUP": -signal.SIGHUP}
WRITING = """
import os, signal, sys
from attncli.cli import main as cli
{function} = os.{function}

def interrupted(*arguments):
    os.kill(os.getpid(), signal.{name})
    os.kill(os.getpid(), signal.{name})
    return {function}(*arguments)

os.{function} = interrupted
sys.argv = ["attncli", "steps", "-o", {path!r}]
cli.main()
"""


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("function", ["chmod", "fsync", "replace"])
@pytest.mark.parametrize("name", ENDED)
def test_while_a_file_is_written(name: str, function: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("old")
    program = WRITING.format(name=name, function=function, path=str(tmp_path / "a.md"))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (ENDED[name], "", "")
    assert os.listdir(tmp_path) == ["a.md"]
    assert (tmp_path / "a.md").read_text() == "old"


MAKING = """
import os, signal, sys
from attncli.cli import main as cli
mkdir, rmdir = os.mkdir, os.rmdir
made = []

def interrupted(*arguments):
    mkdir(*arguments)
    made.append(arguments)
    if len(made) == {count}:
        os.kill(os.getpid(), signal.{name})

def interrupted_again(*arguments):
    os.kill(os.getpid(), signal.{name})
    rmdir(*arguments)

os.mkdir, os.rmdir = interrupted, interrupted_again
sys.argv = ["attncli", *{arguments!r}]
cli.main()
"""
# Every command that makes a folder; here it makes two, one in the other.
MAKERS = {
    "generate": "generate --seed midterm --count 2 -d new/folder",
    "check": "check --batch class.csv -o results.csv --feedback new/folder",
    "test": "test --batch functions.csv -o results.csv --feedback new/folder",
}
SAID = {
    "generate": "",
    "check": "0 of 1 solution are checked; results.csv is not written",
    "test": "0 of 1 function are tested; results.csv is not written",
}


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("name", ENDED)
@pytest.mark.parametrize("command", MAKERS)
def test_as_soon_as_a_folder_is_made(command: str, name: str, count: int, tmp_path: Path) -> None:
    """Another signal comes while the folder is removed."""
    (tmp_path / "class.csv").write_text("student,problem,answers\nAda,p.yaml,a.yaml\n")
    (tmp_path / "functions.csv").write_text("student,function\nAda,ada.py\n")
    program = MAKING.format(name=name, count=count, arguments=MAKERS[command].split())
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (ENDED[name], "")
    assert SAID[command] in done.stderr
    assert {*os.listdir(tmp_path)} == {"class.csv", "functions.csv"}


@pytest.mark.long
def test_one_that_is_ignored_stays_so(tmp_path: Path) -> None:
    program = WRITING.format(name="SIGHUP", function="fsync", path=str(tmp_path / "a.md"))
    command = ["sh", "-c", 'trap "" HUP; exec "$0" -c "$1"', sys.executable, program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "a.md").read_text("utf-8").startswith("# ")


@pytest.mark.long
@pytest.mark.parametrize("name", ["SIGINT", pytest.param("SIGTERM", marks=pytest.mark.slow)])
def test_amid_work(name: str, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(
        "Q: {random: [6000, 64]}\nK: {random: [6000, 64]}\nV: {random: [6000, 64]}\nsoftcap: 5\n"
    )
    (tmp_path / "a.json").write_text("old")
    with subprocess.Popen(
        [sys.executable, "-m", "attncli", "compute", "p.yaml", "-o", "a.json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        time.sleep(3)  # a busy machine takes a second to begin; all of it takes minutes
        assert process.poll() is None
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (ENDED[name], b"", b"")
    assert sorted(os.listdir(tmp_path)) == ["a.json", "p.yaml"]
    assert (tmp_path / "a.json").read_text() == "old"
