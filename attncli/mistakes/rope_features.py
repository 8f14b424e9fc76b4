"""The mistakes people make with the features that RoPE turns: how many, which, and in which pairs.

With partial_rotary_factor, the first features turn, in pairs among themselves. The type
proportional pairs features of the whole key, and some pairs stand still. Programs take one for the
other.
"""

from __future__ import annotations

from collections.abc import Callable

from attncli.equation.nodes import (
    Call,
    Equation,
    Expression,
    Name,
    Number,
    Ref,
    number_node,
    rewrite,
)
from attncli.mistakes.mistaken_trace import MistakenTrace
from attncli.mistakes.model import (
    Change,
    Changes,
    Mistake,
    all_of,
    first_of,
    fitted,
    rewritten,
    with_letters,
)
from attncli.mistakes.rope_settings import (
    ATTENTION_FACTOR,
    UP_TO_ANGLES,
    for_name,
    in_any_step,
    number_of,
    with_divisors_for_pairs,
)
from attncli.problem.keys import Pairing
from attncli.problem.parts.positions import Rope
from attncli.tracing.model import Trace

# Queries and keys that are turned, with the letter of their rows.
_ROWS = {"Q_rot": "i", "K_rot": "j"}


def _angles_of(name: str, trace: Trace) -> str:
    angles = f"{name[0]}_angles"
    return angles if angles in trace else "angles"


def _pairing(trace: Trace) -> Pairing:
    return "half" if trace.settings.pairing == "half" else "interleaved"


