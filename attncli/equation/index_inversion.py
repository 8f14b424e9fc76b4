"""Indices read the other way round: where K[h // group] was read for head h, which heads read K[g]?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from attncli.equation.nodes import Call, Expression, Name, Reduce, Ref, rewrite
from attncli.equation.positions import MEMBER, letters


@dataclass(frozen=True, slots=True)
class Inverse:
    """What each letter of an equation is, told by those of the array that it reads.

    A letter of which several places read the same cell has a new one among `members`, to be summed over in its place.
    """

    letters: Mapping[str, str | Expression]
    members: Mapping[str, str]


def inverse(indices: Sequence[str | Expression], own: Sequence[str], known: Collection[str]) -> Inverse:
    """The letters of an equation that reads a cell with these indices, told by the cell's `own` letters.

    `known` are the letters of the equation, which tells them from numbers. The forms are i; j - past and k + half;
    h // group; and e // d_v beside e % d_v. Raises TypeError for any other.
    """
    found: dict[str, str | Expression] = {}
    members: dict[str, str] = {}
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
                rest = remainders.get(divided, MEMBER)
                found[name] = Call("add", (Call("mul", (Name(letter), by)), Name(rest)))
                members |= {name: MEMBER} if rest == MEMBER else {}
            case Call("mod", divided) if divided in remainders:
                continue
            case _:
                raise TypeError(f"cannot turn the index {index!r} round")
    return Inverse(found, members)


def relabelled(expression: Expression, new: Mapping[str, str | Expression]) -> Expression:
    """The same expression with other letters, or with expressions for letters."""
    match expression:
        case Ref(name=name, indices=indices):
            return Ref(name, tuple(_index(index, new) for index in indices))
        case Name(name=name) if name in new:
            index = new[name]
            return Name(index) if isinstance(index, str) else index
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(relabelled(argument, new) for argument in arguments))
        case Reduce(index=index, body=body):
            return replace(expression, body=relabelled(body, {name: to for name, to in new.items() if name != index}))
    return expression


def _index(index: str | Expression, new: Mapping[str, str | Expression]) -> str | Expression:
    if isinstance(index, str):
        return new.get(index, index)
    found = relabelled(index, new)
    return found.name if isinstance(found, Name) and found.name in new.values() else found


def with_indices(expression: Expression, spelled: Mapping[Expression, str | Expression]) -> Expression:
    """The same expression with some of its computed indices spelled another way."""

    def change(node: Expression) -> Expression:
        if not isinstance(node, Ref):
            return node
        return replace(
            node,
            indices=tuple(index if isinstance(index, str) else spelled.get(index, index) for index in node.indices),
        )

    return rewrite(expression, change)
