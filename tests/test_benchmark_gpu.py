"""The benchmark on a GPU: where there is none it says so in one line, and without one it can be
tried.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def benchmark(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(folder), *filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))))
    return subprocess.run(
        [sys.executable, str(ROOT / "tests" / "tools" / "benchmarks" / "gpu.py"), *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("cupy", "reason"),
    [
        ("raise ImportError", "--device gpu needs CuPy, which is not installed"),
        (
            "def zeros(_): raise RuntimeError('no driver\\nat all')",
            "CuPy is installed but finds no usable GPU: no driver",
        ),
    ],
)
def test_without_a_gpu_it_says_so_in_one_line(tmp_path: Path, cupy: str, reason: str) -> None:
    (tmp_path / "cupy.py").write_text(f"{cupy}\n")
    ended = benchmark(tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (
        5,
        "",
        f"no GPU to measure on: {reason}\n",
    )
    assert not list(tmp_path.glob("*.md"))


@pytest.mark.slow
@pytest.mark.torch
def test_all_of_it_can_be_tried_without_one(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    ended = benchmark(tmp_path, "--cpu", "tried.md")
    assert (ended.returncode, ended.stderr) == (0, "")
    lines = (tmp_path / "tried.md").read_text(encoding="utf-8").splitlines()
    assert lines == ended.stdout.splitlines()
    assert "the times mean nothing" in lines[0]
    errors = [line for line in lines if line.startswith("largest error")]
    table = [line.split(" | ") for line in lines if line.startswith("| ") and line[2].isdigit()]
    assert (len(errors), len(table)) == (3, 9)  # an error for each format
    assert {row[1].split(",")[0] for row in table} == {
        "output", "causal output", "the most memory taken", "a whole process",
    }  # fmt: skip
