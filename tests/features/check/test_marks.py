"""Marks by a scheme: the model alone, the file of the scheme, and what pages and JSON say."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import attncli
from attncli.cli.main import run
from attncli.errors import AttncliError
from attncli.features.check.cut_digits import CUT_OFF
from attncli.features.check.marks.model import Cause, MarkedStep, Marks, marks_of
from attncli.features.check.marks.scheme import Scheme
from attncli.features.schema.command import schemas
from tests.cases import in_one_test
from tests.features.check.solutions_by_hand import cut, half_even, written

SCHEMA = json.loads(schemas()["verdict"].read_text(encoding="utf-8"))
# 2 marks for each cell of a, 1 for each of b; nothing for those of c.
SCHEME = Scheme(
    marks=10,
    steps={"a": Fraction(6), "b": Fraction(4)},
    mistake=Fraction(2),
    slip=Fraction(1),
)
SIZES = {"a": 3, "b": 4, "c": 5}
MARKING = (
    "marks: 20\ndecimals: 2\nsteps: {scores: 4, scaled: 4, weights: 6, output: 6}\nmistake: 2\n"
)
GIVEN = {"Q": [[1, 2], [2, 1]], "K": [[1, 1], [2, 1]], "V": [[1, 2], [3, 0]]}


def wrong(step: str, *places: int) -> frozenset[tuple[str, tuple[int, ...]]]:
    return frozenset((step, (place,)) for place in places)


def mistake(said: str, *cells: frozenset[tuple[str, tuple[int, ...]]]) -> Cause:
    return Cause(said, SCHEME.mistake, frozenset[tuple[str, tuple[int, ...]]]().union(*cells))


def earned(*causes: Cause, missing: str = "", coarse: str = "", **places: tuple[int, ...]) -> Marks:
    """The marks of a solution with wrong cells at these places of each step."""
    steps = [
        MarkedStep(
            name,
            size,
            missing=name == missing,
            coarse=name == coarse,
            wrong=wrong(name, *places.get(name, ())),
        )
        for name, size in SIZES.items()
    ]
    return marks_of(SCHEME, steps, causes)


@in_one_test(
    ("marks", "points"),
    [
        (earned(), 10),
        # A cell that is not there loses its share.
        (earned(missing="a"), 8),
        (earned(coarse="b"), 9),
        (earned(missing="c"), 10),
        # A single number is a slip, in any step.
        (earned(a=(0,)), 9),
        (earned(c=(0,)), 9),
        (earned(a=(0,), b=(1,), c=(2,)), 7),
        # Several of a step cost a mistake, or their shares.
        (earned(b=(0, 1)), 8),
        (earned(b=(0, 1, 2)), 7),
        (earned(b=(0, 1, 2, 3)), 6),
        (earned(a=(0, 1)), 6),
        (earned(c=(0, 1, 2, 3, 4)), 8),
        # A mistake costs once, however much it explains.
        (earned(mistake("M", wrong("a", 0, 1, 2)), a=(0, 1, 2)), 8),
        (earned(mistake("M", wrong("a", 0, 1), wrong("b", 0, 3)), a=(0, 1), b=(0, 3)), 8),
        (earned(mistake("M", wrong("c", 0, 1, 2)), c=(0, 1, 2)), 8),
        # What it does not explain is a slip beside it.
        (earned(mistake("M", wrong("a", 0, 1)), a=(0, 1, 2)), 7),
        # A single number that a mistake explains, too, is a slip.
        (earned(mistake("M", wrong("a", 0)), a=(0,)), 9),
        (earned(Cause("S", Fraction(1), wrong("a", 0, 1), is_slip=True), a=(0, 1)), 9),
        # One mistake that explains all is better than two.
        (
            earned(
                mistake("M", wrong("a", 0, 1)),
                mistake("N", wrong("b", 0, 1)),
                mistake("all", wrong("a", 0, 1), wrong("b", 0, 1)),
                a=(0, 1),
                b=(0, 1),
            ),
            8,
        ),
    ],
)
def test_marks_of_the_model(marks: Marks, points: int) -> None:
    assert marks.points == points
    taken = [each.taken_off for each in (*marks.mistakes, *marks.slips)]
    assert sum(marks.steps.values()) - sum(taken) == points
    assert min(marks.steps.values()) >= 0


def test_marks_are_never_below_nothing() -> None:
    dear = Scheme(4, {"a": Fraction(4)}, Fraction(5), Fraction(5))
    steps = [MarkedStep("a", 3), MarkedStep("b", 3, wrong=wrong("b", 0))]
    marks = marks_of(dear, steps, [])
    assert (marks.points, marks.balance, marks.steps) == (0, -1, {"a": 4})


def test_nine_mistakes_are_tried_one_after_the_other() -> None:
    """Of more causes than are tried in all ways, none is left out that saves marks."""
    names = [f"s{number}" for number in range(9)]
    scheme = Scheme(90, {name: Fraction(10) for name in names}, Fraction(2), Fraction(1))
    steps = [MarkedStep(name, 4, wrong=wrong(name, 0, 1, 2)) for name in names]
    causes = [mistake(name, wrong(name, 0, 1, 2)) for name in names]
    assert marks_of(scheme, steps, causes).points == 90 - 9 * 2


# The file


@in_one_test(
    ("text", "messages"),
    [
        ("marks: 20\n", ["there is no steps", "there is no mistake"]),
        (MARKING + "half: 1\n", ["there is no key half"]),
        (MARKING.replace("mistake: 2", "mistake: -2"), ["must be a number of marks"]),
        (MARKING.replace("weights: 6", "weights: 5"), ["4 + 4 + 5 + 6 is 19, but marks is 20"]),
        (MARKING.replace("weights: 6", "A: 3, weights: 3"), ["weights is there twice"]),
        (MARKING.replace("weights", "weigths"), ["this problem has no step weigths"]),
        (MARKING.replace("scores", "Q"), ["this problem gives Q"]),
        (MARKING.replace("20", "2.5"), ["must be a whole number"]),
        (MARKING.replace("20", "2000"), ["must be at most 1000"]),
        (MARKING.replace("decimals: 2", "decimals: 99"), ["must be at most 15"]),
        (MARKING + "slip: x\n", ["x is not a number"]),
        (MARKING + "slip: sqrt(2)\n", ["must be a number of marks"]),
        ("marks: 20\nsteps: 20\nmistake: 2\n", ["must say the marks of each step"]),
        ("[20]\n", ["must be keys with values"]),
        ("", ["the file is empty"]),
    ],
)
def test_what_is_no_marking_is_one_clear_error(
    text: str, messages: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "marking.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(AttncliError) as caught:
        attncli.check(GIVEN, written(GIVEN), marking=file)
    errors = [caught.value, *caught.value.more]
    assert [each.exit_code for each in errors] == [3] * len(messages)
    for error, message in zip(errors, messages, strict=True):
        assert message in error.message
        assert error.place is not None
        assert error.place.file == str(file)
        assert error.help


def test_a_marking_in_python_is_a_dict_or_a_file(tmp_path: Path) -> None:
    """The steps may be in any order, by their letters, and fractions of marks are exact."""
    marking = {"steps": {"O": 2.5, "A": "5/2"}, "marks": 5, "mistake": 1}
    checked = attncli.check(GIVEN, written(GIVEN), marking=marking)
    assert checked.earned is not None
    assert checked.earned.steps == {"output": Fraction(5, 2), "weights": Fraction(5, 2)}
    for wrong_use in ({"steps": "weights"}, {"marks": 20}):
        with pytest.raises(AttncliError, match="cannot be used with marking"):
            attncli.check(GIVEN, written(GIVEN), marking=marking, **wrong_use)  # type: ignore[arg-type]
    with pytest.raises(AttncliError, match="a marking cannot be 20"):
        attncli.check(GIVEN, written(GIVEN), marking=20)  # type: ignore[arg-type]
    rows = attncli.check_many([("Ada", GIVEN, written(GIVEN))], marking=marking)
    assert (rows[0].marks, rows[0].of, rows[0].passed) == (5, 5, True)


# What is said


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problem.yaml").write_text(json.dumps(GIVEN), encoding="utf-8")
    (tmp_path / "marking.yaml").write_text(MARKING, encoding="utf-8")
    return tmp_path


def checked(capsys: pytest.CaptureFixture[str], answers: Any, *options: str, code: int = 1) -> str:
    Path("answers.yaml").write_text(json.dumps(answers), encoding="utf-8")
    assert run(["check", "problem.yaml", "answers.yaml", *options]) == code
    return " ".join(capsys.readouterr().out.split())


NOT_ROOT = {"scaled": lambda m: m["scores"] / 2}
NOT_SCALED = {"scaled": lambda m: m["scores"]}


def test_every_mark_is_explained(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers: Any = written(GIVEN, work=NOT_ROOT, cells={"scores": {(0, 1): 7}})
    answers["output"][1][0] = None
    answers["output"][1][1] = "9.99"
    said = checked(capsys, answers, "--marking", "marking.yaml")
    assert (
        "Marks: 20 − 1.5 (output: 1 number is missing) − 2 (the scores were divided by d_k, not by"
        " its root"
    ) in said
    assert "a slip in output, t2 → d2" not in said
    assert "= 14.5 of 20." in said
    # 4 + 4 + 6 + 4.5 − 4 is 14.5.
    assert "output 4.5 6 mistakes and slips −4 in all 14.5 20" in said
    data = json.loads(checked(capsys, answers, "--marking", "marking.yaml", "--format", "json"))
    jsonschema.validate(data, SCHEMA)
    marks = data["marks"]
    assert (marks["points"], marks["of"]) == (14.5, 20)
    assert marks["steps"] == {"scores": 4.0, "scaled": 4.0, "weights": 6.0, "output": 4.5}
    assert [each["taken_off"] for each in marks["mistakes"]] == [2]
    assert [each["taken_off"] for each in marks["slips"]] == [1, 1]
    assert marks["lost"] == [{"step": "output", "reason": "missing", "cells": 1, "marks": 1.5}]


def test_all_marks_need_no_sum(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = written(GIVEN, on_the_way=False)
    said = checked(capsys, answers, "--marking", "marking.yaml", code=0)
    assert "All 16 cells are right." in said
    assert "Marks: 20 of 20." in said


def test_a_step_that_is_marked_and_missing_is_a_difference(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = written(GIVEN, only=("scores", "scaled", "weights"))
    said = checked(capsys, answers, "--marking", "marking.yaml", code=1)
    assert "(output: all 4 numbers are missing) = 14 of 20." in said


def test_a_wrong_number_outside_the_steps_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It breaks the sentence that no number is wrong, and the mistake has its name."""
    said = checked(capsys, written(GIVEN, work=NOT_ROOT), "--steps", "weights,output")
    assert "No number is wrong" not in said
    assert "4 numbers are wrong: 4 of scaled." in said
    assert "the scores were divided by d_k, not by its root" in said
    short = MARKING.replace("scores: 4, scaled: 4, weights: 6, output: 6", "A: 10, O: 10")
    Path("marking.yaml").write_text(short, encoding="utf-8")
    marked = checked(capsys, written(GIVEN, work=NOT_ROOT), "--marking", "marking.yaml")
    assert "= 18 of 20." in marked


