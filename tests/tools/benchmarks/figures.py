"""Figures: what of ours takes how long beside what one would run instead, taking turns in one run,
and their ratio.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Way = Callable[[], object]


@dataclass(frozen=True)
class Figure:
    """A row of the table: what takes how much (seconds, or MiB) of ours and of the peer, and what
    the ratio may be.
    """

    what: str
    ours: float
    peer: float
    goal: float
    unit: str = "s"

    @property
    def ratio(self) -> float:
        return self.ours / self.peer

    def row(self) -> str:
        times = " | ".join(_amount(value, self.unit) for value in (self.ours, self.peer))
        reached = "yes" if self.ratio <= self.goal else "no"
        return f"| {self.what} | {times} | {self.ratio:.2f} × | ≤ {self.goal:g} × | {reached} |"


def _amount(value: float, unit: str) -> str:
    return f"{1000 * value:.0f} ms" if unit == "s" and value < 10 else f"{value:,.1f} {unit}"


def medians(ways: Mapping[str, Way], rounds: int) -> dict[str, float]:
    """The median seconds of each way; they take turns, and the first round only warms up."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, way in ways.items():
            gc.collect()
            start = time.perf_counter()
            way()
            taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(times[1:]) for name, times in taken.items()}


def figure(what: str, ours: Way, peer: Way, goal: float, *, rounds: int) -> Figure:
    """A figure of two ways."""
    taken = medians({"ours": ours, "peer": peer}, rounds)
    return Figure(what, taken["ours"], taken["peer"], goal)
