"""Results and kept rows that a hand or a disk damaged: an error of attncli, or a row that is
checked again.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from attncli.cli.main import run
from attncli.features.check.many import kept_rows as module
from attncli.features.check.many.class_page import class_page
from attncli.features.check.many.kept_rows import KeptRows, file_of_rows, kept_rows
from attncli.features.check.many.result_row import Marked
from attncli.render import render

PROBLEM = "Q: [[1, 2]]\nK: [[1, 0], [0, 1]]\nV: [[1, 0], [0, 1]]\n"
STUDENTS = {"ada": "scores: [[1, 2]]\n", "bob": "scores: [[1, 9]]\n", "eve": "scores: [[1]]\n"}
ODD = (
    "null",
    "true",
    "0",
    "-1",
    "1.5",
    "1e999",
    "-1e999",
    "1e308",
    "9" * 400,
    '"1"',
    '""',
    '"\\ud800"',
    "[]",
    "[1]",
    "{}",
    '{"a": 1}',
    '[{"step": 1}]',
    '{"right": 1e999}',
)
ODD_CELLS = (
    "",
    "x",
    "-1",
    "1.5",
    "1e999",
    "nan",
    "inf",
    "1e308",
    "9" * 400,
    "9" * 5000,
    "1_000",
    "١",
)
REFUSED = "(these are no results of a class|.* has marks, but not all counts)"
LINE = ["check", "problem.yaml", *(f"{name}.yaml" for name in STUDENTS), "--resume", "-o"]


@pytest.fixture
def school(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class with right, wrong and unreadable answers."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problem.yaml").write_text(PROBLEM)
    for name, answers in STUDENTS.items():
        (tmp_path / f"{name}.yaml").write_text(answers)
    return tmp_path


def damaged_rows(row: dict[str, Any], odds: Sequence[str | None]) -> Iterator[str]:
    """The row as JSON with one value of it, at any depth, in place of it each of these; or lost,
    where that is None.
    """
    for path in paths(row):
        for odd in odds:
            changed = json.loads(json.dumps(row))
            holder = changed
            for key in path[:-1]:
                holder = holder[key]
            if odd is None:
                del holder[path[-1]]
                yield json.dumps(changed)
            else:
                holder[path[-1]] = "HERE"
                yield json.dumps(changed).replace('"HERE"', odd)


def paths(value: Any, begin: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside this one."""
    keys: Any = ()
    if isinstance(value, dict):
        keys = [*value]
    elif isinstance(value, list):
        keys = range(len(value))
    for key in keys:
        yield (*begin, key)
        yield from paths(value[key], (*begin, key))


def assert_told(output: str, capsys: Any) -> None:
    """It goes on, and what it writes can be read; or the results are refused as what they are."""
    code = run([*LINE, output])
    told = capsys.readouterr().err
    if code == 3:
        said, _, more = told.partition("\n")
        assert re.fullmatch(rf"attncli: error: {re.escape(output)}:\d+:1: {REFUSED}", said)
        assert "help: " in more
    else:
        assert (code, told) == (1, "")
        assert run([*LINE, output]) == 1


@pytest.mark.usefixtures("school")
@pytest.mark.sampled(4)
@pytest.mark.parametrize("odd", [None, *ODD])
@pytest.mark.parametrize("student", range(3), ids=STUDENTS)
def test_every_value_of_results_in_json(student: int, odd: str | None, capsys: Any) -> None:
    output = Path("r.json")
    assert run([*LINE, "r.json"]) == 1
    rows = json.loads(output.read_text())["students"]
    for damaged in damaged_rows(rows[student], [odd]):
        others = [json.dumps(row) for row in rows if row is not rows[student]]
        output.write_text(f'{{"students": [{", ".join([damaged, *others])}]}}')
        assert_told("r.json", capsys)


@pytest.mark.long
@pytest.mark.usefixtures("school")
@pytest.mark.parametrize("student", range(3), ids=STUDENTS)
def test_every_value_of_kept_rows(student: int, capsys: Any) -> None:
    assert run([*LINE, "whole.json"]) == 1
    rows = json.loads(Path("whole.json").read_text())["students"]
    kept = Path(file_of_rows("r.json"))
    for damaged in damaged_rows(rows[student], [None, *ODD]):
        kept.write_text(f"{damaged}\n")
        page = class_page([*kept_rows("r.json")])
        for format in ("markdown", "json", "csv"):
            render(page, format).encode()
    kept.write_text(
        "".join(f"{damaged}\n" for damaged in damaged_rows(rows[student], [None, *ODD]))
    )
    assert run([*LINE, "r.json"]) == 1
    assert capsys.readouterr().err == ""
    assert run([*LINE, "r.json"]) == 1


