"""What is fuzzed: each target takes bytes as one kind of file (or as options) and insists on the
ends it may have.

Seeds of a target are the good files and the bad ones of the corpus, and what earlier runs found
(`seeds/`).
"""

from __future__ import annotations

import atexit
import io
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from zlib import crc32

import attncli
from attncli.errors import AttncliError
from attncli.features.check.many.kept_rows import file_of_rows
from attncli.problem.arrays.errors import ArrayError
from attncli.problem.arrays.formats.xlsx import rows_of_text
from attncli.problem.loader import loads
from attncli.problem.model import Problem
from tests.tools.fuzz.ends import check_end, end_of
from tests.tools.fuzz.matrices import text
from tests.tools.fuzz.pasted_texts import fragments, play_pasted_twice
from tests.tools.fuzz.readings import assert_agreement
from tests.tools.fuzz.samples import (
    ANSWERED,
    PROBLEM,
    STUDENTS,
    arrays,
    dumps,
    inputs,
    options,
    packed,
    pages,
    parts,
    problems,
    results,
    results_book,
)  # fmt: skip
from tests.tools.rewriting.notations import drawn_matrix

HERE = Path(__file__).parent
# cells that are worked out, so that a problem of 7,000 drawn tokens does not use up the time
MOST = 400
WAYS = (  # in which a problem that can be read is worked out; which of them, its bytes decide
    "compute --format json",
    "compute --format table --detail cells",
    "compute --format latex --detail cells",
    "compute --rounding paper --format markdown",
    "compute --rounding exact",
    "gradient --format markdown",
    "gradient --format latex --detail cells",
    "cost",
    "compare --dtypes",
    "worksheet",
    "compute --dtype float16 --heatmap",
)
OPTIONS = (
    "--mask",
    "--cell",
    "--steps",
    "--scale",
    "--precision",
    "--head",
    "--entry",
    "--set",
    "--marks",
)


@dataclass(frozen=True, slots=True)
class Target:
    """`play` raises for an end that is none of those promised; `seeds` are inputs to begin with."""

    name: str
    play: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]

    def begin(self) -> list[bytes]:
        """All inputs to begin with."""
        return [*self.seeds(), *(path.read_bytes() for path in self.kept())]

    def kept(self) -> list[Path]:
        """What earlier runs found: new ways through the program, and what once broke it."""
        folders = (HERE / "seeds" / self.name, HERE / "crashes" / self.name)
        return sorted(path for folder in folders if folder.is_dir() for path in folder.iterdir())


