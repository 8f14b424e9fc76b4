"""How a step is said another way: another equation or another headline in place of its own."""

from __future__ import annotations

from attncli.attention.rule import Rule
from attncli.attention.rules import COMPUTED_RULES
from attncli.equation.parse import parse_equation, parse_expression
from attncli.equation.tree import Call, Name, Ref
from attncli.records import replace


def said(name: str, equation: str, matrix_form: str, *, meaning: str, why: str = "") -> Rule:
    """A step's rule with another equation, which means something else."""
    rule, tree = COMPUTED_RULES[name], parse_equation(equation)
    return replace(
        rule,
        target=tree.target,
        expression=tree.expression,
        matrix_form=parse_expression(matrix_form) if matrix_form else None,
        meaning=meaning,
        why=why or rule.why,
    )


def with_bias(rule: Rule, added: str) -> Rule:
    """The rule with a row added to every row of its result."""
    assert rule.expression is not None
    assert rule.matrix_form is not None
    return replace(
        rule,
        expression=Call("add", (rule.expression, Ref(added, rule.target.indices[-1:]))),
        matrix_form=Call("add", (rule.matrix_form, Name(added))),
    )
