"""Lets the renderers' tests import `pages` beside them, in whatever mode pytest imports; opens each
browser once.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tests.render.browsers import Browser, program_of


@pytest.fixture(scope="session")
def opened() -> Iterator[Callable[[str], Browser]]:
    """`opened("chromium")` is the one that runs, or a new one; skips without it or without what
    drives it.
    """
    running: dict[str, Browser] = {}

    def of(kind: str) -> Browser:
        program = program_of(kind)
        if program is None:
            pytest.skip(
                f"needs {kind.capitalize()} and Node.js, and: npm install --prefix .ci"
                " playwright-core@1.64 axe-core"
            )
        if kind not in running:
            running[kind] = Browser(kind, program)
        return running[kind]

    yield of
    for each in running.values():
        each.close()


@pytest.fixture(params=["chromium", pytest.param("firefox", marks=pytest.mark.slow)])
def browser(request: pytest.FixtureRequest, opened: Callable[[str], Browser]) -> Browser:
    """Each browser in turn. Every behaviour is tried once in the fast tier, in Chromium."""
    return opened(request.param)


@pytest.fixture
def chromium(opened: Callable[[str], Browser]) -> Browser:
    """For what nobody can ask of Firefox from outside: the dark, paper, a page without its script,
    and its layout.
    """
    return opened("chromium")
