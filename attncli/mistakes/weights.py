"""The mistakes people make when they convert the weights of a model: parts of one matrix taken for
others, features put in another order for RoPE, biases lost.

Each is said in the equations of queries, keys and values, which read the weights at other places.
Where the weights themselves are known on both sides, `in_weights.py` has what they are with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from attncli.equation.nodes import Expression, Ref, rewrite
from attncli.equation.parser import parse_expression
from attncli.mistakes.model import (
    Change,
    Changes,
    Mistake,
    Rewrite,
    any_of,
    rewritten,
    with_letters,
    without_bias,
)
from attncli.problem.keys import Pairing
from attncli.problem.matrix import Scalar
from attncli.tracing.model import Trace

# The text of what a head of Q, K or V reads: its name, its letter, and a cell of weights in which a
# name and a head are left open.
TextOfBlock: TypeAlias = Callable[[str, str, str], str]
_PROJECTED = ("Q", "K", "V")


# Biases


def without_biases(trace: Trace) -> Changes:
    """Queries, keys and values without their biases; nothing where fewer than two have one."""
    found: dict[str, Expression] = {}
    for name in _PROJECTED:
        step = _step_of(name, trace)
        if f"b_{name}" not in trace or trace.steps[step].rule.given:
            continue
        own = trace.steps[step].rule.equation.expression
        found[step] = without_bias(own, trace)
    return found if len(found) > 1 else {}


def _step_of(name: str, trace: Trace) -> str:
    """The step that weights give: beside a cache it is that of the new keys and values."""
    new = f"new_{name}"
    return new if new in trace else name


# Parts taken for others


def taken_for(**others: str) -> Change:
    """The equation of V for that of K, say, with the letters of the step that it stands in."""
    return rewritten(**{name: _as_other(name, other) for name, other in others.items()})


def _as_other(name: str, other: str) -> Rewrite:
    def function(_: Expression, trace: Trace) -> Expression | None:
        own, others = trace.steps[name], trace.steps[other]
        if "past_K" in trace or others.rule.given or own.shape != others.shape:
            return None
        letters = zip(others.rule.target.letters, own.rule.target.letters, strict=True)
        return with_letters(others.rule.equation.expression, dict(letters))

    return function


# One matrix of all queries, keys and values. It is made of blocks, each of one head, in one of two
# orders: first all queries, then all keys, then all values; or group by group, each with its
# queries and the one head of keys and of values that these share.


class _Fused(NamedTuple):
    """How many heads and groups a matrix of all queries, keys and values has."""

    heads: int
    groups: int

    @property
    def queries(self) -> int:
        """How many query heads a group has."""
        return self.heads // self.groups

    def place_in_parts(self, name: str, head: str) -> str:
        """Where a block stands if all queries come first."""
        before = {"Q": 0, "K": self.heads, "V": self.heads + self.groups}
        return f"({before[name]} + {head})"

    def place_in_groups(self, name: str, head: str) -> str:
        """Where a block stands if the blocks of a group stand together."""
        size = self.queries + 2
        if name == "Q":
            return f"({head} // {self.queries} * {size} + {head} % {self.queries})"
        in_group = self.queries if name == "K" else self.queries + 1
        return f"({head} * {size} + {in_group})"

    def block_of_parts(self, place: str, cell: str) -> str:
        """The block at a place if all queries come first; `cell` has what a head stands in."""
        values_from = self.heads + self.groups
        query = cell.format("Q", place)
        key = cell.format("K", f"{place} - {self.heads}")
        value = cell.format("V", f"{place} - {values_from}")
        is_query = f"{place} < {self.heads}"
        is_key = f"{place} < {values_from}"
        return f"where({is_query}, {query}, where({is_key}, {key}, {value}))"

    def block_of_groups(self, place: str, cell: str) -> str:
        """The block at a place if the blocks of a group stand together."""
        size = self.queries + 2
        group = f"{place} // {size}"
        in_group = f"{place} % {size}"
        query = cell.format("Q", f"{group} * {self.queries} + {in_group}")
        key = cell.format("K", group)
        value = cell.format("V", group)
        is_query = f"{in_group} < {self.queries}"
        is_key = f"{in_group} == {self.queries}"
        return f"where({is_query}, {query}, where({is_key}, {key}, {value}))"


def _fused(trace: Trace) -> _Fused | None:
    """The matrix that all heads may be cut from; None where they have other widths, or where keys
    and values are made of something else.
    """
    if "context" in trace or "past_K" in trace:
        return None
    weights = [trace[f"W_{name}"] for name in _PROJECTED if f"W_{name}" in trace]
    biases = [name for name in _PROJECTED if f"b_{name}" in trace]
    if len(weights) < len(_PROJECTED) or len(biases) not in (0, len(_PROJECTED)):
        return None
    if any(each.ndim != 3 or each.shape[1:] != weights[0].shape[1:] for each in weights):
        return None
    heads, groups = len(weights[0]), len(weights[1])
    return _Fused(heads, groups) if heads > 1 else None


def cut_in_groups(trace: Trace) -> Changes:
    """Heads cut group by group from a matrix that has all queries first."""
    fused = _fused(trace)
    if fused is None:
        return {}

    def block(name: str, head: str, cell: str) -> str:
        return fused.block_of_parts(fused.place_in_groups(name, head), cell)

    return _with_blocks(trace, block)


def cut_in_parts(trace: Trace) -> Changes:
    """All queries, then all keys, then all values, cut from a matrix that has groups."""
    fused = _fused(trace)
    if fused is None:
        return {}

    def block(name: str, head: str, cell: str) -> str:
        return fused.block_of_groups(fused.place_in_parts(name, head), cell)

    return _with_blocks(trace, block)


def _with_blocks(trace: Trace, block: TextOfBlock) -> Changes:
    """Queries, keys and values that read other blocks of the weights and biases."""

    def function(name: str) -> Rewrite:
        def change(node: Expression) -> Expression:
            if not isinstance(node, Ref) or node.name not in (f"W_{name}", f"b_{name}"):
                return node
            # Another mistake may read it by other places than letters already.
            if len(node.letters) < len(node.indices):
                return node
            head, *others = node.letters
            kind = node.name[0]
            cell = f"{kind}_{{}}[{{}}, {', '.join(others)}]"
            return parse_expression(block(name, head, cell))

        return lambda own, _: rewrite(own, change)

    return rewritten(**{name: function(name) for name in _PROJECTED})(trace)


# Features in another order


def cut_by_features(trace: Trace) -> Changes:
    """Heads cut from columns that have the first features of all heads, then the second ones, and
    so on.
    """

    def function(name: str) -> Rewrite:
        def change(own: Expression, _: Trace) -> Expression | None:
            shape = trace.shapes().get(f"W_{name}", ())
            if len(shape) != 3 or shape[0] == 1:
                return None
            heads, width = shape[0], shape[-1]
            letters = trace.steps[f"W_{name}"].rule.target.letters
            head, feature = letters[0], letters[-1]
            place = f"({feature} * {heads} + {head})"
            moved = {
                head: parse_expression(f"{place} // {width}"),
                feature: parse_expression(f"{place} % {width}"),
            }
            return with_letters(own, moved)

        return change

    if "past_K" in trace:
        return {}
    # A single head of keys and values has nothing to be cut from.
    return any_of(*(rewritten(**{name: function(name)}) for name in _PROJECTED))(trace)


def to_pairs(width: int) -> str:
    """Which feature comes to a place where the halves of a head are put side by side, pair by
    pair.
    """
    return f"k // 2 + k % 2 * {width // 2}"


def to_halves(width: int) -> str:
    """Which feature comes to a place where the first ones of all pairs come first."""
    return f"k * 2 % {width} + k * 2 // {width}"


def with_features(order: Callable[[int], str], pairing: Pairing) -> Change:
    """Queries and keys whose features that turn are in another order, where RoPE pairs them so."""

    def change(trace: Trace) -> Changes:
        if "Q_rot" not in trace or trace.settings.pairing != pairing:
            return {}
        width = _width(trace)
        if width % 2 or width < 4:
            return {}
        place = order(width)
        if width < trace["K"].shape[-1]:
            place = f"where(k < {width}, {place}, k)"
        places = {"k": parse_expression(place)}
        steps = [_step_of(name, trace) for name in ("Q", "K")]
        return rewritten(**dict.fromkeys(steps, lambda own, _: with_letters(own, places)))(trace)

    return change


def _width(trace: Trace) -> int:
    """How many features of a head turn."""
    turned = trace.parameters.get("rotary_dim")
    return int(turned.value) if isinstance(turned, Scalar) else int(trace["K"].shape[-1])


# All of them

WEIGHT_MISTAKES: tuple[Mistake, ...] = (
    Mistake(
        "all-biases-left-out",
        "the biases of all projections were left out",
        without_biases,
    ),
    Mistake(
        "q-k-exchanged",
        "Q and K were exchanged, with their biases",
        taken_for(Q="K", K="Q"),
        unlike="w-q-w-k-swapped",
    ),
    Mistake(
        "q-v-exchanged",
        "Q and V were exchanged, with their biases",
        taken_for(Q="V", V="Q"),
        unlike="w-q-w-v-swapped",
    ),
    Mistake(
        "k-v-q-for-q-k-v",
        "K, V and Q were taken for Q, K and V",
        taken_for(Q="K", K="V", V="Q"),
    ),
    Mistake(
        "v-q-k-for-q-k-v",
        "V, Q and K were taken for Q, K and V",
        taken_for(Q="V", K="Q", V="K"),
    ),
    Mistake(
        "fused-cut-by-heads",
        "one matrix was cut head by head into Q, K and V, though it had all of Q first",
        cut_in_groups,
    ),
    Mistake(
        "fused-cut-by-parts",
        "one matrix was cut into all of Q, all of K and all of V, though it had them head by head",
        cut_in_parts,
    ),
    Mistake(
        "heads-cut-by-features",
        "heads were cut feature by feature from Q, K and V",
        cut_by_features,
    ),
    Mistake(
        "rope-features-as-pairs",
        "the features of W_Q and W_K stood as interleaved pairs of RoPE, not as halves",
        with_features(to_pairs, "half"),
    ),
    Mistake(
        "rope-features-as-halves",
        "the features of W_Q and W_K stood as halves of RoPE, not as interleaved pairs",
        with_features(to_halves, "interleaved"),
    ),
    Mistake(
        "rope-features-to-halves-twice",
        "the features of W_Q and W_K were reordered for the halves of RoPE once too often",
        with_features(to_halves, "half"),
    ),
    Mistake(
        "rope-features-to-pairs-twice",
        "the features of W_Q and W_K were reordered for the pairs of RoPE once too often",
        with_features(to_pairs, "interleaved"),
    ),
)