def test_a_single_wrong_number_has_no_mistake_of_a_whole_step(folder: Path) -> None:
    """Of X X^T, t2 → t3 is 1, and so is it with a slip; all other scores are those of Q K^T."""
    given = {
        "X": [[0, 1], [-1, 0], [1, -1], [-1, -1]],
        "W_Q": [[2, 1, 0], [-1, 0, 2]],
        "W_K": [[1, 2, 0], [1, 0, -1]],
        "W_V": [[1, 0, -1, 0, -1], [0, -1, 1, -1, -1]],
    }
    x = np.array(given["X"])
    whole = {"Q": x @ given["W_Q"], "K": x @ given["W_K"], "V": x @ given["W_V"]}
    assert (whole["Q"] @ whole["K"].T)[1, 2] == -2
    answers: Any = written(whole, cells={"scores": {(1, 2): -1}})
    answers["scores"] = [[round(float(text)) for text in row] for row in answers["scores"]]
    assert attncli.check(given, answers, decimals=2).diagnoses
    found = attncli.check(given, answers, marking="marking.yaml")
    assert found.earned is not None
    assert [(each.said, each.taken_off) for each in found.earned.slips] == [("", 1)]
    assert found.diagnoses == ()
    (row,) = attncli.check_many([("Liam", given, answers)], marking="marking.yaml")
    assert row.mistakes == (("scores", "a slip"),)


