"""What people do wrong in attention and in the backward pass, each kind of mistake made by NumPy
alone.

A mistake is another function for some steps of `in_arrays.py` or `back_in_arrays.py`. Its names are
what `attncli check` should say. They are written here once more, so that nothing is imported from
the program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random import Generator

from tests.reference.back_in_arrays import (
    RIGHT,
    by_group,
    d_keys,
    d_queries,
    d_summed_loss,
    handed_back,
    into_input,
    loss_number,
    of_mixture,
    probabilities,
    steps_of,
    summed_loss,
    through_softmax,
)
from tests.reference.in_arrays import (
    Sheet,
    Steps,
    Work,
    cut,
    default_slopes,
    joined,
    power,
    projected,
    repeated,
    shares,
    t,
    turned,
    worked,
)
from tests.reference.mistaken_rope import ROPE_MISTAKES, Wrong
from tests.reference.on_paper import Array, Needs, half_up, to_decimals
from tests.reference.rope_in_arrays import attention_factor, length_of, positions_of, said_of


@dataclass(frozen=True)
class Made:
    """A mistake that was made: what it may be called, and other work for some steps; all names are
    due if `every`.
    """

    names: tuple[str, ...]
    steps: Steps
    every: bool = False


ANY = Needs()
Make = Callable[[Sheet, Generator, int], Made]  # in a problem that is written with so many decimals


@dataclass(frozen=True)
class Kind:
    """A kind of mistake; `make` makes one in a problem that has what it `needs`. `decimals` is how
    many are written at least and at most; where it is not to be seen from the last step `alone`,
    all matrices are written.
    """

    name: str
    make: Make
    needs: Needs = ANY
    decimals: tuple[int, int] = (2, 4)
    alone: bool = True


def plain(
    name: str,
    needs: Mapping[str, Any] | None = None,
    *,
    alone: bool = True,
    decimals: tuple[int, int] = (2, 4),
    **steps: Work,
) -> Kind:
    """A kind that is always the same other work for some steps, and has but one name."""
    return Kind(
        name,
        lambda p, choice, decimals: Made((name,), steps),
        Needs(**(needs or {})),
        decimals,
        alone,
    )


PROJECTED = {"projected": True}
SQUARE = {"square": True}
MASKED = {"mask": "some"}
CAUSAL = {"mask": "causal"}
LAYER = {"heads": 2, "w_o": True, "mask": "none"}
SHARED = {"heads": 4, "kv_heads": 2, "w_o": True, "mask": "none"}
TURNED = {"rope": True}
BACK = {"gradient": "d_output"}
NO_MASK = {"mask": "none"}
SENTINELS = (-1e9, -1e4, -9999.0, -1000.0, -100.0, -10.0, -1.0)
ROUNDED = {0: "whole numbers", 1: "one decimal", 2: "2 decimals", 3: "3 decimals"}


def sentinel(number: float) -> str:
    return {-1e9: "-1e9", -1e4: "-1e4"}.get(number, f"{number:.0f}")


def transposed(name: str) -> Work:
    """The matrix of each head is transposed: a W_V of two heads, which is no square itself, may
    consist of two.
    """

    def work(s: Sheet) -> Array:
        heads = s.heads if name == "Q" else s.kv_heads
        weights = joined(t(cut(s[f"W_{name}"], heads)))
        return projected(name)(Sheet({**s, f"W_{name}": weights}))

    return work


def split_by_rows(name: str) -> Work:
    def work(s: Sheet) -> Array:
        flat = (s.read if name == "Q" else s.source) @ s[f"W_{name}"]
        return flat.reshape(s.heads if name == "Q" else s.kv_heads, len(flat), -1)

    return work


def swap(one: str, other: str) -> Kind:
    steps = {
        one: projected(one, f"W_{other}", biased=False),
        other: projected(other, f"W_{one}", biased=False),
    }
    needs = {**PROJECTED, "alike": ("d_k", "d_v")}
    return plain(f"W_{one} and W_{other} were swapped", needs, **steps)


def summed(array: Array, axis: int = -1) -> Array:
    return array.sum(axis=axis, keepdims=True)


def sums_of_columns(exp: Array) -> Array:
    """In the place of the sums of the rows, where there are as many; else the sums of the rows."""
    rows, columns = exp.shape[-2:]
    return exp.sum(axis=-2 if rows == columns else -1)


def sums_of_all(exp: Array) -> Array:
    """The sum of a whole matrix, for each of its rows."""
    whole = exp.sum(axis=(-2, -1))[..., None]
    return np.broadcast_to(whole, exp.shape[:-1])


def tiled(array: Array, s: Sheet) -> Array:
    """Heads of keys or values, all of them once and then again, not each so often."""
    return np.tile(array, (s.group, 1, 1))


def causal(s: Sheet, offset: int = 0) -> Array:
    """A causal mask of the size of that given, moved to the right."""
    n, m = s.mask_given.shape
    return np.where(np.arange(m) <= np.arange(n)[:, None] + offset, 0.0, -np.inf)


def hiding(number: float) -> Steps:
    """A number is added where the mask hides a key."""
    return {"mask": lambda s: np.where(s.unseen, number, 0.0)}


def hidden_as(number: float) -> Steps:
    """A number is put where the mask hides a key."""
    return {"masked": lambda s: np.where(s.unseen, number, s.unmasked)}


def in_both(number: float) -> Steps:
    """A number stands in the mask where it hides a key, and is put there, not added."""
    return hiding(number) | hidden_as(number)


def forgotten(p: Sheet, choice: Generator, decimals: int) -> Made:
    """The mask is not used; half of those who forget it write down one that hides nothing."""
    steps: Steps = {"masked": lambda s: s.unmasked}
    if choice.integers(2):
        steps["mask"] = lambda s: np.zeros_like(s.mask_given)
    return Made(("the mask was forgotten",), steps)


def added_in_place(p: Sheet, choice: Generator, decimals: int) -> Made:
    number = float(choice.choice(SENTINELS))
    return Made((f"{sentinel(number)} was added instead of -inf",), hiding(number))


def set_in_place(p: Sheet, choice: Generator, decimals: int) -> Made:
    """Half of those who set scores to a number write it into the mask, too."""
    number = float(choice.choice(SENTINELS))
    steps = in_both(number) if choice.integers(2) else hidden_as(number)
    return Made((f"hidden scores were set to {sentinel(number)}, not to -inf",), steps)


def based_on(text: str, decimals: tuple[int, int]) -> Kind:
    return plain(
        f"{text} was used instead of e",
        decimals=decimals,
        exp=lambda s: power(float(text), s.logits),
    )


def mixed(name: str, work: Work, needs: Mapping[str, Any] | None = None) -> Kind:
    """Other work for the product with the values: the output, or that of the heads."""

    def make(p: Sheet, choice: Generator, decimals: int) -> Made:
        return Made((name,), {"heads_output" if p.heads > 1 else "output": work})

    return Kind(name, make, Needs(**(needs or {})))


def rounded_first(step: str, title: str, to: int) -> Kind:
    """The numbers of a step rounded, and so written with the decimals of the others."""
    return plain(
        f"{title} were rounded to {ROUNDED[to]} first",
        {"mask": "none"} if step == "scaled" else {},
        decimals=(max(2, to + 1), 4),
        **{step: lambda s: half_up(RIGHT[step](s), to)},
    )


FORWARD: tuple[Kind, ...] = (
    swap("Q", "K"),
    swap("K", "V"),
    swap("Q", "V"),
    plain(
        "W_Q, W_K and W_V were transposed",
        SQUARE,
        **{n: transposed(n) for n in "QKV"},
    ),
    *(plain(f"W_{n} was transposed", SQUARE, **{n: transposed(n)}) for n in "QKV"),
    plain("W_O was transposed", {**SQUARE, "w_o": True}, output=lambda s: s.mixed @ s.W_O.T),
    *(
        plain(
            f"the bias was left out of {n}",
            {"biased": True},
            alone=n != "K",
            **{n: projected(n, biased=False)},
        )
        for n in "QKV"
    ),
    plain(
        "the bias was left out of the output",
        {"biased": True, "w_o": True},
        output=lambda s: s.mixed @ s.W_O,
    ),
    plain(
        "heads were split by rows, without moving their axis",
        LAYER,
        **{n: split_by_rows(n) for n in "QKV"},
    ),
    plain(
        "heads were joined without moving their axis back",
        LAYER,
        concat=lambda s: s.heads_output.reshape(s.heads_output.shape[1], -1),
    ),
    plain(
        "RoPE rotated the wrong pairs of features",
        TURNED,
        Q_rot=lambda s: turned(s, s.Q, "queries", other_pairs=True),
        K_rot=lambda s: turned(s, s.K, "keys", other_pairs=True),
    ),
    plain("RoPE was left out", TURNED, Q_rot=lambda s: s.Q, K_rot=lambda s: s.K),
    plain(
        "RoPE rotated in the wrong direction",
        TURNED,
        Q_rot=lambda s: turned(s, s.Q, "queries", way=-1),
        K_rot=lambda s: turned(s, s.K, "keys", way=-1),
    ),
    plain("K Q^T was worked out instead of Q K^T", scores=lambda s: s.K @ t(s.Q)),
    plain("K was not transposed", {"alike": ("d_k", "n"), "mask": "none"}, K_T=lambda s: s.K),
    plain(
        "KV heads were tiled, not repeated",
        SHARED,
        scores=lambda s: s.Q @ tiled(s.K_T, s),
        heads_output=lambda s: s.weights @ tiled(s.V, s),
    ),
    plain("the scores were not scaled", scaled=lambda s: s.scores),
    plain("the scores were divided by d_k, not by its root", scaled=lambda s: s.scores / s.d_k),
    plain("the scores were scaled twice", scaled=lambda s: s.scores * s.factor**2),
    plain(
        "the scores were divided by the root of d_model",
        PROJECTED,
        scaled=lambda s: s.scores / s.X.shape[1] ** 0.5,
    ),
    plain(
        "the scores were divided by the root of n",
        scaled=lambda s: s.scores / s.scores.shape[-2] ** 0.5,
    ),
    plain(
        "the scores were divided by the root of d_k of all heads together",
        LAYER,
        scaled=lambda s: s.scores / (s.heads * s.d_k) ** 0.5,
    ),
    plain("the scores were multiplied by the root of d_k", scaled=lambda s: s.scores * s.d_k**0.5),
    plain(
        "the scores were scaled, but the problem asks for no scale",
        {"dot": True, "mask": "none"},
        exp=lambda s: power(s.base, s.scores / s.d_k**0.5),
    ),
    plain(
        "the scale was applied after the softmax",
        scaled=lambda s: s.scores,
        weights=lambda s: shares(s.exp, s.row_sum[..., None]) * s.factor,
    ),
    plain("the softcap was left out", {"softcap": True}, capped=lambda s: s.scaled),
    plain(
        "the softcap was applied after the mask",
        {"softcap": True, **MASKED},
        masked=lambda s: s.softcap * np.tanh((s.scaled + s.mask) / s.softcap),
    ),
    Kind("the mask was forgotten", forgotten, Needs(**MASKED)),
    plain("the mask was inverted", MASKED, mask=lambda s: np.where(s.unseen, 0.0, -np.inf)),
    plain("the mask was transposed", {"mask": "causal window"}, mask=lambda s: s.mask_given.T),
    plain(
        "the mask hid each token from itself",
        CAUSAL,
        mask=lambda s: causal(s, -1),
    ),
    plain(
        "the mask was aligned to the other corner",
        {**CAUSAL, "context": True},
        mask=lambda s: causal(s, s.mask_given.shape[1] - s.mask_given.shape[0]),
    ),
    plain(
        "hidden scores were set to 0, not to -inf",
        MASKED,
        **hidden_as(0.0),
    ),
    plain(
        "the mask was put on the weights, after the softmax",
        MASKED,
        masked=lambda s: s.unmasked,
        weights=lambda s: np.where(s.unseen, 0.0, shares(s.exp, s.row_sum[..., None])),
    ),
    plain(
        "a mask of 1 for seen and 0 for hidden was added to the scores, as it is",
        MASKED,
        mask=lambda s: np.where(s.unseen, 0.0, 1.0),
    ),
    plain(
        "a mask of 0 for seen and 1 for hidden was added to the scores, as it is",
        MASKED,
        mask=lambda s: np.where(s.unseen, 1.0, 0.0),
    ),
    Kind("a sentinel was added instead of -inf", added_in_place, Needs(**MASKED)),
    Kind("hidden scores were set to a sentinel, not to -inf", set_in_place, Needs(**MASKED)),
    plain(
        "the softmax was taken down the columns",
        row_sum=lambda s: sums_of_columns(s.exp),
        weights=lambda s: shares(s.exp, summed(s.exp, -2)),
    ),
    plain(
        "the softmax was taken over the whole matrix",
        row_sum=lambda s: sums_of_all(s.exp),
        weights=lambda s: s.exp / s.exp.sum(axis=(-2, -1), keepdims=True),
    ),
    plain(
        "the scores were divided by their sum, without exponentials",
        weights=lambda s: shares(finite(s.logits), summed(finite(s.logits))),
    ),
    plain(
        "the base was e, not the one given", {"exp_base": 2}, exp=lambda s: power(math.e, s.logits)
    ),
    *(
        based_on(text, decimals)
        for text, decimals in (
            ("2", (2, 4)),
            ("3", (2, 4)),
            ("10", (2, 4)),
            ("2.7", (3, 4)),
            ("2.71", (4, 4)),
            ("2.718", (6, 6)),
        )
    ),
    mixed(
        "A X was worked out instead of A V",
        lambda s: s.weights @ s.X,
        {**PROJECTED, "alike": ("d_model", "d_v")},
    ),
    mixed(
        "A K was worked out instead of A V", lambda s: s.weights @ s.K, {"alike": ("d_k", "d_v")}
    ),
    mixed(
        "A Q was worked out instead of A V", lambda s: s.weights @ s.Q, {"alike": ("d_k", "d_v")}
    ),
    mixed("A^T V was worked out instead of A V", lambda s: t(s.weights) @ s.V),
    *(
        rounded_first(step, title, to)
        for step, title in (
            ("scores", "the scores"),
            ("scaled", "the scaled scores"),
            ("weights", "the weights"),
        )
        for to in ROUNDED
    ),
)


def finite(array: Array) -> Array:
    return np.where(np.isfinite(array), array, 0.0)


# In the backward pass


def back(name: str, needs: Mapping[str, Any] | None = None, **steps: Work) -> Kind:
    return plain(name, {**BACK, **(needs or {})}, **steps)


def of_sharing(work: Callable[[Array], Array]) -> Steps:
    return {
        "d_K": lambda s: work(by_group(t(s.d_scores) @ s.queries, s)),
        "d_V": lambda s: work(by_group(t(s.weights) @ of_mixture(s), s)),
    }


def first_there(name: str, among: Sequence[str], work: Work, needs: Mapping[str, Any]) -> Kind:
    """Other work for the first of these steps that the problem has."""

    def make(p: Sheet, choice: Generator, decimals: int) -> Made:
        step = next(each for each in among if each in steps_of(p))
        return Made((name,), {step: work})

    return Kind(name, make, Needs(**{**BACK, **needs}))


def through(name: str, work: Work, needs: Mapping[str, Any] | None = None) -> Kind:
    """Other work for the way back through the softmax."""
    steps = ("d_masked", "d_capped", "d_scaled", "d_scores")
    return first_there(name, steps, work, {**NO_MASK, **(needs or {})})


def by_scores(name: str, letter: str, work: Work) -> Kind:
    """Other work for the product of the gradient of the scores with keys or queries."""
    return first_there(name, (f"d_{letter}_rot", f"d_{letter}"), work, {})


def scaled_later(p: Sheet, choice: Generator, decimals: int) -> Made:
    turned_back = "_rot" if "rope" in p else ""
    steps: Steps = {
        "d_scores": lambda s: s.d_scaled,
        f"d_Q{turned_back}": lambda s: d_queries(s) * s.factor,
        f"d_K{turned_back}": lambda s: d_keys(s) * s.factor,
    }
    return Made(("the scale was applied to dQ and dK, not to dS",), steps)


def backward_input(name: str, work: Callable[[Sheet, str], Array], **needs: Any) -> Kind:
    """Other work for the gradient of the input, or of each of two."""

    def make(p: Sheet, choice: Generator, decimals: int) -> Made:
        sources = [source for source in ("X", "context") if source in p]
        steps: Steps = {f"d_{each}": lambda s, each=each: work(s, each) for each in sources}
        return Made((name,), steps)

    return Kind(name, make, Needs(**{**BACK, **needs}))


def read_by_each(s: Sheet) -> Array:
    """The keys, for each head of queries."""
    return repeated(s.keys_read, s)


def unmasked_weights(s: Sheet) -> Array:
    exp = power(s.base, s.unmasked)
    return exp / summed(exp)


LOSSES = ({"gradient": "mse"}, {"gradient": "cross_entropy", "w_o": True})
MSE, CLASSES = LOSSES
BACKWARD: tuple[Kind, ...] = (
    plain("the loss was added up, not averaged", MSE, loss=summed_loss),
    plain(
        "the gradient of the loss was taken with the other sign",
        MSE,
        d_output=lambda s: -d_summed_loss(s) / loss_number(s),
    ),
    plain(
        "the target was not subtracted from the probabilities",
        CLASSES,
        d_output=lambda s: probabilities(s) / loss_number(s),
    ),
    plain(
        "the factor 2 of the square was forgotten", MSE, d_output=lambda s: s.error / loss_number(s)
    ),
    plain("the gradient was not divided by the N of the mean", CLASSES, d_output=d_summed_loss),
    plain(
        "the mean was taken over the rows, not over all numbers",
        MSE,
        d_output=lambda s: d_summed_loss(s) / len(s.output),
    ),
    plain(
        "the mean was taken over all numbers, not over the rows",
        CLASSES,
        d_output=lambda s: d_summed_loss(s) / s.output.size,
    ),
    first_there(
        "W_O was not transposed in the backward pass",
        ("d_concat", "d_heads_output"),
        lambda s: s.d_output @ s.W_O,
        LAYER,
    ),
    back(
        "dO V was worked out instead of dO V^T",
        {"alike": ("n", "d_v")},
        d_weights=lambda s: of_mixture(s) @ s.V,
    ),
    through(
        "the row's mean was not subtracted in the backward pass of the softmax",
        lambda s: s.weights * s.d_weights * math.log(s.base),
    ),
    through(
        "only the diagonal of the softmax's Jacobian was taken",
        lambda s: s.weights * (1 - s.weights) * s.d_weights,
    ),
    back(
        "the softmax's Jacobian was taken down the columns",
        NO_MASK,
        delta=lambda s: (s.weights * s.d_weights).sum(axis=-2),
        d_scaled=lambda s: s.weights * (s.d_weights - summed(s.weights * s.d_weights, -2)),
    ),
    through(
        "the means of the rows were subtracted from the columns",
        lambda s: s.weights * (s.d_weights - s.delta[..., None, :]),
    ),
    back(
        "the gradients of a row were added up without its weights",
        delta=lambda s: s.d_weights.sum(axis=-1),
    ),
    back(
        "the gradients of a row were averaged without its weights",
        delta=lambda s: s.d_weights.mean(axis=-1),
    ),
    through("the softmax was left out in the backward pass", lambda s: s.d_weights),
    through(
        "the logarithm of the base was forgotten in the backward pass",
        lambda s: through_softmax(s) / math.log(s.base),
        {"exp_base": 2},
    ),
    back(
        "the mask was forgotten in the backward pass",
        CAUSAL,
        delta=lambda s: (unmasked_weights(s) * s.d_weights).sum(axis=-1),
        d_masked=lambda s: unmasked_weights(s) * (s.d_weights - s.delta[..., None]),
        d_V=lambda s: t(unmasked_weights(s)) @ of_mixture(s),
    ),
    back(
        "the softcap's derivative was forgotten", {"softcap": True}, d_scaled=lambda s: s.d_capped
    ),
    back("the scale was forgotten in the backward pass", d_scores=lambda s: s.d_scaled),
    Kind("the scale was applied to dQ and dK, not to dS", scaled_later, Needs(**BACK)),
    by_scores("the scale was forgotten in dQ alone", "Q", lambda s: s.d_scaled @ read_by_each(s)),
    by_scores(
        "the scale was forgotten in dK alone",
        "K",
        lambda s: handed_back(t(s.d_scaled) @ s.queries, s),
    ),
    back(
        "the row's mean was not subtracted in the backward pass, nor the scale applied",
        NO_MASK,
        d_scaled=lambda s: s.weights * s.d_weights,
        d_scores=lambda s: s.d_scaled,
    ),
    back(
        "the scale was applied twice in the backward pass",
        d_scores=lambda s: s.d_scaled * s.factor**2,
    ),
    back(
        "the scale was undone in the backward pass, not applied",
        d_scores=lambda s: s.d_scaled / s.factor,
    ),
    back(
        "the derivative of the tanh was forgotten",
        {"additive": True, **NO_MASK},
        d_hidden=lambda s: s.d_scores[..., None] * s.v * np.ones(2),
    ),
    by_scores(
        "dS^T K was worked out instead of dS K", "Q", lambda s: t(s.d_scores) @ read_by_each(s)
    ),
    by_scores("dS Q was worked out instead of dS K", "Q", lambda s: s.d_scores @ s.queries),
    by_scores(
        "dS Q was worked out instead of dS^T Q",
        "K",
        lambda s: handed_back(s.d_scores @ s.queries, s),
    ),
    by_scores(
        "dS^T K was worked out instead of dS^T Q",
        "K",
        lambda s: handed_back(t(s.d_scores) @ read_by_each(s), s),
    ),
    back(
        "A dO was worked out instead of A^T dO",
        d_V=lambda s: handed_back(s.weights @ of_mixture(s), s),
    ),
    back(
        "RoPE rotated forward in the backward pass",
        TURNED,
        d_Q=lambda s: turned(s, s.d_Q_rot, "queries"),
        d_K=lambda s: turned(s, s.d_K_rot, "keys"),
    ),
    back(
        "RoPE was left out in the backward pass",
        TURNED,
        d_Q=lambda s: s.d_Q_rot,
        d_K=lambda s: s.d_K_rot,
    ),
    back(
        "only the first of the heads that share keys and values was taken",
        SHARED,
        **of_sharing(lambda a: a[:, 0]),
    ),
    back(
        "only the last of the heads that share keys and values was taken",
        SHARED,
        **of_sharing(lambda a: a[:, -1]),
    ),
    back(
        "the heads that share keys and values were averaged, not added up",
        SHARED,
        **of_sharing(lambda a: a.mean(axis=1)),
    ),
    *(
        back(
            f"dW_{n} was transposed", SQUARE, **{f"d_W_{n}": lambda s, n=n: RIGHT[f"d_W_{n}"](s).T}
        )
        for n in "QKV"
    ),
    back("dW_O was transposed", {**SQUARE, "w_o": True}, d_W_O=lambda s: RIGHT["d_W_O"](s).T),
    *(
        backward_input(
            f"the part through {n} was left out of the gradient of the input",
            lambda s, source, n=n: sum(
                part for name, part in into_input(s, source).items() if name != n
            ),
        )
        for n in "QKV"
    ),
    *(
        backward_input(
            f"only the part through {n} was taken as the gradient of the input",
            lambda s, source, n=n: into_input(s, source)[n],
        )
        for n in "QKV"
    ),
    *(
        backward_input(
            f"W_{n} was not transposed in the backward pass",
            lambda s, source, n=n: sum(into_input(s, source, transposed=n).values()),
            **SQUARE,
        )
        for n in "QKV"
    ),
    backward_input(
        "W_Q, W_K and W_V were not transposed in the backward pass",
        lambda s, source: sum(into_input(s, source, transposed="QKV").values()),
        **SQUARE,
    ),
    *(
        backward_input(
            f"W_{one} and W_{other} were swapped in the backward pass",
            lambda s, source, one=one, other=other: sum(
                into_input(s, source, {one: other, other: one}).values()
            ),
            alike=("d_k", "d_v"),
        )
        for one, other in ("QK", "KV", "QV")
    ),
)


# Mistakes in single cells, in rows and in columns; of these the numbers decide whether they can be
# made at all


class Again(Exception):
    """This mistake cannot be made in this problem: another one has to be drawn."""


FACTORS = {
    "Q": ("X", "W_Q"),
    "K": ("X", "W_K"),
    "V": ("X", "W_V"),
    "scores": ("Q", "K_T"),
    "output": ("weights", "V"),
}


def one_of(choice: Generator, found: Sequence[Any]) -> Any:
    if not len(found):
        raise Again
    return found[int(choice.integers(len(found)))]


def at(name: str, *place: int) -> str:
    """Q[0][1]."""
    return name + "".join(f"[{number}]" for number in place)


def at_cell(step: str, cell: tuple[int, ...], number: Callable[[Sheet], float]) -> Steps:
    """A step with another number in one cell."""

    def work(s: Sheet) -> Array:
        found = np.array(RIGHT[step](s), dtype=float)
        found[cell] = number(s)
        return found

    return {step: work}


def a_term(
    p: Sheet, choice: Generator, among: Sequence[str] = ()
) -> tuple[str, tuple[int, int], int]:
    """A step that is a product of matrices, a cell of it, and a term of its sum that is not nearly
    0.
    """
    r = worked(p, steps_of(p))
    step = one_of(choice, [name for name in among or FACTORS if name in steps_of(p)])
    left, right = (r[name] for name in FACTORS[step])
    places = [
        (i, j, k)
        for i in range(len(left))
        for j in range(right.shape[1])
        for k in range(len(right))
        if abs(left[i, k] * right[k, j]) > 0.05
    ]
    i, j, k = one_of(choice, places)
    return step, (i, j), k


def term_of(step: str, cell: tuple[int, int], k: int) -> str:
    left, right = FACTORS[step]
    return f"{at(left, cell[0], k)}·{at(right, k, cell[1])}"


def with_term(step: str, cell: tuple[int, int], k: int, times: float) -> Steps:
    left, right = FACTORS[step]
    i, j = cell
    return at_cell(
        step, cell, lambda s: RIGHT[step](s)[cell] + (times - 1) * s[left][i, k] * s[right][k, j]
    )


def term_left_out(p: Sheet, choice: Generator, decimals: int) -> Made:
    place = a_term(p, choice)
    return Made((f"{term_of(*place)} was left out",), with_term(*place, 0))


def sign_of_term(p: Sheet, choice: Generator, decimals: int) -> Made:
    step, (i, j), _ = place = a_term(p, choice)
    r, (left, right) = worked(p, steps_of(p)), FACTORS[step]
    if np.count_nonzero(half_up(r[left][i], decimals) * half_up(r[right][:, j], decimals)) == 1:
        raise Again  # it is all of the result, whose sign is turned
    return Made((f"{term_of(*place)} has the wrong sign",), with_term(*place, -1))


def a_factor(
    p: Sheet, choice: Generator
) -> tuple[str, tuple[int, int], str, tuple[int, int], str, tuple[int, int]]:
    """A step and a cell of it, a factor in it, and the other factor of that term."""
    step, (i, j), k = a_term(p, choice)
    left, right = FACTORS[step]
    factors = [(left, (i, k)), (right, (k, j))]
    if choice.integers(2):
        factors.reverse()
    return step, (i, j), *factors[0], *factors[1]


def next_to(choice: Generator, shape: tuple[int, ...], place: tuple[int, ...]) -> tuple[int, ...]:
    near = [
        (*place[:axis], place[axis] + way, *place[axis + 1 :])
        for axis in range(len(place))
        for way in (-1, 1)
    ]
    found = [
        each
        for each in near
        if all(0 <= number < size for number, size in zip(each, shape, strict=True))
    ]
    return tuple(one_of(choice, found))


def neighbour_read(p: Sheet, choice: Generator, decimals: int) -> Made:
    step, cell, name, place, other, beside = a_factor(p, choice)
    r = worked(p, steps_of(p))
    near = next_to(choice, r[name].shape, place)
    if r[name][near] == 0:  # which is a term left out
        raise Again
    steps = at_cell(
        step,
        cell,
        lambda s: RIGHT[step](s)[cell] + (s[name][near] - s[name][place]) * s[other][beside],
    )
    return Made((f"{at(name, *near)} was used instead of {at(name, *place)}",), steps)


def text_of(number: float, given: bool, decimals: int, whole: bool) -> str:
    return (
        f"{number:.0f}"
        if given and whole
        else f"{number:.1f}"
        if given
        else f"{number:.{decimals}f}"
    )


def miscopied(how: str) -> Make:
    def make(p: Sheet, choice: Generator, decimals: int) -> Made:
        step, cell, name, place, other, beside = a_factor(p, choice)
        if name == "K_T":  # which is itself a copy
            raise Again
        r = worked(p, steps_of(p), to_decimals(decimals))
        given = name in p
        text = text_of(r[name][place], given, decimals, bool((r[name] == r[name].round()).all()))
        copied = digits_swapped(choice, text) if how == "swapped" else another_digit(choice, text)

        def number(s: Sheet) -> float:
            return float(RIGHT[step](s)[cell] + (float(copied) - s[name][place]) * s[other][beside])

        return Made((f"{at(name, *place)} was copied as {copied}",), at_cell(step, cell, number))

    return make


def digits_swapped(choice: Generator, text: str) -> str:
    places = [number for number, letter in enumerate(text) if letter.isdigit()]
    pairs = [(one, other) for one, other in pairwise(places) if text[one] != text[other]]
    one, other = one_of(choice, pairs)
    letters = list(text)
    letters[one], letters[other] = letters[other], letters[one]
    return "".join(letters)


def another_digit(choice: Generator, text: str) -> str:
    place = one_of(choice, [number for number, letter in enumerate(text) if letter.isdigit()])
    digit = one_of(choice, [digit for digit in "0123456789" if digit != text[place]])
    copied = f"{text[:place]}{digit}{text[place + 1 :]}"
    if float(copied) == 0:  # which is a term left out
        raise Again
    return copied


RESULTS = ("Q", "K", "V", "scores", "scaled", "exp", "row_sum", "weights", "output")


def a_cell(
    p: Sheet, choice: Generator, among: Sequence[str] = RESULTS
) -> tuple[str, tuple[int, ...]]:
    r = worked(p, steps_of(p))
    step = one_of(choice, [name for name in among if name in steps_of(p)])
    cells = [
        cell
        for cell in np.ndindex(r[step].shape)
        if np.isfinite(r[step][cell]) and abs(r[step][cell]) > 0.05
    ]
    return step, one_of(choice, cells)


def result(name: str, how: Callable[[Generator, float, int], float]) -> Make:
    """The right number, written otherwise."""

    def make(p: Sheet, choice: Generator, decimals: int) -> Made:
        step, cell = a_cell(p, choice)
        seed = int(choice.integers(1 << 30))

        def number(s: Sheet) -> float:
            return how(
                np.random.default_rng(seed),
                float(half_up(RIGHT[step](s), decimals)[cell]),
                decimals,
            )

        return Made((name,), at_cell(step, cell, number))

    return make


def result_of_neighbour(p: Sheet, choice: Generator, decimals: int) -> Made:
    step, cell = a_cell(p, choice)
    near = next_to(choice, worked(p, steps_of(p))[step].shape, cell)
    return Made(
        (f"the number was copied from {at(step, *near)}",),
        at_cell(step, cell, lambda s: RIGHT[step](s)[near]),
    )


def short_sum(p: Sheet, choice: Generator, decimals: int) -> Made:
    _, (i, j) = a_cell(p, choice, ["exp"])
    steps = at_cell("row_sum", (i,), lambda s: s.exp[i].sum() - s.exp[i, j])
    return Made((f"{at('exp', i, j)} was left out",), steps)


def unscaled_exponential(p: Sheet, choice: Generator, decimals: int) -> Made:
    _, cell = a_cell(p, choice, ["exp"])
    steps = at_cell("exp", cell, lambda s: s.base ** s.scores[cell])
    return Made(
        (f"scores was used instead of {'masked' if 'mask_given' in p else 'scaled'}",), steps
    )


def other_row_sum(p: Sheet, choice: Generator, decimals: int) -> Made:
    _, (i, j) = a_cell(p, choice, ["exp"])
    (near,) = next_to(choice, (len(worked(p, steps_of(p)).row_sum),), (i,))
    steps = at_cell("weights", (i, j), lambda s: shares(s.exp[i, j], s.row_sum[near]))
    return Made((f"{at('row_sum', near)} was used instead of {at('row_sum', i)}",), steps)


def a_matrix(p: Sheet, choice: Generator, among: Sequence[str]) -> str:
    return str(one_of(choice, [name for name in among if name in steps_of(p)]))


def permuted(step: str, order: Sequence[int], axis: int) -> Steps:
    return {step: lambda s: RIGHT[step](s).take(order, axis=axis)}


def row_copied(p: Sheet, choice: Generator, decimals: int) -> Made:
    step = a_matrix(p, choice, ("Q", "K", "V", "scores", "scaled", "weights", "output"))
    rows = len(worked(p, steps_of(p))[step])
    i = int(choice.integers(rows))
    (other,) = next_to(choice, (rows,), (i,))
    order = [other if row == i else row for row in range(rows)]
    return Made((f"row {at(step, i)} was copied from {at(step, other)}",), permuted(step, order, 0))


def order_exchanged(size: int, choice: Generator) -> tuple[int, int, list[int]]:
    """Two places beside each other, and all places with these exchanged."""
    i = int(choice.integers(size))
    (other,) = next_to(choice, (size,), (i,))
    one, two = sorted((i, other))
    order = list(range(size))
    order[one], order[two] = two, one
    return one, two, order


def exchanged(step: str, size: int, choice: Generator, axis: int) -> tuple[str, Steps]:
    one, two, order = order_exchanged(size, choice)
    places = [f"{step}[{at}]" if axis == 0 else f"{step}[:, {at}]" for at in (one, two)]
    return (
        f"{'rows' if axis == 0 else 'columns'} {places[0]} and {places[1]} were exchanged",
        permuted(step, order, axis),
    )


def rows_exchanged(p: Sheet, choice: Generator, decimals: int) -> Made:
    step = a_matrix(p, choice, ("Q", "K", "V", "scores", "scaled", "weights", "output"))
    name, steps = exchanged(step, len(worked(p, steps_of(p))[step]), choice, 0)
    return Made((name,), steps)


def columns_of_v_exchanged(p: Sheet, choice: Generator, decimals: int) -> Made:
    step = "V" if "X" in p else "output"
    name, steps = exchanged(step, worked(p, steps_of(p))[step].shape[1], choice, 1)
    return Made((name, name.replace("V[", "output[")), steps)


def rows_of_v_exchanged(p: Sheet, choice: Generator, decimals: int) -> Made:
    """V is right, and two of its rows are read in each other's place."""
    rows = np.shape(worked(p, steps_of(p))["weights"])[-1]
    one, two, order = order_exchanged(rows, choice)
    name = f"rows V[{one}] and V[{two}] were exchanged"
    return Made((name,), {"output": lambda s: s.weights @ s.V[order]})


