"""Finds the commands: each folder of `features/` is one, and everything heavy is imported inside its function.

`attncli NAME` calls the function of that name in `features/NAME/command.py`, whose parameters and docstring are the
command's options and its help.
"""

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from attncli import __version__
from attncli.cli.progress import progress
from attncli.errors import Exit

_FEATURES = os.path.join(os.path.dirname(os.path.dirname(__file__)), "features")


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
        from attncli.cli.plain import read

        command = _command(arguments[0])
        given = read(command, arguments[1:])
        if given is not None:
            return command(**given)

    from attncli.cli.app import answer

    return answer({name: _command(name) for name in names}, _tell_version, arguments)


def _tell_version() -> None:
    print(f"attncli {__version__}")


def _names() -> list[str]:
    """All commands, in the order of the alphabet."""
    return sorted(name for name in os.listdir(_FEATURES) if os.path.isfile(os.path.join(_FEATURES, name, "command.py")))


def _command(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(import_module(f"attncli.features.{name}.command"), name)
    return function