def test_what_to_teach_again_has_each_reason_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ada shows the mistake in scaled, and Ben in weights."""
    given = {
        "Q": [[1, 2], [2, 1], [3, 1]],
        "K": [[1, 1], [2, 1], [1, 3]],
        "V": [[1, 2], [3, 0], [0, 2]],
    }
    Path("problem.yaml").write_text(json.dumps(given), encoding="utf-8")
    without_scaled = ("scores", "weights", "output")
    coarse: Any = written(given)
    coarse["weights"] = [[text[:-1] for text in row] for row in coarse["weights"]]
    solutions = {
        "Ada": written(given, work=NOT_SCALED),
        "Ben": written(given, work=NOT_SCALED, only=without_scaled),
        "Cy": coarse,
        "Dai": written(given, cells={"scores": {(0, 1): 99}}),
    }
    lines = ["student,problem,answers"]
    for name, answers in solutions.items():
        Path(f"{name}.json").write_text(json.dumps(answers), encoding="utf-8")
        lines.append(f"{name},problem.yaml,{name}.json")
    Path("manifest.csv").write_text("\n".join(lines), encoding="utf-8")
    assert run(["check", "--batch", "manifest.csv"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    again, _, _ = said.partition("How each step went")
    assert "• 2 students: scaled and weights: the scores were not scaled. " in again
    assert again.count("not scaled") == 1
    assert "• 1 student: a slip in scores. Dai." in again
    assert "• 1 student: too few decimals in weights. Cy." in again
    assert "• 1 student: missing numbers in scaled. Ben." in again


# Digits


@in_one_test(
    ("scaled", "verdict"),
    [
        ("2.12", "right"),
        ("2.1213", "right"),
        # Two decimals were asked for, so the third is not held against it.
        ("2.124", "right"),
        ("3/√2", "right"),
        ("2", "wrong"),
        ("2.1", "wrong"),
        ("2.13", "rounding"),
        ("2.14", "wrong"),
    ],
)
def test_decimals_that_were_asked_for_come_first(scaled: str, verdict: str) -> None:
    """Scaled scores are 2.1213, 2.8284, 2.8284 and 3.5355."""
    answers = {"scaled": [[scaled, "2.83"], ["2.83", "3.54"]]}
    found = attncli.check(GIVEN, answers, decimals=2).solution.verdicts.steps["scaled"]
    assert found[0, 0].verdict == verdict
    assert found[0, 0].too_coarse is (scaled in ("2", "2.1"))


def test_fewer_decimals_are_right_where_the_others_are_zeros() -> None:
    halves = {"Q": [[1]], "K": [[0.5], [2]], "V": [[1], [2]], "score": "dot"}
    found = attncli.check(halves, {"scores": [["0.5", "2"]]}, decimals=2)
    assert found.passed
    assert not attncli.check(halves, {"weights": [["0", "1"]]}, decimals=2).passed


@pytest.mark.parametrize("text", ["0.12", "0.13"])
def test_a_half_has_two_roundings(text: str) -> None:
    halves = {"Q": [[1]], "K": [[0.125]], "V": [[1]], "score": "dot"}
    assert attncli.check(halves, {"scores": [[text]]}).passed


def test_digits_that_were_cut_off_are_called_so() -> None:
    given = {"Q": [[1, 2], [2, 1]], "K": [[1, 1], [2, 1]], "V": [[1, 2.667], [3.3, 0.1]]}
    answers = written(given, rounding=cut())
    found = attncli.check(given, answers, marking=json.loads(json.dumps(_as_dict())))
    assert found.earned is not None
    # Nothing is wrong; it costs one slip, which by default is half a mistake.
    assert [(each.said, each.taken_off) for each in found.earned.mistakes] == [(CUT_OFF, 1)]
    assert found.earned.points == 19
    assert "You cut the digits off" in found.to_markdown()
    rows = attncli.check_many([("Ada", given, answers)])
    assert any(mistake == "the digits were cut off" for _, mistake in rows[0].mistakes)
    for rounding in (half_even(), None):
        right = attncli.check(given, written(given, rounding=rounding))
        assert "cut the digits off" not in right.to_markdown()


def _as_dict() -> dict[str, Any]:
    steps = {"scores": 4, "scaled": 4, "weights": 6, "output": 6}
    return {"marks": 20, "decimals": 2, "steps": steps, "mistake": 2}


# A class


def test_a_marking_beside_the_manifest_is_found(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("right.yaml").write_text(json.dumps(written(GIVEN)), encoding="utf-8")
    Path("wrong.yaml").write_text(json.dumps(written(GIVEN, work=NOT_ROOT)), encoding="utf-8")
    manifest = "student,problem,answers\nAda,problem.yaml,right.yaml\nBen,problem.yaml,wrong.yaml\n"
    Path("manifest.csv").write_text(manifest, encoding="utf-8")
    assert run(["check", "--batch", "manifest.csv", "-o", "r.json", "--feedback", "pages"]) == 1
    rows = json.loads(Path("r.json").read_text(encoding="utf-8"))["students"]
    assert [(row["marks"], row["of"]) for row in rows] == [(20, 20), (18, 20)]
    assert "= 18 of 20." in Path("pages/Ben.md").read_text(encoding="utf-8")
    capsys.readouterr()
    # Marks that are asked for on the command line are a share of the cells.
    assert run(["check", "--batch", "manifest.csv", "--marks", "16", "-o", "r.json"]) == 1
    assert "marking.yaml is not used, because of --marks" in capsys.readouterr().err
    rows = json.loads(Path("r.json").read_text(encoding="utf-8"))["students"]
    assert [(row["marks"], row["of"]) for row in rows] == [(16, 16), (12, 16)]
