"""Where arrays live: the only place that imports NumPy or CuPy as a namespace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from attncli.dtypes import Dtype
from attncli.equation.evaluator import Array
from attncli.errors import missing_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

# An array in the computer's own memory.
Host: TypeAlias = "NDArray[Any]"


def _no_memory_of_its_own() -> None:
    """How much the computer's own memory has left is not asked."""


@dataclass(frozen=True, slots=True)
class Backend:
    """An array namespace and the way to and from the computer's own memory.

    `free` says how many bytes of a memory of its own are left; None where it has none, or cannot
    tell.
    """

    xp: Any
    device: str
    to_host: Callable[[Array], Host]
    free: Callable[[], int | None] = _no_memory_of_its_own

    def asarray(self, host: Host, dtype: Dtype) -> Array:
        """A host array on this backend, rounded to the dtype."""
        return self.round(self.xp.asarray(host.astype(dtype.computed, copy=False)), dtype)

    def round(self, array: Array, dtype: Dtype) -> Array:
        """The array rounded to what the dtype can store, still in the format it is computed in."""
        if dtype.name == dtype.computed:
            return array
        # A namespace of the bare standard has no views, so it rounds in host memory.
        if not hasattr(array, "view"):
            return self.xp.asarray(_round_float32(np, self.to_host(array), dtype))
        return _round_float32(self.xp, array, dtype)

    def computed(self, dtype: Dtype) -> Any:
        """The namespace's own name for the format a step is computed in."""
        return getattr(self.xp, dtype.computed)


def _round_float32(xp: Any, array: Array, dtype: Dtype) -> Array:
    """Round a NumPy or CuPy float32 array to a 16-bit format, to nearest, ties to even."""
    if dtype.name == "float16":
        return array.astype("float16").astype("float32")
    bits = xp.uint32(0xFFFF0000) & (
        array.view("uint32") + 0x7FFF + ((array.view("uint32") >> 16) & 1)
    )
    # Adding to the bits of a NaN can turn it into infinity.
    return xp.where(array != array, array, bits.view("float32"))


CPU = Backend(np, "cpu", np.asarray)


def backend_for(device: str) -> Backend:
    """NumPy for "cpu", CuPy for "gpu"; raises (exit 5) where CuPy or a device is missing."""
    return CPU if device == "cpu" else _gpu()


def _gpu() -> Backend:
    try:
        import cupy
    except ImportError as error:
        raise missing_error(
            "--device gpu needs CuPy, which is not installed",
            help=(
                "pip install 'attncli[cuda12]' (or 'attncli[cuda13]' for CUDA 13), or leave out"
                " --device gpu"
            ),
        ) from error
    try:
        # Without a driver CuPy can be imported, and fails only at the first array.
        cupy.zeros(1) + 1
        cupy.cuda.Stream.null.synchronize()
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise missing_error(
            f"CuPy is installed but finds no usable GPU: {reason}",
            help="check the driver with nvidia-smi, or leave out --device gpu",
        ) from error
    return Backend(cupy, "gpu", cupy.asnumpy, lambda: _free(cupy))


def _free(cupy: Any) -> int:
    """Bytes that may still be taken of a GPU: what nobody has, and what CuPy has taken and does not
    use.

    Where CUPY_GPU_MEMORY_LIMIT is set, CuPy takes no more than that.
    """
    pool = cupy.get_default_memory_pool()
    free, _ = cupy.cuda.runtime.memGetInfo()
    left = free + pool.free_bytes()
    return int(min(left, pool.get_limit() - pool.used_bytes()) if pool.get_limit() else left)
