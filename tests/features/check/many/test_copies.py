"""Answers that are alike: whoever copied is noted, and nobody else."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from attncli.cli.main import run
from tests.features.check.many.drawn_classes import (
    PAIRS,
    drawn_class,
    found_in,
    is_noted,
    noted_pairs,
    student_of,
)

CLASSES = 40
# Where all have one problem, a copy of a few wrong numbers may be like many others.
FOUND = {"own problems": PAIRS * CLASSES - 2, "one problem": PAIRS * CLASSES * 3 // 4}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FOUND)
def test_who_copied_is_found_and_nobody_else(kind: str) -> None:
    """Of 80 pairs at least 78 where problems differ, as a teacher would who compares all with
    all.
    """
    found_pairs = 0
    for number in range(CLASSES):
        choice = np.random.default_rng([1, number])
        drawn = drawn_class(choice, own_problems=kind == "own problems", pairs=PAIRS)
        found = found_in(drawn)
        found_pairs += sum(is_noted(pair, found) for pair in drawn.pairs)
        copied = [{student_of(at) for at in pair} for pair in drawn.pairs]
        assert all(any(pair <= group for pair in copied) for group in noted_pairs(found))
    assert found_pairs >= FOUND[kind]


@pytest.mark.slow
@pytest.mark.parametrize("kind", FOUND)
def test_nobody_is_noted_where_nobody_copied(kind: str) -> None:
    for number in range(CLASSES):
        choice = np.random.default_rng([2, number])
        assert not found_in(drawn_class(choice, own_problems=kind == "own problems", pairs=0))


# By hand: the scores of the first problem are 1 and 2, of the second 3 and 4, of the third 5 and 7
ONE = "Q: [[1]]\nK: [[1], [2]]\nV: [[1], [2]]\n"
TWO = "Q: [[1]]\nK: [[3], [4]]\nV: [[1], [2]]\n"
THREE = "Q: [[1]]\nK: [[5], [7]]\nV: [[1], [2]]\n"


@pytest.fixture
def school(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("one", ONE), ("two", TWO), ("three", THREE)):
        (tmp_path / f"{name}.yaml").write_text(text, "utf-8")
    rows = ["student,problem,answers"]
    handed = {"Ada": ("one", "[[3, 4]]"), "Ben": ("two", "[[3, 4]]"), "Cy": ("three", "[[5, 7]]")}
    for student, (problem, scores) in handed.items():
        (tmp_path / f"{student}.yaml").write_text(f"scores: {scores}\n", "utf-8")
        rows.append(f"{student},{problem}.yaml,{student}.yaml")
    (tmp_path / "list.csv").write_text("\n".join(rows), "utf-8")
    return tmp_path


def test_answers_to_the_problem_of_another_student(
    school: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["check", "--batch", "list.csv", "-o", "results.json", "--feedback", "pages"]
    assert run(command) == 1
    results = json.loads((school / "results.json").read_text("utf-8"))
    notes = {row["student"]: row["note"] for row in results["students"]}
    # Two numbers, each once in twenty, for one of two problems.
    [found] = results["summary"]["answers_of_another"]
    assert notes == {"Ada": "these are the answers to the problem of Ben", "Ben": None, "Cy": None}
    assert found == {
        "student": "Ada",
        "others": ["Ben"],
        "right_there": True,
        "numbers": 2,
        "of": 2,
        "chance": pytest.approx(2 / 20**2),
    }
    assert "Ben" not in (school / "pages" / "Ada.md").read_text("utf-8")


def test_a_note_stays_when_marking_goes_on(
    school: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (school / "Cy.yaml").unlink()
    command = ["check", "--batch", "list.csv", "-o", "results.csv"]
    assert run(command) == 1
    (school / "Cy.yaml").write_text("scores: [[5, 7]]\n", "utf-8")
    assert run([*command, "--resume"]) == 1
    assert "these are the answers to the problem of Ben" in (school / "results.csv").read_text()
