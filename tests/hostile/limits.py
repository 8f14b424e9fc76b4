"""Runs one command in a process of its own with little time and memory, and tells what became of
it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# bytes of address space: Python, NumPy and its threads claim half of it before they do anything
ADDRESSES = 2**32
SECONDS = 20
# Set by a shell that becomes the command: a fork of the tests' own would warn of their threads.
LIMITED = f'ulimit -v {ADDRESSES // 1024}; ulimit -t {SECONDS}; ulimit -c 0; exec "$@"'


@dataclass(frozen=True, slots=True)
class Answer:
    """How a process ended: its exit code (negative for a signal), what it wrote, its CPU seconds
    and peak MiB.
    """

    code: int
    out: bytes
    err: str
    seconds: float
    mebibytes: float


def answer(folder: Path, arguments: list[str], standard_input: str = "/dev/null") -> Answer:
    """What `attncli ARGUMENTS` answers in this folder, ended after SECONDS whatever it does."""
    out, err = folder / ".out", folder / ".err"
    with open(standard_input, "rb") as stdin, out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            ["sh", "-c", LIMITED, "sh", sys.executable, "-m", "attncli", *arguments],
            stdin=stdin, stdout=stdout, stderr=stderr, cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        process.returncode = 0  # it is waited for here, with what it took
        status, seconds, mebibytes = _wait(process.pid)
    return Answer(
        os.waitstatus_to_exitcode(status),
        out.read_bytes(),
        err.read_text(errors="replace"),
        seconds,
        mebibytes,
    )


def _wait(process: int) -> tuple[int, float, float]:
    """How it ended, its CPU seconds, and its peak MiB as it was last seen alive."""
    end = time.monotonic() + 3 * SECONDS
    mebibytes = 0.0
    while time.monotonic() < end:
        mebibytes = max(mebibytes, _peak(process))
        found, status, used = os.wait4(process, os.WNOHANG)
        if found:
            return status, used.ru_utime + used.ru_stime, mebibytes
        time.sleep(0.005)
    os.kill(process, 9)  # it hangs without using time, as on a pipe that nobody writes to
    _, status, used = os.wait4(process, 0)
    return status, used.ru_utime + used.ru_stime, mebibytes


def _peak(process: int) -> float:
    """The most it held so far, in MiB: not `ru_maxrss`, which begins with what the tests' own
    process held at the fork.

    Where a system does not tell, there is nothing to hold against the limit: 0.
    """
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    peak = next((line for line in status.splitlines() if line.startswith("VmHWM")), None)
    return int(peak.split()[1]) / 1024 if peak else 0.0
