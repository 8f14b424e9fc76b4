"""The commands as a Typer application: help, and what is wrong with a command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from attncli.cli.options import Argument, Option
from attncli.english import either, listed
from attncli.errors import did_you_mean, usage_error

# The base of all usage errors has no public name that serves every version of Typer in our range.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


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
        command = super().get_command(ctx, cmd_name)
        if command is None:
            known = f"the commands are {listed(list(self.commands))}"
            help = did_you_mean(cmd_name, list(self.commands), known)
            if cmd_name.lower().endswith((".yaml", ".yml", ".json")) or os.path.isfile(cmd_name):
                from shlex import quote  # takes a while, and few need it

                help = f"did you mean attncli compute {quote(cmd_name)}?"
            raise usage_error(f"there is no command {cmd_name}", help=help)
        return command


def answer(
    commands: Mapping[str, Callable[..., object]], tell_version: Callable[[], None], arguments: list[str]
) -> object:
    """What the command returns that these arguments call.

    Raises AttncliError for wrong usage (exit 2) and whatever the command itself raises.
    """
    application = _application(commands, tell_version, arguments)
    try:
        return typer.main.get_command(application).main(arguments, "attncli", standalone_mode=False)
    except _UsageError as error:
        raise _in_our_words(error, commands, arguments) from None


def _application(
    commands: Mapping[str, Callable[..., object]], tell_version: Callable[[], None], arguments: list[str]
) -> typer.Typer:
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
            tell_version()
            raise typer.Exit
        if context.invoked_subcommand is None:
            help = f"the commands are {listed(list(commands))}; attncli --help tells more"
            raise usage_error("a command is missing", help=help)

    for name, function in commands.items():
        declared = _for_typer(function) if name in arguments else _only_named(function)
        application.command(name, cls=_Command)(declared)
    return application


def _for_typer(function: Any) -> Any:
    """The function with its options and arguments declared as Typer wants them."""
    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    copy.__doc__ = function.__doc__
    copy.__annotations__ = {name: _declared(annotation) for name, annotation in function.__annotations__.items()}
    return copy


def _only_named(function: Any) -> Any:
    """A command that is not called: without its options, of all of which Typer makes objects for a while."""

    def named() -> None: ...

    named.__doc__ = function.__doc__
    return named


def _declared(annotation: Any) -> Any:
    match get_args(annotation):
        case (kind, Option() as option):
            shown = typer.Option(
                *option.names, metavar=option.metavar, help=option.help, show_default=option.show_default
            )
            return Annotated[kind, shown]
        case (kind, Argument(metavar, help)):
            return Annotated[kind, typer.Argument(metavar=metavar, help=help)]
    return annotation


def _options(function: Any) -> list[str]:
    declared = (get_args(annotation)[-1:] for annotation in function.__annotations__.values())
    return [name for last in declared for option in last if isinstance(option, Option) for name in option.names]


def _in_our_words(error: Any, commands: Mapping[str, Callable[..., object]], arguments: list[str]) -> Exception:
    """A usage error of Typer's in the shape of all other errors, with the nearest option where one is near."""
    # Some errors come without their context; they are always about the options of a command.
    manual = f"see {error.ctx.command_path if error.ctx else f'attncli {arguments[0]}'} --help"
    if hasattr(error, "possibilities"):
        own = [option for parameter in error.ctx.command.params for option in parameter.opts]
        near = did_you_mean(error.option_name, [*own, "--help"], manual)
        others = commands if error.ctx.parent else {}
        having = [name for name, command in others.items() if error.option_name in _options(command)]
        help = f"{listed(having)} {either(len(having), 'has', 'have')} it; {manual}" if having else near
        return usage_error(f"there is no option {error.option_name}", help=help)
    message = error.format_message().rstrip(".")
    return usage_error(message[:1].lower() + message[1:], help=manual)
