"""Cells that add up several sums: what each projection hands back to the input, or each head to the keys it shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from attncli.attention.gradients import gradient_name
from attncli.attention.registry import RULES
from attncli.equation.nodes import Call, Expression, Reduce, Ref, names_used, walk
from attncli.equation.positions import MEMBER, letters, position
from attncli.equation.symbols import unicode_name
from attncli.page.printer import Printer
from attncli.problem.axes import LEADING

_OF = {gradient_name(name): name for name in RULES}


@dataclass(frozen=True, slots=True)
class Part:
    """One of the sums: what it comes through, and its expression at a place."""

    through: str
    expression: Expression
    place: Mapping[str, int]


def parts_of(
    printer: Printer, expression: Expression, place: Mapping[str, int], sizes: Mapping[str, int]
) -> list[Part]:
    """The sums that a cell adds up; none where it is a single sum, or adds up anything else."""
    match expression:
        case Reduce(function="add", index=index, body=Reduce() as body) if index in (*LEADING, MEMBER):
            inside = ({**place, index: at} for at in range(sizes[index]))
            return [Part(_label(printer, body, index, at), body, at) for at in inside]
    sums = [(each, _through(each)) for each in _sums(expression)]
    return [Part(name, each, place) for each, name in sums] if len(sums) > 1 and all(name for _, name in sums) else []


def _sums(expression: Expression) -> Iterator[Expression]:
    match expression:
        case Reduce(function="add"):
            yield expression
        case Call(function="add", arguments=arguments):
            found = [list(_sums(argument)) for argument in arguments]
            if all(found):
                yield from (each for part in found for each in part)


def _through(part: Expression) -> str:
    """What a sum comes through: Q where it reads the gradient of Q; nothing where it reads none."""
    return next((unicode_name(RULES[_OF[name]].symbol) for name in names_used(part) if name in _OF), "")


def _label(printer: Printer, body: Expression, letter: str, place: Mapping[str, int]) -> str:
    """What the place is called on the axis that the letter runs through: head 2."""
    cells = (node for node in walk(body) if isinstance(node, Ref) and node.name in printer.trace)
    read = ((cell.name, axis, index) for cell in cells for axis, index in enumerate(cell.indices))
    name, axis, index = next(found for found in read if letter in letters(found[2], (letter,)))
    return printer.trace.steps[name].labels[axis][position(index, place, printer.scalars())]
