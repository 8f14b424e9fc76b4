"""What one process does: `python tests/benchmarks/cores.py` prints it by tokens, heads and entries of a batch.

Its peer is one thread of its own; the times tell of this machine alone.
"""

from __future__ import annotations

import sys

from versus import medians

from attncli.attention import parallel
from attncli.problem.loader import read_problem
from attncli.problem.model import Problem
from attncli.problem.source import decode
from attncli.tracing import run

ALONE = [(512, 1, 1), (2048, 1, 1), (8192, 1, 1), (16384, 1, 1), (2048, 8, 1), (512, 8, 16), (128, 8, 64)]
WHOLE = [(128, 1, 1), (512, 1, 1), (2048, 1, 1), (512, 8, 1), (128, 8, 8)]
WIDTH = 64
HEAD = """| n | heads | batch | one thread | {threads} threads | weights in a second and core |
| --- | --- | --- | --- | --- | --- |"""


def problem(tokens: int, heads: int, batch: int) -> Problem:
    arrays = (
        f"{name}: {{random: [{batch}, {heads}, {tokens}, {WIDTH}], seed: {seed}}}" for seed, name in enumerate("QKV")
    )
    return read_problem(
        decode("\n".join(arrays).encode(), "drawn.yaml"), scores=False
    )  # of which only outputs are kept


def row(size: tuple[int, int, int], keep: tuple[str, ...] | None, rounds: int) -> str:
    """The median times, of one thread and of as many as there are."""
    tokens, heads, batch = size
    given, available = problem(*size), parallel.thread_count

    def together() -> object:
        return run(given, dtype="float64" if keep is None else "float32", keep=keep)

    def alone() -> object:
        parallel.thread_count = lambda: 1
        try:
            with parallel.one_blas_thread():
                return together()
        finally:
            parallel.thread_count = available

    taken = medians({"alone": alone, "together": together}, rounds)
    speed = batch * heads * tokens**2 / taken["together"] / available() / 1e6
    times = " | ".join(f"{1000 * seconds:.1f} ms" for seconds in taken.values())
    return f"| {tokens:,} | {heads} | {batch} | {times} | {speed:.1f} million |"


def main() -> None:
    rounds = 1 if "--quick" in sys.argv else 5
    for what, sizes, keep in (
        ("The output alone, float32", ALONE, ("output",)),
        ("A whole trace, float64", WHOLE, None),
    ):
        print(f"\n{what}, d = {WIDTH}:\n\n{HEAD.format(threads=parallel.thread_count())}")
        for size in sizes[:2] if "--quick" in sys.argv else sizes:
            print(row(size, keep, rounds), flush=True)


if __name__ == "__main__":
    main()
