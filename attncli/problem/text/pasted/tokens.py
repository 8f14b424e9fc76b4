"""The tokens of a pasted text: every word, gap, separator, bracket, remark and line end, each once
and with its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
    (?P<quoted> "[^"\n]*" )
    # A # begins a remark, but not where it begins an error of a spreadsheet.
    | (?P<remark> \#(?!N/A|DIV/0!|VALUE!|REF!|NAME\?|NUM!|NULL!)[^\n]* )
    | (?P<line_end> \n )
    | (?P<tab> \t )
    | (?P<word>
        (?: [^\s,;\[\]"\#]
            # Blanks that break no line stand between groups of three digits, inside of a number.
            | (?<=[0-9]) [\u00a0\u2007\u2009\u202f] (?=[0-9]{3}(?![0-9]))
        )+ )
    | (?P<blank> [^\S\t\n]+ )
    | (?P<separator> [,;] )
    | (?P<bracket> [\[\]] )
    # A quotation mark alone is one of these, and so is the # of an error.
    | (?P<other> . )
    """,
    re.VERBOSE,
)
_GAPS = ("blank", "tab", "line_end", "remark")


class Token(NamedTuple):
    """A part of a text that is read as one: its kind is the name of its group in the pattern."""

    kind: str
    at: int
    text: str

    @property
    def is_gap(self) -> bool:
        """Whether it only keeps apart what stands beside it."""
        return self.kind in _GAPS

    @property
    def is_separator(self) -> bool:
        """Whether it is a comma or a semicolon."""
        return self.kind == "separator"

    @property
    def is_content(self) -> bool:
        """Whether it belongs to a cell."""
        return not self.is_gap and not self.is_separator


def tokens(text: str, start: int = 0) -> Iterator[Token]:
    """The tokens of a text from a place on, found one by one: only as many as are asked for."""
    for found in _TOKEN.finditer(text, start):
        assert found.lastgroup is not None
        yield Token(found.lastgroup, found.start(), found[0])


def first_word(content: Iterable[Token]) -> tuple[int, str] | None:
    """The first thing that neither separates nor is a remark, up to the next gap, and its place."""
    word: list[Token] = []
    for token in content:
        if word and token.is_gap:
            break
        if word or token.is_content:
            word.append(token)
    return (word[0].at, "".join(token.text for token in word)) if word else None
