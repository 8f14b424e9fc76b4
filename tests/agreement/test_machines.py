"""One large problem on every kind of core that its BLAS knows, with 1, 2 and 4 threads: within the
bound each time.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.typing import NDArray

from attncli.problem.loader import loads
from tests.reference.bounded import Bounded, dot, given, softmax
from tests.reference.scores_in_loops import ANY_ORDER
from tests.tools.agreement.large import KEYS, PROBLEM, QUERIES, VALUES

LARGE = Path(__file__).parents[1] / "tools" / "agreement" / "large.py"
ROWS = (0, 255, 256, QUERIES - 1)  # at the edges of blocks
PARTS = -(-KEYS // 768)
CORES = {
    "Prescott": "pni",
    "Nehalem": "sse4_2",
    "Sandybridge": "avx",
    "Haswell": "avx2",
    "SkylakeX": "avx512vl",
}
ALSO = {"Katmai": "Prescott"}  # as OpenBLAS calls it, whose kernels are the same
PRODUCT = f"import numpy; numpy.ones(({QUERIES}, {KEYS})) @ numpy.ones(({KEYS}, {VALUES}))"
Bounds = list[tuple[int, list[Bounded]]]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bounds() -> Bounds:
    """Some rows of the output, to 40 digits, each cell with its bound."""
    arrays = {
        name: matrix.value.tolist()
        for name, matrix in loads(PROBLEM.encode(), "p.yaml").given.items()
    }
    keys, values = ([[given(number) for number in row] for row in arrays[name]] for name in "KV")
    scale = 1 / mp.sqrt(len(keys[0]))
    found = []
    for place in ROWS:
        query = [given(number) for number in arrays["Q"][place]]
        scores = [dot(query, key, more=ANY_ORDER) for key in keys]
        logits = [Bounded(each.value * scale, each.error * float(scale)) for each in scores]
        weights = softmax(logits, parts=PARTS)
        found.append(
            (
                place,
                [
                    dot(weights, list(column), more=3 + PARTS)
                    for column in zip(*values, strict=True)
                ],
            )
        )
    return found


def worked(folder: Path, **environment: str) -> dict[str, NDArray[np.float64]]:
    """What a process of its own finds in such an environment."""
    file = folder / "found.npz"
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OPENBLAS_", "OMP_", "NPY_"))
    }
    bare = subprocess.run([sys.executable, "-c", PRODUCT], env=clean | environment)
    if bare.returncode < 0:  # as with the OpenBLAS in NumPy 2.5.5 for Haswell
        pytest.skip(f"NumPy's own product of two matrices dies of signal {-bare.returncode} here")
    subprocess.run([sys.executable, LARGE, file], check=True, env=clean | environment)
    with np.load(file) as arrays:
        return dict(arrays)


def check_within(found: dict[str, NDArray[np.float64]], bounds: Bounds) -> None:
    """Every output is within its bound; in tiles, threads change no bit."""
    assert found["tiled"][0].tobytes() == found["tiled"][1].tobytes() == found["tiled"][2].tobytes()
    for output in (found["whole"], found["tiled"][0]):
        for row, cells in bounds:
            for cell, bounded in zip(output[row].tolist(), cells, strict=True):
                assert abs(mpf(cell) - bounded.value) <= bounded.error


def _flags() -> set[str]:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return set()
    return set(next((line for line in text.splitlines() if line.startswith("flags")), "").split())


@pytest.mark.skipif(platform.machine() != "x86_64", reason="these are cores of x86-64")
@pytest.mark.parametrize("core", CORES)
def test_cores(core: str, tmp_path: Path, bounds: Bounds) -> None:
    if CORES[core] not in _flags():
        pytest.skip(f"this processor cannot do what {core} can")
    found = worked(tmp_path, OPENBLAS_CORETYPE=core, OPENBLAS_NUM_THREADS="2")
    if ALSO.get(str(found["core"]), str(found["core"])) != core:
        pytest.skip(f"this BLAS does not let itself be told: it says {found['core']}")
    check_within(found, bounds)


@pytest.mark.parametrize("threads", ["1", "2", "4"])
def test_threads(threads: str, tmp_path: Path, bounds: Bounds) -> None:
    found = worked(tmp_path, OPENBLAS_NUM_THREADS=threads)
    assert str(found["threads"]) in (threads, "0", str(os.cpu_count()))
    check_within(found, bounds)


def test_without_wide_instructions(tmp_path: Path, bounds: Bounds) -> None:
    """NumPy's own loops, such as that of exp, have a version for every width of the processor's
    registers.
    """
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    wide = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    if not wide:
        pytest.skip("there are none here")
    check_within(worked(tmp_path, NPY_DISABLE_CPU_FEATURES=" ".join(wide)), bounds)


def test_an_error_of_one_digit_is_found(tmp_path: Path, bounds: Bounds) -> None:
    """So that these tests can fail: the bound is tight to about 12 digits here."""
    found = worked(tmp_path)
    found["whole"][0, 0] += 1e-12
    with pytest.raises(AssertionError):
        check_within(found, bounds)
