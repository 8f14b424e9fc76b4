"""The pages of `attncli steps`: the steps of a plain problem, all steps, or one step in full with
its variants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
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
    step_meant,
)
from attncli.attention.variants import variants_of
from attncli.english import listed
from attncli.equation.indices import INDICES, PLACEHOLDERS
from attncli.equation.nodes import (
    Call,
    Equation,
    Expression,
    Name,
    Reduce,
    rewrite,
    walk,
)
from attncli.equation.rule import Rule
from attncli.errors import usage_error
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
_INDICES = {letter: index.meaning for letter, index in INDICES.items()}
_LETTERS = _INDICES | PLACEHOLDERS
# What stands for the scores so far, whichever step these are.
_ON_LOGITS: Text = (
    Math(Name("Z")),
    ": the scores so far. With a softcap, a mask or a shift, the last of these steps is in the"
    " place of the scaled scores.",
)
_PROJECTED = ("X", "W_Q", "W_K", "W_V")
# Keys and values come from X where nothing else is said.
_PLAIN = {"source": "X"}
# What has another name in our equations than readers know, and how they would write it.
_LOGITS = "logits"
_AS_WRITTEN = {"share": "div", "add_mask": "add"}
_KEPT_FINITE = "finite"


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
        Listing(tuple((*_word(name), ": ", meaning) for name, meaning in _INDICES.items())),
        Paragraph(_ON_LOGITS),
    )
    return Document(TITLE, blocks, _all_data)


def rule_page(name: str) -> Document:
    """One step in full; raises AttncliError (exit 2) for a name that no step has."""
    name = rule_called(name).name
    rule = _shown(name)
    said = " ".join(part for part in (rule.meaning, rule.why, rule.more) if part)
    blocks = (
        *((Paragraph(_capitalised(said)),) if said else ()),
        *map(Formula, _formulas(rule)),
        Listing(tuple(_facts(rule))),
        *_variants(name),
    )
    return Document(f"{name}: {rule.title}", blocks, lambda: _data({name: _rule_data(rule)}))


def rule_called(name: str) -> Rule:
    """The rule of a step by its name or letter; raises AttncliError (exit 2) for a name that no
    step has.
    """
    if name not in STEP_NAMES:
        help = step_meant(name, list(RULES), "attncli steps --all lists all steps")
        raise usage_error(f"no step is called {name!r}", help=help)
    return RULES[STEP_NAMES[name]]


def _shown(name: str) -> Rule:
    """The rule of a step in its plain form; that of a gradient, as the simplest problem has it."""
    return gradient_rules()[name] if name in GRADIENT_RULES else RULES[name].bind(_PLAIN)


def _row(rule: Rule) -> tuple[Text, ...]:
    if rule.given:
        head: Text = ("given",) if rule.name in GIVEN_RULES else ()
        return (rule.name,), head, (Math(in_symbols(rule.target)),)
    rule = _for_readers(rule)
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


def _for_readers(rule: Rule) -> Rule:
    """The rule as a reader would write it in a plain problem, without names that only our own
    equations have.
    """
    if rule.given:
        return rule
    plain = rule.bind({_LOGITS: "scaled"})
    expression = rewrite(plain.equation.expression, _as_written)
    return plain.with_formula(replace(plain.equation, expression=expression), plain.matrix_form)


def _as_written(node: Expression) -> Expression:
    match node:
        case Call(function, (only,)) if function == _KEPT_FINITE:
            return only
        case Call(function, arguments) if function in _AS_WRITTEN:
            return Call(_AS_WRITTEN[function], arguments)
        case _:
            return node


def _formulas(rule: Rule) -> tuple[Equation | Expression, ...]:
    """The formulas of a rule: of the whole matrix, if it has one, and of a cell."""
    if rule.given:
        return (in_symbols(rule.target),)
    rule = _for_readers(rule)
    found = headline(rule)
    of_cell = cell_form(rule)
    return (found, of_cell) if found else (of_cell,)


def _facts(rule: Rule) -> Iterator[Text]:
    for name in _letters(rule):
        yield (*_word(name), ": ", _LETTERS[name])
    if rule.when == "always":
        yield ("Every problem has it.",)
    else:
        yield "A problem has it ", *text(rule.when), "."
    if rule.given:
        return
    written = _for_readers(rule)
    yield (f"It is worked out from {listed([*written.inputs]) or 'no other step'}.",)
    if _LOGITS in rule.inputs:
        yield _ON_LOGITS
    if rule.name in FORWARD and _can_be_written(written):
        yield (f"As an equation of your own: {written.source}",)


def _can_be_written(rule: Rule) -> bool:
    """Whether an equation of this rule says all: none of its names stands for a condition."""
    return not _stand_ins(rule)


def _letters(rule: Rule) -> tuple[str, ...]:
    """The letters of a rule, those of its cells first, and what stands for a condition."""
    nodes = () if rule.given else tuple(walk(rule.equation.expression))
    summed = [node.index for node in nodes if isinstance(node, Reduce)]
    return tuple(dict.fromkeys((*rule.target.letters, *summed, *_stand_ins(rule))))


def _stand_ins(rule: Rule) -> list[str]:
    """The names in a rule that stand for a condition."""
    if rule.given:
        return []
    names = [node.name for node in walk(rule.equation.expression) if isinstance(node, Name)]
    return [name for name in names if name in PLACEHOLDERS and name != _LOGITS]


def _variants(name: str) -> Iterator[Block]:
    others = variants_of(name)
    if others:
        yield Heading("In other problems")
    known = {*_formulas(_shown(name))}
    for when, rule in others.items():
        differing = [
            other
            for plain, other in (
                (RULES[name].meaning, rule.meaning),
                (RULES[name].more, rule.more),
            )
            if other and other != plain
        ]
        said = text(" ".join((f"{when}:", *differing)))
        yield Paragraph(said)
        # Some have another meaning alone.
        new = [each for each in _formulas(rule) if each not in known]
        yield from map(Formula, new)


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
        "more": rule.more,
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
