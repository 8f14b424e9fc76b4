"""The commands as one Typer application: each folder of `features/` is one, found by listing.

`attncli NAME` calls the function of that name in `features/NAME/command.py`. Its parameters are the
command's options and its docstring is its help; everything heavy is imported inside it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache, partial
from importlib import import_module
from io import StringIO
from itertools import product
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from attncli.cli.options import INSTEAD
from attncli.cli.progress import progress
from attncli.dtypes import meant
from attncli.english import either, listed
from attncli.errors import Exit, did_you_mean, nearest, usage_error
from attncli.system import quoted
from attncli.version import __version__

FEATURES = os.path.join(os.path.dirname(os.path.dirname(__file__)), "features")
# The base of all usage errors has no public name that serves every version of Typer in our range.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]

BEGINNING = """\
attncli calculates attention step by step. Try it:

  attncli example                                list the examples
  attncli example i_love_ai | attncli compute -  work out one example
  attncli new -o mine.yaml                       write a file for your numbers
  attncli compute mine.yaml                      work out your own problem

attncli --help lists all commands; attncli compute --help explains compute."""


# Files are seldom called by more.
_MOST_WORDS_IN_A_NAME = 8
_SHELL_OPTIONS = {"--install-completion", "--show-completion"}
# What Typer says, and what is said here instead.
_REWORDED = (
    (r"Missing argument '(.*)'", r"\1 is missing"),
    (r"Got unexpected extra argument\(s\) \((.*)\)", r"there is too much on the line: \1"),
    (r"Option '(.*)' requires an argument", r"\1 needs a value"),
    (r"Option '(.*)' does not take a value", r"\1 takes no value"),
)


def call(arguments: list[str]) -> int:
    """Run one command line and return its exit code.

    Raises AttncliError for wrong usage (exit 2) and whatever the command itself raises.
    """
    if _SHELL_OPTIONS.intersection(arguments[:1]):
        return _complete_in_shell(arguments)
    names = command_names()
    # Typer takes a while for each command.
    called = arguments[:1] if arguments and arguments[0] in names else names
    # With a dash, the problem is still being typed, or made by another program.
    if "-" not in arguments:
        progress.begin("reading")
    try:
        result = _group(*called).main(arguments, "attncli", standalone_mode=False)
    except UsageError as error:
        raise _reworded(error, arguments) from None
    except SystemExit as ended:
        # A pipe that nobody reads any more would end with 1, the exit code of a difference.
        if isinstance(ended.__context__, OSError):
            raise ended.__context__ from None
        # Otherwise Typer has answered a shell that completes a line.
        result = ended.code
    finally:
        progress.end()
    return result if isinstance(result, int) else Exit.OK


def _complete_in_shell(arguments: list[str]) -> int:
    """Let Typer print or install the completion for the shell that this runs in; AttncliError (exit
    2) for others.
    """
    answer = StringIO()
    with redirect_stdout(answer), redirect_stderr(answer), suppress(SystemExit):
        if _group().main(arguments, "attncli", standalone_mode=False):
            help = (
                "_ATTNCLI_COMPLETE=source_bash attncli prints the completion for bash, from any"
                " shell"
            )
            raise usage_error(
                "only bash, zsh, fish and PowerShell can complete; this is another shell", help=help
            )
    print(answer.getvalue(), end="")
    return Exit.OK


def command_names() -> list[str]:
    """All commands, in the order of the alphabet."""
    return sorted(
        name
        for name in os.listdir(FEATURES)
        if os.path.isfile(os.path.join(FEATURES, name, "command.py"))
    )


class _Command(TyperCommand):
    """A command whose usage line is `compute FILE`, without Typer's braces around what must be
    given.

    In the list of commands its first sentence is whole, over as many lines as it takes. Its options
    stand under headings. The docstring of its function is its help, and may end in `Examples:` and
    command lines, which stand at the end. With --watch it goes on until Ctrl-C.
    """

    def __init__(self, *arguments: Any, help: str = "", **settings: Any) -> None:
        said, _, examples = help.partition("Examples:\n")
        self.examples = [line.strip() for line in examples.splitlines() if line.strip()]
        super().__init__(*arguments, help=said.strip(), **settings)

    def invoke(self, ctx: Any) -> Any:
        if not ctx.params.pop("watch", False):
            return super().invoke(ctx)
        from attncli.cli.watch import watch

        given = ctx.params
        return watch(
            partial(super().invoke, ctx), given["file"], given["output"], quiet=given["quiet"]
        )

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def get_short_help_str(self, limit: int = 0) -> str:
        return " ".join((self.help or "").partition("\n\n")[0].split())

    def format_options(self, ctx: Any, formatter: Any) -> None:
        # Few runs show help.
        from attncli.cli.help import sections_of_options

        arguments = [each for each in self.get_params(ctx) if each.param_type_name == "argument"]
        rows = [each.get_help_record(ctx) for each in arguments]
        _write_sections(formatter, [("Arguments", [row for row in rows if row])])
        _write_sections(formatter, sections_of_options(self, ctx).items())

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        if not self.examples:
            return
        with formatter.section("Examples"):
            for line in self.examples:
                formatter.write(f"{' ' * formatter.current_indent}{line}\n")


def _write_sections(formatter: Any, sections: Iterable[tuple[str, Sequence[Any]]]) -> None:
    for title, rows in sections:
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


class _Commands(TyperGroup):
    """The group of commands, which answers an unknown name with the nearest known one."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        from attncli.cli.help import sections_of_commands

        _write_sections(formatter, sections_of_commands(self))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        found = super().get_command(ctx, cmd_name)
        # A shell that completes a line wants no error about it.
        if found is None and not ctx.resilient_parsing:
            names = command_names()
            help = did_you_mean(cmd_name, names, f"the commands are {listed(names)}")
            if cmd_name.lower().endswith((".yaml", ".yml", ".json")) or os.path.isfile(cmd_name):
                help = f"did you mean attncli compute {quoted(cmd_name)}?"
            raise usage_error(f"there is no command {cmd_name}", help=help)
        return found


