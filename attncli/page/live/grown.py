"""A problem with one more place on an axis, to see what of its plan follows: a page does the same
with tokens, features and heads that are added.

No number is worked out. Where the equations of the larger problem are others, no page can follow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from attncli.attention.plan import Plan, plan_for
from attncli.equation.rule import Rule
from attncli.errors import AttncliError
from attncli.problem.loader import loads
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.model import Problem
from attncli.problem.parts.masks import MaskPart
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.keep_and_hide import Truths
from attncli.problem.parts.masks.window import Window
from attncli.problem.saving import as_yaml
from attncli.tracing.run import run

# By how much each axis of an array grows, by the name that the array has in the plan.
Growth: TypeAlias = Mapping[str, Mapping[int, int]]
_Key = TypeVar("_Key")
# What a page says where it cannot follow.
OTHER_STEPS = "with more or fewer of them, other steps follow"
OF_THE_MASK = "the mask of this problem says how many there are"


class Moves(NamedTuple):
    """The lengths that a plan knows from elsewhere than its arrays, and the scalars."""

    letters: Mapping[str, float]
    scalars: Mapping[str, float]
    of_rules: Mapping[tuple[str, str], float]

    @classmethod
    def of(cls, plan: Plan) -> Moves:
        """Those of a plan."""
        scalars = {
            name: each.value for name, each in plan.parameters.items() if isinstance(each, Scalar)
        }
        of_rules = {}
        for rule in all_rules(plan):
            for letter, length in rule.lengths:
                of_rules[rule.name, letter] = length
        return cls(plan.sizes, scalars, of_rules)

    def moved_from(self, before: Moves) -> Moves:
        """By how much each differs from what it was."""
        letters = _differences(before.letters, self.letters)
        scalars = _differences(before.scalars, self.scalars)
        of_rules = _differences(before.of_rules, self.of_rules)
        return Moves(letters, scalars, of_rules)


def _differences(before: Mapping[_Key, float], after: Mapping[_Key, float]) -> dict[_Key, float]:
    found = {}
    for name, value in after.items():
        moved = value - before[name]
        found[name] = moved
    return found


def all_rules(plan: Plan) -> Sequence[Rule]:
    """The rules of a plan, with both softmaxes."""
    return (*plan.rules, *plan.softmax_rules(shift=False), *plan.softmax_rules(shift=True))


def follow(before: Plan, arrays: Growth, labels: Collection[str]) -> Moves | str:
    """By how much lengths move if axes are longer by this; or why a page cannot follow.

    `labels` are those that get one more: "tokens", "context_tokens".
    """
    problem = before.problem
    if labels and not all(map(_can_grow, problem.mask.parts)):
        return OF_THE_MASK
    try:
        after = _checked(grown(problem, before, arrays, labels))
    except AttncliError as error:
        return error.message
    except ValueError:
        # An equation would read arrays of lengths that do not fit.
        return OTHER_STEPS
    if _said_by(before) != _said_by(after):
        return OTHER_STEPS
    return Moves.of(after).moved_from(Moves.of(before))


def _checked(problem: Problem) -> Plan:
    """The plan of a larger problem; AttncliError where no file may have this problem."""
    has_others = problem.d_output is not None or problem.loss is not None
    if problem.positions or problem.system is not None or has_others:
        # Positions turn pairs of features, and a gradient that is given has its own size.
        text, _ = as_yaml(problem, "")
        problem = loads(text.encode(), "problem.yaml")
    if problem.system is not None:
        # An equation may read a place that is not there.
        run(problem)
    return plan_for(problem)


def _said_by(plan: Plan) -> list[tuple[object, ...]]:
    """What must stay: the steps and their equations, and what a problem's own matrices are
    called.
    """
    said: list[tuple[object, ...]] = [tuple(plan.parameters)]
    for rule in all_rules(plan):
        said.append((rule.name, rule.target.letters, rule.expression))
    return said


def _can_grow(part: MaskPart) -> bool:
    return isinstance(part, Causal | Window | Truths | Additive)


def grown(problem: Problem, plan: Plan, arrays: Growth, labels: Collection[str]) -> Problem:
    """The problem with axes that are longer by this, of zeros."""
    given = dict(problem.given)
    for kept, name in zip(problem.given, plan.given, strict=False):
        given[kept] = _longer(problem.given[kept], arrays.get(name, {}))
    system = problem.system
    if system is not None:
        own = [
            replace(each, matrix=_longer(each.matrix, arrays.get(each.name, {})))
            for each in system.arrays
        ]
        system = replace(system, arrays=tuple(own))
    parts = tuple(_longer_part(part, arrays) for part in problem.mask.parts)
    tokens, context = problem.tokens, problem.context_tokens
    if "tokens" in labels:
        tokens = (*tokens, "+")
    if "context_tokens" in labels:
        context = (*context, "+")
    mask = replace(problem.mask, parts=parts)
    return replace(
        problem, given=given, system=system, mask=mask, tokens=tokens, context_tokens=context
    )


def _longer_part(part: MaskPart, arrays: Growth) -> MaskPart:
    axes = arrays.get(part.name, {})
    match part:
        case Truths():
            return replace(part, truths=_longer(Matrix.of(part.matrix), axes).value.astype(bool))
        case Additive():
            return replace(part, matrix=_longer(part.matrix, axes))
        case _:
            return part


def _longer(matrix: Matrix, by: Mapping[int, int]) -> Matrix:
    """A matrix whose axes are longer by this, with zeros at their ends."""
    if not by:
        return matrix
    more = []
    for axis in range(matrix.ndim):
        added = by.get(axis, 0)
        more.append((0, added))
    value = np.pad(matrix.value, more)
    return Matrix(value)


def names_of_mask(problem: Problem) -> Iterator[str]:
    """The matrices of the mask that a page can make longer."""
    for part in problem.mask.parts:
        if isinstance(part, Truths | Additive):
            yield part.name
