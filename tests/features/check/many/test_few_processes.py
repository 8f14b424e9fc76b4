"""Systems that have no room for more processes or threads, as a container with a limit of pids.

The class is checked all the same: with what there is, or in one process after a warning.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from attncli.attention import parallel
from attncli.cli.classes import processes
from attncli.cli.main import run
from attncli.features.check.many.manifest import Submission
from attncli.features.check.many.marking import mark_all, mark_in_processes
from attncli.features.check.many.result_row import Settings
from attncli.features.check.many.time_limit import within

PROBLEM = "Q: [[1, 2]]\nK: [[1, 0], [0, 1]]\nV: [[1, 0], [0, 1]]\n"
COUNT = 12
WARNING = (
    "attncli: warning: the submissions were checked one after the other: the system does not let"
    " several processes work together ({})\n"
)
NO_THREAD = "can't start new thread"


@pytest.fixture
def students(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The solutions of more students than are checked in one process, one of which is wrong."""
    monkeypatch.chdir(tmp_path)
    Path("problem.yaml").write_text(PROBLEM)
    for number in range(COUNT):
        Path(f"{number}.yaml").write_text(f"scores: [[1, {2 if number else 3}]]\n")
    return [f"{number}.yaml" for number in range(COUNT)]


def after(number: int, method: Callable[..., Any], error: Exception) -> Callable[..., Any]:
    """The method, which from its call of this number on raises the error."""
    calls: list[object] = []

    def limited(*given: object) -> object:
        calls.append(given)
        if len(calls) > number:
            raise error
        return method(*given)

    return limited


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize("had", [0, 1, 2])
def test_processes_that_cannot_be_started(
    had: int, students: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    arguments = ["check", "problem.yaml", *students, "--format", "csv", "--workers"]
    assert run([*arguments, "1"]) == 1
    usual = capsys.readouterr()
    refused = BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    monkeypatch.setattr(BaseProcess, "start", after(had, BaseProcess.start, refused))
    assert run([*arguments, "3"]) == 1
    assert capsys.readouterr() == (usual.out, WARNING.format("resource temporarily unavailable"))


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize("had", [0, 1])
def test_threads_of_a_pool_that_cannot_be_started(
    had: int, students: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one hands out the work. The second one, which that starts, sends it."""
    submissions = [Submission(name, "problem.yaml", name) for name in students]
    whole = dict(mark_all(submissions, Settings()))
    before = threading.excepthook
    limited = after(had, threading.Thread.start, RuntimeError(NO_THREAD))
    monkeypatch.setattr(threading.Thread, "start", limited)
    warnings: list[str] = []
    found = dict(mark_in_processes(submissions, Settings(), 2, warnings.append))
    assert found == whole
    (warning,) = warnings
    assert warning.endswith(f"({NO_THREAD})")
    assert threading.excepthook is before


def test_what_ends_another_thread_is_still_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda fault: told.append(fault.exc_type))
    with processes._lost_thread() as lost:
        thread = threading.Thread(target=lambda: int("x"))
        thread.start()
        thread.join()
        assert told == [ValueError]
        assert not lost.done()


@pytest.mark.long
def test_a_pool_that_breaks_while_work_is_handed_out(
    students: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process may end before the last submission is handed out; the next pool goes on."""
    submissions = [Submission(name, "problem.yaml", name) for name in students]
    whole = dict(mark_all(submissions, Settings()))
    broken = after(5, processes.ProcessPoolExecutor.submit, processes.BrokenProcessPool())
    pool, made = processes._pool, []

    def first_breaks(workers: int) -> Any:
        executor = pool(workers)
        if not made:
            monkeypatch.setattr(executor, "submit", lambda *given: broken(executor, *given))
        made.append(workers)
        return executor

    monkeypatch.setattr(processes, "_pool", first_breaks)
    warnings: list[str] = []
    found = dict(mark_in_processes(submissions, Settings(), 2, warnings.append))
    assert found == whole
    assert warnings == []
    assert len(made) > 1


@pytest.mark.parametrize("had", [0, 1, 3])
def test_fewer_threads_do_all_tasks(had: int, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    limited = after(had, threading.Thread.start, RuntimeError(NO_THREAD))
    monkeypatch.setattr(threading.Thread, "start", limited)
    parallel.run_tasks(range(50), lambda: done.append, 4, None)
    assert sorted(done) == [*range(50)]


def test_what_is_raised_without_a_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(task: int) -> None:
        raise MemoryError(task)

    limited = after(0, threading.Thread.start, RuntimeError(NO_THREAD))
    monkeypatch.setattr(threading.Thread, "start", limited)
    with pytest.raises(MemoryError):
        parallel.run_tasks([1, 2], lambda: fail, 2, None)


def test_work_with_a_time_limit_needs_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    limited = after(0, threading.Thread.start, RuntimeError(NO_THREAD))
    monkeypatch.setattr(threading.Thread, "start", limited)
    assert within(60, lambda: 7) == 7


def _may_limit() -> bool:
    """Whether this test may run as a user of its own, who may open all files but has a limit of
    processes.
    """
    tools = shutil.which("setpriv") and shutil.which("prlimit")
    return bool(tools) and os.geteuid() == 0


@pytest.mark.long
@pytest.mark.skipif(not _may_limit(), reason="needs root, setpriv and prlimit")
@pytest.mark.parametrize(
    "most", [pytest.param(3, marks=pytest.mark.slow), 5, pytest.param(6, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("workers", ["2", "4"])
def test_a_limit_of_the_system(most: int, workers: str, students: list[str], capsys: Any) -> None:
    """Such a limit counts threads, too. What it refuses first differs from run to run."""
    arguments = ["check", "problem.yaml", *students, "--format", "csv", "--workers"]
    assert run([*arguments, "1"]) == 1
    usual = capsys.readouterr().out
    # A user that nobody else is, as the limit counts all that a user runs.
    as_user = ["setpriv", f"--reuid={54000 + os.getpid() % 9000}", "--clear-groups"]
    reads_all = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
    line = [
        *as_user,
        *reads_all,
        "prlimit",
        f"--nproc={most}",
        sys.executable,
        "-m",
        "attncli",
        *arguments,
        workers,
    ]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, env=environment)
    assert (done.returncode, done.stdout) == (1, usual), done.stderr
    told = done.stderr.splitlines()
    assert len(told) <= 1, done.stderr
    assert all(
        line.startswith("attncli: warning: the submissions were checked one") for line in told
    )
