"""What the suffix of a file says is in it."""

from __future__ import annotations

import os

# Files of these hold rows of numbers that people may have written.
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
# Whoever reads files of these runs what is in them.
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
_FORMATS_FOLDER = os.path.join(os.path.dirname(__file__), "arrays", "formats")


def array_suffixes() -> tuple[str, ...]:
    """The suffixes of all formats of arrays: .csv, .npy, .npz, .safetensors, …

    Each is the name of a module in the folder of formats.
    """
    # Most commands read no arrays, and it takes a while to import.
    from pkgutil import iter_modules

    names = [module.name for module in iter_modules([_FORMATS_FOLDER])]
    return tuple(f".{name}" for name in sorted(names))
