"""Where both are run: CuPy and PyTorch on a GPU, or, to try the benchmark, NumPy and PyTorch on the CPU."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from typing import Any

import numpy as np

from attncli.backend import Backend, backend_for
from attncli.errors import AttncliError


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

    def said(self) -> str:
        words = [f"Python {platform.python_version()}, NumPy {np.__version__}, PyTorch {self.torch.__version__}"]
        if self.device == "cuda":
            words.insert(0, self.torch.cuda.get_device_name())
            words.append(f"CuPy {self.backend.xp.__version__}, CUPY_TF32 {os.environ.get('CUPY_TF32', 'unset')}")
            words.append(f"PyTorch's TF32 {'on' if self.torch.backends.cuda.matmul.allow_tf32 else 'off'}")
        else:
            words.append("no GPU: NumPy in CuPy's place, PyTorch on the CPU; the times mean nothing")
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
