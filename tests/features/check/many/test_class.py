"""Many solutions at once: a row for each, whatever is wrong with it, the same as one by one."""

from __future__ import annotations

import csv
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from html import unescape
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

import jsonschema
import pytest

import attncli
from attncli.cli.main import run
from attncli.features.check.many.kept_rows import kept_rows
from attncli.features.check.many.manifest import Submission, read_manifest
from attncli.features.check.many.marking import mark_all, mark_in_processes
from attncli.features.check.many.result_row import Settings
from attncli.features.check.many.results_read_back import read_results
from attncli.features.check.many.time_limit import OutOfTimeError, within
from attncli.features.schema.command import schemas

SCHEMA = json.loads(schemas()["results"].read_text(encoding="utf-8"))
# scores 0 and 1, weights 0.26894… and 0.73105…
PROBLEM = "Q: [[1]]\nK: [[0], [1]]\nV: [[1], [2]]\nscore: dot\n"
RIGHT = "scores: [[0, 1]]\nweights: [[0.269, 0.731]]\n"
ANSWERS = {
    "Ada": RIGHT,
    "Бела": "scores: [[0, 2]]\nweights: [[0.119, 0.881]]\n",  # e^2 / (1 + e^2) = 0.88079…
    "=cmd()": "scores: [[0, 1]]\nweights: [[0.5, null]]\n",
    "Dai; 'x'": "scores: [[0, 1]]\nweights: [[0.268, 0.731]]\n",  # a unit off
}
COUNTS = {
    "Ada": [4, 0, 0, 0, 0],
    "Бела": [1, 2, 0, 1, 0],
    "=cmd()": [2, 0, 0, 1, 1],
    "Dai; 'x'": [3, 0, 1, 0, 0],
}
Rows = Callable[..., list[dict[str, str]]]


@pytest.fixture
def school(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a problem, the answers of four students, and a manifest."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problem.yaml").write_text(PROBLEM, encoding="utf-8")
    (tmp_path / "answers").mkdir()
    rows = [["student", "problem", "answers", "mail"]]
    for number, (student, text) in enumerate(ANSWERS.items()):
        (tmp_path / "answers" / f"{number}.yaml").write_text(text, encoding="utf-8")
        rows.append([student, "problem.yaml", f"answers/{number}.yaml", "@home"])
    write_manifest(rows)
    return tmp_path


def write_manifest(rows: list[list[str]], delimiter: str = ",", encoding: str = "utf-8") -> None:
    with open("manifest.csv", "w", newline="", encoding=encoding) as stream:
        csv.writer(stream, delimiter=delimiter).writerows(rows)


