"""The commands: one file each, found by name, with everything heavy imported inside the function.

Every module here is a command: `attncli NAME` calls the module's function of that name, whose parameters
and docstring are the command's options and its help.
"""

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from attncli import __version__
from attncli.console.progress import progress
from attncli.errors import Exit


def call(arguments: list[str]) -> int:
    """Run one command line and return its exit code.

    Raises AttncliError for wrong usage (exit 2) and whatever the command itself raises.
    """
    if arguments == ["--version"]:
        _tell_version()
        return Exit.OK
    if "-" not in arguments:  # a problem is being typed there, or made
        progress.begin("reading")
    try:
        result = _call(arguments)
    finally:
        progress.end()
    return result if isinstance(result, int) else Exit.OK


def _call(arguments: list[str]) -> object:
    names = _names()
    if arguments and arguments[0] in names:
        from attncli.console.plainly import read

        command = _command(arguments[0])
        given = read(command, arguments[1:])
        if given is not None:
            return command(**given)

    from attncli.console.application import answer

    return answer({name: _command(name) for name in names}, _tell_version, arguments)


def _tell_version() -> None:
    print(f"attncli {__version__}")


def _names() -> list[str]:
    """All commands, in the order of the alphabet."""
    files = {file.partition(".")[0] for folder in __path__ for file in os.listdir(folder) if file.endswith(".py")}
    return sorted(files - {"__init__"})


def _command(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(import_module(f"{__name__}.{name}"), name)
    return function
