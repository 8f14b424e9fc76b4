"""The pages of `attncli steps`: the steps of a plain problem, all steps, or one step in full with
its variants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from attncli.attention.losses import LOSS_RULES
from attncli.attention.plan import plan_for
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
from attncli.page.document import (
    Block,
    Document,
    Formula,
    Heading,
    Listing,
    Math,
    Paragraph,
    Table,
    Text,
    text,
)
from attncli.problem.keys import ARRAYS, KEYS, SCORES, GivenArray
from attncli.problem.loader import loads
from attncli.problem.model import Problem
from attncli.problem.parts.positions import POSITIONS
from attncli.tracing import run
from attncli.tracing.serialization import TRACE_FORMAT, formula
from attncli.tracing.slices import backward_steps
from attncli.version import __version__

TITLE = "The steps of attention"
_LETTERS = {letter: index.meaning for letter, index in INDICES.items()} | PLACEHOLDERS
_PROJECTED = ("X", "W_Q", "W_K", "W_V")
# Keys and values come from X where nothing else is said.
_PLAIN = {"source": "X"}


def plain_page() -> Document:
    """The steps of a problem that gives X and three matrices of weights; its data has all steps."""
    blocks = (
        Paragraph(
            text(
                "A plain problem gives the input `X` and the weights `W_Q`, `W_K` and `W_V`. These"
                " are its steps, in the order of work."
            )
        ),
        Table(("step", "formula", "meaning"), tuple(map(_explained_row, _plain_rules()))),
        Paragraph(
            (
                (
                    "attncli steps --all lists all steps: also those of masks, positions, caches,"
                    " several heads, losses and gradients. attncli steps NAME explains one step in"
                    " full; try attncli steps scores."
                ),
            )
        ),
    )
    return Document(TITLE, blocks, _all_data)


def full_page() -> Document:
    """All steps, in order of work, and what the letters in their equations stand for."""
    given = [rule for rule in FORWARD.values() if rule.given]
    computed = [_shown(name) for name, rule in FORWARD.items() if not rule.given]
    gradients = [_shown(name) for name in GRADIENT_RULES]
    head = ("step", "formula", "cell by cell")
    blocks = (
        Paragraph(
            (
                (
                    "A problem has only the steps that it needs. attncli steps NAME explains one"
                    " step in full."
                ),
            )
        ),
        Heading("What a problem gives"),
        Table(("name", "symbol", "meaning"), tuple(map(_given_row, given))),
        Heading("The forward pass"),
        Table(head, tuple(map(_row, computed))),
        Heading("The loss"),
        Paragraph(("attncli gradient computes it, if the problem has a loss.",)),
        Table(head, tuple(map(_row, LOSS_RULES.values()))),
        Heading("The backward pass"),
        Paragraph(
            (
                (
                    "attncli gradient computes these steps. Their equations depend on the steps"
                    " around them; here they are for the simplest problem that has the step."
                ),
            )
        ),
        Table(head, tuple(map(_row, gradients))),
        Heading("Letters"),
        Listing(tuple((*_word(name), ": ", meaning) for name, meaning in _LETTERS.items())),
    )
    return Document(TITLE, blocks, _all_data)


def rule_page(name: str) -> Document:
    """One step in full; raises AttncliError (exit 2) for a name that no step has."""
    name = rule_called(name).name
    rule = _shown(name)
    said = " ".join(part for part in (rule.meaning, rule.why) if part)
    blocks = (
        *((Paragraph(_capitalised(said)),) if said else ()),
        *_formulas(rule),
        Listing(tuple(_facts(rule))),
        *_variants(name),
    )
    return Document(f"{name}: {rule.title}", blocks, lambda: _data({name: _rule_data(rule)}))


def rule_called(name: str) -> Rule:
    """The rule of a step by its name or letter; raises AttncliError (exit 2) for a name that no
    step has.
    """
    if name not in STEP_NAMES:
        help = did_you_mean(name, list(RULES), "attncli steps --all lists all steps")
        raise usage_error(f"no step is called {name!r}", help=help)
    return RULES[STEP_NAMES[name]]


def _shown(name: str) -> Rule:
    """The rule of a step in its plain form; that of a gradient, as the simplest problem has it."""
    return gradient_rules()[name] if name in GRADIENT_RULES else RULES[name].bind(_PLAIN)


def _row(rule: Rule) -> tuple[Text, ...]:
    if rule.given:
        head: Text = ("given",) if rule.name in GIVEN_RULES else ()
        return (rule.name,), head, (Math(in_symbols(rule.target)),)
    found = headline(rule)
    return (rule.name,), _sentence(found) if found else (), _sentence(cell_form(rule))


def _given_row(rule: Rule) -> tuple[Text, ...]:
    return (rule.name,), _word(rule.symbol), _capitalised(rule.meaning)


def _explained_row(rule: Rule) -> tuple[Text, ...]:
    head: Text = ("given",) if rule.given else _sentence(headline(rule) or cell_form(rule))
    return (rule.name,), head, _capitalised(rule.meaning)


def _capitalised(sentence: str) -> Text:
    return text(sentence[:1].upper() + sentence[1:])


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
    yield "Present: ", rule.when


def _letters(rule: Rule) -> tuple[str, ...]:
    """The letters and placeholders of a rule, those of its cells first."""
    nodes = () if rule.given else tuple(walk(rule.equation.expression))
    summed = [node.index for node in nodes if isinstance(node, Reduce)]
    stand_ins = [
        node.name for node in nodes if isinstance(node, Ref | Name) and node.name in PLACEHOLDERS
    ]
    return tuple(dict.fromkeys((*rule.target.letters, *summed, *stand_ins)))


def _variants(name: str) -> Iterator[Block]:
    others = variants_of(name)
    if others:
        yield Heading("Variants")
    for when, rule in others.items():
        yield Paragraph(
            (f"{when}: ", *text(rule.meaning))
            if rule.meaning != RULES[name].meaning
            else (f"{when}:",)
        )
        yield from _formulas(rule)


def _all_data() -> dict[str, Any]:
    return _data({name: _rule_data(_shown(name)) for name in RULES})


def _data(steps: dict[str, Any]) -> dict[str, Any]:
    return {"attncli": {"version": __version__, "format": TRACE_FORMAT}, "steps": steps}


def _rule_data(rule: Rule) -> dict[str, Any]:
    return {
        "title": rule.title,
        "symbol": rule.symbol,
        **_equation_data(rule),
        "axes": list(rule.axis_names),
        "meaning": rule.meaning,
        "why": rule.why,
        "when": rule.when,
        "variants": [
            {"when": when, **_equation_data(other)}
            for when, other in variants_of(rule.name).items()
        ],
    }


def _equation_data(rule: Rule) -> dict[str, Any]:
    return {
        "equation": rule.source,
        "formula": formula(rule),
        "inputs": list(rule.inputs),
    }


def _plain_rules() -> tuple[Rule, ...]:
    """The rules of a problem with nothing but an input and its projections."""
    plan = plan_for(_problem({name: _numbers(ARRAYS[name]) for name in _PROJECTED}))
    return (*plan.rules, *plan.softmax_rules(shift=False))


def _problem(keys: Mapping[str, str]) -> Problem:
    """The problem with these keys, each with its value in YAML."""
    return loads("".join(f"{key}: {value}\n" for key, value in keys.items()).encode(), "steps.yaml")


def _examples() -> Iterator[dict[str, str]]:
    """Problems that together have every step, as keys with their values in YAML; one for each
    position and score.

    The first has all steps that may come between scores and weights, so a gradient goes through
    each of them.
    """
    projected = _numbers_of(_PROJECTED)
    given = _numbers_of("QKV")
    settings = {name: "2" for name, key in KEYS.items() if key.kind == "positive"}
    yield projected | {"mask": "causal"} | settings
    yield projected | _numbers_of(("b_Q", "b_K", "b_V", "W_O", "b_O"))
    yield projected | {"heads": "2", "W_O": _numbers(ARRAYS["W_O"])}
    yield projected | {"context": _numbers(ARRAYS["context"])}
    yield given | {"past": f"{{K: {_numbers(ARRAYS['past_K'])}, V: {_numbers(ARRAYS['past_V'])}}}"}
    yield given | {"sink": "1"}
    for position in POSITIONS.values():
        yield (projected if position.inputs else given) | {"position": position.example}
    for name, score in SCORES.items():
        yield given | {"score": name} | {array.name: _numbers(array) for array in score.arrays}


def _numbers_of(names: Iterable[str]) -> dict[str, str]:
    return {name: _numbers(ARRAYS[name]) for name in names}


def _numbers(array: GivenArray) -> str:
    return f"{{random: {[2] * len(array.letters)}, seed: 1}}"


@cache
def gradient_rules() -> Mapping[str, Rule]:
    """The rule of every step of the backward pass, in order, with the equation that the first
    example gives it.

    A step that is in none of the examples has no equation.
    """
    found: dict[str, Rule] = {}
    for example in _examples():
        trace = run(_problem(example), gradient=True)
        found = {name: trace.steps[name].rule for name in backward_steps(trace)} | found
    return {name: found.get(name, rule) for name, rule in GRADIENT_RULES.items()}
