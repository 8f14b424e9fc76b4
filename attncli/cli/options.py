"""The options that commands share, each said once: its names, its help, and what its value may be.

An option is a type: a command has a parameter `precision: options.Precision = 3`, and Typer makes `--precision` of
it. Its parser reads what was typed by our own rules (float, say, would take nan and 1_000), and raises AttncliError
(exit 2) for what is wrong. What depends on several options at once is checked by the functions at the end.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Annotated, Any, TypeAlias

import typer

from attncli.dtypes import DETAILS, DEVICES, DTYPES, NOT_FLOATS, PRECISION, ROUNDINGS, chosen
from attncli.english import shorten
from attncli.errors import usage_error
from attncli.problem.conventions import CONVENTIONS
from attncli.render import FORMATS, format_of

NOT_WRITTEN = (".pdf", ".html", ".htm", ".docx", ".csv", ".xlsx", ".png", ".svg", ".yaml", ".yml",
               ".npy", ".npz", ".safetensors")  # fmt: skip
ALONE = "leave out one of the two"

Conflict: TypeAlias = tuple[bool, str, str, str]  # whether both options are given, the two, and what to do about it


# Parsers, each for the value of one option. Typer gives them default values, too.


def whole(option: str, value: object, *, allowed: range) -> int:
    """A whole number in plain digits; raises AttncliError (exit 2) where it is none or not allowed."""
    text = str(value)
    plain = text.isascii() and text.isdigit() and len(text) <= len(str(allowed[-1]))
    if not plain or int(text) not in allowed:
        raise usage_error(
            f"{option} cannot be {shorten(repr(text))}", help=f"give a whole number from {allowed[0]} to {allowed[-1]}"
        )
    return int(text)


def index(option: str, value: str) -> int:
    """A head or an entry by its number; raises AttncliError (exit 2) for what is none.

    One below 0 passes: whoever knows how many there are says which can be asked for.
    """
    if not re.fullmatch(r"-?[0-9]{1,9}", value):
        raise usage_error(
            f"{option} cannot be {shorten(repr(value))}", help=f"give a whole number: {option} 0 is the first"
        )
    return int(value)


def number(option: str, value: str, *, example: str, zero: bool) -> float:
    """A positive number as problems have them, such as 1e-6 or 1/3, or, where `zero` allows it, 0.

    Raises AttncliError (exit 2) for anything else.
    """
    from attncli.problem.numbers import NumberError, as_float

    try:
        found = as_float(value)
    except NumberError as error:
        raise usage_error(f"{option} {error.message}", help=f"give a number such as {example}") from None
    if not (found > 0 or (zero and found == 0)):
        help = f"give a number such as {example}, or 0" if zero else f"give a number above 0, such as {example}"
        raise usage_error(f"{option} cannot be {shorten(repr(value))}", help=help)
    return found


def names(option: str, value: str, *, what: str = "name", example: str = "weights,output") -> tuple[str, ...]:
    """A list of names, or what they are, with commas between; raises AttncliError (exit 2) where one is empty."""
    parts = tuple(part.strip() for part in value.split(","))
    if not all(parts):
        raise usage_error(
            f"{option} lacks a {what} in {value!r}", help=f"put one comma between {what}s: {option} {example}"
        )
    return parts


# Declarations of options that are read by one of these.


def choice(option: str, words: Iterable[str], help: str) -> Any:
    """An option whose value is one of these words."""
    words = tuple(words)
    parser = partial(_chosen, option, words)
    return typer.Option(option, metavar="|".join(words), help=help, parser=parser, show_default=False)


def read_by(parser: Callable[..., object], option: str, *, metavar: str, help: str, **settings: Any) -> Any:
    """An option whose value a parser reads, which is called with the option's name first."""
    return typer.Option(option, metavar=metavar, help=help, parser=partial(parser, option, **settings))


def _chosen(option: str, words: tuple[str, ...], value: str) -> str:
    return chosen(option, value, words)


