"""Why a query sees a key or does not: the conditions of a mask with their numbers put in.

For example "j ≤ i: 2 ≤ 1 is false, so hidden: −∞".
"""

from __future__ import annotations

from collections.abc import Mapping

from attncli.equation.indexing import position
from attncli.equation.nodes import Call, Expression, Number, Ref
from attncli.equation.substitution import exact_value, substitute
from attncli.page.document import Math, Text
from attncli.page.printer import Printer

TRUE, FALSE = " is true", " is false"
VISIBLE, HIDDEN = "so visible: ", "so hidden: "


def visibility(printer: Printer, choice: Call, place: Mapping[str, int]) -> Text:
    """The conditions of the mask, `where(condition, visible, hidden)`, and what follows of them."""
    condition, visible, hidden = choice.arguments
    said: list[str | Math] = []
    is_seen = True
    for part in _conditions(condition):
        numbers = substitute(part, place, {}, printer.number, printer.scalars())
        holds = bool(exact_value(numbers))
        is_seen &= holds
        said.extend(_fact(printer.with_settings(part), numbers, place, holds))
        said.append(", ")
    chosen = visible if is_seen else hidden
    value = substitute(chosen, place, {}, printer.number, printer.scalars())
    return (*said, VISIBLE if is_seen else HIDDEN, Math(value))


def _conditions(condition: Expression) -> tuple[Expression, ...]:
    """The conditions that have to hold together."""
    if isinstance(condition, Call) and condition.function == "and_":
        return condition.arguments
    return (condition,)


def _fact(
    condition: Expression, numbers: Expression, place: Mapping[str, int], holds: bool
) -> Text:
    """A condition on positions with its verdict; of a matrix, just what stands in its cell."""
    match condition, numbers:
        case Call(arguments=(Ref(name=name, indices=indices), Number())), Call(
            arguments=(found, _)
        ):
            at = tuple(str(position(index, place, {})) for index in indices)
            return Math(Ref(name, at)), " = ", Math(found)
        case _:
            return Math(condition), ": ", Math(numbers), TRUE if holds else FALSE
