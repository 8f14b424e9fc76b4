"""What a mistake is: an id, a name, and other equations for the steps of a trace in which it can be
made.

A mistake says its equations in one of two ways: `equations("scaled[i, j] = scores[i, j]")` writes
them out, and `rewritten(mask=function)` puts the step's own equation through a function. `all_of`,
`any_of` and `first_of` join such changes; the functions that many mistakes share stand at the end.

In a text of `equations`, a name in braces stands for what differs between traces. A mistake cannot
be made where the trace has nothing for it.

{n}, {m}      how many queries and keys there are
{new}         how many keys are not from the cache
{heads}       how many heads there are, where these are several
{d_model}     how long a row of X is
{joined}      how long the outputs of all heads are, side by side
{logits}      the step that the softmax begins with: scores, scaled, masked, …
{seen}        the step whose exponentials are taken: the logits, or these shifted
{mixed}       the step that mixes the values of a head: output, or heads_output
{input}       what queries are projected from: X, or X_pos
{source}      what keys and values are projected from: X, X_pos, or context
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncli.equation.indexing import add_axes
from attncli.equation.nodes import (
    Call,
    Equation,
    Expression,
    Name,
    Number,
    Reduce,
    Ref,
    names_used,
    number_node,
    rename,
    rewrite,
)
from attncli.equation.parser import parse_equation
from attncli.problem.parts.axes import KEY_HEAD_OF, LEADING
from attncli.tracing.model import Step, Trace, leading_axes

# A step's equation by its name, or the numbers that stand in its place; nothing where a mistake
# cannot be made.
Changes: TypeAlias = Mapping[str, Expression | NDArray[Any]]
Change: TypeAlias = Callable[[Trace], Changes]
# It takes a step's own equation.
Rewrite: TypeAlias = Callable[[Expression, Trace], Expression | None]


@dataclass(frozen=True, slots=True)
class Mistake:
    """`id` is what programs call it, as in "scale-left-out", and never changes; `name` is what was
    done, as in "the scores were not scaled". `change` gives the other equations for a trace.

    `change` gives nothing where the mistake cannot be made, or is none: no mask can be forgotten
    where there is none. A step that is `optional` may as well be right: who divides by the largest
    exponential may have written the sums, and who inverts a mask may have saved it before. A
    `convention` is what some software means to do: of a program it is a fact. `unlike` is the id of
    another one that may have the same equations: then this one is no other. One `of_own` is found
    from an equation of the problem's own, and named only where it gives all numbers of a step. One
    that `is_slip` went wrong in a single number, as one that was read wrongly.
    """

    id: str
    name: str
    change: Change
    optional: tuple[str, ...] = ()
    convention: bool = False
    unlike: str = ""
    of_own: bool = False
    is_slip: bool = False


# Between the names of two mistakes that were made together.
BESIDES = ", and besides "


def together(first: Mistake, second: Mistake) -> Mistake:
    """Two mistakes as one, made in different steps."""

    def change(trace: Trace) -> Changes:
        return {**first.change(trace), **second.change(trace)}

    return Mistake(f"{first.id}+{second.id}", f"{first.name}{BESIDES}{second.name}", change)


def each_of(name: str) -> list[str]:
    """The names of the mistakes that were made together.

    >>> each_of("the scores were not scaled, and besides A K was worked out instead of A V")
    ['the scores were not scaled', 'A K was worked out instead of A V']
    """
    return name.split(BESIDES)


def in_id(written: str) -> str:
    """A matrix, a product or a number as it stands in an id.

    >>> in_id("Q W_K^T"), in_id("-1e9"), in_id("2.718")
    ('q-w-k', 'minus-1e9', '2-718')
    """
    words = written.replace("^T", "").replace("-", "minus ").lower()
    return "-".join(re.split(r"[ _.]", words))


def with_changes(trace: Trace, changes: Changes) -> Trace:
    """The trace with other equations; its values are still the true ones."""
    steps = {
        name: _changed(step, changes[name]) if name in changes else step
        for name, step in trace.steps.items()
    }
    return replace(trace, steps=steps)


def _changed(step: Step, change: Expression | NDArray[Any]) -> Step:
    if isinstance(change, np.ndarray):
        return replace(
            step, rule=replace(step.rule, formula=step.rule.target), value=change, written=None
        )
    return replace(step, rule=replace(step.rule, formula=Equation(step.rule.target, change)))


def has_more_than(one: Changes, other: Changes) -> bool:
    """Whether a mistake makes all changes of another one, and more."""
    return other.keys() < one.keys() and all(
        _same_change(one[name], change) for name, change in other.items()
    )


def _same_change(one: Expression | NDArray[Any], other: Expression | NDArray[Any]) -> bool:
    """Whether two changes of a step are the same equation, or the same numbers."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return (
            isinstance(one, np.ndarray)
            and isinstance(other, np.ndarray)
            and np.array_equal(one, other)
        )
    return one == other


