"""Inputs that mean harm, each in a process of its own: no signal, no traceback, no gigabytes,
answered in a second.

The second is CPU time beyond what a small good problem takes on the same machine, so that neither a
slow machine nor a busy one fails the tests.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.hostile.archives import bomb, crowd, header, safetensors, workbook
from tests.hostile.limits import Answer, answer

LOVE = Path(__file__).parents[2] / "inputs" / "i_love_ai.yaml"
MANY = 100_000
SECOND, MEBIBYTES = 1.0, 400.0
# seconds for a megabyte in which something is wrong: all are parsed again to say where
VALUE_BY_VALUE = 3.0

ALIASES = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
)
MERGES = "a0: &a0 {k: v}\n" + "".join(
    f"a{i}: &a{i}\n  <<: [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
)
DEEP = "lists and mappings are nested more than 64 deep"
SPACES = " " * 2**26
NINES = "Q[0][0]: 99999999999999999999…9999999999 (5,000 characters) is too l"
BLANKS = "1,048,576 blanks or more in a row"

# What is in the file, and how the error ends.
PROBLEMS = {
    "lists.yaml": (lambda: "[" * MANY + "]" * MANY, f":1:65: {DEEP}"),
    "lists.json": (lambda: "[" * MANY + "]" * MANY, f":1:65: {DEEP}"),
    "megabytes.json": (lambda: "[" * 2**26, f":1:65: {DEEP}"),
    "megabytes.yaml": (lambda: "Q: " + "[" * 2**26, f":1:67: {DEEP}"),
    "pairs.yaml": (lambda: "Q: " + "[]" * 2**21, ":1:6: this does not belong here"),
    "key.json": (lambda: f'{{"{"a" * 2**24}": 1}}', ":1:2: there is no key aaaaaaaaaaaaaaaaaaaa…"),
    "mappings.yaml": (lambda: "{a: " * MANY, f":1:257: {DEEP}"),
    "dashes.yaml": (lambda: "- " * MANY, f":1:129: {DEEP}"),
    "keys.yaml": (lambda: "? " * MANY, ""),
    "aliases.yaml": (lambda: ALIASES, ":1:5: attncli does not read anchors (&a0)"),
    "merges.yaml": (lambda: MERGES, ":1:5: attncli does not read anchors (&a0)"),
    "recursive.yaml": (lambda: "Q: &q [*q]", ":1:4: attncli does not read anchors (&q)"),
    "tag.yaml": (lambda: "Q: !!python/object/apply:os.system [id]", " does not read tags"),
    "tags.yaml": (
        lambda: "".join(f"%TAG !a{i}! x\n" for i in range(MANY)),
        ":1:1: attncli does not read tags (%TAG)",
    ),
    "integer.yaml": (lambda: f"Q: [[{'9' * 5000}]]", f":1:6: {NINES}"),
    "integer.json": (lambda: f'{{"Q": [[{"9" * 5000}]]}}', f":1:9: {NINES}"),
    "heads.json": (lambda: f'{{"heads": {"9" * 5000}}}', " (5,000 characters) is too large"),
    "spaces.yaml": (lambda: SPACES, f":1:1: {BLANKS}"),
    "spaces.json": (lambda: SPACES, f":1:1: {BLANKS}"),
    "spaces_inside.yaml": (lambda: f"Q: [[1,{SPACES}x]]", f":1:8: {BLANKS}"),
    "lines.yaml": (lambda: "\n" * 2**24, ":1:1: 1,048,576 empty lines or more in a row"),
    "blank_lines.yaml": (lambda: " \n" * 2**23, ":1:1: the file is empty"),
    "text.json": (lambda: f'{{"title": "{"a" * 2**24}"}}', ": title: has 16,777,216 characters"),
    "label.yaml": (
        lambda: f"tokens: [{'a' * 10**6}]",
        ": tokens[0]: this label has 1,000,000 characters",
    ),
    "unknown.yaml": (
        lambda: "".join(f"k{i}: 1\n" for i in range(MANY // 2)),
        ":1:1: there is no key k0",
    ),
    "words.json": (
        lambda: '{"Q": [[' + '"x",' * 3 * MANY + '"x"]]}',
        ":1:9: Q[0][0]: x is not a number",
    ),
    "empty.json": (lambda: '{"Q": [' + "[]," * 3 * MANY + "[]]}", ":1:8: Q[0]: is empty"),
    "one.yaml": (lambda: f"Q: [[x{', 1.25' * 3 * MANY}]]", ":1:6: Q[0][0]: x is not a number"),
    "uneven.yaml": (
        lambda: f"Q: [[1]{', [1, 2]' * 2 * MANY}]",
        ":1:10: Q[1]: has 2 entries, but the first row has 1",
    ),
    "labels.yaml": (
        lambda: f"tokens: [{'a, ' * 3 * MANY}a]",
        ": tokens: has 300,001 labels, one for each token",
    ),
    "wrong.yaml": (lambda: f"Q: [[{'x, ' * MANY}]]", ":1:6: Q[0][0]: x is not a number"),
}
MANY_VALUES = ("words.json", "empty.json", "one.yaml", "uneven.yaml", "labels.yaml")
PACKED = 2**26  # bytes of XML, which a file of 100 KB may hold
UNPACKS = ": Q.file: x.xlsx unpacks to more than "
TOO_MANY = f"{UNPACKS}1,048,576 elements"
NOT_READABLE = ": Q.file: x.xlsx is not a readable .xlsx file: "
TOO_LONG = f"{NOT_READABLE}a cell has more text than a cell can hold"
DAMAGED = f"{NOT_READABLE}it is damaged"
TYPED = f"{NOT_READABLE}it declares a document type, as no spreadsheet does"
CELL = '<w><c r="A1" {}><v>{}</v></c></w>'
RELATION = '<Relationship Id="1" Target="{}"/>'


def filled(text: str) -> str:
    """The text again and again, as much as a workbook may unpack to."""
    return text * ((PACKED - 2000) // len(text))


# parts that are others, and how the error ends
WORKBOOKS: dict[str, tuple[Callable[[], dict[str, str]], str]] = {
    "bytes": (lambda: {"sheet": f"<w>{' ' * PACKED}</w>"}, f"{UNPACKS}64 MiB"),
    "elements": (lambda: {"sheet": "<w>" + filled("<a/>")}, TOO_MANY),
    "cells": (lambda: {"sheet": "<w>" + filled('<c r="A1"/>')}, TOO_MANY),
    "sheets": (lambda: {"book": "<w>" + filled("<sheet/>")}, TOO_MANY),
    "relations": (
        lambda: {"relations": "<w>" + "".join(map(RELATION.format, range(2**20)))},
        TOO_MANY,
    ),
    "styles": (
        lambda: {"sheet": CELL.format('s="1"', 1), "styles": "<s><cellXfs>" + filled("<xf/>")},
        TOO_MANY,
    ),
    "strings": (
        lambda: {"sheet": CELL.format('t="s"', 10**9), "strings": "<s>" + filled("<si/>")},
        TOO_MANY,
    ),
    "text": (lambda: {"sheet": CELL.format('t="str"', filled("1"))}, TOO_LONG),
    "references": (lambda: {"sheet": CELL.format('t="str"', filled("&#49;"))}, TOO_LONG),
    "pieces": (
        lambda: {"sheet": CELL.format('t="s"', 0), "strings": "<s><si><t>" + filled("<b/>x")},
        TOO_LONG,
    ),
    "depth": (
        lambda: {"sheet": filled("<a>")},
        f"{NOT_READABLE}its elements are nested more than 64 deep",
    ),
    "address": (lambda: {"sheet": f'<w><c r="{filled("A")}"/></w>'}, DAMAGED),
    "attributes": (
        lambda: {"sheet": "<w><c " + "".join(f"a{n}='1' " for n in range(10**6)) + "/></w>"},
        DAMAGED,
    ),
    "comment": (lambda: {"sheet": f"<w><!--{filled('x')}--></w>"}, DAMAGED),
    "format": (
        lambda: {
            "sheet": CELL.format('s="1"', "x"),
            "styles": f'<s><numFmt formatCode="{"[" * 10**6}"/></s>',
        },
        ": Q.range: S!A1 in x.xlsx is the text x, and no number",
    ),
    "entities": (
        lambda: {"sheet": "<!DOCTYPE w [<!ENTITY a '1'><!ENTITY b '&a;&a;&a;'>]><w>&b;</w>"},
        TYPED,
    ),
    "another file": (
        lambda: {"sheet": "<!DOCTYPE w [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><w>&a;</w>"},
        TYPED,
    ),
    "path": (
        lambda: {"relations": RELATION.format("../../../etc/passwd")},
        f"{NOT_READABLE}it has no etc/passwd",
    ),
    "web": (
        lambda: {"relations": RELATION.format("http://a.org/s")},
        f"{NOT_READABLE}it has no xl/http:/a.org/s",
    ),
}
MANY_ELEMENTS = 8.0  # seconds for a million elements, each of which is looked at
# exit code 4, not 3
UNREADABLE = (": it is a named pipe, not a file", ": too many levels of symbolic links")
FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "huge.npy": (
        lambda path: path.write_bytes(header("(1000000000, 1000000000)")),
        ": too many numbers",
    ),
    "lying.npy": (
        lambda path: path.write_bytes(header("(5000, 9000)")),
        " claims 45,000,000 numbers but has only ",
    ),
    "expression.npy": (
        lambda path: path.write_bytes(header("(10**10**10,)")),
        " is not an array in NumPy's format",
    ),
    "brackets.npy": (
        lambda path: path.write_bytes(header("(" * 9000)),
        " is not an array in NumPy's format",
    ),
    "objects.npy": (
        lambda path: np.save(path, np.array([[{}]], dtype=object)),
        " holds object instead of plain ",
    ),
    "bomb.npz": (lambda path: bomb(path, "q"), " bytes to 80,000,128"),
    "crowd.npz": (
        lambda path: crowd(path, 10**5),
        " its list of files takes 5,100,000 bytes, 4,194,304 is the limit",
    ),
    "deep.safetensors": (
        lambda path: path.write_bytes(safetensors(b"[" * MANY)),
        " its header is not a JSON mapping",
    ),
    "digits.safetensors": (
        lambda path: path.write_bytes(safetensors(b'{"a": {"shape": [' + b"9" * 5000 + b"]}}")),
        " its header is not a JSON mapping",
    ),
    "pipe.npy": (os.mkfifo, ": it is a named pipe, not a file"),
    "link.npy": (
        lambda path: path.symlink_to("/dev/zero"),
        " is outside the problem's folder (it is a link)",
    ),
    "loop.npy": (lambda path: path.symlink_to(path), ": too many levels of symbolic links"),
    "../outside.npy": (lambda path: np.save(path, np.eye(1)), " is outside the problem's folder"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / "folder"
    folder.mkdir()
    (folder / "love.yaml").write_text(LOVE.read_text(encoding="utf-8"), encoding="utf-8")
    os.mkfifo(folder / "pipe.yaml")
    return folder


@pytest.fixture(scope="module")
def usual(folder: Path) -> float:
    """The CPU seconds of a small good problem."""
    good = answer(folder, ["compute", "love.yaml"])
    assert good.code == 0
    return good.seconds


def quick(
    folder: Path,
    usual: float,
    arguments: list[str],
    standard_input: str = "/dev/null",
    seconds: float = SECOND,
) -> Answer:
    """The first answer in time, of up to three: other work on a busy machine slows a process down,
    CPU time and all.
    """
    for _ in range(3):
        found = answer(folder, arguments, standard_input)
        if found.seconds < usual + seconds:
            break
    return found


def refused(
    found: Answer, usual: float, message: str, code: int = 3, seconds: float = SECOND
) -> None:
    """An error in the one shape, in time, and in little memory."""
    assert found.code == code, (found.code, found.err[:500])
    assert found.out == b""
    first = found.err.splitlines()[0]
    assert first.startswith("attncli: error: ")
    assert message in found.err
    assert "Traceback" not in found.err
    assert "\nhelp: " in found.err
    assert len(found.err) < 20_000
    assert found.seconds < usual + seconds, found.seconds
    assert found.mebibytes < MEBIBYTES, found.mebibytes


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem(name: str, folder: Path, usual: float) -> None:
    text, message = PROBLEMS[name]
    (folder / name).write_text(text(), encoding="utf-8")
    seconds = VALUE_BY_VALUE if name in MANY_VALUES else SECOND
    refused(
        quick(folder, usual, ["compute", name], seconds=seconds), usual, message, seconds=seconds
    )
    (folder / name).unlink()


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FILES)
def test_an_array(name: str, folder: Path, usual: float) -> None:
    make, message = FILES[name]
    make(folder / name)
    (folder / "p.yaml").write_text(f"Q: {{file: {name}}}\nK: [[1]]\nV: [[1]]\n")
    refused(
        quick(folder, usual, ["compute", "p.yaml"]),
        usual,
        message,
        4 if message in UNREADABLE else 3,
    )
    (folder / name).unlink()


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", WORKBOOKS)
def test_a_workbook(name: str, folder: Path, usual: float) -> None:
    changed, message = WORKBOOKS[name]
    (folder / "x.xlsx").write_bytes(workbook(**changed()))
    (folder / "p.yaml").write_text("Q: {file: x.xlsx, range: A1}\nK: [[1]]\nV: [[1]]\n")
    seconds = MANY_ELEMENTS if message == TOO_MANY else SECOND
    refused(
        quick(folder, usual, ["compute", "p.yaml"], seconds=seconds),
        usual,
        message,
        seconds=seconds,
    )


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "standard_input", "message"),
    [
        (["compute", "pipe.yaml"], "", "cannot read pipe.yaml: it is a named pipe, not a file"),
        (
            ["check", "love.yaml", "pipe.yaml"],
            "",
            "cannot read pipe.yaml: it is a named pipe, not a file",
        ),
        (
            ["compare", "love.yaml", "pipe.yaml"],
            "",
            "cannot read pipe.yaml: it is a named pipe, not a file",
        ),
        (["compute", "/dev/zero"], "", "cannot read /dev/zero: it is a device, not a file"),
        (["compute", "-"], "/dev/zero", "cannot read standard input: it is larger than 256 MiB"),
        (
            ["compute", "/dev/stdin"],
            "/dev/zero",
            "cannot read /dev/stdin: it is larger than 256 MiB",
        ),
    ],
)
def test_what_never_ends(
    arguments: list[str], standard_input: str, message: str, folder: Path, usual: float
) -> None:
    refused(quick(folder, usual, arguments, standard_input or "/dev/null"), usual, message, 4)


@pytest.mark.slow
def test_answers_and_dumps(folder: Path, usual: float) -> None:
    (folder / "a.yaml").write_text(ALIASES)
    refused(
        quick(folder, usual, ["check", "love.yaml", "a.yaml"]),
        usual,
        "a.yaml:1:5: attncli does not read anchors (&a0)",
    )
    (folder / "a.tex").write_text("\\bordermatrix{" + SPACES)
    refused(quick(folder, usual, ["check", "love.yaml", "a.tex"]), usual, f"a.tex:1:15: {BLANKS}")
    bomb(folder / "d.npz", "scores", "weights")
    refused(
        quick(folder, usual, ["compare", "love.yaml", "d.npz"]), usual, "d.npz: scores unpacks "
    )


@pytest.mark.long
def test_an_option(folder: Path, usual: float) -> None:
    refused(
        quick(folder, usual, ["compute", "love.yaml", "--mask", "[" * MANY]),
        usual,
        "--mask:1:65: mask: lists are nested more than 64 deep",
        2,
    )
    refused(
        quick(folder, usual, ["compute", "love.yaml", "--steps", "x" * MANY]),
        usual,
        "no step is called 'xxx",
        2,
    )


LABELS = {
    "escape": r"\e[31mred",
    "title of the terminal": r"\e]0;mine\a",
    "direction": r"\u202egnirts",
    "NUL": r"\0",
    "C1": r"\x9b31m",
    "Rich": "[red]",
    "Rich that ends": "[/]",
    "LaTeX": r"\\input{/etc/passwd}",
    "HTML": "</script>",
    "bar": "a|b",
    "fence": "```",
    "dollars": "$x$",
    "line": r"a\nb",
    "line separator": r"a\u2028b",
}


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("format", ["table", "markdown", "latex", "json"])
def test_labels(format: str, folder: Path, usual: float) -> None:
    """All of them on one page: nothing steers a terminal, and nothing becomes markup of the
    format.
    """
    labels = ", ".join(f'"{label}"' for label in LABELS.values())
    rows = ", ".join(f"[{place}]" for place in range(len(LABELS)))
    text = f'title: "{"".join(LABELS.values())}"\ntokens: [{labels}]\n' + "".join(
        f"{n}: [{rows}]\n" for n in "QKV"
    )
    (folder / "labels.yaml").write_text(text)
    found = quick(
        folder, usual, ["compute", "labels.yaml", "--steps", "weights", "--format", format]
    )
    assert (found.code, found.err) == (0, "")
    assert found.seconds < usual + SECOND
    page = found.out.decode()
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", page
    )
    match format:
        case "markdown":
            body = re.sub(r"(?m)^```math\n.*?^```$", "", page, flags=re.DOTALL)
            assert "```" not in body
            assert "<script" not in page
            assert "</script>" not in page
            # The matrix, and the table of the steps that lead to it.
            bars = {line.count("|") for line in page.splitlines() if line.startswith("|")}
            assert bars == {len(LABELS) + 2, len(("step", "formula", "shape", "numbers")) + 1}
        case "latex":
            assert r"\input" not in page
        case "table":
            assert "[red]" in page
