"""Arrays of other libraries as NumPy has them: what Python hands over."""

from __future__ import annotations

from typing import Any

import numpy as np

from attncli.problem.arrays.stored import StoredArray


def is_array(value: object) -> bool:
    """Whether a library holds numbers in it that NumPy can read."""
    return hasattr(value, "__array__") or hasattr(value, "__dlpack__")


def to_array(value: Any) -> StoredArray:
    """The numbers as NumPy has them: those of a tensor without its gradient, those on a GPU copied
    to the computer's memory, and those of bfloat16 in float32, which holds each of them exactly.

    Raises whatever the other library raises.
    """
    plain = _off_the_gpu(_without_gradient(value))
    array = np.asarray(plain) if hasattr(plain, "__array__") else np.from_dlpack(plain)
    if array.dtype.name == "bfloat16":
        return array.astype(np.float32)
    return array


def dtype_of(value: object) -> str:
    """The number format by its name, also where NumPy lacks it: bfloat16 of torch.bfloat16.

    Empty for what has none, such as a list.
    """
    return str(getattr(value, "dtype", "")).rpartition(".")[2]


def _without_gradient(value: Any) -> Any:
    """A tensor of PyTorch as it is recorded from a model; any other value as it is."""
    if not (hasattr(value, "detach") and hasattr(value, "cpu")):
        return value
    tensor = value.detach().cpu()
    # NumPy has no bfloat16 of its own.
    return tensor.float() if dtype_of(tensor) == "bfloat16" else tensor


def _off_the_gpu(value: Any) -> Any:
    """An array of CuPy in the computer's memory, where CuPy puts none by itself; any other value as
    it is.
    """
    is_of_cupy = hasattr(value, "__cuda_array_interface__") and hasattr(value, "get")
    return value.get() if is_of_cupy else value