def two_slips(p: Sheet, choice: Generator, decimals: int) -> Made:
    kinds = (
        term_left_out,
        sign_of_term,
        neighbour_read,
        result("the sign is wrong", lambda _, x, __: -x),
    )
    one, other = (one_of(choice, kinds)(p, choice, decimals) for _ in range(2))
    if set(one.steps) & set(other.steps):
        raise Again
    return Made((*one.names, *other.names), {**one.steps, **other.steps}, every=True)


MOSTLY = {
    "the scores were not scaled": ("scaled", lambda s: s.scores),
    "the scores were divided by d_k, not by its root": ("scaled", lambda s: s.scores / s.d_k),
    "K K^T was worked out instead of Q K^T": ("scores", lambda s: s.K @ s.K.T),
    "the softmax was taken down the columns": (
        "weights",
        lambda s: shares(s.exp, summed(s.exp, -2)),
    ),
    "the softmax was taken over the whole matrix": (
        "weights",
        lambda s: shares(s.exp, s.exp.sum()),
    ),
    "A K was worked out instead of A V": ("output", lambda s: s.weights @ s.K),
}


def with_a_slip(p: Sheet, choice: Generator, decimals: int) -> Made:
    """A mistake in a whole step, and in one of its cells a number from nowhere."""
    name = one_of(choice, list(MOSTLY))
    step, work = MOSTLY[name]
    if step not in steps_of(p) or np.shape(work(r := worked(p, steps_of(p)))) != np.shape(r[step]):
        raise Again
    mistaken = finite(work(r))
    cell = tuple(int(choice.integers(length)) for length in mistaken.shape)
    off = float(choice.uniform(0.2, 1) * choice.choice([-1, 1]) * (np.ptp(mistaken) + 1))

    def slipped(s: Sheet) -> Array:
        found = np.array(work(s), dtype=float)
        found[cell] += off
        return found

    return Made((name,), {step: slipped})


