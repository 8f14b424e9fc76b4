"""Attentions in JAX, whose gradients are right, and wrong ones."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array


def by_hand(q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
    scores = jnp.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9) if mask.dtype == bool else scores + mask
    return jax.nn.softmax(scores, axis=-1) @ v


def nulled_afterwards(q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
    """What JAX warns of: `where` hides a NaN, and not that of its gradient."""
    scores = q @ jnp.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + jnp.where(mask, 0.0, -jnp.inf).astype(q.dtype)
    weights = jax.nn.softmax(scores, axis=-1)
    return jnp.where(jnp.isnan(weights), 0.0, weights) @ v


def stopped(q: Array, k: Array, v: Array) -> Array:
    """No gradient goes back through the weights."""
    weights = jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5, axis=-1)
    return jax.lax.stop_gradient(weights) @ v
