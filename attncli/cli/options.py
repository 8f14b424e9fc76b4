"""The options that commands share, each said once: its names, its help, and what its value may be.

An option is a type: a command has a parameter `precision: options.Precision = 3`, and Typer makes
`--precision` of it. Its parser reads what was typed by our own rules (float, say, would take nan
and 1_000), and raises AttncliError (exit 2) for what is wrong. What depends on several options at
once is checked by those who put them together: `look.py` and `view_options.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple, TypeAlias

import typer

from attncli.dtypes import (
    DETAILS,
    DEVICES,
    DTYPES,
    PRECISION,
    ROUNDINGS,
    WHAT_MAY_BE_GIVEN,
    chosen,
    meant,
)
from attncli.english import shorten
from attncli.errors import AttncliError, usage_error
from attncli.problem.parts.conventions import CONVENTIONS
from attncli.render import LOWEST_HEADING, OF_ONE_STEP, PAGES, WORKBOOK
from attncli.system import unquoted

LEAVE_ONE_OUT = "leave out one of the two"
# The name of a problem may end in one of these.
OF_YAML = ("", ".yaml", ".yml")

# People type these options, and no command has them.
INSTEAD = {
    "backward": "attncli gradient",
    "causal": "--mask causal",
    "colour": "--color",
    "decimals": "--precision",
    "digits": "--precision",
    "no-color": "--color never",
    "no-mask": "--mask none",
    "no-scale": "--scale none",
    "unscaled": "--scale none",
    "verbose": "--detail cells",
}


# Parsers, each for the value of one option. Typer gives them default values, too.


def whole(option: str, value: object, *, allowed: range) -> int:
    """A whole number in plain digits; raises AttncliError (exit 2) where it is none or not
    allowed.
    """
    text = str(value)
    plain = text.isascii() and text.isdigit() and len(text) <= len(str(allowed[-1]))
    if not plain or int(text) not in allowed:
        raise usage_error(
            f"{option} cannot be {shorten(repr(text))}",
            help=f"give a whole number from {allowed[0]} to {allowed[-1]}",
        )
    return int(text)


def index(option: str, value: str) -> int:
    """A head or an entry by its number; raises AttncliError (exit 2) for what is none.

    One below 0 passes: whoever knows how many there are says which can be asked for.
    """
    if not re.fullmatch(r"-?[0-9]{1,9}", value):
        raise usage_error(
            f"{option} cannot be {shorten(repr(value))}",
            help=f"give a whole number: {option} 0 is the first",
        )
    return int(value)


def number(option: str, value: str, *, example: str, zero: bool) -> float:
    """A positive number as problems have them, such as 1e-6 or 1/3, or, where `zero` allows it, 0.

    Raises AttncliError (exit 2) for anything else.
    """
    from attncli.problem.text.number_forms import NumberError
    from attncli.problem.text.numbers import as_float

    try:
        found = as_float(value)
    except NumberError as error:
        # The help of a comma says how to write the number: 0.5 for 0,5.
        help = error.help if "," in value else f"give a number such as {example}"
        raise usage_error(f"{option} {error.message}", help=help) from None
    if not (found > 0 or (zero and found == 0)):
        help = (
            f"give a number such as {example}, or 0"
            if zero
            else f"give a number above 0, such as {example}"
        )
        raise usage_error(f"{option} cannot be {shorten(repr(value))}", help=help)
    return found


def names(
    option: str, value: str, *, what: str = "name", example: str = "weights,output"
) -> tuple[str, ...]:
    """A list of names, or what they are, with commas between; raises AttncliError (exit 2) where
    one is empty.
    """
    parts = tuple(part.strip() for part in unquoted(value).split(","))
    if not all(parts):
        raise usage_error(
            f"{option} has an empty {what} in {value!r}",
            help=f"put one comma between {what}s: {option} {example}",
        )
    return parts


# What a shell offers for a value when somebody presses Tab. Where nothing is offered, it offers
# files.


def offer(words: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Completes the beginning of one of these words, or, after commas, of the last of several."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{word}" for word in words() if word.startswith(last)]

    return complete


def step_names() -> Iterable[str]:
    """The names of all steps."""
    # Only a shell that completes needs them so early.
    from attncli.attention.registry import RULES

    return RULES


# Declarations of options that are read by one of these.


def choice(option: str, words: Iterable[str], help: str) -> Any:
    """An option whose value is one of these words."""
    words = tuple(words)
    parser = partial(_chosen, option, words)
    return typer.Option(
        option,
        metavar="|".join(words),
        help=help,
        parser=parser,
        show_default=False,
        autocompletion=offer(lambda: words),
    )


def read_by(
    parser: Callable[..., object],
    option: str,
    *,
    metavar: str,
    help: str,
    **settings: Any,
) -> Any:
    """An option whose value a parser reads, which is called with the option's name first.

    Names are those of steps, and a shell offers them.
    """
    return typer.Option(
        option,
        metavar=metavar,
        help=help,
        parser=partial(parser, option, **settings),
        autocompletion=offer(step_names) if parser is names else None,
    )


def _chosen(option: str, words: tuple[str, ...], value: str) -> str:
    return chosen(option, meant(value, words), words)


ProblemFile: TypeAlias = Annotated[
    str, typer.Argument(metavar="FILE", help="The problem in YAML or JSON; - is standard input.")
]
FORMAT_HELP = "The format of the page.  [default: from the name after -o, else table]"
PageFormat: TypeAlias = Annotated[str | None, choice("--format", PAGES, FORMAT_HELP)]
StepFormat: TypeAlias = Annotated[
    str | None, choice("--format", (*PAGES, *OF_ONE_STEP), FORMAT_HELP)
]
TraceFormat: TypeAlias = Annotated[
    str | None, choice("--format", (*PAGES, *OF_ONE_STEP, *WORKBOOK), FORMAT_HELP)
]
Output: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="Write to this file. If it exists, it is replaced."
    ),
]


def steps_option(example: str) -> Any:
    """`--steps`, with an example of steps that the command has."""
    help = f"Show only these steps: {example}."
    return read_by(names, "--steps", metavar="NAME,…", help=help, example=example)


def cell_option(example: str) -> Any:
    """`--cell`, with an example of a step that the command has."""
    help = f"Show how this one cell is calculated: '{example}'."
    return typer.Option("--cell", metavar="CELL", help=help)


Steps: TypeAlias = Annotated[Sequence[str] | None, steps_option("weights,output")]
StepsBack: TypeAlias = Annotated[Sequence[str] | None, steps_option("d_Q,d_K")]
Detail: TypeAlias = Annotated[
    str | None,
    choice(
        "--detail",
        DETAILS,
        "brief: only matrices; rows: also the calculation of one cell in each row; cells: of every"
        " cell.  [default: rows]",
    ),
]
OneCell: TypeAlias = Annotated[str | None, cell_option("scores[0,1]")]
OneCellBack: TypeAlias = Annotated[str | None, cell_option("d_Q[0,1]")]
OneQuery: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--query",
        metavar="TOKEN",
        help="Show only what this query attends to, its top keys in order.",
    ),
]
OneHead: TypeAlias = Annotated[
    int | None, read_by(index, "--head", metavar="N", help="Show only this head; the first is 0.")
]
OneEntry: TypeAlias = Annotated[
    int | None,
    read_by(index, "--entry", metavar="N", help="Show only this entry of a batch; the first is 0."),
]
Precision: TypeAlias = Annotated[
    int,
    read_by(
        whole,
        "--precision",
        metavar="N",
        help=f"Decimals shown, {PRECISION[0]} to {PRECISION[-1]}.",
        allowed=PRECISION,
    ),
]
Rounding: TypeAlias = Annotated[
    str,
    choice(
        "--rounding",
        ROUNDINGS,
        "exact: keep fractions and roots; shown: round only what is shown; paper: round every step,"
        " as on paper.  [default: shown]",
    ),
]
Heatmap: TypeAlias = Annotated[
    bool, typer.Option("--heatmap", help="Shade each cell by the size of its number.")
]
Pictures: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--pictures",
        help=(
            "Draw the shapes, the weights and the outputs, too. Beside Markdown, these are .svg"
            " files."
        ),
    ),
]
OtherMask: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--mask",
        metavar="MASK",
        help="Use this mask instead of the one in the file: causal, none, …",
        autocompletion=offer(lambda: ("causal", "none")),
    ),
]
As: TypeAlias = Annotated[
    str | None,
    choice(
        "--as", CONVENTIONS, "If a mask can be read in two ways, read it as this software does."
    ),
]
AllowOutside: TypeAlias = Annotated[
    bool,
    typer.Option("--allow-outside", help="Let {file: …} name files outside the problem's folder."),
]
OtherScale: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="SCALE",
        help="Use this scale instead of the one in the file: a number or none.",
        autocompletion=offer(lambda: ("default", "none")),
    ),
]
Given: TypeAlias = Annotated[
    str | None,
    choice(
        "--given",
        WHAT_MAY_BE_GIVEN,
        "Give X and the weights, or give Q, K and V.  [default: x]",
    ),
]
Dtype: TypeAlias = Annotated[
    str, choice("--dtype", DTYPES, "The format in which numbers are kept.  [default: float64]")
]
Device: TypeAlias = Annotated[
    str, choice("--device", DEVICES, "The processor that calculates.  [default: cpu]")
]
Color: TypeAlias = Annotated[
    str,
    choice(
        "--color", ("auto", "always", "never"), "Whether the table is coloured.  [default: auto]"
    ),
]
Ascii: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--ascii", help="Write the table in words and draw nothing, for screen readers and pipes."
    ),
]
Math: TypeAlias = Annotated[
    str | None,
    choice(
        "--math",
        ("fences", "dollars"),
        "How Markdown marks formulas. fences: for GitHub; dollars: for pandoc and Jupyter. "
        " [default: fences]",
    ),
]
Fragment: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--fragment",
        help=(
            "Write LaTeX, HTML or Markdown to include in a page. With {n} in the name after -o,"
            " write a file for each section."
        ),
    ),
]
NoTitle: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--no-title",
        help=(
            "Leave out the title of a page. With a file for each section, leave out their headings"
            " too."
        ),
    ),
]
HeadingLevel: TypeAlias = Annotated[
    int | None,
    read_by(
        whole,
        "--heading-level",
        metavar="N",
        help=(
            "The level of the highest heading in Markdown and in a fragment, 1 to 6: 2 below a"
            " heading of your own."
        ),
        allowed=range(1, LOWEST_HEADING + 1),
    ),
]
Static: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--static", help="Leave the script out of the HTML page, so that it only shows the numbers."
    ),
]
All: TypeAlias = Annotated[
    bool,
    typer.Option("--all", help="Show all rows, columns and heads, even on a terminal or in HTML."),
]
Watched: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--watch", help="Work it out again whenever the file changes, until you press Ctrl-C."
    ),
]
Quiet: TypeAlias = Annotated[bool, typer.Option("-q", "--quiet", help="Print no warnings.")]


# What the name of a file ends in.


def suffix_of(path: str | None) -> str:
    """What the name of a file ends in, .md; empty for none."""
    return os.path.splitext(path or "")[1].lower()


def unknown_suffix(option: str, path: str, known: str) -> AttncliError:
    """The error (exit 2) for a file of which the name does not say what is written there; `known`
    says what it may.
    """
    message = f"{option} {path}: this command does not write {suffix_of(path)} files"
    return usage_error(message, help=f"end the name in {known}")


# Options that do not go with each other.


class Conflict(NamedTuple):
    """Two options, whether both are given, and what to do about it.

    `Conflict(True, "--cell", "--steps", "leave out one of the two")` is an error: "--cell cannot be
    used with --steps".
    """

    is_given: bool
    option: str
    other: str
    help: str


def reject_conflicts(*conflicts: Conflict) -> None:
    """Raises AttncliError (exit 2) for the first two options that are given and do not go
    together.
    """
    for conflict in conflicts:
        if conflict.is_given:
            raise usage_error(
                f"{conflict.option} cannot be used with {conflict.other}", help=conflict.help
            )
