"""The rules of gradients as `attncli steps` shows them: those that a few small problems come to, the plainest first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from attncli.attention.registry import GRADIENT_RULES
from attncli.attention.rule import Rule
from attncli.problem.loader import loads
from attncli.tracing import run
from attncli.tracing.slices import backward_steps

_PROJECTED: dict[str, Any] = {name: {"random": [2, 2], "seed": 1} for name in ("X", "W_Q", "W_K", "W_V")}
_GIVEN: dict[str, Any] = {name: {"random": [2, 2], "seed": 1} for name in "QKV"}
_ROW, _MATRIX = [1, 0], [[1, 0], [0, 1]]
# Each has something that the ones before it have not.
_PROBLEMS: tuple[dict[str, Any], ...] = (
    _PROJECTED | {"b_Q": _ROW, "b_K": _ROW, "b_V": _ROW, "mask": "causal", "softcap": 2},
    _PROJECTED | {"W_O": _MATRIX, "b_O": _ROW},
    _PROJECTED | {"heads": 2, "W_O": _MATRIX},
    _PROJECTED | {"context": {"random": [2, 2], "seed": 2}},
    _GIVEN | {"position": {"rope": {}}},
    _GIVEN | {"past": {"K": _MATRIX, "V": _MATRIX}},
    _GIVEN | {"sink": 1},
    _GIVEN | {"score": "multiplicative", "W_a": _MATRIX},
    _GIVEN | {"score": "additive", "W_1": _MATRIX, "W_2": _MATRIX, "v": _ROW},
)


@cache
def gradient_rules() -> Mapping[str, Rule]:
    """The rule of every step of the backward pass, in order, with the equation it has where nothing else is around."""
    found: dict[str, Rule] = {}
    for problem in _PROBLEMS:
        trace = run(loads(json.dumps(problem).encode(), "steps.json"), gradient=True)
        found = {name: trace.steps[name].rule for name in backward_steps(trace)} | found
    return {name: found[name] for name in GRADIENT_RULES}
