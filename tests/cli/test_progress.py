"""The bar of long work: on a terminal only, after a second only, and gone at the end; and Ctrl-C
amid arithmetic.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from attncli.cli import progress as module
from attncli.cli.files import write
from attncli.cli.progress import Progress
from attncli.cli.signals import terminal_resets


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def until(condition: str, stream: io.StringIO) -> str:
    """What stands on the terminal once this does."""
    for _ in range(3000):
        if condition in stream.getvalue():
            return stream.getvalue()
        time.sleep(0.01)
    pytest.fail(f"{condition!r} is not in {stream.getvalue()!r}")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS_BEFORE_BAR", 0.0)
    monkeypatch.setattr(module, "SECONDS_BETWEEN_LOOKS", 0.01)
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.usefixtures("quick")
def test_long_work_on_a_terminal() -> None:
    terminal, progress = Terminal(), Progress()
    progress.begin("reading", terminal)
    until("reading", terminal)
    assert "%" not in terminal.getvalue()  # nobody knows how much there is to read
    progress.begin("working [out]", terminal)
    progress.report(0.5)
    until("50%", terminal)
    progress.begin("writing", terminal)
    written = until("writing", terminal)
    assert "%" not in written[written.rindex("writing") :]
    assert "working [out]" in terminal.getvalue()
    assert list(progress.over("abc", 3)) == ["a", "b", "c"]
    until("100%", terminal)
    assert terminal_resets  # which clear the line where Ctrl-C ends the process
    progress.end()
    assert terminal.getvalue().endswith("\x1b[2K")  # the line is taken away
    # never hidden: a process that is killed could not bring it back
    assert "\x1b[?25l" not in terminal.getvalue()
    assert not terminal_resets


def test_the_bar_ends_before_a_pipe_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """What reads the pipe, such as head, may show it on the terminal that has the bar."""
    reading, writing = os.pipe()
    ended: list[bytes] = []
    monkeypatch.setattr(module.Progress, "end", lambda _: ended.append(b"end"))
    with os.fdopen(writing, "w") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        write("page", "-", portable=True)
    assert os.read(reading, 9) == b"page"
    os.close(reading)
    assert ended


@pytest.mark.usefixtures("quick")
def test_a_pipe_shows_nothing_and_has_no_thread() -> None:
    pipe, progress, before = io.StringIO(), Progress(), threading.active_count()
    progress.begin("working out", pipe)
    assert threading.active_count() == before
    progress.report(0.5)
    progress.end()
    assert pipe.getvalue() == ""


def test_short_work_shows_nothing() -> None:
    terminal, progress = Terminal(), Progress()
    progress.begin("working out", terminal)
    progress.report(0.5)
    progress.end()
    assert terminal.getvalue() == ""


def test_there_may_be_no_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    progress = Progress()
    progress.begin("working out")
    progress.end()


@pytest.mark.usefixtures("quick")
def test_a_terminal_that_goes_away() -> None:
    terminal, progress = Terminal(), Progress()
    progress.begin("working out", terminal)
    until("working out", terminal)
    terminal.close()
    time.sleep(0.1)
    progress.end()
    assert not terminal_resets


AMID_ARITHMETIC = """
from attncli.cli.signals import interrupt_arithmetic, exit_on_interrupt
exit_on_interrupt()
interrupt_arithmetic()
import numpy
array = numpy.random.default_rng(0).random((4000, 4000))
print("ready", flush=True)
numpy.linalg.svd(array)  # one call, which takes half a minute
"""


@pytest.mark.long
def test_an_interruption_amid_arithmetic_is_answered_at_once() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", AMID_ARITHMETIC], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert time.monotonic() - begun < 10  # half a second, where the machine does little else
