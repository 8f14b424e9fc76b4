"""Right functions with thousands of drawn cases, in every number format: none may be called wrong.

    python tests/tools/false_alarms/run.py --cases 10000

Told are how many were called wrong; the exit code is 1 where any was. Without PyTorch, those in
NumPy alone are called.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

# A script finds only what stands beside it.
sys.path.insert(0, str(Path(__file__).parents[3]))

from attncli.testing.asking import Asking
from tests.testing import right_functions
from tests.testing.drawn_cases import drawn_case
from tests.testing.in_process import asking
from tests.testing.right import IN_NUMPY, IN_TORCH


def main() -> int:
    """Draw, call, tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    start = time.monotonic()
    found: Counter[str] = Counter()
    for name, asked_one, dtype, seed in _calls(asked.seed):
        result = asked_one.answer(replace(drawn_case(seed), dtype=dtype))
        found[result.result] += 1
        if result.result in ("differs", "error"):
            print(f"{name}, {dtype}, case {seed}: {result.error or result.agreement}")
        if found["same"] + found["differs"] + found["error"] >= asked.cases:
            break
    seconds = time.monotonic() - start
    alarms = found["differs"] + found["error"]
    print(f"{alarms} false alarms in {asked.cases:,} calls ({seconds:.0f} s)")
    return 1 if alarms else 0


def _calls(first: int) -> Iterator[tuple[str, Asking, str, int]]:
    functions = list(_functions())
    for seed in count(first):
        for name, asked, dtypes in functions:
            for dtype in dtypes:
                yield name, asked, dtype, seed


def _functions() -> Iterator[tuple[str, Asking, tuple[str, ...]]]:
    for name, right in IN_NUMPY.items():
        asked = asking(getattr(right_functions, name), "numpy", right.layout)
        yield name, asked, ("float16", "float32", "float64")
    torch_functions = _in_torch()
    if torch_functions is None:
        return
    for name, right in IN_TORCH.items():
        asked = asking(getattr(torch_functions, name), "torch", right.layout)
        yield f"{name} (torch)", asked, ("float16", "bfloat16", "float32")


def _in_torch() -> Any:
    try:
        from tests.testing import right_in_torch
    except ImportError:
        return None
    return right_in_torch


if __name__ == "__main__":
    sys.exit(main())
