"""The mistakes people make with a mask, with what else is added to the scores, with a softcap and
with a sink.

They stand in the order in which they can be made. A rewrite that only these need stands above the
list.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

import numpy as np

from attncli.equation.nodes import (
    Call,
    Expression,
    Name,
    Number,
    Reduce,
    Ref,
    names_used,
    number_node,
    rewrite,
    walk,
)
from attncli.mistakes.forward import scaled_once_more
from attncli.mistakes.model import (
    Changes,
    Mistake,
    Rewrite,
    any_of,
    equations,
    in_id,
    rewritten,
    with_calls,
    with_changes,
    with_i_and_j_exchanged,
    with_letters,
)
from attncli.problem.parts.axes import BATCH, HEAD
from attncli.tracing.model import Trace

SENTINELS = ("-1e9", "-1e4", "-9999", "-1000", "-100", "-10", "-1")
_MINUS_INFINITY = Number(-math.inf, "-inf")
# Which keys exist, and the matrices of a mask, in equations: exists, keep_2.
_PADDING = re.compile(r"(exists|length)(_\d+)?")
_MATRIX = re.compile(r"(keep|hide)(_\d+)?")
# How far a window reaches, in equations: left, right_2.
_REACH = re.compile(r"(left|right)(_\d+)?")

# Masks


def _where_shown(
    trace: Trace, shown: Callable[[Expression], Expression], value: Expression
) -> Expression | None:
    """`shown` of the mask where a key is visible, and the value elsewhere; None without a mask."""
    if "mask" not in trace:
        return None
    mask = trace.steps["mask"].rule.equation.expression
    return Call("where", (_is_hidden(mask), value, shown(mask)))


def _is_hidden(mask: Expression) -> Expression:
    return Call("eq", (mask, _MINUS_INFINITY))


def without_mask(expression: Expression, trace: Trace) -> Expression | None:
    """The masked scores without the mask, and with the bias of positions where there is one."""
    return _unmasked(expression) if "mask" in trace else None


def adding_nothing(_: Expression, trace: Trace) -> Expression | None:
    """A mask that hides nothing, as who forgets it may write it."""
    return _where_shown(trace, lambda _: number_node(0), number_node(0))


def _unmasked(expression: Expression) -> Expression:
    match expression:
        case Call(function="add_mask", arguments=(scores, _)):
            return scores
        case _:
            return expression


def hidden_set_to(value: Expression) -> Rewrite:
    """The masked scores with a number put in place of every one that is hidden."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        scores = _unmasked(expression)
        return _where_shown(trace, lambda added: Call("add", (scores, added)), value)

    return function


def hidden_by_adding(value: Expression) -> Rewrite:
    """The mask with another number than -inf."""
    return lambda _, trace: _where_shown(trace, lambda added: added, value)


def added_as_is(seen: int, hidden: int) -> Rewrite:
    """A mask of 0 and 1 as numbers that are added; only for one that hides, and adds nothing
    else.
    """

    def function(expression: Expression, trace: Trace) -> Expression | None:
        if "mask" not in trace or not np.isin(trace["mask"], (0, -np.inf)).all():
            return None
        return _where_shown(trace, lambda _: number_node(seen), number_node(hidden))

    return function


def inverted(own: Expression, trace: Trace) -> Expression | None:
    """The mask that hides what is visible."""
    match own:
        case Call("where", (condition, Number(), hidden)) if hidden == _MINUS_INFINITY:
            # A mask of one condition is said shortly: -inf where it holds, and else 0.
            return Call("where", (condition, _MINUS_INFINITY, number_node(0)))
        case _:
            return _where_shown(trace, lambda _: _MINUS_INFINITY, number_node(0))


def mask_on_weights(weights: Expression, trace: Trace) -> Expression | None:
    """The weights with 0 wherever the mask hides a key."""
    return _where_shown(trace, lambda _: weights, number_node(0))


