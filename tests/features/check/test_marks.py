"""Marks by a scheme: the model alone, the file of the scheme, and what pages and JSON say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
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
from attncli.features.schema.command import schemas
from attncli.marking.scheme import Scheme
from tests.cases import in_one_test
from tests.features.check.solutions_by_hand import cut, half_even, half_up, softmax, written

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


def earned(
    *causes: Cause,
    missing: str = "",
    coarse: frozenset[tuple[str, tuple[int, ...]]] = frozenset(),
    **places: tuple[int, ...],
) -> Marks:
    """The marks of a solution with wrong cells at these places of each step; of them, the `coarse`
    ones have too few decimals.
    """
    steps = [
        MarkedStep(
            name,
            size,
            missing=name == missing,
            wrong=wrong(name, *places.get(name, ())),
            coarse=dict.fromkeys(coarse & wrong(name, *range(size)), 1),
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
        (earned(coarse=wrong("b", 0), b=(0,)), 9),
        (earned(missing="c"), 10),
        # A single number is a slip, in any step.
        (earned(a=(0,)), 9),
        (earned(c=(0,)), 9),
        (earned(a=(0,), b=(1,), c=(2,)), 7),
        # Several of a step cost a mistake, or their shares.
        (earned(b=(0, 1)), 8),
        (earned(b=(0, 1, 2)), 7),
        (earned(b=(0, 1, 2, 3)), 6),
        (earned(c=(0, 1, 2, 3, 4)), 8),
        # None costs more than a slip, as long as something in the step is right.
        (earned(a=(0, 1)), 8),
        (earned(a=(0, 1, 2)), 4),
        # A mistake costs once, however much it explains.
        (earned(mistake("M", wrong("a", 0, 1, 2)), a=(0, 1, 2)), 8),
        (earned(mistake("M", wrong("a", 0, 1), wrong("b", 0, 3)), a=(0, 1), b=(0, 3)), 8),
        (earned(mistake("M", wrong("c", 0, 1, 2)), c=(0, 1, 2)), 8),
        # What it gives as it was written has no decimal too few.
        (earned(mistake("M", wrong("a", 0, 1)), coarse=wrong("a", 1), a=(0, 1)), 8),
        (earned(mistake("M", wrong("a", 0)), coarse=wrong("a", 1), a=(0, 1)), 7),
        # What only gives numbers with too few decimals is no mistake, nor what is only possible.
        (earned(Cause("S", Fraction(1), wrong("a", 1)), coarse=wrong("a", 1), a=(1,)), 8),
        (
            earned(
                Cause("P", Fraction(1), wrong("a", 0, 1), likely=False),
                coarse=wrong("a", 1),
                a=(0, 1),
            ),
            7,
        ),
        # What it does not explain is a slip beside it.
        (earned(mistake("M", wrong("a", 0, 1)), a=(0, 1, 2)), 7),
        # A single number that a mistake explains, too, is a slip.
        (earned(mistake("M", wrong("a", 0)), a=(0,)), 9),
        (earned(Cause("S", Fraction(1), wrong("a", 0, 1), is_slip=True), a=(0, 1)), 9),
        # Where nothing is right, slips have to give all of it.
        (earned(Cause("S", Fraction(1), wrong("a", 0, 1), is_slip=True), a=(0, 1, 2)), 4),
        (earned(Cause("S", Fraction(1), wrong("a", 0, 1, 2), is_slip=True), a=(0, 1, 2)), 9),
        # What is only possible saves no shares: neither those of all, nor those of one of them.
        (earned(Cause("P", Fraction(1), wrong("a", 0), likely=False), a=(0, 1, 2)), 4),
        (earned(Cause("P", Fraction(2), wrong("a", 0, 1, 2), likely=False), a=(0, 1, 2)), 4),
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


def test_what_a_mistake_explains_is_work_though_it_is_cheaper_as_wrong_cells() -> None:
    """All of a needs no work after b. The mistake costs 3, and 1 for the third cell; three wrong
    cells cost their shares.
    """
    a = MarkedStep("a", 3, hollow={"b": wrong("a", 0, 1, 2)})
    b = MarkedStep("b", 4, wrong=wrong("b", 0, 1, 2))
    dear = Cause("M", Fraction(3), wrong("b", 0, 1))
    assert marks_of(SCHEME, [a, b], [dear]).points == 7
    assert marks_of(SCHEME, [a, b], []).points == 1


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
        ("marks: 20\n", ["lacks the key steps", "lacks the key mistake"]),
        ("decimals: 2\nsteps: {weights: 2}\n", ["lacks the key marks", "lacks the key mistake"]),
        (
            MARKING.replace("mistake: 2\n", "").replace("weights: 6", "weights: 5"),
            ["lacks the key mistake", "4 + 4 + 5 + 6 is 19, but marks is 20"],
        ),
        (
            MARKING.replace("scores: 4, scaled: 4", "scores: 2,5, scaled: 5,5"),
            ["2,5 has a decimal comma", "5,5 has a decimal comma"],
        ),
        (MARKING.replace("marks: 20", "marks 20"), ['":" is missing after marks']),
        (MARKING + "half: 1\n", ["there is no key half"]),
        (MARKING.replace("mistake: 2", "mistake: -2"), ["must be a number of marks"]),
        (MARKING.replace("weights: 6", "weights: 5"), ["4 + 4 + 5 + 6 is 19, but marks is 20"]),
        (MARKING.replace("weights: 6", "A: 3, weights: 3"), ["weights is there twice"]),
        (MARKING.replace("weights", "weigths"), ["this problem has no step weigths"]),
        (MARKING.replace("scores", "Q"), ["this problem gives Q"]),
        (
            MARKING.replace("scores", "Q").replace("scaled", "scald"),
            ["this problem gives Q", "this problem has no step scald"],
        ),
        (MARKING.replace("20", "2.5"), ["must be a whole number"]),
        (MARKING.replace("20", "2000"), ["must be at most 1000"]),
        (MARKING.replace("decimals: 2", "decimals: 99"), ["must be at most 15"]),
        (MARKING + "slip: x\n", ["x is not a number"]),
        (MARKING + "digit: 2\n", ["must be a part of a share"]),
        (MARKING + "slip: sqrt(2)\n", ["must be a number of marks"]),
        ("marks: 20\nsteps: 20\nmistake: 2\n", ["must say the marks of each step"]),
        ("[20]\n", ["must be keys with values"]),
        ("", ["the file is empty"]),
        ("# nothing\n", ["the file is empty"]),
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
        assert "X:" not in error.help


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


def test_what_was_copied_wrong_from_the_problem_is_no_slip_before(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No step is worked out before a given matrix."""
    answers = {"Q": [[1, 3], [3, 1]], "scores": [[3, 4], [3, 5]], "scaled": [[2.12, 2.83], [1, 2]]}
    said = checked(capsys, answers, "--marking", "marking.yaml")
    assert "of 20" in said


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


