"""What people type: the options that stand together in the command lines of the documentation, and
their values.

Options drawn by themselves hardly ever make a line such as `generate --seed midterm --roster
names.csv -d set`, of which each part needs the others. So half of all drawn lines begin with the
options of a documented one.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[3]
_LINE = re.compile(r"(?:\$ )?(attncli .*)")
_BETWEEN = re.compile(r" [|;>] | && ")  # one command and the next, or a file for its output


class Documented(NamedTuple):
    """A documented line of a command: its options by any of their names, with their values, and its
    arguments.
    """

    options: dict[str, str]
    arguments: list[str]

    def value_of(self, names: Collection[str]) -> str | None:
        """The value of an option, None where the line has no such option or no value for it."""
        return next((self.options[name] for name in names if self.options.get(name)), None)


@cache
def documented_words() -> dict[str, list[list[str]]]:
    """The words after the command in every documented line, by commands."""
    found: dict[str, list[list[str]]] = {}
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for words in _lines(page.read_text(encoding="utf-8")):
            found.setdefault(words[0], []).append(words[1:])
    return found


def documented_lines(command: Any, name: str) -> list[Documented]:
    """The documented lines of this command of the application."""
    return [_understood(command, words) for words in documented_words().get(name, [])]


def _lines(page: str) -> Iterator[list[str]]:
    """What stands behind `attncli` in the fenced blocks of a page."""
    for block in re.findall(r"^ *```[^\n]*\n(.*?)^ *```", page, re.MULTILINE | re.DOTALL):
        for line in _LINE.findall(block):
            yield from _commands(line)


def _commands(line: str) -> Iterator[list[str]]:
    for part in _BETWEEN.split(line):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            # a program of another language was split
            continue
        if words[:1] == ["attncli"] and len(words) > 1:
            yield words[1:]


def _understood(command: Any, words: list[str]) -> Documented:
    takes_value = {name: not each.is_flag for each in _options(command) for name in each.opts}
    options: dict[str, str] = {}
    arguments: list[str] = []
    left = iter(words)
    for word in left:
        name, assigned, value = word.partition("=")
        if name not in takes_value:
            arguments.append(word)
        elif assigned or not takes_value[name]:
            options[name] = value
        else:
            options[name] = next(left, "")
    return Documented(options, arguments)


def _options(command: Any) -> list[Any]:
    return [each for each in command.params if each.opts[0].startswith("-")]