def _turned_in(
    trace: Trace, name: str, pairing: Pairing, *, width: int, is_partial: bool
) -> Expression:
    """Q_rot or K_rot where the first features turn, so many, by the angles of this trace."""
    angles = _angles_of(name, trace)
    is_behind_cache = name == "Q_rot" and angles == "angles" and "past" in trace.parameters
    shift = " + past" if is_behind_cache else ""
    is_scaled = ATTENTION_FACTOR in (*trace, *trace.parameters)
    rule = Rope.rotated(
        name, pairing, shift, is_partial=is_partial, is_scaled=is_scaled, angles=angles
    )
    numbers = {"half": number_node(width // 2), "rotary_dim": number_node(width)}

    def change(node: Expression) -> Expression:
        if not isinstance(node, Name):
            return node
        if node.name in trace:
            return Ref(node.name)
        return numbers.get(node.name, node)

    return rewrite(rule.equation.expression, change)


def _in_both(made: Callable[[Trace, str], Expression | None]) -> Change:
    """Q_rot and K_rot, each as it is made for a single head."""

    def change(trace: Trace) -> Changes:
        found = []
        for name, row in _ROWS.items():
            expression = made(trace, name) if name in trace else None
            if expression is None:
                return {}
            found.append(Equation(Ref(name, (row, "k")), expression))
        return fitted(trace, *found)

    return change


def _own(name: str) -> Ref:
    """The feature that is turned, as it was before."""
    return Ref(name[0], (_ROWS[name], "k"))


def _d_k(trace: Trace) -> int:
    return int(trace["K"].shape[-1])


def _width(trace: Trace) -> int:
    """How many features turn; of the proportional type, twice its pairs."""
    turned = number_of(trace, "rotary_dim")
    if turned is not None:
        return int(turned)
    return 2 * int(number_of(trace, "turning_pairs") or 0)


def _is_partial(trace: Trace) -> bool:
    return "rotary_dim" in trace.parameters


def _is_proportional(trace: Trace) -> bool:
    """Whether some pairs of the proportional type stay as they are."""
    pairs = number_of(trace, "turning_pairs")
    return pairs is not None and 0 < 2 * pairs < _d_k(trace)


def inlined(expression: Expression, trace: Trace) -> Expression:
    """The expression with the equations of the steps up to the angles for their cells."""

    def change(node: Expression) -> Expression:
        if not isinstance(node, Ref) or node.name not in UP_TO_ANGLES or node.name not in trace:
            return node
        rule = trace.steps[node.name].rule
        # An equation of a single head does not have the letters of entries and heads.
        letters = rule.target.letters[len(rule.target.letters) - len(node.indices) :]
        places = dict(zip(letters, node.indices, strict=True))
        return inlined(with_letters(rule.equation.expression, places), trace)

    return rewrite(expression, change)


def _all_features(trace: Trace, name: str) -> Expression | None:
    """All features turn, by frequencies of as many pairs."""
    d_k = _d_k(trace)
    if not _is_partial(trace) or d_k % 2 or with_divisors_for_pairs(trace):
        return None
    expression = _turned_in(trace, name, _pairing(trace), width=d_k, is_partial=False)
    expression = inlined(expression, trace)
    return for_name("rotary_dim", "d_k")(expression, trace)


def _with_all_features(trace: Trace) -> Changes:
    """Queries and keys whose features all turn; with a ramp in numbers, as an equation with a ramp
    in every angle would be too long.
    """
    changes = _in_both(_all_features)(trace)
    if "ramp" not in trace or not changes:
        return changes
    mistaken = MistakenTrace(trace, changes)
    return {name: mistaken[name] for name in changes}


def _all_pairs(expression: Expression, _: Trace) -> Expression | None:
    """The proportional type without pairs that stand still."""
    match expression:
        case Call("where", (_, turning, Number())):
            return turning
        case _:
            return None


def _last_features(trace: Trace, name: str) -> Expression | None:
    """The last features turn, and the first ones pass."""
    if not _is_partial(trace):
        return None
    width, passed = _width(trace), number_node(_d_k(trace) - _width(trace))
    turned = _turned_in(trace, name, _pairing(trace), width=width, is_partial=True)
    turned = with_letters(turned, {"k": Call("sub", (Name("k"), passed))})

    def back(node: Expression) -> Expression:
        if not isinstance(node, Ref) or node.name != name[0]:
            return node
        *rows, place = node.indices
        feature = Name(place) if isinstance(place, str) else place
        return Ref(node.name, (*rows, Call("add", (feature, passed))))

    passes = Call("lt", (Name("k"), passed))
    return Call("where", (passes, _own(name), rewrite(turned, back)))


def _share_of_share(trace: Trace) -> int:
    """How many features turn where the share is taken twice; 0 where these are no pairs."""
    if not _is_partial(trace):
        return 0
    width = _width(trace) ** 2 // _d_k(trace)
    return 0 if width % 2 else width


def _fewer_features(trace: Trace, name: str) -> Expression | None:
    """So many features turn as a share of a share."""
    width = _share_of_share(trace)
    if not width:
        return None
    return _turned_in(trace, name, _pairing(trace), width=width, is_partial=True)


def _divisor_of_fewer(expression: Expression, trace: Trace) -> Expression | None:
    width = _share_of_share(trace)
    return for_name("rotary_dim", f"{width}")(expression, trace) if width else None


def _across_key(trace: Trace, name: str) -> Expression | None:
    """Pairs half a key apart, as many as turn."""
    d_k = _d_k(trace)
    if not _is_partial(trace) or _pairing(trace) != "half" or d_k % 2:
        return None
    half, pairs = number_node(d_k // 2), number_node(_width(trace) // 2)
    first = Call("lt", (Name("k"), pairs))
    beyond = Call("sub", (Name("k"), half))
    starts, ends = Call("le", (half, Name("k"))), Call("lt", (beyond, pairs))
    whole = _turned_in(trace, name, "half", width=d_k, is_partial=False)
    match whole:
        case Call("where", (_, one, other)):
            second = Call("where", (Call("and_", (starts, ends)), other, _own(name)))
            return Call("where", (first, one, second))
        case _:
            raise TypeError(f"no rotation: {whole!r}")


def _within_part(trace: Trace, name: str) -> Expression | None:
    """Pairs within the first features, as many as turn."""
    if not _is_proportional(trace) or _pairing(trace) != "half":
        return None
    return _turned_in(trace, name, "half", width=_width(trace), is_partial=True)


def _other_divisor(expression: Expression, trace: Trace) -> Expression | None:
    """The numbers of pairs divided by d_k for rotary_dim."""
    return for_name("rotary_dim", "d_k")(expression, trace) if _is_partial(trace) else None


def _divisor_of_part(expression: Expression, trace: Trace) -> Expression | None:
    """The numbers of pairs divided by the features that turn, and not by all."""
    if not _is_proportional(trace):
        return None
    return for_name("d_k", f"{_width(trace)}")(expression, trace)


DIVIDED_BY_D_K = in_any_step(_other_divisor)
DIVIDED_BY_PART = in_any_step(_divisor_of_part)
ACROSS_KEY = _in_both(_across_key)
WITHIN_PART = _in_both(_within_part)
FEATURE_MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "rope-all-features",
        "RoPE rotated all features, not the share that partial_rotary_factor says",
        first_of(_with_all_features, rewritten(frequencies=_all_pairs)),
    ),
    Mistake(
        "rope-share-twice",
        "RoPE took the share partial_rotary_factor twice",
        all_of(in_any_step(_divisor_of_fewer), _in_both(_fewer_features)),
    ),
    Mistake(
        "rope-last-features",
        "RoPE rotated the last features, not the first",
        _in_both(_last_features),
    ),
    Mistake(
        "rope-divided-by-d-k",
        "the numbers of RoPE's pairs were divided by d_k, not by the features that turn",
        DIVIDED_BY_D_K,
    ),
    Mistake(
        "rope-divided-by-part",
        "the numbers of RoPE's pairs were divided by the features that turn, not by d_k",
        DIVIDED_BY_PART,
    ),
    Mistake(
        "rope-pairs-across-key",
        "RoPE paired features half a key apart, not half of the part that turns",
        ACROSS_KEY,
    ),
    Mistake(
        "rope-pairs-within-part",
        "RoPE paired features half of the part that turns apart, not half a key",
        WITHIN_PART,
    ),
    Mistake(
        "rope-as-proportional",
        "RoPE was that of rope_type: proportional",
        all_of(DIVIDED_BY_D_K, ACROSS_KEY),
    ),
    Mistake(
        "rope-as-partial",
        "RoPE was that of partial_rotary_factor alone, not of rope_type: proportional",
        all_of(DIVIDED_BY_PART, WITHIN_PART),
    ),
)