def written_otherwise(name: str, how: Callable[[Generator, float, int], float]) -> Kind:
    return Kind(name, result(name, how), alone=False)


def in_cell(name: str, make: Make, needs: Mapping[str, Any] | None = None) -> Kind:
    return Kind(name, make, Needs(**(needs or {})), alone=False)


SLIPS: tuple[Kind, ...] = (
    written_otherwise("the sign is wrong", lambda _, x, __: -x),
    written_otherwise(
        "two digits were swapped",
        lambda choice, x, decimals: float(digits_swapped(choice, f"{x:.{decimals}f}")),
    ),
    written_otherwise(
        "the decimal point was moved", lambda choice, x, _: x * (10 if choice.integers(2) else 0.1)
    ),
    in_cell("a neighbour's number was written", result_of_neighbour),
    in_cell("a term was left out", term_left_out),
    in_cell("a term has the wrong sign", sign_of_term),
    in_cell("a neighbour's number was taken", neighbour_read),
    in_cell("two digits of a factor were swapped", miscopied("swapped")),
    in_cell("a digit of a factor was miscopied", miscopied("digit")),
    in_cell("a row sum was one term short", short_sum, {"tokens": 3}),
    in_cell("the exponential of an unscaled score", unscaled_exponential),
    in_cell("the row sum of another row was taken", other_row_sum),
    in_cell("a row was copied from another", row_copied),
    in_cell("two rows were exchanged", rows_exchanged),
    in_cell("two slips in different steps", two_slips),
    Kind(
        "a mistake, and a slip in one of its cells",
        with_a_slip,
        Needs(tokens=3, projected=True),
        alone=False,
    ),
    Kind("two columns of V were exchanged", columns_of_v_exchanged),
    Kind("two rows of V were read in each other's place", rows_of_v_exchanged),
)

