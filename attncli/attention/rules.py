"""All steps by name, and how formulas call them.

Everything a page says or a program computes about a step is derived from its rule: `givens.py` has those of the arrays
that a problem gives, `computed.py` those of the steps that are worked out.
"""

from __future__ import annotations

from collections.abc import Mapping

from attncli.attention.computed import COMPUTED
from attncli.attention.givens import GIVEN
from attncli.attention.gradients import GRADIENT_RULES
from attncli.attention.losses import LOSS_RULES, TARGET
from attncli.attention.rule import Rule
from attncli.equation.symbols import plain_name, unicode_name
from attncli.equation.tree import Call, Equation, Expression, Name, Ref, rename, rewrite

__all__ = [
    "COMPUTED",
    "COMPUTED_RULES",
    "FORWARD",
    "GIVEN",
    "GIVEN_RULES",
    "NAMED",
    "RULES",
    "cell_form",
    "headline",
    "in_symbols",
]

FORWARD: Mapping[str, Rule] = {rule.name: rule for rule in (*GIVEN, *COMPUTED)}
RULES: Mapping[str, Rule] = {**FORWARD, **LOSS_RULES, **GRADIENT_RULES}
GIVEN_RULES: Mapping[str, Rule] = {rule.name: rule for rule in (*GIVEN, TARGET, GRADIENT_RULES["d_output"])}
COMPUTED_RULES: Mapping[str, Rule] = {rule.name: rule for rule in COMPUTED}

# A step by its name, or by its letter in any of the spellings that a page has: Z', Kᵀ or K^T.
NAMED: Mapping[str, str] = {
    spelled: rule.name
    for spell in (str, plain_name, unicode_name)
    for rule in RULES.values()
    for spelled in (spell(rule.symbol), rule.name)
}

# In expressions, d_v is the width of values; the gradient of v, of the same name, is read by no step.
_SYMBOLS = {rule.name: rule.symbol for rule in RULES.values() if rule.name != "d_v"}


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