def _placeholders(trace: Trace) -> dict[str, str]:
    """What stands for a name in braces in the equation of a mistake, as far as this trace has
    it.
    """
    n, m = trace["weights"].shape[-2:]
    found = {"n": str(n), "m": str(m)}
    if trace.takes_softmax:
        found["logits"] = trace.logits
        found["seen"] = "shifted" if trace.shifted else found["logits"]
    if "X" in trace:
        found["d_model"] = str(trace["X"].shape[-1])
    if "new_K" in trace:
        found["new"] = str(trace["new_K"].shape[-2])
    if trace.settings.heads:
        found["joined"] = str(trace.settings.heads * trace["K"].shape[-1])
    # A single head is no other scale than none.
    if trace.settings.heads and trace.settings.heads > 1:
        found["heads"] = str(trace.settings.heads)
    found["mixed"] = "heads_output" if "heads_output" in trace else "output"
    found["input"] = "X_pos" if "X_pos" in trace else "X"
    found["source"] = "context" if "context" in trace else found["input"]
    return found


def equations(*texts: str) -> Change:
    """Other equations, of a single head; a name in braces is one of `_placeholders`."""

    def change(trace: Trace) -> Changes:
        known, found = _placeholders(trace), {}
        for text in texts:
            try:
                equation = parse_equation(text.format_map(known))
            except KeyError:
                return {}
            expression = _fitted(trace, equation.target, equation.expression)
            if expression is None:
                return {}
            found[equation.target.name] = expression
        return found

    return change


def fitted(trace: Trace, *equations_of_a_head: Equation) -> Changes:
    """Other equations, of a single head; none at all where one of them does not fit this trace."""
    found = {}
    for equation in equations_of_a_head:
        expression = _fitted(trace, equation.target, equation.expression)
        if expression is None:
            return {}
        found[equation.target.name] = expression
    return found


def _fitted(trace: Trace, target: Ref, expression: Expression) -> Expression | None:
    """The expression with the leading axes of this trace; None where it does not fit its shapes."""
    if target.name not in trace:
        return None
    lifted = add_axes(Equation(target, expression), leading_axes(trace), LEADING, KEY_HEAD_OF)
    rule = trace.steps[target.name].rule
    if not set(lifted.target.letters) <= set(rule.target.letters):
        return None
    if not fits(trace, target.name, lifted.expression):
        return None
    return lifted.expression


def fits(trace: Trace, name: str, expression: Expression) -> bool:
    """Whether an equation can be worked out in the shape of the step."""
    step = trace.steps[name]
    try:
        sizes = trace.sizes(Equation(step.rule.target, expression))
    except (ValueError, KeyError):
        return False
    return all(
        sizes.get(letter, size) == size
        for letter, size in zip(step.rule.target.letters, step.shape, strict=True)
    )


def rewritten(**steps: Rewrite) -> Change:
    """The steps' own equations, each put through a function; none at all where one of them cannot
    be.
    """

    def change(trace: Trace) -> Changes:
        found = {}
        for name, function in steps.items():
            if name not in trace or trace.steps[name].rule.expression is None:
                return {}
            own = trace.steps[name].rule.equation.expression
            other = function(own, trace)
            if other is None or other == own or not fits(trace, name, other):
                return {}
            found[name] = other
        return found

    return change


def any_of(*changes: Change) -> Change:
    """As many of these at once as can be made."""
    return lambda trace: {name: how for one in changes for name, how in one(trace).items()}


def all_of(*changes: Change) -> Change:
    """All of these at once; nothing where one of them cannot be made."""
    return lambda trace: any_of(*changes)(trace) if all(one(trace) for one in changes) else {}


def first_of(*changes: Change) -> Change:
    """The first of these that can be made."""
    return lambda trace: next((found for one in changes if (found := one(trace))), {})


