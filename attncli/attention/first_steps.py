"""The built-in rules of a problem in order of work: those up to the logits, and those of the
softmax and the output.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from attncli.attention import variants
from attncli.attention.registry import COMPUTED_RULES, GIVEN_RULES
from attncli.equation.indexing import GROUP_MEMBER, LeadingAxes
from attncli.equation.rule import Rule
from attncli.problem import keys
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.model import Problem
from attncli.problem.parts.axes import (
    HEAD,
    KEY_HEAD,
    KEY_HEAD_OF,
    LEADING,
    Axes,
    Shaped,
    axes_of,
    input_of,
    leads,
    past_length,
    width,
)
from attncli.problem.parts.positions import PositionSizes, biases, inputs, replacements

if TYPE_CHECKING:
    from attncli.problem.parts.masks import Clause
    from attncli.problem.parts.positions import Position


class FirstSteps(NamedTuple):
    """The built-in rules of one head up to the logits, and what a plan needs besides: `leading` are
    the leading axes of what is given.
    """

    rules: Sequence[Rule]
    parameters: Mapping[str, Scalar | Matrix]
    given: Mapping[str, Matrix]
    sizes: Mapping[str, int]
    leading: LeadingAxes
    axes: Axes


def first_steps_of(problem: Problem) -> FirstSteps:
    """What leads to the logits, without equations of the problem's own."""
    sized = problem.sized
    past, axes = past_length(sized), axes_of(sized)
    # With a cache, K and V are steps that put the new rows after those of the cache.
    given = {
        f"new_{name}" if past and name in ("K", "V") else name: array
        for name, array in problem.given.items()
    }
    position_sizes = PositionSizes.of(sized, problem.mask)
    offset = position_sizes.offset
    rules = [GIVEN_RULES[name] for name in given if name not in ("Q", "K", "V", "new_K", "new_V")]
    read = inputs(problem.positions)
    for position in problem.positions:
        if position.inputs:
            rules += _steps_of(position, position_sizes)
    for name in "QKV":
        rules += _rows(name, given, sized, read)
    for position in problem.positions:
        if position.replaces:
            rules += _steps_of(position, position_sizes)
    rules += _scores(problem)
    if problem.softcap is not None:
        rules.append(COMPUTED_RULES["capped"].bind({"logits": rules[-1].name}))
    before_mask = rules[-1].name
    for position in problem.positions:
        if position.bias:
            rules += _steps_of(position, position_sizes)
    parts = variants.clauses(problem.mask, offset)
    if parts:
        rules.append(variants.mask_rule(parts))
    added = biases(problem.positions)
    if parts or added:
        rules.append(variants.masked(added, bool(parts)).bind({"logits": before_mask}))
    known = {name: leads(name, matrix, axes) for name, matrix in given.items()} | dict(offset.leads)
    for part in parts:
        known |= part.leads
    for position in problem.positions:
        known |= position.leads(position_sizes)
    d_v = width("V", sized)
    parameters = _parameters(problem, position_sizes, axes, parts, d_v)
    of_indices = _sizes(position_sizes, axes, d_v)
    named = tuple(variants.in_their_symbols(rules, problem.positions))
    return FirstSteps(named, parameters, given, of_indices, known, axes)


def softmax_rules_of(problem: Problem, axes: Axes, logits: str, *, shift: bool) -> Iterator[Rule]:
    """The rules of one head from the logits to the output."""
    rules = _softmax_rules(problem, axes, logits, shift=shift)
    return variants.in_their_symbols(rules, problem.positions)


def _softmax_rules(problem: Problem, axes: Axes, logits: str, *, shift: bool) -> Iterator[Rule]:
    sink, base = has_sink(problem), problem.exp_base.value if problem.exp_base else None
    sized = problem.sized
    heads, projected = axes.has_heads, "W_O" in sized
    if shift:
        yield variants.row_maxima(sink).bind({"logits": logits})
        yield COMPUTED_RULES["shifted"].bind({"logits": logits})
    yield variants.exponential(base).bind({"logits": "shifted" if shift else logits})
    yield variants.row_sums(sink, shift, base)
    yield variants.weights(base, sink).bind({"logits": logits})
    if projected or (heads and joins_heads(problem)):
        yield COMPUTED_RULES["heads_output"]
        if heads:
            yield COMPUTED_RULES["concat"]
        yield variants.output(heads, projected, "b_O" in sized)
    else:
        yield COMPUTED_RULES["output"]