Problem: TypeAlias = Annotated[
    str, typer.Argument(metavar="FILE", help="The problem in YAML or JSON; - is standard input.")
]
FORMAT_HELP = "How the page is written.  [default: by the suffix of -o, else table]"
Format: TypeAlias = Annotated[str | None, choice("--format", FORMATS, FORMAT_HELP)]
Output: TypeAlias = Annotated[
    str | None, typer.Option("-o", "--output", metavar="FILE", help="Write to this file, replacing it whole.")
]
Steps: TypeAlias = Annotated[
    Sequence[str] | None,
    read_by(names, "--steps", metavar="NAME,…", help="Show these steps only: weights,output."),
]
Detail: TypeAlias = Annotated[
    str | None,
    choice("--detail", DETAILS, "Matrices only, one worked line per row, or every cell worked.  [default: rows]"),
]
Cell: TypeAlias = Annotated[
    str | None, typer.Option("--cell", metavar="CELL", help="Work this one cell: 'scores[0,1]'.")
]
Head: TypeAlias = Annotated[
    int | None, read_by(index, "--head", metavar="N", help="Show this head only; heads count from 0.")
]
Entry: TypeAlias = Annotated[
    int | None, read_by(index, "--entry", metavar="N", help="Show this entry of a batch only; entries count from 0.")
]
Precision: TypeAlias = Annotated[
    int,
    read_by(
        whole, "--precision", metavar="N", help=f"Decimals shown, {PRECISION[0]} to {PRECISION[-1]}.", allowed=PRECISION
    ),
]
Rounding: TypeAlias = Annotated[
    str,
    choice(
        "--rounding",
        ROUNDINGS,
        "Keep closed forms, round only what is shown, or feed it to the next step, as on paper.  [default: shown]",
    ),
]
Heatmap: TypeAlias = Annotated[bool, typer.Option("--heatmap", help="Shade the cells by size.")]
Mask: TypeAlias = Annotated[
    str | None, typer.Option("--mask", metavar="MASK", help="Another mask than the file's: causal, none, …")
]
As: TypeAlias = Annotated[
    str | None, choice("--as", CONVENTIONS, "Read a mask that does not say what it means as this software does.")
]
AllowOutside: TypeAlias = Annotated[
    bool, typer.Option("--allow-outside", help="Let {file: …} name files outside the problem's folder.")
]
Scale: TypeAlias = Annotated[
    str | None, typer.Option("--scale", metavar="SCALE", help="Another scale than the file's: a number or none.")
]
Dtype: TypeAlias = Annotated[
    str, choice("--dtype", DTYPES, "The format in which numbers are kept.  [default: float64]")
]
Device: TypeAlias = Annotated[str, choice("--device", DEVICES, "Where it is worked out.  [default: cpu]")]
Color: TypeAlias = Annotated[
    str, choice("--color", ("auto", "always", "never"), "Whether the table is coloured.  [default: auto]")
]
Math: TypeAlias = Annotated[
    str | None,
    choice(
        "--math",
        ("fences", "dollars"),
        "How Markdown marks formulas: for GitHub, or for pandoc and Jupyter.  [default: fences]",
    ),
]
Fragment: TypeAlias = Annotated[bool, typer.Option("--fragment", help="LaTeX to paste into a document of your own.")]
All: TypeAlias = Annotated[
    bool, typer.Option("--all", help="Show large matrices whole and all heads, on a terminal too.")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("-q", "--quiet", help="Leave out the warnings.")]


# What follows from several options at once.


def page_format(given: str | None, output: str | None, *, arrays: bool = False) -> str:
    """The format asked for, or the one that the output's suffix says; raises AttncliError (exit 2).

    It is "npy", which is no page, where the suffix says so and `arrays` allows it.
    """
    if given is not None:
        return given
    suffix = os.path.splitext(output or "")[1].lower()
    if arrays and suffix == ".npy":
        return "npy"
    if suffix in NOT_WRITTEN:
        raise usage_error(
            f"-o {output}: attncli does not write {suffix} files",
            help="end the name in .txt, .md, .tex or .json, or say which of these it is with --format"
            + "; .npy holds the array of one step" * arrays,
        )
    return format_of(output or "") or "table"


def reject_conflicts(*conflicts: Conflict) -> None:
    """Raises AttncliError (exit 2) for the first two options that are given and do not go with each other."""
    for together, option, other, help in conflicts:
        if together:
            raise usage_error(f"{option} does not go with {other}", help=help)


def format_conflicts(
    format: str, *, heatmap: bool = False, math: str | None = None, fragment: bool = False
) -> tuple[Conflict, ...]:
    """The options that only some formats have, and a format that lacks them."""
    given = {"--heatmap": heatmap, "--math": math is not None, "--fragment": fragment}
    return tuple(_lacking(option, format) for option in given if given[option])


def _lacking(option: str, format: str) -> Conflict:
    """An option that is given, and a format that may lack it."""
    having = [name for name, row in FORMATS.items() if option in row.options]
    if len(having) == 1:
        help = f"{option} is for --format {having[0]}"
    else:
        is_data = format not in FORMATS or FORMATS[format].is_data
        help = f"{f'{format.upper()} holds the numbers themselves; ' * is_data}leave out {option}"
    return format not in having, option, f"--format {format}" if format in FORMATS else f"a .{format} file", help


def view_conflicts(
    format: str, output: str | None, *, steps: Sequence[str] | None, detail: str | None, cell: str | None
) -> tuple[Conflict, ...]:
    """One cell and whatever shows more than one, and lines worked and numbers alone."""
    one_cell, help = cell is not None, f"--cell works one cell in full; {ALONE}"
    return (
        (one_cell and steps is not None, "--cell", "--steps", help),
        (one_cell and detail is not None, "--cell", "--detail", help),
        (one_cell and format == "npy", "--cell", f"-o {output}", help),
        (detail is not None and format == "npy", "--detail", f"-o {output}", "a .npy file has no worked lines"),
    )


def rounding_conflicts(rounding: str, *, dtype: str, device: str) -> tuple[Conflict, ...]:
    """Decimals and exact numbers, and what only floating point has."""
    asked, help = f"--rounding {rounding}", NOT_FLOATS.get(rounding, "")
    return (
        (bool(help) and dtype != "float64", asked, f"--dtype {dtype}", help),
        (bool(help) and device == "gpu", asked, "--device gpu", help),
    )


def require_one_step(format: str, output: str | None, steps: Sequence[str] | None) -> None:
    """Raises AttncliError (exit 2) where a file of one array is asked for, but not one step."""
    if format == "npy" and (steps is None or len(steps) != 1):
        raise usage_error(f"-o {output}: a .npy file holds one array", help="ask for one step: --steps output")
