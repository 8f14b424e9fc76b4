"""Indices read the other way round: where K[h // group] was read for head h, which heads read K[g]?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from attncli.equation.indexing import GROUP_MEMBER, letters
from attncli.equation.nodes import Call, Expression, Name


@dataclass(frozen=True, slots=True)
class Inverse:
    """What each letter of an equation is, in the letters of the array that it reads.

    A letter of which several positions read the same cell has a new one among `members`, to be summed over in its
    place: of h in K[h // group], all query heads h = g * group + q of one group read the same keys.
    """

    letters: Mapping[str, str | Expression]
    members: Mapping[str, str]


def invert_indices(indices: Sequence[str | Expression], own: Sequence[str], known: Collection[str]) -> Inverse:
    """The letters of an equation that reads a cell with these indices, in the cell's `own` letters.

    `known` are the letters of the equation, all other names are numbers. The forms are i; j - past and k + half;
    h // group; and e // d_v together with e % d_v. Raises TypeError for any other.
    """
    found: dict[str, str | Expression] = {}
    members: dict[str, str] = {}
    # A quotient alone forgets the remainder, so that all remainders have to be summed over. In H[e // d_v, i, e % d_v]
    # the remainder is another index of the cell, and both together are just one position, e = h * d_v + c.
    remainders = {
        index.arguments: letter
        for index, letter in zip(indices, own, strict=True)
        if isinstance(index, Call) and index.function == "mod"
    }
    for index, letter in zip(indices, own, strict=True):
        match index:
            case str() if index not in found:
                found[index] = letter
            case Call("add" | "sub" as shift, (Name(name), by)) if name in known and not any(letters(by, known)):
                found[name] = Call("sub" if shift == "add" else "add", (Name(letter), by))
            case Call("floor_div", (Name(name), by) as divided):
                rest = remainders.get(divided, GROUP_MEMBER)
                found[name] = Call("add", (Call("mul", (Name(letter), by)), Name(rest)))
                members |= {name: GROUP_MEMBER} if rest == GROUP_MEMBER else {}
            case Call("mod", divided) if divided in remainders:
                continue
            case _:
                raise TypeError(f"cannot invert the index {index!r}")
    return Inverse(found, members)
