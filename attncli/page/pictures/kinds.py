"""All pictures by their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from attncli.attention.plan import plan_for
from attncli.attention.registry import RULES, STEP_NAMES, gradient_name, step_meant
from attncli.english import listed, shorten
from attncli.equation.rule import needed_for
from attncli.equation.symbols import differential, plain_name
from attncli.errors import usage_error
from attncli.page.drawing import Drawing
from attncli.page.pictures import KINDS, OF_ONE_QUERY
from attncli.page.pictures.parts import parts_of
from attncli.page.view import View, chosen_query, chosen_steps, selected_part, steps_back
from attncli.problem.keys import SCORES
from attncli.problem.model import Problem
from attncli.tracing.model import Trace, is_built_in_softmax


class Choice(NamedTuple):
    """What of a trace is drawn: one query, head or entry, or all of them; how many decimals; and
    which numbers have the first and the last colour of a heat map.
    """

    query: str | int | None = None
    head: int | None = None
    entry: int | None = None
    precision: int = 3
    shades: Sequence[float] | None = None


def draw(of: str, trace: Trace, choice: Choice, other: Trace | None = None) -> Drawing:
    """The picture of this name, one of KINDS or that of a step.

    `other` is for the softmax: the trace `with_and_without_scale`. Raises AttncliError (exit 2) for
    a step, a query, a head or an entry that is not there.
    """
    query = None if choice.query is None else chosen_query(trace, choice.query)
    view = View(head=choice.head, entry=choice.entry)
    chosen = selected_part(trace, view)
    if of == "dimensions":
        from attncli.page.pictures.dimensions import dimensions

        return dimensions(chosen.title, chosen)
    if of not in OF_ONE_QUERY:
        from attncli.page.pictures.heatmap import heatmap

        (step,) = chosen_steps(chosen, [of], trace)
        parts = parts_of(chosen, choice.precision, step)
        return heatmap(chosen.title, parts, step, choice.shades)
    is_softmax = trace.takes_softmax and is_built_in_softmax(trace.steps)
    if not trace.is_plain or (of == "softmax" and not is_softmax):
        raise usage_error(
            f"the picture of the {of} shows attention, and this problem has equations of its own"
            " in the place of it",
            help="draw the shapes, --of dimensions, or the numbers of a step by its name",
        )
    parts = parts_of(chosen, choice.precision)
    if of == "flow":
        from attncli.page.pictures.flow import flow

        return flow(chosen.title, parts, query)
    if of == "output":
        from attncli.page.pictures.composition import composition

        return composition(chosen.title, parts, query)
    from attncli.page.pictures.softmax import softmax

    assert other is not None
    if _has_scale(trace) == _has_scale(other):
        raise usage_error(
            "the picture of the softmax shows weights with and without the scale, and equations of"
            " this problem's own leave the step scaled out",
            help="draw the weights, --of weights, or the numbers of a step by its name",
        )
    others = parts_of(selected_part(other, view), choice.precision)
    return softmax(chosen.title, parts, others, query)


def _has_scale(trace: Trace) -> bool:
    """Whether the weights are worked out from scaled scores."""
    rules = {name: step.rule for name, step in trace.steps.items()}
    return "scaled" in needed_for(["weights"], rules)


def picture_name(option: str, text: str, problem: Problem | None = None) -> str:
    """The name of a picture, one of KINDS or a step by its name or letter, be it one of the
    problem's own.

    Raises AttncliError (exit 2) for others.
    """
    # Python may hand over anything.
    text = str(text)
    if text in KINDS:
        return text
    own = _own_names(problem) if problem is not None and problem.system is not None else {}
    if text in own:
        return own[text]
    if text in STEP_NAMES:
        return STEP_NAMES[text]
    help = step_meant(text, [*KINDS, *RULES], f"use {listed(KINDS, last='or')}, or a step")
    raise usage_error(f"{option} cannot be {shorten(repr(text))}", help=help)


def _own_names(problem: Problem) -> dict[str, str]:
    """The steps of a problem's own equations, and their gradients, by name and by letter."""
    plan = plan_for(problem)
    rules = (*plan.rules, *plan.softmax_rules(shift=False), *plan.softmax_rules(shift=True))
    found: dict[str, str] = {}
    for rule in rules:
        if rule.own:
            back = gradient_name(rule.name)
            found |= {rule.symbol: rule.name, plain_name(rule.symbol): rule.name}
            found[plain_name(differential(rule.symbol))] = back
    for name in {*found.values()}:
        found[name] = name
    return found


def is_of_gradient(of: str) -> bool:
    """Whether a picture is of a step of the loss or of the backward pass."""
    return bool(steps_back([of])) or (of.startswith("d_") and of not in STEP_NAMES)


def with_and_without_scale(problem: Problem) -> Problem:
    """The same problem without the scale, or with the default one if it has none.

    Raises AttncliError (exit 2) for scores that are no dot products.
    """
    divided = SCORES[problem.score].divided
    if problem.scale == "none" or (problem.scale == "default" and not divided):
        if not SCORES[problem.score].is_dot:
            raise usage_error(
                "the picture of the softmax needs dot products, which have a scale, and the score"
                f" is {problem.score}",
                help="use another picture, or a problem with score: scaled_dot or dot",
            )
        return replace(problem, score="scaled_dot", scale="default")
    return replace(problem, scale="none")
