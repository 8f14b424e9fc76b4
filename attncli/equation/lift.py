"""Heads and batches: one transformation puts their indices before all others, another takes one head out again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attncli.equation.positions import letters, names_in
from attncli.equation.tree import Equation, Expression, Name, Ref, rewrite, walk
from attncli.records import replace

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


def take_out(expression: Expression, fixed: Collection[str]) -> Expression:
    """The expression of one place on the fixed axes, without their indices; what then has none is a number."""

    def change(node: Expression) -> Expression:
        if not isinstance(node, Ref) or not node.indices:
            return node
        left = tuple(index for index in node.indices if not is_fixed(index, fixed))
        return Ref(node.name, left) if left else Name(node.name)

    return rewrite(expression, change)


def is_fixed(index: str | Expression, fixed: Collection[str]) -> bool:
    """Whether an index is a fixed letter, or an expression of one, such as h // group."""
    return any(name in fixed for name in names_in(index))
