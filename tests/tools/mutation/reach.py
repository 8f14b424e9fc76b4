"""Which tests reach which line, and how long each takes: measured once, with every cache of the
program left out.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from coverage import CoverageData

from tests.tools.mutation.player import QUIET, Chosen, go_to


@dataclass(frozen=True)
class Reach:
    """By module and line, the tests that reach it; by test, its seconds."""

    lines: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]
    most: float  # seconds of tests for one mutant

    def of(self, path: str, lines: Iterable[int], promising: Container[str]) -> dict[str, float]:
        """The tests that reach any of these lines; where a line is run on import, all tests, since
        any may read what it makes.

        Of more than is played in a while, those that are promising, that reach the module at all,
        and the quickest.
        """
        module = self.lines.get(path, {})
        near = {test for tests in module.values() for test in tests}
        found = {test for line in lines for test in module.get(line, ("",))}
        found = {*self.seconds} if "" in found else found
        chosen: dict[str, float] = {}
        for test in sorted(
            found,
            key=lambda test: (test not in promising, test not in near, self.seconds.get(test, 0)),
        ):
            if sum(chosen.values()) < self.most:
                chosen[test] = self.seconds.get(test, 0)
        return chosen


def measured(
    root: Path, modules: Iterable[str], folders: list[str], kept: Path, most: float
) -> Reach:
    """Runs the tests once, in a process of its own, where all must pass; or reads what is kept of
    that.
    """
    if not kept.exists():
        process = os.fork()
        if not process:
            os._exit(_measure(root, modules, folders, kept))
        if os.waitpid(process, 0)[1]:
            raise SystemExit("the tests do not pass without mutants")
    read = json.loads(kept.read_text())
    lines = {
        path: {int(line): tests for line, tests in found.items()}
        for path, found in read["lines"].items()
    }
    return Reach(lines, read["seconds"], most)


def _measure(root: Path, modules: Iterable[str], folders: list[str], kept: Path) -> int:
    go_to(root)
    _leave_out_caches({path.removesuffix(".py").replace("/", ".") for path in modules})
    data = root / ".coverage"
    os.environ["COVERAGE_FILE"] = str(data)
    chosen = Chosen(root, {})
    measuring = ["--cov=attncli", "--cov-context=test", "--cov-report="]
    code = int(pytest.main([*QUIET, *measuring, *folders], plugins=[chosen]))
    if code:
        return code
    found = CoverageData(str(data))
    found.read()
    lines = {}
    for file in found.measured_files():
        by_line = found.contexts_by_lineno(file)
        lines[str(Path(file).relative_to(root))] = {
            # "" is what is run on import
            line: sorted({context.rpartition("|")[0] for context in contexts})
            for line, contexts in by_line.items()
        }
    kept.write_text(json.dumps({"lines": lines, "seconds": chosen.seconds}))
    return 0


def _leave_out_caches(modules: set[str]) -> None:
    """Caches of the modules to be mutated: they would hide which tests ask for what is kept."""
    real = functools.lru_cache

    def cache(*of: Any, **options: Any) -> Callable[..., Any]:
        if of and callable(of[0]):
            return of[0] if of[0].__module__ in modules else real(of[0])
        return lambda function: (
            function if function.__module__ in modules else real(*of, **options)(function)
        )

    functools.lru_cache = cache  # type: ignore[assignment]
