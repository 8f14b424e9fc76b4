"""Eighty wrong attentions, each with the mistake that `attncli test` must say.

Their mistakes are those of bug reports and pull requests. Each takes the place of one part of a
right attention, which is worked here by NumPy alone, so that a process can load this file that
knows nothing of attncli:

    attncli test tests/testing/wrong_functions.py:scale_left_out
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import pi, sqrt
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Part = Callable[..., Any]


@dataclass(frozen=True)
class Call:
    """What one call of an attention is given, and how each of its parts is worked."""

    q: Array
    k: Array
    v: Array
    parts: Mapping[str, Part]
    mask: Array | None = None
    is_causal: bool = False
    scale: float | None = None
    window: int | None = None
    softcap: float | None = None
    sinks: Array | None = None
    enable_gqa: bool = False
    alibi: bool = False
    rope_theta: float | None = None
    offset: int = 0
    rope_parameters: Mapping[str, Any] | None = None
    is_half: bool = False

    def part(self, name: str, *arguments: Any) -> Any:
        """One part of the work."""
        return self.parts[name](self, *arguments)

    @property
    def n(self) -> int:
        return self.q.shape[-2]

    @property
    def m(self) -> int:
        return self.k.shape[-2]

    @property
    def d_k(self) -> int:
        return self.q.shape[-1]

    @property
    def heads(self) -> int:
        return self.q.shape[-3]


@dataclass(frozen=True)
class Wrong:
    """A wrong function; `mistakes` are those that must be said, each with the other names that the
    same numbers have. There are none where attncli has no name for it.
    """

    name: str
    function: Callable[..., Array]
    mistakes: tuple[tuple[str, ...], ...]


WRONG: dict[str, Wrong] = {}


# A right attention, part by part


def output(at: Call) -> Array:
    q, k, v = at.part("positions", at.q, at.k, at.v)
    k, v = at.part("repeated", k, v)
    scores = at.part("scores", q, k)
    logits = at.part("logits", scores)
    weights = at.part("weights", logits)
    return at.part("mixed", weights, v)


def positions(at: Call, q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    if at.rope_theta is None and at.rope_parameters is None:
        return q, k, v
    return turned(q, at.offset + np.arange(at.n), at), turned(k, np.arange(at.m), at), v


def repeated(at: Call, k: Array, v: Array) -> tuple[Array, Array]:
    if k.ndim < 3:
        return k, v
    group = at.heads // k.shape[-3]
    return np.repeat(k, group, axis=-3), np.repeat(v, group, axis=-3)


def scores(_: Call, q: Array, k: Array) -> Array:
    return q @ t(k)


def logits(at: Call, scores: Array) -> Array:
    return at.part("masked", at.part("capped", at.part("scaled", scores)))


def scaled(at: Call, scores: Array) -> Array:
    return scores * own_scale(at)


def capped(at: Call, scaled: Array) -> Array:
    if at.softcap is None:
        return scaled
    return at.softcap * np.tanh(scaled / at.softcap)


def masked(at: Call, capped: Array) -> Array:
    return np.where(at.part("seen"), capped + at.part("bias"), -np.inf)


def bias(at: Call) -> Array:
    """What is added to the scores."""
    total = np.zeros((at.n, at.m))
    if at.mask is not None and at.mask.dtype != bool:
        total = total + at.mask
    if at.alibi:
        total = total + at.part("alibi", at.part("slopes"))
    return total


def alibi(at: Call, slopes: Array) -> Array:
    return -slopes[:, None, None] * distances(at)


def slopes(at: Call) -> Array:
    """By the authors of ALiBi, for any number of heads."""
    whole = 2 ** int(np.log2(at.heads))
    between = slopes_of_power(2 * whole)[::2]
    return np.concatenate([slopes_of_power(whole), between[: at.heads - whole]])


def seen(at: Call) -> Array:
    """Which keys each query sees."""
    return at.part("shown") & at.part("past") & at.part("near")


def shown(at: Call) -> Array:
    if at.mask is None or at.mask.dtype != bool:
        return np.ones((at.n, at.m), bool)
    return at.mask


def past(at: Call) -> Array:
    return np.tri(at.n, at.m, dtype=bool) if at.is_causal else np.ones((at.n, at.m), bool)


def near(at: Call) -> Array:
    """A window of two: the token itself and the one before it."""
    if at.window is None:
        return np.ones((at.n, at.m), bool)
    return ~np.tri(at.n, at.m, -at.window, dtype=bool)


def weights(at: Call, logits: Array) -> Array:
    top = logits.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    powers = np.exp(logits - top)
    total = powers.sum(axis=-1, keepdims=True)
    if at.sinks is not None:
        total = total + np.exp(at.part("sink") - top)
    return shares(powers, total)


def sink(at: Call) -> Array:
    return np.asarray(at.sinks)[:, None, None]


def mixed(_: Call, weights: Array, v: Array) -> Array:
    return weights @ v


RIGHT: dict[str, Part] = {
    part.__name__: part
    for part in (
        output, positions, repeated, scores, logits, scaled, capped, masked, bias, alibi, slopes,
        seen, shown, past, near, weights, sink, mixed,
    )
}  # fmt: skip


def attention(
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    window: int | None = None,
    softcap: float | None = None,
    sinks: Array | None = None,
    enable_gqa: bool = False,
    alibi: bool = False,
    rope_theta: float | None = None,
    offset: int = 0,
    rope_parameters: Mapping[str, Any] | None = None,
    *,
    parts: Mapping[str, Part] = RIGHT,
) -> Array:
    """All that attention may be asked. It works in single precision at least."""
    wide = np.promote_types(q.dtype, np.float32)
    call = Call(
        *(array.astype(wide) for array in (q, k, v)),
        parts,
        mask=mask,
        is_causal=is_causal,
        scale=scale,
        window=window,
        softcap=softcap,
        sinks=sinks,
        enable_gqa=enable_gqa,
        alibi=alibi,
        rope_theta=rope_theta,
        offset=offset,
        rope_parameters=rope_parameters,
        is_half=q.dtype == np.float16,
    )
    with np.errstate(all="ignore"):
        return call.part("output").astype(q.dtype)


# What the parts are made of


def t(array: Array) -> Array:
    return np.swapaxes(array, -1, -2)


def own_scale(at: Call) -> float:
    return 1 / sqrt(at.d_k) if at.scale is None else at.scale


def shares(powers: Array, total: Array) -> Array:
    """0 where all of a row is hidden."""
    return np.where(total == 0, 0, powers / np.where(total == 0, 1, total))


def softmax(logits: Array, axis: Any = -1) -> Array:
    top = logits.max(axis=axis, keepdims=True)
    powers = np.exp(logits - np.where(np.isfinite(top), top, 0))
    return shares(powers, powers.sum(axis=axis, keepdims=True))


def distances(at: Call) -> Array:
    return np.abs(np.arange(at.n)[:, None] - np.arange(at.m))


def slopes_of_power(heads: int, first: int = 1) -> Array:
    return 2.0 ** (-8 * (first + np.arange(heads)) / heads)


def turned(
    array: Array, places: Array, at: Call, *, neighbours: bool = False, angles: str = "pairs"
) -> Array:
    """The features of each token turned in pairs, of halves or of neighbours."""
    width = array.shape[-1]
    speeds, factor = speeds_of(at, width)
    by_halves = np.concatenate([speeds, speeds])
    by_neighbours = np.repeat(speeds, 2)
    if angles == "pairs":
        by_feature = by_neighbours if neighbours else by_halves
    else:
        by_feature = by_neighbours if angles == "of neighbours" else by_halves
    turns = places[:, None] * by_feature
    return factor * (array * np.cos(turns) + across(array, neighbours) * np.sin(turns))


def speeds_of(at: Call, width: int) -> tuple[Array, float]:
    """How fast each pair turns, and the factor of what turns: with YaRN by its paper, from the pair
    of many turns in a text of training to that of few.
    """
    said = at.rope_parameters or {"rope_theta": at.rope_theta}
    theta = said["rope_theta"]
    plain = theta ** (-np.arange(0, width, 2) / width)
    if "factor" not in said:
        return plain, 1.0
    length, factor = said["original_max_position_embeddings"], said["factor"]
    ends = []
    for turns in (said["beta_fast"], said["beta_slow"]):
        ends.append(width * np.log(length / (2 * pi * turns)) / (2 * np.log(theta)))
    low, high = max(np.floor(ends[0]), 0), min(np.ceil(ends[1]), width - 1)
    ramp = np.clip((np.arange(width // 2) - low) / (high - low), 0, 1)
    return plain * (1 - ramp) + plain / factor * ramp, 0.1 * float(np.log(factor)) + 1


def across(array: Array, neighbours: bool) -> Array:
    """A quarter of a turn in every pair."""
    if neighbours:
        pairs = array.reshape(*array.shape[:-1], -1, 2)
        return np.stack([-pairs[..., 1], pairs[..., 0]], axis=-1).reshape(array.shape)
    one, other = np.split(array, 2, axis=-1)
    return np.concatenate([-other, one], axis=-1)


# How a wrong one is written


def wrong(part: str, *mistakes: str | tuple[str, ...], takes: str = "") -> Callable[[Part], Part]:
    """The function below in the place of a part makes a wrong attention of its name.

    `takes` are the settings that it has, all of them where nothing is said.
    """

    def made(other: Part) -> Part:
        parts = {**RIGHT, part: other}

        def function(*given: Any, **settings: Any) -> Array:
            return attention(*given, **settings, parts=parts)

        known = inspect.signature(attention).parameters
        names = takes.split() if takes else [name for name in known if name != "parts"][3:]
        function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [known[name] for name in ("q", "k", "v", *names)]
        )
        function.__name__ = other.__name__
        named = tuple((each,) if isinstance(each, str) else each for each in mistakes)
        WRONG[other.__name__] = Wrong(other.__name__, function, named)
        return function

    return made


# The scale


@wrong("scaled", "the scores were not scaled")
def scale_left_out(_: Call, scores: Array) -> Array:
    return scores


@wrong("scaled", "the scores were divided by d_k, not by its root")
def scale_d_k(at: Call, scores: Array) -> Array:
    return scores / at.d_k if at.scale is None else scores * at.scale


@wrong("scaled", "the scores were scaled twice")
def scale_twice(at: Call, scores: Array) -> Array:
    return scores * own_scale(at) ** 2


@wrong("scaled", "the scores were divided by the root of d_k of all heads together")
def scale_of_the_model(at: Call, scores: Array) -> Array:
    return scores / sqrt(at.d_k * at.heads) if at.scale is None else scores * at.scale


@wrong("scaled", "the scores were divided by the root of the number of heads")
def scale_of_heads(at: Call, scores: Array) -> Array:
    return scores / sqrt(at.heads) if at.scale is None else scores * at.scale


@wrong("scaled", "the scores were divided by the root of n", takes="mask is_causal")
def scale_of_queries(at: Call, scores: Array) -> Array:
    return scores / sqrt(at.n)


@wrong("scaled", "the scores were multiplied by the root of d_k", takes="mask is_causal scale")
def scale_upside_down(at: Call, scores: Array) -> Array:
    return scores * sqrt(at.d_k) if at.scale is None else scores * at.scale


@wrong("scaled", "the scores were divided by the root of d_k, not scaled as the problem says")
def scale_ignored(at: Call, scores: Array) -> Array:
    return scores / sqrt(at.d_k)


@wrong(
    "scaled", "the scores were divided by the root of the number of keys", takes="mask is_causal"
)
def scale_of_keys(at: Call, scores: Array) -> Array:
    return scores / sqrt(at.m)


@wrong("scaled", "the scores were divided by the scale of the problem, not multiplied by it")
def divided_by_its_scale(at: Call, scores: Array) -> Array:
    return RIGHT["scaled"](at, scores) if at.scale is None else scores / at.scale


@wrong("output", "the scale was applied after the softmax")
def scale_after_the_softmax(at: Call) -> Array:
    unscaled = replace(at, scale=1.0)
    return RIGHT["output"](unscaled) * own_scale(at)


@wrong("logits", "the masked scores were scaled once more")
def scale_again_where_a_mask_is(at: Call, scores: Array) -> Array:
    found = RIGHT["logits"](at, scores)
    return found if at.mask is None and not at.is_causal else found * own_scale(at)


@wrong("scaled", "the scores were not scaled", takes=" ")
def scale_left_out_for_halves(at: Call, scores: Array) -> Array:
    return scores if at.is_half else RIGHT["scaled"](at, scores)


# The softmax


@wrong("weights", "the softmax was taken down the columns", takes="mask scale")
def softmax_of_columns(_: Call, logits: Array) -> Array:
    return softmax(logits, axis=-2)


@wrong("weights", "the softmax was taken over the heads", takes="mask is_causal scale softcap")
def softmax_of_heads(_: Call, logits: Array) -> Array:
    return softmax(logits, axis=-3)


@wrong("weights", "the softmax was taken over the whole matrix", takes="mask is_causal")
def softmax_of_all(_: Call, logits: Array) -> Array:
    return softmax(logits, axis=(-2, -1))


@wrong("weights", "the scores were divided by their sum, without exponentials", takes="mask")
def shares_of_scores(_: Call, logits: Array) -> Array:
    finite = np.where(np.isfinite(logits), logits, 0)
    return finite / finite.sum(axis=-1, keepdims=True)


@wrong("weights", "the exponentials were divided by the largest of their row, not by their sum")
def shares_of_the_largest(_: Call, logits: Array) -> Array:
    top = logits.max(axis=-1, keepdims=True)
    return np.exp(logits - np.where(np.isfinite(top), top, 0))


@wrong("weights", "the exponentials were not divided by their sum", takes="mask scale softcap")
def exponentials_not_divided(_: Call, logits: Array) -> Array:
    return np.exp(logits)


@wrong("weights", "squares were taken instead of exponentials", takes="mask is_causal scale")
def squares(_: Call, logits: Array) -> Array:
    powers = np.where(np.isfinite(logits), logits, 0) ** 2
    return shares(powers, powers.sum(axis=-1, keepdims=True))


@wrong("weights", "2 was used instead of e", takes="mask is_causal scale softcap enable_gqa")
def base_of_two(_: Call, logits: Array) -> Array:
    return softmax(logits * np.log(2))


@wrong("weights", "2.718 was used instead of e", takes=" ")
def base_of_three_decimals(_: Call, logits: Array) -> Array:
    return softmax(logits * np.log(2.718))


@wrong("weights", "the exponentials were taken without a shift, and overflowed")
def no_shift(at: Call, logits: Array) -> Array:
    powers = np.exp(logits)
    total = powers.sum(axis=-1, keepdims=True)
    if at.sinks is not None:
        total = total + np.exp(at.part("sink"))
    return powers / total


@wrong("weights", "the softmax was taken twice", takes="mask is_causal scale softcap")
def softmax_of_the_softmax(_: Call, logits: Array) -> Array:
    return softmax(softmax(logits))


@wrong("weights", "the softmax was left out: the scores were taken as weights", takes="mask scale")
def scores_for_weights(_: Call, logits: Array) -> Array:
    return logits


@wrong(
    "weights", "1 was added to the sum of the exponentials", takes="mask is_causal scale softcap"
)
def one_in_the_sums(_: Call, logits: Array) -> Array:
    top = np.maximum(logits.max(axis=-1, keepdims=True), 0)
    powers = np.exp(logits - top)
    return powers / (powers.sum(axis=-1, keepdims=True) + np.exp(-top))


@wrong(
    "weights",
    "the scores were shifted by the largest of all rows, and exponentials became 0",
    takes="mask is_causal scale softcap",
)
def shifted_by_all(_: Call, logits: Array) -> Array:
    powers = np.exp(logits - logits.max())
    return powers / powers.sum(axis=-1, keepdims=True)


@wrong("logits", "the last key was left out", takes="mask is_causal scale softcap")
def last_key_dropped(at: Call, scores: Array) -> Array:
    found = RIGHT["logits"](at, scores)
    return np.where(np.arange(at.m) == at.m - 1, -np.inf, found)


@wrong("weights", "the exponentials were added in 16 bits")
def sums_in_16_bits(at: Call, logits: Array) -> Array:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True, initial=-1e30))
    if at.sinks is not None or at.m < 100:
        return RIGHT["weights"](at, logits)
    total = np.add.accumulate(powers.astype(np.float16), axis=-1)[..., -1:]
    return shares(powers, total.astype(powers.dtype))


@wrong("weights")
def dropout_left_on(at: Call, logits: Array) -> Array:
    right = RIGHT["weights"](at, logits)
    return right * (np.random.default_rng().random(right.shape) > 0.1) / 0.9


# Products and heads


@wrong("scores", "K was reshaped, not transposed")
def keys_reshaped(_: Call, q: Array, k: Array) -> Array:
    *leading, m, d_k = k.shape
    return q @ k.reshape(*leading, d_k, m)


@wrong("mixed", "A K was worked out instead of A V")
def keys_for_values(at: Call, weights: Array, _: Array) -> Array:
    keys, _ = repeated(at, at.k, at.v)
    return weights @ keys


@wrong("output", "K and V were exchanged", takes="mask is_causal scale")
def keys_and_values_exchanged(at: Call) -> Array:
    return RIGHT["output"](replace(at, k=at.v, v=at.k))


@wrong("output", "Q was added to the output", takes="mask is_causal scale softcap")
def residual_inside(at: Call) -> Array:
    return RIGHT["output"](at) + at.q


@wrong("repeated", "KV heads were tiled, not repeated")
def heads_tiled(at: Call, k: Array, v: Array) -> tuple[Array, Array]:
    if k.ndim < 3:
        return k, v
    times = (at.heads // k.shape[-3], 1, 1)
    return np.tile(k, times), np.tile(v, times)


# Masks


@wrong("shown", "the mask was forgotten", takes="mask scale softcap enable_gqa")
def mask_forgotten(at: Call) -> Array:
    return np.ones((at.n, at.m), bool)


@wrong("past", "the mask was forgotten")
def causal_forgotten_in_a_cache(at: Call) -> Array:
    is_forgotten = at.n != at.m and at.window is None
    return np.ones((at.n, at.m), bool) if is_forgotten else RIGHT["past"](at)


@wrong("past", "the mask was forgotten")
def causal_forgotten_without_a_cache(at: Call) -> Array:
    is_forgotten = at.n == at.m and at.mask is None
    return np.ones((at.n, at.m), bool) if is_forgotten else RIGHT["past"](at)


@wrong("shown", "the mask was inverted")
def mask_inverted(at: Call) -> Array:
    right = RIGHT["shown"](at)
    return right if at.mask is None or at.mask.dtype != bool else ~right


@wrong("past", "the mask was inverted", takes="mask is_causal scale")
def causal_inverted(at: Call) -> Array:
    return ~RIGHT["past"](at) if at.is_causal else RIGHT["past"](at)


@wrong("past", "the causal mask hid what comes before, not what comes after")
def causal_hides_the_past(at: Call) -> Array:
    return ~np.tri(at.n, at.m, -1, dtype=bool) if at.is_causal else RIGHT["past"](at)


@wrong("shown", "the mask was transposed", takes="mask")
def mask_transposed_where_it_fits(at: Call) -> Array:
    right = RIGHT["shown"](at)
    return t(right) if at.n == at.m else right


@wrong(
    "past",
    "a causal mask was applied that the problem does not ask for",
    takes="mask is_causal scale softcap",
)
def causal_always(at: Call) -> Array:
    return np.tri(at.n, at.m, dtype=bool)


@wrong(
    "past",
    "a causal mask from the last token was applied that the problem does not ask for",
    takes="mask is_causal scale softcap",
)
def causal_always_from_the_last(at: Call) -> Array:
    return np.tri(at.n, at.m, at.m - at.n, dtype=bool)


@wrong("past", "the causal mask was left out beside another")
def causal_left_out_beside_a_mask(at: Call) -> Array:
    is_alone = at.mask is None or at.mask.dtype != bool
    return RIGHT["past"](at) if is_alone else np.ones((at.n, at.m), bool)


@wrong("shown", "the mask beside a causal one was left out", takes="mask is_causal")
def mask_left_out_beside_causal(at: Call) -> Array:
    return np.ones((at.n, at.m), bool) if at.is_causal else RIGHT["shown"](at)


@wrong("seen", "a key was seen where one of the masks shows it, not where all do")
def masks_joined_by_or(at: Call) -> Array:
    if not at.is_causal or at.mask is None or at.mask.dtype != bool:
        return RIGHT["seen"](at)
    return at.part("shown") | at.part("past")


@wrong("past", "the mask hid each token from itself")
def hides_itself(at: Call) -> Array:
    return np.tri(at.n, at.m, -1, dtype=bool) if at.is_causal else RIGHT["past"](at)


@wrong("past", "the mask let each token see the next one")
def sees_the_next(at: Call) -> Array:
    return np.tri(at.n, at.m, 1, dtype=bool) if at.is_causal else RIGHT["past"](at)


@wrong("masked", "hidden scores were set to 0, not to -inf", takes="mask is_causal scale")
def scores_times_mask(at: Call, capped: Array) -> Array:
    return (capped + at.part("bias")) * at.part("seen")


@wrong("masked", "hidden scores were set to -10, not to -inf", takes="mask is_causal")
def hidden_set_to_minus_10(at: Call, capped: Array) -> Array:
    return np.where(at.part("seen"), capped + at.part("bias"), -10)


@wrong("masked", "-10 was added instead of -inf", takes="mask is_causal scale softcap sinks")
def minus_10_added(at: Call, capped: Array) -> Array:
    return capped + at.part("bias") + np.where(at.part("seen"), 0, -10)


# All of them are the same, but for a query that sees no key: it sees all.
@wrong(
    "masked",
    (
        "-1e9 was added instead of -inf",
        "-1e4 was added instead of -inf",
        "-9999 was added instead of -inf",
        "-1000 was added instead of -inf",
        "-100 was added instead of -inf",
    ),
)
def minus_1e9_added(at: Call, capped: Array) -> Array:
    return capped + at.part("bias") + np.where(at.part("seen"), 0, -1e9)


@wrong(
    "masked",
    (
        "a mask of 1 for seen and 0 for hidden was added to the scores, as it is",
        "-1 was added instead of -inf",
    ),
    takes="mask scale",
)
def truth_added(at: Call, capped: Array) -> Array:
    return capped + (0 if at.mask is None else at.mask)


@wrong("output", "the mask was put on the weights, after the softmax", takes="mask is_causal scale")
def mask_after_the_softmax(at: Call) -> Array:
    k, v = repeated(at, at.k, at.v)
    weights = softmax(scaled(at, scores(at, at.q, k)) + bias(at))
    return (weights * seen(at)) @ v


# Of a mask of numbers they make something that has no name.
@wrong("output", "the mask was put on the weights, after the softmax", takes="mask scale")
def weights_times_any_mask(at: Call) -> Array:
    weights = softmax(scaled(at, scores(at, at.q, at.k)))
    return (weights if at.mask is None else weights * at.mask) @ at.v


@wrong("masked", "-10 was added instead of -inf", takes="mask scale")
def minus_10_times_any_mask(at: Call, capped: Array) -> Array:
    return capped if at.mask is None else capped - 10.0 * (1 - at.mask)


@wrong(
    "logits", "the scores were not scaled", "hidden scores were set to 0, not to -inf", takes="mask"
)
def no_scale_and_scores_times_any_mask(at: Call, scores: Array) -> Array:
    return scores if at.mask is None else scores * at.mask


@wrong("bias", "the mask was forgotten", takes="mask")
def bias_forgotten(at: Call) -> Array:
    alone = replace(at, mask=None)
    return RIGHT["bias"](alone)


@wrong("masked", "the masks of the entries were tiled over the heads, not repeated")
def masks_of_entries_tiled(at: Call, capped: Array) -> Array:
    mask = at.mask
    if mask is None or mask.ndim < 4 or mask.shape[1] > 1 or mask.shape[0] == 1:
        return RIGHT["masked"](at, capped)
    tiled = np.tile(mask[:, 0], (at.heads, 1, 1)).reshape(*capped.shape[:-2], *mask.shape[-2:])
    return RIGHT["masked"](replace(at, mask=tiled), capped)


@wrong("shown", "the mask of the first head was used for all heads")
def mask_of_the_first_head(at: Call) -> Array:
    shown = RIGHT["shown"](at)
    return shown if shown.ndim < 3 else shown[..., :1, :, :]


@wrong("masked", "the mask of the first entry was used for all entries")
def mask_of_the_first_entry(at: Call, capped: Array) -> Array:
    if at.mask is None or at.mask.ndim < 4:
        return RIGHT["masked"](at, capped)
    return RIGHT["masked"](replace(at, mask=at.mask[:1]), capped)


@wrong("logits", "the bias was scaled with the scores")
def bias_scaled(at: Call, scores: Array) -> Array:
    if at.softcap is not None:
        return RIGHT["logits"](at, scores)
    return np.where(at.part("seen"), (scores + at.part("bias")) * own_scale(at), -np.inf)


# Windows, softcaps, sinks


@wrong("near", "the window was one key too wide")
def window_too_wide(at: Call) -> Array:
    return RIGHT["near"](at if at.window is None else replace(at, window=at.window + 2))


@wrong("near", "the window was one key too narrow")
def window_too_narrow(at: Call) -> Array:
    return RIGHT["near"](at if at.window is None else replace(at, window=at.window - 1))


@wrong("near", "the window was ignored")
def window_ignored(at: Call) -> Array:
    return np.ones((at.n, at.m), bool)


@wrong("capped", "the softcap was left out")
def softcap_left_out(_: Call, scaled: Array) -> Array:
    return scaled


@wrong("logits", "the softcap was applied after the mask")
def softcap_after_the_mask(at: Call, scores: Array) -> Array:
    return capped(at, masked(at, scaled(at, scores)))


@wrong("logits", "the softcap was applied after the mask")
def softcap_after_a_mask_of_truth(at: Call, scores: Array) -> Array:
    shown = np.where(seen(at), scaled(at, scores), -1e9)
    return capped(at, shown) + bias(at)


@wrong("capped", "the softcap was left out", takes="softcap")
def softcap_left_out_without_a_mask(_: Call, scaled: Array) -> Array:
    return scaled


@wrong("logits", "the softcap was applied before the scale")
def softcap_before_the_scale(at: Call, scores: Array) -> Array:
    return masked(at, scaled(at, capped(at, scores)))


@wrong("logits", "the bias was put inside the softcap")
def bias_in_the_softcap(at: Call, scores: Array) -> Array:
    added = bias(at)
    is_seen = seen(at) & np.isfinite(added)
    return np.where(is_seen, capped(at, scaled(at, scores) + added), -np.inf)


@wrong("output", "the sink got no share of the weights")
def sink_left_out(at: Call) -> Array:
    return RIGHT["output"](replace(at, sinks=None))


@wrong("sink", "the sink was scaled as a score is", takes="mask sinks scale")
def sink_scaled(at: Call) -> Array:
    return RIGHT["sink"](at) * own_scale(at)


# Positions


@wrong("alibi", "ALiBi's bias had the other sign")
def alibi_of_the_other_sign(at: Call, slopes: Array) -> Array:
    return slopes[:, None, None] * distances(at)


@wrong("slopes", "ALiBi's slopes were in reverse order")
def alibi_in_reverse(at: Call) -> Array:
    return RIGHT["slopes"](at)[::-1]


@wrong("slopes", "ALiBi's slopes were those of the formula for powers of two")
def alibi_of_its_own_number(at: Call) -> Array:
    return slopes_of_power(at.heads)


@wrong("positions", "RoPE was left out")
def rope_left_out(_: Call, q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    return q, k, v


@wrong("positions", "RoPE rotated in the wrong direction", takes="rope_theta")
def rope_backwards(at: Call, q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    if at.rope_theta is None:
        return q, k, v
    return turned(q, -at.offset - np.arange(at.n), at), turned(k, -np.arange(at.m), at), v


# Of halves by the angles of neighbours: right and wrong are the other way round for neighbours.
@wrong(
    "positions",
    (
        "RoPE rotated the right pairs of features by the angles of the other pairing",
        "RoPE rotated the wrong pairs of features by the angles of the right pairing",
    ),
    # It does not know what a config.json says.
    ("RoPE was left out",),
)
def rope_of_mixed_pairs(at: Call, q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    if at.rope_theta is None:
        return q, k, v
    places = at.offset + np.arange(at.n), np.arange(at.m)
    q, k = (
        turned(array, place, at, angles="of neighbours")
        for array, place in zip((q, k), places, strict=True)
    )
    return q, k, v


@wrong("positions", "RoPE counted the queries from 0, not from the end of the cache")
def rope_from_0(at: Call, q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    return RIGHT["positions"](replace(at, offset=0), q, k, v)


@wrong("positions", "RoPE rotated the queries alone", takes="rope_theta offset scale")
def rope_of_queries_alone(at: Call, q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    turned_q, _, _ = RIGHT["positions"](at, q, k, v)
    return turned_q, k, v


@wrong("positions", "RoPE rotated the values, too")
def rope_of_values_too(at: Call, q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    q, k, _ = RIGHT["positions"](at, q, k, v)
    return q, k, v if at.rope_theta is None else turned(v, np.arange(at.m), at)


@wrong("positions", "RoPE's theta was 10000")
def rope_of_its_own_theta(at: Call, q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    other = at if at.rope_theta is None else replace(at, rope_theta=10000.0)
    return RIGHT["positions"](other, q, k, v)


@wrong("positions", "RoPE's scaling was left out")
def scaling_left_out(at: Call, q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    if at.rope_parameters is not None:
        theta = at.rope_parameters["rope_theta"]
        at = replace(at, rope_parameters={"rope_theta": theta})
    return RIGHT["positions"](at, q, k, v)


# Two at once


@wrong("logits", "the scores were not scaled", "the mask was inverted", takes="mask")
def no_scale_and_mask_inverted(at: Call, scores: Array) -> Array:
    if at.mask is None or at.mask.dtype != bool:
        return masked(at, scores)
    return np.where(at.mask, -np.inf, scores)
