"""Write the man page from the help of every command: `python docs/man/make.py` writes attncli.1
anew.

Exit codes and the environment come from the reference, so that nothing is said twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attncli import __version__
from attncli.cli.app import BEGINNING, _group, command_names

HERE = Path(__file__).parent
REFERENCE = HERE.parent / "reference"
# What roff takes for signs of its own; a line may break after a |.
_SIGNS = {
    "\\": r"\e",
    "-": r"\-",
    "'": r"\(aq",
    "^": r"\(ha",
    "~": r"\(ti",
    "`": r"\(ga",
    "|": r"|\:",
}
_ESCAPES = str.maketrans(_SIGNS)


def man_page() -> str:
    """The page attncli(1) in roff, for the macros of man."""
    application = _group(*command_names())
    return "\n".join(_lines(application)) + "\n"


def _lines(application: Any) -> Iterator[str]:
    _, examples, _ = BEGINNING.split("\n\n")
    yield f'.TH ATTNCLI 1 "" "attncli {__version__}" "User Commands"'
    yield from (".nh", ".ad l")  # a word that is cut cannot be copied
    yield from _section("NAME")
    yield r"attncli \- " + _plain(application.help.rstrip("."))
    yield from _section("SYNOPSIS")
    yield r".B attncli \fIcommand\fR [\fIoptions\fR] [\fIarguments\fR]"
    yield from _section("DESCRIPTION")
    yield _plain(
        "It calculates attention step by step: each matrix, its formula, and how its numbers are"
        " calculated."
    )
    yield _plain(
        "FILE is a problem in YAML or JSON; - is standard input. A page goes to standard output, or"
        " with -o to a file."
    )
    yield _plain("Warnings and errors go to standard error.")
    yield from _section("EXAMPLES")
    for line in examples.splitlines():
        command, does = re.split(r" {2,}", line.strip())
        yield from (".TP", f".B {_plain(command)}", _plain(does[:1].upper() + does[1:] + "."))
    yield from _section("OPTIONS")
    top = application.make_context("attncli", [], resilient_parsing=True)
    yield from _parameters(application, top)
    yield from _section("COMMANDS")
    for name, command in application.commands.items():
        context = command.make_context(name, [], parent=top, resilient_parsing=True)
        usage = " ".join(command.collect_usage_pieces(context))
        yield f".SS {_plain(f'attncli {name} {usage}')}"
        for number, paragraph in enumerate(command.help.split("\n\n")):
            yield from ([".PP"] if number else [])
            yield _plain(" ".join(paragraph.split()))
        yield from _parameters(command, context)
        yield from (".PP", "Examples:")
        for line in command.examples:
            yield from ('.IP "" 2', _plain(line))
    yield from _section("EXIT STATUS")
    yield from _table("exit-codes-and-errors.md", "Exit codes")
    yield from _section("ENVIRONMENT")
    yield from _table("command-line.md", "The environment")


def _section(title: str) -> Iterator[str]:
    yield f".SH {title}"


def _parameters(command: Any, context: Any) -> Iterator[str]:
    """Every argument and option of a command, as its help has them."""
    for parameter in command.get_params(context):
        spelled, said = parameter.get_help_record(context)
        if "--help" not in parameter.opts or context.parent is None:  # every command has it
            # older versions of Typer have no brackets around an argument that may be left out
            yield from (".TP", f".B {_plain(spelled.strip('[]'))}", _plain(" ".join(said.split())))


def _table(page: str, title: str) -> Iterator[str]:
    """The rows of a table of two columns in the reference, without its links and marks of code."""
    text = (
        (REFERENCE / page).read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    )
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", text, re.MULTILINE)
    for name, meaning in rows[2:]:  # below the heads and a line of dashes
        yield from (".TP", f".B {_plain(_without_marks(name))}", _plain(_without_marks(meaning)))


def _without_marks(markdown: str) -> str:
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", markdown).replace("`", "")


def _plain(text: str) -> str:
    """Text of which roff takes no character for one of its own."""
    escaped = text.translate(_ESCAPES)
    return rf"\&{escaped}" if escaped[:1] == "." else escaped


if __name__ == "__main__":
    (HERE / "attncli.1").write_text(man_page(), encoding="utf-8")
