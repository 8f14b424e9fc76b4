"""Answers to gradients: told from those to the way forward alone, read in every form, and
judged.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from attncli.answers.reader import mentions_gradients, read_answers
from attncli.errors import AttncliError
from attncli.features.check.verdicts import Solution, judge_solution
from attncli.page.gradient import gradient_page
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.problem.model import Problem
from attncli.problem.text.source import decode
from attncli.render import Style, render
from attncli.tracing import run
from tests.cases import in_one_test

INPUTS = Path(__file__).parents[2] / "inputs"
LOVE, NEXT = load(str(INPUTS / "i_love_ai.yaml")), load(str(INPUTS / "next_token.yaml"))


def solution(problem: Problem, text: str, name: str = "answers.yaml") -> Solution:
    source = decode(text.encode(), name, None)
    assert mentions_gradients(source)
    return judge_solution(problem, lambda trace: read_answers(source, trace), gradient=True)


@in_one_test(
    "text",
    ["d_Q: 1", "{dQ: 1}", '{"L": 1}', "loss: 1", "δ: 1", r"\mathrm{d}V", "d_W_Q:", "logP: 1"],
)
def test_what_asks_for_the_way_back(text: str) -> None:
    assert mentions_gradients(decode(text.encode(), "answers.yaml", None))


@pytest.mark.parametrize("text", ["Q: 1", "d_k: 1", "scores: [[1]]", "{weights: 1}", "old_Q: 1"])
def test_what_does_not(text: str) -> None:
    assert not mentions_gradients(decode(text.encode(), "answers.yaml", None))


def test_an_error_is_carried_on_the_way_back() -> None:
    """dA[I, love] is 3, not 4; δ = 0.070·2 + 0.707·4 + 0.223·2 = 3.41 follows from it, and dZ from
    that.
    """
    answers = [
        "d_weights: [[2, 4, 2], [2, 3, 2], [2, 3, 2]]",
        "delta: [3.41, 2.33, 2.53]",
        "d_scaled: [[-0.10, 0.41, -0.31], null, null]",
    ]
    verdicts = solution(LOVE, "\n".join(answers)).verdicts
    assert verdicts.first_wrong == ("d_weights", (0, 1))
    assert [judged.verdict for judged in verdicts.steps["delta"]] == ["carried", "right", "right"]
    assert [judged.verdict for judged in verdicts.steps["d_scaled"][0]] == ["carried"] * 3


def test_a_loss_is_one_number() -> None:
    verdicts = solution(NEXT, "row_loss: [1.01, 1.39, 1.83]\nloss: 1.41").verdicts
    assert verdicts.counts["right"] == 4
    wrong = solution(NEXT, "row_loss: [1.01, 1.39, 1.83]\nloss: 4.23").verdicts  # their sum
    assert wrong.first_wrong == ("loss", ())


@pytest.mark.parametrize("written", ["1.41", "[1.41]", "[[1.41]]", "[[[1.41]]]"])
def test_a_loss_may_stand_in_brackets(written: str) -> None:
    assert solution(NEXT, f"loss: {written}").verdicts.counts["right"] == 1
    assert (
        solution(NEXT, f"loss: {written.replace('1.41', 'null')}").verdicts.counts["missing"] == 1
    )


def test_so_may_what_a_sink_is_handed_back() -> None:
    sink = load(str(INPUTS / "sink.yaml"))
    assert solution(sink, "d_sink: [0]").verdicts.first_wrong == ("d_sink", ())


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("[]", "not an empty list"),
        ("[[]]", "not an empty list"),
        ("[1, 2]", "not a list of 2 entries"),
        ("[[1], [2]]", "not a list of 2 entries"),
        ("{a: 1}", "not a mapping"),
        ("[{a: 1}]", "not a mapping"),
    ],
)
def test_a_loss_is_no_list(written: str, message: str) -> None:
    with pytest.raises(AttncliError) as error:
        solution(NEXT, f"loss: {written}")
    assert (error.value.path, error.value.message) == ("loss", f"must be one number, {message}")
    assert error.value.help == "write loss: 0.70"


@pytest.mark.sampled(3)
@pytest.mark.each_choice
@pytest.mark.parametrize(
    "file", ["next_token", "grouped_query", "sink", "bahdanau", "batch", "kv_cache"]
)
@pytest.mark.parametrize(("format", "name"), [("markdown", "page.md"), ("latex", "page.tex")])
def test_a_page_of_gradients_reads_back(file: str, format: str, name: str) -> None:
    problem = load(str(INPUTS / f"{file}.yaml"))
    trace = run(problem, gradient=True)
    text = render(gradient_page(trace, View(forward=True)), format, Style())
    verdicts = solution(problem, text, name).verdicts
    # The transpose is a line of the scores.
    assert {step.name for step in trace.computed()} - {"K_T"} <= {*verdicts.steps}
    assert verdicts.counts["wrong"] == verdicts.counts["missing"] == 0


HEADS = "Q: [[[1, 2], [2, 1]]]\nK: [[[1, 1], [0, 1]]]\nV: [[[1], [2]]]\n"
ENTRIES = "X: [[[1, 2], [2, 1]]]\nW_Q: [[1, 0], [0, 1]]\nW_K: [[1, 1], [0, 1]]\nW_V: [[1], [2]]\n"


@pytest.mark.parametrize("form", [HEADS, ENTRIES], ids=["head", "entry"])
@pytest.mark.parametrize(
    ("format", "name"), [("markdown", "page.md"), ("latex", "page.tex"), ("table", "page.txt")]
)
def test_row_sums_of_the_only_head_or_entry_have_its_name(
    form: str, format: str, name: str, tmp_path: Path
) -> None:
    """Beside the gradient of a sink they stand for all of them: a row is called head 0."""
    file = tmp_path / "problem.yaml"
    file.write_text(f"{form}sink: [0]\n")
    problem = load(str(file))
    text = render(gradient_page(run(problem, gradient=True), View()), format, Style())
    verdicts = solution(problem, text, name).verdicts
    assert "row_sum" in verdicts.steps
    assert verdicts.counts["wrong"] == verdicts.counts["missing"] == 0


@pytest.mark.parametrize("file", ["batch", "grouped_query"])
def test_a_matrix_with_the_rows_of_all_heads_is_read_whole(file: str) -> None:
    """On a page without the forward pass, X stands once for all entries, and W_Q for all heads."""
    problem = load(str(INPUTS / f"{file}.yaml"))
    text = render(gradient_page(run(problem, gradient=True), View()), "markdown", Style())
    name = {"batch": "X", "grouped_query": "W_Q"}[file]
    solved = solution(problem, text, "page.md")
    assert solved.verdicts.counts["wrong"] == 0
    # What is given is no answer where the page has it unchanged, and so it was read.
    changed = text.replace("| **entry 0, first**  |   1 |", "| **entry 0, first**  |   7 |", 1)
    changed = changed.replace("| **head 0, d1** |   0 |", "| **head 0, d1** |   7 |", 1)
    assert changed != text
    assert name in solution(problem, changed, "page.md").verdicts.steps
