"""One thing of ours against what one would run instead, taking turns in one run: medians, and their ratio."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Way = Callable[[], object]


@dataclass(frozen=True)
class Figure:
    """A row of the table: what took how long (in seconds, or MiB), of ours and of the peer, and the goal for the ratio.

    `least` says that the peer's share is the one that should be large: so many times as fast.
    """

    number: int
    what: str
    ours: float
    peer: float
    goal: float
    least: bool = False
    unit: str = "s"

    @property
    def ratio(self) -> float:
        return self.peer / self.ours if self.least else self.ours / self.peer

    @property
    def reached(self) -> bool:
        return self.ratio >= self.goal if self.least else self.ratio <= self.goal

    def row(self) -> str:
        sign = "≥" if self.least else "≤"
        times = f"{_shown(self.ours, self.unit)} | {_shown(self.peer, self.unit)}"
        said = f"{self.ratio:.2f} × | {sign} {self.goal:g} × | {'yes' if self.reached else 'no'}"
        return f"| {self.number} | {self.what} | {times} | {said} |"


def _shown(value: float, unit: str) -> str:
    return f"{1000 * value:.0f} ms" if unit == "s" and value < 10 else f"{value:.1f} {unit}"


def medians(ways: dict[str, Way], rounds: int) -> dict[str, float]:
    """The median seconds of each way; they take turns, and the first round only warms up."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, way in ways.items():
            gc.collect()
            start = time.perf_counter()
            way()
            taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(times[1:]) for name, times in taken.items()}


def versus(number: int, what: str, ours: Way, peer: Way, goal: float, *, rounds: int, least: bool = False) -> Figure:
    """A figure of two ways."""
    found = medians({"ours": ours, "peer": peer}, rounds)
    return Figure(number, what, found["ours"], found["peer"], goal, least)
