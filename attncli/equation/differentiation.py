"""Backward: the equations of a computation → the equation of the gradient of one of the arrays that
it reads.

Forward, T[t] = f(R[r], …). Backward, the gradient of a cell of R adds up what each use of it
receives: for every use, the gradient of T times the derivative of f, summed over the letters of T
and of the sums around the use that the cell itself does not have. Where the cell is read at a
computed position, h // group, the index is inverted; the conditions that come of it are decided by
looking at every place, so that a rotation's gradient reads as the rotation back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from attncli.equation.chain_rule import Guard, Occurrence, occurrences
from attncli.equation.indexing import (
    GROUP_MEMBER,
    IndexSpace,
    Place,
    Region,
    all_letters,
    letters,
    names_in,
    replace_letters,
    unused_letter,
    with_letters_of_its_own,
)
from attncli.equation.nodes import Call, Equation, Expression, Name, Reduce, Ref, number_node, walk
from attncli.equation.products import as_product, to_expression


@dataclass(frozen=True, slots=True)
class Reader:
    """An equation that reads the array whose gradient is sought, and the gradient of the equation's
    own result.
    """

    equation: Equation
    gradient: Expression


@dataclass(frozen=True, slots=True)
class _Term:
    """What a cell receives from one occurrence, in a `region`; its `conditions` are on positions,
    and describe that.
    """

    value: Expression
    negative: bool
    region: Region
    conditions: tuple[Expression, ...] = ()
    guards: tuple[Guard, ...] = ()

    @property
    def signed(self) -> tuple[Expression, bool]:
        return self.value, self.negative


def gradient_of(
    array: Ref, shape: Sequence[int], target: str, readers: Sequence[Reader], space: IndexSpace
) -> Equation:
    """The equation target[…] = … of the gradient of an array of this shape, from everything that
    reads it.

    `array` is its cell with letters of its own. It takes another, with which it is read, for a
    letter that runs farther or less far than the array, and for one that the equation reading it
    has another use for. Raises TypeError for a function without a derivative, or an index that
    cannot be inverted.

    >>> from attncli.equation.notation import UNICODE
    >>> from attncli.equation.parser import parse_equation, parse_expression
    >>> from attncli.equation.printer import write_equation
    >>> scores = parse_equation("S[i, j] = sum(k, Q[i, k] * K[j, k])")
    >>> reader = Reader(scores, parse_expression("dS[i, j]"))
    >>> space = IndexSpace({"i": 3, "j": 4, "k": 2}, {})
    >>> gradient = gradient_of(parse_expression("Q[i, k]"), (3, 2), "dQ", [reader], space)
    >>> write_equation(gradient, UNICODE)
    'dQ[i, k] = Σ_j dS[i, j]·K[j, k]'
    """
    found = [
        (reader.equation, occurrence)
        for reader in readers
        for occurrence in occurrences(reader.equation, array.name, reader.gradient)
    ]
    cell = _lettered(array, shape, found, space.lengths)
    of_cell = dict(zip(cell.letters, shape, strict=True))
    terms = []
    for equation, occurrence in found:
        term = _term(cell, equation, occurrence, space.of_equation(equation, of_cell))
        if term.region.places:
            terms.append(term)
    return Equation(Ref(target, cell.indices), _added(terms, space.with_lengths(of_cell)))


def _lettered(
    array: Ref,
    shape: Sequence[int],
    found: Sequence[tuple[Equation, Occurrence]],
    lengths: Mapping[str, int],
) -> Ref:
    """The array's cell with letters that run as far as it does, and that no equation needs for
    something else.
    """
    own = list(array.letters)
    for equation, occurrence in found:
        others = all_letters(equation) - {*occurrence.cell.letters}
        for at, index in enumerate(occurrence.cell.indices):
            # A cell on a diagonal, K[j, j], has two axes with one letter.
            if not isinstance(index, str) or index in own:
                continue
            if own[at] in others or lengths[own[at]] != shape[at]:
                own[at] = index
    return Ref(array.name, tuple(own))


def _term(cell: Ref, equation: Equation, occurrence: Occurrence, space: IndexSpace) -> _Term:
    """What the cell receives from one occurrence; in an empty region, where its conditions are
    never met.
    """
    inverse, left = _inverted(occurrence.cell.indices, cell.letters, all_letters(equation))
    around = (
        inverse.members.get(letter, letter)
        for letter in (*equation.target.letters, *occurrence.summed)
    )
    summed = tuple(letter for letter in around if letter not in inverse.letters)
    own = {*cell.letters, *summed} | names_in(occurrence.received)
    # Letters that are summed over, and that the cell has too, need other names.
    others: dict[str, str] = {}
    for letter in summed:
        if letter in cell.letters:
            others[letter] = unused_letter(own | {*others.values()}, letter)
    new = {**inverse.letters, **others}

    guards = tuple(
        (replace_letters(condition, new), holds) for condition, holds in occurrence.guards
    )
    of_places = tuple(guard for guard in guards if _is_of_places(guard, cell, space))
    of_numbers = tuple(guard for guard in guards if guard not in of_places)
    of_left = tuple(
        (Call("eq", (replace_letters(index, new), Name(letter))), True) for index, letter in left
    )
    shifts = _shifts(cell, inverse.letters, space)
    region = _region(cell, of_places, shifts, space)

    received = _guarded(replace_letters(occurrence.received, new), (*of_numbers, *of_left))
    value = space.simplify_indices(received, equation, region)
    for letter in reversed(summed):
        value = Reduce("add", others.get(letter, letter), value)
    product = as_product(value)
    conditions = tuple(condition for condition, _ in of_places)
    found = with_letters_of_its_own(to_expression(product, cell.letters), frozenset(cell.letters))
    return _Term(
        found, product.negative, region, conditions, (*of_places, *_insides(shifts, space))
    )


def _inverted(
    indices: Sequence[str | Expression], own: Sequence[str], known: Collection[str]
) -> tuple[_Inverse, list[tuple[Expression, str]]]:
    """The indices read the other way round, and those that cannot be: of bias[i - j + 3] whose own
    letter is r, that i - j + 3 is r is a condition on the place.
    """
    turned: list[str | Expression] = []
    letters_of_turned: list[str] = []
    left: list[tuple[Expression, str]] = []
    for index, letter in zip(indices, own, strict=True):
        try:
            _invert_indices((*turned, index), (*letters_of_turned, letter), known)
        except TypeError:
            left.append((Name(index) if isinstance(index, str) else index, letter))
        else:
            turned.append(index)
            letters_of_turned.append(letter)
    return _invert_indices(turned, letters_of_turned, known), left


def _is_of_places(guard: Guard, cell: Ref, space: IndexSpace) -> bool:
    """Whether a condition is decided by the place of the cell alone: by no array, and by no letter
    that is summed over.
    """
    condition, _ = guard
    if any(isinstance(node, Ref) for node in walk(condition)):
        return False
    return names_in(condition) <= {*cell.letters, *space.scalars}


def _shifts(
    cell: Ref, found: Mapping[str, str | Expression], space: IndexSpace
) -> dict[str, Expression]:
    """The letters that are now computed from those of the cell."""
    shifts: dict[str, Expression] = {}
    for letter, index in found.items():
        if isinstance(index, str):
            continue
        if {*letters(index, space.lengths)} <= {*cell.letters}:
            shifts[letter] = index
    return shifts


def _insides(shifts: Mapping[str, Expression], space: IndexSpace) -> Iterator[Guard]:
    """That every computed letter is a place it ran through."""
    for letter, index in shifts.items():
        yield Call("le", (number_node(0), index)), True
        yield Call("lt", (index, number_node(space.lengths[letter]))), True


def _region(
    cell: Ref, guards: Sequence[Guard], shifts: Mapping[str, Expression], space: IndexSpace
) -> Region:
    """Where all conditions on positions are met, and a letter that is now computed is a place it
    ran through.
    """
    asked = (*(condition for condition, _ in guards), *shifts.values())

    def is_asked(letter: str) -> bool:
        return any(letter in letters(each, (letter,)) for each in asked)

    def met(place: Place) -> bool:
        for letter, index in shifts.items():
            if not space.is_inside(index, letter, place):
                return False
        return all(space.holds(condition, place) == holds for condition, holds in guards)

    run = tuple(filter(is_asked, cell.letters))
    return space.region(run, met)


def _guarded(value: Expression, guards: Sequence[Guard]) -> Expression:
    nothing = number_node(0)
    for condition, holds in reversed(guards):
        if holds:
            value = Call("where", (condition, value, nothing))
        else:
            value = Call("where", (condition, nothing, value))
    return value


def _added(terms: Sequence[_Term], space: IndexSpace) -> Expression:
    """The sum of what the cell receives from all occurrences; under a condition what only some
    places receive.
    """
    everywhere = [term.signed for term in terms if term.region.is_everywhere]
    left = [term for term in terms if not term.region.is_everywhere]
    conditions = [condition for term in left for condition in term.conditions]
    while left:
        condition = _condition_of(left[0].region, conditions, space)
        if condition is None:
            term, *left = left
            value, negative = term.signed
            everywhere.append((_guarded(value, term.guards), negative))
            continue
        where_it_holds = []
        elsewhere = []
        others = []
        for term in left:
            if space.describes(condition, term.region):
                where_it_holds.append(term.signed)
            elif space.describes(condition, term.region.complement):
                elsewhere.append(term.signed)
            else:
                others.append(term)
        left = others
        branches = (_sum(where_it_holds), _sum(elsewhere))
        everywhere.append((Call("where", (condition, *branches)), False))
    return _sum(everywhere)


def _condition_of(
    region: Region, conditions: Sequence[Expression], space: IndexSpace
) -> Expression | None:
    """The condition that holds in just this region, or just outside of it; None where the equation
    has none.
    """
    for condition in conditions:
        if space.describes(condition, region) or space.describes(condition, region.complement):
            return condition
    return None


def _sum(signed: Sequence[tuple[Expression, bool]]) -> Expression:
    """What is added, and then what is taken away; 0 where there is nothing."""
    if not signed:
        return number_node(0)
    (first, negative), *others = sorted(signed, key=lambda term: term[1])
    total = first
    if negative:
        total = Call("neg", (first,))
    for value, is_taken in others:
        operation = "sub" if is_taken else "add"
        total = Call(operation, (total, value))
    return total


@dataclass(frozen=True, slots=True)
class _Inverse:
    """Indices read the other way round: what each letter of an equation is, in the letters of the
    array that it reads.

    A letter of which several positions read the same cell has a new one among `members`, to be
    summed over in its place: of h in K[h // group], all query heads h = g * group + q of one group
    read the same keys.
    """

    letters: Mapping[str, str | Expression]
    members: Mapping[str, str]


def _is_shift(name: str, by: Expression, known: Collection[str]) -> bool:
    """Whether a letter is moved by the same number everywhere."""
    return name in known and not any(letters(by, known))


def _invert_indices(
    indices: Sequence[str | Expression], own: Sequence[str], known: Collection[str]
) -> _Inverse:
    """The letters of an equation that reads a cell with these indices, in the cell's `own` letters.

    `known` are the letters of the equation, all other names are numbers. The forms are i; j - past
    and k + half; h // group; h % 2 of two heads; and e // d_v together with e % d_v. Raises
    TypeError for any other.
    """
    found: dict[str, str | Expression] = {}
    members: dict[str, str] = {}
    # A quotient alone forgets the remainder, so that all remainders have to be summed over. In H[e
    # // d_v, i, e % d_v] the remainder is another index of the cell, and both together are just one
    # position, e = h * d_v + c.
    remainders = {
        index.arguments: letter
        for index, letter in zip(indices, own, strict=True)
        if isinstance(index, Call) and index.function == "mod"
    }
    quotients = {
        index.arguments
        for index in indices
        if isinstance(index, Call) and index.function == "floor_div"
    }
    for index, letter in zip(indices, own, strict=True):
        match index:
            case str() if index not in found:
                found[index] = letter
            case Call("add" | "sub" as shift, (Name(name), by)) if _is_shift(name, by, known):
                back = "sub" if shift == "add" else "add"
                found[name] = Call(back, (Name(letter), by))
            case Call("floor_div", (Name(name), by) as divided):
                rest = remainders.get(divided, GROUP_MEMBER)
                first = Call("mul", (Name(letter), by))
                found[name] = Call("add", (first, Name(rest)))
                if rest == GROUP_MEMBER:
                    members[name] = GROUP_MEMBER
            case Call("mod", divided) if divided in quotients:
                continue
            case Call("mod", (Name(name), by)):
                # A remainder alone forgets the quotient.
                first = Call("mul", (Name(GROUP_MEMBER), by))
                found[name] = Call("add", (first, Name(letter)))
                members[name] = GROUP_MEMBER
            case _:
                raise TypeError(f"cannot invert the index {index!r}")
    return _Inverse(found, members)
