"""`attncli worksheet` writes a page and a file for the answers, or refuses before it writes
anything.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml

from attncli.cli.main import run
from attncli.features.schema.command import schemas
from tests.paper import printed

ANSWERS_SCHEMA = json.loads(schemas()["answers"].read_text(encoding="utf-8"))

INPUTS = Path(__file__).parents[3] / "inputs"
LOVE = str(INPUTS / "i_love_ai.yaml")


def test_a_page_on_standard_output_and_the_answers_in_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = tmp_path / "answers.yaml"
    assert run(["worksheet", LOVE, "--blank", "row_sum,weights", "--answers", str(answers)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "    A           I    love      AI\n    I    ⎡ ______  ______  ______ ⎤\n" in out
    assert (
        answers.read_text(encoding="utf-8").partition("\n\n")[2] == "# Row sums\n"
        "row_sum: [_, _, _]  # I, love, AI\n\n"
        "# Attention weights; columns: I, love, AI\n"
        "weights:\n"
        "  - [_, _, _]  # I\n"
        "  - [_, _, _]  # love\n"
        "  - [_, _, _]  # AI\n"
    )


def test_answers_on_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    assert (
        run(["worksheet", str(INPUTS / "batch.yaml"), "-q", "-o", str(page), "--answers", "-"]) == 0
    )
    blank = yaml.safe_load(capsys.readouterr().out)
    jsonschema.validate(blank, ANSWERS_SCHEMA, jsonschema.Draft7Validator)
    assert blank["scores"] == [[["_"] * 3] * 3] * 2
    assert "| ______ |" in page.read_text(encoding="utf-8")


def test_a_mask_that_is_given_as_a_matrix_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.yaml").write_text(
        "Q: [[1]]\nK: [[1], [2]]\nV: [[1], [2]]\nmask: {hide: [[true, false]]}\n"
    )
    assert run(["worksheet", str(tmp_path / "p.yaml")]) == 0
    page = capsys.readouterr().out
    assert "t1 [ -∞   0 ]" in page
    assert "_" in page[page.index("Masked scores") :]
    (tmp_path / "p.yaml").write_text("Q: [[1], [1]]\nK: [[1], [2]]\nV: [[1], [2]]\nmask: causal\n")
    assert run(["worksheet", str(tmp_path / "p.yaml")]) == 0
    assert (
        "t1 ⎡ ______  ______ ⎤"
        in capsys.readouterr().out.partition("Mask")[2].partition("Masked scores")[0]
    )


def test_given_numbers_have_all_digits_that_answers_are_judged_by(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long, problem = "0.12345678901234566", str(tmp_path / "p.yaml")
    Path(problem).write_text(
        f"Q: [[{long}]]\nK: {{random: [1, 1], seed: 5}}\nV: {{random: [1, 1], decimals: 1}}\n"
    )
    key = tmp_path / "key.md"
    assert run(["worksheet", problem, "--blank", "scores", "--key", str(key)]) == 0
    page, err = capsys.readouterr()
    drawn = repr(float(np.random.default_rng(5).random()))
    assert long in page
    assert page.count(drawn) == 2  # in K, and in its transpose
    assert long in key.read_text(encoding="utf-8")
    assert "warning: K has numbers with 1" in err
    assert "warning: V" not in err
    assert run(["compute", problem]) == 0
    assert drawn not in capsys.readouterr().out


def test_there_is_room_to_calculate_on_paper_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    room = {}
    for detail in ("brief", "rows", "cells"):
        assert (
            run(["worksheet", LOVE, "--blank", "scores", "--detail", detail, "--format", "latex"])
            == 0
        )
        room[detail] = re.findall(r"\\vskip(\d+)mm", capsys.readouterr().out)
    assert room == {"brief": [], "rows": ["24"], "cells": ["72"]}  # three rows, nine cells
    rows_of_keys = ["worksheet", LOVE, "--blank", "K", "--detail", "rows"]
    assert run([*rows_of_keys, "--format", "html"]) == 0
    assert capsys.readouterr().out.count('class="room"') == 1  # the transpose of K is only copied
    assert run(["worksheet", LOVE, "--format", "markdown"]) == 0
    assert "\n\n\n" not in capsys.readouterr().out


def test_copies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["worksheet", LOVE, "--copies", "3", "-o", str(tmp_path / "w.tex")]) == 0
    page = (tmp_path / "w.tex").read_text(encoding="utf-8")
    assert page.count("Name: ...") == 3
    assert page.count(r"\setcounter{page}{1}") == 2
    assert page.count(r"\end{document}") == 1
    assert (
        run(
            [
                "worksheet",
                LOVE,
                "--answers",
                str(tmp_path / "a.yaml"),
                "-o",
                str(tmp_path / "w.tex"),
            ]
        )
        == 0
    )


@pytest.mark.parametrize("options", [[], ["--fragment"]])
def test_copies_for_browsers(options: list[str], tmp_path: Path) -> None:
    """All have the same blanks, links lead into the first, and each is printed on new paper."""
    one, three = tmp_path / "one.html", tmp_path / "three.html"
    assert run(["worksheet", LOVE, "-o", str(one), *options]) == 0
    assert run(["worksheet", LOVE, "--copies", "3", "-o", str(three), *options]) == 0
    alone, page = (path.read_text(encoding="utf-8") for path in (one, three))
    # A page of one copy saves what is typed.
    alone = alone.partition("<script")[0] + "</html>"
    assert page.count("Name: <input") == 3
    assert page.count("<input") == 3 * alone.count("<input")
    assert page.count("I love AI</h") == 3 * alone.count("I love AI</h")
    ids = re.findall(r' id="([^"]*)"', page)
    assert ids == re.findall(r' id="([^"]*)"', alone)
    assert page.count("break-before:right") == 1
    assert page.count("<section") == page.count("</section>")
    assert "copy" not in alone


@pytest.mark.browser
@pytest.mark.slow
def test_copies_on_paper(tmp_path: Path) -> None:
    page = tmp_path / "w.html"
    assert run(["worksheet", LOVE, "--copies", "2", "-o", str(page)]) == 0
    sheets = printed(page)
    starts = [number for number, text in enumerate(sheets) if text.startswith("I love AI")]
    assert starts == [0, 2]
    assert [text.count("Name:") for text in sheets] == [1, 0, 1, 0]


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("name", ["i_love_ai", "causal"])
def test_a_sheet_of_three_tokens_has_two_pages(name: str, tmp_path: Path) -> None:
    """The first steps stand on the first one, below what is given."""
    page = tmp_path / "w.html"
    assert run(["worksheet", str(INPUTS / f"{name}.yaml"), "-o", str(page)]) == 0
    first, second = printed(page)
    assert "Queries" in first or "Scores" in first
    assert "Output" in second


def test_labels_cannot_leave_their_comment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = tmp_path / "p.yaml"
    problem.write_text(
        'title: "a\\nb"\ntokens: ["x\\ny: 1"]\nQ: [[1]]\nK: [[1]]\nV: [[1]]\n', encoding="utf-8"
    )
    assert run(["worksheet", str(problem), "-o", str(tmp_path / "p.md"), "--answers", "-"]) == 0
    assert list(yaml.safe_load(capsys.readouterr().out)) == [
        "K_T", "scores", "scaled", "exp", "row_sum", "weights", "output",
    ]  # fmt: skip


@pytest.mark.tex
def test_no_step_is_parted_by_the_end_of_a_page(tmp_path: Path) -> None:
    """The steps before the scaled scores leave room for two lines of what is said about them, and
    for no more.
    """
    if shutil.which("pdflatex") is None or shutil.which("pdftotext") is None:
        pytest.skip("needs pdflatex and pdftotext")
    shapes = {"X": [4, 2], "W_Q": [2, 3], "W_K": [2, 3], "W_V": [2, 5]}
    given = "".join(
        f"{name}: {{random: {shape}, integers: true}}\n" for name, shape in shapes.items()
    )
    (tmp_path / "p.yaml").write_text(f"title: Attention\n{given}", encoding="utf-8")
    explained = ["worksheet", str(tmp_path / "p.yaml"), "--explain"]
    assert run([*explained, "-o", str(tmp_path / "w.tex")]) == 0
    subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "w.tex"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    text = subprocess.run(
        ["pdftotext", "w.pdf", "-"], cwd=tmp_path, check=True, capture_output=True
    ).stdout.decode()
    (page,) = (page for page in text.split("\f") if "score is divided by" in page)
    assert "hardly learn" in " ".join(page.split())


@pytest.mark.parametrize(
    ("name", "heading"), [("key.md", "## What the numbers"), ("key.tex", "What the numbers")]
)
def test_a_key_has_the_numbers_and_a_note_that_the_worksheet_has_not(
    name: str, heading: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / name
    assert run(["worksheet", LOVE, "--key", str(key)]) == 0
    out, written = capsys.readouterr().out, key.read_text(encoding="utf-8")
    assert "mistakes" not in out
    assert f"{heading} say about mistakes" in written
    assert "0.707" in written
    assert "______" not in written


def test_a_gradient_has_a_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = tmp_path / "key.md"
    assert (
        run(
            [
                "worksheet",
                LOVE,
                "--gradient",
                "--blank",
                "d_V",
                "-o",
                str(tmp_path / "w.md"),
                "--key",
                str(key),
            ]
        )
        == 0
    )
    assert "on the way to d\\_V" in key.read_text(encoding="utf-8")


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "json"], "--format cannot be 'json'"),
        (["-o", "w.json"], "-o w.json: this command does not write .json files"),
        (["--answers", "-"], "the worksheet and its answers cannot both go to standard output"),
        (
            ["-o", "w.md", "--answers", "w.md"],
            "the worksheet and its answers cannot both go to w.md",
        ),
        (["--answers", "a.json"], "--answers a.json: this command does not write .json files"),
        (["--answers", LOVE], "would write over the problem itself"),
        (["--answers", ""], "--answers needs the name of a file"),
        (["--key", "-"], "--key and something else cannot both go to standard output"),
        (["-o", "w.md", "--key", "w.md"], "--key and something else cannot both go to w.md"),
        (["--key", "key.json"], "--key key.json: this command does not write .json files"),
        (["--key", LOVE], "this command does not write .yaml files"),
        (["--blank", "weights,"], "--blank has an empty name"),
        (["--blank", "X"], "X cannot be blank"),
        (["--math", "dollars"], "--math cannot be used with --format table"),
        (["--fragment"], "--fragment cannot be used with --format table"),
        (["--copies", "2"], "--copies cannot be used with --format table"),
        (["--copies", "0", "-o", "w.tex"], "--copies"),
        (["--detail", "all"], "--detail cannot be 'all'"),
    ],
)
def test_wrong_usage(
    options: list[str], message: str, empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["worksheet", LOVE, *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert list(empty.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "w.md"
    assert (
        run(["worksheet", LOVE, "-o", str(page), "--answers", str(tmp_path / "no" / "a.yaml")]) == 4
    )
    assert "there is no folder" in capsys.readouterr().err
    assert not page.exists()


@pytest.mark.tex
@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["i_love_ai.yaml", "twelve_tokens.yaml", "multi_head.yaml"])
def test_a_worksheet_compiles(name: str, tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex")
    assert (
        run(["worksheet", str(INPUTS / name), "-q", "--copies", "2", "-o", str(tmp_path / "w.tex")])
        == 0
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "w.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stdout[-2000:]
    assert b"Overfull" not in done.stdout


@pytest.mark.long
def test_gradients_are_asked_for_after_the_way_forward(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers, problem = tmp_path / "answers.yaml", str(INPUTS / "next_token.yaml")
    assert run(["worksheet", problem, "--gradient", "--answers", str(answers)]) == 0
    page = capsys.readouterr().out
    forward, back = page.split("The loss\n", 1)
    assert "______" not in forward
    assert "Jacobian" not in back
    assert "loss: _" in answers.read_text()
    assert "\nweights:" not in answers.read_text()
    answers.write_text(answers.read_text().replace("loss: _", "loss: 1.45"))
    assert run(["check", problem, str(answers)]) == 1
    assert (
        "The first wrong number is the loss. You wrote 1.45. The true value is 1.410."
        in capsys.readouterr().out
    )


def test_the_method_is_told_only_if_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    pages = {}
    for options in ((), ("--explain",), ("--detail", "rows"), ("--compact",)):
        assert run(["worksheet", LOVE, *options, "--format", "markdown"]) == 0
        pages[options] = capsys.readouterr().out
    why = "divides its attention among the keys"
    assert [options for options, text in pages.items() if why in text] == [("--explain",)]
    assert all("______" in text for text in pages.values())
    headings = {options: re.findall(r"^## (.*)", text, re.M) for options, text in pages.items()}
    assert not any("Summary" in found for found in headings.values())
    assert headings["--compact",] == ["What is given", "What is to be worked out"]
    assert any("Attention weights" in heading for heading in headings[()])


def test_the_line_for_the_name_goes_with_the_title(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["worksheet", LOVE, "--format", "latex", "--fragment"]
    assert run(line) == 0
    assert "Name: ..." in capsys.readouterr().out
    assert run([*line, "--no-title"]) == 0
    assert not re.search("Name:|Date:|Marks:", capsys.readouterr().out)


@pytest.mark.parametrize(
    "options",
    [
        ("--compact", "--explain"),
        ("--compact", "--detail", "rows"),
        ("--explain", "--detail", "brief"),
        ("--explain", "-o", "w.xlsx"),
        ("--compact", "-o", "w.xlsx"),
    ],
)
def test_what_says_more_and_what_says_less(
    options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["worksheet", LOVE, *options]) == 2
    assert f"{options[0]} cannot be used with" in capsys.readouterr().err


EXAM = """\
title: Exam
X: {random: [3, WIDTH], seed: 1, integers: true}
W_Q: {random: [WIDTH, WIDTH], seed: 2, integers: true}
W_K: {random: [WIDTH, WIDTH], seed: 3, integers: true}
W_V: {random: [WIDTH, WIDTH], seed: 4, integers: true}
"""


@pytest.mark.tex
@pytest.mark.parametrize(
    ("width", "options", "pages"),
    [(2, (), 2), (4, (), 2), (2, ("--compact",), 1), (4, ("--compact",), 1)],
)
def test_a_small_problem_takes_two_pages_at_most(
    width: int, options: tuple[str, ...], pages: int, tmp_path: Path
) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex")
    (tmp_path / "p.yaml").write_text(EXAM.replace("WIDTH", str(width)), encoding="utf-8")
    page = str(tmp_path / "w.tex")
    assert run(["worksheet", str(tmp_path / "p.yaml"), *options, "-o", page]) == 0
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "w.tex"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    log = done.stdout.decode(errors="replace")
    assert f"({pages} page" in log
    assert "Overfull" not in log


EXAM = """\
title: Exam
tokens: [a, b]
X: [[1, 2], [3, 4]]
W_Q: [[1, 0], [0, 1]]
W_K: [[1, 1], [0, 1]]
W_V: [[1, 0], [1, 1]]
mask: causal
"""
ASKED = ["--ask", "Q,scores,weights", "--decimals", "2", "--marks", "Q=4,S=8.5,A=7.5"]
MARKING = """\
marks: 20
decimals: 2
steps: {Q: 4, S: 8.5, A: 7.5}
mistake: 2
"""
HANDED_IN = "queries (4 marks), the scores (8.5 marks) and the attention weights (7.5 marks)"


@pytest.mark.parametrize("format", ["table", "markdown", "latex", "html"])
def test_a_sheet_that_asks_for_steps_has_room_for_all_and_says_their_marks(
    format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem, marking = tmp_path / "exam.yaml", tmp_path / "marking.yaml"
    problem.write_text(EXAM)
    marking.write_text(MARKING)
    assert run(["worksheet", str(problem), *ASKED, "--format", format]) == 0
    page, err = capsys.readouterr()
    assert err == ""
    words = " ".join(page.split())
    assert HANDED_IN in words
    assert "Give 2 decimals, as in 0.12" in words
    assert "of 20" in words
    # Of what is worked out, no number is there: Q·Kᵀ of the first row is 1·1 + 2·3 = 7.
    numbers = page.partition("Queries")[2].partition("The problem of this page")[0]
    assert "7.07" not in numbers
    assert run(["worksheet", str(problem), "--marking", str(marking), "--format", format]) == 0
    assert capsys.readouterr().out == page


def test_a_page_for_browsers_saves_all_work_and_counts_what_is_asked_for(tmp_path: Path) -> None:
    problem, sheet, answers = (tmp_path / name for name in ("p.yaml", "s.html", "a.yaml"))
    problem.write_text(EXAM)
    assert (
        run(["worksheet", str(problem), *ASKED, "-o", str(sheet), "--answers", str(answers)]) == 0
    )
    data = re.search(r'id="attncli-answers">(.*?)</script>', sheet.read_text(encoding="utf-8"))
    assert data
    saved = json.loads(data[1])
    assert saved["asked"] == ["Q", "scores", "weights"]
    assert set(yaml.safe_load(saved["answers"])) > {"Q", "K", "scores", "masked", "exp", "output"}
    assert [*yaml.safe_load(answers.read_text())] == ["Q", "scores", "weights"]


def test_a_sheet_does_not_say_what_attention_does(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.html"
    assert run(["compute", LOVE, "-o", str(sheet)]) == 0
    opening = "Every word looks at"
    assert opening in sheet.read_text(encoding="utf-8")
    assert run(["worksheet", LOVE, "-o", str(sheet)]) == 0
    assert opening not in sheet.read_text(encoding="utf-8")
    assert run(["worksheet", LOVE, "--explain", "-o", str(sheet)]) == 0
    assert opening in sheet.read_text(encoding="utf-8")


def test_marks_need_no_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of all that is worked out, or of what is blank, the steps share them by their numbers."""
    problem = tmp_path / "exam.yaml"
    problem.write_text(EXAM)
    both = ["--blank", "weights,output", "--marks", "10"]
    assert run(["worksheet", str(problem), *both]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "What they are worth: attention weights (5 marks) and output (5 marks)." in words
    assert run(["worksheet", str(problem), "--marks", "N=10"]) == 2
    assert "no step is called 'N'" in capsys.readouterr().err


def test_gradients_that_are_asked_for_leave_the_forward_pass_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = tmp_path / "exam.yaml"
    problem.write_text(EXAM)
    options = ["worksheet", str(problem), "--gradient", "--format", "markdown", "--ask"]
    assert run([*options, "d_Q"]) == 0
    forward, _, backward = capsys.readouterr().out.partition("Gradient of the output")
    # The second score of the first row is 1·3 + 2·7.
    assert " 17" in forward
    assert "______" not in forward
    assert "______" in backward
    assert run([*options, "d_Q,weights"]) == 0
    assert "______" in capsys.readouterr().out.partition("Gradient of the output")[0]


def test_numbers_that_give_blank_steps_away_are_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = tmp_path / "exam.yaml"
    problem.write_text(EXAM)
    assert run(["worksheet", str(problem), "--blank", "scores,scaled,weights"]) == 0
    assert capsys.readouterr().err == (
        "attncli: warning: masked, exp and row_sum stand on the sheet with numbers, and give"
        " scores, scaled and weights nearly away: leave more steps blank, or name with --ask the"
        " steps to hand in\n"
    )
    assert run(["worksheet", str(problem), "--blank", "weights,output"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ask", "Q", "--blank", "Q"], "--ask cannot be used with --blank"),
        (["--marking", "m.yaml", "--ask", "Q"], "--ask cannot be used with --marking"),
        (["--marking", "m.yaml", "--blank", "Q"], "--blank cannot be used with --marking"),
        (["--marking", "m.yaml", "--marks", "5"], "--marks cannot be used with --marking"),
        (["--ask", "X"], "X cannot be blank: the problem gives it"),
    ],
)
def test_what_a_sheet_cannot_ask(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = tmp_path / "exam.yaml"
    problem.write_text(EXAM)
    assert run(["worksheet", str(problem), *options]) == 2
    assert message in capsys.readouterr().err


def test_a_marking_of_another_problem_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem, marking = tmp_path / "exam.yaml", tmp_path / "marking.yaml"
    problem.write_text(EXAM)
    marking.write_text("marks: 4\nsteps: {bias: 4}\nmistake: 1\n")
    assert run(["worksheet", str(problem), "--marking", str(marking)]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "this problem has no step bias" in err
