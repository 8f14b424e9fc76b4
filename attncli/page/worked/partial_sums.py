"""The sums that a cell adds up, where these are several: over heads, or through several gradients.

The gradient of a key that two heads share is a sum for each head, and so has a line for each.
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
    """One of the sums: what it comes through, such as head 2, and its expression at a place."""

    through: str
    expression: Expression
    place: Mapping[str, int]


def partial_sums(
    printer: Printer, expression: Expression, place: Mapping[str, int], sizes: Mapping[str, int]
) -> list[PartialSum]:
    """The sums that a cell adds up; none where it is a single sum, or adds up anything else."""
    match expression:
        case Reduce(function="add", index=letter, body=Reduce() as body) if _is_outer(letter):
            inner: list[PartialSum] = []
            for number in range(sizes[letter]):
                at = {**place, letter: number}
                label = _label(printer, body, letter, at)
                inner.append(PartialSum(label, body, at))
            return inner
    found: list[PartialSum] = []
    for summand in _summands(expression):
        symbol = _gradient_symbol(summand)
        if not symbol:
            return []
        found.append(PartialSum(symbol, summand, place))
    if len(found) < 2:
        return []
    return found


def _is_outer(letter: str) -> bool:
    """Whether a letter runs through entries, heads, or the query heads of a key head."""
    return letter in LEADING or letter == GROUP_MEMBER


def _summands(expression: Expression) -> Iterator[Expression]:
    """The sums that a sum adds up; none where one of what it adds up is no sum."""
    match expression:
        case Reduce(function="add"):
            yield expression
        case Call(function="add", arguments=arguments):
            found = [list(_summands(argument)) for argument in arguments]
            if all(found):
                for part in found:
                    yield from part
        case _:
            pass


def _gradient_symbol(part: Expression) -> str:
    """What a sum comes through: Q where it reads the gradient of Q; nothing where it reads none."""
    for name in names_used(part):
        if name in _STEP_OF_GRADIENT:
            step = _STEP_OF_GRADIENT[name]
            return unicode_name(RULES[step].symbol)
    return ""


def _label(printer: Printer, body: Expression, letter: str, place: Mapping[str, int]) -> str:
    """What the place is called on the axis that the letter runs through: head 2."""
    name, axis, index = next(_axes_read(printer, body, letter))
    labels = printer.trace.steps[name].labels[axis]
    return labels[position(index, place, printer.scalars())]


def _axes_read(
    printer: Printer, body: Expression, letter: str
) -> Iterator[tuple[str, int, str | Expression]]:
    """Each step and axis that an expression reads by this letter, and the index that does so."""
    for node in walk(body):
        if not isinstance(node, Ref):
            continue
        if node.name not in printer.trace:
            continue
        for axis, index in enumerate(node.indices):
            if letter in letters(index, (letter,)):
                yield node.name, axis, index
