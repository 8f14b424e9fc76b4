"""A check of a class that is killed keeps the rows that are done, and --resume goes on from
them.
"""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from attncli.cli.main import run
from attncli.cli.signals import Terminated
from attncli.features.check.many.kept_rows import file_of_rows, kept_rows

PROBLEM = "Q: [[1]]\nK: [[0], [1]]\nV: [[1], [2]]\nscore: dot\n"
COUNT = 60
LINE = ["check", "--batch", "manifest.csv", "-o"]
RESULTS = ["results.csv", "results.tsv", "results.json", "results.xlsx"]


@pytest.fixture
def school(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class with right, wrong and unreadable answers."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problem.yaml").write_text(PROBLEM)
    rows = [["student", "problem", "answers", "mail"]]
    for number in range(COUNT):
        answers = random.Random(number).choice(
            [
                "scores: [[0, 1]]\n",
                "scores: [[0, 2]]\nweights: [[0.119, 0.881]]\n",
                "weights: [[0.269, null]]\n",
                "x",
            ]
        )
        (tmp_path / f"{number}.yaml").write_text(answers)
        rows.append([f"Ж {number}, =cmd()", "problem.yaml", f"{number}.yaml", "@home"])
    with open("manifest.csv", "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    return tmp_path


def killed(output: str, *more: str, after: int = 5) -> list[str]:
    """Kill a check as soon as it has kept this many rows; the students whose rows are complete."""
    command = [sys.executable, "-m", "attncli", *LINE, output, *more]
    process = subprocess.Popen(command, start_new_session=True)
    kept = Path(file_of_rows(output))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if kept.exists() and kept.read_bytes().count(b"\n") > after:
            break
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait(60) == -signal.SIGKILL
    return [row.student for row in kept_rows(output) if not row.error]


def contents(name: str) -> object:
    """What results say: their text, or their cells."""
    if not name.endswith(".xlsx"):
        return Path(name).read_text(encoding="utf-8")
    from attncli.features.check.many.results_read_back import read_results

    return read_results(name, lenient=False)


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="Windows has no SIGKILL")
@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "output", [RESULTS[0], *(pytest.param(name, marks=pytest.mark.slow) for name in RESULTS[1:])]
)
def test_after_a_kill_the_results_are_those_of_one_run(
    school: Path, output: str, workers: str
) -> None:
    whole = f"whole{Path(output).suffix}"
    options = ["--workers", workers]
    assert run([*LINE, whole, *options]) == 1
    done = killed(output, *options)
    assert not Path(output).exists()
    assert 1 <= len(done) < COUNT
    for number in range(COUNT):  # what is done is not looked at again
        if f"Ж {number}, =cmd()" in done:
            (school / f"{number}.yaml").write_text("scores: [[9, 9]]\n")
    assert run([*LINE, output, *options, "--resume"]) == 1
    assert contents(output) == contents(whole)
    assert not Path(file_of_rows(output)).exists()


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="Windows has no SIGKILL")
@pytest.mark.slow
def test_a_kill_after_a_kill(school: Path) -> None:
    first = killed("results.csv", "--workers", "1", after=5)
    with open(file_of_rows("results.csv"), "a", encoding="utf-8") as stream:
        stream.write('{"student": "cut o')
    second = killed("results.csv", "--workers", "1", "--resume", after=20)
    assert {*first} < {*second}
    assert run([*LINE, "results.csv", "--workers", "1", "--resume"]) == 1
    assert len(Path("results.csv").read_text(encoding="utf-8").splitlines()) == COUNT + 1


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="Windows has no SIGKILL")
def test_each_kept_row_has_its_page(school: Path) -> None:
    killed("results.csv", "--workers", "1", "--feedback", "pages")
    rows = [row for row in kept_rows("results.csv") if not row.error]
    assert rows
    names = {name.removesuffix(".md") for name in os.listdir("pages")}
    assert {
        row.student.replace(",", "_").replace("=", "_").replace("()", "__") for row in rows
    } <= names


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_a_run_that_ends_leaves_nothing_beside_its_results() -> None:
    before = {*os.listdir()}
    assert run([*LINE, "results.csv", "--workers", "1"]) == 1
    assert {*os.listdir()} - before == {"results.csv"}


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_a_run_that_does_not_go_on_forgets_what_was_kept() -> None:
    row = {
        "student": "Ж 0, =cmd()",
        "problem": "problem.yaml",
        "answers": "./0.yaml",
        "marks": 2,
        "of": 2,
        "counts": {"right": 2, "carried": 0, "rounding": 0, "wrong": 0, "missing": 0},
        "first_wrong": None,
        "mistakes": [],
        "passed": True,
        "error": None,
        "more": {"kept": "yes"},
    }
    kept = Path(file_of_rows("results.csv"))
    kept.write_text(json.dumps(row))
    assert run([*LINE, "results.csv", "--workers", "1", "--resume"]) == 1
    assert "kept" in Path("results.csv").read_text(encoding="utf-8")
    kept.write_text(json.dumps(row))
    assert run([*LINE, "results.csv", "--workers", "1"]) == 1
    assert "kept" not in Path("results.csv").read_text(encoding="utf-8")
    assert not kept.exists()


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_rows_that_cannot_be_kept_end_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def refuse(path: str, *more: int) -> int:
        if path.endswith(".partial"):
            raise OSError(28, "No space left on device")
        return opened(path, *more)

    monkeypatch.setattr(os, "open", refuse)
    assert run([*LINE, "results.csv", "--workers", "1"]) == 1
    assert len(Path("results.csv").read_text(encoding="utf-8").splitlines()) == COUNT + 1