OTHERS: tuple[Kind, ...] = (
    plain("the scores were divided by n", scaled=lambda s: s.scores / s.scores.shape[-2]),
    plain(
        "Q V^T was worked out instead of Q K^T",
        {"alike": ("d_k", "d_v")},
        scores=lambda s: s.Q @ t(s.V),
    ),
    plain("Q Q^T was worked out instead of Q K^T", scores=lambda s: s.Q @ t(s.Q)),
    plain("K K^T was worked out instead of Q K^T", scores=lambda s: s.K @ t(s.K)),
    plain("X X^T was worked out instead of Q K^T", PROJECTED, scores=lambda s: s.X @ s.X.T),
    plain(
        "Q W_K^T was worked out instead of Q K^T",
        {**PROJECTED, "alike": ("n", "d_model"), "mask": "none"},
        scores=lambda s: s.Q @ s.W_K.T,
    ),
    plain(
        "the mask let each token see the next one",
        {**CAUSAL, "tokens": 3},
        mask=lambda s: causal(s, 1),
    ),
    plain(
        "the exponentials were divided by the largest of their row, not by their sum",
        row_sum=lambda s: s.exp.max(axis=-1),
    ),
    Kind(
        "the exponentials were divided by the largest, beside right sums",
        lambda p, choice, decimals: Made(
            ("the exponentials were divided by the largest of their row, not by their sum",),
            {"weights": lambda s: shares(s.exp, s.exp.max(axis=-1, keepdims=True))},
        ),
        alone=False,
    ),
    plain("squares were taken instead of exponentials", exp=lambda s: finite(s.logits) ** 2),
    plain("the exponentials were not divided by their sum", weights=lambda s: s.exp),
    plain("W_O was left out", {**SQUARE, "w_o": True}, output=lambda s: s.mixed),
    Kind(
        "the exponentials were those of the unscaled scores",
        lambda p, choice, decimals: Made(
            (f"scores was used instead of {'masked' if 'mask_given' in p else 'scaled'}",),
            {"exp": lambda s: np.where(s.unseen, 0, power(s.base, s.scores))},
        ),
        alone=False,
    ),
)


