"""Problems of a set are questions with neutral names, and ask for the decimals of the set."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from exports import INPUTS

from attncli.cli.main import run
from attncli.errors import Exit

LOVE = (INPUTS / "i_love_ai.yaml").read_text(encoding="utf-8")


@pytest.fixture
def a_set(tmp_path: Path) -> Path:
    (tmp_path / "problems").mkdir()
    lines = ["student,problem,answers"]
    for number, name in ((1, "José García"), (2, "Ada: Lovelace")):
        text = LOVE.replace("title: I love AI", f"title: 'Midterm: {name}'")
        (tmp_path / f"problems/{number}.yaml").write_text(text, encoding="utf-8")
        lines.append(f"{name},problems/{number}.yaml,answers/{number}.yaml")
    (tmp_path / "manifest.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "marking.yaml").write_text("marks: 20\ndecimals: 1\n", encoding="utf-8")
    return tmp_path


def exported(folder: Path, *options: str, to: str = "xml") -> str:
    output = folder / f"out.{to}"
    files = [str(folder / f"problems/{number}.yaml") for number in (1, 2)]
    assert run(["export", *files, "-o", str(output), *options]) == 0
    return output.read_text(encoding="utf-8")


@pytest.mark.parametrize("to", ["xml", "txt"])
def test_no_question_has_the_name_of_a_student(a_set: Path, to: str) -> None:
    text = exported(a_set, to=to)
    assert "García" not in text
    assert "Lovelace" not in text
    assert "Midterm 01" in text
    assert "Midterm 02" in text


def test_the_decimals_are_those_of_the_set(a_set: Path) -> None:
    assert "Give every number with 1 decimal, such as 0.5." in exported(a_set)
    assert "{1:NUMERICAL:=0.7:0.15" in exported(a_set)
    assert "Give every number with 2 decimals" in exported(a_set, "--precision", "2")


def test_a_scheme_that_cannot_be_read_is_an_error(
    a_set: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (a_set / "marking.yaml").write_text("decimals: two\n", encoding="utf-8")
    file = str(a_set / "problems/1.yaml")
    assert run(["export", file, "--to", "moodle"]) == Exit.INPUT
    assert "marking.yaml:1:11: decimals" in capsys.readouterr().err


def test_a_problem_of_no_set_keeps_its_title(a_set: Path) -> None:
    """Also one that lies where those of a set do, and beside a file called manifest.csv that is
    none.
    """
    other = a_set / "problems/3.yaml"
    shutil.copyfile(INPUTS / "i_love_ai.yaml", other)
    output = a_set / "out.xml"
    for _ in range(2):
        assert run(["export", str(other), "-o", str(output)]) == 0
        text = output.read_text(encoding="utf-8")
        assert "<name><text>I love AI</text></name>" in text
        assert "with 3 decimals" in text
        (a_set / "manifest.csv").write_text("something else", encoding="utf-8")
