"""Why a mask lets a query see a key, or hides it, with the numbers of one cell put in."""

from __future__ import annotations

from attncli.equation.nodes import Call, Expression, Ref
from attncli.equation.positions import position
from attncli.equation.substitution import exact, substitute
from attncli.page.document import Math, Text
from attncli.page.printer import Printer


def visibility(printer: Printer, tree: Call, place: dict[str, int]) -> Text:
    """Why a key is visible or hidden: every condition of the mask with its numbers put in."""
    condition, visible, hidden = tree.arguments
    parts = condition.arguments if isinstance(condition, Call) and condition.function == "and_" else (condition,)
    said: list[str | Math] = []
    seen = True
    for part in parts:
        numbers = substitute(part, place, {}, printer.number, printer.scalars())
        holds = bool(exact(numbers))
        seen &= holds
        said += [*_fact(printer.with_settings(part), numbers, place, holds), ", "]
    value = substitute(visible if seen else hidden, place, {}, printer.number, printer.scalars())
    return (*said, "so " if seen else "so hidden: ", Math(value))


def _fact(condition: Expression, numbers: Expression, place: dict[str, int], holds: bool) -> Text:
    """A condition on positions with its verdict; of a matrix, just what stands in its cell."""
    match condition, numbers:
        case Call(arguments=(Ref(name=name, indices=indices), _)), Call(arguments=(found, _)):
            return Math(Ref(name, tuple(str(position(index, place, {})) for index in indices))), " = ", Math(found)
    return Math(condition), ": ", Math(numbers), " holds" if holds else " does not hold"
