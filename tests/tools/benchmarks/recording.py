"""What recording adds to a call of attention, with PyTorch installed.

    python tests/tools/benchmarks/recording.py

Prints the CPU time of one call without and with recording, on one thread. Both take turns in each
of several runs, and the figures are medians.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch

import attncli.torch

CALLS, RUNS = 200, 15
SHAPE = (1, 8, 64, 32)  # entries, heads, tokens, features


def seconds(call: Callable[[], object]) -> float:
    """The CPU time of one call."""
    begin = time.process_time()
    for _ in range(CALLS):
        call()
    return (time.process_time() - begin) / CALLS


def measured(call: Callable[[], object]) -> tuple[float, float]:
    """The CPU time of one call without recording and with it; the first run only takes memory from
    the system.
    """
    runs = []
    for _ in range(RUNS + 1):
        alone = seconds(call)
        with attncli.torch.recording():
            runs.append((alone, seconds(call)))
    alone, recorded = (statistics.median(times) for times in zip(*runs[1:], strict=True))
    return alone, recorded


def main() -> None:
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)  # as while recording
    query, x = torch.randn(SHAPE), torch.randn(1, 64, 256)
    layer = torch.nn.MultiheadAttention(256, 8, batch_first=True).eval()
    calls: dict[str, Callable[[], object]] = {
        "scaled_dot_product_attention": lambda: torch.nn.functional.scaled_dot_product_attention(
            query, query, query
        ),
        "written out": lambda: (query @ query.mT / 32**0.5).softmax(-1) @ query,
        "nn.MultiheadAttention": lambda: layer(x, x, x, need_weights=False),
    }
    print(
        "| call | alone, ms | recorded, ms | added, ms | ratio |\n| --- | --- | --- | --- | --- |"
    )
    for name, call in calls.items():
        with torch.no_grad():
            alone, recorded = measured(call)
        added, ratio = recorded - alone, recorded / alone
        print(
            f"| {name} | {alone * 1e3:.2f} | {recorded * 1e3:.2f} | {added * 1e3:.2f} |"
            f" {ratio:.1f} |"
        )


if __name__ == "__main__":
    main()
