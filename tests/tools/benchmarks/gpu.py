"""The output on a GPU against PyTorch's attention on the same GPU.

    python tests/tools/benchmarks/gpu.py [FILE] [--sizes N,N,…]

Prints a table and writes it, for n from 1024 to 65,536 or for the sizes given. Needs the extra
`cuda12` or `cuda13` and a PyTorch for CUDA; without them, or without a GPU, it says so in one line
and ends with exit code 5. `--cpu` tries all of it with NumPy in CuPy's place and PyTorch on the
CPU, at a small size: its times mean nothing.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

# A script finds only what stands beside it.
sys.path.insert(0, str(Path(__file__).parents[3]))

from attncli.attention.plan import plan_for
from attncli.attention.registry import is_small
from attncli.backend import Backend, Host, backend_for
from attncli.dtypes import DTYPES
from attncli.errors import AttncliError
from attncli.problem.model import Problem
from attncli.tracing import chunked, run
from attncli.tracing.chunked import Inner, run_in_chunks
from attncli.tracing.shift import Shift
from attncli.tracing.workers import FloatWorker
from tests.tools.benchmarks.arrays import OUTPUT, WIDTH, arrays, problem
from tests.tools.benchmarks.figures import Way, medians

SIZES = [2**power for power in range(10, 17)]
TRIED, TRIED_CELLS = [512], 2**16  # without a GPU, with as many cells in a part
FORMATS = ("float32", "float16", "bfloat16")
HEAD = "| n | what | ours | PyTorch | ratio |\n| --- | --- | --- | --- | --- |"
SCRIPT = """
import numpy, torch
given = numpy.load("qkv.npz")
q, k, v = (torch.from_numpy(given[name])[None, None] for name in "QKV")
numpy.save("theirs.npy", torch.nn.functional.scaled_dot_product_attention(q, k, v)[0, 0].numpy())
"""
PROBLEM = "\n".join(f"{name}: {{file: qkv.npz, name: {name}}}" for name in "QKV")
OURS = (
    "-m",
    "attncli",
    "compute",
    "problem.yaml",
    "--steps",
    "output",
    "--dtype",
    "float32",
    "-o",
    "ours.npy",
)


class NoGpu(Exception):
    """There is nothing to measure on."""


@dataclass(frozen=True)
class Place:
    """Where both are run: our backend, and PyTorch with the name of its device."""

    backend: Backend
    torch: Any
    device: str

    @classmethod
    def gpu(cls) -> Place:
        try:
            backend = backend_for("gpu")
            import torch
        except (AttncliError, ImportError) as error:
            raise NoGpu(error) from error
        if not torch.cuda.is_available():
            raise NoGpu("PyTorch finds no CUDA device")
        return cls(backend, torch, "cuda")

    @classmethod
    def cpu(cls) -> Place:
        import torch

        return cls(Backend(np, "gpu", np.array), torch, "cpu")

    def wait(self) -> None:
        """Until PyTorch's work is done; ours ends with a number that is asked for."""
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def versions(self) -> str:
        words = [
            f"Python {platform.python_version()}, NumPy {np.__version__}, PyTorch"
            f" {self.torch.__version__}"
        ]
        if self.device == "cuda":
            words.insert(0, self.torch.cuda.get_device_name())
            words.append(
                f"CuPy {self.backend.xp.__version__}, CUPY_TF32"
                f" {os.environ.get('CUPY_TF32', 'unset')}"
            )
            words.append(
                f"PyTorch's TF32 {'on' if self.torch.backends.cuda.matmul.allow_tf32 else 'off'}"
            )
        else:
            words.append(
                "no GPU: NumPy in CuPy's place, PyTorch on the CPU; the times mean nothing"
            )
        return "; ".join(words)

    def held(self) -> str:
        """The most memory that either has taken of the GPU since this was asked last."""
        if self.device == "cpu":
            return "not counted | not counted"
        pool, cuda = self.backend.xp.get_default_memory_pool(), self.torch.cuda
        taken = pool.total_bytes(), cuda.max_memory_reserved()
        pool.free_all_blocks()
        cuda.empty_cache()
        cuda.reset_peak_memory_stats()
        return " | ".join(f"{each / 2**20:,.0f} MiB" for each in taken)


def on_the_device(place: Place, given: Problem, dtype: str) -> Way:
    """Ours with Q, K and V already there; the output stays there, and only what is looked at comes
    back.
    """

    def to_host(array: Any) -> Host:
        return (
            np.empty(array.shape, DTYPES[dtype].computed)
            if array.ndim > 1
            else place.backend.to_host(array)
        )

    backend = Backend(place.backend.xp, "gpu", to_host, place.backend.free)
    plan, format = plan_for(given), DTYPES[dtype]
    worker = FloatWorker(backend, format, plan.parameters, plan.sizes)
    for rule in filter(is_small, plan.rules):
        worker.give(rule.name, plan.given[rule.name]) if rule.given else worker.work(rule)
    inner = Inner(plan, worker, Shift.at(3, given, format))
    return lambda: run_in_chunks(inner, OUTPUT, None, None)


def with_transfers(place: Place, given: dict[str, np.ndarray]) -> Way:
    """Ours from arrays in the computer's memory to an output there."""
    ours = problem(given)
    return lambda: run(ours, dtype="float32", backend=place.backend, keep=OUTPUT)["output"]


