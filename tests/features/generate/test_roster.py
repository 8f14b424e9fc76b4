"""Lists of students, as people and spreadsheets write them."""

from __future__ import annotations

import pytest

from attncli.errors import AttncliError, Exit
from attncli.features.generate.roster import Student, numbered, read_roster
from attncli.problem.text.source import Source
from tests.cases import in_one_test


def roster(text: str) -> list[Student]:
    return read_roster(Source("names.csv", text))


@pytest.mark.parametrize(
    "text",
    [
        "Ada Lovelace\nGrace  Hopper\n",
        "\nname\nAda Lovelace\nGrace Hopper",
        "id;Name\n1;Ada Lovelace\n2;Grace Hopper\n",
        'group,student\nA,"Ada Lovelace"\nB,Grace Hopper',
        "Student Name,Group\nAda Lovelace,A\nGrace Hopper,B\n",
        "First name;Surname;ID number\nAda;Lovelace;1\nGrace;Hopper;2\n",
        "Nachname,Vorname\nLovelace,Ada\nHopper,Grace\n",
    ],
)
def test_names(text: str) -> None:
    assert [student[:3] for student in roster(text)] == [
        ("Ada Lovelace", "01-ada-lovelace", "Ada Lovelace"),
        ("Grace Hopper", "02-grace-hopper", "Grace Hopper"),
    ]


def test_the_other_columns_are_kept() -> None:
    text = 'E-Mail;name; Group;\n a@x ;Ada;"A;1";left out\n=1;Grace\n'
    assert [dict(student.more) for student in roster(text)] == [
        {"E-Mail": "a@x", "Group": "A;1"},
        {"E-Mail": "=1", "Group": ""},
    ]


def test_the_parts_of_a_name_are_kept_as_well() -> None:
    """So that marks can go back into the list of the university."""
    text = "First name,Surname,ID number\nAda,Lovelace,7\nCher,,8\n"
    assert [(student.name, dict(student.more)) for student in roster(text)] == [
        ("Ada Lovelace", {"First name": "Ada", "Surname": "Lovelace", "ID number": "7"}),
        ("Cher", {"First name": "Cher", "Surname": "", "ID number": "8"}),
    ]


@in_one_test(
    ("name", "file"),
    [
        ("Zoë Ångström", "01-zoë-ångström"),
        ("李小龙", "01-李小龙"),
        ("नमस्ते", "01-नमस्ते"),
        ("../../etc/passwd", "01-etc-passwd"),
        ("=cmd()", "01-cmd"),
        ("O'Neill-Smith", "01-o-neill-smith"),
        ("???", "01"),
        ("CON", "01-con"),
        ("a" * 200, "01-" + "a" * 40),
    ],
)
def test_names_of_files(name: str, file: str) -> None:
    assert roster(f"name\n{name}\n")[0].file == file


@pytest.mark.parametrize(
    "text", ["Grace\nLovelace; Ada\n", "Grace,\nLovelace; Ada,\n", '"Grace"\n"Lovelace; Ada"']
)
def test_a_name_with_a_separator_is_whole(text: str) -> None:
    assert [student.name for student in roster(text)] == ["Grace", "Lovelace; Ada"]


def test_files_are_different_where_names_are_alike() -> None:
    assert len({student.file.lower() for student in roster("Ada\nada\nADA!\n")}) == 3


def test_students_without_names() -> None:
    assert [student.name for student in numbered(3)] == ["student-01", "student-02", "student-03"]
    assert numbered(120)[6] == Student("student-007", "student-007", "7")
    # so that a larger class has the same first problems
    assert numbered(7)[6].key == numbered(120)[6].key


@in_one_test(
    ("text", "message", "line"),
    [
        ("Ada\nGrace\n Ada \n", "Ada is in line 1 already", 3),
        ("id,name\n1,Ada\n2,\n", "this line has no name", 3),
        ("id,name\n1\n", "this line has no name", 2),
        ("", "there is no name", 1),
        ("name\n", "there is no name", 1),
        ("x" * 201, "is no name", 1),
        ("student,mail\nAda,a@x\nLovelace, Ada,a@x\n", "this line has 3 cells, not 2", 3),
        ("name;group\nGrace;A\n李; 雷;B\n", "this line has 3 cells, not 2", 3),
        ("Lovelace, Ada\nHopper, Grace\n", "no column is called student or name", 1),
        ("matriculation\n123\n124\n", "no column is called student or name", 1),
        ("matriculation,group\n123,A\n", "no column is called student or name", 1),
        ("First name;Email address\nAda;a@x\n", "no column is called student or name", 1),
        ("name,Answers\nAda,1\n", "the manifest has a column 'answers' of its own", 1),
        ("name,Student\nAda,1\n", "the manifest has a column 'student' of its own", 1),
        ("mail,name,Mail\na@x,Ada,b@x\n", "there are two columns 'Mail'", 1),
    ],
)
def test_what_cannot_be_read(text: str, message: str, line: int) -> None:
    with pytest.raises(AttncliError, match=message) as error:
        roster(text)
    assert error.value.exit_code == Exit.INPUT
    assert error.value.place is not None
    assert (error.value.place.file, error.value.place.line) == ("names.csv", line)


def test_a_column_that_is_taken_is_told_the_line_to_write() -> None:
    with pytest.raises(AttncliError) as error:
        roster("name;problem;mail\nAda;1;a@x\n")
    _, _, line = error.value.help.partition(": ")
    assert [student.more for student in roster(f"{line}\nAda,1,a@x\n")] == [
        {"problem 2": "1", "mail": "a@x"}
    ]
