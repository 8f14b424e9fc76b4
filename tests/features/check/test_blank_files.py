"""With a marking, a file that was handed in blank earns 0; one that is not there has no marks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import attncli
from attncli.cli.main import run
from attncli.errors import AttncliError, Exit
from tests.cases import in_one_test

GIVEN = {"Q": [[1, 2], [2, 1]], "K": [[1, 1], [2, 1]], "V": [[1, 2, 0], [3, 0, 1]]}
MARKING = {"marks": 10, "decimals": 2, "steps": {"scores": 4, "output": 6}, "mistake": 2}
TEMPLATE = '# Answers to "1"\n\nscores:\n  - [_, _]  # t1\n  - [_, _]\noutput: null\n'
BLANK = [
    "",
    " \n\n",
    "# Answers\n",
    "---\n",
    "{}",
    "name: Jonas Koch\ngroup: 3\n",
    f"name: Jonas Koch\n{TEMPLATE}",
    TEMPLATE,
]


@in_one_test("text", BLANK)
def test_a_blank_file_earns_nothing(text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(text, encoding="utf-8")
    found = attncli.check(GIVEN, str(file), marking=MARKING)
    assert found.earned is not None
    assert (found.earned.points, found.earned.of) == (0, 10)
    counts = found.solution.verdicts.counts
    # 4 scores and 6 numbers of the output.
    assert counts == {"right": 0, "carried": 0, "rounding": 0, "wrong": 0, "missing": 10}
    assert "Nothing is filled in." in found.to_markdown()
    assert not found.passed


NOT_BLANK = [
    "scors: [[1, 2]]\n",
    "I did not understand this.\n",
    "note: I was ill\nscors: 1\n",
    '{"name": "Ada",\n "date": 3, "scors": [[1, 2], [3, 4]]}\n',
    "note: S = [[1, 2], [3, 4]]\n",
]


@in_one_test("text", NOT_BLANK)
def test_what_somebody_wrote_is_not_blank(text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(AttncliError) as error:
        attncli.check(GIVEN, str(file), marking=MARKING)
    assert error.value.exit_code == Exit.INPUT


def test_numbers_behind_a_sign_of_comments_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("# S = [[3, 4], [3, 5]]\n", encoding="utf-8")
    with pytest.raises(AttncliError):
        attncli.check(GIVEN, str(file))


def test_without_a_marking_an_empty_file_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("", encoding="utf-8")
    with pytest.raises(AttncliError) as error:
        attncli.check(GIVEN, str(file))
    assert str(error.value) == "the file is empty"


def test_a_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.json").write_text(json.dumps(GIVEN), encoding="utf-8")
    Path("marking.yaml").write_text(json.dumps(MARKING), encoding="utf-8")
    Path("m.csv").write_text(
        "student,problem,answers\nAda,p.json,ada.yaml\nBen,p.json,ben.yaml\nCy,p.json,cy.yaml\n"
    )
    Path("ada.yaml").write_text("scores: [[3, 4], [3, 5]]\n", encoding="utf-8")
    Path("ben.yaml").write_text("", encoding="utf-8")
    line = ["check", "--batch", "m.csv", "-o", "r.json", "--feedback", "pages"]
    assert run(line) == 1
    results = json.loads(Path("r.json").read_text(encoding="utf-8"))
    rows = [(each["student"], each["marks"], each["of"]) for each in results["students"]]
    assert rows == [("Ada", 4, 10), ("Ben", 0, 10), ("Cy", None, None)]
    # Of the two that are there.
    assert results["summary"]["mean_share"] == 0.2
    assert results["summary"]["not_read"] == 1
    assert "Nothing is filled in." in Path("pages/Ben.md").read_text(encoding="utf-8")
    assert "there is no file with them" in Path("pages/Cy.md").read_text(encoding="utf-8")
    Path("ben.yaml").write_text("scores: [[3, 4], [3, 5]]\n", encoding="utf-8")
    assert run([*line, "--resume"]) == 1
    results = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert [each["marks"] for each in results["students"]] == [4, 4, None]
