"""Canvas: the text says one number a question, and text2qti makes QTI of it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exports import HOSTILE, INPUTS, hostile_problem

from attncli.escaping import visible
from attncli.problem.loader import load
from attncli.tracing import run

Export = Callable[..., str]


def test_a_question_for_each_number(export: Export) -> None:
    text = export(INPUTS / "causal.yaml", "--to", "canvas")
    questions = re.findall(r"^(\d+)\.  (.*)\n", text, re.MULTILINE)
    assert [int(number) for number, _ in questions] == list(range(1, 16))
    assert questions[1][1].startswith("Attention weights A: row 2 (love), column 1 (I).")
    answers = [float(key) for key in re.findall(r"^=   (\S+) \+- 0\.0015$", text, re.MULTILINE)]
    trace = run(load(str(INPUTS / "causal.yaml")))
    right = [*trace["weights"][np.tril_indices(3)], *trace["output"].ravel()]
    np.testing.assert_allclose(answers, right, atol=0.0005)
    assert "- **0.577** comes out if the scale was applied after the softmax." in text


def test_no_two_questions_are_the_same(export: Export, tmp_path: Path) -> None:
    problem = tmp_path / "p.yaml"
    problem.write_text("tokens: [a, a]\nQ: [[1], [1]]\nK: [[1], [1]]\nV: [[1], [1]]\n")
    text = export(problem, problem, "--to", "canvas")
    asked = re.findall(r"^\d+\.  (.*)\n", text, re.MULTILINE)
    assert len(asked) == len(set(asked)) == 2 * (4 + 2)


@pytest.mark.long
def test_where_a_number_is(export: Export) -> None:
    text = export(INPUTS / "next_token.yaml", "--to", "canvas", "--ask", "row_sum,loss,d_W_Q")
    assert re.search(r"Row sums r: row 3 \(\w+\)\.", text)
    assert re.search(r"L: the number\. ", text)
    heads = export(INPUTS / "multi_head.yaml", "--to", "canvas", "--ask", "weights")
    assert "Attention weights A: head 1, row 2 (chase), column 3 (cats)." in heads


def quiz(text: str) -> Any:
    """The text as text2qti reads it."""
    pytest.importorskip("text2qti")
    from text2qti.config import Config
    from text2qti.quiz import Quiz

    return Quiz(text, config=Config(), source_name="quiz.txt")


@pytest.mark.long
def test_text2qti_reads_it(export: Export) -> None:
    files = [INPUTS / f"{name}.yaml" for name in ("causal", "batch", "gpt_oss_sink")]
    text = export(*files, "--to", "canvas", "--category", "Week 3")
    found = quiz(text)
    assert found.title_raw == "Week 3"
    questions = [each for each in found.questions_and_delims if hasattr(each, "numerical_exact")]
    assert len(questions) == len(re.findall(r"^\d+\. ", text, re.MULTILINE))
    assert all(each.type == "numerical_question" for each in questions)
    trace = run(load(str(files[0])))
    right = [*trace["weights"][np.tril_indices(3)], *trace["output"].ravel()]
    for question, number in zip(questions, right, strict=False):
        assert question.numerical_min < round(number, 3) - 0.001
        assert question.numerical_max > round(number, 3) + 0.001


def test_text2qti_takes_numbers_near_0(export: Export, tmp_path: Path) -> None:
    problem = tmp_path / "p.yaml"
    problem.write_text("Q: [[0]]\nK: [[1]]\nV: [[0.002]]\n")
    for tolerance in ("0.002", "0.00001", "0.0015"):
        text = export(problem, "--to", "canvas", "--ask", "scores,output", "--tolerance", tolerance)
        scores, output = (
            each for each in quiz(text).questions_and_delims if hasattr(each, "numerical_min")
        )
        assert scores.numerical_min < 0 < scores.numerical_max
        assert output.numerical_min < 0.002 < output.numerical_max or tolerance == "0.00001"


def test_hostile_words_stay_words(export: Export, tmp_path: Path) -> None:
    found = quiz(export(hostile_problem(tmp_path), "--to", "canvas"))
    region, *questions = found.questions_and_delims
    assert len(questions) == len(HOSTILE) + 2
    words = html.unescape(re.sub(r"<[^>]*>", " ", html.unescape(region.text_html_xml)))
    for word in HOSTILE:
        said = visible(word).replace("\ufffe", r"\ufffe").strip()
        assert said in words
        assert said in region.title_raw
    asked = [
        html.unescape(re.sub(r"<[^>]*>", "", html.unescape(each.question_html_xml)))
        for each in questions
    ]
    for word, said in zip(HOSTILE, asked, strict=False):
        assert visible(word).replace("\ufffe", r"\ufffe").strip() in said or word == "  "
    assert not found.md.images
