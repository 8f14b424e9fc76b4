"""Runs one command in a process of its own with little time and memory, and tells what became of it."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
ADDRESSES = 2**32  # bytes of address space: Python, NumPy and its threads claim half of it before they do anything
SECONDS = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """How a process ended: its exit code (negative for a signal), what it wrote, its CPU seconds and peak MiB."""

    code: int
    out: bytes
    err: str
    seconds: float
    mebibytes: float


def answer(folder: Path, arguments: list[str], standard_input: str = "/dev/null") -> Answer:
    """What `attncli ARGUMENTS` answers in this folder, ended after SECONDS whatever it does."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    out, err = folder / ".out", folder / ".err"
    with open(standard_input, "rb") as stdin, out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "attncli", *arguments],
            stdin=stdin, stdout=stdout, stderr=stderr, cwd=folder, preexec_fn=limit,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        process.returncode = 0  # it is waited for here, with what it took
        status, used = _wait(process.pid)
    return Answer(
        os.waitstatus_to_exitcode(status), out.read_bytes(), err.read_text(errors="replace"),
        used.ru_utime + used.ru_stime, used.ru_maxrss / 1024,
    )  # fmt: skip


def _wait(process: int) -> tuple[int, resource.struct_rusage]:
    end = time.monotonic() + 3 * SECONDS
    while time.monotonic() < end:
        found, status, used = os.wait4(process, os.WNOHANG)
        if found:
            return status, used
        time.sleep(0.005)
    os.kill(process, 9)  # it hangs without using time, as on a pipe that nobody writes to
    _, status, used = os.wait4(process, 0)
    return status, used
