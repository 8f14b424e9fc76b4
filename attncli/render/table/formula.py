"""Formulas for a terminal: on one line where that fits, else case by case, broken before their operators."""

from __future__ import annotations

from collections.abc import Iterator

from attncli.equation.nodes import Call, Equation, Expression
from attncli.page.document import formula
from attncli.render.table.script import Script
from attncli.render.table.wrapping import HANG, broken


def formula_lines(equation: Equation | Expression, script: Script, room: int) -> list[str]:
    """A formula as lines; of a choice that does not fit on one, each case is a line that says when it holds."""
    whole = script.text(formula(equation, script.notation))
    if len(whole) <= room or not isinstance(equation, Equation) or not _is_choice(equation.expression):
        return _hanging(whole, room)
    cases = (_hanging(f"= {said}", room - HANG) for said in _cases(equation.expression, script))
    return [script.formula(equation.target), *(" " * HANG + line for case in cases for line in case)]


def _hanging(text: str, room: int) -> list[str]:
    first, *others = broken(text, room)
    return [first, *(" " * HANG + line for line in others)]


def _is_choice(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function == "where"


def _cases(expression: Expression, script: Script, instead: str = "") -> Iterator[str]:
    """What a choice may come to, each with its condition."""
    match expression:
        case Call("where", (condition, chosen, other)):
            yield f"{script.formula(chosen)}  {instead}if {script.formula(condition)}"
            yield from _cases(other, script, "else ")
        case _:
            yield f"{script.formula(expression)}  else"