def hiding_the_past(expression: Expression, trace: Trace) -> Expression | None:
    """i <= j for j <= i."""

    def turned(sides: tuple[Expression, ...]) -> Expression:
        key, end = sides
        is_end_of_window = any(map(_is_reach, walk(end)))
        if key != Name("j") or is_end_of_window:
            return Call("le", sides)
        return Call("le", (end, key))

    return with_calls("le", turned)(expression, trace)


def hiding_itself(expression: Expression, trace: Trace) -> Expression | None:
    """j < i for j <= i."""
    return with_calls("le", lambda sides: Call("lt" if sides[0] == Name("j") else "le", sides))(
        expression, trace
    )


def seeing_the_next(expression: Expression, trace: Trace) -> Expression | None:
    """j <= i + 1 for j <= i; not where this is how positions are counted from the other corner."""
    following = with_calls(
        "le",
        lambda sides: Call(
            "le", (sides[0], _plus_one(sides[1])) if sides[0] == Name("j") else sides
        ),
    )
    found = following(expression, trace)
    return None if found == other_corner(expression, trace) else found


def _plus_one(expression: Expression) -> Expression:
    return Call("add", (expression, number_node(1)))


def other_corner(expression: Expression, trace: Trace) -> Expression | None:
    """Positions counted from the other corner: i for i + offset, or i + (m - n) for i; no array is
    moved.
    """
    if "offset" in trace.parameters:
        offsets = (Name("offset"), Ref("offset", ("b",)))
        return with_calls(
            "add", lambda sides: sides[0] if sides[1] in offsets else Call("add", sides)
        )(expression, trace)
    if names_used(expression):
        return None
    n, m = trace["weights"].shape[-2:]
    if n == m:
        return None
    moved: Mapping[str, Expression] = {"i": Call("add", (Name("i"), number_node(m - n)))}
    return with_letters(expression, moved)


# Windows


def _conditions(expression: Expression) -> tuple[Expression, ...]:
    """What has to hold for a key to be seen, each condition by itself."""
    match expression:
        case Call("where", (Call("and_", conditions), _, hidden)) if hidden == _MINUS_INFINITY:
            return conditions
        case Call("where", (condition, _, hidden)) if hidden == _MINUS_INFINITY:
            return (condition,)
        case _:
            return ()


def _is_reach(node: Expression) -> bool:
    return isinstance(node, Name) and _REACH.fullmatch(node.name) is not None


def _with_reach(function: str) -> Rewrite:
    """A window that reaches one key farther, or less far, to each side that has a number."""

    def change(node: Expression) -> Expression:
        return Call(function, (node, number_node(1))) if _is_reach(node) else node

    return lambda own, _: rewrite(own, change)


def without_window(expression: Expression, _: Trace) -> Expression | None:
    """The mask without the ends of a window; that no query sees what comes later is still said.

    None where nothing else hides a key: then the mask is forgotten.
    """
    own = _conditions(expression)
    kept = tuple(condition for condition in own if not _ends_window(condition))
    return _showing(kept, expression) if kept else None


def _ends_window(condition: Expression) -> bool:
    """j >= i - left, or j <= i + right."""
    match condition:
        case Call("ge", (Name("j"), _)):
            return True
        case Call("le", (Name("j"), _)):
            return any(map(_is_reach, walk(condition)))
        case _:
            return False


# The masks of entries, and queries that see no key


def tiled_over_heads(expression: Expression, trace: Trace) -> Expression | None:
    """Entry and head counted through together, and the mask of every so many-th taken, as a program
    does that tiles the masks of entries for all heads and does not repeat each.
    """
    if "mask" not in trace:
        return None
    own = trace.steps["mask"].rule.target.letters
    letters = trace.steps["masked"].rule.target.letters
    if BATCH not in own or HEAD in own or HEAD not in letters:
        return None
    entries = trace["mask"].shape[0]
    heads = trace["weights"].shape[-3]
    if entries == 1 or heads == 1:
        return None
    through = Call("add", (Call("mul", (Name(BATCH), number_node(heads))), Name(HEAD)))
    entry = Call("mod", (through, number_node(entries)))

    def change(node: Expression) -> Expression:
        if isinstance(node, Ref) and node.name == "mask":
            return Ref(node.name, (entry, *node.indices[1:]))
        return node

    return rewrite(expression, change)