@cache
def _group(*names: str) -> Any:
    """The application with these commands, as Typer runs it, which takes longer to build than many
    a line to answer.
    """
    # Markup would read the [i, j] of an equation in a help text as a style and drop it.
    application = typer.Typer(
        cls=_Commands,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        # Completion takes Typer a while, too.
        add_completion=len(names) != 1,
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
            print(BEGINNING)

    for name in names:
        module = import_module(f"attncli.features.{name}.command")
        application.command(name, cls=_Command)(getattr(module, name))
    return typer.main.get_command(application)


def _reworded(error: Any, arguments: Sequence[str]) -> Exception:
    """A usage error of Typer's in the shape of all other errors, with the nearest option where one
    is near.
    """
    # Some errors come without their context; they are always about the options of a command.
    manual = f"see {error.ctx.command_path if error.ctx else f'attncli {arguments[0]}'} --help"
    if hasattr(error, "possibilities"):
        help = _option_meant(error.option_name, error.ctx) or manual
        return usage_error(f"there is no option {error.option_name}", help=help)
    message = error.format_message().rstrip(".")
    for pattern, words in _REWORDED:
        message = re.sub(pattern, words, message)
    return usage_error(message, help=_name_in_quotes(arguments) or manual)


def _name_in_quotes(arguments: Sequence[str]) -> str:
    """What to write where the blanks in a file's name have made several arguments of it; empty
    where they have not.
    """
    lengths = range(2, _MOST_WORDS_IN_A_NAME + 1)
    for start, length in product(range(len(arguments)), lengths):
        words = arguments[start : start + length]
        name = " ".join(words)
        if len(words) > 1 and os.path.isfile(name):
            return f"a name with a blank needs quotes: {quoted(name)}"
    return ""


def _options_of(command: Any) -> set[str]:
    """All spellings of all options of a command."""
    return {spelling for each in command.params for spelling in each.opts}


def _option_meant(typed: str, context: Any) -> str:
    """A help line for an option that the command does not have; empty where nothing is known or
    near.
    """
    word, own = typed.lstrip("-").lower(), context.command.params
    instead = INSTEAD.get(word, "")
    if instead.startswith("attncli"):
        return f"did you mean {instead}?"
    for parameter in own:
        name, words = parameter.opts[0], (parameter.metavar or "").split("|")
        if instead.partition(" ")[0] in parameter.opts:
            return f"did you mean {instead}?"
        if len(words) > 1 and (value := meant(word, words)) in words:
            return f"did you mean {name} {value}?"
    if instead.startswith(("--mask ", "--scale ")) and any("--set" in each.opts for each in own):
        return f"did you mean --set {instead[2:].replace(' ', '=')}?"
    known = {option.lstrip("-"): option for parameter in own for option in parameter.opts} | {
        "help": "--help"
    }
    others = _group(*command_names()).commands if context.parent else {}
    having = [name for name, other in others.items() if typed in _options_of(other)]
    if having:
        has = either(len(having), "has", "have")
        return f"{listed(having)} {has} it; see {context.command_path} --help"
    near = nearest(word, list(known))
    return f"did you mean {known[near]}?" if near else ""
