"""Reads a dump from a .npz or .safetensors file, each array of it named as a step."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TypeAlias

from attncli.dtypes import DTYPES
from attncli.english import shorten
from attncli.errors import AttncliError, Exit
from attncli.features.compare.dump import STEPS, Dump, as_step, in_order, named_steps, nearest, single, twice
from attncli.problem.files import PICKLES, cannot_read, open_regular
from attncli.problem.safetensors import formats, read_safetensors
from attncli.problem.stored import Array, Refused, pickled

_FORMATS = {"F16": "float16", "BF16": "bfloat16", "F32": "float32"}  # of safetensors
_Read: TypeAlias = tuple[dict[str, Array], set[str], tuple[str, ...]]  # arrays by step, their formats, other names
_SAVING = 'numpy.savez("{}.npz", scores=scores.detach().cpu().numpy(), …), or with safetensors.torch.save_file'
_UNNAMED = "a .npy file holds one array without a name"


def read_archive(path: str) -> Dump:
    """The steps of a file; AttncliError (exit 4) where it cannot be read, exit 3 for what is wrong in it."""
    called = shorten(path, 200)
    try:
        with open_regular(path) as stream:
            suffix = Path(path).suffix.lower()
            if suffix == ".npy":
                raise Refused(f"{called}: {_UNNAMED}", "save it with numpy.savez(file, scores=…)")
            if suffix in PICKLES:
                raise pickled(called, _SAVING.format(shorten(Path(path).stem)))
            arrays, dtypes, left_out = (_npz if suffix == ".npz" else _safetensors)(stream, called)
    except Refused as refused:
        message, help = refused.args
        raise AttncliError(Exit.INPUT, message, help=help) from None
    except (OSError, ValueError) as error:
        raise cannot_read(path, error, path, "name a .npz or .safetensors file") from None
    coarsest = max(dtypes, key=lambda name: DTYPES[name].epsilon, default="float64")
    return Dump(in_order(arrays), coarsest, left_out=left_out)


def _npz(stream: IO[bytes], file: str) -> _Read:
    from attncli.problem.npz import names, read_npz  # and all that zipfile brings, only for those who need it

    steps, left_out = _steps(names(stream, file), file)
    arrays = {step: read_npz(stream, _called(name, file), name, single=single(step)) for name, step in steps.items()}
    floats = {array.dtype.name for array in arrays.values() if array.dtype.kind == "f"}
    return {step: as_step(step, array) for step, array in arrays.items()}, floats, left_out


def _safetensors(stream: IO[bytes], file: str) -> _Read:
    found = formats(stream, file)
    steps, left_out = _steps(list(found), file)
    arrays = {
        step: read_safetensors(stream, _called(name, file), name, single=single(step)) for name, step in steps.items()
    }
    dtypes = {_FORMATS[found[name]] for name in steps if found[name] in _FORMATS}
    return {step: as_step(step, array) for step, array in arrays.items()}, dtypes, left_out


def _called(name: str, file: str) -> str:
    """What messages call one array of a file."""
    return f"{file}: {shorten(name)}"


def _steps(names: list[str], file: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """The names that are those of steps, with the steps, of which there must be one; and the others."""
    if not names:
        raise Refused(f"{file}: there is no array in it", STEPS)
    steps, left_out = named_steps(names)
    if not steps:
        raise Refused(f"{file}: no step is called {shorten(names[0])}", nearest(names[0]))
    if clash := twice(steps):
        raise Refused(f"{file}: {clash[1]}", "keep one of the two")
    return steps, left_out
