"""`attncli test --batch`: the functions of a class, a row for each, whatever they do."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any

import jsonschema
import pytest

from attncli.cli.main import run
from attncli.errors import Exit
from attncli.features.schema.command import schemas
from attncli.features.test.many.manifest import StudentFunction, read_manifest

SCHEMA = json.loads(schemas()["functions"].read_text(encoding="utf-8"))
HAS_PROC = Path("/proc/self/environ").exists()
# Where a test looks for processes that were left behind.
MARK = "ATTNCLI_TEST_MARK"
RIGHT = """import numpy as np

def attention(q, k, v, mask=None):
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True) @ v
"""
SCALED = "scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])"
IN_PLACE = "q /= np.sqrt(q.shape[-1]); scores = q @ k.swapaxes(-1, -2)"
ENDLESS = "def attention(q, k, v):\n    while True: pass\n"
FILES = {
    "right": RIGHT,
    "wrong mask": RIGHT.replace("mask, scores, -np.inf", "mask, -np.inf, scores"),
    "endless": ENDLESS,
    "crash": "import ctypes\ndef attention(q, k, v):\n    ctypes.string_at(0)\n",
    "syntax": "def attention(q, k, v:\n",
    "prints": RIGHT.replace("scores = q", 'print("x" * 10**7); scores = q', 1),
    "changes": RIGHT.replace(SCALED, IN_PLACE),
}
# By hand. Asked with a mask: one that is true, added, for each head, of lengths, of a query that
# sees no key, of two documents, and in float16. Without: plain, large, in float16, and a long row.
CASES, WITH_MASK = 11, 7
INVERTED = "the mask was inverted"
HANGS = "it did not come to an end within 1 second"
CRASHES = "Python crashed (SIGSEGV)"


@pytest.fixture
def school(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the functions of eight students, one of which is not there, and a manifest."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers").mkdir()
    rows = [["student", "function", "mail"]]
    for student, text in FILES.items():
        (tmp_path / "answers" / f"{student}.py").write_text(text, encoding="utf-8")
        rows.append([student, f"answers/{student}.py:attention", "@home"])
    rows.append(["=missing()", "answers/none.py", ""])
    write_manifest(rows)
    return tmp_path


def write_manifest(rows: list[list[str]]) -> None:
    with open("manifest.csv", "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)


def add_row(*cells: str) -> None:
    with open("manifest.csv", "a", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerow(cells)


def results(*arguments: str, code: int = Exit.DIFFERENCE) -> dict[str, dict[str, str]]:
    """The rows of the results by the names of the students."""
    line = ["test", "--batch", "manifest.csv", "-o", "results.csv", "--workers", "1"]
    assert run([*line, "--seconds", "1", *arguments]) == code
    with open("results.csv", newline="", encoding="utf-8") as stream:
        return {row["student"]: row for row in csv.DictReader(stream)}


def only(*students: str) -> None:
    """Leave these students alone in the manifest."""
    rows = [["student", "function"], *([name, f"answers/{name}.py"] for name in students)]
    write_manifest(rows)


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_a_row_for_each_student() -> None:
    rows = results("--workers", "2")
    # An apostrophe, so no formula.
    assert [*rows] == [*FILES, "'=missing()"]
    for student in ("right", "prints", "changes"):
        row = rows[student]
        assert (row["marks"], row["of"], row["same"]) == (str(CASES),) * 3
        assert (row["differs"], row["failed"], row["first_wrong"], row["error"]) == (
            "0",
            "0",
            "",
            "",
        )
    wrong = rows["wrong mask"]
    assert (wrong["differs"], wrong["same"]) == (str(WITH_MASK), str(CASES - WITH_MASK))
    assert wrong["first_wrong"] == "a mask of truth values"
    assert wrong["mistakes"] == INVERTED
    for student, why in (("endless", HANGS), ("crash", CRASHES)):
        row = rows[student]
        assert (row["marks"], row["same"], row["differs"]) == ("0", "0", "0")
        assert row["first_error"] == f"plain: {why}"
    assert rows["changes"]["remarks"] == "It changes what it is given: q."
    assert "SyntaxError" in rows["syntax"]["error"]
    assert rows["'=missing()"]["error"].endswith("cannot be read: no such file or directory")
    for student in ("syntax", "'=missing()"):
        assert {rows[student][name] for name in ("marks", "of", "same", "mistakes")} == {""}
    assert rows["right"]["mail"] == "'@home"


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_json_and_the_page_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    only("right", "wrong mask", "syntax")
    line = ["test", "--batch", "manifest.csv", "--workers", "1"]
    assert run([*line, "--format", "json"]) == Exit.DIFFERENCE
    data = json.loads(capsys.readouterr().out)
    jsonschema.validate(data, SCHEMA)
    assert data["summary"] == {
        "students": 3,
        "passed": 1,
        "not_tested": 1,
        # Of those that were tested: all, and what needs no mask.
        "mean_share": pytest.approx((1 + (CASES - WITH_MASK) / CASES) / 2),
        # Of two, the middle one is their mean.
        "median_share": pytest.approx((1 + (CASES - WITH_MASK) / CASES) / 2),
        "mistakes": [{"mistake": INVERTED, "students": ["wrong mask"]}],
    }
    assert [row["passed"] for row in data["students"]] == [True, False, False]
    only("syntax", "wrong mask", "crash")
    assert run(line) == Exit.DIFFERENCE
    page = capsys.readouterr().out
    assert "2 differ or fail and 1 could not be tested." in page
    assert f"{INVERTED}. 1 student: wrong mask." in page
    assert f"plain: {CRASHES}" in page


@pytest.mark.usefixtures("school")
def test_all_right_is_exit_code_0() -> None:
    only("right")
    assert [*results(code=Exit.OK)] == ["right"]


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_a_mistake_costs_once_and_what_is_required_has_to_be_there() -> None:
    only("right", "wrong mask")
    no_mask = RIGHT.replace(", mask=None", "").replace("if mask is not None", "if False")
    Path("answers/no mask.py").write_text(no_mask, encoding="utf-8")
    add_row("no mask", "answers/no mask.py")
    rows = results("--marks", "10")
    # 4 of 11 cases, rounded half up.
    expected = {"right": "10", "wrong mask": "3.64", "no mask": "10"}
    assert {name: row["marks"] for name, row in rows.items()} == expected
    rows = results("--marks", "10", "--mistake", "2", "--require", "mask")
    expected = {"right": "10", "wrong mask": "8", "no mask": "3.64"}
    assert {name: row["marks"] for name, row in rows.items()} == expected
    assert rows["no mask"]["first_error"] == (
        "a mask of truth values: mask: no parameter stands for it"
    )


BACKWARD = """
import numpy as np

