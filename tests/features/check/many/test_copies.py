"""Answers that are alike: whoever copied is noted, and nobody else."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from attncli.cli.main import run
from tests.features.check.many.drawn_classes import (
    PAIRS,
    DrawnClass,
    drawn_class,
    found_in,
    is_noted,
    noted_pairs,
    student_of,
)
from tests.features.check.solutions_by_hand import Array, Matrices, Work, Written, written

CLASSES = 40
# Where all have one problem, a copy of a few wrong numbers may be like many others. Where each has
# another one, a copy of a sheet that is nearly all zeros, or has one number everywhere, shows
# nothing.
FOUND = {"own problems": PAIRS * CLASSES - 2, "one problem": PAIRS * CLASSES - 1}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FOUND)
def test_who_copied_is_found_and_nobody_else(kind: str) -> None:
    """Of 80 pairs at least 78, as a teacher would who compares all with all."""
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


GIVEN = {
    "Q": [[1, 2], [2, 1], [3, 1]],
    "K": [[1, 1], [2, 1], [1, 3]],
    "V": [[1, 2], [3, 0], [0, 2]],
}


def numbers_alike(copied: Written) -> list[int]:
    """What is noted of a solution and its copy, beside a right one."""
    found = found_in(DrawnClass([GIVEN] * 3, [copied, copied, written(GIVEN)], []))
    return [group.numbers for group in found.alike]


def test_wrong_numbers_of_a_column_are_several_if_no_one_number_gives_them() -> None:
    in_a_column = {(0, 0): 1.31, (1, 0): 2.75, (2, 0): 1.02}
    assert numbers_alike(written(GIVEN, cells={"output": in_a_column})) == [3]

    def with_8_for_3(m: Matrices) -> Array:
        return m["weights"] @ np.array([[1, 2], [8, 0], [0, 2]])

    # Whoever reads 8 for 3 in V has this column.
    assert numbers_alike(written(GIVEN, work={"output": with_8_for_3})) == []


def test_slips_beside_a_mistake_are_slips() -> None:
    """Two students who take Aᵀ for A have six outputs in common, and are not alike."""
    transposed: dict[str, Work] = {"output": lambda m: m["weights"].T @ m["V"]}
    assert numbers_alike(written(GIVEN, work=transposed)) == []
    slips = {(0, 0): 1.91, (1, 1): 2.75}
    assert numbers_alike(written(GIVEN, work=transposed, cells={"output": slips})) == [2]


def test_swapped_digits_and_a_moved_point_are_rarer_than_signs() -> None:
    """Many write a wrong sign: two students with two of them are not alike."""
    right = written(GIVEN)["output"]
    assert (right[0][1], right[2][0]) == ("1.80", "1.93")
    assert numbers_alike(written(GIVEN, cells={"output": {(0, 1): 1.08, (2, 0): 19.3}})) == [2]
    assert numbers_alike(written(GIVEN, cells={"output": {(0, 1): -1.80, (2, 0): -1.93}})) == []


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
    of_ben = "these are the answers to the problem of Ben; both numbers are as Ben wrote them"
    assert notes == {"Ada": of_ben, "Ben": None, "Cy": None}
    assert found == {
        "student": "Ada",
        "others": ["Ben"],
        "right_there": True,
        "numbers": 2,
        "of": 2,
        "chance": pytest.approx(2 / 20**2),
        "same": {"student": "Ben", "numbers": 2, "of": 2, "not_right": 0},
    }
    assert "Ben" not in (school / "pages" / "Ada.md").read_text("utf-8")
    capsys.readouterr()
    # Nothing is to be taught again of a problem that she has not.
    assert run(["check", "--batch", "list.csv"]) == 1
    assert "What to teach again" not in capsys.readouterr().out


def test_a_note_stays_when_marking_goes_on(
    school: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (school / "Cy.yaml").unlink()
    command = ["check", "--batch", "list.csv", "-o", "results.csv"]
    assert run(command) == 1
    (school / "Cy.yaml").write_text("scores: [[5, 7]]\n", "utf-8")
    assert run([*command, "--resume"]) == 1
    assert "these are the answers to the problem of Ben" in (school / "results.csv").read_text()


def notes_of(handed: dict[str, tuple[str, str]]) -> dict[str, str | None]:
    """The notes on students by what they hand in: a problem, and answers to it."""
    rows = ["student,problem,answers"]
    for student, (problem, answers) in handed.items():
        Path(f"{student}.problem.yaml").write_text(problem, "utf-8")
        Path(f"{student}.yaml").write_text(answers, "utf-8")
        rows.append(f"{student},{student}.problem.yaml,{student}.yaml")
    Path("list.csv").write_text("\n".join(rows), "utf-8")
    assert run(["check", "--batch", "list.csv", "-o", "results.json"]) == 1
    results = json.loads(Path("results.json").read_text("utf-8"))
    return {row["student"]: row["note"] for row in results["students"]}


@pytest.mark.parametrize("number", ["0", "0.25"])
def test_the_same_number_everywhere_shows_nothing(
    number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answers = f"scores: [[{number}, {number}]]\n"
    handed = {"Ada": (ONE, answers), "Ben": (THREE, answers), "Cy": (TWO, "scores: [[3, 4]]\n")}
    assert notes_of(handed) == {"Ada": None, "Ben": None, "Cy": None}


def test_one_step_may_be_copied_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights are 1/(1 + e) and e/(1 + e) in both problems, about 0.2689 and 0.7311."""
    monkeypatch.chdir(tmp_path)
    one = "Q: [[1]]\nK: [[1], [2]]\nV: [[1, 2, 3], [4, 5, 6]]\n"
    two = "Q: [[1]]\nK: [[3], [4]]\nV: [[7, 1, 2], [2, 9, 8]]\n"
    # 7 · 0.2689 + 2 · 0.7311, 0.2689 + 9 · 0.7311, and 2 · 0.2689 + 8 · 0.7311
    output_of_two = "weights: [[0.27, 0.73]]\noutput: [[3.34, 6.85, 6.39]]\n"
    handed = {
        "Ada": (one, f"scores: [[1, 2]]\n{output_of_two}"),
        "Ben": (two, f"scores: [[3, 4]]\n{output_of_two}"),
    }
    note = "these are the answers to the problem of Ben"
    assert notes_of(handed) == {"Ada": note, "Ben": None}


