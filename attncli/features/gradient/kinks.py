"""Kinks and jumps in equations of a problem's own: where a function is at one, no difference
quotient says whether a gradient is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from attncli.backend import CPU
from attncli.dtypes import DTYPES
from attncli.equation.chain_rule import reads
from attncli.equation.indexing import free_names
from attncli.equation.nodes import Call, Equation, Expression, Reduce, Ref, walk
from attncli.equation.rule import Rule
from attncli.problem.matrix import Scalar
from attncli.tracing.model import Trace
from attncli.tracing.slices import forward_steps, loss_steps
from attncli.tracing.workers import FloatWorker

# A number this near to a kink is at it: the narrowest h of a difference is wider.
AT_A_KINK = 1e-9
_COMPARISONS = ("le", "lt", "ge", "gt", "eq")
# What each function does there, and what it is called in equations.
KINK, JUMP, SWITCH = "has a kink", "jumps", "changes its branch"
_DOES = {
    "relu": ("relu", KINK),
    "abs": ("abs", KINK),
    "max": ("max", KINK),
    "min": ("min", KINK),
    "floor_div": ("//", JUMP),
    "mod": ("%", JUMP),
    **dict.fromkeys(_COMPARISONS, ("where", SWITCH)),
}


@dataclass(frozen=True)
class Kink:
    """A function in a step that may bend or jump: it does where `distance` is 0, or, of a quotient
    (`is_of_whole`), a whole number.

    Of a maximum over a letter, `over`, it is one where the distance is 0 in two places of it.
    """

    step: str
    function: str
    distance: Expression
    is_of_whole: bool = False
    over: str = ""

    @property
    def said(self) -> str:
        """What it does, in words: relu in scaled has a kink."""
        name, does = _DOES[self.function]
        return f"{name} in {self.step} {does}"


def kinks_in(rules: Sequence[Rule], moved: Sequence[str]) -> Iterator[Kink]:
    """Every function in these rules of a problem's own that may bend or jump as the moved arrays
    change.
    """
    for rule in rules:
        if not rule.own or rule.given:
            continue
        for node in walk(rule.equation.expression):
            if any(reads(node, name) for name in moved):
                yield from _of_node(rule.name, node)


def _of_node(step: str, node: Expression) -> Iterator[Kink]:
    match node:
        case Call("relu" | "abs" as function, (argument,)):
            yield Kink(step, function, argument)
        case Call("max" | "min" as function, (first, *others)):
            for other in others:
                yield Kink(step, function, Call("sub", (first, other)))
        case Call("floor_div" | "mod" as function, (number, by)):
            yield Kink(step, function, Call("div", (number, by)), is_of_whole=True)
        case Call(function, (left, right)) if function in _COMPARISONS:
            yield Kink(step, function, Call("sub", (left, right)))
        case Reduce("max", index, body):
            yield Kink(step, "max", Call("sub", (body, node)), over=index)
        case _:
            pass


def at_work(trace: Trace, name: str, moves: Sequence[NDArray[np.float64]]) -> tuple[Kink, ...]:
    """The kinks that a trace is at, and leaves with each of these arrays in the place of a step or
    a parameter of this name.
    """
    rules = tuple(following(trace, name))
    moved = (name, *(rule.name for rule in rules))
    kinks = tuple(kinks_in(rules, moved))
    if not kinks:
        return ()
    given = trace.parameters.get(name)
    here = np.asarray(given.value if isinstance(given, Scalar) else trace[name], dtype=np.float64)
    places, *beside = [_distances(trace, name, array, rules, kinks) for array in (here, *moves)]
    found = []
    for at, kink in enumerate(kinks):
        is_there = _is_there(kink, places[at])
        if any((is_there & (each[at] != places[at])).any() for each in beside):
            found.append(kink)
    return tuple(found)


def following(trace: Trace, name: str) -> Iterator[Rule]:
    """The rules that depend on a step, or on a number, up to the output or to the loss.

    Each knows how long its letters are in this trace, where one letter may have two lengths: e of
    a problem's own equations, and e of the heads side by side.
    """
    moved = [name]
    for each in (*forward_steps(trace), *loss_steps(trace)):
        rule = trace.steps[each].rule
        if rule.given or each == name:
            continue
        if any(reads(rule.equation.expression, read) for read in moved):
            moved.append(each)
            of_result = dict(zip(rule.target.letters, trace[each].shape, strict=True))
            lengths = {**trace.sizes(rule.equation), **of_result}
            yield replace(rule, lengths=tuple(lengths.items()))


def _distances(
    trace: Trace,
    name: str,
    array: NDArray[np.float64],
    rules: Sequence[Rule],
    kinks: Sequence[Kink],
) -> list[NDArray[np.float64]]:
    """How far each function is from its kink, in every cell, with this array of the name."""
    names = (*forward_steps(trace), *loss_steps(trace))
    arrays = {each: trace[each] for each in names} | {name: array}
    worker = FloatWorker(CPU, DTYPES["float64"], trace.parameters, {}, arrays)
    with np.errstate(all="ignore"):
        for rule in rules:
            worker.work(rule)
        found = []
        for kink in kinks:
            sizes = trace.sizes(trace.steps[kink.step].rule.equation)
            # The letter of a maximum comes last.
            free = sorted(free_names(kink.distance) & {*sizes} - {kink.over})
            letters = (*free, *filter(None, [kink.over]))
            rule = Rule(
                "distance",
                "",
                "",
                Equation(Ref("distance", letters), kink.distance),
                lengths=tuple(sizes.items()),
            )
            value = worker.work(rule).value
            found.append(np.asarray(value, dtype=np.float64))
    return found


def _is_there(kink: Kink, distance: NDArray[np.float64]) -> NDArray[np.bool_]:
    with np.errstate(all="ignore"):
        apart = distance - np.round(distance) if kink.is_of_whole else distance
        found: NDArray[np.bool_] = np.abs(apart) <= AT_A_KINK
    if kink.over:
        found &= found.sum(axis=-1, keepdims=True) > 1
    return found
