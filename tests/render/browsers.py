"""Browsers for the tests of pages: Chromium, and Firefox as people have it."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
MODULES = HERE.parents[1] / ".ci" / "node_modules"
PROGRAMS = {"chromium": ("chromium", "google-chrome"), "firefox": ("firefox", "firefox-esr")}
Play = list[tuple[str, str]]


class Browser:
    """A browser that runs until it is closed: to start one takes longer than most pages."""

    def __init__(self, kind: str, program: str) -> None:
        path = "/usr/local/bin:/usr/bin:/bin"
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - open while the browser runs
        self._node = subprocess.Popen(
            ["node", str(HERE / "live_page.cjs")],
            env={"NODE_PATH": str(MODULES), "PATH": path, "BROWSER": kind, "PROGRAM": program},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            bufsize=1,
        )

    def play(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What a page answers; one that has not in two minutes never will."""
        assert self._node.stdin
        assert self._node.stdout
        limit = threading.Timer(120, self._node.kill)
        limit.start()
        try:
            self._node.stdin.write(f"{json.dumps(asked)}\n")
            line = self._node.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            limit.cancel()
        self._said.seek(0)
        said = "" if line else self._said.read().decode()
        # Firefox ESR 140, say, knows no network.addDataCollector.
        if "unknown command" in said:
            pytest.skip("playwright-core 1.64 needs a newer browser: Firefox ESR 153 will do")
        assert line, f"the browser ended or was too slow: {said[-2000:]}"
        answer: dict[str, Any] = json.loads(line)
        assert "failed" not in answer, answer["failed"]
        return answer

    def close(self) -> None:
        """Let the browser end; one that has not in a minute never will."""
        with self._said:
            try:
                self._node.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                self._node.kill()
                self._node.communicate()


@functools.cache
def program_of(kind: str) -> str | None:
    """The program of a browser, if it and what drives it are installed."""
    program = next(filter(None, map(shutil.which, PROGRAMS[kind])), None)
    driven = shutil.which("node") and all(
        (MODULES / name).is_dir() for name in ("playwright-core", "axe-core")
    )
    return program if driven else None


def played(browser: Browser, *pages: tuple[Path, Play], at: str = "") -> list[list[Any]]:
    """What a browser answers on each page; no page may report an error or ask for anything."""
    return played_in(browser, *((page, play, {}) for page, play in pages), at=at)


def played_in(
    browser: Browser, *pages: tuple[Path, Play, dict[str, Any]], at: str = ""
) -> list[list[Any]]:
    """The same with options of Playwright for each: {"colorScheme": "dark"}, {"javaScriptEnabled":
    False}.
    """
    answers = [
        browser.play({"address": page.as_uri() + at, "play": play, "options": options})
        for page, play, options in pages
    ]
    faults = {
        page.name: answer["faults"]
        for (page, *_), answer in zip(pages, answers, strict=True)
        if answer["faults"]
    }
    assert not faults, faults
    return [answer["found"] for answer in answers]
