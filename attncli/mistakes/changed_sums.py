"""What mistakes on the way back change in what is added up, and turned: losses, sharing heads, projections, RoPE."""

from __future__ import annotations

from attncli.equation.nodes import (
    Call,
    Equation,
    Expression,
    Name,
    Number,
    Reduce,
    Ref,
    names_used,
    rewrite,
    whole,
)
from attncli.equation.positions import MEMBER
from attncli.mistakes.changes import Change, Changes, Function, exchanged
from attncli.mistakes.exchanges import relettered
from attncli.problem.axes import HEAD
from attncli.tracing.model import Trace

_N = Name("N")


def not_averaged(expression: Expression, _: Trace) -> Expression:
    """What is divided by the N of a mean."""
    match expression:
        case Call("div", (total, divisor)) if divisor == _N:
            return total
    return expression


def averaged_over(axis: str) -> Function:
    """The mean over the `rows` of the output alone, where it is one over all its numbers, or over all `numbers`."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        size, width = trace["output"].size, trace["output"].shape[-1]
        other = whole(size // width if axis == "rows" else size)
        applies = ("error" in trace) == (axis == "rows") and width > 1
        return rewrite(expression, lambda node: other if node == _N else node) if applies else None

    return function


def without_two(expression: Expression, _: Trace) -> Expression:
    """The gradient of a square without the factor 2."""

    def one(node: Expression) -> Expression:
        match node:
            case Call("mul", (Number(value=2), error)):
                return error
        return node

    return rewrite(expression, one)


def turned_round(expression: Expression, _: Trace) -> Expression:
    """The gradient of a loss with the other sign, as of Y - P for P - Y."""
    return Call("neg", (expression,))


def without_target(expression: Expression, _: Trace) -> Expression:
    """P for P - Y."""

    def kept(node: Expression) -> Expression:
        match node:
            case Call("sub", (one, Ref(name="target"))):
                return one
        return node

    return rewrite(expression, kept)


def without(*names: str) -> Function:
    """A sum of gradients without what comes from one of these."""

    def function(expression: Expression, _: Trace) -> Expression:
        return rewrite(expression, left)

    def left(node: Expression) -> Expression:
        match node:
            case Call("add", (one, other)) if reads(one):
                return other
            case Call("add", (one, other)) if reads(other):
                return one
        return node

    def reads(term: Expression) -> bool:
        return any(name in names_used(term) for name in names)

    return function


def alone(name: str, *others: str) -> Function:
    """A sum of gradients of which only one is kept; only where all of them stand in it."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        there = names_used(expression)
        if not all(any(step in there for step in _handed_back(each)) for each in (name, *others)):
            return None
        return without(*(step for each in others for step in _handed_back(each)))(expression, trace)

    return function


def _handed_back(name: str) -> tuple[str, str]:
    """The steps that hold what comes back through queries, keys or values; the second one beside a cache."""
    return f"d_{name}", f"d_new_{name}"


def without_contribution(name: str) -> Function:
    """A sum of gradients without what comes back through queries, keys or values."""
    return without(*_handed_back(name))


def of_shared(made: Function) -> Change:
    """The gradients of keys and values that several heads share, each made in another way than as their sum."""

    def change(trace: Trace) -> Changes:
        steps = ("d_K_rot" if "d_K_rot" in trace else "d_K", "d_V")
        found = [exchanged(**{step: made})(trace) for step in steps]
        return {name: how for one in found for name, how in one.items()}

    return change


def head_alone(*, last: bool = False) -> Function:
    """The gradient that the first, or the last, of the sharing heads hands back."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        if (number := _sharing(expression, trace)) is None:
            return None
        assert isinstance(expression, Reduce)
        place = whole(number - 1 if last else 0)
        return rewrite(relettered(expression.body, {expression.index: place}), _plain)

    return function


def averaged_over_heads(expression: Expression, trace: Trace) -> Expression | None:
    """The mean of what the sharing heads hand back."""
    number = _sharing(expression, trace)
    return None if number is None else Call("div", (expression, whole(number)))


def _sharing(expression: Expression, trace: Trace) -> int | None:
    """How many heads a gradient is summed over."""
    if isinstance(expression, Reduce) and expression.index in (MEMBER, HEAD):
        return trace.sizes(Equation(Ref("d_K"), expression))[expression.index]
    return None


def _plain(node: Expression) -> Expression:
    match node:
        case Call("add", (term, Number(value=0))):
            return term
    return node


def turned_on(expression: Expression, _: Trace) -> Expression:
    """A rotation back as one forward: the products it adds are subtracted; in an index as k + half there is none."""

    def forward(node: Expression) -> Expression:
        match node:
            case Call("add" | "sub" as function, (term, Call() as product)):
                return Call("sub" if function == "add" else "add", (term, product))
        return node

    return rewrite(expression, forward)
