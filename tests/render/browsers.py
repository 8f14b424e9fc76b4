"""Browsers for the tests of pages: Chromium, and Firefox as people have it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

HERE = Path(__file__).parent
MODULES = HERE.parents[1] / ".ci" / "node_modules"
PROGRAMS = {"chromium": ("chromium", "google-chrome"), "firefox": ("firefox", "firefox-esr")}
Play = list[tuple[str, str]]


class Browser(NamedTuple):
    """A kind of browser as Playwright calls it, and the program."""

    kind: str
    program: str


def found(kind: str) -> Browser | None:
    """The browser with what drives it, if both are installed."""
    program = next(filter(None, map(shutil.which, PROGRAMS[kind])), None)
    driven = shutil.which("node") and all((MODULES / name).is_dir() for name in ("playwright-core", "axe-core"))
    return Browser(kind, program) if program and driven else None


def opened(kind: str) -> Browser:
    browser = found(kind)
    if browser is None:
        pytest.skip(
            f"needs {kind.capitalize()} and Node.js, and: npm install --prefix .ci playwright-core@1.64 axe-core"
        )
    return browser


@pytest.fixture(params=["chromium", pytest.param("firefox", marks=pytest.mark.slow)])
def browser(request: pytest.FixtureRequest) -> Browser:
    """Each browser in turn. Every behaviour is tried once in the fast tier, in Chromium."""
    return opened(request.param)


@pytest.fixture
def chromium() -> Browser:
    """For what nobody can ask of Firefox from outside: the dark, paper, a page without its script, and its layout."""
    return opened("chromium")


def played(browser: Browser, *pages: tuple[Path, Play], at: str = "") -> list[list[Any]]:
    """What a browser answers on each page; no page may report an error or ask for anything."""
    return played_in(browser, *((page, play, {}) for page, play in pages), at=at)


def played_in(browser: Browser, *pages: tuple[Path, Play, dict[str, Any]], at: str = "") -> list[list[Any]]:
    """The same with options of Playwright for each: {"colorScheme": "dark"}, {"javaScriptEnabled": False}."""
    asked = "".join(
        f"{json.dumps({'address': page.as_uri() + at, 'play': play, 'options': options})}\n"
        for page, play, options in pages
    )
    path = "/usr/local/bin:/usr/bin:/bin"
    ran = subprocess.run(
        ["node", str(HERE / "live_page.cjs")],
        input=asked,
        env={"NODE_PATH": str(MODULES), "PATH": path, "BROWSER": browser.kind, "PROGRAM": browser.program},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    found = zip(pages, answers, strict=True)
    faults = {page.name: answer["faults"] for (page, *_), answer in found if answer["faults"]}
    assert not faults, faults
    return [answer["found"] for answer in answers]
