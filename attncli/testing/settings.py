"""What is asked of programs in other languages and of tests in Python: the settings of a case by
their usual names, and what each means in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from attncli.testing.case import Case, PerHead
from attncli.testing.signature import MAY_BE_UNSAID, UPSTREAM


class Setting(NamedTuple):
    """A setting: what it is called, and what it means."""

    name: str
    meaning: str


# Where true in a mask hides, as some software means it.
HIDING = "mask that hides"
# By their roles. A mask of numbers is a setting of its own: a bias.
SETTINGS: Mapping[str, Setting] = {
    "mask": Setting("mask", "true, or 1: the query of this row sees the key of this column"),
    HIDING: Setting(
        "mask", "true, or 1: the key of this column is hidden from the query of this row"
    ),
    "bias": Setting("bias", "added to the scores after the scale and the softcap; -inf hides"),
    "causal": Setting(
        "causal",
        "no query sees a key behind its own place; with fewer queries than keys, the places may be"
        " counted from the first or from the last token",
    ),
    "scale": Setting("scale", "the factor of the scores, in the place of 1/sqrt(d_k)"),
    "window": Setting(
        "window",
        "a query sees so many keys back from its own place, which may count as one of them or not;"
        " to one side or to both",
    ),
    "softcap": Setting("softcap", "a score s becomes softcap * tanh(s / softcap), before the mask"),
    "sink": Setting("sinks", "one score for each head, which takes a share and has no value"),
    "alibi": Setting(
        "alibi_slopes",
        "one slope for each head: a score is less by slope * |place of the query - of the key|",
    ),
    "rope": Setting(
        "rope_theta",
        "queries and keys are rotated: pair r of their features by place * theta^(-2r / d_k); a"
        " pair may be two neighbours, or one feature of each half",
    ),
    "rope_parameters": Setting(
        "rope_parameters",
        "what config.json of a model says of RoPE, by its names: how fast each pair turns, and what"
        " what turns is multiplied by",
    ),
    "offset": Setting("offset", "the place of the first query; that of the first key is 0"),
}
OF_GRADIENTS = (
    "the gradient of the output: the gradients of queries, keys and values are asked for, too"
)


def settings_of(case: Case) -> dict[str, Any]:
    """The settings of a case by their names: arrays, numbers and True.

    That heads share keys and values is none: the shapes say it.
    """
    found: dict[str, Any] = {}
    for role, value in case.asks.items():
        if role not in MAY_BE_UNSAID:
            plain = value.numbers if isinstance(value, PerHead) else value
            found[SETTINGS[_own_role(role, value)].name] = plain
    return found


def meanings_of(case: Case, *, true_hides: bool = False) -> dict[str, str]:
    """What each of the same settings means; `true_hides` says so of a mask of truth values."""
    found: dict[str, str] = {}
    for role, value in case.asks.items():
        own = _own_role(role, value)
        if own == "mask" and true_hides:
            own = HIDING
        if own in SETTINGS:
            found[SETTINGS[own].name] = SETTINGS[own].meaning
    if case.upstream is not None:
        found[UPSTREAM] = OF_GRADIENTS
    return found


def _own_role(role: str, value: Any) -> str:
    is_bias = role == "mask" and np.asarray(value).dtype != np.bool_
    return "bias" if is_bias else role