def of_the_first(letter: str) -> Rewrite:
    """The mask of the first head, or of the first entry, in the place of all of them."""

    def function(expression: Expression, trace: Trace) -> Expression | None:
        if "mask" not in trace:
            return None
        letters = trace.steps["mask"].rule.target.letters
        if letter not in letters:
            return None
        axis = letters.index(letter)
        mask = trace["mask"]
        if (mask == mask.take([0], axis)).all():
            return None

        def change(node: Expression) -> Expression:
            if not isinstance(node, Ref) or node.name != "mask":
                return node
            indices = (*node.indices[:axis], number_node(0), *node.indices[axis + 1 :])
            return Ref(node.name, indices)

        return rewrite(expression, change)

    return function


# Of several masks


def _parts(expression: Expression) -> tuple[tuple[Expression, ...], tuple[Expression, ...]]:
    """What a causal mask says, and what the masks beside it do; nothing where one is a window."""
    own = _conditions(expression)
    if any(_ends_window(each) for each in own):
        return (), ()
    causal = tuple(each for each in own if _is_causal(each))
    return causal, tuple(each for each in own if each not in causal)


def _is_causal(condition: Expression) -> bool:
    """j <= i, or j <= i + offset."""
    match condition:
        case Call("le", (Name("j"), _)):
            return True
        case _:
            return False


def _showing(conditions: tuple[Expression, ...], expression: Expression) -> Expression:
    """The mask with other conditions."""
    assert isinstance(expression, Call)
    value, hidden = expression.arguments[1:]
    condition = conditions[0] if len(conditions) == 1 else Call("and_", conditions)
    return Call("where", (condition, value, hidden))


def in_one_mask(mistake: Mistake, trace: Trace) -> Iterator[Changes]:
    """What a mistake changes that is made in a causal mask alone, or in what is beside it, before
    they are combined.
    """
    if "mask" not in trace or trace.steps["mask"].rule.expression is None:
        return
    own = trace.steps["mask"].rule.equation.expression
    causal, others = _parts(own)
    if not causal or not others:
        return
    for part, rest in ((causal, others), (others, causal)):
        alone = with_changes(trace, {"mask": _showing(part, own)})
        changed = mistake.change(alone)
        made = changed.get("mask")
        if len(changed) == 1 and isinstance(made, Expression):
            condition = rest[0] if len(rest) == 1 else Call("and_", rest)
            yield {"mask": Call("where", (condition, made, _MINUS_INFINITY))}


def without_causal(expression: Expression, _: Trace) -> Expression | None:
    """The masks beside a causal one alone."""
    causal, others = _parts(expression)
    return _showing(others, expression) if causal and others else None


def causal_alone(expression: Expression, _: Trace) -> Expression | None:
    """A causal mask without those beside it."""
    causal, others = _parts(expression)
    return _showing(causal, expression) if causal and others else None


def any_of_masks(expression: Expression, _: Trace) -> Expression | None:
    """What a causal mask shows, and what those beside it show."""
    causal, others = _parts(expression)
    if not causal or not others:
        return None
    by_causal = _showing(causal, expression)
    shown = _showing(others, expression)
    return Call("where", (*shown.arguments[:2], by_causal)) if isinstance(shown, Call) else None


def part_inverted(part: re.Pattern[str]) -> Rewrite:
    """The conditions that read these parameters turned round, and those beside them kept.

    None where nothing stands beside them: then the mask was inverted.
    """

    def function(expression: Expression, _: Trace) -> Expression | None:
        own = _conditions(expression)
        turned = [_turned(each) if _reads(each, part) else each for each in own]
        are_kept = [before == after for before, after in zip(own, turned, strict=True)]
        if all(are_kept) or not any(are_kept):
            return None
        return _showing(tuple(turned), expression)

    return function


