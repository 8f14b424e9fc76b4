"""Holds what the program and PyTorch work out against plain Python: how much of its bound the error
of a cell takes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mpmath import mpf

import attncli
from attncli.problem.loader import loads
from tests.conformance.by_pytorch import attention, joined
from tests.reference import in_loops
from tests.reference.bounded import Bounded

STEPS = (
    "Q",
    "K",
    "V",
    "Q_rot",
    "K_rot",
    "scores",
    "scaled",
    "masked",
    "weights",
    "heads_output",
    "concat",
    "output",
)
Problem = dict[str, Any]


@dataclass
class Shares:
    """The largest share of its bound that the error of any cell of a step takes, and how many cells
    there were.
    """

    largest: dict[tuple[str, str], float] = field(default_factory=dict)
    # bounds, relative to 1 or the number itself
    widest: dict[str, float] = field(default_factory=dict)
    cells: int = 0
    problems: int = 0

    def add(self, who: str, name: str, found: np.ndarray, expected: in_loops.Array) -> None:
        """Raises AssertionError for a cell that is farther off than its bound."""
        for cell, bounded in _beside(found, expected):
            share = _share(cell, bounded)
            assert share <= 1, (
                f"{who}, {name}: {cell!r} is off {bounded.value} by {share:.3g} times"
                f" {bounded.error}"
            )
            self.largest[who, name] = max(self.largest.get((who, name), 0.0), share)
            self.cells += 1
            if bounded is not None:
                self.widest[name] = max(
                    self.widest.get(name, 0.0), bounded.error / max(1.0, bounded.most)
                )

    def take(self, problem: Problem, torch: Any = None) -> None:
        """One problem, by all three."""
        exact = in_loops.attention(problem)
        trace = attncli.trace(loads(json.dumps(problem).encode(), "p.json"))
        apart = "heads_output" not in trace.steps
        for name in STEPS:
            if name in trace.steps and name in exact:
                source = "heads_output" if name == "output" and apart else name
                joint = name in ("concat", "output") and not apart
                self.add("attncli", name, _in_full(trace.steps[name], joint), exact[source])
        self.problems += 1
        if torch is None:
            return
        heads_output = attention(torch, problem)
        self.add("PyTorch", "heads_output", heads_output.numpy(), exact["heads_output"])
        if not apart:
            self.add(
                "PyTorch",
                "output",
                joined(torch, problem, heads_output).numpy()[:, None],
                exact["output"],
            )


def _share(cell: float, bounded: Bounded | None) -> float:
    """Of a hidden key, None, the score is −∞."""
    if bounded is None:
        return 0.0 if cell == -np.inf else np.inf
    away = abs(float(mpf(float(cell)) - bounded.value))
    return away / bounded.error if bounded.error else (0.0 if away == 0 else np.inf)


def _in_full(step: Any, joint: bool) -> np.ndarray:
    """batch × head × row × column, whatever axes the step has."""
    value, letters = np.asarray(step.value), step.rule.target.letters
    value = value if "b" in letters[:1] else value[None]
    return (
        value
        if value.ndim == 4 and not joint
        else np.expand_dims(value, 1)
        if value.ndim == 3
        else value
    )


def _beside(found: np.ndarray, expected: in_loops.Array) -> Iterator[tuple[float, Bounded | None]]:
    """Every cell with its bound; what has one entry or one head is for all."""
    entries, heads = max(len(found), len(expected)), max(len(found[0]), len(expected[0]))
    for entry in range(entries):
        for head in range(heads):
            rows = found[entry if len(found) > 1 else 0][head if len(found[0]) > 1 else 0]
            own = expected[entry if len(expected) > 1 else 0]
            bounds = own[head if len(own) > 1 else 0]
            assert rows.shape == (len(bounds), len(bounds[0])), (rows.shape, len(bounds))
            for row, line in zip(rows.tolist(), bounds, strict=True):
                yield from zip(row, line, strict=True)
