"""Heads and batches: one transformation puts their indices before all others, another takes one head out again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from attncli.equation.nodes import Call, Equation, Expression, Name, Number, Ref, rewrite, walk, whole
from attncli.equation.positions import letters, names_in

Leads = Mapping[str, Sequence[str]]  # the leading letters of each array that has any


def lift(equation: Equation, leads: Leads, order: Sequence[str], shared: Mapping[str, Expression]) -> Equation:
    """The equation of a single head, for arrays with leading axes: S[i, j] = … becomes S[b, h, i, j] = ….

    The target takes the leading letters of all it reads, in this order. `shared` says which place on a shared axis
    belongs to a letter's: {"g": h // group} reads a head of keys for the query head h, wherever h is there.
    """
    read = {node.name for node in walk(equation.expression) if isinstance(node, Ref | Name)}
    found = {letter for name in read for letter in leads.get(name, ())} | set(equation.target.letters)
    through = {letter: index for letter, index in shared.items() if any(of in found for of in letters(index, found))}
    target = tuple(letter for letter in order if letter in found and letter not in through)

    def change(node: Expression) -> Expression:
        if not isinstance(node, Ref | Name) or node.name not in leads:
            return node
        own = node.indices if isinstance(node, Ref) else ()
        return Ref(node.name, (*(through.get(letter, letter) for letter in leads[node.name]), *own))

    own = tuple(letter for letter in equation.target.letters if letter not in target)
    return Equation(replace(equation.target, indices=(*target, *own)), rewrite(equation.expression, change))


def take_out(expression: Expression, fixed: Mapping[str, int], known: Collection[str] = ()) -> Expression:
    """The expression of one place on the fixed axes, without their indices; what then has none is a number.

    An index that depends on other letters, too, keeps its axis: h * d_v + c is 2 * d_v + c at h = 2. `known` are the
    letters of the equation.
    """

    def change(node: Expression) -> Expression:
        if not isinstance(node, Ref) or not node.indices:
            return node
        left = tuple(_at(index, fixed) for index in node.indices if not is_fixed(index, fixed, known))
        return Ref(node.name, left) if left else Name(node.name)

    return rewrite(expression, change)


def is_fixed(index: str | Expression, fixed: Collection[str], known: Collection[str] = ()) -> bool:
    """Whether an index is a fixed letter, or an expression of fixed letters alone, such as h // group."""
    found = {*names_in(index)}
    return any(name in fixed for name in found) and not any(name in known and name not in fixed for name in found)


def _at(index: str | Expression, fixed: Mapping[str, int]) -> str | Expression:
    """An index with numbers for the fixed letters: h * d_v + c is c at h = 0, and d_v + c at h = 1."""

    def put(node: Expression) -> Expression:
        match node:
            case Name(name=name) if name in fixed:
                return whole(fixed[name])
            case Call("mul", (Number(value=number), by)) if number in (0, 1):
                return by if number else whole(0)
            case Call("add", (Number(value=number), term)) if number == 0:
                return term
        return node

    found = index if isinstance(index, str) else rewrite(index, put)
    return found.name if isinstance(found, Name) else found
