"""The parts of a page as strings: formulas and worked lines in any notation, prose in that of terminals."""

from __future__ import annotations

from attncli.equation.nodes import Equation, Expression
from attncli.equation.notation import UNICODE
from attncli.equation.printer import write, write_equation
from attncli.equation.spelling import Notation
from attncli.page.document import Math, Text, WorkedLine


def formula(equation: Equation | Expression, notation: Notation) -> str:
    """An equation as left = right, an expression as it is."""
    return write_equation(equation, notation) if isinstance(equation, Equation) else write(equation, notation)


def sides(line: WorkedLine, notation: Notation) -> tuple[str, str]:
    """A worked line as what is worked, 2·2 + 0·1 + 1·1, and what comes out, = 5; empty where there is none."""
    if line.result is None:
        return "", ""
    result = write(line.result, notation)
    if line.work is None:
        return result, ""
    relation = notation.equals if line.exact else notation.nearly
    return write(line.work, notation), f"{relation} {result}"


def plain(text: Text) -> str:
    """A run of prose as one string."""
    return "".join(write(part.expression, UNICODE) if isinstance(part, Math) else part for part in text)


def plain_line(line: WorkedLine) -> str:
    """A worked line as one string: 2·2 + 0·1 + 1·1 = 5."""
    return " ".join(part for part in (*sides(line, UNICODE), plain(line.remark)) if part)
