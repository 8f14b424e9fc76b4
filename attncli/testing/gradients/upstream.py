"""The gradient that a backward pass begins with, and the parameters that stand for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from attncli.testing.battery import all_cases, drawn_numbers
from attncli.testing.case import Array, Case

# The names of a parameter that takes it.
UPSTREAM_NAMES = (
    "dO",
    "do",
    "dOut",
    "dout",
    "d_o",
    "d_out",
    "d_output",
    "doutput",
    "dY",
    "dy",
    "d_y",
    "g",
    "grad",
    "grad_o",
    "grad_out",
    "grad_output",
    "upstream",
    "upstream_grad",
    "upstream_gradient",
)
# The names of parameters that take what the forward pass has worked out, by its step.
SAVED_NAMES: Mapping[str, tuple[str, ...]] = {
    "output": ("o", "O", "out", "output"),
    "weights": ("a", "A", "p", "P", "attn", "attn_weights", "weights", "probs"),
}
# Of larger cases, only the output is judged.
MOST_NUMBERS = 1000
CaseKind = TypeVar("CaseKind", bound=Case)


def cases_asked(*, gradient: bool) -> tuple[Case, ...]:
    """Every case of functions, with a gradient of its output where gradients are asked for."""
    cases = all_cases()
    return tuple(with_upstream(each) for each in cases) if gradient else cases


def with_upstream(case: CaseKind) -> CaseKind:
    """The case with a gradient of its output; without one, if it is large.

    It is 0 for queries that see no key: software differs in what these get, and none of it is part
    of a loss.
    """
    if case.size > MOST_NUMBERS:
        return case
    drawn = drawn_numbers(f"{case.name}: upstream", *case.output_shape)
    blind = blind_queries_of(case)
    return replace(case, upstream=np.where(blind[..., None], 0.0, drawn))


def blind_queries_of(case: Case) -> Array:
    """Which queries of a case see no key, by its mask; in a form that fits its outputs."""
    mask = case.asks.get("mask")
    if mask is None:
        return np.zeros(1, bool)
    seen = mask if mask.dtype == np.bool_ else ~np.isneginf(mask)
    return np.asarray(~seen.any(axis=-1))
