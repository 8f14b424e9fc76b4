"""The options of commands that write sheets: what is asked for, and what it is worth."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

from attncli.attention.registry import STEP_NAMES
from attncli.cli import options
from attncli.cli.class_options import POSSIBLE_MARKS
from attncli.errors import usage_error
from attncli.marking.sheet_marks import SheetMarks, plain_marks

_EXAMPLE = "weights=8,output=12"
_AMOUNT = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,2})?")

Ask: TypeAlias = Annotated[
    Sequence[str] | None,
    options.read_by(
        options.names,
        "--ask",
        metavar="NAME,…",
        help="Ask for these steps only: weights,output.  [default: all that is worked out]",
    ),
]


def marks_of(what: str, default: int | None = None) -> Any:
    """The option for the marks of a sheet, or of each of its steps."""
    help = f"Marks of {what}, or of each step: weights=8,output=12."
    if default is not None:
        help += f"  [default: {default}]"
    return options.read_by(read_marks, "--marks", metavar="N|NAME=N,…", help=help)


def read_marks(option: str, value: str) -> SheetMarks:
    """The marks of a sheet, 20, or of each of its steps: scores=4,weights=8. Raises AttncliError
    (exit 2) for anything else.
    """
    if "=" not in value:
        return SheetMarks(options.whole(option, value, allowed=POSSIBLE_MARKS))
    found: dict[str, Fraction] = {}
    for part in options.names(option, value, what="step", example=_EXAMPLE):
        written, _, amount = part.partition("=")
        name = STEP_NAMES.get(written.strip(), written.strip())
        if name in found:
            raise usage_error(f"{option} has {name} twice", help="write each step once")
        found[name] = _amount(option, name, amount.strip())
    whole = sum(found.values(), Fraction(0))
    if whole.denominator != 1 or int(whole) not in POSSIBLE_MARKS:
        raise usage_error(
            f"the marks of {option} add up to {plain_marks(whole)}",
            help=f"a sheet has a whole number of marks, from 1 to {POSSIBLE_MARKS[-1]:,}",
        )
    return SheetMarks(int(whole), found)


def _amount(option: str, name: str, written: str) -> Fraction:
    if not _AMOUNT.fullmatch(written):
        raise usage_error(
            f"{option} cannot give {name} {written or 'nothing'}",
            help=f"give a number of marks: {option} {_EXAMPLE}",
        )
    return Fraction(written)