# Mistakes in what not every problem has: several heads, a scale of its own, windows, biases, sinks,
# positions and caches


def rotated(
    s: Sheet,
    x: Array,
    *,
    first: int = 0,
    theta: float = 0,
    rotation: str = "",
    table: str = "",
) -> Array:
    """RoPE with pairs of features by one pairing, and angles from the table of another."""
    own = s.rope.get("pairing", "half")
    rotation, table = rotation or own, table or own
    d = x.shape[-1]
    half = d // 2
    angles = np.outer(
        first + np.arange(x.shape[-2]), (theta or s.rope["theta"]) ** (-2 * np.arange(half) / d)
    )
    of_features = np.tile(angles, 2) if table == "half" else np.repeat(angles, 2, axis=-1)
    if rotation == "half":
        across = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    else:
        across = np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)
    return x * np.cos(of_features) + across * np.sin(of_features)


def other_pairing(s: Sheet) -> str:
    return "half" if s.rope["pairing"] == "interleaved" else "interleaved"


def rotated_with(**how: Any) -> Steps:
    """Queries and keys rotated in another way."""

    def made(s: Sheet) -> dict[str, Any]:
        return {
            name: other_pairing(s) if value == "other" else value for name, value in how.items()
        }

    return {
        "Q_rot": lambda s: rotated(s, s.Q, first=s.past, **made(s)),
        "K_rot": lambda s: rotated(s, s.K, **made(s)),
    }