@in_one_test(
    ("only", "said"),
    [
        (("scores", "scaled"), "All 8 cells that you wrote are right. weights and output are"),
        # 0.19 and 0.81 follow from the scaled scores, rounded on the way.
        (
            ("scores", "weights"),
            "No number is wrong. 2 numbers follow from your own earlier numbers. scaled and output"
            " are",
        ),
    ],
)
def test_what_is_right_is_not_all_where_steps_are_missing(only: tuple[str, ...], said: str) -> None:
    found = attncli.check(GIVEN, written(GIVEN, only=only), marking=_as_dict())
    assert f"\n{said} missing.\n" in found.to_markdown()


@in_one_test(
    ("decimals", "is_marked", "is_said"),
    [(None, False, True), (0, False, False), (None, True, False)],
)
def test_that_0_would_pass_is_said_where_it_matters(
    decimals: int | None, is_marked: bool, is_said: bool
) -> None:
    """Weights of 0.33 and 0.20 were written as 0, which is right to no decimals. Nobody reads it
    who was asked for no more, nor beside marks, which it does not cost.
    """
    answers = {"weights": [["0", "1"], ["0", "1"]]}
    marking = {"marks": 20, "steps": {"weights": 20}, "mistake": 2} if is_marked else None
    found = attncli.check(GIVEN, answers, decimals=decimals, marking=marking)
    said = "2 numbers are written so coarsely that 0 would pass too."
    assert (said in found.to_markdown()) == is_said


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
    """Of X X^T, t2 → t3 is -1, and so is it with a slip; all other scores are those of Q K^T."""
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


