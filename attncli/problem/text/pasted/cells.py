"""Cuts a row of text into its cells, where blanks, tabs, commas or semicolons separate them.

A blank, a comma or a # inside of a cell separates nothing. While a text is cut, another sign stands
in its place, so that nothing moves: 1 / 3 is cut as 1␀/␀3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from attncli.problem.text.pasted.text import Piece

# two numbers with blanks between them, and no comma
BLANKS_BETWEEN_NUMBERS = re.compile(r"[^\s,;]\s+(?![\s,;])")
LOOSE_COMMA = re.compile(r",\s|\s,")
# A # begins a remark, but not where it begins an error of a spreadsheet.
_REMARK = re.compile(r"#(?!(?:N/A|DIV/0!|VALUE!|REF!|NAME\?|NUM!|NULL!))[^\n]*")
# the signs of one number with the blanks beside them: 1 / 3, 2 * sqrt( 3 )
_SIGN_IN_NUMBER = re.compile(r"(?<!\s)\s*[/*(]\s*|(?<!\s)\s+\)")
_WIDE_BLANKS = "\u00a0\u2007\u2009\u202f"
# Blanks that break no line stand between groups of three digits.
_BLANK_IN_NUMBER = re.compile(f"(?<=[0-9])[{_WIDE_BLANKS}](?=[0-9]{{3}}(?![0-9]))")
_HELD_SIGNS = {" ": "\0", "\t": "\0", ",": "\1", ";": "\2", "#": "\3"}
_HELD_SIGNS |= dict.fromkeys(_WIDE_BLANKS, "\4")
_FREED_SIGNS = str.maketrans("\0\1\2\3\4", " ,;#\u00a0")
_QUOTED = re.compile(r'"[^"\n]*"')
_WORD = re.compile(r"\S+")


def held_together(text: str) -> str:
    """A text, as long as before, in which no blank is inside of a number: 1 / 3."""
    if not text.isascii():
        text = _BLANK_IN_NUMBER.sub(_hold, text)
    if any(sign in text for sign in "/*("):
        text = _SIGN_IN_NUMBER.sub(_hold, text)
    return text


def with_quotes_held(text: str) -> str:
    """A text, as long as before, in which nothing inside of quotes separates cells."""
    return _QUOTED.sub(_hold, text)


def pieces(whole: Piece, separator: str) -> list[Piece]:
    """What stands between separators, each with its place."""
    at, content = whole
    found = []
    for piece in content.split(separator):
        found.append((at, piece))
        at += len(piece) + len(separator)
    return found


def cells(row: Piece, separator: str) -> Iterator[Piece]:
    """The cells of a row that is held together; they are apart by blanks if the sign is empty."""
    at, content = row
    if not separator:
        content = content.rstrip().removesuffix(",")
        for found in _WORD.finditer(content):
            yield at + found.start(), _freed(found[0])
        return
    if '"' in content:
        content = with_quotes_held(content)
    if not content.strip():
        return
    for start, cell in pieces((at, content), separator):
        stripped = cell.lstrip()
        # An empty cell is where it begins, and not where it ends.
        indent = len(cell) - len(stripped) if stripped else 0
        yield start + indent, _freed(cell)


def without_remarks(text: str) -> str:
    """A text, as long as before, with blanks for all that # begins on a line."""
    if "#" not in text:
        return text
    return "\n".join(_without_remark(line) if "#" in line else line for line in text.split("\n"))


def _without_remark(line: str) -> str:
    found = _REMARK.search(with_quotes_held(line))
    if found is None:
        return line
    return line[: found.start()].rstrip().ljust(len(line))


def _hold(found: re.Match[str]) -> str:
    return "".join(_HELD_SIGNS.get(sign, sign) for sign in found[0])


def _freed(cell: str) -> str:
    """The text of a cell, without the quotes that a table or Python puts around it."""
    cell = cell.strip().translate(_FREED_SIGNS)
    if len(cell) > 1 and cell[0] in "\"'" and cell[0] == cell[-1]:
        return cell[1:-1].strip()
    return cell
