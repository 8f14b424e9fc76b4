"""Dimensions: axes of arrays and steps that are equally long in every problem of this form.

X has a row for each token and so have Q, K and V; the rows of the weights are as long as there are
keys. What is a dimension is found in the equations: a letter runs as far on all axes that it stands
on. Two axes that happen to be equally long, such as d_k and d_v, are two dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from attncli.attention.plan import Plan
from attncli.equation.indices import KEPT
from attncli.equation.nodes import Expression, Reduce, Ref, walk
from attncli.equation.rule import Rule
from attncli.equation.shapes import index_sizes, read_always, read_if_chosen
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem

# A rule as it is told from all others: its name, its letters, its expression.
RuleKey: TypeAlias = tuple[str, tuple[str, ...], Expression | None]
# An axis of an array that is given, or a letter of a rule; of no rule, a letter of the whole plan.
Axis: TypeAlias = "tuple[str, int] | tuple[RuleKey, str] | tuple[None, str]"


def key_of(rule: Rule) -> RuleKey:
    """What tells a rule from others of its name."""
    return rule.name, rule.target.letters, rule.expression


class Dimensions:
    """The axes of a problem in every setting, whose plans these are; joined where they are one
    dimension.
    """

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._joined: dict[Axis, Axis] = {}
        self._known: set[RuleKey] = set()
        for plan in plans:
            self._add(plan)
        problem = plans[0].problem
        if problem.tokens == problem.context_tokens[-len(problem.tokens) :]:
            # Queries, keys and values that are given apart, of the same tokens.
            self._join_tokens(problem)

    def of(self, axis: Axis) -> Axis:
        """The axis that stands for all of its dimension."""
        while axis in self._joined:
            axis = self._joined[axis]
        return axis

    def of_letter(self, rule: Rule, letter: str) -> Axis:
        """The dimension that a letter of a rule runs through."""
        return self.of((key_of(rule), letter))

    def _join(self, one: Axis, other: Axis) -> None:
        one, other = self.of(one), self.of(other)
        if one != other:
            self._joined[other] = one

    def _join_tokens(self, problem: Problem) -> None:
        given = problem.given
        if "context" in given:
            return
        self._join((None, "i"), (None, "s" if "past_K" in given else "j"))

    def _add(self, plan: Plan) -> None:
        """The axes of all rules of a plan."""
        read = {**plan.parameters, **plan.given}
        shapes = {name: each.shape for name, each in read.items() if isinstance(each, Matrix)}
        axes: dict[str, tuple[Axis, ...]] = {}
        for name, shape in shapes.items():
            axes[name] = tuple((name, place) for place in range(len(shape)))
        for rule in plan.rules:
            self._add_rule(plan, rule, axes, shapes)
        for shift in (False, True):
            for rule in plan.softmax_rules(shift=shift):
                self._add_rule(plan, rule, axes, shapes)

    def _add_rule(
        self,
        plan: Plan,
        rule: Rule,
        axes: dict[str, tuple[Axis, ...]],
        shapes: dict[str, tuple[int, ...]],
    ) -> None:
        key = key_of(rule)
        letters = rule.target.letters
        own: tuple[Axis, ...] = tuple((key, letter) for letter in letters)
        for letter in _all_letters(rule):
            is_kept = letter in KEPT if rule.own else letter not in dict(rule.lengths)
            if letter in plan.sizes and is_kept:
                self._join((None, letter), (key, letter))
        if rule.given:
            for one, other in zip(axes[rule.name], own, strict=True):
                self._join(one, other)
            return
        sizes = sizes_of(plan, rule, shapes)
        for ref, letter, place in _indices(rule, {**plan.sizes, **dict(rule.lengths)}):
            if shapes[ref.name][place] == sizes[letter]:
                self._join(axes[ref.name][place], (key, letter))
        axes[rule.name] = own
        shapes[rule.name] = tuple(sizes[letter] for letter in letters)


def sizes_of(plan: Plan, rule: Rule, shapes: Mapping[str, tuple[int, ...]]) -> Mapping[str, int]:
    """How far each letter of a rule runs, by the shapes of the steps before it."""
    if rule.given:
        given = plan.given[rule.name]
        return dict(zip(rule.target.letters, given.shape, strict=True))
    read = index_sizes(rule.equation, shapes)
    known = {**plan.sizes, **dict(rule.lengths)}
    return {**read, **known}


def _all_letters(rule: Rule) -> Iterator[str]:
    """Those of its cell, and of its sums."""
    yield from rule.target.letters
    if rule.given:
        return
    for node in walk(rule.equation.expression):
        if isinstance(node, Reduce):
            yield node.index


def _indices(rule: Rule, known: Mapping[str, int]) -> Iterator[tuple[Ref, str, int]]:
    """Each letter alone in the cell of an array, with its place there.

    What a `where` chooses between may be a part of the whole, where the whole is known.
    """
    expression = rule.equation.expression
    for ref in read_always(expression):
        for place, index in enumerate(ref.indices):
            if isinstance(index, str):
                yield ref, index, place
    for ref in read_if_chosen(expression):
        for place, index in enumerate(ref.indices):
            if isinstance(index, str) and index not in known:
                yield ref, index, place
