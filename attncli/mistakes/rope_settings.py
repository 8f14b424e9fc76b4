"""The mistakes people make with what config.json says of RoPE: its factor, its ramp, its attention
factor, the features that turn, and positions.

They stand in the order in which they can be made. Most of them need steps that only some types of
RoPE have, and cannot be made elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from attncli.equation.nodes import Call, Expression, Name, Number, Ref, number_node, rewrite, walk
from attncli.equation.parser import PI, parse_expression
from attncli.mistakes.model import (
    Change,
    Changes,
    Mistake,
    Rewrite,
    all_of,
    any_of,
    chained,
    equations,
    first_of,
    rewritten,
    with_calls,
)
from attncli.problem.matrix import Scalar
from attncli.problem.parts.positions.rope_types import ROPE_TYPES
from attncli.tracing.model import Trace

# The steps up to the angles, in the order of work.
UP_TO_ANGLES = (
    "base_frequencies",
    "ramp_low",
    "ramp_high",
    "ramp",
    "stretched_theta",
    "frequencies",
    "angles",
    "Q_angles",
    "K_angles",
)
_ROTATED = ("Q_rot", "K_rot")
ATTENTION_FACTOR = "attention_factor"
_BY_FACTOR = ROPE_TYPES["yarn"].attention_factor
_BY_LENGTHS = ROPE_TYPES["longrope"].attention_factor
# What frequencies are divided by.
_DIVISORS = frozenset(("factor", "short_factor", "long_factor"))
_ONE = number_node(1)
_RAMP_OF_WAVELENGTHS = (
    "ramp[r] = min(1, max(0, (2 * pi / base_frequencies[r] - original_length / high_freq_factor)"
    " / (original_length / low_freq_factor - original_length / high_freq_factor)))"
)
_WITHOUT_POWER = with_calls("pow", lambda sides: sides[0])
_EVERY_SECOND = parse_expression("2 * pi")


def in_any_step(*functions: Rewrite) -> Change:
    """The steps up to the angles, as many as these functions change."""
    function = chained(*functions)
    return any_of(*(rewritten(**{name: function}) for name in UP_TO_ANGLES))


def for_names(names: frozenset[str], other: Callable[[Expression], Expression]) -> Rewrite:
    """Another expression for every number, and every cell of an array, with one of these names."""

    def change(node: Expression) -> Expression:
        if isinstance(node, Name | Ref) and node.name in names:
            return other(node)
        return node

    return lambda expression, _: rewrite(expression, change)


def for_name(name: str, text: str) -> Rewrite:
    """The expression of this text for a number."""
    other = parse_expression(text)
    return for_names(frozenset((name,)), lambda _: other)


def exchanged(one: str, other: str) -> Rewrite:
    """Two numbers in the place of each other."""
    others = {one: Name(other), other: Name(one)}

    def change(node: Expression) -> Expression:
        return others.get(node.name, node) if isinstance(node, Name) else node

    return lambda expression, _: rewrite(expression, change)


def if_given(change: Change, *names: str) -> Change:
    """The change, where the problem gives these numbers."""

    def made(trace: Trace) -> Changes:
        is_there = all(name in trace.parameters for name in names)
        return change(trace) if is_there else {}

    return made


def only_with(step: str, change: Change) -> Change:
    """The change, where the problem has this step."""
    return lambda trace: change(trace) if step in trace else {}


# Frequencies


def unscaled(expression: Expression, trace: Trace) -> Expression | None:
    """The frequencies of training; nothing where not all pairs turn by them."""
    if "turning_pairs" in trace.parameters:
        return (
            for_name("factor", "1")(expression, trace) if number_of(trace, "factor") != 1 else None
        )
    divisor = "rotary_dim" if "rotary_dim" in trace.parameters else "d_k"
    return ROPE_TYPES["default"].frequencies(divisor).equation.expression


def with_divisors_for_pairs(trace: Trace) -> bool:
    """Whether each pair has a divisor of its own, as with rope_type: longrope."""
    return not {"short_factor", "long_factor"}.isdisjoint(trace.parameters)


def _inverted(node: Expression) -> Expression:
    return Call("div", (_ONE, node))


def _squared(node: Expression) -> Expression:
    return Call("mul", (node, node))


def number_of(trace: Trace, name: str) -> float | None:
    """A single number that the equations of a problem read; None where it has none."""
    given = trace.parameters.get(name)
    return given.value if isinstance(given, Scalar) else None


# The ramp


def _without_bounds(expression: Expression) -> Expression:
    """What min(1, max(0, …)) keeps between 0 and 1."""
    match expression:
        case Call("min", (_, Call("max", (_, inside)))):
            return inside
        case _:
            raise TypeError(f"no ramp: {expression!r}")


def not_clamped(expression: Expression, _: Trace) -> Expression:
    """The ramp below 0 and above 1, too."""
    return _without_bounds(expression)


def other_ramp(expression: Expression, _: Trace) -> Expression:
    """1 less the ramp."""
    return Call("sub", (_ONE, expression))


def at_once(condition: str, least: int) -> Rewrite:
    """1 where what the ramp is before it is bounded is above its `least`, or at least that, else
    0.
    """

    def function(expression: Expression, _: Trace) -> Expression:
        holds = Call(condition, (_without_bounds(expression), number_node(least)))
        return Call("where", (holds, _ONE, number_node(0)))

    return function


def _without_2_pi(node: Expression) -> Expression:
    """x for x / (2 * pi), and for x * 2 * pi."""
    match node:
        case Call("div", (number, divisor)) if divisor == _EVERY_SECOND:
            return number
        case Call("mul", (Call("mul", (number, _)), last)) if last == PI:
            return number
        case _:
            return node


def without_2_pi(expression: Expression, _: Trace) -> Expression:
    """Radians for turns."""
    return rewrite(expression, _without_2_pi)


def of_new_length(expression: Expression, trace: Trace) -> Expression | None:
    """The length of the model for that of its training: as given, or so many times as long."""
    is_given = number_of(trace, "max_length") not in (None, number_of(trace, "original_length"))
    other = "max_length" if is_given else "factor * original_length"
    return for_name("original_length", other)(expression, trace)


_DIVIDED = with_calls("floor_div", lambda sides: Call("div", sides))


def rounded_down(expression: Expression, _: Trace) -> Expression | None:
    """The last division rounded down: the quotient whose divisor is twice a logarithm."""

    def change(node: Expression) -> Expression:
        match node:
            case Call("div", (_, Call("mul", (Number(), Call("log"))))) as quotient:
                return Call("floor_div", quotient.arguments)
            case _:
                return node

    return rewrite(expression, change)


def _named(name: str) -> Callable[[Expression], Expression]:
    """The same cell of another array."""
    return lambda node: replace(node, name=name) if isinstance(node, Ref) else node


# The attention factor


def _is_factor(node: Expression) -> bool:
    return isinstance(node, Name | Ref) and node.name == ATTENTION_FACTOR


def _without_factor(node: Expression) -> Expression:
    match node:
        case Call("mul", (first, second)) if _is_factor(first):
            return second
        case _:
            return node


def without_factor(expression: Expression, _: Trace) -> Expression:
    """What turns, without its factor."""
    return rewrite(expression, _without_factor)


def with_factor(other: Callable[[Expression], Expression]) -> Change:
    """Another attention factor: of the step, or of queries and keys where the problem gives it."""
    of_given = for_names(frozenset((ATTENTION_FACTOR,)), other)
    return first_of(
        rewritten(attention_factor=lambda own, _: other(own)),
        all_of(*(rewritten(**{name: of_given}) for name in _ROTATED)),
    )


def with_formula(text: str, *given: str) -> Change:
    """The attention factor by a formula, of numbers that the problem has to give."""
    formula = parse_expression(text)
    return if_given(with_factor(lambda _: formula), "factor", *given)


def by_its_formula(change: Callable[[Expression, Expression], Expression]) -> Change:
    """What `change` makes of an attention factor that the problem gives, and of the formula that it
    takes the place of.
    """

    def made(trace: Trace) -> Changes:
        if ATTENTION_FACTOR not in trace.parameters or not (number_of(trace, "factor") or 0) > 1:
            return {}
        formula = parse_expression(_BY_LENGTHS if with_divisors_for_pairs(trace) else _BY_FACTOR)
        return with_factor(lambda own: change(own, formula))(trace)

    return made


def also_in_scale(expression: Expression, trace: Trace) -> Expression | None:
    """The scaled scores by the factor once more for the query, and once more for the key."""
    factor: Expression
    if ATTENTION_FACTOR in trace:
        factor = Ref(ATTENTION_FACTOR)
    elif ATTENTION_FACTOR in trace.parameters:
        factor = Name(ATTENTION_FACTOR)
    else:
        return None
    return Call("mul", (Call("pow", (factor, number_node(2))), expression))


def also_where_nothing_turns(expression: Expression, trace: Trace) -> Expression | None:
    """The features that stay as they are by the factor, too."""
    if "rotary_dim" not in trace.parameters:
        return None
    scaled = [node for node in walk(expression) if _is_factor(node)]

    def change(node: Expression) -> Expression:
        match node:
            case Call("where", (condition, first, second)):
                return Call("where", (condition, times(first), times(second)))
            case _:
                return node

    def times(branch: Expression) -> Expression:
        return Call("mul", (scaled[0], branch)) if isinstance(branch, Ref) else branch

    return rewrite(expression, change) if scaled else None


def with_both(first: Change, second: Change) -> Change:
    """The first change, and the second where it can be made as well."""
    return lambda trace: {**changes, **second(trace)} if (changes := first(trace)) else {}


def where_for_pairs(change: Change) -> Change:
    """The change, where each pair has a divisor of its own."""
    return lambda trace: change(trace) if with_divisors_for_pairs(trace) else {}


# All of them

_LEFT_OUT = first_of(
    rewritten(attention_factor=lambda *_: _ONE),
    all_of(*(rewritten(**{name: without_factor}) for name in _ROTATED)),
)
_UNSCALED = rewritten(frequencies=unscaled)
SETTING_MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "rope-scaling-left-out", "RoPE's scaling was left out", with_both(_UNSCALED, _LEFT_OUT)
    ),
    Mistake(
        "rope-frequencies-unscaled",
        "RoPE's frequencies were not scaled",
        _UNSCALED,
        unlike="rope-scaling-left-out",
    ),
    Mistake(
        "rope-factor-inverted",
        "RoPE's frequencies were multiplied by the factor, not divided by it",
        rewritten(frequencies=for_names(_DIVISORS, _inverted)),
    ),
    Mistake(
        "rope-factor-twice",
        "RoPE's frequencies were divided by the factor twice",
        rewritten(frequencies=for_names(_DIVISORS, _squared)),
    ),
    Mistake(
        "rope-ramp-left-out",
        "RoPE's ramp was left out: all pairs were slowed down by the whole factor",
        only_with("ramp", equations("frequencies[r] = base_frequencies[r] / factor")),
    ),
    Mistake(
        "rope-ramp-inverted",
        "RoPE's ramp was inverted: fast pairs were slowed down, and slow pairs were not",
        rewritten(ramp=other_ramp),
    ),
    Mistake(
        "rope-ramp-not-clamped",
        "RoPE's ramp was not kept between 0 and 1",
        rewritten(ramp=not_clamped),
    ),
    Mistake(
        "rope-ramp-all-between",
        "the pairs on RoPE's ramp were slowed down by the whole factor",
        rewritten(ramp=at_once("gt", 0)),
    ),
    Mistake(
        "rope-ramp-none-between",
        "the pairs on RoPE's ramp were not slowed down",
        rewritten(ramp=at_once("ge", 1)),
    ),
    Mistake(
        "rope-ramp-of-wavelengths",
        "RoPE's ramp grew with wavelengths, not with turns",
        if_given(equations(_RAMP_OF_WAVELENGTHS), "low_freq_factor", "high_freq_factor"),
    ),
    Mistake(
        "rope-wavelengths-blended",
        "RoPE's ramp was between wavelengths, not between frequencies",
        only_with(
            "ramp",
            equations("frequencies[r] = base_frequencies[r] / (1 - ramp[r] + ramp[r] * factor)"),
        ),
    ),
    Mistake(
        "rope-ramp-ends-not-rounded",
        "the ends of RoPE's ramp were not rounded to whole pairs",
        rewritten(ramp_low=_DIVIDED, ramp_high=_DIVIDED),
    ),
    Mistake(
        "rope-ramp-ends-rounded",
        "the ends of RoPE's ramp were rounded to whole pairs",
        rewritten(ramp_low=rounded_down, ramp_high=rounded_down),
    ),
    Mistake(
        "rope-betas-exchanged",
        "RoPE's beta_fast and beta_slow were exchanged",
        rewritten(
            ramp_low=for_name("beta_fast", "beta_slow"),
            ramp_high=for_name("beta_slow", "beta_fast"),
        ),
    ),
    Mistake(
        "rope-freq-factors-exchanged",
        "RoPE's low_freq_factor and high_freq_factor were exchanged",
        rewritten(ramp=exchanged("low_freq_factor", "high_freq_factor")),
    ),
    Mistake(
        "rope-turns-without-2-pi",
        "RoPE counted radians, not turns",
        in_any_step(without_2_pi),
    ),
    Mistake(
        "rope-length-of-model",
        "RoPE read max_position_embeddings for original_max_position_embeddings",
        if_given(
            any_of(in_any_step(of_new_length), rewritten(attention_factor=of_new_length)),
            "factor",
            "original_length",
        ),
    ),
    Mistake(
        "rope-theta-of-longest-text",
        "RoPE stretched theta for the longest text, not for this one",
        rewritten(stretched_theta=for_name("length", "factor * max_length")),
    ),
    Mistake(
        "rope-theta-without-power",
        "RoPE stretched theta without the power d / (d - 2)",
        rewritten(stretched_theta=_WITHOUT_POWER),
    ),
    Mistake(
        "rope-short-factor",
        "RoPE divided by short_factor in a long text",
        rewritten(frequencies=for_names(frozenset(("long_factor",)), _named("short_factor"))),
    ),
    Mistake(
        "rope-long-factor",
        "RoPE divided by long_factor in a short text",
        rewritten(frequencies=for_names(frozenset(("short_factor",)), _named("long_factor"))),
    ),
    Mistake("rope-attention-factor-left-out", "RoPE's attention factor was left out", _LEFT_OUT),
    Mistake(
        "rope-attention-factor-twice",
        "RoPE's attention factor was applied twice",
        with_factor(_squared),
    ),
    Mistake(
        "rope-attention-factor-inverted",
        "RoPE divided by its attention factor",
        with_factor(_inverted),
    ),
    Mistake(
        "rope-attention-factor-of-queries",
        "RoPE's attention factor was applied to the queries alone",
        rewritten(K_rot=without_factor),
    ),
    Mistake(
        "rope-attention-factor-of-keys",
        "RoPE's attention factor was applied to the keys alone",
        rewritten(Q_rot=without_factor),
    ),
    Mistake(
        "rope-attention-factor-in-scale",
        "RoPE's attention factor was also applied to the scale",
        rewritten(scaled=also_in_scale),
    ),
    Mistake(
        "rope-attention-factor-everywhere",
        "RoPE's attention factor was applied to the features that do not turn, too",
        rewritten(Q_rot=also_where_nothing_turns, K_rot=also_where_nothing_turns),
    ),
    Mistake(
        "rope-attention-factor-ignored",
        "RoPE's attention factor followed from the factor, and was not the one given",
        by_its_formula(lambda _, formula: formula),
    ),
    Mistake(
        "rope-attention-factor-times-formula",
        "RoPE's attention factor was multiplied by the one that follows from the factor",
        by_its_formula(lambda own, formula: Call("mul", (own, formula))),
    ),
    Mistake(
        "rope-mscale-left-out",
        "RoPE's mscale and mscale_all_dim were left out",
        with_formula(_BY_FACTOR, "mscale", "mscale_all_dim"),
    ),
    Mistake(
        "rope-mscale-alone",
        "RoPE's attention factor was made of mscale alone",
        with_formula("0.1 * mscale * log(factor) + 1", "mscale"),
    ),
    Mistake(
        "rope-mscale-all-dim-alone",
        "RoPE's attention factor was made of mscale_all_dim alone",
        with_formula("0.1 * mscale_all_dim * log(factor) + 1", "mscale_all_dim"),
    ),
    Mistake(
        "rope-mscale-exchanged",
        "RoPE's mscale and mscale_all_dim were exchanged",
        rewritten(attention_factor=exchanged("mscale", "mscale_all_dim")),
    ),
    Mistake(
        "rope-mscale-as-factor",
        "RoPE's mscale was taken as the attention factor",
        with_formula("mscale", "mscale"),
    ),
    Mistake(
        "rope-attention-factor-of-yarn",
        "RoPE's attention factor was that of yarn, not of longrope",
        where_for_pairs(with_formula(_BY_FACTOR)),
    ),
)
