"""All figures of docs/performance.md: prints a table of ratios, and writes it.

    python tests/tools/benchmarks/run.py [FILE]

Each row is measured beside its peer in the same run. PyTorch and onnxruntime are peers where they
are installed (the extra `bench`, and `onnx` for onnxruntime's operator). `--quick` takes small
sizes, to see that all of it runs.
"""

from __future__ import annotations

import os
import platform
import sys
from itertools import chain
from pathlib import Path

import numpy as np

# A script finds only what stands beside it.
sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.tools.benchmarks import (
    arrays,
    blocks,
    processes,
)

HEAD = (
    "| what; beside what | ours | peer | ratio | goal | reached |\n| --- | --- | --- | --- | --- |"
    " --- |"
)


def machine() -> str:
    """What the figures were taken on."""
    words = [
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy"
        f" {np.__version__}"
    ]
    words.append(f"OPENBLAS_CORETYPE {os.environ.get('OPENBLAS_CORETYPE', 'unset')}")
    words.append(f"load {os.getloadavg()[0]:.1f}")
    return "; ".join(words)


def main() -> None:
    files = [argument for argument in sys.argv[1:] if argument != "--quick"]
    quick = "--quick" in sys.argv
    lines = [machine(), "", HEAD]
    print("\n".join(lines), flush=True)
    for figure in chain(processes.figures(quick), blocks.figures(quick), arrays.figures(quick)):
        lines.append(figure.row())
        print(lines[-1], flush=True)
    Path(files[0] if files else "benchmarks.md").write_text(
        "\n".join(lines) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