def counted_apart(s: Sheet) -> Array:
    """The keys of the cache and the new ones, each counted from 0."""
    parts = s.K[..., : s.past, :], s.K[..., s.past :, :]
    return np.concatenate([rotated(s, part) for part in parts], axis=-2)


def window(farther: int) -> Work:
    """Another window: as far again as each side reaches that is not the query itself."""

    def work(s: Sheet) -> Array:
        left, right = (side + farther if side > 0 else side for side in s.problem["mask"]["window"])
        i, j = np.indices(s.mask_given.shape)
        return np.where((j >= i - left) & (j <= i + right), 0.0, -np.inf)

    return work


def sloped(slopes: Callable[[int], Sequence[float]]) -> Steps:
    """ALiBi with other slopes."""

    def work(s: Sheet) -> Array:
        i, j = np.indices(s.scores.shape[-2:])
        return -np.reshape(slopes(s.heads), (-1, 1, 1)) * abs(i - j)

    return {"bias": work}


def by_formula(number: int, heads: int) -> list[float]:
    """The first slopes of so many heads."""
    return [2.0 ** (-8 * (head + 1) / number) for head in range(heads)]


def bent(s: Sheet, scores: Array) -> Array:
    return s.softcap * np.tanh(scores / s.softcap)


def added_numbers(s: Sheet) -> Array:
    """Of a mask, where it does not hide."""
    return finite(s.mask)


def with_other(a: str, b: str) -> Kind:
    """Keys for values, and values for keys, where they are given."""
    return plain(
        "K and V were exchanged",
        {"given": True, "alike": ("d_k", "d_v")},
        K_T=lambda s: t(s[a]),
        output=lambda s: s.weights @ s[b],
    )


def hidden_besides(hidden: Callable[[Array, Array, Sheet], Array]) -> Steps:
    """Keys hidden that the problem does not hide, by their places."""

    def work(s: Sheet) -> Array:
        i, j = np.indices(s.scores.shape[-2:])
        return np.where(hidden(i, j, s), 0, RIGHT["exp"](s))

    return {"exp": work}


def extra_keys(s: Sheet) -> int:
    """How many more keys than queries there are."""
    n, m = s.scores.shape[-2:]
    return int(m - n)


def own_keep(s: Sheet) -> Array:
    """What a mask beside a causal one shows."""
    return np.array(s.problem["mask"]["keep"]) == 1


def causal_keep(s: Sheet) -> Array:
    return np.tri(*s.mask_given.shape, dtype=bool)


def existing(s: Sheet) -> Array:
    """Which keys are no padding."""
    return np.array(s.problem["mask"]["padding"]) == 1


def masked_by(shown: Callable[[Sheet], Array]) -> Steps:
    return {"mask": lambda s: np.where(shown(s), 0.0, -np.inf)}


def softmax_of_weights(s: Sheet) -> Array:
    powers = power(s.base, RIGHT["weights"](s))
    return powers / summed(powers)


HEADS = {"heads": 3, "w_o": True, "mask": "none"}
TWO_MASKS = {"mask": "causal and another", "tokens": 3}
SLOPED = {"heads": 3, "w_o": True, "alibi": True, "mask": "none", "tokens": 3}
CACHED = {"given": True, "past": True, "mask": "none"}
ROPE_CACHED = {**CACHED, "rope": True}
WITH_SINES = {"sines": True, "mask": "none", "tokens": 3}


def table_of(cell: Callable[[int, int, int], tuple[float, float, bool]]) -> Work:
    """PE by another rule: of a position from 1 on, a feature and their number it says the position,
    the exponent of the base and whether there is a sine.
    """

    def work(s: Sheet) -> Array:
        rows, width = s.X.shape
        found = np.empty((rows, width))
        for row, feature in np.ndindex(rows, width):
            position, exponent, is_sine = cell(row + 1, feature, width)
            angle = position / s.sinusoidal["base"] ** exponent
            found[row, feature] = math.sin(angle) if is_sine else math.cos(angle)
        return found

    return work


