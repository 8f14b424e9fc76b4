"""Reads a command line in which nothing is odd; whatever is, and all help, is Typer's, whose import takes a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args

from attncli.cli.options import Argument, Option

_TEXT = (str, str | None)


def read(command: Callable[..., object], words: Sequence[str]) -> dict[str, Any] | None:
    """What these words give the command's parameters, or None where Typer must have a look at them.

    It must where a word is no option of the command, lacks its value, is given twice, or stands for several as -qo
    does; where a value is empty or begins as an option does; and where an argument is missing.
    """
    options: dict[str, tuple[str, object]] = {}
    places: list[str] = []
    parameters = list(_parameters(command))
    for name, kind, declared in parameters:
        if isinstance(declared, Option):
            options |= dict.fromkeys(declared.names, (name, kind))
        else:
            places.append(name)
    needed = {name for name, _, _ in parameters[: len(parameters) - len(command.__defaults__ or ())]}
    given: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        value: object = word
        if word.startswith("-") and word != "-":
            option, equals, after = word.partition("=") if word.startswith("--") else (word, "", "")
            name, kind = options.get(option, ("", None))
            if kind is bool and not equals:
                value = True
            elif kind in _TEXT:
                value = after if equals else next(rest, "")
            else:
                return None
        elif places:
            name = places.pop(0)
        else:
            return None
        if name in given or value == "" or (value is not word and str(value).startswith("-") and value != "-"):
            return None
        given[name] = value
    return given if needed <= given.keys() else None


def _parameters(command: Callable[..., object]) -> Iterator[tuple[str, object, Option | Argument]]:
    """The name, the type and the declaration of each."""
    for name, annotation in command.__annotations__.items():
        if name != "return":
            kind, declared = get_args(annotation)
            yield name, kind, declared
