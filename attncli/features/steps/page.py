"""The pages of `attncli steps`: all steps at a glance, or one of them in full with its variants."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from attncli import __version__
from attncli.attention.losses import LOSS_RULES
from attncli.attention.registry import (
    FORWARD,
    GIVEN_RULES,
    GRADIENT_RULES,
    RULES,
    STEP_NAMES,
    cell_form,
    headline,
    in_symbols,
)
from attncli.attention.variants import variants_of
from attncli.equation.indices import INDICES, PLACEHOLDERS
from attncli.equation.nodes import Equation, Name, Reduce, Ref, walk
from attncli.equation.rule import Rule
from attncli.errors import did_you_mean, usage_error
from attncli.page.document import Block, Document, Formula, Heading, Listing, Math, Paragraph, Table, Text, text
from attncli.problem.loader import loads
from attncli.tracing import run
from attncli.tracing.serialization import FORMAT, formula
from attncli.tracing.slices import backward_steps

_LETTERS = {letter: index.meaning for letter, index in INDICES.items()} | PLACEHOLDERS
_PLAIN = {"source": "X"}  # keys and values come from X where nothing else is said


def catalogue() -> Document:
    """One table of all steps, in order of work, and what the names in it stand for."""
    forward, gradients = [_shown(name) for name in FORWARD], [_shown(name) for name in GRADIENT_RULES]
    losses = tuple(LOSS_RULES.values())
    head, rules = ("name", "symbol", "title", "formula", "cell by cell"), (*forward, *losses, *gradients)
    blocks = (
        Paragraph(("Every step of attention, in order; each is there only where a problem needs it.",)),
        Table(head, tuple(map(_row, forward))),
        Heading("The loss"),
        Paragraph(("Where a problem has one, attncli gradient works it out before the way back.",)),
        Table(head, tuple(map(_row, losses))),
        Heading("The way back"),
        Paragraph(("The steps of attncli gradient, as they are where nothing else comes between.",)),
        Table(head, tuple(map(_row, gradients))),
        Heading("Letters"),
        Listing(tuple((*_word(name), ": ", meaning) for name, meaning in _LETTERS.items())),
        Paragraph(("attncli steps NAME shows one step in full, with its variants and when it is there.",)),
    )
    return Document("The steps of attention", blocks, lambda: _data({rule.name: _rule_data(rule) for rule in rules}))


def rule_page(name: str) -> Document:
    """One step in full; raises AttncliError (exit 2) for a name that no step has."""
    name = rule_called(name).name
    rule = _shown(name)
    said = " ".join(part for part in (rule.meaning, rule.why) if part)
    blocks = (
        *((Paragraph(text(said[0].upper() + said[1:])),) if said else ()),
        *_formulas(rule),
        Listing(tuple(_facts(rule))),
        *_variants(name),
    )
    return Document(f"{name}: {rule.title}", blocks, lambda: _data({name: _rule_data(rule)}))


def rule_called(name: str) -> Rule:
    """The rule of a step by its name or letter; raises AttncliError (exit 2) for a name that no step has."""
    if name not in STEP_NAMES:
        help = did_you_mean(name, list(RULES), "attncli steps lists them all")
        raise usage_error(f"no step is called {name!r}", help=help)
    return RULES[STEP_NAMES[name]]


def _shown(name: str) -> Rule:
    """The rule of a step where nothing else is said; that of a gradient, as the plainest problem has it."""
    return gradient_rules()[name] if name in GRADIENT_RULES else RULES[name].bind(_PLAIN)


def _row(rule: Rule) -> tuple[Text, ...]:
    symbol: Text = (Math(Name(rule.symbol)),)
    if rule.given:
        head: Text = ("given",) if rule.name in GIVEN_RULES else ()
        return (rule.name,), symbol, (rule.title,), head, (Math(in_symbols(rule.target)),)
    found = headline(rule)
    head = _sentence(found) if found else ()
    return (rule.name,), symbol, (rule.title,), head, _sentence(cell_form(rule))


def _sentence(equation: Equation) -> Text:
    return Math(equation.target), " = ", Math(equation.expression)


def _word(name: str) -> Text:
    return (Math(Name(name)),)


def _formulas(rule: Rule) -> Iterator[Block]:
    if rule.given:
        yield Formula(in_symbols(rule.target))
        return
    if found := headline(rule):
        yield Formula(found)
    yield Formula(cell_form(rule))


def _facts(rule: Rule) -> Iterator[Text]:
    yield "Symbol: ", Math(Name(rule.symbol))
    if not rule.given:
        yield (f"In Python syntax: {rule.source}",)
        yield (f"Reads: {', '.join(rule.inputs) or 'nothing but positions'}",)
    yield (f"Axes: {', '.join(rule.axis_names) or 'none, it is one number'}",)
    for name in _letters(rule):
        yield (*_word(name), ": ", _LETTERS[name])
    yield "When it is there: ", rule.when


def _letters(rule: Rule) -> tuple[str, ...]:
    """The letters and placeholders of a rule, those of its cells first."""
    nodes = () if rule.given else tuple(walk(rule.equation.expression))
    summed = [node.index for node in nodes if isinstance(node, Reduce)]
    stand_ins = [node.name for node in nodes if isinstance(node, Ref | Name) and node.name in PLACEHOLDERS]
    return tuple(dict.fromkeys((*rule.target.letters, *summed, *stand_ins)))


def _variants(name: str) -> Iterator[Block]:
    others = variants_of(name)
    if others:
        yield Heading("Variants")
    for when, rule in others.items():
        yield Paragraph((f"{when}: ", *text(rule.meaning)) if rule.meaning != RULES[name].meaning else (f"{when}:",))
        yield from _formulas(rule)


def _data(steps: dict[str, Any]) -> dict[str, Any]:
    return {"attncli": {"version": __version__, "format": FORMAT}, "steps": steps}


def _rule_data(rule: Rule) -> dict[str, Any]:
    return {
        "title": rule.title,
        "symbol": rule.symbol,
        **_equation_data(rule),
        "axes": list(rule.axis_names),
        "meaning": rule.meaning,
        "why": rule.why,
        "when": rule.when,
        "variants": [{"when": when, **_equation_data(other)} for when, other in variants_of(rule.name).items()],
    }


def _equation_data(rule: Rule) -> dict[str, Any]:
    return {
        "equation": rule.source,
        "formula": formula(rule),
        "inputs": list(rule.inputs),
    }


_PROJECTED: dict[str, Any] = {name: {"random": [2, 2], "seed": 1} for name in ("X", "W_Q", "W_K", "W_V")}
_GIVEN: dict[str, Any] = {name: {"random": [2, 2], "seed": 1} for name in "QKV"}
_ROW, _MATRIX = [1, 0], [[1, 0], [0, 1]]
# Each has something that the ones before it have not.
_PROBLEMS: tuple[dict[str, Any], ...] = (
    _PROJECTED | {"b_Q": _ROW, "b_K": _ROW, "b_V": _ROW, "mask": "causal", "softcap": 2},
    _PROJECTED | {"W_O": _MATRIX, "b_O": _ROW},
    _PROJECTED | {"heads": 2, "W_O": _MATRIX},
    _PROJECTED | {"context": {"random": [2, 2], "seed": 2}},
    _GIVEN | {"position": {"rope": {}}},
    _GIVEN | {"past": {"K": _MATRIX, "V": _MATRIX}},
    _GIVEN | {"sink": 1},
    _GIVEN | {"score": "multiplicative", "W_a": _MATRIX},
    _GIVEN | {"score": "additive", "W_1": _MATRIX, "W_2": _MATRIX, "v": _ROW},
)


@cache
def gradient_rules() -> Mapping[str, Rule]:
    """The rule of every step of the backward pass, in order, with the equation it has where nothing else is around.

    One that is in none of the problems has no equation.
    """
    found: dict[str, Rule] = {}
    for problem in _PROBLEMS:
        trace = run(loads(json.dumps(problem).encode(), "steps.json"), gradient=True)
        found = {name: trace.steps[name].rule for name in backward_steps(trace)} | found
    return {name: found.get(name, rule) for name, rule in GRADIENT_RULES.items()}
