"""How a step is said another way: another equation or another headline in place of its own."""

from __future__ import annotations

from dataclasses import replace

from attncli.attention.registry import COMPUTED_RULES
from attncli.attention.rule import Rule
from attncli.attention.written import Written, read
from attncli.equation.nodes import Call, Name, Ref


def restated(name: str, equation: str, matrix_form: str, *, meaning: str, why: str = "") -> Written:
    """What is written of a step, with another equation, which means something else."""
    plain = COMPUTED_RULES.written[name]
    return replace(plain, equation=equation, matrix_form=matrix_form, meaning=meaning, why=why or plain.why)


def said(name: str, equation: str, matrix_form: str, *, meaning: str, why: str = "") -> Rule:
    """A step's rule with another equation, which means something else."""
    return read(restated(name, equation, matrix_form, meaning=meaning, why=why))


def with_bias(rule: Rule, added: str) -> Rule:
    """The rule with a row added to every row of its result."""
    assert rule.expression is not None
    assert rule.matrix_form is not None
    return replace(
        rule,
        expression=Call("add", (rule.expression, Ref(added, rule.target.indices[-1:]))),
        matrix_form=Call("add", (rule.matrix_form, Name(added))),
    )
