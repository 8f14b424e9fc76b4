"""What plain Python makes of a query and a key before the softmax: compared, scaled,
capped; with bounds.
"""

from __future__ import annotations

from typing import Any

from mpmath import mp, mpf

from tests.reference.bounded import Bounded, dot, given, power, tanh, times, total

Problem = dict[str, Any]
Array = list[list[list[list[Bounded]]]]
# roundings for a scale that is multiplied in before, in two halves or after; see
# docs/reliability.md
ANY_ORDER = 8


def score_of(problem: Problem, query: list[Bounded], key: list[Bounded]) -> Bounded:
    match problem.get("score", "scaled_dot"):
        case "multiplicative":
            weights = [[given(number) for number in row] for row in problem["W_a"]]
            through = [dot(query, [row[k] for row in weights]) for k in range(len(key))]
            return dot(through, key)
        case "additive":
            hidden = []
            for a in range(len(problem["v"])):
                one = dot(query, [given(row[a]) for row in problem["W_1"]])
                other = dot(key, [given(row[a]) for row in problem["W_2"]])
                hidden.append(tanh(total([one, other])))
            return dot([given(number) for number in problem["v"]], hidden)
    return dot(query, key)


def times_scale(problem: Problem, score: Bounded, d_k: int) -> Bounded:
    """Times the scale; the default is 1/√d_k for scaled dot products and nothing for others."""
    said = problem.get("scale", "default")
    if said == "default":
        said = 1 / mp.sqrt(d_k) if problem.get("score", "scaled_dot") == "scaled_dot" else "none"
    factor = mpf(1) if said == "none" else mpf(said)
    size = abs(float(factor))
    return times(score, Bounded(factor, 0.0, size)).rounded(ANY_ORDER)


def capped_at(score: Bounded, cap: float) -> Bounded:
    inner = tanh(Bounded(score.value / cap, score.error / cap).rounded())
    return times(given(cap), inner).rounded()


def slope_of(problem: Problem, head: int, heads: int) -> Bounded | None:
    """ALiBi's: given, or 2^(−8(h+1)/H), and where H is no power of two those of the power below and
    others between.
    """
    alibi = problem.get("position", {}).get("alibi")
    if not alibi:
        return None
    if alibi is not True:
        return given(alibi["slopes"][head])
    below = 1 << (heads.bit_length() - 1)
    exponent = (
        mpf(8 * (head + 1)) / below
        if head < below
        else mpf(8 * (2 * (head - below) + 1)) / (2 * below)
    )
    return power(2, -exponent, rounded=2)
