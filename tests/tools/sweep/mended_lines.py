"""A line that an error refuses, with what the error asks for, so that more than the error is
tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.tools.sweep.documented import documented_lines
from tests.tools.sweep.drawn_lines import FOLDER, _range, commands

_REFUSED = re.compile(r"attncli: error: (-[-\w]+)\b.* cannot be used (?:with|without) ")
_MISSING = re.compile(r"attncli: error: (-[-\w]+)\b.* is missing\b")


def mended(line: list[str], error: str) -> list[str] | None:
    """The line without the option that cannot stand there, or with the one that is missing; None
    for other errors.
    """
    refused, missing = _REFUSED.match(error), _MISSING.match(error)
    found = refused or missing
    if found is None or not line or line[0] not in commands():
        return None
    option = next((each for each in commands()[line[0]].params if found[1] in each.opts), None)
    if option is None:
        return None
    if refused:
        left = [line[0], *_without(line[1:], option)]
        return left if left != line else None
    value = _usual_value(line[0], option)
    return None if value is None else [*line, found[1], value]


def _without(words: list[str], option: Any) -> Iterator[str]:
    left = iter(words)
    for word in left:
        name, assigned, _ = word.partition("=")
        if name not in option.opts:
            yield word
        elif not option.is_flag and not assigned:
            next(left, None)


def _usual_value(command: str, option: Any) -> str | None:
    """A value that an option of the command usually has: the first number that it takes, or what is
    documented.
    """
    if (allowed := _range(option)) is not None:
        return str(allowed[0])
    if option.metavar == "FOLDER":
        return FOLDER
    documented = (
        each.value_of(option.opts) for each in documented_lines(commands()[command], command)
    )
    return next(filter(None, documented), None)
