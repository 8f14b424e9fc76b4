"""What a problem costs at any size: operations and bytes of every step, and where attention outgrows projections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from attncli.attention.indices import INDICES
from attncli.attention.plan import Plan, plan_logits, plan_softmax
from attncli.choices import DTYPES
from attncli.equation.shapes import index_sizes
from attncli.errors import usage_error
from attncli.problem.axes import past_length, width
from attncli.problem.model import GIVEN, Matrix, Problem
from attncli.problem.projections import input_of
from attncli.study.cost_model import Cost, StepCost
from attncli.study.operations import growth, number, operations

SYMBOLS = {letter: index.length for letter, index in INDICES.items()}
_ORDER = [each for symbol in SYMBOLS.values() for each in (symbol, *["d_context"] * (symbol == "d_model"))]
SHARED = ("X", "context", "mask", "angles")  # by all heads of a layer


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes to count with instead of a problem's own; None keeps them. `d_k` is the width of queries and keys."""

    n: int | None = None
    m: int | None = None
    d_model: int | None = None
    d_k: int | None = None
    d_v: int | None = None
    heads: int = 1
    layers: int = 1


def usual(asked: Mapping[str, int]) -> tuple[Problem, Sizes]:
    """Self-attention without a file, at the sizes asked for and else at those of the first transformer.

    A key is as wide as d_model / heads, where that is whole, and a value as a key, where `asked` does not say
    otherwise.
    """
    one = Matrix(np.zeros((1, 1)))
    problem = Problem("", ("t1",), ("t1",), dict.fromkeys(("X", "W_Q", "W_K", "W_V"), one))
    sizes = {"n": 512, "d_model": 512, "heads": 8, **asked}
    width, left = divmod(sizes["d_model"], sizes["heads"])
    sizes.setdefault("d_k", 64 if left else width)
    sizes.setdefault("d_v", sizes["d_k"])
    return problem, Sizes(**sizes)


def cost_of(problem: Problem, sizes: Sizes, dtype: str = "float32") -> Cost:
    """The cost of a problem at these sizes; no array of any size is made.

    The softmax is counted without a shift, since only the numbers themselves can tell whether it needs one.
    Raises AttncliError (exit 2) where the problem has no such size.
    """
    if sizes.d_model is not None and not {"X", "context"} & problem.given.keys():
        raise usage_error("this problem has no d_model: Q, K and V are given", help="leave out --d-model")
    together = _together(problem) and sizes.m in (None, sizes.n or len(problem.tokens))
    if _together(problem) and not together:
        given = {**problem.given, "context": problem.given["X"]}
        problem = replace(problem, given={name: given[name] for name in GIVEN if name in given})
    found, steps = _steps(problem, sizes, together)
    cost = Cost(problem.title, found, sizes.heads, sizes.layers, DTYPES[dtype], steps, None)
    if not together or not cost.projections:
        return cost

    def outgrown(n: int) -> bool:
        longer = replace(cost, steps=_steps(problem, replace(sizes, n=n, m=n), together)[1])
        return longer.operations - longer.projections > longer.projections

    return replace(cost, crossover=_smallest(outgrown))


def _together(problem: Problem) -> bool:
    """Whether queries and keys come from the same rows, so that n and m are one size."""
    given = problem.given
    return "Q" not in given and "context" not in given and not {"K", "V"} <= given.keys()


def _steps(problem: Problem, sizes: Sizes, together: bool) -> tuple[Mapping[str, int], tuple[StepCost, ...]]:
    """The sizes by symbol, and every step of the problem counted with them."""
    n = sizes.n or len(problem.tokens)
    m = n if together else sizes.m or len(problem.context_tokens)
    asked = {"d_model": sizes.d_model, "d_k": sizes.d_k, "d_q": sizes.d_k, "d_v": sizes.d_v}
    plan = plan_logits(problem)
    apart = bool(plan.axes.heads or plan.axes.kv_heads)  # heads are an axis of the arrays, and counted with them
    if apart and sizes.heads > 1:
        asked["heads"] = sizes.heads
    changed = {"n": n, "m": m} | {symbol: size for symbol, size in asked.items() if size is not None}
    derived = _derived(problem, plan, changed)
    changed |= {symbol: size for symbol, size in derived.items() if symbol not in changed}
    shapes = {name: given.value.shape for name, given in plan.parameters.items() if isinstance(given, Matrix)}
    found: dict[str, int] = {"n": n, "m": m}
    steps = []
    for rule in (*plan.rules, *plan_softmax(problem, plan, shift=False)):
        symbols = _symbols(problem, rule.name, together)
        letters = rule.target.letters
        if rule.given:
            own = plan.given[rule.name].value.shape
            lengths = {letter: changed.get(symbols[letter], size) for letter, size in zip(letters, own, strict=True)}
        else:
            run = {letter: changed.get(SYMBOLS[letter], size) for letter, size in plan.sizes.items()}
            lengths = {**index_sizes(rule.equation, shapes), **run, "i": n, "j": m}
        shapes[rule.name] = tuple(lengths[letter] for letter in letters)
        read = {*letters, *(() if rule.given else index_sizes(rule.equation, shapes))}
        found |= {symbols[letter]: length for letter, length in lengths.items() if letter in read - {"i", "j"}}
        counts = {} if rule.given else operations(rule.equation)
        kinds = {kind: number(count, lengths) for kind, count in counts.items()}
        repeats = sizes.layers * (1 if apart or rule.name in SHARED else sizes.heads)
        grows = (growth(counts.values(), symbols), growth([{letters: 1}], symbols))
        steps.append(StepCost(rule, shapes[rule.name], kinds, repeats, *grows))
    return {symbol: found[symbol] for symbol in _ORDER if symbol in found}, tuple(steps)


def _derived(problem: Problem, plan: Plan, changed: Mapping[str, int]) -> Mapping[str, int]:
    """The sizes that follow from others: features side by side, positions, pairs, and the keys that are new."""
    heads = changed.get("heads", plan.sizes["h"])
    d_k = changed.get("d_k", width("K", problem.given))
    past = past_length(problem.given)
    return {
        "d_joined": heads * changed.get("d_v", width("V", problem.given)),
        "n_pos": max(past + changed["n"], changed["m"]),
        "d_pairs": d_k // 2,
        "n_new": changed["m"] - past,
    }


def _symbols(problem: Problem, name: str, together: bool) -> Mapping[str, str]:
    """The symbol of each letter in one rule: X may serve only keys, context or query have a width of their own."""
    symbols = dict(SYMBOLS)
    if _reads_context(problem, name) and not _same_width(problem):
        symbols["d"] = "d_context"
    if together:
        symbols["j"] = "n"
    elif name == "X" and "Q" in problem.given:
        symbols["i"] = "m"
    if name in ("W_Q", "b_Q", "Q") and problem.score in ("multiplicative", "additive"):
        symbols["k"] = "d_q"
    return symbols


def _reads_context(problem: Problem, name: str) -> bool:
    """Whether a rule is the context, what projects it, or what comes of that."""
    projected = name.removeprefix("W_") in ("K", "V") and input_of(name[-1], problem.given) == "context"
    return name == "context" or projected


def _same_width(problem: Problem) -> bool:
    """Whether the rows of X and of the context are equally wide, as far as both are there."""
    return len({problem.given[name].value.shape[1] for name in ("X", "context") if name in problem.given}) < 2


def _smallest(holds: Callable[[int], bool]) -> int:
    """The smallest n from 1 on for which a condition holds that once it holds goes on holding."""
    high = 1
    while not holds(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
