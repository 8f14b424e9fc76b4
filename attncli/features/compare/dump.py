"""Steps that another program worked out: a .npz or .safetensors file, or nested lists in JSON or YAML.

A trace that attncli wrote as JSON is one too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.attention.losses import LOSS_RULES
from attncli.attention.registry import COMPUTED_RULES, RULES, STEP_NAMES
from attncli.english import listed, shorten
from attncli.errors import did_you_mean
from attncli.problem.keys import KEYS
from attncli.problem.nodes import Mapping as Keyed
from attncli.problem.nodes import Node

STEPS = f"the steps are {', '.join(RULES)}"
MOST_NAMES = 8  # told in one warning
# What programs call a step, where that is not near its name.
_ELSEWHERE = {
    "weights": ("attn", "attention", "attn_weights", "attention_weights", "probs", "attn_probs", "p"),
    "scores": ("logits", "attn_scores", "qk"), "output": ("out", "attn_output", "y"), "mask": ("attn_mask",),
    "heads_output": ("context_layer",), "Q": ("query",), "K": ("key",), "V": ("value",),
}  # fmt: skip
_CALLED = {word: step for step, words in _ELSEWHERE.items() for word in words}


@dataclass(frozen=True, slots=True, eq=False)
class Dump:
    """Arrays by the names of steps, in the order in which attncli works these out.

    `dtype` is the number format as far as the file tells it, `labels` those of each axis of a step where a trace of
    attncli has them. `left_out` are the names in it that are no step's.
    """

    arrays: Mapping[str, NDArray[Any]]
    dtype: str
    labels: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was not read, and which step it may be."""
        if not self.left_out:
            return ()
        told = ((shorten(name), nearest(name)) for name in self.left_out[: MOST_NAMES + 1])
        names = [name if near == STEPS else f"{name} ({near})" for name, near in told]
        return (f"left out what is no step: {listed(names, most=MOST_NAMES)}",)

    @property
    def shifted(self) -> bool:
        """Whether the softmax was shifted: the steps say so, or every row of exponentials has a largest 1."""
        if "shifted" in self.arrays or "row_max" in self.arrays:
            return True
        return "exp" in self.arrays and bool((self.arrays["exp"].max(axis=-1) == 1).all())


def is_dump(root: Node) -> bool:
    """Whether a file tells steps that were worked out, not a problem: by its keys, which both may share (Q, mask)."""
    if not isinstance(root, Keyed):
        return False
    keys = set(root.keys)
    if "steps" in keys or any(key in COMPUTED_RULES and key not in KEYS for key in keys):
        return True
    sources = all(keys & {letter, f"W_{letter}"} for letter in "QKV")
    letters = any(STEP_NAMES.get(key) in COMPUTED_RULES and key not in KEYS for key in keys)
    return (letters or not sources) and not any(key in KEYS and key not in RULES for key in keys)


def named_steps(names: Collection[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The names that are those of steps, or their letters, with the steps; and the others.

    The letters of a loss are none: elsewhere P and L are something else.
    """
    known = {name: STEP_NAMES[name] for name in names if name in STEP_NAMES}
    steps = {name: step for name, step in known.items() if name in RULES or step not in LOSS_RULES}
    return steps, tuple(name for name in names if name not in steps)


def twice(steps: Mapping[str, str]) -> tuple[str, str] | None:
    """A step that stands under two names, such as A and weights: the second of them, and what is wrong."""
    first: dict[str, str] = {}
    for name, step in steps.items():
        if (before := first.setdefault(step, name)) != name:
            return name, f"both {before} and {name} are {step}"
    return None


def nearest(name: str) -> str:
    """Help for a name that is no step's."""
    return did_you_mean(_CALLED.get(name.lower(), shorten(name)), list(RULES), STEPS)


def single(step: str) -> bool:
    """Whether a step is one number in one head: a loss, a sink."""
    return not RULES[step].axes


def as_step(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """An array as the step has it: a mask of true and false as the numbers that are added, true being visible."""
    return np.where(array, 0.0, -np.inf) if name == "mask" and array.dtype == bool else array


def in_order(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays in the order in which attncli works their steps out."""
    return {name: arrays[name] for name in RULES if name in arrays}
