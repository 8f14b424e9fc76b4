"""What a sheet is worth, and each of its steps, as a command line says it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from attncli.attention.registry import STEP_NAMES
from attncli.cli import options
from attncli.cli.class_options import POSSIBLE_MARKS
from attncli.english import listed
from attncli.errors import usage_error

_EXAMPLE = "weights=8,output=12"
_AMOUNT = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,2})?")


class SheetMarks(NamedTuple):
    """The marks of a whole sheet, and of each step that some were chosen for: of all that bring
    marks, or of none.
    """

    whole: int
    of_steps: Mapping[str, Fraction] = MappingProxyType({})

    def require_all(self, numbers: Mapping[str, int], asked: Sequence[str]) -> None:
        """Raises AttncliError (exit 2) unless the steps with marks are those that are asked for and
        bring some, which have so many numbers.
        """
        if not self.of_steps:
            return
        for name in self.of_steps:
            if name not in numbers:
                why = "is only copied" if name in asked else "is not asked for"
                help = f"the steps that bring marks are {listed([*numbers])}"
                raise usage_error(f"--marks: {name} {why}", help=help)
        lacking = [name for name in numbers if name not in self.of_steps]
        if lacking:
            help = f"add {lacking[0]}=4, say, or leave it out of --ask"
            raise usage_error(f"--marks has none for {listed(lacking)}", help=help)


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


def plain_marks(marks: Fraction) -> str:
    """2, or 2.5."""
    return f"{float(marks):g}"
