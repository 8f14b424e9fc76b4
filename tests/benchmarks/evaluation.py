"""What a trace costs next to the bare arithmetic: `python tests/benchmarks/evaluation.py`.

The same attention for many tokens, by hand in NumPy and as a trace, taking turns in one run.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from attncli.problem.model import Matrix, Problem
from attncli.tracing import run

TOKENS, WIDTH, ROUNDS = 2048, 64, 7


def by_hand(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    scores = q @ k.T
    scaled = scores / np.sqrt(k.shape[1])
    exp = np.exp(scaled)
    return exp / exp.sum(axis=1, keepdims=True) @ v


def main() -> None:
    random = np.random.default_rng(0)
    arrays = [random.standard_normal((TOKENS, WIDTH)) for _ in "QKV"]
    labels = tuple(f"t{place + 1}" for place in range(TOKENS))
    problem = Problem("", labels, labels, dict(zip("QKV", map(Matrix, arrays), strict=True)))
    ways: dict[str, Callable[[], object]] = {"by hand": lambda: by_hand(*arrays), "as a trace": lambda: run(problem)}
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS + 1):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(taken[1:]) for name, taken in times.items()}
    for name, median in medians.items():
        print(f"{name:10} {1000 * median:6.1f} ms")
    print(f"trace / by hand at n = {TOKENS}: {medians['as a trace'] / medians['by hand']:.2f}")


if __name__ == "__main__":
    main()