def by_torch(
    place: Place, given: dict[str, np.ndarray], dtype: str, causal: bool, transfers: bool
) -> Way:
    """PyTorch's choice among its kernels, from arrays of ours and back to one, or from and to its
    own.
    """
    torch = place.torch

    def there() -> list[Any]:
        return [
            torch.from_numpy(each)[None, None].to(place.device, getattr(torch, dtype))
            for each in given.values()
        ]

    ready = None if transfers else there()

    def attend() -> object:
        with torch.no_grad():
            found = torch.nn.functional.scaled_dot_product_attention(
                *(ready or there()), is_causal=causal
            )
        if transfers:
            return found[0, 0].float().cpu().numpy()
        return place.wait()

    return attend


def rows(place: Place, sizes: list[int], rounds: int) -> Iterator[str]:
    for tokens in sizes:
        given = arrays(tokens)
        for causal in (False, True):
            ours, what = problem(given, causal), "causal output" if causal else "output"
            for dtype in FORMATS:
                ways = (
                    on_the_device(place, ours, dtype),
                    by_torch(place, given, dtype, causal, transfers=False),
                )
                yield row(tokens, f"{what}, {dtype}, on the device", *ways, rounds)

        theirs = by_torch(place, given, "float32", causal=False, transfers=True)
        yield row(
            tokens, "output, float32, with transfers", with_transfers(place, given), theirs, rounds
        )
        yield f"| {tokens} | the most memory taken | {place.held()} | |"
        # A start takes seconds, whatever the size.
        if tokens in (sizes[0], sizes[-1]):
            yield started(place, tokens, max(1, rounds // 3))


def row(tokens: int, what: str, ours: Way, theirs: Way, rounds: int) -> str:
    """The medians of both, which take turns."""
    taken = medians({"ours": ours, "torch": theirs}, rounds)
    times = " | ".join(f"{1000 * seconds:.3g} ms" for seconds in taken.values())
    return f"| {tokens} | {what} | {times} | {taken['ours'] / taken['torch']:.2f} × |"


def started(place: Place, tokens: int, rounds: int) -> str:
    """Whole processes, from .npz to .npy, with the start of Python and of the GPU."""
    ours = (*OURS, *(("--device", "gpu") if place.device == "cuda" else ()))
    script = SCRIPT.replace("[None, None] for", f"[None, None].to({place.device!r}) for").replace(
        "[0, 0]", "[0, 0].cpu()"
    )
    with TemporaryDirectory() as folder:
        np.savez(Path(folder, "qkv.npz"), **arrays(tokens))
        Path(folder, "problem.yaml").write_text(PROBLEM)

        def process(*arguments: str) -> Way:
            return lambda: subprocess.run([sys.executable, *arguments], check=True, cwd=folder)

        found = row(
            tokens,
            "a whole process, .npz in, .npy out, float32",
            process(*ours),
            process("-c", script),
            rounds,
        )
        np.testing.assert_allclose(
            np.load(Path(folder, "ours.npy")),
            np.load(Path(folder, "theirs.npy")),
            atol=16 * precision("float32"),
        )
    return found


def precision(dtype: str) -> float:
    """Half a unit in the last place of 1, in the format in which matrices are multiplied."""
    # The format TF32 has as many digits as float16.
    multiplied = "float16" if os.environ.get("CUPY_TF32") == "1" and dtype == "float32" else dtype
    return DTYPES[multiplied].epsilon


def errors(place: Place, tokens: int) -> Iterator[str]:
    """The largest error of either in the last rows, against float64 on the CPU; too large a one of
    ours ends all.
    """
    given = arrays(tokens)
    for dtype in FORMATS:
        rounded = (
            place.torch.from_numpy(each).to(getattr(place.torch, dtype)) for each in given.values()
        )
        q, k, v = (each.double().numpy() for each in rounded)
        exp = np.exp(q[-512:] @ k.T / np.sqrt(WIDTH))
        true = exp / exp.sum(axis=1, keepdims=True) @ v
        ours = run(problem(given), dtype=dtype, backend=place.backend, keep=OUTPUT)["output"]
        theirs = by_torch(place, given, dtype, causal=False, transfers=True)()
        far = [float(np.abs(found[-512:] - true).max()) for found in (ours, theirs)]
        yield (
            f"largest error against float64, n = {tokens}, {dtype}: ours {far[0]:.2g}, PyTorch"
            f" {far[1]:.2g}"
        )
        if not far[0] <= 16 * precision(dtype):
            raise SystemExit("ours is wrong")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?", default="gpu.md")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--sizes", type=lambda text: [int(each) for each in text.split(",")])
    chosen = parser.parse_args()
    try:
        place = Place.cpu() if chosen.cpu else Place.gpu()
    except NoGpu as reason:
        print(f"no GPU to measure on: {reason}", file=sys.stderr)
        return 5
    sizes, rounds = (TRIED, 1) if chosen.cpu else (SIZES, 9)
    sizes = chosen.sizes or sizes
    if chosen.cpu:
        chunked.CELLS_OF_A_BUSY_GPU = TRIED_CELLS
    far = (line for size in dict.fromkeys((sizes[0], sizes[-1])) for line in errors(place, size))
    lines: list[str] = []
    for line in chain((place.versions(), ""), far, ("", HEAD), rows(place, sizes, rounds)):
        lines.append(line)
        print(line, flush=True)
    Path(chosen.file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
