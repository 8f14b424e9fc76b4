"""Why a query sees a key or does not: a cell of the mask in words, every condition with its numbers
put in.
"""

from __future__ import annotations

from collections.abc import Mapping

from attncli.equation.indexing import position
from attncli.equation.nodes import Call, Expression, Ref
from attncli.equation.substitution import exact_value, substitute
from attncli.page.document import Math, Text
from attncli.page.printer import Printer

TRUE, FALSE = " is true", " is false"
VISIBLE, HIDDEN = "so visible: ", "so hidden: "


def visibility(printer: Printer, choice: Call, place: Mapping[str, int]) -> Text:
    """The conditions of the mask, `where(condition, visible, hidden)`, at a place, and what follows
    from them.
    """
    condition, visible, hidden = choice.arguments
    parts = (
        condition.arguments
        if isinstance(condition, Call) and condition.function == "and_"
        else (condition,)
    )
    said: list[str | Math] = []
    seen = True
    for part in parts:
        numbers = substitute(part, place, {}, printer.number, printer.scalars())
        holds = bool(exact_value(numbers))
        seen &= holds
        said += [*_fact(printer.with_settings(part), numbers, place, holds), ", "]
    value = substitute(visible if seen else hidden, place, {}, printer.number, printer.scalars())
    return (*said, VISIBLE if seen else HIDDEN, Math(value))


def _fact(
    condition: Expression, numbers: Expression, place: Mapping[str, int], holds: bool
) -> Text:
    """A condition on positions with its verdict; of a matrix, just what stands in its cell."""
    match condition, numbers:
        case Call(arguments=(Ref(name=name, indices=indices), _)), Call(arguments=(found, _)):
            return (
                Math(Ref(name, tuple(str(position(index, place, {})) for index in indices))),
                " = ",
                Math(found),
            )
    return Math(condition), ": ", Math(numbers), TRUE if holds else FALSE