def test_slips_are_gathered_after_what_is_to_be_taught(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two made the same mistake, three a slip each. Eve's has a name: her sign was lost."""
    given = {
        "Q": [[1, 2], [2, -1], [3, 1]],
        "K": [[1, 1], [2, 1], [1, 3]],
        "V": [[1, 2], [3, 0], [0, 2]],
    }
    # Of the second query and the third key: 2·1 − 1·3 = −1.
    solutions = {
        "Ada": written(given, work=NOT_SCALED),
        "Ben": written(given, work=NOT_SCALED),
        "Cy": written(given, cells={"scores": {(0, 1): 99}}),
        "Dai": written(given, cells={"output": {(0, 1): 55}}),
        "Eve": written(given, cells={"scores": {(1, 2): 1}}),
    }
    Path("problem.yaml").write_text(json.dumps(given), encoding="utf-8")
    lines = ["student,problem,answers"]
    for name, answers in solutions.items():
        Path(f"{name}.json").write_text(json.dumps(answers), encoding="utf-8")
        lines.append(f"{name},problem.yaml,{name}.json")
    Path("manifest.csv").write_text("\n".join(lines), encoding="utf-8")
    assert run(["check", "--batch", "manifest.csv", "-o", "results.json"]) == 1
    students = json.loads(Path("results.json").read_text(encoding="utf-8"))["students"]
    said = {each["student"]: [made["slip"] for made in each["mistakes"]] for each in students}
    assert said == {"Ada": [False], "Ben": [False], "Cy": [True], "Dai": [True], "Eve": [True]}
    assert run(["check", "--batch", "manifest.csv"]) == 1
    page = " ".join(capsys.readouterr().out.split())
    again = page.partition("What to teach again")[2].partition("How each step went")[0]
    taught, *gathered = again.split("•")[1:]
    assert "2 students: scaled: the scores were not scaled." in taught
    assert [line.strip("─ ") for line in gathered] == [
        "3 students: slips in scores and output. Cy, Dai and Eve."
    ]


def test_scores_that_were_rounded_early_are_called_so_on_every_page() -> None:
    """7, −4, 6 and 2 over √3 are 4.0, −2.3, 3.5 and 1.2: weights of 0.60, 0.36 and 0.04 for 0.62,
    0.35 and 0.03. Other weights are off by one, or not at all.
    """
    scores = np.array([[2, -2, 0, -2], [1, 0, 2, 2], [6, -4, 4, 0], [7, -4, 6, 2]])
    x = np.array([[1, 1], [-1, 0], [0, 2], [-1, 2]])
    given = {"X": x, "W_Q": [[2, 1, -1], [0, 1, 0]], "W_K": [[-1, 2, 0], [0, 1, 2]]}
    assert (x @ given["W_Q"] @ (x @ given["W_K"]).T == scores).all()
    problem: dict[str, Any] = {name: np.array(each).tolist() for name, each in given.items()}
    problem |= {"W_V": [[-1, 1], [0, 1]], "mask": "causal"}
    early = np.round(scores / np.sqrt(3), 1)
    weights = softmax(np.where(np.tri(4), early, -np.inf))
    answers = {"scores": scores.tolist(), "weights": [[f"{a:.2f}" for a in row] for row in weights]}
    assert answers["weights"][3] == ["0.60", "0.00", "0.36", "0.04"]
    said = "perhaps the scaled scores were rounded to one decimal first"
    marking = {"marks": 20, "decimals": 2, "steps": {"scores": 10, "weights": 10}, "mistake": 2}
    plain, marked = (
        attncli.check(problem, answers),
        attncli.check(problem, answers, marking=marking),
    )
    for page in (plain.to_markdown(), marked.to_markdown()):
        assert f"weights: {said}. This would explain all 16 cells." in page
    assert f"(weights, t4 $\\to$ t1: {said})" in marked.to_markdown()
    (row,) = attncli.check_many([("Ada", problem, answers)], marking=marking)
    assert row.mistakes == (("weights", said),)


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
    halves = {"Q": [[1]], "K": [[0.5], [2]], "V": [[1], [2]]}
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
    assert "The digits were cut off" in found.to_markdown()
    rows = attncli.check_many([("Ada", given, answers)])
    cut_in = {step for step, mistake in rows[0].mistakes if mistake == "the digits were cut off"}
    assert cut_in == {"scaled", "weights", "output"}
    for rounding in (half_even(), None):
        right = attncli.check(given, written(given, rounding=rounding))
        assert "digits were cut off" not in right.to_markdown()


# With powers of 3, two weights are wrong. One is as near as rounding would bring it.
NEARLY_POWERS_OF_3 = {
    "Q": [[0, 2], [1, 0], [2, -1]],
    "K": [[-1, -1], [0, 2], [-1, 0]],
    "V": [[0, 1], [1, -1], [1, 0]],
}


def test_a_mistake_costs_the_same_if_some_of_its_numbers_are_nearly_right() -> None:
    def powers(m: Mapping[str, Any]) -> Any:
        return 3 ** m["scaled"] / (3 ** m["scaled"]).sum(axis=-1, keepdims=True)

    answers = written(NEARLY_POWERS_OF_3, work={"weights": powers})
    found = attncli.check(NEARLY_POWERS_OF_3, answers, marking=_as_dict())
    assert found.solution.verdicts.counts["wrong"] == 2
    assert found.earned is not None
    assert (found.earned.points, found.earned.forgiven) == (18, 0)


# The scaled scores are taken for the weights, and are not written: 1.42 is 0.71 and 0.71.
SCALED_AS_WEIGHTS = {
    "Q": [[-1, 0], [0, 1], [2, -1]],
    "K": [[1, 1], [1, 0], [-1, 0]],
    "V": [[1, 0], [0, -1], [-1, -1]],
}


def test_a_step_that_was_taken_for_another_may_be_rounded_on_the_way() -> None:
    work = {"output": lambda m: m["scaled"] @ m["V"]}
    answers = written(SCALED_AS_WEIGHTS, work=work, only=("weights", "output"))
    scheme = {**_as_dict(), "steps": {"weights": 10, "output": 10}}
    found = attncli.check(SCALED_AS_WEIGHTS, answers, marking=scheme)
    assert found.earned is not None
    assert found.earned.points == 18
    page = found.to_markdown()
    rounded = "and the steps between were rounded to 2 decimals. This explains all 6 cells."
    assert f"output: scaled was used instead of weights, {rounded}" in page


def marks_of_answers(given: Mapping[str, Any], answers: Mapping[str, Any]) -> Marks:
    """The marks of a solution, by the usual scheme."""
    earned = attncli.check(given, answers, marking=_as_dict()).earned
    assert earned is not None
    return earned


# With 3 for e, the output is 0.92 for 0.89, and 0.46 for 0.44. Weights of two decimals are off by
# half a hundredth at most, and exponentials do not change that much.
POWERS_OF_3 = {
    "Q": [[-1, 1], [-1, 0], [0, 2]],
    "K": [[0, 2], [1, -1], [2, 0]],
    "V": [[1, 0], [-1, 1], [1, 0]],
}


def test_a_mistake_before_what_is_written_is_no_rounding_on_the_way() -> None:
    def powers(m: Mapping[str, Any]) -> Any:
        return 3 ** m["scaled"] / (3 ** m["scaled"]).sum(axis=-1, keepdims=True)

    answers = written(POWERS_OF_3, work={"weights": powers}, only=("output",))
    scheme = {**_as_dict(), "marks": 6, "steps": {"output": 6}}
    earned = attncli.check(POWERS_OF_3, answers, marking=scheme).earned
    assert earned is not None
    assert (earned.points, earned.forgiven) == (4, 0)
    assert [each.said for each in earned.mistakes] == ["perhaps 3 was used instead of e"]


def test_numbers_that_are_off_by_one_speak_for_a_mistake_too() -> None:
    """With 3 for e, three outputs are wrong, and the other three off by one: 0.52 for 0.50, say."""
    given = {
        "Q": [[1, 2], [1, 0], [0, 2]],
        "K": [[-1, 1], [0, 2], [-1, 0]],
        "V": [[-1, 0], [-1, 1], [1, 0]],
    }

    def powers(m: Mapping[str, Any]) -> Any:
        return 3 ** m["scaled"] / (3 ** m["scaled"]).sum(axis=-1, keepdims=True)

    answers = written(given, work={"weights": powers}, only=("scores", "scaled", "output"))
    scheme = {**_as_dict(), "marks": 14, "steps": {"scores": 4, "scaled": 4, "output": 6}}
    earned = attncli.check(given, answers, marking=scheme).earned
    assert earned is not None
    assert earned.points == 12
    assert [each.said for each in earned.mistakes] == ["3 was used instead of e"]


def test_outputs_after_weights_that_are_not_written_were_not_cut_off() -> None:
    """0.16 for 0.168, and -0.07 for -0.077, come from weights of two decimals."""
    given = {
        "Q": [[-1, 0], [0, 1], [2, 2]],
        "K": [[2, 0], [0, -1], [-1, 2]],
        "V": [[-1, 0], [1, 1], [0, -1]],
    }
    work = {"scaled": lambda m: m["scores"] / 3}
    answers = written(given, work=work, only=("scaled", "output"))
    scheme = {**_as_dict(), "marks": 10, "steps": {"scaled": 4, "output": 6}}
    found = attncli.check(given, answers, marking=scheme)
    assert found.earned is not None
    assert found.earned.points == 8
    assert "digits were cut off" not in found.to_markdown()


def test_a_number_left_blank_was_rounded_before_it_was_read() -> None:
    """Scores of 2 and 1 are weights of 0.7311 and 0.2689; of 0.73, 100 times is 73."""
    given = {"Q": [[1]], "K": [[2], [1]], "V": [[100], [0]]}
    scores = [["2", "1"]]
    answers = {
        "scores": scores,
        "scaled": scores,
        "weights": [[None, "0.27"]],
        "output": [["73.00"]],
    }
    # One of two weights is missing, which are worth 6.
    assert marks_of_answers(given, answers).points == 17


# Q Vᵀ for the scores, and A K for the output: one mistake, as if K and V were exchanged.
K_AND_V = {
    "Q": [[0, 1, 1, -2, 3], [3, 1, -1, 3, 0]],
    "K": [[-2, 3, -1, -1, 3], [-2, 0, 3, 1, 1]],
    "V": [[1, 2, -1, 1, -2], [3, 3, 2, 1, 1]],
}


def test_a_mistake_in_two_steps_is_one_where_a_number_was_put_right() -> None:
    work = {
        "scores": lambda m: m["Q"] @ m["V"].T,
        "output": lambda m: m["weights"] @ m["K"],
    }
    answers = written(K_AND_V, work=work)
    assert marks_of_answers(K_AND_V, answers).points == 18
    answers["output"][0][0] = written(K_AND_V)["output"][0][0]
    assert marks_of_answers(K_AND_V, answers).points == 18


# Times the root of d_k, and squares for exponentials: one of the weights is blank, and in one the
# point was moved. What shows the squares is a weight, and two outputs that follow from the blank.
SQUARES = {
    "Q": [[1, 1, -2, -1, 2], [2, 1, 0, 2, 2]],
    "K": [[-2, 1, 1, -2, 3], [1, -1, 2, 1, -2]],
    "V": [[2, 0, 2, 2, 1], [-1, 0, 2, 2, -2]],
}


@pytest.mark.parametrize("put_right", [False, True])
def test_a_mistake_may_show_in_one_number_of_each_step(put_right: bool) -> None:
    def squares(m: Mapping[str, Any]) -> Any:
        return m["scaled"] ** 2 / (m["scaled"] ** 2).sum(axis=-1, keepdims=True)

    work = {"scaled": lambda m: m["scores"] * np.sqrt(5), "weights": squares}
    answers = written(SQUARES, work=work, cells={"weights": {(1, 1): 5.00}})
    answers["weights"][0][1] = None
    if put_right:
        answers["output"][0][0] = written(SQUARES)["output"][0][0]
    # Two mistakes, a slip, and one of four weights, which are worth 6.
    assert marks_of_answers(SQUARES, answers).points == 20 - 2 * 2 - 1 - 1.5


def test_a_step_was_taken_for_another_one_that_has_a_blank() -> None:
    given = {
        "Q": [[-1, 2], [-2, 1], [2, 2]],
        "K": [[2, 1], [-1, -1], [0, 0]],
        "V": [[3, 0], [1, 3], [2, -2]],
    }
    answers = written(given, work={"output": lambda m: m["scaled"] @ m["V"]})
    answers["weights"][1][2] = None
    earned = marks_of_answers(given, answers)
    assert [each.said for each in earned.mistakes] == ["scaled was used instead of weights"]
    assert earned.points == 18 - Fraction(6, 9)


# Not scaled, and with the softmax down the columns, three of the weights are what the softmax of
# the rows gives, cut off after two digits.
LIKE_CUT_OFF = {
    "Q": [[0, -1, 0], [-2, 5, 4], [1, -2, -2], [1, -3, -2]],
    "K": [[1, 2, -1], [1, -2, 1], [-1, 0, 0], [0, 2, -1]],
    "V": [[1, 1], [-1, 1], [0, -1], [1, 0]],
}


# One of the weights may be what the rows give, which is right.
@pytest.mark.parametrize("cells", [{}, {"weights": {(0, 1): 0.85}}])
def test_what_a_mistake_gives_was_not_cut_off(cells: Mapping[str, Any]) -> None:
    work = {"scaled": lambda m: m["scores"], "weights": lambda m: softmax(m["scaled"].T).T}
    answers = written(LIKE_CUT_OFF, work=work, cells=cells)
    found = attncli.check(LIKE_CUT_OFF, answers, marking=_as_dict())
    assert found.earned is not None
    assert found.earned.points == 16
    assert "digits were cut off" not in found.to_markdown()


# The softmax of the whole matrix leaves one row and zeros; a 0 says little, 0.65 says more.
ONE_ROW_LEFT = {
    "Q": [[-2, -1], [3, 2], [-1, 0]],
    "K": [[2, 2], [3, -2], [1, 3]],
    "V": [[1, 0], [2, 1], [-2, 0]],
}


@pytest.mark.parametrize("blank", [0, 1])
def test_numbers_as_they_stand_speak_for_a_mistake(blank: int) -> None:
    """Within the precision of what is written before it, a number may be several; as that stands,
    it is one. Who fills in a blank loses no name of a mistake.
    """

    def over_all(m: Mapping[str, Any]) -> Any:
        return np.exp(m["scaled"]) / np.exp(m["scaled"]).sum()

    answers = written(ONE_ROW_LEFT, work={"weights": over_all}, cells={"scaled": {(2, 1): 2.12}})
    if blank:
        answers["scaled"][0][0] = None
    earned = marks_of_answers(ONE_ROW_LEFT, answers)
    assert [each.said for each in earned.mistakes] == [
        "the softmax was taken over the whole matrix"
    ]
    # A mistake and a slip.
    assert earned.points == 17 - blank * Fraction(4, 9)


X_AND_WEIGHTS = {
    "X": [[1, 2], [2, 1], [3, 1]],
    "W_Q": [[1, 1], [0, 2]],
    "W_K": [[1, 0], [1, 1]],
    "W_V": [[2, 1], [1, 3]],
}


@pytest.mark.parametrize(
    ("name", "cell", "slips", "said"),
    [
        ("Q", (1, 0), {}, "Q of t2, d1 is wrong"),
        ("K", (2, 1), {}, "K of t3, d2 is wrong"),
        ("V", (0, 1), {}, "V of t1, d2 is wrong"),
        ("Q", (1, 0), {"output": {(0, 0): 1.11}}, "Q of t2, d1 is wrong"),
    ],
)
def test_a_number_that_is_not_written_is_one_slip(
    name: str, cell: tuple[int, int], slips: dict[str, Any], said: str
) -> None:
    trace = attncli.trace(X_AND_WEIGHTS)
    given = {each: np.array(trace[each]) for each in ("Q", "K", "V")}
    given[name][cell] += 1
    answers: dict[str, Any] = {**written(given, cells=slips)}
    found = attncli.check(X_AND_WEIGHTS, answers, marking=_as_dict())
    assert found.earned is not None
    assert found.earned.points == 19 - len(slips)
    assert any(said in each.said for each in found.earned.slips)
    answers[name] = given[name].tolist()
    handed_in = attncli.check(X_AND_WEIGHTS, answers, marking=_as_dict())
    assert handed_in.earned is not None
    assert handed_in.earned.points == 19 - len(slips)


def test_wrong_scores_after_queries_that_are_not_written() -> None:
    """Who rounds scores first, before they are written, has other scores to begin with."""
    slips = {"scores": {(0, 0): 0.5, (1, 1): 7.75, (2, 1): 4.3}}
    trace = attncli.trace(X_AND_WEIGHTS)
    given = {name: trace[name] for name in ("Q", "K", "V")}
    scheme = _as_dict()
    del scheme["decimals"]
    earned = attncli.check(X_AND_WEIGHTS, written(given, cells=slips), marking=scheme).earned
    assert earned is not None
    # Three slips in one step cost no more than a mistake.
    assert earned.points == 18


def test_slips_that_cost_no_more_than_a_mistake_say_so() -> None:
    slips = {"output": {(0, 0): 9.11, (0, 1): 8.22, (1, 0): 7.33}}
    answers = written(GIVEN, cells=slips)
    scheme = {**_as_dict(), "steps": {"scores": 8, "scaled": 4, "weights": 6, "output": 2}}
    found = attncli.check(GIVEN, answers, marking=scheme)
    assert found.earned is not None
    assert found.earned.points == 18
    assert (
        "3 slips in output, t1, d1; t1, d2; t2, d1 – several in one step cost less"
        in found.to_markdown()
    )


def test_a_number_that_is_too_coarse_is_no_error_of_its_own() -> None:
    answers = {**written(GIVEN), "weights": [["0.3", "0.7"], ["0.2", "0.8"]]}
    page = attncli.check(GIVEN, answers, marking=_as_dict()).to_markdown()
    assert "with too few decimals. The true value is" in page
    # 0.3302 and 0.6698; 0.1956 and 0.8044 are 0.20 and 0.80.
    assert "2 numbers have too few decimals: $0.3$ is read as $0.30$, not as $0.33$." in page
    # The steps add up to what was earned, though nothing was taken off the whole.
    assert re.search(r"\| in all +\| +17 \| +20 \|", page)
    assert "wrong: the number has too few decimals." in page
    assert "the error was made here" not in page
    answers["scores"][0][0] = "9"
    page = attncli.check(GIVEN, answers, marking=_as_dict()).to_markdown()
    assert "wrong: the error was made here, or the number has too few decimals." in page


def test_numbers_with_zeros_behind_are_said_to_be_rounded() -> None:
    """Scaled scores are 4.2426 and 2.8284, 5.6569 and 2.8284."""
    given = {"Q": [[2, 2], [2, 3]], "K": [[1, 2], [2, 0]], "V": [[1, 2], [3, 0]]}
    answers = {**written(given), "scaled": [["4.20", "2.80"], ["5.70", "2.80"]]}
    found = attncli.check(given, answers, marking={**_as_dict(), "digit": 0.5})
    said = "scaled: all 4 numbers were rounded to 1 decimal, and zeros were put behind"
    assert said in found.to_markdown()
    assert "too few decimals" not in found.to_markdown()
    # A 0 stands behind one of them alone, or behind none.
    for scaled, others in (
        ([["4.2", "2.80"], ["5.7", "2.8"]], f"{said} 1 of them"),
        ([["4.2", "2.8"], ["5.7", "2.8"]], "scaled: all 4 numbers have too few decimals"),
    ):
        found = attncli.check(given, {**answers, "scaled": scaled}, marking=_as_dict())
        assert f"({others})" in found.to_markdown()
    whole = {**answers, "scaled": [["4.00", "3.00"], ["6.00", "3.00"]]}
    found = attncli.check(given, whole, marking=_as_dict())
    said = "scaled: all 4 numbers were rounded to whole numbers, and zeros were put behind"
    assert said in found.to_markdown()


def test_the_page_says_why_wrong_numbers_keep_their_marks() -> None:
    keeps = "A wrong number that a mistake or a slip explains keeps its marks"
    for work, is_said in ((NOT_ROOT, 1), ({}, 0)):
        found = attncli.check(GIVEN, written(GIVEN, work=work), marking=_as_dict())
        assert found.to_markdown().count(keeps) == is_said


def test_the_page_says_what_numbers_without_work_are() -> None:
    zeros = [["0.00", "0.00"], ["0.00", "0.00"]]
    answers = dict.fromkeys(("scores", "scaled", "weights", "output"), zeros)
    page = attncli.check(GIVEN, answers, marking=_as_dict()).to_markdown()
    assert "output: all 4 numbers show no work of their own" in page
    assert page.count("Numbers show no work of their own if they are all alike, repeat a row") == 1
    assert "= 0 of 20." in page


@pytest.mark.parametrize("of_scheme", [{"decimals": 1}, {"decimals": 2}, {"decimals": 3}, {}])
def test_the_decimals_of_the_command_say_how_many_are_missing(of_scheme: dict[str, int]) -> None:
    """Two decimals with zeros behind, where three are asked for: each number loses a half."""
    given = {"Q": [[1, 2], [2, 1]], "K": [[1, 1], [2, 1]], "V": [[1], [2]]}
    answers = {
        "scores": [["3", "4"], ["3", "5"]],
        "scaled": [["2.120", "2.830"], ["2.120", "3.540"]],
    }
    marking = {"marks": 20, "steps": {"scores": 10, "scaled": 10}, "mistake": 2, "digit": 0.5}
    found = attncli.check(given, answers, decimals=3, marking=marking | of_scheme).earned
    assert found is not None
    assert found.points == 10 + 5


@pytest.mark.parametrize(
    ("step", "alike", "points"),
    [("scores", "0.00", 16), ("scaled", "0.00", 16), ("weights", "0.50", 14)],
)
def test_right_numbers_after_numbers_that_are_all_alike_were_worked_out_from_others(
    step: str, alike: str, points: int
) -> None:
    """As where a spreadsheet writes 0 for what is blank: the step loses its marks, and no other."""
    given = {
        "Q": [[1, 2], [2, 0], [0, 1]],
        "K": [[1, 1], [2, 1], [0, 2]],
        "V": [[1, 2], [3, 0], [0, 1]],
    }
    answers = {**written(given), step: [[alike] * 3] * 3}
    found = attncli.check(given, answers, marking=_as_dict()).earned
    assert found is not None
    assert found.points == points


@in_one_test(
    ("digit", "weight", "lost"),
    [
        ({}, "0.3", 5),
        ({"digit": 0.5}, "0.3", Fraction(5, 2)),
        ({"digit": 0.5}, "0", 5),
        ({"digit": 0.25}, "0", Fraction(5, 2)),
        ({"digit": 0}, "0.3", 0),
    ],
)
def test_each_decimal_that_is_missing_costs_a_part_of_the_share(
    digit: dict[str, float], weight: str, lost: Fraction
) -> None:
    """One of four weights, which is 0.33, has too few."""
    answers = {**written(GIVEN), "weights": [[weight, "0.67"], ["0.20", "0.80"]]}
    marking = {**_as_dict(), "steps": {"weights": 20}, **digit}
    found = attncli.check(GIVEN, answers, marking=marking)
    assert found.earned is not None
    assert found.earned.points == 20 - lost


def test_a_number_that_a_mistake_gives_as_it_was_written_has_decimals_enough() -> None:
    """Scores that were not scaled are whole numbers, and need no decimals. Of 0.707, a 1 that no
    mistake gives has too few.
    """
    given = {"Q": [[1, 2], [2, 1]], "K": [[1, 0], [2, 1]], "V": [[1, 2], [3, 0]]}
    not_scaled = {"scaled": [["1", "4"], ["2", "5"]]}
    found = attncli.check(given, not_scaled, marking={**_as_dict(), "steps": {"scaled": 20}})
    assert found.earned is not None
    assert found.earned.points == 18
    assert "too few decimals" not in found.to_markdown()
    assert "This explains all 4 cells." in found.to_markdown()
    rounded = {"scaled": [["1", "2.83"], ["1.41", "3.54"]]}
    found = attncli.check(given, rounded, marking={**_as_dict(), "steps": {"scaled": 20}})
    assert found.earned is not None
    assert found.earned.points == 15
    assert "too few decimals" in found.to_markdown()


def test_a_slip_gives_whole_numbers_as_they_are() -> None:
    """The value of t1 is 0.7, and was taken for 1. So the outputs are 1 and 1.5; the first of them
    looks as if 0.7 was rounded to it.
    """
    given = {
        "X": [[0.7], [2]],
        "W_V": [[1]],
        "Q": [[0], [0]],
        "K": [[0], [0]],
        "mask": "causal",
    }
    answers = {"weights": [[1, 0], [0.5, 0.5]], "output": [["1"], ["1.5"]]}
    marking = {**_as_dict(), "steps": {"weights": 10, "output": 10}}
    found = attncli.check(given, answers, marking=marking)
    assert found.earned is not None
    assert found.earned.points == 19
    assert [each.said for each in found.earned.slips] == ["V of t1, d1 is wrong"]
    assert "too few decimals" not in found.to_markdown()


CAUSAL = {
    "Q": [[1, 2], [3, 1], [0, 1]],
    "K": [[1, 0], [1, 1], [2, 1]],
    "V": [[1, 0], [2, 3], [-1, 1]],
    "mask": "causal",
}
THREE = {"marks": 20, "decimals": 2, "steps": {"scaled": 5, "weights": 5, "output": 10}}


def _with_last_row(weights: list[float], output: list[float]) -> dict[str, Any]:
    """A solution of which only the last row of the weights is wrong."""
    return {
        "scaled": [[0.71, 2.12, 2.83], [2.12, 2.83, 4.95], [0, 0.71, 0.71]],
        "weights": [[1, 0, 0], [0.33, 0.67, 0], weights],
        "output": [[1, 0], [1.67, 2.01], output],
    }


def test_a_wrong_exponential_is_one_slip_in_all_its_row_and_the_page_says_so() -> None:
    """The exponential of t3 → t2 was doubled, so that its row is 1, 4.06 and 2.03 of 7.09."""
    answers = _with_last_row([0.14, 0.57, 0.29], [0.99, 2.00])
    found = attncli.check(CAUSAL, answers, marking={**THREE, "mistake": 2})
    assert found.earned is not None
    assert found.earned.points == 19
    named = [(each.mistakes, each.cells) for each in found.diagnoses]
    assert named == [(("exp[2][1] is wrong",), ((2, 0), (2, 1), (2, 2)))]
    assert "weights: exp of t3 $\\to$ t2 is wrong. This explains all 3" in found.to_markdown()
    assert found.to_dict()["diagnoses"][0]["mistake"] == "exp[2][1] is wrong"


@in_one_test(
    ("weights", "output", "said"),
    [
        ([0.50, 0.30, 0.10], [1, 1], "row t3 (0.9)"),
        ([0.90, 0.90, 0.80], [1.9, 3.5], "row t3 (2.6)"),
    ],
)
def test_weights_of_a_row_that_is_wrong_are_no_inverted_mask(
    weights: list[float], output: list[float], said: str
) -> None:
    """A mask that is inverted hides all of the last row; its weights are no numbers at will."""
    answers = _with_last_row(weights, output)
    found = attncli.check(CAUSAL, answers, marking={**THREE, "mistake": 2})
    assert found.earned is not None
    assert "inverted" not in found.to_markdown()
    assert f"Yours do not in {said}." in found.to_markdown()


HIDDEN = {
    "scores": [[1, "-inf", "-inf"], [3, 4, "-inf"], [0, 1, 1]],
    "scaled": [["0.71", "-inf", "-inf"], ["2.12", "2.83", "-inf"], [0, "0.71", "0.71"]],
    "weights": [[1, 0, 0], [0.33, 0.67, 0], ["0.20", "0.40", "0.40"]],
}
SEEN = {
    "scores": [[1, 3, 4], [3, 4, 7], [0, 1, 1]],
    "scaled": [[0.71, 2.12, 2.83], [2.12, 2.83, 4.95], [0, 0.71, 0.71]],
}


@pytest.mark.parametrize("steps", [("scores",), ("scaled",), ("scores", "scaled")])
def test_a_mask_that_was_applied_before_its_step_is_one_slip(steps: tuple[str, ...]) -> None:
    """However many steps say −∞ where the mask hides a key."""
    answers: dict[str, Any] = {**HIDDEN, **SEEN} | {name: HIDDEN[name] for name in steps}
    of_steps = {"scores": 5, "scaled": 5, "weights": 10}
    marking = {**THREE, "steps": of_steps, "mistake": 2}
    found = attncli.check(CAUSAL, answers, marking=marking)
    assert found.earned is not None
    assert found.earned.points == 19
    assert [each.mistakes for each in found.diagnoses] == [
        ("the mask was applied before its step",)
    ]
    assert "too few decimals" not in found.to_markdown()


def test_other_mistakes_are_found_beside_a_mask_that_was_applied_before_its_step() -> None:
    answers = {
        "scaled": [[1, "-inf", "-inf"], [3, 4, "-inf"], [0, 1, 1]],
        "weights": [[1, 0, 0], [0.27, 0.73, 0], [0.16, 0.42, 0.42]],
    }
    marking = {**THREE, "steps": {"scaled": 10, "weights": 10}, "mistake": 2}
    found = attncli.check(CAUSAL, answers, marking=marking)
    assert found.earned is not None
    assert found.earned.points == 17
    assert {name for each in found.diagnoses for name in each.mistakes} == {
        "the mask was applied before its step",
        "the scores were not scaled",
    }


@in_one_test(
    ("weights", "missing"),
    [
        ([[1, None, None], [0.33, 0.67, None], ["0.20", "0.40", "0.40"]], 0),
        ([[1, "-", "–"], [0.33, 0.67, "−"], ["0.20", "0.40", "0.40"]], 0),
        # A number that has to be there is missing, and so is what stands beside it.
        ([[1, 0, 0], [0.33, "-", "-"], ["0.20", "0.40", "0.40"]], 2),
        ([[1, 0, 0], [0.33, 0.67, 0], [None, None, None]], 3),
    ],
)
def test_a_weight_that_the_mask_hides_may_be_left_blank(
    weights: list[list[float | str | None]], missing: int
) -> None:
    marking: dict[str, Any] = {"marks": 9, "decimals": 2, "steps": {"weights": 9}, "mistake": 2}
    answers: dict[str, Any] = {"weights": weights}
    marked = attncli.check(CAUSAL, answers, marking=marking)
    assert marked.solution.verdicts.counts["missing"] == missing
    assert marked.earned is not None
    assert marked.earned.points == 9 - missing
    # Without marks, what is blank is missing.
    blank = sum(cell in (None, "-", "–", "−") for row in weights for cell in row)
    assert attncli.check(CAUSAL, answers, decimals=2).solution.verdicts.counts["missing"] == blank


def test_what_takes_marks_off_is_explained() -> None:
    """Each mistake that costs something is among the diagnoses, also one that gives only some of
    the numbers of a step.
    """
    answers = written(GIVEN, work=NOT_ROOT)
    answers["scaled"][0][0] = "7.00"
    answers["scaled"][1][1] = "8.00"
    found = attncli.check(GIVEN, answers, marking=_as_dict())
    assert found.earned is not None
    assert found.earned.mistakes
    named = {name for each in found.diagnoses for name in each.mistakes}
    for each in found.earned.mistakes:
        assert each.said.removeprefix("perhaps ").split(", or ")[0] in named
    assert "## What explains the errors" in found.to_markdown()


def test_a_marking_that_is_hardly_meant_is_warned_of(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("m.yaml").write_text(MARKING.replace("mistake: 2", "mistake: 25\nslip: 26"), "utf-8")
    checked(capsys, written(GIVEN), "--marking", "m.yaml", code=0)
    run(["check", "problem.yaml", "answers.yaml", "--marking", "m.yaml"])
    said = " ".join(capsys.readouterr().err.split())
    assert "m.yaml: a mistake costs 25, more than all 20 marks" in said
    assert "m.yaml: a slip costs 26, more than a mistake, which costs 25" in said


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


def test_rounding_on_the_way_is_said_of_the_steps_that_are_not_written() -> None:
    """Scores of 2 and 1 are weights of 0.7311 and 0.2689; of 0.73, 100 times is 73."""
    given = {"Q": [[1]], "K": [[2], [1]], "V": [[100], [0]]}
    answers = {"scores": [["2", "1"]], "scaled": [["2", "1"]], "output": [["73.00"]]}
    scheme = {**_as_dict(), "steps": {"scores": 10, "output": 10}}
    found = attncli.check(given, answers, marking=scheme)
    assert found.earned is not None
    assert (found.earned.points, found.earned.forgiven) == (20, 1)
    assert (
        "1 number is off only because of rounding on the way, in steps that are not written"
        " (exponentials, row sums and attention weights). It keeps its share."
    ) in found.to_markdown()


def test_an_exponential_as_large_as_floats_go_is_not_rounded() -> None:
    """Among what is tried are powers that have more hundredths than floats can say."""
    given = {
        "Q": [[-1, -1, -2, 3, -2], [-2, -1, 2, -2, 2]],
        "K": [[2, 0, 0, 1, 0], [-2, -1, -1, 2, -2]],
        "V": [[3, 2, 1, -1, 2], [-2, -2, 3, 2, 0]],
    }
    answers = {
        "scores": [["1.00", "15.00"], ["-6.00", "-5.00"]],
        "output": [
            ["1.80", "-0.05", "-0.05", "1.05", "-0.10"],
            ["-0.36", "-0.59", "-0.59", "1.59", "-1.18"],
        ],
    }
    assert 0 <= marks_of_answers(given, answers).points <= 10


def test_a_zero_behind_a_rounded_number_earns_no_more() -> None:
    """Outputs to one decimal, 1.2 or 1.20: each lacks a decimal, and nobody cut digits off."""
    given = {
        "Q": [[1, 2], [0, 1], [1, 1]],
        "K": [[1, 0], [2, 1], [0, 1]],
        "V": [[1.5, 2.3, 0.3], [2.4, 0.7, 1.1], [-1.2, 0.9, 0.4]],
    }
    rounding = half_up(1)
    honest = written(given, rounding=rounding, decimals=1, on_the_way=False, only=("output",))
    padded = [[f"{each}0" for each in row] for row in honest["output"]]
    right = written(given, on_the_way=False)
    with_honest = marks_of_answers(given, {**right, **honest})
    with_zeros = marks_of_answers(given, {**right, "output": padded})
    assert with_zeros.points <= with_honest.points < 20
    assert not with_zeros.slips


# A causal mask hid what comes before: of the weights, only the row of the last key is wrong.
HIDES_PAST = {
    "Q": [[-1, 3, -3], [1, 0, 0], [1, -1.5, 0.5]],
    "K": [[2, -1, -1], [1, -1, 0], [0, -2, -1.5]],
    "V": [[6, -3], [-1, 0], [-2, 1]],
    "mask": "causal",
}


@pytest.mark.parametrize("last", [["0", "0", "1"], ["0.00", "0.00", "1.00"]])
def test_a_mistake_explains_whole_numbers_also_where_others_are_right(last: list[str]) -> None:
    """By hand: e^1.15 : e^0.58 is 0.64 : 0.36, and 0.64 of 6 and 0.36 of -1 are 3.48."""
    answers = {
        "scores": [["-2", "-4", "-1.50"], ["2", "1", "0"], ["3", "2.50", "2.25"]],
        "scaled": [["-1.15", "-2.31", "-0.87"], ["1.15", "0.58", "0"], ["1.73", "1.44", "1.30"]],
        "weights": [["1", "0", "0"], ["0.64", "0.36", "0"], last],
        "output": [["6", "-3"], ["3.48", "-1.92"], ["-2", "1"]],
    }
    assert marks_of_answers(HIDES_PAST, answers).points == 18
