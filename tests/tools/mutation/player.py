"""Plays tests against one mutant, in a process of its own: forked from one that has imported all
but the program.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ENOUGH = 8 * 2**30  # bytes of addresses
QUIET = (
    "-q",
    "-p",
    "no:cacheprovider",
    "--no-header",
    "--tb=line",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)


@dataclass
class Chosen:
    """A plugin: the tests of these names only, the promising first and then the quickest; without
    names all.

    It tells how long each takes, and the first that fails.
    """

    root: Path
    wanted: dict[str, float]
    promising: Collection[str] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    first: str = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        import attncli

        assert Path(attncli.__file__).is_relative_to(self.root), "the mutant is not what is tested"
        if self.wanted:
            items[:] = sorted(
                (item for item in items if item.nodeid in self.wanted), key=self._time
            )

    def _time(self, item: pytest.Item) -> tuple[bool, float]:
        return item.nodeid not in self.promising, self.wanted[item.nodeid]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration
        if report.failed and not self.first:
            self.first = report.nodeid


def start(root: Path, wanted: dict[str, float], promising: Collection[str], told: Path) -> int:
    """Forks a process that plays tests in a copy of the project, up to the first that fails; its
    id.
    """
    files = sorted({test.partition("::")[0] for test in wanted})
    process = os.fork()
    if process:
        return process
    code = 70
    try:
        os.setsid()
        with told.open("w") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
        allowed = int(20 + 5 * sum(wanted.values()))
        resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed))
        resource.setrlimit(resource.RLIMIT_AS, (ENOUGH, ENOUGH))
        go_to(root)
        chosen = Chosen(root, wanted, promising)
        code = pytest.main(["-x", *QUIET, *files], plugins=[chosen])
        print(f"\nfirst to fail: {chosen.first}", flush=True)
    finally:
        sys.stdout.flush()
        os._exit(code)
    return 0


def go_to(root: Path) -> None:
    """Makes the copy of the project that in `root` the one that is imported, by other processes
    too.
    """
    os.chdir(root)
    sys.path.insert(0, str(root))
    sys.dont_write_bytecode = True
    os.environ |= {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}


def end(process: int, begun: float, limit: float) -> int | None:
    """The exit code of a player (below 0 a signal), or None while it is at work; one that sleeps is
    ended.
    """
    if time.monotonic() - begun > limit:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
    done, status = os.waitpid(process, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if done else None