def add_row(*cells: str) -> None:
    with open("manifest.csv", "a", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerow(cells)


def results(*arguments: str, code: int = 1, output: str = "results.csv") -> list[dict[str, str]]:
    assert (
        run(["check", "--batch", "manifest.csv", "-o", output, "--workers", "1", *arguments])
        == code
    )
    with open(output, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.usefixtures("school")
def test_a_row_for_each_student() -> None:
    rows = results()
    # an apostrophe, so no formula
    assert [row["student"] for row in rows] == ["Ada", "Бела", "'=cmd()", "Dai; 'x'"]
    verdicts = ("right", "carried", "rounding", "wrong", "missing")
    assert [[int(row[verdict]) for verdict in verdicts] for row in rows] == list(COUNTS.values())
    assert [(row["marks"], row["of"]) for row in rows] == [
        ("4", "4"),
        ("3", "4"),
        ("2", "4"),
        ("3", "4"),
    ]
    assert [row["first_wrong"] for row in rows] == ["", "scores, t1 → c2", "weights, t1 → c1", ""]
    assert {row["mail"] for row in rows} == {"'@home"}
    assert {row["error"] for row in rows} == {""}


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_marks_rounding_and_asked_steps() -> None:
    assert [row["marks"] for row in results("--marks", "10")] == ["10", "7.5", "5", "7.5"]
    assert [row["marks"] for row in results("--lenient")] == ["4", "3", "2", "4"]
    asked = results("--steps", "weights,output")  # the output, one number, is in no answers
    assert [(row["marks"], row["of"], row["missing"]) for row in asked] == [
        ("2", "3", "1"),
        ("2", "3", "1"),
        ("0", "3", "2"),
        ("1", "3", "1"),
    ]


@pytest.mark.usefixtures("school")
def test_all_right_is_exit_code_0() -> None:
    write_manifest([["student", "problem", "answers"], ["Ada", "problem.yaml", "answers/0.yaml"]])
    assert len(results(code=0)) == 1


@pytest.mark.usefixtures("school")
def test_feedback_names_no_other_student() -> None:
    add_row("Doppel", "problem.yaml", "answers/0.yaml")
    results("--feedback", "pages")
    page = Path("pages/Doppel.md").read_text(encoding="utf-8")
    assert "These answers could not be checked: ask your teacher why." in page
    assert "Ada" not in page


@pytest.mark.usefixtures("school")
def test_feedback_tells_the_line_and_not_the_path_of_the_teacher() -> None:
    Path("answers/torn.yaml").write_text("\nweights: [[0.269, x]]\n", encoding="utf-8")
    add_row("Tom", "problem.yaml", "answers/torn.yaml")
    (row,) = (row for row in results("--feedback", "pages") if row["student"] == "Tom")
    assert "answers/torn.yaml:2:" in row["error"]
    page = Path("pages/Tom.md").read_text(encoding="utf-8")
    # Students count from 1.
    said = page.split("```")[1].splitlines()
    assert said[1:] == [
        "Line 2:",
        "weights: [[0.269, x]]",
        "                  ^",
        "Weights, row 1, column 2: x is not a number.",
        "Write a number such as 0.71, or an exact one such as 7/10, 5/sqrt(3) or",
        "e^(5/sqrt(3)); _ leaves it blank.",
    ]
    assert "answers" not in page.replace("These answers", "")


@pytest.mark.usefixtures("school")
def test_feedback_quotes_the_line_of_the_student_as_it_stands() -> None:
    Path("answers/open.yaml").write_text("weights:\n  - [0.269, 0.731\n", encoding="utf-8")
    add_row("Tom", "problem.yaml", "answers/open.yaml")
    results("--feedback", "pages")
    page = Path("pages/Tom.md").read_text(encoding="utf-8")
    assert "\\" not in page
    quoted, caret, said, _ = page.split("Line 2:\n")[1].split("\n", 3)
    assert quoted == "  - [0.269, 0.731"
    assert caret == f"{'^':>{len(quoted) + 1}}"
    assert said == '"]" is missing.'


@pytest.mark.usefixtures("school")
@pytest.mark.parametrize(
    ("begin", "what"), [(b"\xff\xd8\xff", "a picture"), (b"{\\rtf1", "an RTF file")]
)
def test_feedback_says_what_to_hand_in_for_a_file_that_is_no_text(begin: bytes, what: str) -> None:
    Path("answers/photo.jpg").write_bytes(begin)
    add_row("Greta", "problem.yaml", "answers/photo.jpg")
    results("--feedback", "pages")
    page = Path("pages/Greta.md").read_text(encoding="utf-8")
    assert f"your file is {what}, not text" in page
    assert "Hand in the numbers as plain text" in page
    assert "teacher" not in page


@pytest.mark.usefixtures("school")
def test_marks_by_hand_need_counts(capsys: pytest.CaptureFixture[str]) -> None:
    rows = results()
    rows[0] |= {"marks": "2", "of": "4", "wrong": "", "error": ""}
    with open("results.csv", "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    arguments = ["check", "--batch", "manifest.csv", "-o", "results.csv", "--resume"]
    assert run(arguments) == 3
    said = capsys.readouterr().err
    student = rows[0]["student"]
    assert f"results.csv:2:1: {student} has marks, but not all counts" in said
    assert "0 where you do not know it" in said


@pytest.mark.usefixtures("school")
def test_feedback_says_nothing_of_files_that_are_the_teachers() -> None:
    """A problem that is broken, answers that are not there, and a help for whoever types the
    command.
    """
    Path("bad.yaml").write_text("Q: [[1\n", encoding="utf-8")
    Path("answers/swapped.yaml").write_text(Path("problem.yaml").read_text(), encoding="utf-8")
    Path("answers/words.yaml").write_text("I did the scores\n", encoding="utf-8")
    add_row("Bea", "bad.yaml", "answers/words.yaml")
    add_row("Cem", "problem.yaml", "answers/none.yaml")
    add_row("Dan", "problem.yaml", "answers/swapped.yaml")
    results("--feedback", "pages")
    pages = {}
    for name in ("Bea", "Cem", "Dan"):
        pages[name] = Path(f"pages/{name}.md").read_text(encoding="utf-8")
    assert "something else than your answers is at fault" in pages["Bea"]
    assert "there is no file with them that can be read" in pages["Cem"]
    assert "This file holds a problem, not answers" in pages["Dan"]
    first_line = Path("problem.yaml").read_text(encoding="utf-8").splitlines()[0]
    pages["Dan"] = pages["Dan"].replace(first_line, "")
    for page in pages.values():
        assert not re.search(r"\.yaml|attncli|\[\[?[0-9]", page)


def test_what_is_wrong_with_a_file_is_a_row(school: Path) -> None:
    broken = school / "answers" / "broken.yaml"
    broken.write_text("weights: [[0.269, x]]\n", encoding="utf-8")
    (school / "answers" / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    (school / "bad.yaml").write_text("Q: [[1]]\n", encoding="utf-8")
    (school / "answers" / "hostile.yaml").write_text("scores: " + "[" * 30_000, encoding="utf-8")
    os.mkfifo(school / "answers" / "pipe.yaml")
    for name in ("broken", "bytes", "none", "hostile", "pipe", "0", "."):
        add_row(name, "problem.yaml", "answers/." if name == "." else f"answers/{name}.yaml")
    add_row("bad problem", "bad.yaml", "answers/broken2.yaml")
    add_row("no file", "problem.yaml")
    add_row("", "problem.yaml", "x.yaml")
    add_row("five", "problem.yaml", "y.yaml", "", "more")
    errors = {row["student"]: row["error"] for row in results()[4:]}
    assert errors["broken"] == "./answers/broken.yaml:1:19: weights[0][1]: x is not a number"
    assert "not UTF-8" in errors["bytes"]
    assert errors["none"].endswith("this file does not exist")
    assert "deep" in errors["hostile"]
    assert errors["pipe"].endswith("it is a named pipe, not a file")
    assert errors["0"] == "this file of answers is already that of Ada"
    assert errors["."].endswith("it is a folder, not a file")
    assert "bad.yaml:1:1: the keys are missing" in errors["bad problem"]
    assert errors["no file"] == "line 14 of the manifest has no answers"
    assert errors[""] == "line 15 of the manifest has no student"
    assert (
        errors["five"] == "line 16 of the manifest has more cells than the first line: "
        "put text with commas, semicolons or tabs in quotation marks"
    )


@pytest.mark.usefixtures("school")
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_manifest_of_any_spreadsheet(delimiter: str) -> None:
    name = 'Ünal, "Y";\t李\n雷'
    write_manifest(
        [["Answers ", "mail", "STUDENT", "problem"], ["a.yaml", "=1", name, "p.yaml"]],
        delimiter,
        "utf-8-sig",
    )
    (found,) = read_manifest("manifest.csv")
    assert found == Submission(name, "./p.yaml", "./a.yaml", {"mail": "=1"})


@pytest.mark.usefixtures("school")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "manifest.csv:1:1: the manifest is empty"),
        ("student,problem\n", "manifest.csv:1:1: there is no column answers"),
        ("student,student,problem,answers\n", "manifest.csv:1:1: there are two columns student"),
        ('student,problem,answers\n"a,b,c\n', "this line cannot be read"),
    ],
)
def test_a_manifest_that_cannot_be_read(
    text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("manifest.csv").write_text(text, encoding="utf-8")
    assert run(["check", "--batch", "manifest.csv"]) == 3
    assert said in capsys.readouterr().err


def test_answers_in_another_folder(school: Path) -> None:
    (school / "answers").rename(school / "returned")
    assert [row["marks"] for row in results("-d", "returned")] == ["4", "3", "2", "3"]


@pytest.mark.usefixtures("school")
def test_json_and_its_schema() -> None:
    add_row("none", "problem.yaml", "none.yaml")
    assert run(["check", "--batch", "manifest.csv", "-o", "results.json", "--workers", "1"]) == 1
    data = json.loads(Path("results.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, SCHEMA, jsonschema.Draft7Validator)
    summary = data["summary"]
    assert (summary["students"], summary["passed"], summary["not_read"]) == (5, 1, 1)
    assert summary["mean_share"] == pytest.approx((1 + 0.75 + 0.5 + 0.75) / 4)
    assert summary["median_share"] == 0.75
    assert summary["first_wrong"] == [
        {"step": "scores", "students": ["Бела"]},
        {"step": "weights", "students": ["=cmd()"]},
    ]
    assert data["students"][0]["marks"] == 4
    assert data["students"][4]["counts"] is None


@pytest.mark.usefixtures("school")
def test_several_answers_and_the_mistake_they_share(capsys: pytest.CaptureFixture[str]) -> None:
    Path("love.yaml").write_text(
        "Q: [[1, 1]]\nK: [[1, 2], [3, 4]]\nV: [[1], [2]]\n", encoding="utf-8"
    )
    for name in ("a", "b"):  # scores 3 and 7 divided by 2, and not by its root
        Path(f"{name}.yaml").write_text(
            "scores: [[3, 7]]\nscaled: [[1.5, 3.5]]\n", encoding="utf-8"
        )
    assert run(["check", "love.yaml", "a.yaml", "b.yaml", "--format", "json"]) == 1
    (made,) = json.loads(capsys.readouterr().out)["summary"]["mistakes"]
    assert made["step"] == "scaled"
    assert made["students"] == ["a", "b"]
    assert "divided by d_k, not by its root" in made["mistake"]
    for name in ("a", "b"):
        Path(f"{name}.yaml").rename(f"{name}, the student.yaml")
    assert run(["check", "love.yaml", "a, the student.yaml", "b, the student.yaml"]) == 1
    assert "a, the student; b, the student" in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("school")
@pytest.mark.parametrize("output", ["results.csv", "results.tsv", "results.json", "results.xlsx"])
def test_resume(output: str) -> None:
    if output.endswith("xlsx"):
        pytest.importorskip("xlsxwriter")
    arguments = ["check", "--batch", "manifest.csv", "-o", output, "--workers", "1", "--resume"]
    add_row("late", "problem.yaml", "answers/late.yaml")
    assert run(arguments) == 1
    before = text_of(output)
    # which is not looked at again
    Path("answers/0.yaml").write_text("scores: [[9, 9]]\n", encoding="utf-8")
    Path("answers/late.yaml").write_text(RIGHT, encoding="utf-8")
    assert run(arguments) == 1
    after = text_of(output)
    assert "this file does not exist" in before
    assert "this file does not exist" not in after
    if output.endswith("csv"):
        assert before.splitlines()[:5] == after.splitlines()[:5]
        assert after.splitlines()[5].startswith('"late",4,4,4,')


@pytest.mark.usefixtures("school")
def test_answers_that_were_blank_are_looked_at_again() -> None:
    """Not so where somebody gave marks by hand."""
    for name in ("Eve", "Flo"):
        Path(f"answers/{name}.yaml").write_text("scores: [[_, _]]\n", encoding="utf-8")
        add_row(name, "problem.yaml", f"answers/{name}.yaml")
    before = results()
    (flo,) = (row for row in before if row["student"] == "Flo")
    flo["marks"] = "1"
    with open("results.csv", "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(flo))
        writer.writeheader()
        writer.writerows(before)
    for name in ("Eve", "Flo"):
        Path(f"answers/{name}.yaml").write_text(RIGHT, encoding="utf-8")
    marks = {row["student"]: row["marks"] for row in results("--resume")}
    assert (marks["Eve"], marks["Flo"]) == ("4", "1")


def text_of(output: str) -> str:
    """What stands in the results; of a workbook, its cells."""
    if output.endswith(".xlsx"):
        return "\n".join(map(str, cells_of(output).items()))
    return Path(output).read_text(encoding="utf-8")


def cells_of(workbook: str) -> dict[tuple[str, str], Any]:
    """The sheets and addresses of the cells, with texts and numbers, as the XML of the file has
    them.
    """
    main = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    found: dict[tuple[str, str], Any] = {}
    with ZipFile(workbook) as archive:
        names = [
            each.attrib["name"]
            for each in ElementTree.fromstring(archive.read("xl/workbook.xml")).iter(f"{main}sheet")
        ]
        shared = ElementTree.fromstring(archive.read("xl/sharedStrings.xml")).iter(f"{main}si")
        texts = ["".join(each.itertext()) for each in shared]
        for number, name in enumerate(names, 1):
            for cell in ElementTree.fromstring(
                archive.read(f"xl/worksheets/sheet{number}.xml")
            ).iter(f"{main}c"):
                assert cell.find(f"{main}f") is None  # a formula
                if value := cell.findtext(f"{main}v"):
                    found[name, cell.attrib["r"]] = (
                        texts[int(value)] if cell.get("t") == "s" else float(value)
                    )
    return found


@pytest.mark.usefixtures("school")
def test_a_workbook() -> None:
    """Its rows are those of results.csv, but for the apostrophes; its second sheet sums up."""
    pytest.importorskip("xlsxwriter")
    add_row("none", "problem.yaml", "none.yaml", "007")
    rows = results()
    assert run(["check", "--batch", "manifest.csv", "-o", "results.xlsx", "--workers", "1"]) == 1
    cells = cells_of("results.xlsx")
    for down, row in enumerate(rows, 2):
        for letter, (name, text) in zip("ABCDEFGHIJKLMNOP", row.items(), strict=True):
            assert cells["results", f"{letter}1"] == name
            plain = text.removeprefix("'") if text.startswith(("'=", "'@")) else text
            numbers = name in ("marks", "of", "right", "carried", "rounding", "wrong", "missing")
            assert cells.get(("results", f"{letter}{down}"), "") == (
                float(plain) if numbers and plain else plain
            )
    assert cells["results", "A4"] == "=cmd()"
    assert cells["results", "P6"] == "007"
    summary = [value for (sheet, _), value in cells.items() if sheet == "summary"]
    assert summary[:8] == [
        "solutions",
        5,
        "no error",
        1,
        "errors or blanks",
        3,
        "could not be checked",
        1,
    ]
    assert summary[8:23] == [
        *("marks", "in %", "of 4"),
        *("average", 75, 3),
        *("median", 75, 3),
        *("lowest", 50, 2),
        *("highest", 100, 4),
    ]
    assert summary[23:31] == [
        *("what to teach again", "students", "who", "steps"),
        *("a slip", 1, "Бела", "scores"),
    ]
    assert summary[31:40] == [
        "first wrong number in",
        "students",
        "who",
        "scores",
        1,
        "Бела",
        "weights",
        1,
        "=cmd()",
    ]
    assert summary[40:] == [
        *("could not be checked", "why"),
        *("none", "cannot read ./none.yaml: this file does not exist"),
    ]
    with ZipFile("results.xlsx") as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    assert '<autoFilter ref="A1:P6"/>' in sheet
    assert 'xSplit="1" ySplit="1"' in sheet
    assert 'state="frozen"' in sheet


def test_long_texts_and_escapes_in_a_workbook(school: Path) -> None:
    """Excel takes 32,767 characters in a cell, and _x0041_ for A."""
    pytest.importorskip("xlsxwriter")
    name = "Eve _x0041_ \x07\u202e"
    write_manifest(
        [
            ["student", "problem", "answers", "note"],
            [name, "problem.yaml", "answers/0.yaml", "é" * 40_000],
        ]
    )
    arguments = ["check", "--batch", "manifest.csv", "-o", "results.xlsx", "--workers", "1"]
    assert run(arguments) == 0
    cells = cells_of("results.xlsx")
    assert cells["results", "A2"] == "Eve _x005F_x0041_ \\x07\\u202e"
    assert cells["results", "P2"].endswith("(40,000 characters)")
    # which is not looked at again
    (school / "answers" / "0.yaml").write_text("scores: [[9, 9]]\n", encoding="utf-8")
    assert run([*arguments, "--resume"]) == 0
    assert cells_of("results.xlsx")["results", "A2"] == cells["results", "A2"]


@pytest.mark.usefixtures("school")
def test_a_workbook_that_cannot_be_written_or_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("xlsxwriter")
    line = ["check", "--batch", "manifest.csv", "-o", "results.xlsx", "--workers", "1"]
    for data, said in {
        b"student,marks\n": "results.xlsx is not a readable .xlsx file: it is not an archive",
        b"PK\x03\x04 cut off": "results.xlsx is not a readable .xlsx file",
    }.items():
        Path("results.xlsx").write_bytes(data)
        assert run([*line, "--resume"]) == 3
        assert said in capsys.readouterr().err
        assert Path("results.xlsx").read_bytes() == data
    assert run(["compute", "problem.yaml", "-o", "other.xlsx"]) == 0
    assert run(["check", "--batch", "manifest.csv", "-o", "other.xlsx", "--resume"]) == 3
    assert "these are no results of a class" in capsys.readouterr().err
    monkeypatch.setattr("attncli.render.xlsx.find_spec", lambda name: None)
    before = Path("results.xlsx").read_bytes()
    assert run(line) == 5
    assert "pip install 'attncli[xlsx]'" in capsys.readouterr().err
    assert Path("results.xlsx").read_bytes() == before


@pytest.mark.usefixtures("school")
def test_resume_with_other_marks(capsys: pytest.CaptureFixture[str]) -> None:
    results("--marks", "10")
    before = Path("results.csv").read_text(encoding="utf-8")
    results("--marks", "20", "--resume", code=2)
    assert (
        "--marks 20 cannot be used: the results in results.csv are of 10 marks"
        in capsys.readouterr().err
    )
    assert Path("results.csv").read_text(encoding="utf-8") == before
    results("--marks", "10", "--resume")


@pytest.mark.usefixtures("school")
@pytest.mark.parametrize("text", ["a,b\n1,2\n", "", "student,problem\n"])
def test_resume_with_what_is_no_results(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("results.csv").write_text(text, encoding="utf-8")
    code = run(
        ["check", "--batch", "manifest.csv", "-o", "results.csv", "--resume", "--workers", "1"]
    )
    assert code == 3
    assert "these are no results of a class" in capsys.readouterr().err
    assert Path("results.csv").read_text(encoding="utf-8") == text


@pytest.mark.usefixtures("school")
def test_feedback() -> None:
    add_row("../up/none", "problem.yaml", "none.yaml")
    results("--feedback", "pages", "--marks", "10")
    assert sorted(os.listdir("pages")) == sorted(
        ["Ada.md", "Бела.md", "_cmd__.md", "Dai_ 'x'.md", "_up_none.md"]
    )
    page = Path("pages/Бела.md").read_text(encoding="utf-8")
    assert page.startswith("# Бела: ")
    assert "7.5 of 10 with follow-through" in page
    assert "there is no file with them" in Path("pages/_up_none.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("school")
@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "xlsx"])
def test_results_say_which_page_is_whose(suffix: str) -> None:
    """Also after a run that goes on from them, for a mail merge."""
    pytest.importorskip("xlsxwriter" if suffix == "xlsx" else "csv")
    output = f"results.{suffix}"
    line = ["check", "--batch", "manifest.csv", "-o", output, "--workers", "1"]
    pages = {
        "Ada": "to/mail/Ada.md",
        "Бела": "to/mail/Бела.md",
        "=cmd()": "to/mail/_cmd__.md",
        "Dai; 'x'": "to/mail/Dai_ 'x'.md",
    }
    assert run([*line, "--feedback", "to/mail"]) == 1
    assert {row.student: row.feedback for row in read_results(output, lenient=False)} == pages
    assert all(os.path.isfile(page) for page in pages.values())
    add_row("Eve", "problem.yaml", "answers/4.yaml", "e@x.org")
    Path("answers/4.yaml").write_text(RIGHT, encoding="utf-8")
    assert run([*line, "--resume"]) == 1
    rows = read_results(output, lenient=False)
    assert {row.student: row.feedback for row in rows} == {**pages, "Eve": ""}
    assert {row.more["mail"] for row in rows} == {"@home", "e@x.org"}


@pytest.mark.usefixtures("school")
def test_without_pages_there_is_no_column_of_them() -> None:
    assert "feedback" not in results()[0]


@pytest.mark.usefixtures("school")
def test_a_column_of_the_manifest_may_be_called_feedback() -> None:
    write_manifest(
        [
            ["student", "problem", "answers", "feedback"],
            ["Ada", "problem.yaml", "answers/0.yaml", "by mail"],
        ]
    )
    (row,) = results(code=0)
    assert row["feedback (manifest)"] == "by mail"
    (row,) = results("--feedback", "pages", code=0)
    assert (row["feedback"], row["feedback (manifest)"]) == ("pages/Ada.md", "by mail")


def test_a_page_that_cannot_be_written_has_no_row(
    school: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So --resume goes on with it, and the error says how many pages are there."""
    pages = ["--feedback", "pages", "-o", "results.csv", "--workers", "1"]
    line = ["check", "--batch", "manifest.csv", *pages]
    (school / "pages").mkdir()
    in_the_way = school / "pages" / "_cmd__.md"
    in_the_way.mkdir()
    assert run(line) == 4
    err = capsys.readouterr().err
    made = sorted(page.stem for page in (school / "pages").glob("*.md") if page.is_file())
    assert made
    assert re.search(rf"; {len(made)} pages? of feedback in pages can be used\n", err)
    rows = Path("results.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert len(rows) == len(made)
    in_the_way.rmdir()
    assert run([*line, "--resume"]) == 1
    assert len(Path("results.csv").read_text(encoding="utf-8").splitlines()) == 5
    assert len(os.listdir("pages")) == 4


def fake_tex(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """The only program that there is: a pdflatex which does this."""
    program = folder / "pdflatex"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(
        "attncli.render.pdf.shutil.which", lambda name: str(program) if name == "pdflatex" else None
    )


@pytest.mark.long
def test_feedback_as_pdf(
    school: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program gets a whole document, and may run nothing; what it makes is the page."""
    fake_tex(school, monkeypatch, 'echo "$@" > page.pdf; cat page.tex >> page.pdf')
    results("--feedback", "pages", "--feedback-format", "pdf")
    assert sorted(os.listdir("pages")) == sorted(
        ["Ada.pdf", "Бела.pdf", "_cmd__.pdf", "Dai_ 'x'.pdf"]
    )
    # A name that TeX has no letters for stands in that of the file, and the page has its number.
    warning = capsys.readouterr().err
    assert warning.count("\n") == 1
    assert "1 page of feedback (Бела) has the number" in warning
    assert "\\LARGE\\bfseries student 2: " in Path("pages/Бела.pdf").read_text(encoding="utf-8")
    (school / "problem.yaml").write_text(f"{PROBLEM}context_tokens: [王, b]\n", encoding="utf-8")
    results("--feedback", "pages", "--feedback-format", "pdf")
    warning = capsys.readouterr().err
    assert "codes, such as U+738B, in 4 pages of feedback (Ada, Бела, " in warning
    assert "--feedback-format html shows all letters" in warning
    results("--feedback", "pages", "--feedback-format", "pdf", "-q")
    results("--feedback", "pages", "--feedback-format", "html")
    assert capsys.readouterr().err == ""
    options, start, *_ = Path("pages/Ada.pdf").read_text(encoding="utf-8").splitlines()
    assert options == "-interaction=nonstopmode -halt-on-error -no-shell-escape page.tex"
    assert start == "\\documentclass{article}"


@pytest.mark.long
def test_pages_that_tex_cannot_make(
    school: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others are there, and so are the results; an old page stays."""
    fake_tex(
        school,
        monkeypatch,
        "grep -q Ada page.tex && { echo '! LaTeX Error: no font.'; exit 1; }; cp page.tex page.pdf",
    )
    Path("pages").mkdir()
    Path("pages/Ada.pdf").write_text("old", encoding="utf-8")
    line = [
        "check",
        "--batch",
        "manifest.csv",
        "--workers",
        "1",
        "--feedback",
        "pages",
        "--feedback-format",
        "pdf",
    ]
    assert run([*line, "-o", "results.csv"]) == 4
    err = capsys.readouterr().err
    assert (
        "1 page of feedback could not be made (Ada): pdflatex made no PDF: LaTeX Error: no font."
        in err
    )
    assert "help: write the page as .tex, and run pdflatex on it" in err
    assert len(os.listdir("pages")) == 4
    assert Path("pages/Ada.pdf").read_text(encoding="utf-8") == "old"
    assert len(Path("results.csv").read_text(encoding="utf-8").splitlines()) == 5
    fake_tex(school, monkeypatch, "exec sleep 60")
    monkeypatch.setattr("attncli.render.pdf.SECONDS_FOR_A_PAGE", 0.1)
    assert run(line) == 4
    assert "pdflatex took more than 0.1 s" in capsys.readouterr().err
    monkeypatch.setattr("attncli.render.pdf.shutil.which", lambda name: None)
    assert run([*line[:-4], "--workers", "1", "--feedback", "new", "--feedback-format", "pdf"]) == 5
    err = capsys.readouterr().err
    assert "a .pdf file needs TeX, and none is installed" in err
    assert "apt install texlive-latex-recommended" in err
    assert not Path("new").exists()


@pytest.mark.tex
@pytest.mark.sampled(1)
@pytest.mark.parametrize("engine", ["pdflatex", "xelatex", "lualatex"])
def test_a_pdf_by_each_engine(engine: str, school: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a student is called is shown and not obeyed."""
    program = shutil.which(engine)
    if program is None or shutil.which("pdftotext") is None:
        pytest.skip(f"needs {engine} and pdftotext")
    monkeypatch.setattr(
        "attncli.render.pdf.shutil.which", lambda name: program if name == engine else None
    )
    write_manifest(
        [
            ["student", "problem", "answers"],
            ["Zoë \\input{problem.yaml} ễậ", "problem.yaml", "answers/1.yaml"],
        ]
    )
    results("--feedback", "pages", "--feedback-format", "pdf")
    (page,) = Path("pages").iterdir()
    assert page.read_bytes().startswith(b"%PDF-")
    said = subprocess.run(
        ["pdftotext", str(page), "-"], capture_output=True, check=True
    ).stdout.decode()
    assert r"\input{problem.yaml}" in said
    assert "answers" not in said
    assert ": checked" in said
    assert "1 right, 2 carried and 1 wrong" in " ".join(said.split())


@pytest.mark.usefixtures("school")
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            ["--batch", "manifest.csv", "problem.yaml"],
            2,
            "--batch cannot be used with problem.yaml",
        ),
        (
            ["problem.yaml", "answers/0.yaml", "-d", "answers"],
            2,
            "-d cannot be used without --batch",
        ),
        (["problem.yaml", "answers/0.yaml", "-", "answers/1.yaml"], 2, "- is one solution"),
        (
            ["--batch", "manifest.csv", "-o", "answers/0.yaml", "--format", "json"],
            2,
            "would write over ./answers/0",
        ),
        (["--batch", "manifest.csv", "-o", "manifest.csv"], 2, "would write over the manifest"),
        (["--batch", "manifest.csv", "-o", "results.ods"], 2, "does not write .ods files"),
        (["--batch", "manifest.csv", "--resume"], 2, "--resume needs results that can be read"),
        (["--batch", "manifest.csv", "--steps", "scorse"], 2, "scorse"),
        (["--batch", "none.csv"], 4, "cannot read none.csv"),
        (["--batch", "manifest.csv", "-d", "anwsers"], 4, "-d anwsers: there is no such folder"),
        (
            ["--batch", "manifest.csv", "--feedback", "problem.yaml"],
            4,
            "this is a file, not a folder",
        ),
        (["none.yaml", "answers/0.yaml", "answers/1.yaml"], 4, "cannot read none.yaml"),
        (["problem.yaml"], 2, "ANSWERS is missing"),
        ([], 2, "PROBLEM is missing"),
    ],
)
def test_wrong_use(
    arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", *arguments]) == code
    out, err = capsys.readouterr()
    assert said in err
    assert out == ""


@pytest.mark.usefixtures("school")
def test_python_with_any_executor() -> None:
    jobs: list[Any] = [
        (name, "problem.yaml", f"answers/{number}.yaml") for number, name in enumerate(ANSWERS)
    ]
    jobs.append(("dict", attncli.load("problem.yaml"), {"scores": [[0, 1]]}))
    alone = attncli.check_many(jobs)
    assert [[*row.counts.values()] for row in alone] == [*COUNTS.values(), [2, 0, 0, 0, 0]]
    with ThreadPoolExecutor(2) as executor:
        assert attncli.check_many(jobs, executor) == alone


@pytest.mark.usefixtures("school")
def test_an_executor_that_loses_a_job() -> None:
    class Loses(ThreadPoolExecutor):
        def submit(self, *arguments: Any, **named: Any) -> Future[Any]:  # type: ignore[override]
            lost: Future[Any] = Future()
            lost.set_exception(ConnectionError("the worker is gone"))
            return lost

    with Loses() as executor:
        (row,) = attncli.check_many([("Ada", "problem.yaml", "answers/0.yaml")], executor)
    assert row.error == "ConnectionError: the worker is gone"


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_processes_give_the_same() -> None:
    submissions = read_manifest("manifest.csv") * 2
    found = dict(mark_in_processes(submissions, Settings(), 2, pytest.fail))
    assert found == dict(mark_all(submissions, Settings()))


def _large_class(school: Path, students: int = 200) -> None:
    """So many students; among their files are broken, missing, huge and hostile ones."""
    rows = [["student", "problem", "answers"]]
    odd = {
        3: "weights: [[x, 1]]\n",
        5: "",
        7: "[" * 50_000,
        11: "a: &a [1]\nb: [*a, *a]\n",
        13: "scores: 1\n" * 10,
        17: "scores: [[" + "9" * 1_000_000 + ", 1]]\n",
        19: "\x00",
        23: "scores: [" + "[1, 2], " * 20_000 + "]\n",
    }
    for number in range(students):
        text = odd.get(number, [*ANSWERS.values()][number % 4])
        if number != 29:
            (school / "answers" / f"s{number}.yaml").write_text(text, encoding="utf-8")
        rows.append([f"student {number}", "problem.yaml", f"answers/s{number}.yaml"])
    write_manifest(rows)


@pytest.mark.slow
def test_200_students_with_hostile_files(school: Path) -> None:
    _large_class(school)
    rows = results("--workers", "2")
    assert len(rows) == 200
    assert {number for number, row in enumerate(rows) if row["error"]} == {
        3,
        5,
        7,
        11,
        13,
        17,
        19,
        23,
        29,
    }
    for number in (0, 1, 2, 3, 17, 29):  # the same alone
        code = run(["check", "problem.yaml", f"answers/s{number}.yaml"])
        assert (code == 0) == (number == 0)
        assert (code in (3, 4)) == bool(rows[number]["error"])


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["one worker", signal.SIGINT, signal.SIGTERM])
def test_what_is_done_is_kept(school: Path, ending: Any) -> None:
    _large_class(school, 30)
    command = [
        sys.executable,
        "-m",
        "attncli",
        "check",
        "--batch",
        "manifest.csv",
        "-o",
        "results.csv",
        "--workers",
        "2",
    ]
    pages = ["--feedback", "pages"]
    process = subprocess.Popen([*command, *pages], start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(list(Path("pages").glob("*.md"))) < 5:
        time.sleep(0.05)
    if ending == "one worker":
        children = (
            Path(f"/proc/{process.pid}/task/{process.pid}/children")
            .read_text(encoding="ascii")
            .split()
        )
        workers = [
            each for each in children if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()
        ]
        os.kill(int(workers[0]), signal.SIGKILL)
        assert process.wait(120) == 1
        assert len(results("--resume")) == 30
        return
    os.killpg(process.pid, ending)
    assert process.wait(60) == (130 if ending == signal.SIGINT else -signal.SIGTERM)
    assert not Path("results.csv").exists()
    assert 5 <= len(list(kept_rows("results.csv"))) < 30
    assert len(results("--resume")) == 30


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # what Dask warns of is its own
def test_a_scheduler_gives_the_same(school: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The workers are in another folder, where the files are not."""
    distributed = pytest.importorskip("distributed")
    assert run(["check", "--batch", "manifest.csv", "-o", "alone.csv"]) == 1
    (school / "elsewhere").mkdir()
    os.chdir(school / "elsewhere")
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        os.chdir(school)
        line = [
            "check",
            "--batch",
            "manifest.csv",
            "-o",
            "dask.csv",
            "--scheduler",
            cluster.scheduler_address,
        ]
        assert run(line) == 1
    assert Path("dask.csv").read_bytes() == Path("alone.csv").read_bytes()


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_a_scheduler_that_cannot_be_reached(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ["check", "--batch", "manifest.csv", "--scheduler", "nonsense://here"]
    assert run([*line, "--workers", "2"]) == 2
    assert "--scheduler cannot be used with --workers" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert run(line) == 5
    assert "pip install 'attncli[dask]'" in capsys.readouterr().err
    monkeypatch.delitem(sys.modules, "distributed")
    pytest.importorskip("distributed")
    assert run(line) == 4
    assert "cannot reach the scheduler nonsense://here" in capsys.readouterr().err


@pytest.mark.long
def test_a_solution_that_takes_too_long_is_a_row(
    school: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(problem: object, settings: Settings) -> None:
        while problem == "slow.yaml":
            pass

    monkeypatch.setattr("attncli.features.check.many.marking.problem_of", never)
    jobs = [Submission("Ada", "slow.yaml", {}), Submission("Ben", "fast.yaml", {})]
    with ThreadPoolExecutor(2) as threads:  # and not only where signals arrive
        for executor in (None, threads):
            rows = dict(mark_all(jobs, Settings(seconds=0.2), executor))
            assert rows[0].error == "this took more than 0.2 s"
            assert "took" not in rows[1].error
    # the end of the time and that of the work fall together: no exception comes afterwards
    for _ in range(200):
        with suppress(OutOfTimeError):
            within(0.002, lambda: time.sleep(0.002))
    time.sleep(0.01)


@pytest.mark.usefixtures("school")
def test_classes_of_none_and_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    write_manifest([["student", "problem", "answers"]])
    assert run(["check", "--batch", "manifest.csv"]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == ["", "  There are no solutions."]
    add_row("Ada", "problem.yaml", "answers/0.yaml")
    assert run(["check", "--batch", "manifest.csv"]) == 0
    assert "  Marks: 4 of 4 (100 %).\n" in capsys.readouterr().out


def test_a_blank_sheet_is_counted_apart(school: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (school / "problem.yaml").write_text(f"title: 'Attention: Eve'\n{PROBLEM}", encoding="utf-8")
    (school / "Eve.yaml").write_text("scores: [[null, null]]\n", encoding="utf-8")
    (school / "Ada.yaml").write_text(RIGHT, encoding="utf-8")
    assert run(["check", "problem.yaml", "Ada.yaml", "Eve.yaml", "--feedback", "pages"]) == 1
    assert "1 has no error and 1 is blank." in capsys.readouterr().out
    titles = {
        path.name: path.read_text(encoding="utf-8").splitlines()[0]
        for path in Path("pages").iterdir()
    }
    assert titles == {
        "Ada.md": "# Attention: Eve – Ada: checked",
        "Eve.md": "# Attention: Eve: checked",
    }


@pytest.mark.long
def test_a_problem_goes_to_other_processes(school: Path) -> None:
    problem = attncli.load("problem.yaml")
    again = pickle.loads(pickle.dumps(problem))
    assert not again.given["Q"].value.flags.writeable
    assert again.given["K"].written.tolist() == [["0"], ["1"]]
    jobs = [(str(number), problem, f"answers/{number}.yaml") for number in range(4)]
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        assert attncli.check_many(jobs, executor) == attncli.check_many(jobs)


@pytest.mark.slow
@pytest.mark.usefixtures("school")
@pytest.mark.filterwarnings("default")  # what Dask warns of is its own
def test_dask_gives_the_same_though_a_worker_is_killed() -> None:
    distributed = pytest.importorskip("distributed")
    jobs = [(str(number), "problem.yaml", f"answers/{number % 4}.yaml") for number in range(60)]
    settings = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": None,
        "protocol": "tcp://",
    }
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        rows = attncli.check_many(jobs, client.get_executor())
    assert rows == attncli.check_many(jobs)


def _certificate(name: str) -> dict[str, str]:
    """A certificate that signs itself, so that one file is the authority, too; and its key."""
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "1",
            "-subj",
            f"/CN={name}",
            "-keyout",
            f"{name}-key.pem",
            "-out",
            f"{name}.pem",
        ],
        check=True,
        capture_output=True,
    )
    return {
        "cert": str(Path(f"{name}.pem").resolve()),
        "key": str(Path(f"{name}-key.pem").resolve()),
    }


def _configuration(folder: str, certificate: dict[str, str]) -> dict[str, str]:
    """The environment of programs that know this certificate alone."""
    tls = {
        "ca-file": certificate["cert"],
        **dict.fromkeys(("scheduler", "worker", "client"), certificate),
    }
    Path(folder).mkdir()
    written = {"distributed": {"comm": {"require-encryption": True, "tls": tls}}}
    Path(folder, "tls.yaml").write_text(json.dumps(written), encoding="utf-8")
    return {
        **os.environ,
        "DASK_CONFIG": str(Path(folder).resolve()),
        "PYTHONPATH": str(Path(__file__).parents[4]),
    }


@pytest.mark.slow
@pytest.mark.usefixtures("school")
def test_a_cluster_over_tls() -> None:
    """As the documentation says: a scheduler, two workers and attncli, of which each shows its
    certificate.
    """
    pytest.importorskip("distributed")
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    class_, strangers = (
        _configuration(f"of-{name}", _certificate(name)) for name in ("class", "stranger")
    )
    alone = results(output="alone.csv")

    def check(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        line = [
            "-m",
            "attncli",
            "check",
            "--batch",
            "manifest.csv",
            "-o",
            "results.csv",
            "--scheduler",
            address,
        ]
        return subprocess.run(
            [sys.executable, *line], env=environment, capture_output=True, text=True, timeout=120
        )

    with ExitStack() as cluster:

        def start(*arguments: str) -> None:
            with Path("cluster.log").open("a", encoding="utf-8") as log:
                line = [sys.executable, "-m", "dask", *arguments]
                process = subprocess.Popen(line, env=class_, stdout=log, stderr=log)
            cluster.callback(process.wait)
            cluster.callback(process.terminate)

        start(
            "scheduler",
            "--protocol",
            "tls",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            "scheduler.json",
        )
        address = _once_there(Path("scheduler.json"))["address"]
        assert address.startswith("tls://")
        start("worker", address, "--nthreads", "1", "--nworkers", "2", "--no-dashboard")
        refused = check(strangers)
        assert (refused.returncode, Path("results.csv").exists()) == (4, False)
        assert f"cannot reach the scheduler {address}" in refused.stderr
        done = check(class_)
        assert done.returncode == 1, done.stderr
    with open("results.csv", newline="", encoding="utf-8") as stream:
        assert list(csv.DictReader(stream)) == alone


def _once_there(file: Path) -> Any:
    """What is in a file of JSON that another program is about to write."""
    for _ in range(600):
        with suppress(OSError, ValueError):
            return json.loads(file.read_text(encoding="utf-8"))
        time.sleep(0.1)
    raise TimeoutError(file)


@pytest.mark.usefixtures("school")
def test_a_file_of_another_ending_stands_in_for_a_blank_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The template of a set stays blank where a student hands in a text beside it."""
    blank = '# Answers to "1": replace each _\n\nscores: [[_, _]]  # t1\nweights:\n  - [_, null]\n'
    right = "scores = [[0, 1]]\nweights = [[0.269, 0.731]]\n"
    files = {
        "blank.yaml": blank,
        "blank.txt": right,
        "blank.yaml~": RIGHT,
        "blank.bak": RIGHT,
        "called.yaml": f"name: Cleo Dietz\n{blank}",
        "called.txt": right,
        "lacking.json": '{"scores": [[0, 1]]}',
        "several.yaml": blank,
        "several.md": right,
        "several.txt": right,
        "begun.yaml": "scores: [[0, _]]\n",
        "begun.txt": right,
        "alone.yaml": blank,
        "alone.yml": blank,
        # This is the file of another student.
        "named.yaml": blank,
        "named.txt": "scores = [[0, 2]]\n",
    }
    for name, text in files.items():
        Path("answers", name).write_text(text, encoding="utf-8")
    students = ["blank", "called", "lacking", "several", "begun", "alone", "named"]
    for student in students:
        add_row(student, "problem.yaml", f"answers/{student}.yaml")
    add_row("neighbour", "problem.yaml", "answers/named.txt")
    rows = {row["student"]: row for row in results()}
    found = {student: (rows[student]["answers"], rows[student]["marks"]) for student in students}
    assert found == {
        "blank": ("./answers/blank.txt", "4"),
        "called": ("./answers/called.txt", "4"),
        "lacking": ("./answers/lacking.json", "2"),
        "several": ("./answers/several.yaml", ""),
        "begun": ("./answers/begun.yaml", "1"),
        "alone": ("./answers/alone.yaml", "0"),
        "named": ("./answers/named.yaml", "0"),
    }
    assert "several files stand beside it: several.md and several.txt" in rows["several"]["error"]
    warning = capsys.readouterr().err
    assert "the answers of 3 students are taken from files beside" in warning
    assert "blank.txt, called.txt and lacking.json" in warning


@pytest.mark.usefixtures("school")
def test_answers_of_nobody_are_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    """Each with the student whose answers it may have, if these are blank or not there."""
    blank = "scores: [[_, _]]\n"
    files = {
        "05-eve-adams.yaml": blank,
        "05-eve-adam.yaml": RIGHT,
        "06-flo-berg (1).yaml": RIGHT,
        "IMG_2041.jpg": RIGHT,
        # Nobody filled this one in.
        "template.yaml": blank,
    }
    for name, text in files.items():
        Path("answers", name).write_text(text, encoding="utf-8")
    add_row("Eve", "problem.yaml", "answers/05-eve-adams.yaml")
    add_row("Flo", "problem.yaml", "answers/06-flo-berg.yaml")
    results()
    warning = " ".join(capsys.readouterr().err.split())
    assert (
        "3 files among the answers belong to no student of the manifest: 05-eve-adam.yaml (did you"
        " mean 05-eve-adams.yaml?), 06-flo-berg (1).yaml (did you mean 06-flo-berg.yaml?) and"
        " IMG_2041.jpg" in warning
    )


@pytest.mark.usefixtures("school")
@pytest.mark.parametrize("ending", ["txt", "md", "html"])
def test_the_page_of_a_class_names_the_answers_of_nobody(ending: str) -> None:
    """Who reads it tomorrow has no warning any more. Of an earlier run, it does not name itself."""
    Path("answers/05-eve-adam.yaml").write_text(RIGHT, encoding="utf-8")
    Path("answers/IMG_2041.jpg").write_text(RIGHT, encoding="utf-8")
    add_row("Eve", "problem.yaml", "answers/05-eve-adams.yaml")
    page = Path(f"answers/class.{ending}")
    for _ in range(2):
        run(["check", "--batch", "manifest.csv", "-o", str(page)])
        _, end = page.read_text(encoding="utf-8").split("Files of nobody", 1)
        said = " ".join(unescape(re.sub("<[^>]*>|\\\\", "", end)).split())
        assert "2 files among the answers belong to no student of the manifest." in said
        assert "05-eve-adam.yaml (did you mean 05-eve-adams.yaml?)" in said
        assert "IMG_2041.jpg" in said
        assert "class." not in said


@pytest.mark.usefixtures("school")
def test_a_class_whose_files_are_all_of_somebody_has_no_section_for_them() -> None:
    run(["check", "--batch", "manifest.csv", "-o", "class.txt"])
    assert "nobody" not in Path("class.txt").read_text(encoding="utf-8")


@pytest.mark.usefixtures("school")
def test_results_name_the_answers_of_nobody() -> None:
    Path("answers/IMG_2041.jpg").write_text(RIGHT, encoding="utf-8")
    run(["check", "--batch", "manifest.csv", "-o", "class.json"])
    summary = json.loads(Path("class.json").read_bytes())["summary"]
    assert summary["files_of_nobody"] == [{"file": "IMG_2041.jpg", "perhaps": None}]


@pytest.mark.usefixtures("school")
def test_a_class_has_one_marking(capsys: pytest.CaptureFixture[str]) -> None:
    """A marking that is changed after the results would leave two scales in them."""
    marking = Path("marking.yaml")
    text = "marks: 20\nsteps: {scores: 10, weights: 10}\nmistake: 2\n"
    marking.write_text(text, encoding="utf-8")
    os.utime(marking, (0, 0))
    results()
    assert len(results("--resume")) == len(ANSWERS)
    assert capsys.readouterr().err == ""

    marking.write_text(text.replace("mistake: 2", "mistake: 1"), encoding="utf-8")
    later = os.path.getmtime("results.csv") + 1
    os.utime(marking, (later, later))
    line = ["check", "--batch", "manifest.csv", "-o", "results.csv"]
    assert run([*line, "--resume"]) == 2
    said = "--resume cannot be used: marking.yaml was changed after results.csv was written"
    assert said in capsys.readouterr().err

    # Of other marks it is, whenever it was written.
    other = "marks: 10\nsteps: {scores: 5, weights: 5}\nmistake: 1\n"
    marking.write_text(other, encoding="utf-8")
    os.utime(marking, (0, 0))
    assert run([*line, "--resume"]) == 2
    said = "marking.yaml of 10 marks cannot be used: the results in results.csv are of 20 marks"
    assert said in capsys.readouterr().err
    assert {row["of"] for row in results()} == {"10"}


@pytest.mark.usefixtures("school")
@pytest.mark.parametrize(
    ("step", "help"), [("weight", "did you mean weights?"), ("masked", "its steps are K_T, scores")]
)
def test_a_marking_of_a_step_that_no_problem_has_is_one_error(
    step: str, help: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"marks: 20\nsteps: {{scores: 10, {step}: 10}}\nmistake: 2\n"
    Path("marking.yaml").write_text(text, encoding="utf-8")
    assert run(["check", "--batch", "manifest.csv", "-o", "r.csv", "--feedback", "pages"]) == 3
    said = capsys.readouterr().err
    assert said.startswith(
        f"attncli: error: marking.yaml:2:21: steps: this problem has no step {step}"
    )
    assert f"help: {help}" in said
    assert not Path("r.csv").exists()
    assert not Path("pages").exists()


@pytest.mark.usefixtures("school")
def test_a_marking_of_a_step_that_some_problems_have(capsys: pytest.CaptureFixture[str]) -> None:
    Path("masked.yaml").write_text(f"{PROBLEM}mask: causal\n", encoding="utf-8")
    add_row("Eve", "masked.yaml", "answers/eve.yaml")
    Path("answers/eve.yaml").write_text(RIGHT, encoding="utf-8")
    text = "marks: 20\nsteps: {scores: 10, masked: 10}\nmistake: 2\n"
    Path("marking.yaml").write_text(text, encoding="utf-8")
    # Of Eve the scores are right, 10 marks, and the mask was forgotten, which costs 2.
    *others, eve = results()
    assert {row["error"][-35:] for row in others} == {
        "steps: this problem has no step masked"[-35:]
    }
    assert (eve["marks"], eve["error"]) == ("8", "")
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("school")
def test_a_folder_in_the_place_of_a_file_is_told_what_to_write(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["check", "--batch", "."]) == 4
    inside = os.path.join(".", "manifest.csv")
    assert f"help: write --batch {inside}" in capsys.readouterr().err
    assert run(["check", "--batch", "answers"]) == 4
    assert "help: name a file" in capsys.readouterr().err
    line = ["check", "--batch", "manifest.csv", "-o", "r.csv", "--feedback", "./r.csv"]
    assert run(line) == 2
    said = capsys.readouterr().err
    assert "-o and --feedback both name r.csv" in said
    assert "help: name a folder after --feedback" in said
    assert not Path("r.csv").exists()


@pytest.mark.usefixtures("school")
def test_results_say_why_marks_are_lost() -> None:
    """Of 10 marks for two weights, one that is missing loses 5; a slip costs half of a mistake."""
    text = "marks: 20\nsteps: {scores: 10, weights: 10}\nmistake: 2\n"
    Path("marking.yaml").write_text(text, encoding="utf-8")
    rows = results()
    lost = {row["student"]: row["taken_off"].split(" | ") for row in rows}
    assert lost["Ada"] == [""]
    assert "5: weights: 1 number is missing" in lost["'=cmd()"]
    for row in rows:
        parts = [float(each.partition(":")[0]) for each in lost[row["student"]] if each]
        assert 20 - sum(parts) == float(row["marks"])
    assert results("--resume") == rows
    as_data = results("-o", "results.json", output="results.csv")
    assert as_data == rows
    data = json.loads(Path("results.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, SCHEMA, jsonschema.Draft7Validator)
    taken = [each["marks"] for each in data["students"][2]["taken_off"]]
    assert 20 - sum(taken) == data["students"][2]["marks"]


@pytest.mark.usefixtures("school")
def test_a_file_of_another_ending_takes_the_row_of_the_blank_one() -> None:
    Path("answers/eve.yaml").write_text("scores: [[_, _]]\n", encoding="utf-8")
    add_row("Eve", "problem.yaml", "answers/eve.yaml")
    results()
    Path("answers/eve.txt").write_text("scores = [[0, 1]]\n", encoding="utf-8")
    marks = [row["marks"] for row in results("--resume") if row["student"] == "Eve"]
    assert marks == ["2"]
