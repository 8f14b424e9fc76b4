"""What the suffix of a file says is in it."""

from __future__ import annotations

import os
from pkgutil import iter_modules

# which hold rows of numbers that people may have written
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
# suffixes of files that run what is in them
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
_FORMATS = os.path.join(os.path.dirname(__file__), "arrays", "formats")


def array_suffixes() -> tuple[str, ...]:
    """The suffixes of all formats of arrays: .csv, .npy, .npz, .safetensors, …

    Each is the name of a module in the folder of formats.
    """
    return tuple(sorted(f".{module.name}" for module in iter_modules([_FORMATS])))
