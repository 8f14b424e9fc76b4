"""The sums that a cell adds up, where they are several: over heads or entries, or through several
gradients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from attncli.attention.registry import RULES, gradient_name
from attncli.equation.indexing import GROUP_MEMBER, letters, position
from attncli.equation.nodes import Call, Expression, Reduce, Ref, names_used, walk
from attncli.equation.symbols import unicode_name
from attncli.page.printer import Printer
from attncli.problem.parts.axes import LEADING

_STEP_OF_GRADIENT = {gradient_name(name): name for name in RULES}


class PartialSum(NamedTuple):
    """One of the sums: what it comes through, and its expression at a place."""

    through: str
    expression: Expression
    place: Mapping[str, int]


def partial_sums(
    printer: Printer, expression: Expression, place: Mapping[str, int], sizes: Mapping[str, int]
) -> list[PartialSum]:
    """The sums that a cell adds up; none where it is a single sum, or adds up anything else."""
    match expression:
        case Reduce(function="add", index=index, body=Reduce() as body) if index in (
            *LEADING,
            GROUP_MEMBER,
        ):
            inside = ({**place, index: at} for at in range(sizes[index]))
            return [PartialSum(_label(printer, body, index, at), body, at) for at in inside]
    sums = [(each, _gradient_symbol(each)) for each in _summands(expression)]
    named = len(sums) > 1 and all(name for _, name in sums)
    return [PartialSum(name, each, place) for each, name in sums] if named else []


def _summands(expression: Expression) -> Iterator[Expression]:
    match expression:
        case Reduce(function="add"):
            yield expression
        case Call(function="add", arguments=arguments):
            found = [list(_summands(argument)) for argument in arguments]
            if all(found):
                yield from (each for part in found for each in part)


def _gradient_symbol(part: Expression) -> str:
    """What a sum comes through: Q where it reads the gradient of Q; nothing where it reads none."""
    steps = (_STEP_OF_GRADIENT[name] for name in names_used(part) if name in _STEP_OF_GRADIENT)
    return next((unicode_name(RULES[name].symbol) for name in steps), "")


def _label(printer: Printer, body: Expression, letter: str, place: Mapping[str, int]) -> str:
    """What the place is called on the axis that the letter runs through: head 2."""
    cells = (node for node in walk(body) if isinstance(node, Ref) and node.name in printer.trace)
    read = ((cell.name, axis, index) for cell in cells for axis, index in enumerate(cell.indices))
    name, axis, index = next(found for found in read if letter in letters(found[2], (letter,)))
    return printer.trace.steps[name].labels[axis][position(index, place, printer.scalars())]
