"""Moodle: a reader written from its documentation finds every blank, and marks what students
type.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from cloze import ClozeQuestion, read
from exports import HOSTILE, INPUTS, hostile_problem

from attncli.escaping import visible
from attncli.mistakes.catalogue import applicable
from attncli.mistakes.mistaken_trace import MistakenTrace
from attncli.page.document import plain, with_symbols
from attncli.problem.loader import load
from attncli.tracing import run

Export = Callable[..., str]
CAUSAL = INPUTS / "causal.yaml"
X = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]])
W_Q = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 1]])
W_K = np.array([[0, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 0]])
W_V = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
SEEN = np.tril(np.ones((3, 3), dtype=bool))


def solved(
    *, scale: float = 3**0.5, seen: np.ndarray = SEEN, axis: int = 1, swapped: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Weights and output of inputs/causal.yaml, by NumPy alone, with the mistakes that these
    say.
    """
    q, k = (X @ W_K, X @ W_Q) if swapped else (X @ W_Q, X @ W_K)
    powers = np.where(seen, np.exp(q @ k.T / scale), 0)
    weights = powers / powers.sum(axis=axis, keepdims=True)
    return weights, weights @ (X @ W_V)


def typed(weights: np.ndarray, output: np.ndarray) -> list[float]:
    """What a student types in: the weights of visible keys and the output, with three decimals."""
    return [round(float(number), 3) for number in (*weights[SEEN], *output.ravel())]


def one(text: str) -> ClozeQuestion:
    _, (question,) = read(text)
    return question


def test_the_right_numbers_have_full_marks(export: Export) -> None:
    question = one(export(CAUSAL, "--to", "moodle"))
    right = typed(*solved())
    assert len(question.blanks) == len(right) == 6 + 9  # what the mask hides is not asked for
    for blank, number in zip(question.blanks, right, strict=True):
        for off in (-0.001, 0, 0.001):
            assert blank.marked(number + off).share == 1
        assert getattr(blank.marked(number + 0.002), "share", 0) == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        ("the scores were not scaled", {"scale": 1}),
        ("the scores were divided by d_k, not by its root", {"scale": 3}),
        ("the mask was forgotten", {"seen": np.ones((3, 3), dtype=bool)}),
        ("the mask hid each token from itself", {"seen": np.tril(np.ones((3, 3), dtype=bool), -1)}),
        ("the softmax was taken down the columns", {"axis": 0}),
        ("W_Q and W_K were swapped", {"swapped": True}),
    ],
)
def test_numpy_s_mistakes_are_answered_by_name(
    export: Export, name: str, mistake: dict[str, object]
) -> None:
    question = one(export(CAUSAL, "--to", "moodle"))
    with np.errstate(invalid="ignore"):
        wrong = np.nan_to_num(solved(**mistake)[0]), np.nan_to_num(solved(**mistake)[1])  # type: ignore[arg-type]
    told = 0
    for blank, number, right in zip(question.blanks, typed(*wrong), typed(*solved()), strict=True):
        if abs(number - right) > 0.0031:
            answer = blank.marked(number)
            assert answer is not None
            assert answer.share == 0
            # d_k is a formula there.
            plain = re.sub(r"<sub>(\w+)</sub>", r"_\1", answer.feedback)
            assert name in plain
            told += 1
    assert told > 3


