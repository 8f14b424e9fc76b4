"""A check of a class that is killed keeps the rows that are done, and --resume goes on from them."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from attncli.cli.main import run
from attncli.features.check.kept_rows import file_of_rows, kept_rows

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
            ["scores: [[0, 1]]\n", "scores: [[0, 2]]\nweights: [[0.119, 0.881]]\n", "weights: [[0.269, null]]\n", "x"]
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
    from attncli.features.check.results import read_results

    return read_results(name, lenient=False)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="Windows has no SIGKILL")
@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
@pytest.mark.parametrize("output", [RESULTS[0], *(pytest.param(name, marks=pytest.mark.slow) for name in RESULTS[1:])])
def test_after_a_kill_the_results_are_those_of_one_run(school: Path, output: str, workers: str) -> None:
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


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="Windows has no SIGKILL")
def test_each_kept_row_has_its_page(school: Path) -> None:
    killed("results.csv", "--workers", "1", "--feedback", "pages")
    rows = [row for row in kept_rows("results.csv") if not row.error]
    assert rows
    names = {name.removesuffix(".md") for name in os.listdir("pages")}
    assert {row.student.replace(",", "_").replace("=", "_").replace("()", "__") for row in rows} <= names


@pytest.mark.usefixtures("school")
def test_a_run_that_ends_leaves_nothing_beside_its_results() -> None:
    before = {*os.listdir()}
    assert run([*LINE, "results.csv", "--workers", "1"]) == 1
    assert {*os.listdir()} - before == {"results.csv"}


@pytest.mark.usefixtures("school")
def test_a_run_that_does_not_go_on_forgets_what_was_kept() -> None:
    row = {
        "student": "Ж 0, =cmd()", "problem": "problem.yaml", "answers": "./0.yaml", "marks": 2, "of": 2,
        "counts": {"right": 2, "carried": 0, "rounding": 0, "wrong": 0, "missing": 0}, "first_wrong": None,
        "mistakes": [], "passed": True, "error": None, "more": {"kept": "yes"},
    }  # fmt: skip
    kept = Path(file_of_rows("results.csv"))
    kept.write_text(json.dumps(row))
    assert run([*LINE, "results.csv", "--workers", "1", "--resume"]) == 1
    assert "kept" in Path("results.csv").read_text(encoding="utf-8")
    kept.write_text(json.dumps(row))
    assert run([*LINE, "results.csv", "--workers", "1"]) == 1
    assert "kept" not in Path("results.csv").read_text(encoding="utf-8")
    assert not kept.exists()


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


@pytest.mark.usefixtures("school")
@pytest.mark.parametrize("output", ["page.md", "/dev/null"])
def test_what_is_not_read_again_is_not_kept(output: str) -> None:
    before = {*os.listdir()}
    assert run([*LINE, output, "--workers", "1"]) == 1
    assert {*os.listdir()} - before <= {"page.md"}
