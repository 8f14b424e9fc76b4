"""What a sheet is worth, and each of its steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from attncli.english import listed
from attncli.errors import usage_error


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
            help = f"add {lacking[0]}=4, say, or do not ask for it"
            raise usage_error(f"--marks has none for {listed(lacking)}", help=help)


def plain_marks(marks: Fraction) -> str:
    """2, or 2.5."""
    return f"{float(marks):g}"
