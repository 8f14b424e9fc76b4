"""The known equations of the softmax, for the two places that compute it in one step: its gradient,
and the fused path.

Both have formulas written by hand. So both must check that a plan has exactly these equations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from attncli.equation.rule import Rule
from attncli.problem.parts.axes import LEADING

# The steps between the logits and the weights; a softmax without a shift has only some of them.
INSIDE_OF_SOFTMAX = ("row_max", "shifted", "exp", "row_sum")
# The equations that each step may have, for one head, in Python syntax.
Known = Mapping[str, Collection[str]]


def softmax_equations(logits: str, *, powers: bool) -> Known:
    """The equations of the softmax of these logits, from exponentials or from `powers` of another
    base.

    With and without a shift, with and without a sink.
    """
    e_to = "exp_base ** {}" if powers else "exp({})"
    sums = "row_sum[i] = sum(j, exp[i, j])"
    shifted_sink = (
        "exp_base ** (sink - finite(row_max[i]))" if powers else "exp(sink - finite(row_max[i]))"
    )
    return {
        "row_max": (
            f"row_max[i] = max(j, {logits}[i, j])",
            f"row_max[i] = max(max(j, {logits}[i, j]), sink)",
        ),
        "shifted": (f"shifted[i, j] = {logits}[i, j] - finite(row_max[i])",),
        "exp": tuple(f"exp[i, j] = {e_to.format(f'{name}[i, j]')}" for name in (logits, "shifted")),
        "row_sum": (sums, f"{sums} + {e_to.format('sink')}", f"{sums} + {shifted_sink}"),
        "weights": ("weights[i, j] = share(exp[i, j], row_sum[i])",),
    }


def unknown_step(rules: Iterable[Rule], known: Known) -> Rule | None:
    """The first rule whose equation, for one head, is not a known one of its step; None if all are
    known.
    """
    for rule in rules:
        if (
            rule.name in known
            and rule.at_place(dict.fromkeys(LEADING, 0)).source not in known[rule.name]
        ):
            return rule
    return None
