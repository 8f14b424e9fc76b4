"""What recording adds to a call of attention: `python tests/benchmarks/recording.py` with PyTorch installed.

Prints the CPU time of one call without and with recording, the best of several runs, on one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

import attncli.torch

CALLS, RUNS = 200, 7
SHAPE = (1, 8, 64, 32)  # entries, heads, tokens, features


def seconds(call: Callable[[], object]) -> float:
    """The CPU time of one call, the best of several runs."""
    best = float("inf")
    for _ in range(RUNS):
        begin = time.process_time()
        for _ in range(CALLS):
            call()
        best = min(best, (time.process_time() - begin) / CALLS)
    return best


def main() -> None:
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)  # as while recording
    query, x = torch.randn(SHAPE), torch.randn(1, 64, 256)
    layer = torch.nn.MultiheadAttention(256, 8, batch_first=True).eval()
    calls: dict[str, Callable[[], object]] = {
        "scaled_dot_product_attention": lambda: torch.nn.functional.scaled_dot_product_attention(query, query, query),
        "nn.MultiheadAttention": lambda: layer(x, x, x, need_weights=False),
    }
    print("| call | alone, ms | recorded, ms | added, ms |\n| --- | --- | --- | --- |")
    for name, call in calls.items():
        with torch.no_grad():
            alone = seconds(call)
            with attncli.torch.recording(limit=2**33):
                recorded = seconds(call)
        print(f"| {name} | {alone * 1e3:.2f} | {recorded * 1e3:.2f} | {(recorded - alone) * 1e3:.2f} |")


if __name__ == "__main__":
    main()
