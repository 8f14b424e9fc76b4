"""`--watch`: a page is worked out again when its file changes, until Ctrl-C."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from attncli.cli.main import run

PROBLEM = "Q: [[{}]]\nK: [[1]]\nV: [[1]]\n"
CELL = ("--cell", "scores[0,0]")
SECONDS = 60  # until something must have happened
Start = Callable[..., "Watched"]


class Watched:
    """A process that watches, and what it has printed, both streams in one."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.reading, writing = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "attncli", *arguments],
            cwd=folder,
            stdout=writing,
            stderr=writing,
        )
        os.close(writing)

    def until(self, *words: str) -> str:
        """What it prints up to the last of these words, which it must print in this order."""
        text, end = "", time.monotonic() + SECONDS
        for word in words:
            while word not in text:
                assert time.monotonic() < end, f"no {word!r} in {text}"
                if select.select([self.reading], [], [], 0.1)[0]:
                    piece = os.read(self.reading, 2**16).decode()
                    assert piece, f"it ended without {word!r}: {text}"
                    text += piece
        return text

    def interrupted(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(SECONDS)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    begun: list[Watched] = []

    def start(*arguments: str) -> Watched:
        begun.append(Watched(tmp_path, *arguments))
        return begun[-1]

    yield start
    for each in begun:
        each.process.kill()
        each.process.wait()
        os.close(each.reading)


def save(path: Path, text: str) -> None:
    """As editors do: another file is put in its place."""
    (path.parent / "saved").write_text(text)
    (path.parent / "saved").replace(path)


@pytest.mark.long
def test_a_page_is_worked_out_again_and_ctrl_c_ends_it(tmp_path: Path, start: Start) -> None:
    (tmp_path / "p.yaml").write_text(PROBLEM.format(2))
    watched = start("compute", "p.yaml", "--watch", *CELL)
    text = watched.until("2·1 = 2", "attncli: watching p.yaml; press Ctrl-C to stop\n")
    assert "\x1b" not in text  # this is no terminal
    save(tmp_path / "p.yaml", PROBLEM.format(3))
    watched.until("3·1 = 3", "watching")
    with (tmp_path / "p.yaml").open("a") as stream:
        stream.write("# the same")
    watched.until("3·1 = 3", "watching")
    assert watched.interrupted() == 130


@pytest.mark.long
def test_what_is_wrong_is_shown_and_watched_on(tmp_path: Path, start: Start) -> None:
    (tmp_path / "p.yaml").write_text(PROBLEM.format("x"))
    watched = start("compute", "p.yaml", "--watch", *CELL)
    watched.until("p.yaml:1:6: Q[0][0]: x is not a number", "watching")
    save(tmp_path / "p.yaml", PROBLEM.format(4))
    watched.until("4·1 = 4", "watching")
    (tmp_path / "p.yaml").unlink()
    watched.until("cannot read p.yaml: this file does not exist", "watching")
    save(tmp_path / "p.yaml", PROBLEM.format(5))
    watched.until("5·1 = 5", "watching")
    assert watched.interrupted() == 130


@pytest.mark.long
def test_arrays_are_watched_too(tmp_path: Path, start: Start) -> None:
    (tmp_path / "p.yaml").write_text("Q: {file: q.npy}\nK: [[1]]\nV: [[1]]\n")
    watched = start("gradient", "p.yaml", "--watch", "--cell", "d_K[0,0]", "-q")
    watched.until("cannot read q.npy: this file does not exist")
    np.save(tmp_path / "q.npy", [[6.0]])
    watched.until("d_K[0, 0]")
    np.save(tmp_path / "q.npy", [[7.0], [8.0]])
    assert "watching" not in watched.until("d_K[0, 0]")  # -q
    assert watched.interrupted() == 130


@pytest.mark.long
def test_a_file_is_written_again(tmp_path: Path, start: Start) -> None:
    (tmp_path / "p.yaml").write_text(PROBLEM.format(2))
    watched = start("compute", "p.yaml", "--watch", *CELL, "-o", "page.md")
    watched.until("attncli: page.md is written; watching p.yaml; press Ctrl-C to stop\n")
    save(tmp_path / "p.yaml", PROBLEM.format("x"))
    assert "is written" not in watched.until("error: p.yaml:1:6", "watching p.yaml")
    assert "2" in (tmp_path / "page.md").read_text()  # the page before
    save(tmp_path / "p.yaml", PROBLEM.format(9))
    watched.until("page.md is written")
    assert r"9 \cdot 1 = 9" in (tmp_path / "page.md").read_text()
    assert watched.interrupted() == 130


@pytest.mark.long
def test_a_terminal_is_cleared_before_each_page(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    (tmp_path / "p.yaml").write_text(PROBLEM.format(2))
    screen, terminal = pty.openpty()
    watching = subprocess.Popen(
        [sys.executable, "-m", "attncli", "compute", "p.yaml", "--watch", *CELL],
        cwd=tmp_path,
        env=os.environ | {"TERM": "xterm", "NO_COLOR": "1"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    shown = b""
    try:
        for number in (2, 3):
            save(tmp_path / "p.yaml", PROBLEM.format(number))
            end = time.monotonic() + SECONDS
            while f"{number}·1 = {number}".encode() not in shown and time.monotonic() < end:
                if select.select([screen], [], [], 0.1)[0]:
                    shown += os.read(screen, 2**16)
    finally:
        watching.kill()
        watching.wait()
        os.close(screen)
    pages = shown.decode().split("\x1b[H\x1b[2J")
    assert "2·1" not in pages[0]
    assert "2·1 = 2" in pages[1]
    assert "3·1 = 3" in pages[-1]
    assert "2·1 = 2" not in pages[-1]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-"], 2, "--watch needs a file: standard input can be read only once"),
        (["nowhere.yaml"], 4, "cannot read nowhere.yaml: this file does not exist"),
        (["p.yaml", "--cell", "Q[7,7]"], 2, "Q[7,7]"),
        (["p.yaml", "--detail", "much"], 2, "--detail cannot be 'much'"),
        (
            ["p.yaml", "-o", "p.yaml", "--format", "table"],
            2,
            "-o p.yaml would write over the problem itself",
        ),
    ],
)
def test_what_no_change_of_the_file_mends_ends_it(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(PROBLEM.format(2))
    assert run(["compute", *arguments, "--watch"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert "watching" not in err
