"""What the weights of a model are where a mistake was made in them, and not in what reads them.

A mistake says that queries read the weights at other places: Q[i, k] = sum(d, X[i, d] * W_Q[k, d]).
In a model whose weights were converted wrongly, the equation is right, and W_Q[d, k] has the number
of W_Q[k, d].
"""

from __future__ import annotations

import numpy as np

from attncli.backend import CPU
from attncli.dtypes import DTYPES
from attncli.equation.indexing import free_names
from attncli.equation.nodes import Call, Equation, Expression, Reduce, Ref, names_used, number_node
from attncli.mistakes.model import Changes, with_letters
from attncli.tracing.difference import Doubles
from attncli.tracing.model import Trace
from attncli.tracing.workers import FloatWorker


def in_weights(trace: Trace, changes: Changes) -> dict[str, Doubles]:
    """The numbers of given arrays with which the right equations give the same as those of a
    mistake; nothing where there are none.
    """
    found: dict[str, Expression] = {}
    for name, change in changes.items():
        if isinstance(change, np.ndarray) or trace.steps[name].rule.given:
            return {}
        own = trace.steps[name].rule.equation.expression
        pairs = _replaced(own, change)
        if pairs is None:
            return {}
        for cell, other in pairs:
            expression = _of_cell(trace, cell, other)
            if expression is None or found.get(cell.name, expression) != expression:
                return {}
            found[cell.name] = expression
    numbers = {}
    for name, expression in found.items():
        numbers[name] = _worked(trace, name, expression)
    return numbers


def _replaced(own: Expression, other: Expression) -> list[tuple[Ref, Expression]] | None:
    """The cells of an equation that are something else in another one, each with what it is there;
    None where they differ in more than cells.
    """
    if own == other:
        return []
    match own, other:
        case Call("add", (first, Ref() as last)), _ if not _is_sum_of_two(other):
            # A term that is left out is 0.
            inside = _replaced(first, other)
            return None if inside is None else [*inside, (last, number_node(0))]
        case Call(), Call() if _alike(own, other):
            found = []
            for one, another in zip(own.arguments, other.arguments, strict=True):
                inside = _replaced(one, another)
                if inside is None:
                    return None
                found += inside
            return found
        case Reduce(), Reduce() if (own.function, own.index) == (other.function, other.index):
            return _replaced(own.body, other.body)
        case Ref(), _:
            return [(own, other)]
        case _:
            return None


def _is_sum_of_two(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function == "add"


def _alike(one: Call, other: Call) -> bool:
    return one.function == other.function and len(one.arguments) == len(other.arguments)


def _of_cell(trace: Trace, cell: Ref, other: Expression) -> Expression | None:
    """What stands for a cell of a given array, with the letters of that array; None where other
    than given arrays stand for it.
    """
    step = trace.steps.get(cell.name)
    if step is None or not step.rule.given or len(cell.letters) < len(cell.indices):
        return None
    if not all(name in trace and trace.steps[name].rule.given for name in names_used(other)):
        return None
    if not free_names(other) <= {*cell.letters, *trace.parameters}:
        return None
    return with_letters(other, dict(zip(cell.letters, step.rule.target.letters, strict=True)))


def _worked(trace: Trace, name: str, expression: Expression) -> Doubles:
    step = trace.steps[name]
    target = step.rule.target
    rule = step.rule.with_formula(Equation(target, expression), None)
    sizes = dict(zip(target.letters, step.shape, strict=True))
    arrays = {}
    for of in rule.inputs:
        arrays[of] = trace[of].astype(np.float64)
    worker = FloatWorker(CPU, DTYPES["float64"], trace.parameters, sizes, arrays)
    return np.broadcast_to(worker.work(rule).value, step.shape)