WIDE = "Q: [[1]]\nK: [[1], [2], [5], [3]]\nV: [[1], [2], [3], [4]]\n"
OTHER = "Q: [[1]]\nK: [[7], [9], [4], [6]]\nV: [[1], [2], [3], [4]]\n"


def test_whose_slip_was_copied_with_all_the_rest_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The scores of Ben are 7, 9, 4 and 6, and d_k is 1: his 8 for 4 is carried once.

    Of the numbers of Ada, 7, 9 and 6 are right there, in two steps.
    """
    monkeypatch.chdir(tmp_path)
    of_ben = "scores: [[7, 9, 8, 6]]\nscaled: [[7, 9, 8, 6]]\n"
    notes = notes_of({"Ada": (WIDE, of_ben), "Ben": (OTHER, of_ben)})
    same = "all 8 numbers are as Ben wrote them, also the 2 that are wrong or carried there"
    assert notes["Ada"] == f"these are the answers to the problem of Ben; {same}"
    capsys.readouterr()
    assert run(["check", "--batch", "list.csv"]) == 1
    page = " ".join(capsys.readouterr().out.split())
    of_another = "6 of 8 numbers that are wrong or carried are right for the problem of Ben."
    assert f"{of_another} All 8 numbers are as Ben wrote them" in page


def test_whose_answers_cannot_be_read_has_a_problem_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    handed = {
        "Ada": (ONE, "scores: [[3, 4]]\n"),
        "Ben": (TWO, "x"),
        "Cy": (ONE, "scores: [[1, 2]]"),
    }
    note = "these are the answers to the problem of Ben"
    assert notes_of(handed) == {"Ada": note, "Ben": None, "Cy": None}