def has_sink(problem: Problem) -> bool:
    """Whether a row shares its softmax with a logit of no key."""
    return problem.sink is not None or "sink" in problem.given


def joins_heads(problem: Problem) -> bool:
    """Whether heads are put side by side: they were split, or there is a W_O; heads given apart
    stay apart.
    """
    return problem.joined or "W_O" in problem.sized


def with_leading_axes(
    rules: Iterable[Rule], known: LeadingAxes
) -> tuple[tuple[Rule, ...], LeadingAxes]:
    """The rules for arrays with these leading axes, to which they add those of their results."""
    known = dict(known)
    found: list[Rule] = []
    for rule in rules:
        extended = rule.add_axes(known, LEADING, KEY_HEAD_OF)
        found.append(extended)
        leading = tuple(letter for letter in extended.target.letters if letter in LEADING)
        if leading:
            known[rule.name] = leading
    return tuple(found), known


def _steps_of(position: Position, sizes: PositionSizes) -> Iterator[Rule]:
    """The steps of a position, which alone know how long their own indices are: the same letter may
    be longer or shorter elsewhere, as d is in a context of another width.
    """
    lengths = tuple(position.lengths(sizes).items())
    for rule in position.steps(sizes):
        yield replace(rule, lengths=lengths) if lengths else rule


def _rows(
    name: str, given: Mapping[str, Matrix], sized: Mapping[str, Shaped], read: Mapping[str, str]
) -> Iterator[Rule]:
    """The rules that make Q, K or V: given or projected from what is `read` in the place of X, and
    after what is in the cache.
    """
    past = past_length(sized)
    own = f"new_{name}" if past and name != "Q" else name
    if own in given:
        yield GIVEN_RULES[own]
    else:
        source = input_of(name, sized)
        yield variants.projection(own, read.get(source, source), f"b_{name}" in sized)
    if own != name:
        yield variants.cached(name, past)


def _scores(problem: Problem) -> Iterator[Rule]:
    """The rules that compare queries with keys, or with what positions have in place of these, and
    scale the result.
    """
    replaced = replacements(problem.positions)
    scores = variants.SCORES[problem.score]
    if "K_T" in scores.inputs:
        yield variants.transposed(problem.positions) if "K" in replaced else COMPUTED_RULES["K_T"]
    yield scores.bind(replaced)
    if isinstance(problem.scale, Scalar):
        yield variants.SCALED["number"]
    elif problem.scale == "default" and keys.SCORES[problem.score].divided:
        yield variants.SCALED["default"]


def _parameters(
    problem: Problem, sizes: PositionSizes, axes: Axes, parts: Iterable[Clause], d_v: int
) -> Mapping[str, Scalar | Matrix]:
    """The numbers and arrays that equations call by a name; ValueError where two parts of a problem
    use the same one.

    Only the offset belongs to all of them.
    """
    offset = sizes.offset.parameters
    found: dict[str, Scalar | Matrix] = {}
    for name, given in _all_parameters(problem, sizes, axes, parts, d_v):
        if name in found and name not in offset:
            raise ValueError(
                f"two parts of the problem have a parameter {name}: one of them needs another name"
            )
        found[name] = given
    return found


def _all_parameters(
    problem: Problem, sizes: PositionSizes, axes: Axes, parts: Iterable[Clause], d_v: int
) -> Iterator[tuple[str, Scalar | Matrix]]:
    yield "d_k", Scalar.of(sizes.d_k)
    for key in keys.KEYS:
        setting = getattr(problem, key, None)
        if isinstance(setting, Scalar):
            yield key, setting
    if sizes.past:
        yield "past", Scalar.of(sizes.past)
    for position in problem.positions:
        if position.replaces or position.inputs:
            yield from position.parameters(sizes).items()
    if axes.group > 1:
        yield "group", Scalar.of(axes.group)
    if axes.has_heads and joins_heads(problem):
        yield "d_v", Scalar.of(d_v)
    for position in problem.positions:
        if position.bias:
            yield from position.parameters(sizes).items()
    for part in parts:
        yield from part.parameters.items()


def _sizes(sizes: PositionSizes, axes: Axes, d_v: int) -> Mapping[str, int]:
    """The lengths of indices that are on no axis of an array on the right side of their
    equation.
    """
    return {
        "i": sizes.n,
        "j": sizes.m,
        "u": sizes.past,
        "s": sizes.m - sizes.past,
        "c": d_v,
        "e": axes.number * d_v,
        HEAD: axes.number,
        KEY_HEAD: axes.number // axes.group,
        GROUP_MEMBER: axes.group,
    }