@pytest.mark.long
@pytest.mark.usefixtures("school")
@pytest.mark.parametrize("output", ["page.md", "/dev/null"])
def test_what_is_not_read_again_is_not_kept(output: str) -> None:
    before = {*os.listdir()}
    assert run([*LINE, output, "--workers", "1"]) == 1
    assert {*os.listdir()} - before <= {"page.md"}


def _ended_by(
    number: int, *more: str, output: str = "results.csv"
) -> subprocess.CompletedProcess[str]:
    """A check that gets this signal when some rows are kept."""
    command = [sys.executable, "-m", "attncli", *LINE, output, *more]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    kept = Path(file_of_rows(output))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if kept.exists() and kept.read_bytes().count(b"\n") > 5:
            break
        time.sleep(0.002)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    return subprocess.CompletedProcess(command, process.returncode, stderr=said)


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="Windows has no SIGHUP")
@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_signal_leaves_the_old_results_and_resume_goes_on(
    school: Path, name: str, workers: str
) -> None:
    options = ["--workers", workers]
    # The old results are of other answers, and of all students.
    written = {number: (school / f"{number}.yaml").read_text() for number in range(COUNT)}
    for number in range(COUNT):
        (school / f"{number}.yaml").write_text("scores: [[7, 7]]\n")
    assert run([*LINE, "results.csv", *options]) == 1
    old = Path("results.csv").read_bytes()
    for number, answers in written.items():
        (school / f"{number}.yaml").write_text(answers)
    assert run([*LINE, "whole.csv", *options]) == 1
    number = getattr(signal, name)
    ended = _ended_by(number, *options)
    assert ended.returncode == (130 if name == "SIGINT" else -number)
    assert Path("results.csv").read_bytes() == old
    kept = [*kept_rows("results.csv")]
    assert 1 <= len(kept) < COUNT
    assert (
        ended.stderr
        == f"attncli: warning: {len(kept)} of {COUNT} solutions are checked, and kept in"
        " .results.csv.partial; go on with --resume\n"
    )
    done = {row.student for row in kept if not row.error}
    for at in range(COUNT):
        if f"Ж {at}, =cmd()" in done:
            (school / f"{at}.yaml").write_text("scores: [[9, 9]]\n")
    assert run([*LINE, "results.csv", *options, "--resume"]) == 1
    assert contents("results.csv") == contents("whole.csv")
    assert not Path(file_of_rows("results.csv")).exists()


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_results_that_cannot_be_written_are_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from attncli.errors import unwritable
    from attncli.features.check.many import class_check

    def refuse(*_: object, **__: object) -> None:
        raise unwritable("results.csv", "no space left on device")

    with monkeypatch.context() as full:
        full.setattr(class_check, "write_page", refuse)
        assert run([*LINE, "results.csv", "--workers", "1"]) == 4
    said = capsys.readouterr().err
    assert said.startswith(
        "attncli: error: cannot write results.csv: no space left on device\nhelp: what is done is"
        " kept"
    )
    assert "--resume" in said
    assert len([*kept_rows("results.csv")]) == COUNT
    assert run([*LINE, "results.csv", "--workers", "1", "--resume"]) == 1


@pytest.mark.usefixtures("school")
@pytest.mark.parametrize("output", ["page.md", None])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), Terminated(signal.SIGTERM)])
def test_a_signal_leaves_a_page_and_prints_what_is_done(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    output: str | None,
    error: BaseException,
) -> None:
    from attncli.features.check.many import class_check

    mark_all = class_check.mark_all

    def interrupted(*arguments: Any) -> Iterator[Any]:
        yield from islice(mark_all(*arguments), 7)
        raise error

    Path("page.md").write_text("old")
    monkeypatch.setattr(class_check, "mark_all", interrupted)
    monkeypatch.setattr(os, "kill", lambda *_: None)
    with suppress(Terminated):
        run([*LINE[:-1], *(["-o", output] if output else []), "--workers", "1"])
    out, err = capsys.readouterr()
    assert Path("page.md").read_text() == "old"
    assert ("Ж 6" in out) == (output is None)
    assert "Ж 7" not in out
    end = "" if output is None else "; page.md is not written"
    assert err == f"attncli: warning: 7 of {COUNT} solutions are checked{end}\n"
