"""The cost of a problem at any size: operations and bytes of every step, and when attention exceeds
projections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from attncli.attention.plan import Plan, plan_for
from attncli.dtypes import DTYPES, Dtype
from attncli.equation.indexing import all_letters
from attncli.equation.indices import KEPT
from attncli.equation.nodes import Expression
from attncli.equation.rule import Rule
from attncli.errors import usage_error
from attncli.features.cost.operations import growth, in_cells, number, operations
from attncli.features.cost.sizes import (
    FOLLOWING,
    ORDER,
    GivenSizes,
    Rows,
    as_cross_attention,
    growth_symbols,
    own_symbol,
    rows_of_problem,
    sizes_of,
    symbols,
    with_leading_axes,
)
from attncli.problem.keys import ARRAYS
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.axes import BATCH, HEAD
from attncli.problem.parts.positions import Alibi

PROJECTING = {"W_Q", "W_K", "W_V", "W_O"}
CACHED = ("K", "V")
# Axes along which arrays change from text to text: entries, queries and keys.
_OF_A_TEXT = frozenset("bijlsu")


@dataclass(frozen=True, slots=True)
class StepCost:
    """One step: in one layer its shape and its operations by kind, and how many layers there are.

    `in_cells` are the operations that every cell needs again. `operations_grow` and `bytes_grow`
    are formulas such as n² · d_k, or None if there is nothing to count; `sizes` names all sizes
    that the step depends on.
    """

    rule: Rule
    shape: tuple[int, ...]
    kinds: Mapping[str, int]
    in_cells: Mapping[str, int]
    layers: int
    operations_grow: Expression | None
    bytes_grow: Expression | None
    sizes: frozenset[str]

    @property
    def projects(self) -> bool:
        """Whether rows are multiplied by weights of the layer, as in Q = X·W_Q."""
        return not PROJECTING.isdisjoint(self.rule.inputs)

    @property
    def is_parameter(self) -> bool:
        """Whether it is an array that is learned, and stays the same for any text: weights, biases,
        and what equations of the problem's own read.

        A number without axes, such as an epsilon, and the slopes of ALiBi are only chosen.
        """
        letters = self.rule.target.letters
        if not self.rule.given or not letters or not _OF_A_TEXT.isdisjoint(letters):
            return False
        known = ARRAYS.get(self.rule.name)
        return known is None or known.gradient is not None

    @property
    def operations(self) -> int:
        """Of all layers together."""
        return self.layers * sum(self.kinds.values())

    @property
    def numbers(self) -> int:
        """How many numbers the step has in all layers together."""
        return self.layers * prod(self.shape)

    @property
    def lengths(self) -> Mapping[str, int]:
        """The shape by the letters of its axes."""
        return dict(zip(self.rule.target.letters, self.shape, strict=True))


@dataclass(frozen=True, slots=True)
class Cost:
    """All steps, in order of work, and the sizes they were counted with (heads, n, m, d_model, …).

    `crossover` is the smallest n from which on attention takes more operations than the
    projections. It is None without projections, or if n and m are chosen separately.
    """

    title: str
    sizes: Mapping[str, int]
    layers: int
    dtype: Dtype
    steps: tuple[StepCost, ...]
    crossover: int | None

    @property
    def heads(self) -> int:
        return self.sizes.get("heads", 1)

    @property
    def has_softmax(self) -> bool:
        """Whether there is the built-in softmax, which may be shifted."""
        return any(step.rule.name == "exp" and not step.rule.own for step in self.steps)

    @property
    def has_own(self) -> bool:
        """Whether some steps are worked out by equations of the problem's own."""
        return any(step.rule.own for step in self.steps)

    @property
    def operations(self) -> int:
        return sum(step.operations for step in self.steps)

    @property
    def projections(self) -> int:
        """The operations of the projections; all others are those of attention itself."""
        return sum(step.operations for step in self.steps if step.projects)

    @property
    def learned(self) -> tuple[StepCost, ...]:
        """The arrays that are learned."""
        return tuple(step for step in self.steps if step.is_parameter)

    @property
    def parameters(self) -> int:
        """How many numbers are learned, in all layers together."""
        return sum(step.numbers for step in self.learned)

    def bytes(self, *names: str) -> int:
        """The bytes of the results of these steps, or of all steps if none is named."""
        return (
            sum(step.numbers for step in self.steps if not names or step.rule.name in names)
            * self.dtype.size
        )

    @property
    def bytes_cached(self) -> int:
        """The bytes of the keys and values of all layers, which a cache keeps."""
        return self.bytes(*CACHED)

    @property
    def bytes_cached_per_token(self) -> int:
        """The same for one token of one entry."""
        cached = [step for step in self.steps if step.rule.name in CACHED and "j" in step.lengths]
        tokens = [step.lengths["j"] * step.lengths.get(BATCH, 1) for step in cached]
        return (
            sum(step.numbers // of for step, of in zip(cached, tokens, strict=True))
            * self.dtype.size
        )

    @property
    def weights(self) -> StepCost | None:
        """The step of the weights; None without a matrix of queries by keys that has their name."""
        for step in self.steps:
            if step.rule.name == "weights" and step.rule.target.letters[-2:] == ("i", "j"):
                return step
        return None

    @property
    def matrices(self) -> Mapping[str, int]:
        """How many attention matrices there are: of how many layers, entries and heads."""
        weights = self.weights
        assert weights is not None
        leading = {
            word: weights.lengths.get(letter, 1)
            for letter, word in ((BATCH, "entry"), (HEAD, "head"))
        }
        return {"layer": self.layers, **leading}


def default_problem(requested: Mapping[str, int]) -> tuple[Problem, GivenSizes]:
    """Self-attention without a file, with the requested sizes; the others are those of the first
    transformer.

    Several heads have a W_O. Unless `requested` says otherwise, d_k is d_model / heads if that is a
    whole number, and d_v equals d_k.
    """
    sizes = {"n": 512, "d_model": 512, "heads": 8, **requested}
    names = ["X", "W_Q", "W_K", "W_V"]
    if sizes["heads"] > 1:
        names.append("W_O")
    given = dict.fromkeys(names, Matrix(np.zeros((1, 1))))
    problem = Problem(title="", tokens=("t1",), context_tokens=("t1",), given=given)
    width, left = divmod(sizes["d_model"], sizes["heads"])
    sizes.setdefault("d_k", 64 if left else width)
    sizes.setdefault("d_v", sizes["d_k"])
    return problem, GivenSizes(**sizes)


def cost_of(problem: Problem, requested: GivenSizes, dtype: str = "float32") -> Cost:
    """The cost of a problem at these sizes; no array of any size is made.

    The softmax is counted without a shift, because only the numbers decide whether it needs one.
    Raises AttncliError (exit 2) if the problem has no such size, or if sizes contradict each other.
    """
    if requested.d_model is not None and not {"X", "context"} & problem.given.keys():
        raise usage_error(
            "this problem has no d_model: Q, K and V are given", help="leave out --d-model"
        )
    rows = rows_of_problem(problem)
    if rows == "same" and requested.m not in (None, requested.n or len(problem.tokens)):
        problem, rows = as_cross_attention(problem), "apart"
    plan = plan_for(problem)
    sizes = sizes_of(plan, requested, rows)
    if problem.system is None:
        plan = with_leading_axes(plan, requested, sizes)
    steps = tuple(_steps(plan, sizes, rows, requested.layers))
    read = {symbol for step in steps for symbol in step.sizes}
    theirs = (symbol for symbol in sizes if symbol not in FOLLOWING)
    order = dict.fromkeys((*ORDER, *theirs))
    shown = {symbol: sizes[symbol] for symbol in order if symbol in {"n", "m", *read}}
    cost = Cost(problem.title, shown, requested.layers, DTYPES[dtype], steps, None)
    # Letters of a problem's own may run over anything.
    if rows != "same" or not cost.projections or problem.system is not None:
        return cost

    def is_outgrown(n: int) -> bool:
        all_n = {**sizes, "n": n, "m": n, "n_pos": n}
        longer = replace(cost, steps=tuple(_steps(plan, all_n, rows, requested.layers)))
        return longer.operations - longer.projections > longer.projections

    return replace(cost, crossover=_smallest_where(is_outgrown))


def _steps(plan: Plan, sizes: Mapping[str, int], rows: Rows, layers: int) -> Iterator[StepCost]:
    """Every step counted with these sizes."""
    for rule in _rules(plan, sizes["heads"]):
        called = symbols(plan.problem, rule.name, rows)
        letters = rule.target.letters if rule.given else all_letters(rule.equation)
        grows = growth_symbols(called, sizes)
        if rule.own:
            # Any other letter is theirs, whatever it is in an equation of ours; and so is one of
            # ours that this problem has no length for, such as d where there is no model.
            others = sorted(
                letter for letter in letters if letter not in KEPT or called[letter] not in sizes
            )
            theirs = {letter: own_symbol(letter) for letter in others}
            called, grows = {**called, **theirs}, {**grows, **theirs}
        lengths = {letter: sizes[called[letter]] for letter in letters}
        counts = {} if rule.given else operations(rule.equation)
        yield StepCost(
            rule,
            tuple(lengths[letter] for letter in rule.target.letters),
            {kind: number(count, lengths) for kind, count in counts.items()},
            {
                kind: number(in_cells(rule.equation, count), lengths)
                for kind, count in counts.items()
            },
            layers,
            growth(counts.values(), grows),
            growth([{rule.target.letters: 1}], grows),
            frozenset(called[letter] for letter in letters),
        )


def _rules(plan: Plan, heads: int) -> Iterator[Rule]:
    """All rules of a plan, with the slopes for this number of heads."""
    for rule in (*plan.rules, *plan.softmax_rules(shift=False)):
        yield Alibi.usual_slopes(heads) if rule.name == "slopes" and not rule.given else rule


def _smallest_where(holds: Callable[[int], bool]) -> int:
    """The smallest n from 1 on for which a condition holds; it must then hold for all larger n."""
    high = 1
    while not holds(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
