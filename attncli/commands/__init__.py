"""The commands: one file each, found by name, with everything heavy imported inside the function.

Every module here is a command: `attncli NAME` calls the module's function of that name, whose parameters
and docstring are the command's options and its help.
"""

import os
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from attncli import __version__
from attncli.english import listed
from attncli.errors import Exit, did_you_mean, usage_error

# The base of all usage errors has no public name that serves every version of Typer in our range.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


class _Command(TyperCommand):
    """A command whose usage line is `compute FILE`, without Typer's braces around what must be given."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


class _Commands(TyperGroup):
    """The group of commands, which answers an unknown name with the nearest known one."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        if command is None:
            known = f"the commands are {listed(list(self.commands))}"
            help = did_you_mean(cmd_name, list(self.commands), known)
            if cmd_name.lower().endswith((".yaml", ".yml", ".json")) or os.path.isfile(cmd_name):
                from shlex import quote  # takes a while, and few need it

                help = f"did you mean attncli compute {quote(cmd_name)}?"
            raise usage_error(f"there is no command {cmd_name}", help=help)
        return command


def call(arguments: list[str]) -> int:
    """Run one command line and return its exit code.

    Raises AttncliError for wrong usage (exit 2) and whatever the command itself raises.
    """
    try:
        result = typer.main.get_command(_application()).main(arguments, "attncli", standalone_mode=False)
    except _UsageError as error:
        raise _in_our_words(error, arguments) from None
    return result if isinstance(result, int) else Exit.OK


def _application() -> typer.Typer:
    # Markup would read the [i, j] of an equation in a help text as a style and drop it.
    application = typer.Typer(
        cls=_Commands,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    application.callback(invoke_without_command=True)(_attncli)
    for module in iter_modules(__path__):
        function = getattr(import_module(f"{__name__}.{module.name}"), module.name)
        application.command(module.name, cls=_Command)(function)
    return application


def _attncli(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Scaled dot-product attention, worked out step by step."""
    if version:
        typer.echo(f"attncli {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        commands = listed(list(context.command.commands))  # type: ignore[attr-defined]
        raise usage_error("a command is missing", help=f"the commands are {commands}; attncli --help tells more")


def _in_our_words(error: Any, arguments: list[str]) -> Exception:
    """A usage error of Typer's in the shape of all other errors, with the nearest option where one is near."""
    # Some errors come without their context; they are always about the options of a command.
    manual = f"see {error.ctx.command_path if error.ctx else f'attncli {arguments[0]}'} --help"
    if hasattr(error, "possibilities"):
        options = [option for parameter in error.ctx.command.params for option in parameter.opts]
        return usage_error(
            f"there is no option {error.option_name}",
            help=did_you_mean(error.option_name, [*options, "--help"], manual),
        )
    message = error.format_message().rstrip(".")
    return usage_error(message[:1].lower() + message[1:], help=manual)
