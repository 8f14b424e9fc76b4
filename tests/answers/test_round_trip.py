"""What attncli exports is read back as the numbers it printed, and what was changed in it as it was
changed.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import pytest

from attncli.answers import reader
from attncli.answers.blank import blank_answers
from attncli.answers.model import Answers, Claim
from attncli.answers.reader import read_answers
from attncli.errors import AttncliError
from attncli.features.check.verdicts import judge
from attncli.page.derivation import derivation
from attncli.page.gradient import gradient_page
from attncli.page.printer import Printer, printed_value
from attncli.page.view import View
from attncli.page.worksheet import blank_steps, worksheet
from attncli.problem.loader import load, loads
from attncli.problem.text.source import decode
from attncli.render import Style, render
from attncli.tracing import run
from attncli.tracing.model import Trace
from attncli.tracing.serialization import to_dict
from tests.cases import in_one_test

INPUTS = Path(__file__).parents[2] / "inputs"
NAMES = sorted(file.name for file in INPUTS.glob("*.[jy]*"))
FORMS = {
    "fences": "page.md",
    "dollars": "page.md",
    "latex": "page.tex",
    "terminal": "page.txt",
    "words": "page.txt",
    "narrow terminal": "page.txt",
    "narrow words": "page.txt",
    "html": "page.html",
    "fragment": "page.html",
}
RENDERED = {
    "fences": "markdown",
    "dollars": "markdown",
    "latex": "latex",
    "terminal": "table",
    "words": "table",
    "narrow terminal": "table",
    "narrow words": "table",
    "html": "html",
    "fragment": "html",
}


def test_a_trace_in_json_is_read_as_the_answers_that_it_has() -> None:
    for name, rounding in (
        ("i_love_ai.yaml", "exact"),
        ("causal.yaml", "shown"),
        ("grouped_query.yaml", "shown"),
        ("fully_masked.yaml", "shown"),
        ("large_scores.yaml", "shown"),
    ):
        trace = run(load(str(INPUTS / name)), rounding=rounding)
        data = to_dict(trace)
        found = judge(trace, read_in_json(data, trace))
        numbers = sum(step.value.size for step in trace.steps.values())
        assert {verdict: many for verdict, many in found.counts.items() if many} == {
            "right": numbers
        }
        # A number that another program got wrong is found.
        key = "exact" if rounding == "exact" else "value"
        row = data["steps"]["output"][key][0]
        while isinstance(row[0], list):
            row = row[0]
        row[0] = "77" if rounding == "exact" else 77.5
        found = judge(trace, read_in_json(data, trace))
        assert found.first_wrong is not None
        assert found.first_wrong[0] == "output"
        assert found.counts["wrong"] == 1


def read_in_json(data: dict[str, Any], trace: Trace) -> Answers:
    written = json.dumps(data, allow_nan=False)
    return read_answers(decode(written.encode(), "page.json"), trace)


def trace_of(name: str) -> Trace:
    return run(load(str(INPUTS / name)))


def style_of(form: str) -> Style:
    math = cast("Literal['fences', 'dollars']", form if form == "dollars" else "fences")
    width = 30 if form.startswith("narrow") else None
    return Style(width=width, math=math, ascii=form.endswith("words"), fragment=form == "fragment")


def exported(trace: Trace, form: str, view: View, *, blank: bool = False) -> str:
    document = (worksheet if blank else derivation)(trace, view)
    return render(document, RENDERED[form], style_of(form))


def read_back(text: str, name: str, trace: Trace) -> Answers:
    return read_answers(decode(text.encode(), name), trace)


def shown(trace: Trace) -> tuple[str, ...]:
    """The steps whose matrices a page has: the transpose of the keys is a line of the scores."""
    return tuple(step.name for step in trace.computed() if step.name != "K_T")


def claims(answers: Answers) -> Iterator[tuple[str, tuple[int, ...], Claim | None]]:
    for name, answer in answers.steps.items():
        for index in np.ndindex(answer.cells.shape):
            yield name, index, answer.cells[index]


def test_a_line_that_a_narrow_terminal_wraps_after_its_colon() -> None:
    trace = trace_of("i_love_ai.yaml")
    for page in (
        "S, columns: I, love, AI\nrow I: 1, 2, 3\nrow love: 4, 5, 6\nrow AI: 7, 8, 9\n",
        "S, columns:\n  I, love, AI\nrow I: 1, 2, 3\nrow\n  love: 4, 5, 6\nrow AI:\n  7, 8, 9\n",
    ):
        scores = read_back(page, "page.txt", trace).steps["scores"]
        assert [claim.text for claim in scores.cells.flat] == list("123456789")


@pytest.mark.at_most(82)
@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_the_printed_numbers_are_read_back(name: str, form: str) -> None:
    trace = trace_of(name)
    printer = Printer(trace, 3)
    for view in (View(detail="brief"), View(heatmap=True)):
        answers = read_back(exported(trace, form, view), FORMS[form], trace)
        found = tuple(answers.steps)
        if RENDERED[form] == "html":
            # Such a page calls the transposed keys and the mask by their names, too.
            found = tuple(name for name in found if name in shown(trace))
        assert found == shown(trace)
        for step, index, claim in claims(answers):
            assert claim is not None
            assert claim.value == printed_value(printer.number(step, index)), (step, index)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("form", ["fences", "latex", "terminal"])
def test_the_page_of_a_batch_says_once_more_what_all_entries_share_and_where_each_kv_head_is(
    form: str,
) -> None:
    text = """
        X: [[[1], [0]], [[2], [-1]]]
        W_Q: [[1, 2, 3, 4]]
        W_K: [[1, -1]]
        W_V: [[0.5, 2]]
        W_O: [[1, 0], [0, 1], [1, 1], [0.5, -1]]
        heads: 4
        kv_heads: 2
    """
    trace = run(loads(text.encode(), "p.yaml"), gradient=True)
    page = render(gradient_page(trace, View(forward=True)), RENDERED[form], Style())
    answers = read_back(page, FORMS[form], trace)
    assert {"output", "d_K", "d_V", "d_W_O", "d_X"} <= {*answers.steps}
    assert all(answer.complete for answer in answers.steps.values())


@pytest.mark.sampled(2)
# on a terminal the factors of a product stand twice
@pytest.mark.parametrize("form", ["fences", "dollars", "latex"])
@pytest.mark.parametrize(
    "name", ["i_love_ai.yaml", "twelve_tokens.yaml", "grouped_query.yaml", "batch.yaml"]
)
def test_one_changed_cell_is_the_only_one_that_changes(name: str, form: str) -> None:
    trace = trace_of(name)
    text = exported(trace, form, View(detail="brief"))
    before = {
        (step, index): claim for step, index, claim in claims(read_back(text, FORMS[form], trace))
    }
    cell = r"\\hfill -?[0-9.]+ (?=[&\\])" if form == "latex" else r"(?<=\| ) *-?[0-9.]+ (?=\|)"
    places = list(re.finditer(cell, text.partition("Summary")[0]))
    for found in random.Random(name).sample(places, 12):
        new = r"\hfill 123.40 " if form == "latex" else "123.40 "
        answers = read_back(text[: found.start()] + new + text[found.end() :], FORMS[form], trace)
        after = {(step, index): claim for step, index, claim in claims(answers)}
        # arrays of the problem are answers now
        new_steps = {step for step, _ in after} - {step for step, _ in before}
        changed = [place for place in before if before[place] != after[place]]
        changed += [
            place
            for place, claim in after.items()
            if place[0] in new_steps and claim and claim.text == "123.40"
        ]
        assert len(changed) == 1
        claim = after[changed[0]]
        assert claim is not None
        assert claim.text == "123.40"


@pytest.mark.at_most(82)
@pytest.mark.sampled(8)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_a_worksheet_is_blank_where_it_should_be(name: str, form: str) -> None:
    trace = trace_of(name)
    blank = frozenset(blank_steps(trace))
    answers = read_back(exported(trace, form, View(blank=blank), blank=True), FORMS[form], trace)
    assert {name for name, answer in answers.steps.items() if answer.blank} == blank
    assert all(claim is not None for step, _, claim in claims(answers) if step not in blank)


@in_one_test("name", NAMES)
def test_a_file_to_fill_in_is_read_back(name: str) -> None:
    trace = trace_of(name)
    names = blank_steps(trace)
    text = blank_answers(trace, names)
    answers = read_back(text, "answers.yaml", trace)
    assert tuple(answers.steps) == names
    assert all(answer.blank for answer in answers.steps.values())
    numbers = iter(range(text.count("_")))
    head, gap, lists = text.partition("\n\n")
    lists = re.sub(r"(?<=[\[ ])_(?=[],\n])", lambda _: str(next(numbers)), lists)
    filled = read_back(head + gap + lists, "answers.yaml", trace)
    found = [int(claim.value) for step, _, claim in claims(filled) if claim]
    assert found == list(range(sum(trace.steps[step].value.size for step in names)))


def half_up(number: float) -> str:
    """As people write it, with six decimals."""
    return (
        f"{Decimal(repr(float(number))).quantize(Decimal('1e-6'), ROUND_HALF_UP)}"
        if number > -np.inf
        else "-∞"
    )


@pytest.mark.sampled(6)
@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_worksheet_for_the_terminal_is_filled_in(name: str, gradient: bool) -> None:
    """Every line to write on, from the first to the last, gets the number that stands there in the
    trace.
    """
    trace = run(load(str(INPUTS / name)), gradient=gradient)
    blank = blank_steps(trace)
    text = render(worksheet(trace, View(blank=frozenset(blank), detail="brief")), "table", Style())
    assert all(
        answer.blank
        for step, answer in read_back(text, "w.txt", trace).steps.items()
        if step in blank
    )
    marked = iter(range(1, text.count("______") + 1))
    answers = read_back(re.sub("______", lambda _: str(next(marked)), text), "w.txt", trace)
    places = {
        int(claim.value): (step, index)
        for step, index, claim in claims(answers)
        if claim and step in blank
    }
    assert len(places) == text.count("______") == sum(trace[step].size for step in blank)
    numbers = (
        half_up(trace[step][index]) for step, index in map(places.__getitem__, sorted(places))
    )
    filled = re.sub("______", lambda _: next(numbers), text)
    judged = judge(trace, read_back(filled, "w.txt", trace))
    assert judged.counts["right"] == sum(judged.counts.values())


@pytest.mark.parametrize(
    "row",
    [
        "I    ⎡ 0.07  0.707  0.223 ⎤",
        "I    ⎡ 0.07    0.707 ___0.223 ⎤",
        "I    ⎡ 0.07__  0.707_  0.223_ ⎤",  # typed over the line
        "I    ⎡0.07 0.707 0.223⎤",
        "I ⎡ 0.07   0.707   0.223   ⎤  ",
    ],
)
def test_a_row_is_read_however_it_was_typed(row: str) -> None:
    trace = trace_of("i_love_ai.yaml")
    others = "    love ⎢ ______  1/3  ______ ⎥\n    AI   ⎣ ______  ______  ? ⎦\n"
    text = f"    A           I    love      AI\n    {row}\n{others}"
    cells = read_back(text, "w.txt", trace).steps["weights"].cells
    assert [claim and claim.text for claim in cells.flat] == [
        "0.07",
        "0.707",
        "0.223",
        None,
        "1/3",
        *[None] * 4,
    ]


def test_a_row_in_words_is_read_however_it_was_typed() -> None:
    trace = trace_of("i_love_ai.yaml")
    text = (
        "A, columns: I, love, AI\nrow I: 0.07, 1/3 (hidden), blank\nrow love: 0.07__,  _, _\nrow"
        " AI: ?, ______, -inf\n"
    )
    cells = read_back(text, "w.txt", trace).steps["weights"].cells
    expected = ["0.07", "1/3", None, "0.07", None, None, None, None, "-inf"]
    assert [claim and claim.text for claim in cells.flat] == expected


@pytest.mark.parametrize(
    ("form", "blank"), [("fences", "______"), ("latex", r"\underline{\hspace{2.7em}}")]
)
def test_numbers_written_into_a_worksheet(form: str, blank: str) -> None:
    trace = trace_of("i_love_ai.yaml")
    text = exported(trace, form, View(blank=frozenset({"weights"})), blank=True)
    for written in ("0.07", "0.7070", "2/9"):
        text = text.replace(blank, written if form == "fences" else rf"\underline{{{written}}}", 1)
    cells = read_back(text, FORMS[form], trace).steps["weights"].cells
    assert [claim and claim.text for claim in cells.flat] == ["0.07", "0.7070", "2/9", *[None] * 6]


@pytest.mark.parametrize("form", FORMS)
def test_a_page_of_one_head(form: str) -> None:
    trace = trace_of("multi_head.yaml")
    answers = read_back(exported(trace, form, View(head=1)), FORMS[form], trace)
    scores = answers.steps["scores"].cells
    assert all(claim is None for claim in scores[0].flat)
    assert [float(claim.value) for claim in scores[1].flat] == trace["scores"][1].flatten().tolist()


@pytest.mark.long
def test_content_tells_the_form_of_standard_input() -> None:
    trace = trace_of("i_love_ai.yaml")
    for form in FORMS:
        answers = read_back(exported(trace, form, View()), "standard input", trace)
        assert {*answers.steps} >= {*shown(trace)}
    for text in (
        '{"S": [[1, 5, 3], [3, 3, 3], [2, 4, 3]]}',
        "S: [[1, 5, 3], [3, 3, 3], [2, 4, 3]]\n",
    ):
        assert tuple(read_back(text, "standard input", trace).steps) == ("scores",)


@pytest.mark.parametrize("form", ["terminal", "words"])
def test_a_matrix_that_is_cut_from_a_page_for_a_terminal_is_told_by_its_content(form: str) -> None:
    """A drawn matrix of one row has the brackets that lists have."""
    text = "{X: [[1, 2]], W_Q: [[3, 1], [4, 1]], b_Q: [5, 9], K: [[2, 6]], V: [[5, 3]], scale: 1}"
    trace = run(loads(text.encode(), "p.yaml"))
    page = exported(trace, form, View())
    found = {}
    for part in page.split("\n\n"):
        if re.search(r"\[ .* \]|⎡|^row", part, re.MULTILINE):
            for name in ("answers.txt", "-"):
                found.update(read_back(part, name, trace).steps)
    by_hand = {"Q": [[16, 12]], "scores": [[104]], "weights": [[1]], "output": [[5, 3]]}
    for name, numbers in by_hand.items():
        claimed = [[float(claim.value) for claim in row] for row in found[name].cells]
        assert claimed == numbers


@pytest.mark.parametrize(
    "text",
    [
        "scores:\n  [ 1 ]\n",
        "scores:\n- [ 1 ]\n",
        "# mine\nscores: [ 1\n ]\n",
        "scores: |\n  [[-1.   0.5 ]\n   [ 1.   0.5 ]\n   [ 1.   0.5 ]]\n",
        '{"scores":\n [\n  [ 1 ],\n  [ 2 ]\n ]}',
    ],
)
def test_lists_with_blanks_in_their_brackets_are_no_page_for_a_terminal(text: str) -> None:
    forms = [form for form in reader.FORMS if form.looks_like.search(text)]
    assert [form.module for form in forms] == ["lists"]


def test_the_latex_page_of_one_cell_has_the_matrix_that_the_cell_is_in() -> None:
    trace = trace_of("i_love_ai.yaml")
    answers = read_back(exported(trace, "latex", View(cell="scores[0,1]")), "page.tex", trace)
    assert [claim and claim.text for claim in answers.steps["scores"].cells.flat] == [
        "1",
        "5",
        "3",
        *"333",
        *"243",
    ]


def test_what_browsers_save_of_a_worksheet_is_read() -> None:
    """They write what was typed as the value of its field."""
    trace = trace_of("i_love_ai.yaml")
    view = View(detail="brief", blank=frozenset({"scores"}))
    page = render(worksheet(trace, view), "html", Style())
    typed = iter(["1", "5", "1/2", *"333", *"24"])
    # The fields for name and date come before.
    above, begin, fields = page.partition('data-array="scores"')
    fields = re.sub("<input(?= )", lambda _: f'<input value="{next(typed, "")}"', fields)
    answers = read_back(above + begin + fields, "page.html", trace)
    texts = [claim and claim.text for claim in answers.steps["scores"].cells.flat]
    assert texts == ["1", "5", "1/2", *"333", "2", "4", None]


def test_a_page_in_html_that_leaves_rows_out_is_one_error() -> None:
    """The numbers that are not there are no blanks."""
    trace = trace_of("i_love_ai.yaml")
    page = render(derivation(trace, View(detail="brief")), "html", Style())
    start = page.index('data-array="scores"')
    page = page[:start] + page[start:].replace("<td>5</td>", '<td class="dots">…</td>', 1)
    with pytest.raises(AttncliError) as found:
        read_back(page, "page.html", trace)
    assert "is not whole on this page" in str(found.value)
