"""Works one large problem out in this process, whatever its BLAS is told, and writes what came of
it.

    python tests/tools/agreement/large.py FILE.npz

`whole` is the output of all steps, `tiled` that in tiles with 1, 2 and 4 threads of our own; `core`
and `threads` are what the BLAS says of itself.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import ctypes
from glob import glob

import numpy as np

from attncli.attention import parallel
from attncli.problem.loader import loads
from attncli.tracing import run

QUERIES, KEYS, WIDTH, VALUES = 600, 1600, 16, 4  # three blocks of rows, three tiles of keys in each
PROBLEM = (
    f"Q: {{random: [{QUERIES}, {WIDTH}], seed: 1, low: -3, high: 3}}\n"
    f"K: {{random: [{KEYS}, {WIDTH}], seed: 2, low: -3, high: 3}}\n"
    f"V: {{random: [{KEYS}, {VALUES}], seed: 3, low: -1, high: 1}}\n"
)


def main(file: str) -> None:
    problem = loads(PROBLEM.encode(), "p.yaml")
    whole = run(problem)["output"]
    tiled = []
    for threads in (1, 2, 4):
        parallel.thread_count = lambda threads=threads: threads  # type: ignore[misc]  # as with so many cores
        trace = run(problem, keep=("output",))
        assert not trace.steps["scores"].kept
        tiled.append(trace["output"])
    core, threads = blas()
    np.savez(file, whole=whole, tiled=np.stack(tiled), core=core, threads=threads)


def blas() -> tuple[str, int]:
    """The core that NumPy's OpenBLAS takes this processor for, and how many threads it uses; "" for
    another BLAS.
    """
    for path in glob(f"{Path(np.__file__).parent}.libs/*openblas*"):
        library = ctypes.CDLL(path)
        try:
            name, threads = (
                library.scipy_openblas_get_corename64_,
                library.scipy_openblas_get_num_threads64_,
            )
        except AttributeError:
            continue
        name.restype = ctypes.c_char_p
        return name().decode(), threads()
    return "", 0


if __name__ == "__main__":
    main(sys.argv[1])
