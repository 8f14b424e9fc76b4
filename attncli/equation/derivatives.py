"""One derivative rule beside each function: what its arguments receive of the gradient that its result has.

The rules are written in the language itself. `d` is the gradient of the result; `x`, `y` and `z` are the arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache

from attncli.equation.nodes import Call, Expression, Name, Number, rewrite
from attncli.equation.parser import parse_expression

_ARGUMENTS = ("x", "y", "z")

# What each argument receives; an empty rule says that the result does not follow that argument smoothly.
DERIVATIVES: Mapping[str, tuple[str, ...]] = {
    "sub": ("d", "-d"),
    "neg": ("-d",),
    "mul": ("d * y", "d * x"),
    "div": ("d / y", "-d * x / y ** 2"),
    "pow": ("d * y * x ** (y - 1)", "d * log(x) * x ** y"),
    "share": ("share(d, y)", "-share(d * share(x, y), y)"),
    "add_mask": ("where(y == -inf, 0, d)", "where(y == -inf, 0, d)"),
    "sqrt": ("d / (2 * sqrt(x))",),
    "exp": ("d * exp(x)",),
    "log": ("d / x",),
    "tanh": ("d * (1 - tanh(x) ** 2)",),
    "sin": ("d * cos(x)",),
    "cos": ("-d * sin(x)",),
    "abs": ("where(x < 0, -d, d)",),
    "finite": ("d",),
    "where": ("", "where(x, d, 0)", "where(x, 0, d)"),
}
ALIKE = frozenset({"add"})  # of any number of arguments, each of which receives all of `d`
# What jumps or stands still where its arguments move a little, so that nothing is received through it. A maximum is
# among them since it is only what a softmax is shifted by, and the softmax does not depend on its shift.
CONSTANT = frozenset({"floor_div", "mod", "max", "le", "lt", "ge", "gt", "eq", "and_"})


def received(call: Call, argument: int, gradient: Expression) -> Expression | None:
    """What an argument of a call receives of the gradient of its result; None where that is nothing.

    Raises TypeError for a function that has no rule.
    """
    if call.function in ALIKE:
        return gradient
    if call.function in CONSTANT:
        return None
    if call.function not in DERIVATIVES:
        raise TypeError(f"no derivative of {call.function}")
    rule = DERIVATIVES[call.function][argument]
    if not rule:
        return None
    parts = dict(zip(_ARGUMENTS, call.arguments, strict=False)) | {"d": gradient}

    def put(node: Expression) -> Expression:
        return parts.get(node.name, node) if isinstance(node, Name) else node

    return rewrite(rewrite(_rule(rule), put), _plainer)


def _plainer(node: Expression) -> Expression:
    """x for x ** (2 - 1), as powers of whole numbers have it."""
    match node:
        case Call("sub", (Number(value=Fraction() as one), Number(value=Fraction() as other))):
            return Number(one - other, str(one - other))
        case Call("pow", (base, Number(value=exponent))) if exponent == 1:
            return base
    return node


@cache
def _rule(source: str) -> Expression:
    return parse_expression(source)


def is_zero(expression: Expression) -> bool:
    """Whether it is the number 0 as it is written."""
    return isinstance(expression, Number) and expression.value == 0