def _reads(condition: Expression, part: re.Pattern[str]) -> bool:
    named = [node.name for node in walk(condition) if isinstance(node, Name | Ref)]
    return any(map(part.fullmatch, named))


def _turned(condition: Expression) -> Expression:
    """Whether a key is padding where it exists: 0 for 1, or j >= length for j < length."""
    match condition:
        case Call("eq", (sides, Number(value))) if value in (0, 1):
            return Call("eq", (sides, number_node(1 - int(value))))
        case Call("lt", sides):
            return Call("ge", sides)
        case _:
            return condition


def _has_blind_queries(trace: Trace) -> bool:
    """Whether a query sees no key; one with a sink has that at least to look at."""
    return bool(trace.fully_masked) and "sink" not in {*trace.parameters, *trace}


def even_where_blind(expression: Expression, trace: Trace) -> Expression | None:
    """Equal weights where every score of a row is hidden."""
    if not _has_blind_queries(trace):
        return None
    share = Call("div", (number_node(1), number_node(trace["weights"].shape[-1])))

    *rows, _ = trace.steps["weights"].rule.target.indices
    largest = Reduce("max", "u", Ref(trace.logits, (*rows, "u")))

    def even(arguments: tuple[Expression, ...]) -> Expression:
        is_blind = Call("eq", (largest, _MINUS_INFINITY))
        return Call("where", (is_blind, share, Call("share", arguments)))

    return with_calls("share", even)(expression, trace)


def undefined_where_blind(expression: Expression, trace: Trace) -> Expression | None:
    """A division by 0 where the sum of a row is 0."""
    if not _has_blind_queries(trace):
        return None
    divided = with_calls("share", lambda arguments: Call("div", arguments))
    return divided(expression, trace)


# What is added to the scores


def _added(expression: Expression) -> tuple[Expression, tuple[Expression, ...], Expression | None]:
    """The scores, the biases of positions and the mask of masked scores."""
    scores: Expression = expression
    mask: Expression | None = None
    if isinstance(expression, Call) and expression.function == "add_mask":
        scores, mask = expression.arguments
    first, *biases = _terms(scores)
    return first, tuple(biases), mask


def _terms(expression: Expression) -> Iterator[Expression]:
    match expression:
        case Call("add", terms):
            for term in terms:
                yield from _terms(term)
        case _:
            yield expression


def _adds_numbers(trace: Trace) -> bool:
    """Whether the mask does more than to hide keys."""
    if "mask" not in trace:
        return False
    mask = trace["mask"]
    return bool((np.isfinite(mask) & (mask != 0)).any())


def scaled_with_mask(expression: Expression, trace: Trace) -> Expression | None:
    """The masked scores scaled once more."""
    return scaled_once_more(expression, trace) if _can_scale_mask(trace) else None


def _can_scale_mask(trace: Trace) -> bool:
    """Whether there is a mask, and the scale leaves -inf what it is."""
    scale = trace.settings.scale
    return "mask" in trace and scale is not None and scale > 0


def bias_scaled(expression: Expression, trace: Trace) -> Expression | None:
    """What is added to the scores scaled as they are, as a program does that adds it before."""
    scores, biases, mask = _added(expression)
    if "scaled" not in trace or "capped" in trace:
        return None
    if mask is not None and _adds_numbers(trace) and _can_scale_mask(trace):
        mask = scaled_once_more(mask, trace)
    elif not biases:
        return None
    scaled = scores
    for bias in biases:
        term = scaled_once_more(bias, trace)
        assert term is not None
        scaled = Call("add", (scaled, term))
    return scaled if mask is None else Call("add_mask", (scaled, mask))


