"""Backward: the equations of a computation → the equation of the gradient of one of the arrays that it reads.

Forward, T[t] = f(R[r], …). Backward, the gradient of a cell of R adds up what each use of it receives: for every use,
the gradient of T times the derivative of f, summed over the letters of T and of the sums around the use that the cell
itself does not have. Where the cell is read at a computed place, h // group, that is turned round; the conditions that
come of it are decided by looking at every place, so that a rotation's gradient reads as the rotation back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from attncli.equation.index_inversion import inverse, relabelled
from attncli.equation.nodes import Call, Equation, Expression, Ref, walk, whole
from attncli.equation.places import Extent, Places
from attncli.equation.positions import letters, letters_in
from attncli.equation.products import product_of, written
from attncli.equation.uses import Guard, Use, uses


@dataclass(frozen=True, slots=True)
class Read:
    """An equation that reads the array whose gradient is sought, and the gradient of the equation's own result."""

    equation: Equation
    gradient: Expression


@dataclass(frozen=True, slots=True)
class _Term:
    """What one use hands to a cell at the places `where`; its `conditions` are on places, and make these up."""

    value: Expression
    negative: bool
    where: Places
    conditions: tuple[Expression, ...] = ()


def gradient_of(array: Ref, shape: Sequence[int], target: str, reads: Sequence[Read], extent: Extent) -> Equation:
    """The equation target[…] = … of the gradient of an array of this shape, from everything that reads it.

    `array` is its cell with letters of its own. It takes another, with which it is read, for a letter that runs farther
    or less far than the array, and for one that the equation reading it has another use for. Raises TypeError for a
    function without a derivative, or an index that cannot be turned round.
    """
    found = [(read.equation, use) for read in reads for use in uses(read.equation, array.name, read.gradient)]
    cell = _lettered(array, shape, found, extent.lengths)
    terms = [term for equation, use in found if (term := _term(cell, equation, use, extent)).where.within]
    return Equation(Ref(target, cell.indices), _added(terms, extent))


def _lettered(
    array: Ref, shape: Sequence[int], found: Sequence[tuple[Equation, Use]], lengths: Mapping[str, int]
) -> Ref:
    """The array's cell with letters that run as far as it does, and that no equation needs for something else."""
    own = list(array.letters)
    for equation, use in found:
        others = letters_in(equation) - {*use.cell.letters}
        for at, index in enumerate(use.cell.indices):
            if isinstance(index, str) and (own[at] in others or lengths[own[at]] != shape[at]):
                own[at] = index
    return Ref(array.name, tuple(own))


def _term(cell: Ref, equation: Equation, use: Use, extent: Extent) -> _Term:
    """What a use hands to the cell; at no place, where its conditions are never met."""
    turned = inverse(use.cell.indices, cell.letters, letters_in(equation))
    around = (turned.members.get(letter, letter) for letter in (*equation.target.letters, *use.summed))
    summed = tuple(letter for letter in around if letter not in turned.letters)
    if clash := {*cell.letters} & {*summed}:
        raise TypeError(f"{', '.join(sorted(clash))} would be summed over in the gradient of {cell.name}")

    guards = tuple((relabelled(condition, turned.letters), holds) for condition, holds in use.guards)
    of_places = tuple(guard for guard in guards if not any(isinstance(node, Ref) for node in walk(guard[0])))
    of_numbers = tuple(guard for guard in guards if guard not in of_places)
    where = _places(cell, of_places, turned.letters, extent)

    value = extent.plainest(relabelled(use.received, turned.letters), equation, where)
    product = product_of(_guarded(value, of_numbers))
    product = replace(product, summed=(*summed, *product.summed))
    conditions = tuple(condition for condition, _ in of_places)
    return _Term(written(product, cell.letters), product.negative, where, conditions)


def _places(cell: Ref, guards: Sequence[Guard], turned: Mapping[str, str | Expression], extent: Extent) -> Places:
    """Where all conditions on positions are met, and a letter that is now computed is a place it ran through."""
    computed = {letter: index for letter, index in turned.items() if not isinstance(index, str)}
    shifts = {
        letter: index for letter, index in computed.items() if {*letters(index, extent.lengths)} <= {*cell.letters}
    }
    asked = (*(condition for condition, _ in guards), *shifts.values())
    run = tuple(letter for letter in cell.letters if any(letter in letters(each, (letter,)) for each in asked))

    def met(place: Mapping[str, int]) -> bool:
        inside = all(extent.inside(index, letter, place) for letter, index in shifts.items())
        return inside and all(extent.meets(condition, place) == holds for condition, holds in guards)

    return extent.where(run, met)


def _guarded(value: Expression, guards: Sequence[Guard]) -> Expression:
    for condition, holds in reversed(guards):
        value = Call("where", (condition, value, whole(0)) if holds else (condition, whole(0), value))
    return value


def _added(terms: Sequence[_Term], extent: Extent) -> Expression:
    """The sum of what all uses hand to the cell; those that do so at some places only stand under their condition."""
    everywhere = [(term.value, term.negative) for term in terms if term.where.within == term.where.every]
    left = [term for term in terms if term.where.within != term.where.every]
    conditions = [condition for term in left for condition in term.conditions]
    while left:
        here = left[0].where
        condition = next(each for each in conditions if extent.tells(each, here) or extent.tells(each, here.others))
        yes = [term for term in left if extent.tells(condition, term.where)]
        no = [term for term in left if extent.tells(condition, term.where.others)]
        left = [term for term in left if term not in yes and term not in no]
        branches = (_sum([(term.value, term.negative) for term in branch]) for branch in (yes, no))
        everywhere.append((Call("where", (condition, *branches)), False))
    return _sum(everywhere)


def _sum(signed: Sequence[tuple[Expression, bool]]) -> Expression:
    """What is added, and then what is taken away; 0 where there is nothing."""
    if not signed:
        return whole(0)
    (first, negative), *others = sorted(signed, key=lambda term: term[1])
    total = Call("neg", (first,)) if negative else first
    for value, taken in others:
        total = Call("sub" if taken else "add", (total, value))
    return total
