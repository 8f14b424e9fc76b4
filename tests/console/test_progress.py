"""The bar of long work: on a terminal only, after a second only, and gone at the end; and Ctrl-C amid arithmetic."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import time

import pytest

from attncli.console import progress
from attncli.console.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, patience: float, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    report = Progress("working [out]", stream)
    for share in (0.1, 0.5, 0.25, 1.0):
        report(share)
    return stream.getvalue()


def test_long_work_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(Terminal(), 0.0, monkeypatch)
    assert "working [out]" in text
    assert "50%" in text
    assert text.rstrip().endswith("\x1b[2K")  # the line is taken away


@pytest.mark.parametrize(("stream", "patience"), [(io.StringIO(), 0.0), (Terminal(), 60.0)], ids=["pipe", "short"])
def test_nothing_is_shown(stream: io.StringIO, patience: float, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(stream, patience, monkeypatch) == ""


def test_there_may_be_no_stream() -> None:
    Progress("working out", None)(0.5)


AMID_ARITHMETIC = """
from attncli.console.interruption import also_amid_arithmetic, end_on_the_spot
end_on_the_spot()
also_amid_arithmetic()
import numpy
array = numpy.random.default_rng(0).random((3000, 3000))
print("ready", flush=True)
numpy.linalg.svd(array)  # one call, which takes many seconds
"""


def test_an_interruption_amid_arithmetic_is_answered_at_once() -> None:
    with subprocess.Popen([sys.executable, "-c", AMID_ARITHMETIC], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert time.monotonic() - begun < 2  # half a second, where the machine does little else
