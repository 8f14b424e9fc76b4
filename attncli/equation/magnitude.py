"""The equation of a magnitude: how large the numbers are that a cell is made of, which bounds what roundings do to it.

A cell may be 0 because large terms cancel; its roundings are as large as the terms. So the magnitude of a sum is the
sum of magnitudes, and that of a function tells how far its result moves where its argument moves by its own magnitude.
Arrays that are off by at most t times their magnitudes give a result that is off by a few t times its own, as long as
t is no more than `reach`: that far a function is looked at, where it is steeper than at its argument.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import log

from attncli.equation.nodes import Call, Equation, Expression, Name, Number, Reduce, Ref, whole

_ONE, _NONE = whole(1), whole(0)


def magnitude_of(name: str) -> str:
    """What the magnitude of an array is called in equations of magnitudes."""
    return f"|{name}|"


def magnitude(equation: Equation, scalars: Mapping[str, float], reach: float) -> Equation:
    """The equation by which the magnitudes of a step come from those of the arrays it reads, and from these.

    TypeError for a function that no step needs: add what is known of it.
    """
    target = replace(equation.target, name=magnitude_of(equation.target.name))
    return Equation(target, _size(equation.expression, scalars, Number(reach, "")))


def _size(node: Expression, scalars: Mapping[str, float], reach: Number) -> Expression:
    def size(part: Expression) -> Expression:
        return _size(part, scalars, reach)

    def beyond(part: Expression) -> Expression:
        """By how much the magnitude is more than the number itself: 0 for one that was given."""
        return _call("sub", size(part), _call("abs", part))

    def as_far(part: Expression) -> Expression:
        return _call("mul", reach, size(part))

    match node:
        case Number() | Name():
            return _call("abs", node)
        case Ref(name=name):
            return replace(node, name=magnitude_of(name))
        case Call(function="add" | "sub" | "add_mask", arguments=terms):
            return _call("add", *map(size, terms))
        case Call(function="neg" | "abs" | "finite", arguments=(inner,)):
            return size(inner)
        case Call(function="mul", arguments=(left, right)):
            # (l + δl)(r + δr) - lr, and the size of lr itself only once
            return _call("add", _call("mul", size(left), _call("abs", right)),
                         _call("mul", _call("abs", left), beyond(right)))  # fmt: skip
        case Call(function="div" | "share" as divided, arguments=(part, by)):
            more = _call(divided, beyond(by), _call("abs", by))
            return _call("add", _call(divided, size(part), _call("abs", by)), _call("mul", _call("abs", node), more))
        case Call(function="pow", arguments=(Ref() | Call() as base, Number(value=exponent))) if exponent == 2:
            return size(_call("mul", base, base))
        case Call(function="log", arguments=(inner,)):
            return _call("add", _call("abs", node), _call("div", size(inner), _call("abs", inner)))
        case Call(function="exp", arguments=(power,)):
            highest = _call("exp", _call("add", power, as_far(power)))
            return _call("add", node, _call("mul", size(power), highest))
        case Call(function="pow", arguments=(Number() | Name() as base, power)):
            steep = abs(log(scalars[base.name] if isinstance(base, Name) else float(base.value or 1)))
            highest = _call("pow", base, _call("add", power, as_far(power)))
            return _call("add", node, _call("mul", _call("mul", Number(steep, ""), size(power)), highest))
        case Call(function="tanh", arguments=(inner,)):
            nearest = _call("max", _NONE, _call("sub", _call("abs", inner), as_far(inner)))
            slope = _call("sub", _ONE, _call("pow", _call("tanh", nearest), whole(2)))
            return _call("add", _call("abs", node), _call("mul", slope, size(inner)))
        case Call(function="sin" | "cos", arguments=(angle,)):
            return _call("add", _ONE, size(angle))
        case Call(function="max", arguments=terms):
            return _call("max", *map(size, terms))
        case Call(function="where", arguments=(condition, yes, no)):
            return _call("where", condition, size(yes), size(no))
        case Reduce(function="add", body=Call(function="mul", arguments=(left, right))):
            # two sums of products, each of which is one matmul
            return _call("add", replace(node, body=_call("mul", size(left), _call("abs", right))),
                         replace(node, body=_call("mul", _call("abs", left), beyond(right))))  # fmt: skip
        case Reduce(function="add", body=body):
            return replace(node, body=size(body))
        case Reduce(function="max", body=body):
            # only of what is the largest: a number that hides, -1e9, is of no concern to it
            return replace(node, body=_call("where", _call("eq", body, node), size(body), _NONE))
        case Call(function="sqrt", arguments=(Number() | Name(),)):
            return node
    raise TypeError(f"no magnitude of {node!r}")


def _call(function: str, *arguments: Expression) -> Call:
    return Call(function, arguments)