@pytest.mark.sampled(2)
@pytest.mark.parametrize("file", sorted(INPUTS.glob("*.yaml")), ids=lambda file: file.stem)
def test_every_key_is_right_and_every_mistake_is_named_in_every_example(
    export: Export, file: Path
) -> None:
    question = one(export(file, "--to", "moodle"))
    trace = run(load(str(file)))
    hidden = np.zeros(trace["weights"].shape, dtype=bool)
    if "mask" in trace:
        hidden |= trace["mask"] == -np.inf
    asked = np.concatenate([trace["weights"][~hidden], trace["output"].ravel()])
    assert len(question.blanks) == len(asked)
    for blank, key in zip(question.blanks, asked, strict=True):
        assert blank.marked(round(key, 3)).share == 1
    for mistake, changes in applicable(trace):
        mistaken = MistakenTrace(trace, changes)
        numbers = np.concatenate([mistaken["weights"][~hidden], mistaken["output"].ravel()])
        for blank, key, number in zip(question.blanks, asked, numbers, strict=True):
            if abs(number - key) > 0.0041 and abs(number) < 1e9:
                feedback = blank.marked(round(number, 3)).feedback
                said = re.sub("</?sub>", "", unescape(feedback).replace("<sub>", "_"))
                assert plain(with_symbols(mistake.name)) in said


def test_a_question_says_everything_that_is_needed(export: Export) -> None:
    words = one(export(CAUSAL, "--to", "moodle")).words
    for said in (
        "3 tokens",
        "mask: causal",
        "Query weights W_Q",
        "Z = S / √d_k",
        "Give every number with 3 decimals",
    ):
        assert said in words
    assert "Z = S" not in one(export(CAUSAL, "--to", "moodle", "--no-formulas")).words


def test_a_matrix_of_a_mask_is_shown(export: Export) -> None:
    """Nobody can know it otherwise."""
    assert (
        "Mask M, which is added to the scores"
        in one(export(INPUTS / "head_masks.yaml", "--to", "moodle")).words
    )


def test_given_numbers_have_all_the_digits_that_answers_are_judged_by(
    export: Export, tmp_path: Path
) -> None:
    problem = tmp_path / "p.yaml"
    problem.write_text(
        "Q: {random: [2, 2], seed: 1}\nK: [[0.123456789, 1/3], [1, 2]]\nV: [[1], [2]]\n"
    )
    words = one(export(problem, "--to", "moodle")).words
    trace = run(load(str(problem)))
    for shown in (*map(repr, trace["Q"].ravel().tolist()), "0.123456789", "1/3"):
        assert shown in words


@pytest.mark.long
def test_several_files_are_a_bank(export: Export) -> None:
    files = [INPUTS / f"{name}.yaml" for name in ("i_love_ai", "causal", "multi_head")]
    category, questions = read(export(*files, "--to", "moodle", "--category", "NLP & co/Week 3"))
    assert category == "$course$/top/NLP & co/Week 3"
    assert [question.name for question in questions] == [load(str(file)).title for file in files]


def test_hostile_words_stay_words(export: Export, tmp_path: Path) -> None:
    text = export(hostile_problem(tmp_path), "--to", "moodle")
    question = one(text)
    assert len(question.blanks) == len(HOSTILE) + 2
    assert all(
        blank.answers[0].share == 1 and not blank.answers[0].feedback for blank in question.blanks
    )
    assert visible("\ufffe") == "\ufffe"  # which XML cannot have
    for word in HOSTILE:
        said = visible(word).replace("\ufffe", r"\ufffe")
        assert said in question.name
        assert said.strip() in question.words
    assert "<script" not in text
    assert "<b>" not in text


def test_steps_decimals_and_tolerance(export: Export) -> None:
    question = one(
        export(
            CAUSAL, "--to", "moodle", "--ask", "scaled", "--precision", "2", "--tolerance", "0.05"
        )
    )
    assert len(question.blanks) == 9
    first = question.blanks[0].answers[0]  # 1 / √3
    assert (first.number, first.tolerance) == (0.58, 0.05)
    assert "Give every number with 2 decimals, such as 0.50." in question.words
    assert "softmax" not in question.words


@pytest.mark.long
def test_gradients(export: Export) -> None:
    question = one(export(INPUTS / "next_token.yaml", "--to", "moodle", "--ask", "loss,d_Q"))
    assert len(question.blanks) == 1 + 3 * 2
    assert question.blanks[0].marked(1.410).share == 1
