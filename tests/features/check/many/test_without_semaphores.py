"""Systems that do not let processes work together: a container without /dev/shm, a Python that
lacks semaphores.

Everything goes on there in one process, with a warning where it takes longer than was asked for.
"""

from __future__ import annotations

import ast
import errno
import multiprocessing.synchronize
import os
from pathlib import Path
from typing import Any

import pytest

import attncli
from attncli.cli.classes import processes
from attncli.cli.main import run
from attncli.features.check.many.manifest import Submission
from attncli.features.check.many.marking import mark_all, mark_in_processes
from attncli.features.check.many.result_row import Settings

PROBLEM = "Q: [[1, 2]]\nK: [[1, 0], [0, 1]]\nV: [[1, 0], [0, 1]]\n"
WARNING = (
    "attncli: warning: the submissions were checked one after the other: the system does not let"
    " several processes work together ({})\n"
)
# What starts processes that work together, and threads that need no semaphore of the system.
STARTS = {"multiprocessing", "ProcessPoolExecutor", "fork"}
MAKES_POOLS = "cli/classes/processes.py"


@pytest.fixture
def students(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The solutions of more students than are checked in one process, one of which is wrong."""
    monkeypatch.chdir(tmp_path)
    Path("problem.yaml").write_text(PROBLEM)
    for number in range(12):
        Path(f"{number}.yaml").write_text(f"scores: [[1, {2 if number else 3}]]\n")
    return [f"{number}.yaml" for number in range(12)]


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(errno.EACCES, os.strerror(errno.EACCES)), "permission denied"),
        (OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)), "function not implemented"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "no space left on device"),
        (FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)), "no such file or directory"),
        (
            ImportError("This platform lacks a functioning sem_open implementation."),
            "This platform lacks a functioning sem_open implementation.",
        ),
        (
            NotImplementedError("system provides too few semaphores"),
            "system provides too few semaphores",
        ),
    ],
)
def test_a_class_is_checked_in_one_process(
    error: Exception, reason: str, students: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    arguments = ["check", "problem.yaml", *students, "--format", "csv", "--workers"]
    assert run([*arguments, "1"]) == 1
    usual = capsys.readouterr()
    assert usual.err == ""

    def refuse(*_: object, **named: object) -> None:
        raise error

    monkeypatch.setattr(multiprocessing.synchronize.SemLock, "__init__", refuse)
    assert run([*arguments, "2"]) == 1
    assert capsys.readouterr() == (usual.out, WARNING.format(reason))
    assert run([*arguments, "2", "-q"]) == 1
    assert capsys.readouterr() == (usual.out, "")


@pytest.mark.long
def test_what_is_left_is_checked_when_processes_can_no_longer_be_had(
    students: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process ended, and for those that it may have been at there is no other one."""
    submissions = [Submission(name, "problem.yaml", name) for name in students]
    whole = dict(mark_all(submissions, Settings()))
    pool, asked = processes._pool, []

    def once(workers: int) -> Any:
        if asked:
            raise processes.NoProcessesError("no space left on device")
        asked.append(workers)
        executor = pool(workers)
        # As if each process had ended at once.
        lost = processes.BrokenProcessPool()
        monkeypatch.setattr(executor, "submit", lambda *_: future_that_fails(lost))
        return executor

    monkeypatch.setattr(processes, "_pool", once)
    warnings: list[str] = []
    found = dict(mark_in_processes(submissions, Settings(), 2, warnings.append))
    assert found == whole
    assert len(warnings) == 1


def future_that_fails(error: Exception) -> Any:
    """What a pool promises of a job whose process ended."""
    from concurrent.futures import Future

    lost: Future[Any] = Future()
    lost.set_exception(error)
    return lost


@pytest.mark.long
def test_one_place_makes_processes() -> None:
    """So no other command needs a test like the first one here."""
    package = Path(attncli.__file__).parent
    found = set()
    for path in package.rglob("*.py"):
        words = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                words |= {name.name.partition(".")[0] for name in node.names}
                words.add((getattr(node, "module", None) or "").partition(".")[0])
            elif isinstance(node, ast.Attribute):
                words.add(node.attr)
        if STARTS & words:
            found.add(path.relative_to(package).as_posix())
    assert found == {MAKES_POOLS}
