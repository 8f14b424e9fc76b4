"""With a marking, a matrix of another shape than its step is missing, and the rest is marked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import attncli
from attncli.cli.main import run
from attncli.errors import AttncliError, Exit
from attncli.features.schema.command import schemas
from tests.cases import in_one_test

SCHEMA = json.loads(schemas()["verdict"].read_text(encoding="utf-8"))
GIVEN = {"Q": [[1, 2], [2, 1]], "K": [[1, 1], [2, 1]], "V": [[1, 2, 0], [3, 0, 1]]}
# Of two numbers that differ by d, the first has the weight 1/(1 + e^d).
RIGHT: dict[str, list[list[Any]]] = {
    "scores": [[3, 4], [3, 5]],
    "scaled": [["2.12", "2.83"], ["2.12", "3.54"]],
    "weights": [["0.33", "0.67"], ["0.20", "0.80"]],
    "output": [["2.34", "0.66", "0.67"], ["2.61", "0.39", "0.80"]],
}
TURNED = [["2.34", "2.61"], ["0.66", "0.39"], ["0.67", "0.80"]]
MARKING = {
    "marks": 20,
    "decimals": 2,
    "steps": {"scores": 4, "scaled": 4, "weights": 6, "output": 6},
    "mistake": 2,
}


def page_of(found: attncli.Checked) -> str:
    """The page, with the signs that are formulas in Markdown as they are."""
    page = re.sub(r"\$\\times (\d)\$", r"×\1", found.to_markdown())
    return re.sub(r"\\([^a-z])|\$(-)\$", r"\1\2", page)


def test_all_right_is_all_marks() -> None:
    earned = attncli.check(GIVEN, RIGHT, marking=MARKING).earned
    assert earned is not None
    assert earned.points == 20


@in_one_test(
    ("changed", "points", "said"),
    [
        ({"output": TURNED}, 14, "output is 3×2, but must be 2×3: it brings no marks"),
        ({"output": [["2.34", "0.66"]] * 2}, 14, "output is 2×2, but must be 2×3"),
        ({"output": ["2.34", "0.66", "0.67"]}, 14, "output is 3, but must be 2×3"),
        # What follows is judged as after a step that is blank.
        ({"scaled": [["2.12"], ["2.83"]]}, 16, "scaled is 2×1, but must be 2×2"),
        ({"scores": [[3, 4, 0]] * 2}, 16, "scores is 2×3, but must be 2×2"),
    ],
)
def test_the_rest_is_marked(changed: dict[str, Any], points: int, said: str) -> None:
    found = attncli.check(GIVEN, {**RIGHT, **changed}, marking=MARKING)
    assert found.earned is not None
    assert found.earned.points == points
    assert not found.passed
    assert found.solution.verdicts.counts["wrong"] == 0
    assert said in page_of(found)


def test_the_page_and_its_data_say_it_plainly() -> None:
    found = attncli.check(GIVEN, {**RIGHT, "output": TURNED}, marking=MARKING)
    page = page_of(found)
    said = "output is 3×2, but must be 2×3: it brings no marks"
    assert f"{said}. Its rows and columns seem to be exchanged." in page
    assert f"- 6 ({said}) = 14 of 20" in page
    assert "6 numbers are missing." in page
    assert "No number is wrong" not in page
    data = found.to_dict()
    jsonschema.validate(data, SCHEMA, jsonschema.Draft7Validator)
    assert data["other_shapes"] == [
        {"step": "output", "index": [], "shape": [3, 2], "needs": [2, 3], "said": said}
    ]


def test_a_square_matrix_cannot_be_told_to_be_turned() -> None:
    found = attncli.check(GIVEN, {**RIGHT, "output": [["2.34", "0.66"]] * 2}, marking=MARKING)
    assert "exchanged" not in page_of(found)


def test_a_matrix_that_has_no_marks_is_told_too() -> None:
    found = attncli.check(GIVEN, {**RIGHT, "K_T": [[1, 2, 0], [1, 1, 0]]}, marking=MARKING)
    assert found.earned is not None
    assert found.earned.points == 20
    assert "K_T is 2×3, but must be 2×2: it brings no marks" in page_of(found)


def test_with_nothing_else_no_cell_is_right() -> None:
    page = page_of(attncli.check(GIVEN, {"K_T": [[1, 2, 0], [1, 1, 0]]}, marking=MARKING))
    assert "There is nothing else to judge." in page
    assert "right" not in page.partition("Marks:")[0]


TABLE = "| O | d1 | d2 |\n|-|-|-|\n| t1 | 2.34 | 0.66 |\n| t2 | 2.61 | 0.39 |\n"
FORMS = {
    "a.md": TABLE,
    "a.txt": "O =\n2.34 0.66\n2.61 0.39\n",
    "a.tex": r"$O = \begin{pmatrix} 2.34 & 0.66 \\ 2.61 & 0.39 \end{pmatrix}$",
    "a.json": '{"output": [[2.34, 0.66], [2.61, 0.39]]}',
    "a.yaml": "output:\n  - [2.34, 0.66]\n  - [2.61, 0.39]\n",
}
WEIGHTS = {
    "a.md": "| A | t1 | t2 |\n|-|-|-|\n| t1 | 0.33 | 0.67 |\n| t2 | 0.20 | 0.80 |\n\n",
    "a.txt": "A =\n0.33 0.67\n0.20 0.80\n\n",
    "a.tex": r"$A = \begin{pmatrix} 0.33 & 0.67 \\ 0.20 & 0.80 \end{pmatrix}$" "\n\n",
    "a.json": "",
    "a.yaml": "weights: [[0.33, 0.67], [0.20, 0.80]]\n",
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_answers(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(WEIGHTS[name] + FORMS[name], encoding="utf-8")
    found = attncli.check(GIVEN, str(file), marking=MARKING)
    assert found.earned is not None
    assert found.earned.points == (6 if WEIGHTS[name] else 0)
    assert "output is 2×2, but must be 2×3: it brings no marks" in page_of(found)
    with pytest.raises(AttncliError) as error:
        attncli.check(GIVEN, str(file))
    assert error.value.exit_code == Exit.INPUT
    assert "is 2×2, but must be 2×3" in str(error.value)


def test_a_table_of_one_head(tmp_path: Path) -> None:
    given = {name: [matrix, matrix] for name, matrix in GIVEN.items()} | {"heads": 2}
    head = "| A | t1 | t2 |\n|-|-|-|\n| t1 | 0.33 | 0.67 |\n| t2 | 0.20 | 0.80 |\n"
    column = "| A | t1 |\n|-|-|\n| t1 | 0.33 |\n| t2 | 0.20 |\n"
    file = tmp_path / "a.md"
    file.write_text(f"## Head 0\n\n{head}\n## Head 1\n\n{column}", encoding="utf-8")
    marking = {**MARKING, "steps": {"weights": 20}}
    found = attncli.check(given, str(file), marking=marking)
    assert found.earned is not None
    assert found.earned.points == 10
    assert "weights[1] is 2×1, but must be 2×2: it brings no marks" in page_of(found)


@in_one_test(
    ("text", "message"),
    [
        # Decimal commas made the shape.
        ("output:\n  - [2,34, 0,66, 0,67]\n  - [2,61, 0,39, 0,80]\n", "2,34 can be read as"),
        ("weights: [[0,33], [0,20]]\noutput: [[2,34], [2,61]]\n", "must be 2×3"),
        # Who writes rows of several lengths has left a number out.
        ("output: [[2.34, 0.66], [2.61, 0.39, 0.80]]\n", "has 3 entries, but the first row has 2"),
        ("output: [[2.34, x], [2.61, 0.39]]\n", "x is not a number"),
        ("output: 2.34\n", "must be a list of rows, not 2.34"),
    ],
)
def test_what_cannot_be_read_is_an_error_still(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(AttncliError) as error:
        attncli.check(GIVEN, str(file), marking=MARKING)
    assert message in str(error.value)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("p.json").write_text(json.dumps(GIVEN), encoding="utf-8")
    Path("marking.yaml").write_text(json.dumps(MARKING), encoding="utf-8")
    Path("ada.json").write_text(json.dumps(RIGHT), encoding="utf-8")
    Path("ben.json").write_text(json.dumps({**RIGHT, "output": TURNED}), encoding="utf-8")
    return tmp_path


SAID = "output is 3×2, but must be 2×3"


@pytest.mark.usefixtures("folder")
def test_the_teacher_is_told_of_one_solution(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "p.json", "ben.json", "--marking", "marking.yaml"]) == 1
    assert f"attncli: warning: {SAID}: it brings no marks" in capsys.readouterr().err
    assert run(["check", "p.json", "ben.json"]) == Exit.INPUT
    assert f"error: ben.json:1:137: {SAID.replace(' ', ': ', 1)}" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_the_teacher_is_told_of_a_class(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["check", "p.json", "ada.json", "ben.json", "--marking", "marking.yaml"]
    assert (
        run([*line, "-o", "results.json", "--feedback", "pages", "--feedback-format", "table"]) == 1
    )
    warning = capsys.readouterr().err
    said = "1 student wrote matrices of another shape than their step, which bring no marks"
    assert f"{said}: ben ({SAID})" in warning.replace("\n", " ")
    ada, ben = json.loads(Path("results.json").read_text(encoding="utf-8"))["students"]
    assert (ada["marks"], ben["marks"], ben["error"]) == (20, 14, None)
    assert ben["taken_off"] == [{"marks": 6, "why": f"{SAID}: it brings no marks"}]
    assert f"{SAID}: it brings no marks" in Path("pages/ben.txt").read_text(encoding="utf-8")
