"""Which rules a problem needs, in order: first up to the logits, then the softmax and the
output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from attncli.attention.first_steps import first_steps_of, softmax_rules_of, with_leading_axes
from attncli.equation.indexing import LeadingAxes
from attncli.equation.rule import Rule
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.model import Problem
from attncli.problem.parts.axes import Axes


@dataclass(frozen=True)
class Plan:
    """Rules in order of work, and what their equations read besides steps; made once for a run.

    `rules` lead up to the numbers whose softmax is taken. `parameters` are scalars (d_k, offset, …)
    and arrays of the mask (exists, keep, …); `given` the arrays of the rules that compute nothing,
    by the names of these rules: with a cache, K and V of the problem are new_K and new_V here.
    `sizes` is the length of each index that is on no axis of an array, by its letter in
    `indices.py`; `leading_axes` the letters of batches and heads of every array that has any.
    """

    problem: Problem
    rules: tuple[Rule, ...]
    parameters: Mapping[str, Scalar | Matrix]
    given: Mapping[str, Matrix]
    sizes: Mapping[str, int]
    leading_axes: LeadingAxes
    axes: Axes
    # With equations of the problem's own, the rules behind the logits, plain and shifted.
    own_rules: tuple[tuple[Rule, ...], tuple[Rule, ...]] | None = None

    @property
    def result(self) -> str:
        """The step that the page ends with, and of which a loss is."""
        return self.problem.system.result if self.problem.system else "output"

    @property
    def logits(self) -> str:
        """The step whose softmax is taken: the last of `rules`."""
        return self.rules[-1].name

    @property
    def takes_softmax(self) -> bool:
        """Whether the softmax of the logits follows, which may be shifted."""
        return self.own_rules is None or self.own_rules[0] != self.own_rules[1]

    def softmax_rules(self, *, shift: bool) -> tuple[Rule, ...]:
        """The rules from the logits to the output, through the shifted scores where the shift is
        needed.
        """
        return self._shifted_rules if shift else self._plain_rules

    @cached_property
    def _plain_rules(self) -> tuple[Rule, ...]:
        return self._behind_logits(shift=False)

    @cached_property
    def _shifted_rules(self) -> tuple[Rule, ...]:
        return self._behind_logits(shift=True)

    def _behind_logits(self, *, shift: bool) -> tuple[Rule, ...]:
        if self.own_rules is not None:
            return self.own_rules[shift]
        rules = softmax_rules_of(self.problem, self.axes, self.logits, shift=shift)
        return with_leading_axes(rules, self.leading_axes)[0]


def plan_for(problem: Problem) -> Plan:
    """The plan of a problem: first the arrays that are given, then the steps in order; the last
    makes the logits.

    Raises AttncliError (exit 3) for equations of the problem's own that make no plan.
    """
    if problem.system is not None:
        return _plan_of_system(problem)
    first = first_steps_of(problem)
    with_axes, leading_axes = with_leading_axes(first.rules, first.leading)
    return Plan(
        problem,
        with_axes,
        first.parameters,
        first.given,
        first.sizes,
        leading_axes,
        first.axes,
    )


# A page asks for it several times, and to plan a block takes as long as to work it out.
@lru_cache(maxsize=1)
def _plan_of_system(problem: Problem) -> Plan:
    # Most problems have no equations of their own.
    from attncli.attention.own_plan import own_steps

    first = first_steps_of(problem)
    own = own_steps(problem, first)
    return Plan(
        problem,
        own.rules,
        own.parameters,
        own.given,
        own.sizes,
        own.leading_axes,
        own.axes,
        (own.plain, own.shifted),
    )
