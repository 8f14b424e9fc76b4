"""What a notation is made of: how one function is spelled, how tightly it binds, and the few forms besides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

CHOICE, COMPARISON, SUM, MINUS, PRODUCT, POWER, ATOM = range(7)  # how tightly a form binds


@dataclass(frozen=True, slots=True)
class Spelling:
    """How one function is written.

    `form` has a slot {0}, {1}, … for each argument; where there is a `separator`, the arguments are first
    joined by it, however many, and stand in {0} together. `level` is how tightly the whole binds, `needs`
    how tightly each argument must, the last entry serving all further arguments. `of_number` is how it is
    written of a number, `of_tall` of what is taller than a line, where that differs.
    """

    form: str
    level: int = ATOM
    needs: tuple[int, ...] = (CHOICE,)
    separator: str = ""
    of_number: Spelling | None = None
    of_tall: Spelling | None = None


@dataclass(frozen=True, slots=True)
class Notation:
    """A table of spellings and the few forms that are not functions.

    `name` spells a name, `cell` a name with indices, `digits` a number that has no sign and no structure.
    What holds one of the signs in `tall` is taller than a line, and takes `tall_parenthesis`.
    """

    functions: Mapping[str, Spelling]
    sums: str  # Σ over an index: {index}, {body}
    maxima: str
    name: Callable[[str], str]
    cell: Callable[[str, tuple[str, ...]], str]
    digits: Callable[[str], str]
    parenthesis: str = "({})"
    tall: tuple[str, ...] = ()
    tall_parenthesis: str = parenthesis
    equals: str = "="
    nearly: str = "≈"


def operator(sign: str, level: int, *needs: int) -> Spelling:
    """An operator that stands between any number of arguments."""
    return Spelling("{0}", level, needs or (level,), separator=sign)


def latex_function(name: str, *, separator: str = "", of_number: Spelling | None = None) -> Spelling:
    """A function before its argument, in parentheses as tall as that is."""
    tall = Spelling(name + r"\mathopen{{}}\left({0}\right)", separator=separator)
    return Spelling(name + "({0})", separator=separator, of_number=of_number, of_tall=tall)
