"""The commands as one Typer application: each folder of `features/` is one, found by listing.

`attncli NAME` calls the function of that name in `features/NAME/command.py`. Its parameters are the command's options
and its docstring is its help; everything heavy is imported inside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from attncli import __version__
from attncli.cli.progress import progress
from attncli.english import either, listed
from attncli.errors import Exit, did_you_mean, usage_error

FEATURES = os.path.join(os.path.dirname(os.path.dirname(__file__)), "features")
# The base of all usage errors has no public name that serves every version of Typer in our range.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def call(arguments: list[str]) -> int:
    """Run one command line and return its exit code.

    Raises AttncliError for wrong usage (exit 2) and whatever the command itself raises.
    """
    names = command_names()
    called = arguments[:1] if arguments and arguments[0] in names else names  # Typer takes a while for each command
    if "-" not in arguments:  # a problem is being typed there, or made
        progress.begin("reading")
    try:
        result = _group(called).main(arguments, "attncli", standalone_mode=False)
    except UsageError as error:
        raise _reworded(error, arguments) from None
    finally:
        progress.end()
    return result if isinstance(result, int) else Exit.OK


def command_names() -> list[str]:
    """All commands, in the order of the alphabet."""
    return sorted(name for name in os.listdir(FEATURES) if os.path.isfile(os.path.join(FEATURES, name, "command.py")))


class _Command(TyperCommand):
    """A command whose usage line is `compute FILE`, without Typer's braces around what must be given.

    In the list of commands its first sentence is whole, over as many lines as it takes.
    """

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def get_short_help_str(self, limit: int = 0) -> str:
        return " ".join((self.help or "").partition("\n\n")[0].split())


class _Commands(TyperGroup):
    """The group of commands, which answers an unknown name with the nearest known one."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        found = super().get_command(ctx, cmd_name)
        if found is None:
            names = command_names()
            help = did_you_mean(cmd_name, names, f"the commands are {listed(names)}")
            if cmd_name.lower().endswith((".yaml", ".yml", ".json")) or os.path.isfile(cmd_name):
                from shlex import quote  # takes a while, and few need it

                help = f"did you mean attncli compute {quote(cmd_name)}?"
            raise usage_error(f"there is no command {cmd_name}", help=help)
        return found


def _group(names: Iterable[str]) -> Any:
    """The application with these commands, as Typer runs it."""
    # Markup would read the [i, j] of an equation in a help text as a style and drop it.
    application = typer.Typer(
        cls=_Commands,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @application.callback(invoke_without_command=True)
    def attncli(
        context: typer.Context,
        version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    ) -> None:
        """Scaled dot-product attention, worked out step by step."""
        if version:
            print(f"attncli {__version__}")
            raise typer.Exit
        if context.invoked_subcommand is None:
            help = f"the commands are {listed(command_names())}; attncli --help tells more"
            raise usage_error("a command is missing", help=help)

    for name in names:
        module = import_module(f"attncli.features.{name}.command")
        application.command(name, cls=_Command)(getattr(module, name))
    return typer.main.get_command(application)


def _reworded(error: Any, arguments: Sequence[str]) -> Exception:
    """A usage error of Typer's in the shape of all other errors, with the nearest option where one is near."""
    # Some errors come without their context; they are always about the options of a command.
    manual = f"see {error.ctx.command_path if error.ctx else f'attncli {arguments[0]}'} --help"
    if hasattr(error, "possibilities"):
        own = [option for parameter in error.ctx.command.params for option in parameter.opts]
        near = did_you_mean(error.option_name, [*own, "--help"], manual)
        others = _group(command_names()).commands if error.ctx.parent else {}
        having = [
            name for name, other in others.items() if any(error.option_name in each.opts for each in other.params)
        ]
        help = f"{listed(having)} {either(len(having), 'has', 'have')} it; {manual}" if having else near
        return usage_error(f"there is no option {error.option_name}", help=help)
    message = error.format_message().rstrip(".")
    return usage_error(message[:1].lower() + message[1:], help=manual)
