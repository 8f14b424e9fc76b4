"""All figures of docs/performance.md: `python tests/benchmarks/run.py [FILE]` prints a table of ratios, and writes it.

Needs the extra `bench`, and `onnx` for onnxruntime's operator. `--quick` takes small sizes, to see that all of it runs.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

import attend
import files
import numpy as np
import startup
import traces
import whole
from versus import Figure

HEAD = "| row | what | ours | peer | ratio | goal | reached |\n| --- | --- | --- | --- | --- | --- | --- |"


def figures(quick: bool) -> Iterator[Figure]:
    yield from startup.figures(2 if quick else 21)
    yield from attend.figures(1024 if quick else 8192, 2 if quick else 7)
    yield from traces.figures(512 if quick else 2048, 1 if quick else 7)
    yield from whole.figures(1024 if quick else 16384, 1 if quick else 5)
    yield from files.figures(1 if quick else 5)


def machine() -> str:
    """What the figures were taken on."""
    from attncli.attention import parallel

    words = [f"{platform.machine()}, {os.cpu_count()} cores, {parallel.thread_count()} threads"]
    words.append(f"Python {platform.python_version()}, NumPy {np.__version__}")
    words.append(f"OPENBLAS_CORETYPE {os.environ.get('OPENBLAS_CORETYPE', 'unset')}")
    words.append(f"load {os.getloadavg()[0]:.1f}")
    return "; ".join(words)


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if argument != "--quick"]
    quick = "--quick" in sys.argv
    lines = [machine(), "", HEAD]
    print("\n".join(lines), flush=True)
    for figure in figures(quick):
        lines.append(figure.row())
        print(lines[-1], flush=True)
    lines += ["", f"same bits for 1, 2 and 4 threads: {'yes' if attend.same_bits(1024 if quick else 8192) else 'no'}"]
    print("\n".join(lines[-2:]))
    Path(arguments[0] if arguments else "benchmarks.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
