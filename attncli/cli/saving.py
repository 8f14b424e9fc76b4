"""Writes problems and other data to files for programs in Python, which have no option to name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from os import PathLike, fspath
from pathlib import Path

from attncli.cli.files import require_writable, write, write_bytes, write_files
from attncli.english import as_written
from attncli.errors import AttncliError, usage_error
from attncli.problem.model import Problem
from attncli.problem.saving import as_yaml, require_yaml


def save(problem: Problem, path: str | PathLike[str]) -> None:
    """Write a problem to a YAML file, which `load` reads back as the same problem.

    Small matrices stand in the file, as they were given. Arrays of more than 1,024 numbers go into
    a .npz file beside it, which has the same name. Both files are replaced as a whole or not at
    all. Raises AttncliError (exit code 2 or 4) where they cannot be written.

        attncli.save(attncli.problem(Q=queries, K=keys, V=values), "problem.yaml")
    """
    if not isinstance(problem, Problem):
        raise usage_error(
            f"{as_written(problem)} is no problem",
            help="make one: attncli.problem(…) or attncli.load(…)",
        )
    if not isinstance(path, str | PathLike):
        raise usage_error(f"path cannot be {as_written(path)}", help='name a file: "problem.yaml"')
    name = fspath(path)
    require_yaml(name)
    with _without_options():
        require_writable(name, "-")
        write_problem(problem, name)


def write_problem(problem: Problem, name: str, comment: str = "") -> None:
    """The same for a command that has `-o`, which errors name; `name` ends in .yaml, and lines of
    `comment` stand first.
    """
    from numpy import savez

    arrays_file = Path(name).with_suffix(".npz")
    keys, arrays = as_yaml(problem, arrays_file.name)
    text = f"{comment}{keys}"
    if not arrays:
        write(text, name, portable=True)
        return
    stream = BytesIO()
    savez(stream, allow_pickle=False, **arrays)
    write_files([(str(arrays_file), [stream.getbuffer()]), (name, [text])])


def save_data(data: bytes, name: str) -> None:
    """Replace a file as a whole or not at all; AttncliError (exit code 4) where that fails."""
    with _without_options():
        require_writable(name, "-")
        write_bytes([data], name)


@contextmanager
def _without_options() -> Iterator[None]:
    """Errors whose help names no option, since a program has none."""
    try:
        yield
    except AttncliError as error:
        raise AttncliError(error.exit_code, error.message, help="choose another place") from None
