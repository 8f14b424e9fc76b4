"""Writes the names that a version of CuPy has, for `double.py`. CuPy is imported without a GPU:

python -m venv other && other/bin/pip install cupy-cuda12x==14.2.0 && other/bin/python
tests/device/names.py
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def arguments(value: Any) -> str:
    """(a axis out keepdims), for functions that tell them; those of ufuncs and of compiled methods
    are not known.
    """
    if isinstance(value, type) or type(value).__name__ == "ufunc" or not callable(value):
        return ""
    try:
        return f"({' '.join(inspect.signature(value).parameters)})"
    except (TypeError, ValueError):
        return ""


def lines(cupy: Any) -> Iterator[str]:
    """A name in each line: those of the module, then those of its arrays."""
    yield from (
        f"{name}{arguments(getattr(cupy, name))}" for name in dir(cupy) if not name.startswith("_")
    )
    own = [name for name in dir(cupy.ndarray) if not hasattr(object, name) and "pyx" not in name]
    yield from (f"ndarray.{name}{arguments(getattr(cupy.ndarray, name))}" for name in own)


if __name__ == "__main__":
    import cupy

    file = Path(__file__).with_name(f"cupy-{cupy.__version__}.txt")
    file.write_text("\n".join(lines(cupy)) + "\n", encoding="utf-8")
    sys.stdout.write(f"{file}\n")
