"""Reads a dump from a file of arrays, such as .npz or .safetensors, each array of it named as a step."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from attncli.dtypes import DTYPES
from attncli.english import shorten
from attncli.errors import AttncliError, Exit
from attncli.features.compare.dump import STEPS, Dump, as_step, in_order, named_steps, nearest, single, twice
from attncli.problem.array_formats import Array, Format, Refused, format_of, pickled
from attncli.problem.files import PICKLES, cannot_read, open_regular

_SAVING = 'numpy.savez("{}.npz", scores=scores.detach().cpu().numpy(), …), or with safetensors.torch.save_file'


def read_archive(path: str) -> Dump:
    """The steps of a file; AttncliError (exit 4) where it cannot be read, exit 3 for what is wrong in it."""
    called = shorten(path, 200)
    try:
        with open_regular(path) as stream:
            suffix = Path(path).suffix.lower()
            if suffix in PICKLES:
                raise pickled(called, _SAVING.format(shorten(Path(path).stem)))
            arrays, dtypes, left_out = _read(stream, called, format_of(suffix))
    except Refused as refused:
        message, help = refused.args
        raise AttncliError(Exit.INPUT, message, help=help) from None
    except (OSError, ValueError) as error:
        raise cannot_read(path, error, path, "name a .npz or .safetensors file") from None
    coarsest = max(dtypes, key=lambda name: DTYPES[name].epsilon, default="float64")
    return Dump(in_order(arrays), coarsest, left_out=left_out)


def _read(stream: IO[bytes], file: str, format: Format) -> tuple[dict[str, Array], set[str], tuple[str, ...]]:
    """The arrays by their steps, the formats of their numbers, and the names of others."""
    steps, left_out = _steps(format.names(stream, file), file)
    arrays = {
        step: as_step(step, format.read(stream, _called(name, file), name, single=single(step)))
        for name, step in steps.items()
    }
    dtypes = {format.dtype(stream, file, name) for name in steps}
    return arrays, dtypes & DTYPES.keys(), left_out


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
