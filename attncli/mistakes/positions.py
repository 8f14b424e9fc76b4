"""The mistakes people make with positions, RoPE, ALiBi or sines, and with a cache.

They stand in the order in which they can be made. A rewrite that only these need stands above the
list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import cast

from attncli.equation.nodes import Call, Expression, Name, Number, Ref, number_node, rewrite
from attncli.equation.parser import parse_expression
from attncli.mistakes.model import (
    Change,
    Changes,
    Mistake,
    Rewrite,
    equations,
    first_of,
    rewritten,
    with_calls,
    with_letters,
)
from attncli.mistakes.rope_features import FEATURE_MISTAKES
from attncli.mistakes.rope_positions import GIVEN_POSITION_MISTAKES, one_position_further
from attncli.mistakes.rope_settings import SETTING_MISTAKES, in_any_step
from attncli.problem.keys import Pairing
from attncli.problem.matrix import Scalar
from attncli.problem.parts.axes import HEAD
from attncli.problem.parts.positions import Rope, Sinusoidal
from attncli.tracing.model import Trace

# Those that models have. In a problem, all but its own are mistakes.
THETAS = ("10000", "500000", "1000000")
_BACK_BY_PAST = Call("sub", (Name("j"), Name("past")))

# RoPE: which features are rotated together, and by which angles


def paired(*, rotation: str, angles: str) -> Change:
    """Q_rot and K_rot with features paired in the problem's `own` or in the `other` way, rotated by
    the angles of one or the other.
    """

    def change(trace: Trace) -> Changes:
        if "Q_rot" not in trace:
            return {}
        own: Pairing = "half" if trace.settings.pairing == "half" else "interleaved"
        other: Pairing = "interleaved" if own == "half" else "half"
        by_word = {"own": own, "other": other}
        texts = []
        for name in ("Q_rot", "K_rot"):
            texts.append(_rotated(trace, name, by_word[rotation], by_word[angles]))
        found = equations(*texts)(trace)
        return {name: _with_cells(cast("Expression", how), trace) for name, how in found.items()}

    return change


def _with_cells(expression: Expression, trace: Trace) -> Expression:
    """The expression with a step that has no axes as a cell: attention_factor, where it is one."""

    def change(node: Expression) -> Expression:
        if isinstance(node, Name) and node.name in trace:
            return Ref(node.name)
        return node

    return rewrite(expression, change)


def _rotated(trace: Trace, name: str, pairing: Pairing, angles: Pairing) -> str:
    """The equation of Q_rot or K_rot; pair r of the angles belongs to features of another pairing
    than those that are rotated, where `angles` is another.
    """
    angles_of = f"{name[0]}_angles"
    if angles_of not in trace:
        angles_of = "angles"
    is_after_cache = name == "Q_rot" and "past" in trace.parameters and angles_of == "angles"
    shift = " + past" if is_after_cache else ""
    rotary_dim = trace.parameters.get("rotary_dim")
    turned = trace["K"].shape[-1]
    if isinstance(rotary_dim, Scalar):
        turned = int(rotary_dim.value)
    rule = Rope.rotated(
        name,
        pairing,
        shift,
        is_partial=rotary_dim is not None,
        is_scaled="attention_factor" in (*trace, *trace.parameters),
        angles=angles_of,
    )
    if angles != pairing:
        pair = parse_expression("k % half" if angles == "half" else "k // 2")
        equation = rule.equation
        expression = _with_angles(equation.expression, lambda row, _: Ref(angles_of, (row, pair)))
        rule = rule.with_formula(replace(equation, expression=expression), None)
    source = rule.source
    assert source is not None
    return source.replace("half", str(turned // 2))


Index = str | Expression


def _with_angles(expression: Expression, other: Callable[[Index, Index], Expression]) -> Expression:
    """Every angle made another expression of its row and its pair."""

    def change(node: Expression) -> Expression:
        if isinstance(node, Ref) and node.name in ("angles", "Q_angles", "K_angles"):
            return other(*node.indices)
        return node

    return rewrite(expression, change)


# RoPE: from which position, and what is rotated


def without_past(expression: Expression, _: Trace) -> Expression:
    """Query i at position i, for i + past."""

    def change(node: Expression) -> Expression:
        return Name("i") if node == Call("add", (Name("i"), Name("past"))) else node

    return rewrite(expression, change)


def new_keys_from_0(expression: Expression, trace: Trace) -> Expression | None:
    """The keys behind a cache counted from 0 again."""
    if "past" not in trace.parameters:
        return None
    again = _with_angles(expression, lambda _, pair: Ref("angles", (_BACK_BY_PAST, pair)))
    is_cached = Call("lt", (Name("j"), Name("past")))
    return Call("where", (is_cached, expression, again))


def one_further(expression: Expression, trace: Trace) -> Expression | None:
    """Every angle larger by that of one position."""
    if "angles" not in trace or len(trace["angles"]) < 2:
        return None

    def further(row: Index, pair: Index) -> Expression:
        return Call("add", (Ref("angles", (row, pair)), Ref("angles", (number_node(1), pair))))

    return _with_angles(expression, further)


def values_rotated(expression: Expression, trace: Trace) -> Expression | None:
    """The values that are mixed rotated as the keys are."""
    if "K_rot" not in trace or trace["K"].shape[-1] != trace["V"].shape[-1]:
        return None
    rotated = trace.steps["K_rot"].rule.equation.expression

    def change(node: Expression) -> Expression:
        if not isinstance(node, Ref) or node.name != "V":
            return node
        *leading, row, column = node.indices
        own = with_letters(rotated, {"j": row, "k": column})

        def value(key: Expression) -> Expression:
            if isinstance(key, Ref) and key.name == "K":
                return Ref("V", (*leading, *key.indices[-2:]))
            return key

        return rewrite(own, value)

    return rewrite(expression, change)


_VALUES_ROTATED = first_of(rewritten(heads_output=values_rotated), rewritten(output=values_rotated))


def opposite(expression: Expression, _: Trace) -> Expression:
    """The same with the other sign."""
    return Call("neg", (expression,))


def with_theta(text: str) -> Rewrite:
    """The angles of another theta."""
    number = Number(Fraction(text), text)

    def function(expression: Expression, trace: Trace) -> Expression | None:
        own = trace.parameters.get("theta")
        if not isinstance(own, Scalar) or own.value == number.value:
            return None
        return rewrite(expression, lambda node: number if node == Name("theta") else node)

    return function


# ALiBi


def _sum_without_bias(terms: tuple[Expression, ...]) -> Expression:
    match terms:
        case (scores, Ref(name="bias")):
            return scores
        case _:
            return Call("add", terms)


def _sum_without_1(terms: tuple[Expression, ...]) -> Expression:
    match terms:
        case (counted, Number(value=1)):
            return counted
        case _:
            return Call("add", terms)


# The masked scores without the bias of positions.
without_alibi = with_calls("add", _sum_without_bias)
# What a minus stands before.
other_sign = with_calls("neg", lambda arguments: arguments[0])
# The exponents of the slopes counted from 0, h for h + 1.
from_head_0 = with_calls("add", _sum_without_1)


def reversed_heads(expression: Expression, trace: Trace) -> Expression | None:
    """The last head for the first one, and so on."""
    heads = trace.settings.heads
    if not heads or heads == 1:
        return None
    return with_letters(expression, {HEAD: Call("sub", (number_node(heads - 1), Name(HEAD)))})


def reversed_slopes(expression: Expression, trace: Trace) -> Expression:
    """The slopes, and they alone, of the last head for the first one, and so on."""

    def change(node: Expression) -> Expression:
        if isinstance(node, Ref) and node.name == "slopes":
            return reversed_heads(node, trace) or node
        return node

    return rewrite(expression, change)


def slopes_of_next_power(_: Expression, trace: Trace) -> Expression | None:
    """The slopes of the next power of two heads."""
    heads = trace.settings.heads
    return _slopes(1 << heads.bit_length()) if heads else None


def slopes_of_own_number(_: Expression, trace: Trace) -> Expression | None:
    """The slopes by the formula for powers of two, of another number of heads."""
    heads = trace.settings.heads
    return _slopes(heads) if heads else None


def _slopes(heads: int) -> Expression:
    return parse_expression(f"1 / 2 ** (8 * ({HEAD} + 1) / {heads})")


# Sines


def other_layout(own: Expression, trace: Trace) -> Expression | None:
    """Sines and cosines in turn for all sines first, or the other way round."""
    width = trace["PE"].shape[-1]
    if width % 2:
        return None
    table = Sinusoidal.table("interleaved").equation.expression
    is_interleaved = _condition(own) == _condition(table)
    if is_interleaved:
        table = Sinusoidal.table("halves").equation.expression
    position = _position(own)
    return rewrite(table, lambda node: position if node == Name("i") else node)


def _condition(table: Expression) -> Expression:
    assert isinstance(table, Call)
    return table.arguments[0]


def _position(table: Expression) -> Expression:
    """What is divided inside of the sine: i, or i + past."""
    match table:
        case Call("where", (_, Call("sin", (Call("div", (position, _)),)), _)):
            return position
        case _:
            raise TypeError(f"no table of sines: {table!r}")


def at_position(other: Callable[[Expression], Expression]) -> Rewrite:
    """The sines of other positions."""

    def function(own: Expression, _: Trace) -> Expression:
        position = _position(own)

        def divided(sides: tuple[Expression, ...]) -> Expression:
            if sides[0] != position:
                return Call("div", sides)
            return Call("div", (other(position), *sides[1:]))

        return rewrite(own, lambda node: _through(node, "div", divided))

    return function


def with_exponent(other: Callable[[Expression], Expression]) -> Rewrite:
    """Another exponent of the base."""

    def powers(sides: tuple[Expression, ...]) -> Expression:
        return Call("pow", (sides[0], other(sides[1])))

    return with_calls("pow", powers)


def _through(
    node: Expression, function: str, change: Callable[[tuple[Expression, ...]], Expression]
) -> Expression:
    is_of_function = isinstance(node, Call) and node.function == function
    return change(node.arguments) if is_of_function and isinstance(node, Call) else node


def divided_by_d_k(own: Expression, trace: Trace) -> Expression | None:
    """d_k for d_model in the exponents."""
    if trace["K"].shape[-1] == trace["PE"].shape[-1]:
        return None

    def narrow(node: Expression) -> Expression:
        return Name("d_k") if node == Name("d_model") else node

    return with_exponent(lambda exponent: rewrite(exponent, narrow))(own, trace)


def own_angles(own: Expression, _: Trace) -> Expression:
    """d for d - 1: each cosine has an angle of its own."""

    def own_place(sides: tuple[Expression, ...]) -> Expression:
        return sides[0] if sides[0] == Name("d") else Call("sub", sides)

    return rewrite(own, lambda node: _through(node, "sub", own_place))


def cosines_first(own: Expression, _: Trace) -> Expression:
    """Cosines for sines, and sines for cosines."""
    others = {"sin": "cos", "cos": "sin"}

    def exchanged(node: Expression) -> Expression:
        if isinstance(node, Call) and node.function in others:
            return Call(others[node.function], node.arguments)
        return node

    return rewrite(own, exchanged)


def axes_exchanged(own: Expression, _: Trace) -> Expression:
    """The sines of features at the frequencies of positions."""
    return with_letters(own, {"i": Name("d"), "d": Name("i")})


def _from_0(position: Expression) -> Expression:
    return Name("i")


def _one_further(position: Expression) -> Expression:
    return Call("add", (position, number_node(1)))


def _halved(exponent: Expression) -> Expression:
    return Call("div", (exponent, number_node(2)))


def _doubled(exponent: Expression) -> Expression:
    return Call("mul", (number_node(2), exponent))


# All of them

POSITION_MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "cache-at-wrong-end",
        "the new keys and values were put before those of the cache",
        equations(
            "K[j, k] = where(j < {new}, new_K[j % {new}, k], past_K[j - {new}, k])",
            "V[j, c] = where(j < {new}, new_V[j % {new}, c], past_V[j - {new}, c])",
        ),
    ),
    Mistake(
        "rope-other-pairs",
        "RoPE rotated the wrong pairs of features",
        paired(rotation="other", angles="other"),
    ),
    Mistake(
        "rope-other-angles",
        "RoPE rotated the right pairs of features by the angles of the other pairing",
        paired(rotation="own", angles="other"),
    ),
    Mistake(
        "rope-other-rotation",
        "RoPE rotated the wrong pairs of features by the angles of the right pairing",
        paired(rotation="other", angles="own"),
    ),
    Mistake(
        "rope-left-out",
        "RoPE was left out",
        equations("Q_rot[i, k] = Q[i, k]", "K_rot[j, k] = K[j, k]"),
    ),
    Mistake(
        "rope-backwards",
        "RoPE rotated in the wrong direction",
        first_of(
            rewritten(angles=opposite),
            rewritten(Q_angles=opposite, K_angles=opposite),
        ),
    ),
    *(
        Mistake(
            f"rope-theta-{theta}",
            f"RoPE's theta was {theta}",
            in_any_step(with_theta(theta)),
        )
        for theta in THETAS
    ),
    *SETTING_MISTAKES,
    *FEATURE_MISTAKES,
    *GIVEN_POSITION_MISTAKES,
    Mistake(
        "rope-queries-from-0",
        "RoPE counted the queries from 0, not from the end of the cache",
        rewritten(Q_rot=without_past),
    ),
    Mistake(
        "rope-new-from-0",
        "RoPE counted the new queries and keys from 0, not from the end of the cache",
        rewritten(Q_rot=without_past, K_rot=new_keys_from_0),
    ),
    Mistake(
        "rope-queries-one-further",
        "RoPE counted the queries one position further than the keys",
        first_of(rewritten(Q_rot=one_further), rewritten(Q_angles=one_position_further)),
    ),
    Mistake(
        "rope-all-one-further",
        "RoPE counted all positions one further",
        first_of(
            rewritten(Q_rot=one_further, K_rot=one_further),
            rewritten(Q_angles=one_position_further, K_angles=one_position_further),
        ),
    ),
    Mistake(
        "rope-queries-alone", "RoPE rotated the queries alone", equations("K_rot[j, k] = K[j, k]")
    ),
    Mistake("rope-keys-alone", "RoPE rotated the keys alone", equations("Q_rot[i, k] = Q[i, k]")),
    Mistake("rope-values-too", "RoPE rotated the values, too", _VALUES_ROTATED),
    Mistake(
        "alibi-slopes-from-1",
        "ALiBi's slopes began with 1",
        rewritten(slopes=from_head_0),
    ),
    Mistake(
        "alibi-slopes-reversed",
        "ALiBi's slopes were in reverse order",
        first_of(rewritten(slopes=reversed_heads), rewritten(bias=reversed_slopes)),
    ),
    Mistake(
        "alibi-slopes-of-next-power",
        "ALiBi's slopes were those of the next power of two heads",
        rewritten(slopes=slopes_of_next_power),
    ),
    Mistake(
        "alibi-slopes-of-own-number",
        "ALiBi's slopes were those of the formula for powers of two",
        rewritten(slopes=slopes_of_own_number),
    ),
    Mistake("alibi-sign", "ALiBi's bias had the other sign", rewritten(bias=other_sign)),
    Mistake("alibi-left-out", "ALiBi's bias was left out", rewritten(masked=without_alibi)),
    Mistake("sines-left-out", "the sines were not added to X", equations("X_pos[i, d] = X[i, d]")),
    Mistake(
        "sines-other-layout",
        "sines and cosines stood in the other layout",
        rewritten(PE=other_layout),
    ),
    Mistake("sines-cosines-first", "sines and cosines were exchanged", rewritten(PE=cosines_first)),
    Mistake(
        "sines-exponent-i",
        "the exponent of the sines was i / d_model, not 2i / d_model",
        rewritten(PE=with_exponent(_halved)),
    ),
    Mistake(
        "sines-exponent-doubled",
        "the exponent of the sines was doubled twice",
        rewritten(PE=with_exponent(_doubled)),
    ),
    Mistake(
        "sines-own-angles",
        "each cosine had an angle of its own, not that of the sine before it",
        rewritten(PE=own_angles),
    ),
    Mistake(
        "sines-by-d-k",
        "the exponent of the sines was divided by d_k, not by d_model",
        rewritten(PE=divided_by_d_k),
    ),
    Mistake(
        "sines-from-0",
        "the sines counted positions from 0, not from where the problem says",
        rewritten(PE=at_position(_from_0)),
    ),
    Mistake(
        "sines-one-further",
        "the sines were those of the next position",
        rewritten(PE=at_position(_one_further)),
    ),
    Mistake(
        "sines-axes-exchanged",
        "positions and features were exchanged in the sines",
        rewritten(PE=axes_exchanged),
    ),
)
