"""Backward passes in NumPy, each with one mistake, and with what the mistake may be called."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tests.testing.gradients.right import Array, Gradients, by_hand, transposed, weights_of


class Wrong(NamedTuple):
    """A function, and the names of its mistake; none if attncli has no name for it."""

    function: Callable[..., Gradients]
    names: tuple[str, ...]


WRONG: dict[str, Wrong] = {}


def wrong(*names: str) -> Callable[[Callable[..., Gradients]], Callable[..., Gradients]]:
    def kept(function: Callable[..., Gradients]) -> Callable[..., Gradients]:
        WRONG[function.__name__] = Wrong(function, names)
        return function

    return kept


def parts(
    q: Array, k: Array, v: Array, dO: Array, mask: Array | None
) -> tuple[Array, Array, Array, float]:
    """The weights, their gradient, its mean in each row, and the scale."""
    a = weights_of(q, k, mask)
    d_a = dO @ transposed(v)
    return a, d_a, (a * d_a).sum(axis=-1, keepdims=True), float(q.shape[-1]) ** -0.5


def back(d_s: Array, q: Array, k: Array, a: Array, dO: Array) -> Gradients:
    return d_s @ k, transposed(d_s) @ q, transposed(a) @ dO


@wrong("the row's mean was not subtracted in the backward pass of the softmax")
def mean_not_subtracted(
    q: Array, k: Array, v: Array, dO: Array, mask: Array | None = None
) -> Gradients:
    a, d_a, _, scale = parts(q, k, v, dO, mask)
    return back(a * d_a * scale, q, k, a, dO)


@wrong("only the diagonal of the softmax's Jacobian was taken")
def as_a_sigmoid(q: Array, k: Array, v: Array, dO: Array, mask: Array | None = None) -> Gradients:
    a, d_a, _, scale = parts(q, k, v, dO, mask)
    return back(a * (1 - a) * d_a * scale, q, k, a, dO)


@wrong("the softmax was left out in the backward pass")
def softmax_left_out(q: Array, k: Array, v: Array, dO: Array) -> Gradients:
    a, d_a, _, scale = parts(q, k, v, dO, None)
    return back(d_a * scale, q, k, a, dO)


@wrong("the gradients of a row were added up without its weights")
def plain_sum(q: Array, k: Array, v: Array, dO: Array, mask: Array | None = None) -> Gradients:
    a, d_a, _, scale = parts(q, k, v, dO, mask)
    return back(a * (d_a - d_a.sum(axis=-1, keepdims=True)) * scale, q, k, a, dO)


@wrong("the gradients of a row were averaged without its weights")
def plain_mean(q: Array, k: Array, v: Array, dO: Array, mask: Array | None = None) -> Gradients:
    a, d_a, _, scale = parts(q, k, v, dO, mask)
    return back(a * (d_a - d_a.mean(axis=-1, keepdims=True)) * scale, q, k, a, dO)


@wrong("the softmax's Jacobian was taken down the columns")
def down_the_columns(q: Array, k: Array, v: Array, dO: Array) -> Gradients:
    a, d_a, _, scale = parts(q, k, v, dO, None)
    return back(a * (d_a - (a * d_a).sum(axis=-2, keepdims=True)) * scale, q, k, a, dO)


@wrong("the scale was forgotten in the backward pass")
def scale_forgotten(
    q: Array, k: Array, v: Array, dO: Array, mask: Array | None = None
) -> Gradients:
    a, d_a, mean, _ = parts(q, k, v, dO, mask)
    return back(a * (d_a - mean), q, k, a, dO)


@wrong("the scale was forgotten in dQ alone")
def scale_forgotten_in_d_q(
    q: Array, k: Array, v: Array, dO: Array, mask: Array | None = None
) -> Gradients:
    a, d_a, mean, scale = parts(q, k, v, dO, mask)
    d_q, d_k, d_v = back(a * (d_a - mean) * scale, q, k, a, dO)
    return d_q / scale, d_k, d_v


@wrong("the scale was applied twice in the backward pass")
def scale_twice(q: Array, k: Array, v: Array, dO: Array, mask: Array | None = None) -> Gradients:
    a, d_a, mean, scale = parts(q, k, v, dO, mask)
    return back(a * (d_a - mean) * scale * scale, q, k, a, dO)


@wrong("the scale was undone in the backward pass, not applied")
def scale_undone(q: Array, k: Array, v: Array, dO: Array, mask: Array | None = None) -> Gradients:
    a, d_a, mean, scale = parts(q, k, v, dO, mask)
    return back(a * (d_a - mean) / scale, q, k, a, dO)


@wrong("the row's mean was not subtracted in the backward pass, nor the scale applied")
def neither_mean_nor_scale(q: Array, k: Array, v: Array, dO: Array) -> Gradients:
    a, d_a, _, _ = parts(q, k, v, dO, None)
    return back(a * d_a, q, k, a, dO)


@wrong("the scores were not scaled")
def never_scaled(q: Array, k: Array, v: Array, dO: Array) -> Gradients:
    d_q, d_k, d_v = by_hand(q * q.shape[-1] ** 0.5, k, v, dO)
    return d_q * q.shape[-1] ** 0.5, d_k, d_v


@wrong("the scores were not scaled, in the weights of the backward pass")
def weights_not_scaled(q: Array, k: Array, v: Array, dO: Array) -> Gradients:
    d_q, d_k, d_v = never_scaled(q, k, v, dO)
    scale = q.shape[-1] ** -0.5
    return d_q * scale, d_k * scale, d_v


@wrong("the mask was inverted")
def mask_inverted(q: Array, k: Array, v: Array, dO: Array, mask: Array | None = None) -> Gradients:
    is_truth = mask is not None and mask.dtype == bool
    return by_hand(q, k, v, dO, ~mask if mask is not None and is_truth else mask)


@wrong("the mask was forgotten", "the mask was forgotten in the backward pass")
def mask_forgotten(q: Array, k: Array, v: Array, dO: Array, mask: Array | None = None) -> Gradients:
    return by_hand(q, k, v, dO)


@wrong("only the first of the heads that share keys and values was taken")
def one_of_the_heads(q: Array, k: Array, v: Array, dO: Array) -> Gradients:
    group = q.shape[-3] // k.shape[-3]
    keys, values = (np.repeat(each, group, axis=-3) for each in (k, v))
    d_q, d_k, d_v = by_hand(q, keys, values, dO)
    return d_q, d_k[..., ::group, :, :], d_v[..., ::group, :, :]


@wrong("the heads that share keys and values were averaged, not added up")
def heads_averaged(q: Array, k: Array, v: Array, dO: Array) -> Gradients:
    group = q.shape[-3] // k.shape[-3]
    keys, values = (np.repeat(each, group, axis=-3) for each in (k, v))
    d_q, d_k, d_v = by_hand(q, keys, values, dO)

    def averaged(array: Array) -> Array:
        *leading, heads, tokens, width = array.shape
        return array.reshape(*leading, heads // group, group, tokens, width).mean(axis=-3)

    return d_q, averaged(d_k), averaged(d_v)


@wrong()
def sign_of_keys(q: Array, k: Array, v: Array, dO: Array, mask: Array | None = None) -> Gradients:
    d_q, d_k, d_v = by_hand(q, k, v, dO, mask)
    return d_q, -d_k, d_v


@wrong()
def values_halved(q: Array, k: Array, v: Array, dO: Array, mask: Array | None = None) -> Gradients:
    d_q, d_k, d_v = by_hand(q, k, v, dO, mask)
    return d_q, d_k, d_v / 2
