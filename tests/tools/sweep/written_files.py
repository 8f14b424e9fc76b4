"""What a line may write: what it was asked for, whole, and so that commands can read it; after an
error nothing. Where there is nothing to be written, it says so.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

import attncli
from tests.tools.fuzz.ends import End, end_of
from tests.tools.sweep.drawn_lines import commands

Contents = Mapping[str, bytes]  # of each file, by its path in the folder of the case

# The options that write, of every command or of one.
WRITES = ("--output", "--answers", "--key", "--feedback", "generate --directory", "test --export")
STANDARD = ("-", "/dev/stdout")


class Unwritten(Exception):
    """What a line has not written as it should have: the kind, and what was seen."""


def contents(folder: Path) -> Contents:
    """Every file there, but for what the sweep itself writes, and the model that lines read."""
    found = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not name.startswith((".told", "model/")):
            found[name] = path.read_bytes()
    return found


def check_files(line: list[str], end: End, before: Contents, after: Contents) -> None:
    """Raises `Unwritten` where the files after a line are not those that it was asked for."""
    changed = {name for name, data in after.items() if before.get(name) != data}
    if gone := before.keys() - after.keys():
        raise Unwritten("loses a file", f"{sorted(gone)}")
    if end.code > 1:
        if changed:
            raise Unwritten("an error leaves a file", f"{sorted(changed)}\n{end.err}")
        return
    asked = asked_files(line)
    if others := [
        name for name in changed if not any(_belongs(name, each) for each in asked.values())
    ]:
        raise Unwritten("writes what was not asked for", f"{sorted(others)}")
    for option, each in asked.items():
        is_there = any(_belongs(name, each) for name in after)
        if not is_there and f"{each} was not written" not in end.err:
            raise Unwritten(f"writes nothing for {option}", f"{each}: {sorted(after)}")
    form = _form(line)
    for name in sorted(changed):
        _require_whole(
            name,
            after[name],
            form if "--output" in asked and _belongs(name, asked["--output"]) else "",
        )
    # A name may begin like an option.
    _require_read(
        line, asked, [f"./{name}" if name.startswith("-") else name for name in sorted(changed)]
    )


def _given(line: list[str]) -> dict[str, Any]:
    """The values of a line, by the parameters of its command."""
    if not line or line[0] not in commands():
        return {}
    given: dict[str, Any] = (
        commands()[line[0]].make_context(line[0], line[1:], resilient_parsing=True).params
    )
    return given


def _form(line: list[str]) -> str:
    """The format that a line names for its page, which may be another than that of the name."""
    given = _given(line)
    return given.get("format") or given.get("to") or ""


def asked_files(line: list[str]) -> dict[str, str]:
    """The files and folders that a line names for what it writes, by the option."""
    given = _given(line)
    if not given:
        return {}
    command = commands()[line[0]]
    spelled = {name: each for each in command.params for name in each.opts}
    options = (each.removeprefix(f"{line[0]} ") for each in WRITES)
    values = {option: given.get(spelled[option].name) for option in options if option in spelled}
    return {
        option: os.path.normpath(value)
        for option, value in values.items()
        if isinstance(value, str) and value not in STANDARD
    }


def _belongs(name: str, asked: str) -> bool:
    """Whether a file is what was asked for, in that folder, one of a numbered series, or a picture
    or arrays beside.
    """
    if asked == os.curdir:
        return True
    stem = os.path.splitext(asked)[0]
    ways = (asked, f"{asked}/*", asked.replace("{n}", "*"), f"{stem}-*.svg", f"{stem}.npz")
    return any(fnmatchcase(name, way.replace("[", "[[]")) for way in ways)


# Whether a file is whole, by its suffix.


def _require_whole(name: str, data: bytes, form: str) -> None:
    """Raises `Unwritten` for a file that is not one of its format, which is told by its suffix if
    nothing else is.
    """
    suffix = SUFFIXES.get(form, os.path.splitext(name)[1].lower())
    try:
        assert data, "it is empty"
        WHOLE.get(suffix, _text)(data)
    except Exception as error:
        raise Unwritten(
            f"writes a {suffix} that cannot be read", f"{name}: {error!r}"[:1000]
        ) from error


def _text(data: bytes) -> None:
    assert b"\0" not in data, "it is not text"
    data.decode()


def _json(data: bytes) -> None:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON")

    json.loads(data.decode(), parse_constant=refuse)


def _workbook(data: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        for name in parts.namelist():
            ElementTree.fromstring(parts.read(name))


def _latex(data: bytes) -> None:
    text = data.decode()
    begun, ended = (
        sorted(re.findall(rf"\\{word}\{{(\w+\*?)\}}", text)) for word in ("begin", "end")
    )
    assert begun == ended, "an environment is not closed"


def _png(data: bytes) -> None:
    assert data.startswith(b"\x89PNG\r\n"), "it is no PNG"
    assert b"IEND" in data[-12:], "it is cut off"


def _pdf(data: bytes) -> None:
    assert data.startswith(b"%PDF-"), "it is no PDF"
    assert b"%%EOF" in data[-12:], "it is cut off"


def _table(data: bytes, between: str = ",") -> None:
    widths = {
        len(row) for row in csv.reader(io.StringIO(data.decode("utf-8-sig")), delimiter=between)
    }
    assert len(widths) == 1, f"its rows have {sorted(widths)} cells"


# Of the formats whose files are mostly not called after them.
SUFFIXES = {
    "table": ".txt",
    "markdown": ".md",
    "latex": ".tex",
    "html": ".html",
    "json": ".json",
    "pdf": ".pdf",
    "xlsx": ".xlsx",
    "csv": ".csv",
    "tsv": ".tsv",
    "svg": ".svg",
    "png": ".png",
    "gradescope": ".json",
    "moodle": ".xml",
    "rexams": ".rmd",
    "canvas": ".txt",
}
WHOLE: dict[str, Callable[[bytes], Any]] = {
    ".json": _json,
    ".svg": ElementTree.fromstring,
    ".xml": ElementTree.fromstring,
    ".xlsx": _workbook,
    ".tex": _latex,
    ".png": _png,
    ".csv": _table,
    ".tsv": lambda data: _table(data, "\t"),
    ".npy": lambda data: np.load(io.BytesIO(data), allow_pickle=False),
    ".npz": lambda data: dict(np.load(io.BytesIO(data), allow_pickle=False)),
    ".pdf": _pdf,
    ".f32": lambda data: np.frombuffer(data, "<f4"),
    ".u8": lambda data: np.frombuffer(data, np.uint8),
}


# Whether the commands that read a file can do so.


class Reading(NamedTuple):
    """A line that reads what another has written, and the exit codes that it may have."""

    line: list[str]
    codes: tuple[int, ...]


def _require_read(line: list[str], asked: Mapping[str, str], changed: list[str]) -> None:
    for reading in READERS.get(line[0] if line else "", _nothing)(line, asked, changed):
        end = end_of(reading.line)
        if end.code not in reading.codes:
            what = re.sub(
                r"[-\d.]+|'[^']*'|\S*/\S*", "…", (end.err or "it differs").splitlines()[0]
            )
            raise Unwritten(
                f"{reading.line[0]} does not read what it writes: exit {end.code}: {what[:80]}",
                f"{reading.line}\n{end.err}{end.out[-1500:]}",
            )


def _nothing(line: list[str], asked: Mapping[str, str], changed: list[str]) -> Iterator[Reading]:
    yield from ()


def _of_a_set(line: list[str], asked: Mapping[str, str], changed: list[str]) -> Iterator[Reading]:
    """A problem can be worked out, its key is right, its sheets are blank, and a class can be
    checked.
    """
    folder = asked.get("--directory")
    if folder is None:
        return
    for problem in [name for name in changed if "/problems/" in name][:2]:
        before, _, after = problem.removesuffix(".yaml").rpartition("/problems/")
        yield Reading(["compute", problem, "--steps=output", "--detail=brief"], (0,))
        yield Reading(["check", problem, f"{before}/answers/{after}.yaml"], (1,))
        for suffix in (".md", ".tex"):
            yield Reading(["check", problem, f"{before}/keys/{after}{suffix}"], (0,))
            yield Reading(["check", problem, f"{before}/worksheets/{after}{suffix}"], (1,))
    yield Reading(["check", "--batch", f"{folder}/manifest.csv", "--workers=1"], (1,))


def _new_problem(
    line: list[str], asked: Mapping[str, str], changed: list[str]
) -> Iterator[Reading]:
    """What has blanks says so, and what has numbers can be worked out."""
    filled = any(word.startswith(("--random", "--seed", "--equations")) for word in line)
    for name in changed:
        yield Reading(["compute", name, "--detail=brief"], (0,) if filled else (3,))


def _problem(line: list[str], asked: Mapping[str, str], changed: list[str]) -> Iterator[Reading]:
    of_answers = any("answers/" in word for word in line)
    for name in changed:
        if name.endswith((".yaml", ".json")) and not of_answers:
            yield Reading(["compute", name, "--detail=brief"], (0,))


def _mask(line: list[str], asked: Mapping[str, str], changed: list[str]) -> Iterator[Reading]:
    """A file of YAML is a problem; of JSON, what the function does."""
    for name in changed:
        if name.endswith(".yaml"):
            yield Reading(["compute", name, "--detail=brief"], (0,))


def _recorded(line: list[str], asked: Mapping[str, str], changed: list[str]) -> Iterator[Reading]:
    """A file of YAML is a problem, unless the line asks for a page; others are pages."""
    is_page = any(word.startswith("--format") for word in line)
    if not is_page:
        yield from _mask(line, asked, changed)


def _worksheet(line: list[str], asked: Mapping[str, str], changed: list[str]) -> Iterator[Reading]:
    """The answers and the sheet are blank, and the key is right, of a problem that the line does
    not change.
    """
    others = ("--mask", "--scale", "--as", "--allow-outside", "-")
    if any(word.partition("=")[0] in others for word in line):
        return
    problem = next((name for name in line[1:] if name.startswith("problem.")), "")
    answers, key = asked.get("--answers"), asked.get("--key")
    if answers in changed:
        yield Reading(["check", problem, str(answers)], (1,))
    readable = key in changed and str(key).endswith((".md", ".tex", ".txt"))
    if readable and not _overflows(problem, gradient="--gradient" in line):
        yield Reading(["check", problem, str(key)], (0,))


def _overflows(problem: str, *, gradient: bool) -> bool:
    """Whether a page has inf and NaN, which nobody answers."""
    return any(
        " not fit into" in warning for warning in attncli.trace(problem, gradient=gradient).warnings
    )


READERS: dict[str, Callable[[list[str], Mapping[str, str], list[str]], Iterator[Reading]]] = {
    "generate": _of_a_set,
    "mask": _mask,
    "new": _new_problem,
    "example": _problem,
    "record": _recorded,
    "worksheet": _worksheet,
}