FURTHER: tuple[Kind, ...] = (
    plain(
        "K was reshaped, not transposed",
        {"given": True, "context": True, "mask": "none"},
        K_T=lambda s: s.K.reshape(*s.K.shape[:-2], s.K.shape[-1], s.K.shape[-2]),
    ),
    plain(
        "the scores were divided by the root of the number of keys",
        {"context": True, "mask": "none"},
        scaled=lambda s: s.scores / s.scores.shape[-1] ** 0.5,
    ),
    plain(
        "the scores were divided by the scale of the problem, not multiplied by it",
        {"scale": 0.3},
        scaled=lambda s: s.scores / s.problem["scale"],
    ),
    plain(
        "a causal mask was applied that the problem does not ask for",
        {"mask": "none", "tokens": 3},
        **hidden_besides(lambda i, j, s: j > i),
    ),
    plain(
        "a causal mask from the last token was applied that the problem does not ask for",
        {"mask": "none", "context": True, "tokens": 3},
        **hidden_besides(lambda i, j, s: j > i + extra_keys(s)),
    ),
    plain(
        "the last key was left out",
        {"mask": "none", "tokens": 3},
        **hidden_besides(lambda i, j, s: j == s.scores.shape[-1] - 1),
    ),
    plain(
        "the softmax was left out: the scores were taken as weights",
        weights=lambda s: finite(s.logits),
    ),
    plain("the softmax was taken twice", weights=softmax_of_weights),
    plain(
        "1 was added to the sum of the exponentials",
        row_sum=lambda s: s.exp.sum(axis=-1) + 1,
    ),
    plain(
        "the causal mask hid what comes before, not what comes after",
        {"mask": "causal", "tokens": 3},
        mask=lambda s: np.where(np.tri(*s.mask_given.shape, k=-1, dtype=bool), -np.inf, 0.0),
    ),
    plain(
        "the causal mask was left out beside another",
        TWO_MASKS,
        **masked_by(own_keep),
    ),
    plain(
        "the mask beside a causal one was left out",
        TWO_MASKS,
        **masked_by(causal_keep),
    ),
    plain(
        "the padding was inverted",
        {**TWO_MASKS, "mask": "causal and padding"},
        **masked_by(lambda s: causal_keep(s) & ~existing(s)),
    ),
    plain(
        "the matrix of the mask was inverted, but not the masks beside it",
        TWO_MASKS,
        **masked_by(lambda s: causal_keep(s) & ~own_keep(s)),
    ),
    plain(
        "a key was seen where one of the masks shows it, not where all do",
        TWO_MASKS,
        **masked_by(lambda s: own_keep(s) | causal_keep(s)),
    ),
    plain(
        "heads were joined in reverse order",
        HEADS,
        concat=lambda s: np.concatenate(s.heads_output[::-1], axis=-1),
    ),
    plain(
        "heads were joined feature by feature",
        HEADS,
        concat=lambda s: np.moveaxis(s.heads_output, 0, -1).reshape(s.heads_output.shape[1], -1),
    ),
    with_other("V", "K"),
    plain(
        "the scores were divided by the root of the number of heads",
        HEADS,
        scaled=lambda s: s.scores / s.heads**0.5,
    ),
    plain(
        "the scores were divided by the root of d_k, not scaled as the problem says",
        {"scale": 0.3},
        scaled=lambda s: s.scores / s.d_k**0.5,
    ),
    plain("the softmax was taken over the heads", HEADS, weights=lambda s: s.exp / s.exp.sum(0)),
    plain(
        "X was added to the output",
        {**PROJECTED, "alike": ("d_model", "d_v")},
        output=lambda s: s.weights @ s.V + s.X,
    ),
    plain(
        "Q was added to the output",
        {"alike": ("d_k", "d_v")},
        output=lambda s: s.weights @ s.V + s.Q,
    ),
    plain(
        "the softcap was applied before the scale",
        {"softcap": True},
        capped=lambda s: bent(s, s.scores) * s.factor,
    ),
    plain("the window was one key too wide", {"mask": "window", "tokens": 4}, mask=window(1)),
    plain("the window was one key too narrow", {"mask": "window", "tokens": 4}, mask=window(-1)),
    plain(
        "the window was ignored",
        {"mask": "causal window", "tokens": 4},
        mask=lambda s: causal(s),
    ),
    plain(
        "the masked scores were scaled once more",
        MASKED,
        masked=lambda s: (s.unmasked + s.mask) * s.factor,
    ),
    plain(
        "the bias was scaled with the scores",
        {"mask": "numbers"},
        masked=lambda s: (s.scores + s.mask) * s.factor,
    ),
    Kind(
        "the bias of positions was scaled with the scores",
        lambda p, choice, decimals: Made(
            ("the bias was scaled with the scores",),
            {"masked": lambda s: (s.scores + s.bias) * s.factor},
        ),
        Needs(**SLOPED),
    ),
    plain(
        "the bias was put inside the softcap",
        {"mask": "numbers", "softcap": True},
        masked=lambda s: bent(s, s.scaled + added_numbers(s)) + np.where(s.unseen, -np.inf, 0),
    ),
    Kind(
        "the bias of positions was put inside the softcap",
        lambda p, choice, decimals: Made(
            ("the bias was put inside the softcap",),
            {"masked": lambda s: bent(s, s.scaled + s.bias)},
        ),
        Needs(**SLOPED, softcap=True),
    ),
    plain(
        "the sink got no share of the weights",
        {"sink": True},
        row_sum=lambda s: s.exp.sum(axis=-1),
    ),
    Kind(
        "the weights were divided by their sum, which gave the keys the share of the sink",
        lambda p, choice, decimals: Made(
            ("the sink got no share of the weights",),
            {"weights": lambda s: s.exp / summed(s.exp)},
        ),
        Needs(sink=True),
    ),
    plain(
        "the sink was scaled as a score is",
        {"sink": True, "heads": 2, "w_o": True},
        row_sum=lambda s: s.exp.sum(axis=-1) + np.exp(s.sink * s.factor),
    ),
    plain(
        "a query that sees no key got the average of all values",
        {"mask": "nothing seen", "tokens": 3},
        weights=lambda s: np.where(summed(s.exp) == 0, 1 / s.exp.shape[-1], RIGHT["weights"](s)),
    ),
    plain(
        "a query that sees no key got NaN",
        {"mask": "nothing seen", "tokens": 3},
        weights=lambda s: np.where(summed(s.exp) == 0, np.nan, RIGHT["weights"](s)),
    ),
    plain(
        "the new keys and values were put before those of the cache",
        {**CACHED, "rope": True},
        K=lambda s: np.concatenate([s.new_K, s.past_K]),
        V=lambda s: np.concatenate([s.new_V, s.past_V]),
    ),
    plain(
        "RoPE rotated the right pairs of features by the angles of the other pairing",
        TURNED,
        **rotated_with(table="other"),
    ),
    plain(
        "RoPE rotated the wrong pairs of features by the angles of the right pairing",
        TURNED,
        **rotated_with(rotation="other"),
    ),
    *(
        plain(f"RoPE's theta was {theta}", {**TURNED, "tokens": 4}, **rotated_with(theta=theta))
        for theta in (10_000, 500_000, 1_000_000)
    ),
    plain(
        "RoPE counted the queries from 0, not from the end of the cache",
        ROPE_CACHED,
        Q_rot=lambda s: rotated(s, s.Q),
    ),
    plain(
        "RoPE counted the new queries and keys from 0, not from the end of the cache",
        ROPE_CACHED,
        Q_rot=lambda s: rotated(s, s.Q),
        K_rot=counted_apart,
    ),
    plain(
        "RoPE counted the queries one position further than the keys",
        TURNED,
        Q_rot=lambda s: rotated(s, s.Q, first=s.past + 1),
    ),
    plain("RoPE rotated the queries alone", TURNED, K_rot=lambda s: s.K),
    plain("RoPE rotated the keys alone", TURNED, Q_rot=lambda s: s.Q),
    plain(
        "RoPE rotated the values, too",
        {**TURNED, "alike": ("d_k", "d_v")},
        output=lambda s: s.weights @ rotated(s, s.V),
    ),
    plain(
        "ALiBi's slopes began with 1",
        {**SLOPED, "heads": 2},
        **sloped(lambda heads: [2.0 ** (-8 * head / heads) for head in range(heads)]),
    ),
    plain(
        "ALiBi's slopes were in reverse order",
        SLOPED,
        **sloped(lambda heads: default_slopes(heads)[::-1]),
    ),
    plain(
        "ALiBi's slopes were those of the next power of two heads",
        SLOPED,
        **sloped(lambda heads: by_formula(4, heads)),
    ),
    plain(
        "ALiBi's slopes were those of the formula for powers of two",
        SLOPED,
        **sloped(lambda heads: by_formula(heads, heads)),
    ),
    plain("ALiBi's bias had the other sign", SLOPED, bias=lambda s: -RIGHT["bias"](s)),
    plain("ALiBi's bias was left out", SLOPED, masked=lambda s: s.unmasked),
    plain("the sines were not added to X", WITH_SINES, X_pos=lambda s: s.X),
    plain(
        "sines and cosines stood in the other layout",
        WITH_SINES,
        PE=table_of(lambda t, d, w: (t, 2 * (d % (w // 2)) / w, d < w // 2)),
    ),
    plain(
        "sines and cosines were exchanged",
        WITH_SINES,
        PE=table_of(lambda t, d, w: (t, d // 2 * 2 / w, d % 2 == 1)),
    ),
    plain(
        "the exponent of the sines was i / d_model, not 2i / d_model",
        WITH_SINES,
        PE=table_of(lambda t, d, w: (t, d // 2 / w, d % 2 == 0)),
    ),
    plain(
        "the exponent of the sines was doubled twice",
        WITH_SINES,
        PE=table_of(lambda t, d, w: (t, 4 * (d // 2) / w, d % 2 == 0)),
    ),
    plain(
        "each cosine had an angle of its own, not that of the sine before it",
        WITH_SINES,
        PE=table_of(lambda t, d, w: (t, d / w, d % 2 == 0)),
    ),
    plain(
        "the exponent of the sines was divided by d_k, not by d_model",
        WITH_SINES,
        PE=lambda s: table_of(lambda t, d, w: (t, d // 2 * 2 / s.W_K.shape[1], d % 2 == 0))(s),
    ),
    plain(
        "the sines counted positions from 0, not from where the problem says",
        WITH_SINES,
        PE=table_of(lambda t, d, w: (t - 1, d // 2 * 2 / w, d % 2 == 0)),
    ),
    plain(
        "the sines were those of the next position",
        WITH_SINES,
        PE=table_of(lambda t, d, w: (t + 1, d // 2 * 2 / w, d % 2 == 0)),
    ),
    plain(
        "positions and features were exchanged in the sines",
        WITH_SINES,
        PE=table_of(lambda t, d, w: (d + 1, (t - 1) // 2 * 2 / w, (t - 1) % 2 == 0)),
    ),
)


def of_rope(wrong: Wrong) -> Kind:
    """A mistake in the settings of RoPE."""

    def turned_wrongly(x: str, which: str) -> Work:
        def work(s: Sheet) -> Array:
            said = said_of(s.rope)
            rows = s[x].shape[-2]
            positions = positions_of(said, which, s.past if which == "queries" else 0, rows)
            length = length_of(said, s.Q.shape[-2], s.K.shape[-2], s.past)
            return wrong.turned(said, s[x], positions, length)

        return work

    def scaled(s: Sheet) -> Array:
        right: Array = RIGHT["scaled"](s)
        return right * attention_factor(said_of(s.rope)) ** wrong.in_scale

    steps: dict[str, Work] = {}
    if wrong.in_scale:
        steps["scaled"] = scaled
    else:
        if wrong.queries:
            steps["Q_rot"] = turned_wrongly("Q", "queries")
        if wrong.keys:
            steps["K_rot"] = turned_wrongly("K", "keys")
    needs = {"rope_of": wrong.settings, "mask": "none", "tokens": 4}
    return plain(wrong.name, needs, **steps)


OF_ROPE = tuple(map(of_rope, ROPE_MISTAKES))
# These need a batch, which no problem for paper has, or numbers too large for paper.
ELSEWHERE = (
    "RoPE took the positions of the first entry for all entries",
    "RoPE turned all pairs by the time, and none by height or width",
    "RoPE gave time, height and width blocks of pairs for turns, or turns for blocks",
    "RoPE exchanged height and width",
    "the masks of the entries were tiled over the heads, not repeated",
    "the exponentials were taken without a shift, and overflowed",
    "the mask of the first head was used for all heads",
    "the mask of the first entry was used for all entries",
    "the scores were shifted by the largest of all rows, and exponentials became 0",
    # It changes no score, so no solution shows it: tests/recording/test_wrong_ports.py has it.
    "RoPE counted all positions one further",
    # Weights of a model are no homework: tests/mistakes/test_weights.py makes these.
    "the biases of all projections were left out",
    "Q and K were exchanged, with their biases",
    "Q and V were exchanged, with their biases",
    "K, V and Q were taken for Q, K and V",
    "V, Q and K were taken for Q, K and V",
    "one matrix was cut head by head into Q, K and V, though it had all of Q first",
    "one matrix was cut into all of Q, all of K and all of V, though it had them head by head",
    "heads were cut feature by feature from Q, K and V",
    "the features of W_Q and W_K stood as interleaved pairs of RoPE, not as halves",
    "the features of W_Q and W_K stood as halves of RoPE, not as interleaved pairs",
    "the features of W_Q and W_K were reordered for the halves of RoPE once too often",
    "the features of W_Q and W_K were reordered for the pairs of RoPE once too often",
)


# What has no name: nothing should be blamed for it


def unknown(name: str, needs: Mapping[str, Any] | None = None, **steps: Work) -> Kind:
    return Kind(
        f"(no name) {name}", lambda p, choice, decimals: Made((), steps), Needs(**(needs or {}))
    )


def wild(p: Sheet, choice: Generator, decimals: int) -> Made:
    """A number that comes from nowhere, of the size of its neighbours."""
    step, cell = a_cell(p, choice)
    spread = np.ptp(finite(worked(p, steps_of(p))[step])) + 1
    off = float(choice.uniform(0.2, 1) * choice.choice([-1, 1]) * spread)
    return Made((), at_cell(step, cell, lambda s: RIGHT[step](s)[cell] + off))


UNKNOWN: tuple[Kind, ...] = (
    unknown(
        "1 + x was used instead of e^x",
        exp=lambda s: np.where(s.logits == -np.inf, 0, 1 + finite(s.logits)),
    ),
    unknown("the scores were multiplied by 3", scaled=lambda s: s.scores * 3),
    unknown(
        "each row of V was taken for the one before it",
        {"tokens": 3},
        output=lambda s: s.weights @ np.roll(s.V, -1, axis=0),
    ),
    unknown(
        "the columns of Q were taken from the last to the first",
        scores=lambda s: s.Q[:, ::-1] @ s.K_T,
    ),
    unknown(
        "the scores were divided by the sum of their row before the softmax",
        scaled=lambda s: shares(s.scores, summed(s.scores)),
    ),
    Kind("(no name) a number from nowhere", wild, alone=False),
)

GROUPS: dict[str, tuple[Kind, ...]] = {
    "in attention": (*FORWARD, *OTHERS, *FURTHER, *OF_ROPE),
    "in the backward pass": BACKWARD,
    "in cells, rows and columns": SLIPS,
    "without a name": UNKNOWN,
}
KINDS: dict[str, Kind] = {kind.name: kind for group in GROUPS.values() for kind in group}


def as_pairs(x: Array) -> Array:
    """a₁ a₂ b₁ b₂ in the last axis becomes a₁ b₁ a₂ b₂."""
    return x.reshape(*x.shape[:-1], 2, -1).swapaxes(-1, -2).reshape(x.shape)


def as_halves(x: Array) -> Array:
    """a₁ b₁ a₂ b₂ in the last axis becomes a₁ a₂ b₁ b₂."""
    return x.reshape(*x.shape[:-1], -1, 2).swapaxes(-1, -2).reshape(x.shape)


FEATURES_IN_ANOTHER_ORDER = {
    "the features of W_Q and W_K stood as interleaved pairs of RoPE, not as halves": as_pairs,
    "the features of W_Q and W_K stood as halves of RoPE, not as interleaved pairs": as_halves,
    "the features of W_Q and W_K were reordered for the halves of RoPE once too often": as_halves,
    "the features of W_Q and W_K were reordered for the pairs of RoPE once too often": as_pairs,
}


def steps_mistaken(name: str, p: Sheet) -> Steps:
    """The other work of a mistake which is always the same in a problem, by its name."""
    if name in FEATURES_IN_ANOTHER_ORDER:
        ordered = FEATURES_IN_ANOTHER_ORDER[name]
        return {"Q": lambda s: ordered(RIGHT["Q"](s)), "K": lambda s: ordered(RIGHT["K"](s))}
    for number in SENTINELS:
        if name == f"{sentinel(number)} was added instead of -inf":
            return hiding(number)
        if name == f"hidden scores were set to {sentinel(number)}, not to -inf":
            return in_both(number)
    return KINDS[name].make(p, np.random.default_rng(0), 4).steps