def attention(q, k, v, dO):
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    a = powers / powers.sum(-1, keepdims=True)
    d_a = dO @ v.swapaxes(-1, -2)
    d_s = a * (d_a - (a * d_a).sum(-1, keepdims=True)) / np.sqrt(q.shape[-1])
    return d_s @ k, d_s.swapaxes(-1, -2) @ q, a.swapaxes(-1, -2) @ dO
"""
# By hand. Gradients are asked for without a mask: plain, large, and in float16.
CASES_BACK = 3


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_gradients_of_a_class() -> None:
    only("right")
    without_mean = BACKWARD.replace("(a * d_a).sum(-1, keepdims=True)", "0")
    for student, text in (("back", BACKWARD), ("no mean", without_mean)):
        Path(f"answers/{student}.py").write_text(text, encoding="utf-8")
        add_row(student, f"answers/{student}.py")
    rows = results("--gradient")
    assert (rows["back"]["same"], rows["back"]["of"]) == (str(CASES_BACK),) * 2
    assert rows["no mean"]["differs"] == str(CASES_BACK)
    assert rows["no mean"]["mistakes"] == (
        "the row's mean was not subtracted in the backward pass of the softmax"
    )
    assert "has no gradients: it is a function of NumPy" in rows["right"]["error"]


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.usefixtures("school", "torch")
def test_gradients_of_a_class_by_autograd() -> None:
    right = (
        "import torch\n\n"
        "def attention(q, k, v):\n"
        "    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5\n"
        "    return scores.softmax(-1) @ v\n"
    )
    only()
    for student, text in (("all", right), ("cut", right.replace("@ v", "@ v.detach()"))):
        Path(f"answers/{student}.py").write_text(text, encoding="utf-8")
        add_row(student, f"answers/{student}.py")
    # The last --seconds counts: to import PyTorch takes longer than one.
    rows = results("--gradient", "--seconds", "60")
    assert rows["all"]["differs"] == rows["all"]["failed"] == "0"
    assert rows["cut"]["mistakes"] == "no gradient reaches V"


@pytest.mark.long
def test_no_function_gets_less_than_nothing(school: Path) -> None:
    only("wrong mask")
    assert results("--marks", "10", "--mistake", "11")["wrong mask"]["marks"] == "0"


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_what_is_required_is_asked_with_the_axes_that_a_function_has() -> None:
    """With two axes nothing is asked about heads and entries: 4 cases without a mask, 5 with."""
    two_axes = "def attention(q, k, v):\n    assert q.ndim == 2\n    return right(q, k, v)\n"
    text = RIGHT.replace("def attention", "def right") + two_axes
    Path("answers/right.py").write_text(text, encoding="utf-8")
    only("right")
    row = results("--require", "mask")["right"]
    assert (row["same"], row["failed"], row["of"]) == ("4", "5", "9")
    # Whatever else could be asked with a mask is not.
    row = results("--require", "mask,softcap")["right"]
    assert int(row["of"]) > 9


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_pages_of_feedback_name_no_other_student() -> None:
    only("right", "wrong mask", "syntax")
    add_row("twin", "answers/right.py:attention")
    rows = results("--feedback", "pages", "--feedback-format", "html")
    assert rows["twin"]["error"] == "this function is already that of right"
    assert sorted(os.listdir("pages")) == [
        "right.html", "syntax.html", "twin.html", "wrong mask.html",
    ]  # fmt: skip
    pages = {page.stem: page.read_text(encoding="utf-8") for page in Path("pages").iterdir()}
    assert "all 11 cases agree" in pages["right"]
    assert INVERTED.capitalize() in pages["wrong mask"]
    assert "SyntaxError" in pages["syntax"]
    assert "ask your teacher why" in pages["twin"]
    assert "already" not in pages["twin"]


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_results_are_written_though_a_page_cannot_be(capsys: pytest.CaptureFixture[str]) -> None:
    only("syntax", "right")
    Path("pages/right.md").mkdir(parents=True)
    rows = results("--feedback", "pages", code=Exit.FILE)
    assert [*rows] == ["syntax", "right"]
    assert "1 page of feedback in pages can be used" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_what_is_wrong_with_a_row_is_its_error() -> None:
    only("right")
    os.mkfifo("answers/pipe.py")
    Path("answers/other.py").write_text(RIGHT.replace("attention", "attend"), encoding="utf-8")
    for name in ("pipe", "other", "."):
        add_row(name, "answers/." if name == "." else f"answers/{name}.py")
    add_row("other again", "answers/other.py:attend")
    add_row("no file")
    add_row("", "x.py")
    add_row("three", "y.py", "more")
    add_row("outside", "../elsewhere.py:attention")
    rows = results()
    errors = {name: row["error"] for name, row in rows.items() if row["error"]}
    assert errors["pipe"].endswith("it is a named pipe, not a file")
    assert errors["other"].endswith("there is no attention in it; it has attend")
    assert errors["no file"] == "line 7 of the manifest has no function"
    assert errors[""] == "line 8 of the manifest has no student"
    assert errors["three"].startswith("line 9 of the manifest has more cells than the first line")
    assert errors["outside"].endswith("no such file or directory")
    assert errors["."].endswith("it is a folder, not a file")
    assert rows["other again"]["same"] == str(CASES)


@pytest.mark.usefixtures("school")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "manifest.csv:1:1: the manifest is empty"),
        ("student,answers\n", "manifest.csv:1:1: there is no column function"),
        ("student,function,Function\n", "manifest.csv:1:1: there are two columns function"),
        ('student,function\n"a,b\n', "this line cannot be read"),
    ],
)
def test_a_manifest_that_cannot_be_read(
    text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("manifest.csv").write_text(text, encoding="utf-8")
    assert run(["test", "--batch", "manifest.csv"]) == Exit.INPUT
    assert said in capsys.readouterr().err


def test_where_functions_are(school: Path) -> None:
    write_manifest(
        [
            ["Function", "STUDENT", "mail"],
            ["answers/right.py", "Ada", "=1"],
            ["right.py: Attention(16, 2)", "Ben", ""],
        ]
    )
    file = "./answers/right.py"
    ada, ben = read_manifest("manifest.csv", None, "attend")
    assert ada == StudentFunction("Ada", file, "attend", {"mail": "=1"})
    assert (ben.file, ben.name) == ("./right.py", "Attention(16, 2)")
    # In a folder it is found by its name alone, too.
    (school / "answers").rename(school / "returned")
    ada, ben = read_manifest("manifest.csv", "returned", "attend")
    assert {ada.file, ben.file} == {"returned/right.py"}


@pytest.mark.usefixtures("school")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["answers/right.py:attention"], "--batch cannot be used with answers/right.py:attention"),
        (["--outputs", "x"], "--batch cannot be used with --outputs"),
        (["--export", "x"], "--batch cannot be used with --export"),
        (["--format", "gradescope"], "--batch cannot be used with --format gradescope"),
        (["-o", "failing.yaml"], "--batch cannot be used with -o failing.yaml"),
        (["-o", "manifest.csv"], "manifest.csv"),
        (["-o", "answers/right.py", "--format", "csv"], "would write over ./answers/right.py"),
        (["--feedback-format", "html"], "--feedback-format cannot be used with no --feedback"),
        (["--require", "masks"], "--require: there is no setting masks"),
        (["--mistake", "-1"], "--mistake cannot be"),
        (["--workers", "0"], "--workers cannot be '0'"),
    ],
)
def test_what_does_not_go_together(
    line: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["test", "--batch", "manifest.csv", *line]) == Exit.USAGE
    assert said in capsys.readouterr().err
    assert Path("answers/right.py").read_text(encoding="utf-8") == RIGHT


@pytest.mark.usefixtures("school")
@pytest.mark.parametrize(
    "option", ["-d .", "--name f", "--workers 2", "--feedback x", "--marks 3", "--format csv"]
)
def test_what_is_for_a_class_alone(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["test", "answers/right.py:attention", *option.split()]
    assert run(line) == Exit.USAGE
    assert "cannot be used with" in capsys.readouterr().err


# For Gradescope


def gradescope(
    name: str, capsys: pytest.CaptureFixture[str], *arguments: str, code: int = Exit.DIFFERENCE
) -> dict[str, Any]:
    line = ["test", f"answers/{name}.py:attention", "--seconds", "1", "--format", "gradescope"]
    assert run([*line, *arguments]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    # What its specification allows: https://gradescope-autograders.readthedocs.io/en/latest/specs/
    assert found["visibility"] == "visible"
    assert found["stdout_visibility"] == "hidden"
    assert found["output_format"] == "text"
    for test in found["tests"]:
        assert test["status"] in ("passed", "failed")
        assert test["visibility"] == "visible"
        assert isinstance(test["name"], str)
        assert isinstance(test["output"], str)
    return found


@pytest.mark.sampled(1, "long")
@pytest.mark.usefixtures("school")
@pytest.mark.parametrize(
    "name", ["right", "changes", pytest.param("prints", marks=pytest.mark.slow)]
)
def test_gradescope_gives_all_marks(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = gradescope(name, capsys, "--marks", "22", code=Exit.OK)
    assert found["score"] == 22
    assert [(test["score"], test["max_score"]) for test in found["tests"]] == [(2, 2)] * CASES


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_gradescope_says_which_mistake_a_case_has(capsys: pytest.CaptureFixture[str]) -> None:
    found = gradescope("wrong mask", capsys)
    assert found["score"] == CASES - WITH_MASK == sum(test["score"] for test in found["tests"])
    wrong = [test for test in found["tests"] if test["status"] == "failed"]
    assert len(wrong) == WITH_MASK
    assert all(INVERTED in test["output"] for test in wrong)
    assert found["output"].startswith("Marks: 4 of 11.\n")
    assert "The mask was inverted" in found["output"]


@pytest.mark.long
@pytest.mark.usefixtures("school")
def test_gradescope_takes_a_mistake_off_once(capsys: pytest.CaptureFixture[str]) -> None:
    found = gradescope("wrong mask", capsys, "--marks", "10", "--mistake", "2")
    assert found["score"] == 8
    assert not any("score" in test for test in found["tests"])
    assert "For each mistake 2 are taken off: the mask was inverted." in found["output"]


@pytest.mark.sampled(1, "long")
@pytest.mark.usefixtures("school")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("endless", HANGS),
        ("crash", CRASHES),
        ("syntax", "SyntaxError"),
        ("none", "no such file or directory"),
    ],
)
def test_gradescope_gets_a_result_of_whatever_is_handed_in(
    name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = gradescope(name, capsys, "--marks", "10")
    assert found["score"] == 0
    assert said in found["tests"][0]["output"]
    assert sum(test["max_score"] for test in found["tests"]) == pytest.approx(10)


@pytest.mark.usefixtures("school")
def test_what_the_teacher_has_mistyped_is_no_result(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["test", "answers/right.py", "--format", "gradescope"]) == Exit.USAGE
    assert "names no function" in capsys.readouterr().err


@pytest.mark.usefixtures("school")
def test_results_are_not_written_over_the_function(capsys: pytest.CaptureFixture[str]) -> None:
    file = "answers/right.py"
    line = ["test", f"{file}:attention", "--format", "gradescope", "-o", file]
    assert run(line) == Exit.USAGE
    assert f"-o {file} would write over {file}" in capsys.readouterr().err


# Signals

# Python answers no signal there, and nothing else runs in the process.
STUCK = "import ctypes\ndef attention(q, k, v):\n    ctypes.PyDLL(None).sleep(1000)\n"


@pytest.mark.long
@pytest.mark.skipif(not HAS_PROC, reason="the system does not say which processes there are")
@pytest.mark.parametrize(
    "output", [pytest.param([], marks=pytest.mark.slow), ["-o", "results.csv"]]
)
def test_ctrl_c_leaves_no_process_and_what_is_done(output: list[str], school: Path) -> None:
    only("right", "endless")
    Path("answers/endless.py").write_text(STUCK, encoding="utf-8")
    Path("results.csv").write_text("old", encoding="utf-8")
    mark = token_hex(16)
    line = ["test", "--batch", "manifest.csv", "--seconds", "600", "--workers", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "attncli", *line, "--feedback", "pages", *output],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, MARK: mark},
    )
    wait_for(lambda: Path("pages/right.md").exists())
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == Exit.INTERRUPTED
    assert "1 of 2 functions are tested" in err
    assert "Traceback" not in err
    assert ("11 / 11" in out) == (not output)
    assert Path("results.csv").read_text(encoding="utf-8") == "old"
    wait_for(lambda: not processes_with(mark))


def processes_with(mark: str) -> list[str]:
    """The processes that have the mark in their environment."""
    return [*_marked(f"{MARK}={mark}".encode())]


def _marked(entry: bytes) -> Iterator[str]:
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if entry in (process / "environ").read_bytes().split(b"\0"):
                yield process.name


def wait_for(holds: Any) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
