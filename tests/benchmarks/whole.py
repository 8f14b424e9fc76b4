"""A whole process from .npz in to .npy out, against the shortest script with PyTorch (row 11)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from attend import arrays
from versus import Figure, Way, versus

SCRIPT = """
import numpy, torch
given = numpy.load("qkv.npz")
q, k, v = (torch.from_numpy(given[name])[None, None] for name in "QKV")
numpy.save("theirs.npy", torch.nn.functional.scaled_dot_product_attention(q, k, v)[0, 0].numpy())
"""
PROBLEM = "\n".join(f"{name}: {{file: qkv.npz, name: {name}}}" for name in "QKV")
OURS = ("-m", "attncli", "compute", "problem.yaml", "--steps", "output", "--dtype", "float32", "-o", "ours.npy")


def figures(tokens: int, rounds: int) -> Iterator[Figure]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "qkv.npz", **arrays(tokens))
        (folder / "problem.yaml").write_text(PROBLEM)

        def process(*arguments: str) -> Way:
            return lambda: subprocess.run([sys.executable, *arguments], check=True, cwd=folder)

        found = versus(11, f"whole process, .npz in, .npy out, n = {tokens}, against a torch script",
                       process(*OURS), process("-c", SCRIPT), 0.3, rounds=rounds)  # fmt: skip
        np.testing.assert_allclose(np.load(folder / "ours.npy"), np.load(folder / "theirs.npy"), atol=1e-6)
        yield found
