"""The plan of a problem with equations of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from attncli.attention.first_steps import FirstSteps, softmax_rules_of, with_leading_axes
from attncli.attention.losses import LOSS_RULES
from attncli.attention.own_words import beside_own_softmax
from attncli.attention.registry import gradient_name
from attncli.attention.softmax import INSIDE_OF_SOFTMAX
from attncli.attention.system import Lengths, SystemSteps, expanded
from attncli.equation.indexing import GROUP_MEMBER, LeadingAxes, names_in, replace_letters
from attncli.equation.nodes import (
    Equation,
    Expression,
    Name,
    Reduce,
    Ref,
    names_used,
    rewrite,
)
from attncli.equation.rule import Rule
from attncli.equation.symbols import differential
from attncli.errors import input_error
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.model import Problem
from attncli.problem.parts.axes import BATCH, HEAD, KEY_HEAD, LEADING, Axes, past_length
from attncli.problem.parts.equations import System
from attncli.problem.shape_checks import what_is_missing

# What is wrong with a letter of heads or entries where there are none, and what to do.
_NOT_THERE = {
    BATCH: "b is an entry of a batch, and this problem has one entry",
    HEAD: "h is a head, and this problem has no heads",
    KEY_HEAD: "g is a head of keys and values, and this problem has no heads",
}
# Gradients of keys and values are sums over these heads.
_OF_A_GROUP = f"{GROUP_MEMBER} is a query head of a group here, which shares keys and values"
_ANOTHER_LETTER = "use another letter for an axis of your own, such as t or u"


class OwnSteps(NamedTuple):
    """The rules up to the logits, or all of them where there is no built-in softmax, and what a
    plan needs besides; `plain` and `shifted` are the rules behind the logits.
    """

    rules: tuple[Rule, ...]
    plain: tuple[Rule, ...]
    shifted: tuple[Rule, ...]
    parameters: Mapping[str, Scalar | Matrix]
    given: Mapping[str, Matrix]
    sizes: Mapping[str, int]
    leading_axes: LeadingAxes
    axes: Axes


def own_steps(problem: Problem, first: FirstSteps) -> OwnSteps:
    """The steps in which the equations of the problem stand in the places of the built-in ones, and
    beside them.

    Raises AttncliError (exit 3) for names that nobody knows, circles, and lengths that disagree.
    """
    assert problem.system is not None
    system = expanded(problem.system)
    _check_heads(system, first)
    if first.axes.has_heads and first.axes.group == 1:
        # Each head has keys of its own, so that the head of keys is the head.
        system = _with_heads(system)
    found = _steps_of(problem, system, first)
    if not _has_heads_of_keys_alone(found):
        return found
    # No head shares keys with another one, so that these heads are like any others.
    return _steps_of(problem, _with_heads(system), _with_heads_of_keys(system, first))


def _has_heads_of_keys_alone(steps: OwnSteps) -> bool:
    """Whether something has heads of keys and values, and nothing heads of queries."""
    used: set[str] = set()
    for rule in (*steps.rules, *steps.plain, *steps.shifted):
        used.update(rule.target.letters)
        if not rule.given:
            used |= names_in(rule.equation.expression)
    return KEY_HEAD in used and HEAD not in used


def _with_heads_of_keys(system: System, first: FirstSteps) -> FirstSteps:
    """The first steps of a problem whose heads are those of keys and values."""
    of_keys = first.sizes[KEY_HEAD]
    leading = {name: _as_heads(letters) for name, letters in first.leading.items()}
    is_named = any("group" in names_in(own.equation.expression) for own in system.equations)
    kept = {name: it for name, it in first.parameters.items() if name != "group" or is_named}
    return first._replace(
        parameters=kept,
        sizes={**first.sizes, HEAD: of_keys},
        leading=leading,
        axes=replace(first.axes, heads=of_keys),
    )


def _with_heads(system: System) -> System:
    """The system with the letter of heads for that of heads of keys and values."""
    equations = []
    for own in system.equations:
        target, expression = own.equation.target, own.equation.expression
        if HEAD in names_in(expression) or HEAD in target.letters:
            # Both letters are there, and a sum over one of them is none over the other.
            expression = replace_letters(expression, {KEY_HEAD: HEAD})
        else:
            expression = rewrite(expression, _letter_of_heads)
        target = replace(target, indices=tuple(dict.fromkeys(_as_heads(target.letters))))
        equations.append(replace(own, equation=Equation(target, expression)))
    arrays = []
    for array in system.arrays:
        arrays.append(replace(array, letters=_as_heads(array.letters)))
    return replace(system, equations=tuple(equations), arrays=tuple(arrays))


_Index = TypeVar("_Index", str, str | Expression)


def _as_heads(indices: Iterable[_Index]) -> tuple[_Index, ...]:
    return tuple(HEAD if index == KEY_HEAD else index for index in indices)


def _letter_of_heads(node: Expression) -> Expression:
    match node:
        case Name(name=name) if name == KEY_HEAD:
            return Name(HEAD)
        case Ref(name=name, indices=indices):
            return Ref(name, _as_heads(indices))
        case Reduce(function=function, index=index, body=body) if index == KEY_HEAD:
            return Reduce(function, HEAD, body)
    return node


def _steps_of(problem: Problem, system: System, first: FirstSteps) -> OwnSteps:
    """The steps of a system, each softmax of which is written out."""
    leading = _leading_axes(system, first)
    plain, shifted = _built_in_of(problem, first, system)
    steps = SystemSteps(system, {**plain, **shifted}, leading, {*first.parameters})
    steps.check()
    in_order = _in_order(steps, plain)
    in_order_shifted = _in_order(steps, shifted)
    _check_made(problem, (*in_order, *in_order_shifted))
    every_rule = [*in_order, *in_order_shifted]
    if problem.loss is not None:
        every_rule += LOSS_RULES.values()
    _check_symbols(system, every_rule)
    logits = first.rules[-1].name
    before, behind = _apart(in_order, logits)
    _, behind_shifted = _apart(in_order_shifted, logits)
    rules, all_leading = with_leading_axes(before, leading)
    rules_plain, leading_behind = with_leading_axes(behind, all_leading)
    # Most steps behind the softmax are the same with a shift.
    done = {rule.name: (rule, extended) for rule, extended in zip(behind, rules_plain, strict=True)}
    rules_shifted = _with_axes_again(behind_shifted, done, all_leading, leading_behind)
    given = {**first.given, **{array.name: array.matrix for array in system.arrays}}
    lengths = _lengths(problem, first, system, given)
    sized: dict[int, Rule] = {}
    return OwnSteps(
        _sized_once(rules, lengths, sized),
        _sized_once(rules_plain, lengths, sized),
        _sized_once(rules_shifted, lengths, sized),
        lengths.parameters,
        given,
        # A gradient may be of letters that its equation reads no array with.
        {**lengths.known, **lengths.lengths, **lengths.needed},
        all_leading,
        first.axes,
    )


def _built_in_of(
    problem: Problem, first: FirstSteps, system: System
) -> tuple[Mapping[str, Rule], Mapping[str, Rule]]:
    """The built-in rules by name, with a plain softmax and with one that is shifted."""
    plain = _built_in(problem, first, shift=False)
    if _has_own_softmax(system):
        # What reads an exponential would see another number where the softmax is shifted.
        return plain, plain
    shifted = _built_in(problem, first, shift=True)
    if system.result not in plain and system.result in shifted:
        # The shift itself is asked for.
        return shifted, shifted
    return plain, shifted


def _sized_once(
    rules: Sequence[Rule], lengths: Lengths, sized: dict[int, Rule]
) -> tuple[Rule, ...]:
    """The rules, which know how long their letters are; one that stands behind the logits with a
    shift and without stays one rule.
    """
    for rule in rules:
        if id(rule) not in sized:
            sized[id(rule)] = lengths.sized(rule)
    return tuple(sized[id(rule)] for rule in rules)


def _with_axes_again(
    rules: Sequence[Rule],
    done: Mapping[str, tuple[Rule, Rule]],
    leading: LeadingAxes,
    leading_of_done: LeadingAxes,
) -> tuple[Rule, ...]:
    """The rules with their leading axes; those of `done`, without and with, are as they were where
    they read arrays of the same axes.
    """
    found = []
    for rule in rules:
        same, extended = done.get(rule.name, (None, None))
        reads_the_same = all(leading.get(name) == leading_of_done.get(name) for name in rule.inputs)
        if extended is None or same != rule or not reads_the_same:
            (extended,), leading = with_leading_axes([rule], leading)
        elif rule.name in leading_of_done:
            leading = {**leading, rule.name: leading_of_done[rule.name]}
        found.append(extended)
    return tuple(found)


def _leading_axes(system: System, first: FirstSteps) -> LeadingAxes:
    """The letters of heads and entries of all that is given."""
    found = dict(first.leading)
    for array in system.arrays:
        own = tuple(letter for letter in array.letters if letter in LEADING)
        if own:
            found[array.name] = own
    return found


def _has_own_softmax(system: System) -> bool:
    """Whether an equation stands in the place of a part of the softmax, or reads one."""
    for own in system.equations:
        names = {own.name, *names_used(own.equation.expression)}
        if not names.isdisjoint(INSIDE_OF_SOFTMAX):
            return True
    return False


def _built_in(problem: Problem, first: FirstSteps, *, shift: bool) -> dict[str, Rule]:
    """The built-in rules by name, with a softmax that is shifted, or is not."""
    logits = first.rules[-1].name
    behind = softmax_rules_of(problem, first.axes, logits, shift=shift)
    return {rule.name: rule for rule in (*first.rules, *behind)}


def _in_order(steps: SystemSteps, ours: Mapping[str, Rule]) -> list[Rule]:
    """The rules that the result needs, and what the problem defines besides, in order of work."""
    symbols = (*_symbols_of_ours(steps, ours), *_symbols(steps.system))
    ordered = steps.ordered(steps.rules(ours), (steps.system.result, *steps.own))
    joined = {name for rule in ordered if rule.joins for name in rule.inputs}
    found = []
    for rule in ordered:
        whole = _of_every_head(rule) if rule.name in joined else rule
        found.append(replace(whole, symbols=symbols) if symbols else whole)
    return beside_own_softmax(found)


def _symbols_of_ours(steps: SystemSteps, ours: Mapping[str, Rule]) -> Iterator[tuple[str, str]]:
    """What formulas call built-in steps, such as the rotated keys, transposed, if these are not
    replaced.
    """
    called = {pair for rule in ours.values() for pair in rule.symbols}
    for name, symbol in sorted(called):
        if name not in steps.own:
            yield name, symbol


def _of_every_head(rule: Rule) -> Rule:
    """The rule of a step whose heads are put side by side: it has heads, whatever it reads."""
    target = rule.target
    if HEAD in target.letters:
        return rule
    of_head = replace(target, indices=(HEAD, *target.indices))
    return rule.with_formula(Equation(of_head, rule.equation.expression), rule.matrix_form)


def _check_heads(system: System, first: FirstSteps) -> None:
    """Raises AttncliError for a letter of heads or entries where there are none, and for one that
    is the heads' own where they share keys.
    """
    refused = _refused_letters(first)
    for own in system.equations:
        read = names_in(own.equation.expression)
        names = {*own.equation.target.letters, *read}
        for letter, why in refused.items():
            if letter in names:
                raise own.error(why, _ANOTHER_LETTER, letter)
    for array in system.arrays:
        for letter in array.letters:
            if letter in refused:
                raise array.error(refused[letter], _ANOTHER_LETTER)


def _refused_letters(first: FirstSteps) -> Mapping[str, str]:
    """The letters that mean something, but nothing that this problem's equations can read, each
    with what is wrong.
    """
    there = {BATCH} if first.axes.batch else set()
    if first.axes.has_heads:
        there |= {HEAD, KEY_HEAD}
    refused = {letter: why for letter, why in _NOT_THERE.items() if letter not in there}
    if first.axes.group > 1:
        refused[GROUP_MEMBER] = _OF_A_GROUP
    return refused


def _lengths(
    problem: Problem, first: FirstSteps, system: System, given: Mapping[str, Matrix]
) -> Lengths:
    """The lengths that are known before the first step."""
    shapes = {name: matrix.shape for name, matrix in given.items()}
    for name, value in first.parameters.items():
        if isinstance(value, Matrix):
            shapes[name] = value.shape
    places = dict(problem.places)
    if system.start is not None:
        places[""] = system.start
    found = Lengths(
        _known_lengths(problem, first),
        shapes,
        dict(system.replaced),
        dict(first.parameters),
        places,
    )
    for array in system.arrays:
        found.take(array)
    return found


def _check_made(problem: Problem, rules: Sequence[Rule]) -> None:
    """Raises AttncliError for queries, keys or values that a step reads, and nothing makes."""
    assert problem.system is not None
    there = {*problem.given, *problem.system.replaced}
    projected = [rule.name for rule in rules if not rule.given and not rule.own]
    past = past_length(problem.given)
    for letter in "QKV":
        step = f"new_{letter}" if past and letter != "Q" else letter
        if step not in projected:
            continue
        missing = what_is_missing(letter, there)
        if missing is not None:
            path, message, help = missing
            place = problem.places.get(path, problem.system.start)
            help = f"{help}, or an equation that makes {letter}"
            raise input_error(message, path=path, place=place, help=help)


def _check_symbols(system: System, rules: Iterable[Rule]) -> None:
    """Raises AttncliError for a symbol that a page has for another step, too, or for a gradient."""
    given = {own.name: own.symbol for own in system.equations if own.symbol}
    named = (*system.replaced, *(each.name for each in system.arrays))
    taken = {name: name for name in named}
    # It stands on the page of a gradient, and is no step.
    taken["J"] = "the Jacobian"
    for rule in rules:
        if rule.name not in given:
            taken.setdefault(rule.symbol, rule.name)
        gradient = differential(given.get(rule.name, rule.symbol))
        taken.setdefault(gradient, gradient_name(rule.name))
    for own in system.equations:
        if not own.symbol:
            continue
        other = taken.setdefault(own.symbol, own.name)
        if other != own.name:
            what = "another step" if other == own.symbol else f"the symbol of {other}"
            help = f"give {own.name} another symbol, such as {own.symbol}'"
            raise own.error(f"{own.symbol} is {what}", help)


def _symbols(system: System) -> tuple[tuple[str, str], ...]:
    """What the problem calls its own steps in formulas, and their gradients."""
    found = []
    for own in system.equations:
        if own.symbol:
            found.append((own.name, own.symbol))
            found.append((gradient_name(own.name), differential(own.symbol)))
    return tuple(found)


def _apart(rules: Sequence[Rule], logits: str) -> tuple[Sequence[Rule], Sequence[Rule]]:
    """The rules up to the logits, and those behind; all before where there are none."""
    names = [rule.name for rule in rules]
    if logits not in names or "exp" not in names:
        return rules, ()
    end = names.index(logits) + 1
    return rules[:end], rules[end:]


def _known_lengths(problem: Problem, first: FirstSteps) -> Mapping[str, int]:
    """How long the letters are that keep their meaning, where nothing else says it."""
    found = dict(first.sizes)
    d_k = first.parameters["d_k"]
    assert isinstance(d_k, Scalar)
    found["k"] = int(d_k.value)
    sized = problem.sized
    widths = {sized[name].shape[-1] for name in ("X", "context") if name in sized}
    # A context may be of another width.
    if len(widths) == 1 and "X" in sized:
        found["d"] = sized["X"].shape[-1]
    if first.axes.batch:
        found["b"] = first.axes.batch
    return found
