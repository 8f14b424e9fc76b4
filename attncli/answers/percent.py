"""Numbers below a name that says they are percentages: Attention weights in %."""

from __future__ import annotations

import re

from attncli.answers.claims import BLANK
from attncli.answers.headings import LONGEST_HEADING

_SIGN = "%"
_IN_PERCENT = re.compile(
    r"(?<=\S)(?:\s+|\s*,\s*|(?=[(\[]))[(\[]?\s*(?:(?:in|as)\s+)?"
    r"(?:%|percent(?:ages?)?|per\s+cent)\s*[)\]]?\s*\Z",
    re.IGNORECASE,
)


def is_in_percent(name: str) -> bool:
    """Whether the numbers below this name are percentages."""
    return without_percent(name) != name


def without_percent(name: str) -> str:
    """The name alone: Attention weights for Attention weights in %."""
    return name if len(name) > LONGEST_HEADING else _IN_PERCENT.sub("", name)


def percentage(text: str) -> str:
    """What a cell below such a name says: 22 % for 22; a blank, or what has the sign, as it is."""
    written = text.strip()
    if BLANK.fullmatch(written) or written.endswith(_SIGN):
        return text
    return f"{written} {_SIGN}"
