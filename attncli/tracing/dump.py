"""Steps that another program worked out: a .npz or .safetensors file, or nested lists in JSON or YAML.

A trace that attncli wrote as JSON is one too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from attncli.attention.rules import COMPUTED_RULES, RULES
from attncli.english import shorten
from attncli.errors import did_you_mean
from attncli.problem.keys import KEYS
from attncli.problem.tree import Mapping as Keyed
from attncli.problem.tree import Node

STEPS = f"the steps are {', '.join(RULES)}"


@dataclass(frozen=True, slots=True, eq=False)
class Dump:
    """Arrays by the names of steps, in the order in which attncli works these out.

    `dtype` is the number format as far as the file tells it, `labels` those of each axis of a step where a trace of
    attncli has them.
    """

    arrays: Mapping[str, NDArray[Any]]
    dtype: str
    labels: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)

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
    return not sources and not any(key in KEYS and key not in RULES for key in keys)


def nearest(name: str) -> str:
    """Help for a name that is no step's."""
    return did_you_mean(shorten(name), list(RULES), STEPS)


def in_order(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays in the order in which attncli works their steps out."""
    return {name: arrays[name] for name in RULES if name in arrays}
