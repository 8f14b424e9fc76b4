"""Cells that add up several sums, as the gradient of the input adds up what each projection hands back."""

from __future__ import annotations

from attncli.attention.gradients import gradient_name
from attncli.attention.rules import RULES
from attncli.equation.symbols import unicode_name
from attncli.equation.tree import Call, Expression, Reduce, names_used

_OF = {gradient_name(name): name for name in RULES}


def sums_of(expression: Expression) -> tuple[Expression, ...]:
    """The sums that an expression adds up; none where it adds up anything else."""
    match expression:
        case Reduce(function="add"):
            return (expression,)
        case Call(function="add", arguments=arguments):
            parts = [sums_of(argument) for argument in arguments]
            return tuple(each for part in parts for each in part) if all(parts) else ()
    return ()


def through(part: Expression) -> str:
    """What such a sum comes through, as pages call it: Q where it reads the gradient of Q."""
    names = names_used(part)
    return unicode_name(RULES[next((_OF[name] for name in names if name in _OF), names[0])].symbol)