def bias_in_softcap(expression: Expression, trace: Trace) -> Expression | None:
    """What is added to the scores added before they are bent; -inf still hides.

    None for a mask that hides nothing: then the softcap is put on the masked scores.
    """
    if "capped" not in trace:
        return None
    inside = without_softcap(trace.steps["capped"].rule.equation.expression, trace)
    _, biases, mask = _added(expression)
    for bias in biases:
        inside = Call("add", (inside, bias))
    if mask is None:
        return _capped(inside)
    if not _adds_numbers(trace) or not np.isneginf(trace["mask"]).any():
        return Call("add_mask", (_capped(inside), mask)) if biases else None
    bent = _capped(Call("add", (inside, mask)))
    return Call("where", (_is_hidden(mask), _MINUS_INFINITY, bent))


# Softcap and sink


def _capped(expression: Expression) -> Expression:
    softcap = Name("softcap")
    return Call("mul", (softcap, Call("tanh", (Call("div", (expression, softcap)),))))


def softcap_after_mask(expression: Expression, trace: Trace) -> Expression | None:
    """The mask added first, and all of it bent: what is hidden becomes -softcap."""
    if "capped" not in trace or "mask" not in trace or not isinstance(expression, Call):
        return None
    before = without_softcap(trace.steps["capped"].rule.equation.expression, trace)
    mask = expression.arguments[1]
    bent = _capped(Call("add", (before, mask)))
    # The equation says so itself: -inf that is divided has no magnitude.
    return Call("where", (_is_hidden(mask), Call("neg", (Name("softcap"),)), bent))


def without_softcap(expression: Expression, _: Trace) -> Expression:
    """What a softcap is put on."""
    return next(node for node in walk(expression) if isinstance(node, Ref))


def softcap_before_scale(_: Expression, trace: Trace) -> Expression | None:
    """The scores bent first, and then scaled."""
    if "scaled" not in trace:
        return None
    of_scores = without_softcap(trace.steps["scaled"].rule.equation.expression, trace)
    return scaled_once_more(_capped(of_scores), trace)


def _is_sink(node: Expression) -> bool:
    return isinstance(node, Name | Ref) and node.name == "sink"


def without_sink(trace: Trace) -> Changes:
    """Shares of the sum of a row without the sink; the sums themselves may have it, where the
    weights were then divided by their own.
    """
    if "sink" not in {*trace.parameters, *trace}:
        return {}
    sums = rewritten(row_sum=_without_sink)
    weights = equations("weights[i, j] = share(exp[i, j], sum(u, exp[i, u]))")
    return any_of(sums, weights)(trace)


def _without_sink(expression: Expression, _: Trace) -> Expression:
    return next(node for node in walk(expression) if isinstance(node, Reduce))


def sink_scaled(expression: Expression, trace: Trace) -> Expression | None:
    """The sink scaled as a score is."""

    def change(node: Expression) -> Expression:
        return scaled_once_more(node, trace) or node if _is_sink(node) else node

    return rewrite(expression, change)


# All of them


def _number(text: str) -> Number:
    return Number(Fraction(text), text)


def _mask_mistake(id: str, name: str, used: Rewrite) -> Mistake:
    """A mistake in the use of a mask: other software may hand over the right one beside it."""
    return Mistake(id, name, rewritten(mask=used), optional=("mask",))


