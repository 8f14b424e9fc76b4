"""All steps by name, and how formulas call them.

Everything a page says or a program computes about a step is derived from its rule: `givens.py` has those of the arrays
that a problem gives, `computed.py` those of the steps that are worked out.
"""

from __future__ import annotations

from collections.abc import Collection

from attncli.attention.gradients import GRADIENT_RULES
from attncli.attention.inputs import GIVEN
from attncli.attention.losses import LOSS_RULES, TARGET
from attncli.attention.rule import Rule
from attncli.attention.steps import COMPUTED
from attncli.attention.written import Rules, by_name
from attncli.equation.nodes import Call, Equation, Expression, Name, Ref, rename, rewrite

__all__ = [
    "COMPUTED_RULES",
    "FORWARD",
    "GIVEN_RULES",
    "RULES",
    "cell_form",
    "headline",
    "holds_scores",
    "in_symbols",
    "is_small",
]

FORWARD = by_name((*GIVEN, *COMPUTED))
RULES = Rules({**FORWARD.written, **LOSS_RULES.written, **GRADIENT_RULES.written})
GIVEN_RULES = by_name((*GIVEN, TARGET, GRADIENT_RULES.written["d_output"]))
COMPUTED_RULES = by_name(COMPUTED)

# In expressions, d_v is the width of values; the gradient of v, of the same name, is read by no step.
_SYMBOLS = {name: written.symbol for name, written in RULES.written.items() if name != "d_v"}


def is_small(rule: Rule) -> bool:
    """Whether a step has no number for each query and key, nor is made of such."""
    return "i" not in rule.target.letters or not ("j" in rule.target.letters or rule.name in ("row_max", "row_sum"))


def holds_scores(names: Collection[str]) -> bool:
    """Whether one of these steps has a number for each query and key."""
    return any(not is_small(RULES[name]) and "j" in RULES[name].target.letters for name in names if name in RULES)


def in_symbols(expression: Expression) -> Expression:
    """An expression with every step called by its letter: S for scores, A for weights, Aᵀ for these transposed."""

    def turned(node: Expression) -> Expression:
        match node:
            case Call(function="transposed", arguments=(Name(name=name),)):
                return Name(f"{name}_T")
        return node

    return rewrite(rename(expression, _SYMBOLS), turned)


def headline(rule: Rule) -> Equation | None:
    """The matrix form in the letters of formulas, S = Q K^T; None where the index form says it best."""
    return None if rule.matrix_form is None else Equation(Ref(rule.symbol), in_symbols(rule.matrix_form))


def cell_form(rule: Rule) -> Equation:
    """The index form in the letters of formulas: S[i, j] = Σ_k Q[i, k]·Kᵀ[k, j]."""
    return Equation(Ref(rule.symbol, rule.target.indices), in_symbols(rule.equation.expression))
