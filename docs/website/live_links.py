"""Which live page shows what a command of the documentation works out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from website.places import INPUTS, ROOT, example_address

# These choose what is printed, and change no number.
_WITH_VALUE = {
    *("--steps", "--cell", "--detail", "--query", "--head", "--entry", "--precision"),
    *("--format", "--math", "--heading-level", "--output", "-o"),
}
_ALONE = {"--heatmap", "--pictures", "--ascii", "--all", "--fragment", "--no-title", "-q"}
# What the address of a live page says of an option.
_SETTINGS = {("--mask", "causal"): "mask=causal", ("--scale", "none"): "scaled=false"}


def live_pages(commands: list[str], written: dict[Path, set[str]]) -> dict[str, Path]:
    """The address of each live page that shows the numbers of these commands, and its problem.

    `written` has the problems that have a live page, each with the anchors of its steps.
    """
    found = {}
    for command in commands:
        problem = _problem(command)
        if problem not in written:
            continue
        about = _about(command, written[problem])
        if about is not None:
            found[example_address(problem) + about] = problem
    return found


def _problem(command: str) -> Path | None:
    """The example that a command works out."""
    called = re.match(rf"attncli compute ({INPUTS.name}/\S+)", command)
    return ROOT / called[1] if called else None


def _about(command: str, anchors: set[str]) -> str | None:
    """What the address says besides; None where the page has other numbers than the command."""
    settings: list[str] = []
    anchor = ""
    for option, value in _options(command):
        if (option, value) in _SETTINGS:
            settings.append(_SETTINGS[option, value])
        elif option not in _WITH_VALUE and option not in _ALONE:
            return None
        if option in ("--steps", "--cell"):
            anchor = f"step-{value.partition('[')[0]}"
    if settings:
        return f"#!{'&'.join(settings)}"
    return f"#{anchor}" if anchor in anchors else ""


def _options(command: str) -> Iterator[tuple[str, str]]:
    """The options behind the problem, each with its value."""
    words = shlex.split(re.split(r" [|>] ", command)[0])[3:]
    while words:
        option = words.pop(0)
        has_value = option.startswith("-") and option not in _ALONE and words
        yield option, words.pop(0) if has_value else ""
