"""A worksheet in a browser: what is typed is saved as answers that `check` reads, and opened
again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from attncli.answers.reader import read_answers
from attncli.cli.main import run
from attncli.problem.loader import load
from attncli.problem.text.source import decode
from attncli.tracing import run as run_trace
from tests.render.browsers import Browser, played

INPUTS = Path(__file__).parents[2] / "inputs"
HEADS = INPUTS / "multi_head.yaml"
SAVE = ("saved", "Save my answers")


def sheet(problem: Path, folder: Path) -> Path:
    page = folder / "sheet.html"
    assert run(["worksheet", str(problem), "-o", str(page)]) == 0
    return page


@pytest.mark.browser
def test_what_is_typed_is_saved_as_answers(browser: Browser, tmp_path: Path) -> None:
    """The first fields are those of Q, of both heads in the order of the page: the second head has
    others between.
    """
    page = sheet(HEADS, tmp_path)
    trace = run_trace(load(str(HEADS)))
    count = trace.steps["Q"].value[0].size
    texts = [f"{number}.50" for number in range(count - 2)] + ["0,5", "1/2"]
    [[text]] = played(browser, (page, [("fill", " ".join(texts)), ("name", "Ada"), SAVE]))
    assert text.startswith("# Name: Ada\n# Answers to ")
    answers = read_answers(decode(text.encode(), "ada.yaml"), trace)
    first, second = answers.steps["Q"].cells
    written = [claim.as_written for claim in first.ravel()]
    assert written == [*texts[:-2], "0.5", "1/2"]
    assert [*second.ravel()] == [None] * count
    assert answers.steps["output"].blank


@pytest.mark.browser
def test_a_saved_file_is_gone_on_with(browser: Browser, tmp_path: Path) -> None:
    page = sheet(HEADS, tmp_path)
    typed = [("fill", "0.70 -1 1/2 x"), ("name", 'Bo "B"'), ("date", "3 May: 10 h")]
    [[text]] = played(browser, (page, [*typed, SAVE]))
    play = [("open", text), ("wait", ""), ("values", "td input"), ("values", "input.word")]
    [[values, words]] = played(browser, (page, play))
    assert values[:5] == ["0.70", "-1", "1/2", "x", ""]
    assert words == ['Bo "B"', "3 May: 10 h"]


def test_a_page_has_one_place_for_a_name(tmp_path: Path) -> None:
    """Who marks the sheet writes the marks, so there is no field for them."""
    page = sheet(HEADS, tmp_path).read_text("utf-8")
    assert re.findall('<input class="word" name="([^"]*)"', page) == ["Name", "Date"]
    assert "Marks: ........</p>" in page


@pytest.mark.browser
def test_a_page_without_a_title_asks_for_the_name_below(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "sheet.html"
    assert run(["worksheet", str(HEADS), "--no-title", "-o", str(page)]) == 0
    [[text]] = played(browser, (page, [("name", "Ada"), SAVE]))
    assert text.startswith("# Name: Ada\n# Answers to ")


def test_the_opening_of_a_sheet_promises_no_numbers(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.html"
    assert run(["worksheet", str(HEADS), "--explain", "-o", str(sheet)]) == 0
    page = sheet.read_text("utf-8")
    assert re.search('<p class="opening">[^<]* do it[.]</p>', page)


@pytest.mark.browser
def test_what_is_no_number_is_marked_before_it_is_saved(browser: Browser, tmp_path: Path) -> None:
    page = sheet(HEADS, tmp_path)
    said = ("texts", ".saving [role=status]")
    marked = ("values", "main input[aria-invalid=true]")
    typed = "abc 0,5 33% 1/2 √3/2 _ -inf 1.2.3 0.7"
    leave = ("click", "main h2")
    play = [("fill", typed), leave, said, marked, SAVE, said]
    [[before, fields, text, after]] = played(browser, (page, play))
    assert fields == ["abc", "1.2.3"]
    sentence = "2 fields are no numbers: abc, 1.2.3."
    assert before[0].endswith(f" numbers. {sentence}")
    assert after == [f"Saved as answers.yaml. {sentence} Correct this, and save again."]
    assert '"abc", 0.5' in text
    mended = typed.replace("abc", "1").replace("1.2.3", "1.2")
    [[_, after]] = played(browser, (page, [("fill", mended), SAVE, said]))
    assert after == ["Saved as answers.yaml. Hand in this file."]


@pytest.mark.browser
def test_only_what_is_asked_for_is_counted(browser: Browser, tmp_path: Path) -> None:
    """The output has 20 numbers; the first field is one of Q, which nobody asked for."""
    folder = tmp_path / "set"
    assert (
        run(["generate", "--seed", "s", "--count", "1", "--ask", "output", "-d", str(folder)]) == 0
    )
    page = folder / "worksheets" / "student-01.html"
    said = ("texts", ".saving [role=status]")
    [counted] = played(browser, (page, [said, ("fill", "1"), said]))
    assert counted == 2 * [["0 of 20 numbers that are asked for"]]


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("name", ["i_love_ai", "batch", "grouped_query", "llama_layer"])
def test_each_field_is_the_cell_of_its_place(name: str, browser: Browser, tmp_path: Path) -> None:
    """All numbers of the solution, typed in where the labels of the page say."""
    problem = INPUTS / f"{name}.yaml"
    page = sheet(problem, tmp_path)
    trace = run_trace(load(str(problem)))
    [[steps]] = played(browser, (page, [("blanks", "")]))
    numbers = {step: iter(trace[step].ravel().tolist()) for step in trace}
    texts = [f"{next(numbers[step]):.6f}" for step in steps]
    [[text]] = played(browser, (page, [("fill", " ".join(texts)), SAVE]))
    (tmp_path / "answers.yaml").write_text(text, "utf-8")
    assert run(["check", str(problem), str(tmp_path / "answers.yaml")]) == 0


def test_a_page_of_copies_has_no_script(tmp_path: Path) -> None:
    page = tmp_path / "sheet.html"
    assert run(["worksheet", str(HEADS), "--copies", "2", "-o", str(page)]) == 0
    assert "<script" not in page.read_text("utf-8")