@cache
def workplace() -> Path:
    """A folder with a problem that answers and dumps are held against."""
    folder = Path(tempfile.mkdtemp(prefix="attncli-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "love.yaml").write_text(PROBLEM, encoding="utf-8")
    (folder / "given.yaml").write_text(ANSWERED, encoding="utf-8")
    for name, solution in STUDENTS.items():
        (folder / f"{name}.yaml").write_text(solution, encoding="utf-8")
    return folder


def problem(suffix: str) -> Callable[[bytes], None]:
    """A problem: read; and, if there is not too much of it, worked out in one of the WAYS."""
    name = f"p.{suffix}"

    def play(data: bytes) -> None:
        with chdir(workplace()):
            try:
                read = loads(data, name)
            except AttncliError as error:
                _assert_place(error, data)
                return
            sizes = [matrix.value.size for matrix in read.given.values()]
            if max(sizes) <= MOST and len(read.tokens) * len(read.context_tokens) <= MOST:
                Path(name).write_bytes(data)
                command, *options = WAYS[crc32(data) % len(WAYS)].split()
                # 2: too large to be worked out exactly
                check_end(end_of([command, name, *options]), (0, 1, 2, 3))

    return play


def readings(suffix: str) -> Target:
    """A problem, for both passes over its text."""

    def play(data: bytes) -> None:
        with chdir(workplace()):
            assert_agreement(data, f"p.{suffix}")

    chance = Random(suffix)
    return Target(f"readings.{suffix}", play, lambda: [text(chance, suffix) for _ in range(40)])


def pasted_text(data: bytes) -> None:
    """A matrix as somebody pastes it: the same numbers, or an error, in a problem of Python and in
    a block of YAML.
    """
    text = data.decode("utf-8", "replace")
    keys = {"K": [[0, 0]], "V": [[0]]}
    found, error = _read(lambda: attncli.problem(Q=text, **keys))
    if error is not None:
        assert error.message, error
        assert error.help, error
    # A block of YAML is always a matrix, and one line of Python may be any text.
    if error is not None and "must be a list of rows" in error.message:
        return
    # YAML ends lines at other signs, too, and leaves out indentation and empty lines at the ends.
    lines = text.split("\n")
    is_same_in_yaml = all(line.isprintable() and line.strip() for line in lines)
    if not is_same_in_yaml or lines[0] != lines[0].lstrip():
        return
    block = "".join(f"  {line}\n" for line in lines)
    source = f"Q: |\n{block}K: [[0, 0]]\nV: [[0]]\n".encode()
    in_yaml, error_in_yaml = _read(lambda: loads(source, "p.yaml"))
    if error_in_yaml is not None:
        _assert_place(error_in_yaml, source)
    assert (found is None) == (in_yaml is None), (error, error_in_yaml)
    if found is not None and in_yaml is not None:
        assert found.given["Q"].value.tolist() == in_yaml.given["Q"].value.tolist()


def _read(read: Callable[[], Problem]) -> tuple[Problem | None, AttncliError | None]:
    try:
        return read(), None
    except AttncliError as error:
        return None, error


def pasted_texts() -> list[bytes]:
    """Matrices as people have them, and drawn ones."""
    chance = Random("pasted texts")
    drawn = [drawn_matrix(chance)[1] for _ in range(100)]
    return [text.encode() for text in (*fragments(), *drawn)]


def file(name: str, *command: str, codes: tuple[int, ...]) -> Callable[[bytes], None]:
    """A file of this name, given to a command."""

    def play(data: bytes) -> None:
        with chdir(workplace()):
            Path(name).write_bytes(data)
            check_end(end_of([*command]), codes)

    return play


def array(suffix: str) -> Callable[[bytes], None]:
    """A file of arrays that a problem names."""
    cells = ", range: A1:C2" if suffix == "xlsx" else ""
    text = f"Q: {{file: a.{suffix}{cells}}}\nK: [[1, 2, 3]]\nV: [[1]]\n"

    def play(data: bytes) -> None:
        with chdir(workplace()):
            Path(f"a.{suffix}").write_bytes(data)
            Path("a.yaml").write_text(text, encoding="utf-8")
            check_end(end_of(["compute", "a.yaml", "--format", "json"]), (0, 3))

    return play


def parts_of(data: bytes) -> None:
    """The parts of a workbook, apart by NUL: slips are in the XML, and not in what packs it."""
    book = packed(data)
    array("xlsx")(book)
    with suppress(ArrayError):
        rows_of_text(io.BytesIO(book), "a.xlsx", "S")


def results_of(suffix: str) -> Callable[[bytes], None]:
    """Results of a class, or the rows kept beside them, with which --resume goes on; what it writes
    can be read.
    """
    output = "r.json" if suffix == "partial" else f"r.{suffix}"
    command = [
        "check",
        "love.yaml",
        *(f"{name}.yaml" for name in STUDENTS),
        "-o",
        output,
        "--resume",
    ]

    def play(data: bytes) -> None:
        with chdir(workplace()):
            for name in (output, file_of_rows(output)):
                Path(name).unlink(missing_ok=True)
            written = results_book(data) if suffix == "xlsx" else data
            Path(file_of_rows(output) if suffix == "partial" else output).write_bytes(written)
            # A damaged row among those that were kept is done again.
            codes = (0, 1) if suffix == "partial" else (0, 1, 3)
            if check_end(end_of(command), codes).code <= 1:
                check_end(end_of(command), (0, 1))

    return play


def options_of(data: bytes) -> None:
    """Options, a line each: `--mask={causal: true}`; what is none of OPTIONS is left out."""
    words = []
    for line in data.decode("utf-8", "surrogateescape").split("\n")[:6]:
        name, equals, value = line.partition("=")
        if name in OPTIONS and equals:
            words += [name, value]
    commands = {"--set": ["compare", "love.yaml"], "--marks": ["check", "love.yaml", "given.yaml"]}
    command = commands.get(words[0] if words else "", ["compute", "love.yaml"])
    with chdir(workplace()):
        check_end(end_of([*command, *words, "--format", "json"]), (0, 1, 2, 3, 4))


def _assert_place(error: AttncliError, data: bytes) -> None:
    """An error of a file has words, help, exit code 3 (4 for another file), and a place that is in
    the file.
    """
    for each in (error, *error.more):
        assert each.exit_code in (3, 4), each
        assert each.message, each
        assert each.help, each
        if each.place is not None:
            assert 1 <= each.place.line <= data.count(b"\n") + data.count(b"\r") + 1, each
            assert 1 <= each.place.column <= len(each.place.source) + 1, each


def _targets() -> Iterator[Target]:
    yield Target("yaml", problem("yaml"), lambda: problems("yaml"))
    yield Target("json", problem("json"), lambda: problems("json"))
    yield from map(readings, ("yaml", "json"))
    for suffix in ("npy", "npz", "safetensors", "csv", "xlsx"):
        yield Target(suffix, array(suffix), lambda suffix=suffix: arrays(suffix))
    yield Target("xlsx.parts", parts_of, parts)
    for suffix in ("yaml", "json", "md", "tex", "txt"):
        play = file(
            f"s.{suffix}", "check", "love.yaml", f"s.{suffix}", "--format", "json", codes=(0, 1, 3)
        )
        yield Target(f"answers.{suffix}", play, lambda suffix=suffix: pages(suffix))
    for suffix in ("json", "yaml", "npz"):
        play = file(
            f"d.{suffix}",
            "compare",
            "love.yaml",
            f"d.{suffix}",
            "--format",
            "json",
            codes=(0, 1, 3),
        )
        yield Target(f"dump.{suffix}", play, lambda suffix=suffix: dumps(suffix))
    for suffix in ("csv", "tsv", "json", "xlsx", "partial"):
        yield Target(f"results.{suffix}", results_of(suffix), lambda suffix=suffix: results(suffix))
    yield Target("options", options_of, options)
    yield Target("pasted", pasted_text, lambda: [each.encode() for each in fragments()])
    yield Target("pasted.twice", play_pasted_twice, pasted_texts)


TARGETS = {target.name: target for target in _targets()}
__all__ = ["TARGETS", "Target", "inputs", "workplace"]
