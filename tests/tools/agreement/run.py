"""Thousands of drawn problems by three independent computations.

    python tests/tools/agreement/run.py --problems 3000

The program's equations and PyTorch's own operations in double precision are held against plain
Python with 40 digits, cell by cell, each against the bound that `bounded.py` derives. Told are, for
each step, the largest share of its bound that an error took and the widest bound; the exit code is
1 where one was exceeded. Without PyTorch, two computations.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any

# A script finds only what stands beside it.
sys.path.insert(0, str(Path(__file__).parents[3]))

from hypothesis import HealthCheck, given, seed, settings

from tests.conformance.drawn import problem_files
from tests.tools.agreement.measure import STEPS, Shares


def main() -> int:
    """Draw, work out, tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    shares, start, torch = Shares(), time.monotonic(), _torch()

    @seed(asked.seed)
    @settings(
        max_examples=asked.problems,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(problem=problem_files() | problem_files(mixed=True))
    def each(problem: dict[str, Any]) -> None:
        shares.take(problem, torch)

    try:
        each()
    except AssertionError as error:
        print(error)
        return 1
    print(f"{shares.problems} problems, {shares.cells:,} cells, {time.monotonic() - start:.0f} s")
    print(f"{'step':14}{'attncli':>10}{'PyTorch':>10}{'widest bound':>15}")
    for name in STEPS:
        if name in shares.widest:
            found = (shares.largest.get((who, name)) for who in ("attncli", "PyTorch"))
            columns = ("" if share is None else f"{share:.2f}" for share in found)
            middle = "".join(f"{column:>10}" for column in columns)
            print(f"{name:14}{middle}{shares.widest[name]:>15.1e}")
    return 0


def _torch() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import torch
        except ImportError:
            print("without PyTorch")
            return None
    return torch


if __name__ == "__main__":
    sys.exit(main())
