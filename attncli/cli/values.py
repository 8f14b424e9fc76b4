"""Reads the values of options, so that a bad one is answered as all bad input is."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from attncli.dtypes import DETAILS, DEVICES, DTYPES, ROUNDINGS, chosen
from attncli.english import shorten
from attncli.errors import usage_error
from attncli.problem.conventions import CONVENTIONS
from attncli.render import FORMATS, format_of

if TYPE_CHECKING:
    from attncli.problem.model import Scalar

CHOICES = {
    "--format": tuple(FORMATS),
    "--detail": DETAILS,
    "--rounding": ROUNDINGS,
    "--dtype": tuple(DTYPES),
    "--device": DEVICES,
    "--as": tuple(CONVENTIONS),
    "--color": ("auto", "always", "never"),
    "--math": ("fences", "dollars"),
}
_NOT_WRITTEN = (".pdf", ".html", ".htm", ".docx", ".csv", ".xlsx", ".png", ".svg", ".yaml", ".yml",
                ".npy", ".npz", ".safetensors")  # fmt: skip


def choice(option: str, value: str) -> str:
    """The value, which must be one of the option's words; raises AttncliError (exit 2)."""
    return chosen(option, value, CHOICES[option])


def words(**given: str | None) -> None:
    """Every option that is given must be one of its words, `words(detail="rows")`; raises AttncliError (exit 2)."""
    for name, value in given.items():
        if value is not None:
            choice(f"--{name.rstrip('_')}", value)


FORMAT_ADVICE = {"--math": "--math is for --format markdown", "--fragment": "--fragment is for --format latex"}


def apart(advice: Mapping[str, str], *pairs: tuple[str, str, bool]) -> None:
    """Raises AttncliError (exit 2) for the first two options that are given and do not go with each other.

    Each pair is followed by whether both are given; `advice` has the help for the first of the two.
    """
    for option, other, together in pairs:
        if together:
            raise usage_error(f"{option} does not go with {other}", help=advice[option])


def of_format(page_format: str, *, math: str | None, fragment: bool) -> tuple[tuple[str, str, bool], ...]:
    """The options that are for pages of one format only, beside the format of this page, as `apart` takes them."""
    return (
        ("--math", f"--format {page_format}", math is not None and page_format != "markdown"),
        ("--fragment", f"--format {page_format}", fragment and page_format != "latex"),
    )


def whole(option: str, value: str, allowed: range) -> int:
    """A whole number in plain digits; raises AttncliError (exit 2) where it is none or not allowed."""
    plain = value.isascii() and value.isdigit() and len(value) <= len(str(allowed[-1]))
    if not plain or int(value) not in allowed:
        raise usage_error(
            f"{option} cannot be {shorten(repr(value))}", help=f"give a whole number from {allowed[0]} to {allowed[-1]}"
        )
    return int(value)


def place(option: str, value: str) -> int:
    """A head or an entry by its number; raises AttncliError (exit 2) for what is none.

    One below 0 passes: whoever knows how many there are tells which can be asked for.
    """
    if not re.fullmatch(r"-?[0-9]{1,9}", value):
        raise usage_error(
            f"{option} cannot be {shorten(repr(value))}", help=f"give a whole number: {option} 0 is the first"
        )
    return int(value)


def tolerance(option: str, value: str) -> float:
    """A number of at least 0, such as 1e-6; raises AttncliError (exit 2) for anything else."""
    number = _number(option, value, "1e-6")
    if not number >= 0:
        raise usage_error(f"{option} cannot be {shorten(repr(value))}", help="give a number such as 1e-6, or 0")
    return number


def step_size(option: str, value: str) -> Scalar:
    """A number above 0, such as 0.1 or 1/3; raises AttncliError (exit 2) for anything else."""
    from attncli.problem.model import Scalar

    number = _number(option, value, "0.1")
    if not number > 0:
        raise usage_error(f"{option} cannot be {shorten(repr(value))}", help="give a number above 0, such as 0.1")
    return Scalar(number, value)


def _number(option: str, value: str, example: str) -> float:
    """A number as problems have them; raises AttncliError (exit 2) for anything else."""
    from attncli.problem.numbers import NumberError, as_float

    try:
        return as_float(value)
    except NumberError as error:
        raise usage_error(f"{option} {error.message}", help=f"give a number such as {example}") from None


def names(option: str, value: str, what: str = "name", example: str = "weights,output") -> tuple[str, ...]:
    """A list of names, or what they are, with commas between; raises AttncliError (exit 2) where one is empty."""
    parts = tuple(part.strip() for part in value.split(","))
    if not all(parts):
        raise usage_error(
            f"{option} lacks a {what} in {value!r}", help=f"put one comma between {what}s: {option} {example}"
        )
    return parts


def output_format(given: str | None, output: str | None, *, arrays: bool = False) -> str:
    """The format asked for, or the one that the output's suffix says; raises AttncliError (exit 2).

    It is "npy", which is no page, where the suffix says so and `arrays` lets it.
    """
    if given is not None:
        return choice("--format", given)
    suffix = os.path.splitext(output or "")[1].lower()
    if arrays and suffix == ".npy":
        return "npy"
    if suffix in _NOT_WRITTEN:
        raise usage_error(
            f"-o {output}: attncli does not write {suffix} files",
            help="end the name in .txt, .md, .tex or .json, or say which of these it is with --format"
            + "; .npy holds the array of one step" * arrays,
        )
    return format_of(output or "") or "table"


def one_step(steps: Sequence[str] | None, path: str) -> None:
    """Raises AttncliError (exit 2) unless one step is asked for, as a file of one array needs it."""
    if steps is None or len(steps) != 1:
        raise usage_error(f"-o {path}: a .npy file holds one array", help="ask for one step: --steps output")