@pytest.mark.long
@pytest.mark.usefixtures("school")
@pytest.mark.sampled(3)
@pytest.mark.parametrize("odd", ODD_CELLS)
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_every_cell_of_results_in_a_table(suffix: str, odd: str, capsys: Any) -> None:
    output = Path(f"r.{suffix}")
    delimiter = "," if suffix == "csv" else "\t"
    assert run([*LINE, output.name]) == 1
    rows = [*csv.reader(io.StringIO(output.read_text()), delimiter=delimiter)]
    for at, name in enumerate(rows[0]):
        for row in range(1, len(rows)):
            changed = [[*cells] for cells in rows]
            changed[row][at] = odd
            with output.open("w", newline="") as stream:
                csv.writer(stream, delimiter=delimiter).writerows(changed)
            try:
                assert_told(output.name, capsys)
            except AssertionError as error:
                raise AssertionError(f"{name} of row {row}: {error}") from None


# Where rows are kept


def made(student: str) -> Marked:
    """A row that is right."""
    counts = {"right": 2, "carried": 0, "rounding": 0, "wrong": 0, "missing": 0}
    return Marked(student, "problem.yaml", f"{student}.yaml", 2, 2, counts, passed=True)  # type: ignore[arg-type]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes in folders")
@pytest.mark.usefixtures("school")
@pytest.mark.parametrize("goes_on", [True, False])
def test_a_pipe_in_the_place_of_kept_rows(goes_on: bool) -> None:
    """Nobody reads or writes at its other end, so that to open it would wait for ever."""
    os.mkfifo(file_of_rows("r.json"))
    line = LINE if goes_on else [each for each in LINE if each != "--resume"]
    assert run([*line, "r.json"]) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes in folders")
def test_a_pipe_with_a_reader_is_not_written(tmp_path: Path) -> None:
    output = str(tmp_path / "r.json")
    os.mkfifo(file_of_rows(output))
    reading = os.open(file_of_rows(output), os.O_RDONLY | os.O_NONBLOCK)
    KeptRows(output, goes_on=True).add([made("ada")])
    assert os.read(reading, 10) == b""
    os.close(reading)


def test_a_link_in_the_place_of_kept_rows_leads_nowhere(tmp_path: Path) -> None:
    output, other = str(tmp_path / "r.json"), tmp_path / "other"
    other.write_text("mine")
    Path(file_of_rows(output)).symlink_to(other)
    KeptRows(output, goes_on=True).add([made("ada")])
    assert other.read_text() == "mine"


def test_kept_rows_that_are_too_large_are_not_read(tmp_path: Path) -> None:
    output = str(tmp_path / "r.json")
    with open(file_of_rows(output), "wb") as stream:
        stream.truncate(2**40)
    assert [*kept_rows(output)] == []


@pytest.mark.parametrize("most", [1, 7, 100])
def test_rows_are_written_in_as_many_pieces_as_it_takes(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, write = str(tmp_path / "r.json"), os.write
    monkeypatch.setattr(module.os, "write", lambda descriptor, data: write(descriptor, data[:most]))
    rows = [made(name) for name in "abc"]
    kept = KeptRows(output, goes_on=False)
    for row in rows:
        kept.add([row])
    assert [*kept_rows(output)] == rows


@pytest.mark.parametrize("room", range(0, 400, 37))
def test_a_row_that_found_no_room_spoils_no_other(
    room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full amid the second row, and has room again for the third."""
    output, write = str(tmp_path / "r.json"), os.write
    left = [room]

    def short(descriptor: int, data: bytes) -> int:
        if not left[0]:
            raise OSError(28, "No space left on device")
        written = write(descriptor, data[: left[0]])
        left[0] -= written
        return written

    kept = KeptRows(output, goes_on=False)
    kept.add([made("a")])
    with monkeypatch.context() as full:
        full.setattr(module.os, "write", short)
        kept.add([made("b")])
    kept.add([made("c")])
    found = [row.student for row in kept_rows(output)]
    assert [name for name in found if name != "b"] == ["a", "c"]