def chained(*functions: Rewrite) -> Rewrite:
    """A function after the other; nothing where one of them has nothing."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        found: Expression | None = expression
        for one in functions:
            found = None if found is None else one(found, trace)
        return found

    return function


# Rewrites that many mistakes share: of a step's own equation, with arrays, letters, indices or
# calls exchanged.


def with_arrays(**names: str) -> Rewrite:
    """Arrays in place of others of the same shape."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        shapes = trace.shapes()
        if any(
            shapes.get(name) is None or shapes.get(name) != shapes.get(other)
            for name, other in names.items()
        ):
            return None
        return rename(expression, names)

    return function


def with_arrays_swapped(one: str, other: str) -> Rewrite:
    """Two arrays of the same shape in the place of each other; only where both are read."""
    exchange = with_arrays(**{one: other, other: one})
    return lambda own, trace: exchange(own, trace) if {one, other} <= set(names_used(own)) else None


def with_letters(expression: Expression, letters: Mapping[str, str | Expression]) -> Expression:
    """Indices read as others, all at once, also those that a sum runs over: the sum itself keeps
    its letter.
    """

    def other(index: str | Expression) -> str | Expression:
        if isinstance(index, str):
            return letters.get(index, index)
        return rewrite(index, named)

    def named(node: Expression) -> Expression:
        found = letters.get(node.name, node) if isinstance(node, Name) else node
        return Name(found) if isinstance(found, str) else found

    def names(node: Expression) -> Expression:
        match node:
            case Ref(indices=indices):
                return replace(node, indices=tuple(map(other, indices)))
            case Name():
                return named(node)
            case Call(arguments=arguments):
                return replace(node, arguments=tuple(map(names, arguments)))
            case Number():
                return node
            case Reduce(body=body):
                return replace(node, body=names(body))

    return names(expression)


def with_i_and_j_exchanged(expression: Expression, trace: Trace) -> Expression | None:
    """Rows for columns in a step of queries by keys; only where there are as many."""
    n, m = trace["weights"].shape[-2:]
    return with_letters(expression, {"i": "j", "j": "i"}) if n == m else None


def transposed(name: str) -> Rewrite:
    """A matrix read with its last two indices in the other order; only a square one."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        shape = trace.shapes().get(name)
        if shape is None or shape[-1] != shape[-2]:
            return None

        def change(node: Expression) -> Expression:
            if isinstance(node, Ref) and node.name == name:
                *leading, row, column = node.indices
                return replace(node, indices=(*leading, column, row))
            return node

        return rewrite(expression, change)

    return function


def transposed_before_heads(name: str) -> Rewrite:
    """A square matrix of all heads side by side, transposed before it was cut into these."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        shape = trace.shapes().get(name)
        if shape is None or len(shape) != 3 or shape[-2] != shape[0] * shape[-1]:
            return None
        width = number_node(shape[-1])

        def change(node: Expression) -> Expression:
            # Another mistake may read it by other places than letters already.
            if not isinstance(node, Ref) or node.name != name or len(node.letters) != 3:
                return node
            head, row, column = (Name(letter) for letter in node.letters)
            place = Call("add", (Call("mul", (head, width)), column))
            return replace(
                node,
                indices=(Call("floor_div", (row, width)), place, Call("mod", (row, width))),
            )

        return rewrite(expression, change)

    return function


def without_bias(expression: Expression, _: Trace) -> Expression:
    """The sum that a bias is added to."""
    match expression:
        case Call(function="add", arguments=(product, _)):
            return product
        case _:
            return expression


def result_transposed(name: str) -> Change:
    """A step with its last two indices in the other order: its transpose, where that has the same
    shape.
    """

    def change(trace: Trace) -> Changes:
        if name not in trace:
            return {}
        *_, row, column = trace.steps[name].rule.target.letters
        return rewritten(**{name: lambda own, _: with_letters(own, {row: column, column: row})})(
            trace
        )

    return change


def with_calls(function: str, other: Callable[[tuple[Expression, ...]], Expression]) -> Rewrite:
    """Every call of a function made another expression of its arguments."""

    def change(node: Expression) -> Expression:
        return (
            other(node.arguments) if isinstance(node, Call) and node.function == function else node
        )

    return lambda expression, _: rewrite(expression, change)
