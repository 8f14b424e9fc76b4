"""Rows that have their names before a colon: the: -1, 3, -3."""

from __future__ import annotations

import re
from collections.abc import Collection

from attncli.answers.steps import find_step
from attncli.tracing.model import Trace

# A list, or a quotation, has these before a name.
_BEFORE_NAME = " \t>*+-"
# A number or a blank begins what stands behind the colon, and no brackets are there.
_NUMBERS = re.compile(
    r"[ \t]+(?:[-+−–][ \t]?)?(?:[0-9.√½⅓⅔¼¾_?…∞]|sqrt|inf|e(?![a-z]))[^\[\]{}:]*",
)
_BLANK = re.compile(r"\s")
_COMMA_AND_BLANK = re.compile(r",\s")


def with_rows_apart(text: str, trace: Trace) -> str:
    """The text, as long as before, without the colons behind names of rows of this trace: what
    separates the numbers of a row stands there, too. A name of a step begins no row.
    """
    names = _names_of_rows(trace)
    return "\n".join(_without_colon(line, names) for line in text.split("\n"))


def _without_colon(line: str, names: Collection[str]) -> str:
    head, _, numbers = line.partition(":")
    name = head.strip(_BEFORE_NAME)
    if name not in names or not _NUMBERS.fullmatch(numbers):
        return line
    before, _, behind = head.partition(name)
    indentation = " " * len(before)
    sign = _separator_in(numbers.strip())
    if sign == " ":
        # No blank in a name separates anything.
        name = name.replace(" ", "_")
    return f"{indentation}{name}{behind}{sign}{numbers}"


def _separator_in(numbers: str) -> str:
    """What separates these numbers: a comma without a blank may be that of a decimal."""
    for sign in ";\t":
        if sign in numbers:
            return sign
    is_list = _COMMA_AND_BLANK.search(numbers) or not _BLANK.search(numbers)
    return "," if "," in numbers and is_list else " "


def _names_of_rows(trace: Trace) -> Collection[str]:
    rows = {labels for step in trace.computed() for labels in step.labels[:-1]}
    names = {name for labels in rows for name in labels}
    return {name for name in names if find_step(name, trace) is None}
