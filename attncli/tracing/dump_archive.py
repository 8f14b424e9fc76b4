"""Reads a dump from a .npz or .safetensors file, each array of it named as a step."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from attncli.attention.rules import RULES
from attncli.choices import DTYPES
from attncli.english import shorten
from attncli.errors import AttncliError, Exit
from attncli.problem.files import cannot_read, open_regular
from attncli.problem.safetensors import formats, read_safetensors
from attncli.problem.stored import Array, Refused
from attncli.tracing.dump import STEPS, Dump, in_order, nearest

_FORMATS = {"F16": "float16", "BF16": "bfloat16", "F32": "float32"}  # of safetensors
_UNNAMED = "a .npy file holds one array without a name"


def read_archive(path: str) -> Dump:
    """The steps of a file; AttncliError (exit 4) where it cannot be read, exit 3 for what is wrong in it."""
    called = shorten(path, 200)
    try:
        with open_regular(path) as stream:
            suffix = Path(path).suffix.lower()
            if suffix == ".npy":
                raise Refused(f"{called}: {_UNNAMED}", "save it with numpy.savez(file, scores=…)")
            arrays, dtypes = (_npz if suffix == ".npz" else _safetensors)(stream, called)
    except Refused as refused:
        message, help = refused.args
        raise AttncliError(Exit.INPUT, message, help=help) from None
    except (OSError, ValueError) as error:
        raise cannot_read(path, error, Path(path), "name a .npz or .safetensors file") from None
    coarsest = max(dtypes, key=lambda name: DTYPES[name].epsilon, default="float64")
    return Dump(in_order(arrays), coarsest)


def _npz(stream: IO[bytes], file: str) -> tuple[dict[str, Array], set[str]]:
    from attncli.problem.npz import names, read_npz  # and all that zipfile brings, only for those who need it

    arrays = {name: read_npz(stream, file, name) for name in _steps(names(stream, file), file)}
    return arrays, {array.dtype.name for array in arrays.values() if array.dtype.kind == "f"}


def _safetensors(stream: IO[bytes], file: str) -> tuple[dict[str, Array], set[str]]:
    found = formats(stream, file)
    arrays = {name: read_safetensors(stream, file, name) for name in _steps(list(found), file)}
    return arrays, {_FORMATS[each] for each in found.values() if each in _FORMATS}


def _steps(names: list[str], file: str) -> list[str]:
    """The names, which must all be those of steps."""
    for name in names:
        if name not in RULES:
            raise Refused(f"{file}: no step is called {shorten(name)}", nearest(name))
    if not names:
        raise Refused(f"{file}: there is no array in it", STEPS)
    return names
