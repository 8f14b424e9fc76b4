"""A run of prose as a plain string, its expressions in the notation of terminals."""

from __future__ import annotations

from attncli.equation.notation import UNICODE
from attncli.equation.write import write
from attncli.page.document import Math, Text, WorkedLine


def plain(text: Text) -> str:
    """The text as one string."""
    return "".join(write(part.expression, UNICODE) if isinstance(part, Math) else part for part in text)


def plain_line(line: WorkedLine) -> str:
    """A worked line as one string: 2·2 + 0·1 + 1·1 = 5."""
    written = [write(expression, UNICODE) for expression in line.expressions]
    relation = UNICODE.equals if line.exact else UNICODE.nearly
    chain = (
        f" {relation} ".join([f" {UNICODE.equals} ".join(written[:-1]), written[-1]])
        if written[1:]
        else "".join(written)
    )
    return " ".join(part for part in (chain, plain(line.remark)) if part)