MASK_MISTAKES: tuple[Mistake, ...] = (
    Mistake("softcap-left-out", "the softcap was left out", rewritten(capped=without_softcap)),
    Mistake(
        "softcap-before-scale",
        "the softcap was applied before the scale",
        rewritten(capped=softcap_before_scale),
    ),
    Mistake(
        "softcap-after-mask",
        "the softcap was applied after the mask",
        rewritten(masked=softcap_after_mask),
    ),
    Mistake(
        "mask-forgotten",
        "the mask was forgotten",
        rewritten(mask=adding_nothing, masked=without_mask),
        optional=("mask",),
    ),
    _mask_mistake("mask-inverted", "the mask was inverted", inverted),
    _mask_mistake("padding-inverted", "the padding was inverted", part_inverted(_PADDING)),
    _mask_mistake(
        "mask-matrix-inverted",
        "the matrix of the mask was inverted, but not the masks beside it",
        part_inverted(_MATRIX),
    ),
    _mask_mistake(
        "causal-hides-past",
        "the causal mask hid what comes before, not what comes after",
        hiding_the_past,
    ),
    Mistake(
        "mask-transposed",
        "the mask was transposed",
        rewritten(mask=with_i_and_j_exchanged),
        optional=("mask",),
        unlike="causal-hides-past",
    ),
    _mask_mistake("mask-hides-itself", "the mask hid each token from itself", hiding_itself),
    _mask_mistake("mask-sees-next", "the mask let each token see the next one", seeing_the_next),
    _mask_mistake("mask-other-corner", "the mask was aligned to the other corner", other_corner),
    _mask_mistake("window-too-wide", "the window was one key too wide", _with_reach("add")),
    _mask_mistake("window-too-narrow", "the window was one key too narrow", _with_reach("sub")),
    _mask_mistake("window-ignored", "the window was ignored", without_window),
    Mistake(
        "mask-tiled-over-heads",
        "the masks of the entries were tiled over the heads, not repeated",
        rewritten(masked=tiled_over_heads),
    ),
    Mistake(
        "mask-of-first-head",
        "the mask of the first head was used for all heads",
        rewritten(masked=of_the_first(HEAD)),
    ),
    Mistake(
        "mask-of-first-entry",
        "the mask of the first entry was used for all entries",
        rewritten(masked=of_the_first(BATCH)),
    ),
    _mask_mistake(
        "causal-left-out-beside", "the causal mask was left out beside another", without_causal
    ),
    _mask_mistake(
        "mask-left-out-beside-causal",
        "the mask beside a causal one was left out",
        causal_alone,
    ),
    _mask_mistake(
        "masks-joined-by-or",
        "a key was seen where one of the masks shows it, not where all do",
        any_of_masks,
    ),
    Mistake(
        "hidden-set-to-0",
        "hidden scores were set to 0, not to -inf",
        rewritten(masked=hidden_set_to(number_node(0))),
    ),
    Mistake(
        "mask-after-softmax",
        "the mask was put on the weights, after the softmax",
        rewritten(masked=without_mask, weights=mask_on_weights),
    ),
    _mask_mistake(
        "mask-1-for-seen-added",
        "a mask of 1 for seen and 0 for hidden was added to the scores, as it is",
        added_as_is(1, 0),
    ),
    _mask_mistake(
        "mask-1-for-hidden-added",
        "a mask of 0 for seen and 1 for hidden was added to the scores, as it is",
        added_as_is(0, 1),
    ),
    *(
        _mask_mistake(
            f"{in_id(text)}-added",
            f"{text} was added instead of -inf",
            hidden_by_adding(_number(text)),
        )
        for text in SENTINELS
    ),
    *(
        Mistake(
            f"hidden-set-to-{in_id(text)}",
            f"hidden scores were set to {text}, not to -inf",
            rewritten(mask=hidden_by_adding(_number(text)), masked=hidden_set_to(_number(text))),
            optional=("mask",),
        )
        for text in SENTINELS
    ),
    Mistake(
        "scale-twice-with-mask",
        "the masked scores were scaled once more",
        rewritten(masked=scaled_with_mask),
    ),
    Mistake(
        "bias-scaled",
        "the bias was scaled with the scores",
        rewritten(masked=bias_scaled),
    ),
    Mistake(
        "bias-in-softcap",
        "the bias was put inside the softcap",
        rewritten(masked=bias_in_softcap),
    ),
    Mistake(
        "sink-left-out",
        "the sink got no share of the weights",
        without_sink,
        optional=("row_sum",),
    ),
    Mistake(
        "sink-scaled",
        "the sink was scaled as a score is",
        any_of(rewritten(row_max=sink_scaled), rewritten(row_sum=sink_scaled)),
    ),
    Mistake(
        "no-key-average",
        "a query that sees no key got the average of all values",
        rewritten(weights=even_where_blind),
        convention=True,
    ),
    Mistake(
        "no-key-nan",
        "a query that sees no key got NaN",
        rewritten(weights=undefined_where_blind),
        convention=True,
    ),
)
