"""Answers as people write them: each matrix behind its name, below a heading, in LaTeX or in a code
fence; and what is not there yet is blank.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attncli.answers.reader import read_answers
from attncli.errors import AttncliError
from attncli.problem.loader import loads
from attncli.problem.model import Problem
from attncli.problem.text.source import Source, decode
from attncli.tracing import run
from attncli.tracing.model import Trace
from tests.cases import in_one_test
from tests.conftest import build_problem

S = [[1, 5, 3], [3, 3, 3], [2, 4, 3]]
Z = [[0.58, 2.89, 1.73], [1.73, 1.73, 1.73], [1.15, 2.31, 1.73]]
LISTS, Z_LISTS = str(S), str(Z)
LATEX = r"\begin{pmatrix} 1 & 5 & 3 \\ 3 & 3 & 3 \\ 2 & 4 & 3 \end{pmatrix}"
ROWS = "1 5 3\n3 3 3\n2 4 3\n"
DRAWN = "⎡1 5 3⎤\n⎢3 3 3⎥\n⎣2 4 3⎦\n"
BOTH = {"scores": S, "scaled": Z}


@pytest.fixture(scope="module")
def trace(love: Problem) -> Trace:
    return run(love)


def answered(name: str, text: str, trace: Trace) -> dict[str, list[Any]]:
    """The numbers of each step, None for a blank."""
    steps = read_answers(Source(name, text), trace).steps
    return {
        step: [[None if cell is None else float(cell.value) for cell in row] for row in found.cells]
        for step, found in steps.items()
    }


TEXTS = [
    ("a.md", f"$S = {LATEX}$\n", {"scores": S}),
    ("a.tex", rf"\[ S = {LATEX} \]", {"scores": S}),
    ("a.tex", rf"$$ S = Q K^T = {LATEX}. $$", {"scores": S}),
    ("a.txt", f"S = {LISTS}\n", {"scores": S}),
    ("a.yaml", f"S = {LISTS}\n", {"scores": S}),
    ("a.md", f"```\nS = {LISTS}\nZ = {Z_LISTS}\n```\n", {"scores": S, "scaled": Z}),
    ("a.py", f"S = np.array({LISTS})\nZ = {Z_LISTS}\n", {"scores": S, "scaled": Z}),
    ("a.txt", f"1. S = {LISTS}\n2. Z = S/√3 = {Z_LISTS}\n", {"scores": S, "scaled": Z}),
    ("a.txt", f"S:\n{ROWS}", {"scores": S}),
    ("a.txt", f"S = {LATEX}\nZ = {LATEX}\n", {"scores": S, "scaled": S}),
    ("a.tex", rf"\[ S = {LATEX}, \quad Z = {LATEX} \]", {"scores": S, "scaled": S}),
    ("a.txt", "  S  I love AI\n I [ 1 5 3 ]\n love [ 3 3 3 ]\n AI [2 4 3]\n", {"scores": S}),
    ("a.txt", "S:\n   I love AI\nI ⎡ 1 5 3 ⎤\nlove ⎢3 3 3⎥\nAI ⎣2 4 3⎦\n", {"scores": S}),
    ("a.txt", "Scores (QK^T):\n[1, 5, 3]\n[3, 3, 3]\n[2, 4, 3]\n", {"scores": S}),
    ("a.yaml", "Scores：[[1, 5, 3], [3, 3, 3], [“2”, 4, 3]]\n", {"scores": S}),
    ("a.txt", f"scores\n{ROWS}\nscaled scores\n{ROWS}", {"scores": S, "scaled": S}),
    ("a.md", f"## Scores\n\nQ times K.\n\n{ROWS}", {"scores": S}),
    ("a.md", f"**Scores**: {LISTS}\n\nSo $Z = {LATEX}$ follows.", {"scores": S, "scaled": S}),
    (
        "a.md",
        "## Scores\n\n| | I | love | AI |\n|-|-|-|-|\n| I | 1 | 5 | 3 |\n| love | 3 | 3 | 3 |\n"
        f"| AI | 2 | 4 | 3 |\n\n$$ Z = {LATEX} $$",
        {"scores": S, "scaled": S},
    ),
    ("a.txt", "S = Q K^T =\n⎡ 1 5 3 ⎤\n⎢ 3 3 3 ⎥\n⎣ 2 4 3 ⎦\n", {"scores": S}),
    ("a.txt", f"I did it like this.\n\nS = Q K^T\n  = ...\nS = {LISTS}", {"scores": S}),
    (
        "a.tex",
        rf"\begin{{align*}} QK^\top &= {LATEX} \\ \frac{{QK^T}}{{\sqrt{{d_k}}}} &= {LATEX} \\"
        rf" \text{{softmax}}(Z) &= {LATEX} \end{{align*}}",
        {"scores": S, "scaled": S, "weights": S},
    ),
    (
        "a.tex",
        rf"$$ O = A V = {LATEX} \begin{{pmatrix}} 1 & 2 \end{{pmatrix}} = {LATEX} $$",
        {"output": S},
    ),
    (
        "a.yaml",
        f"attention weights: {LISTS}\nOutput: {LISTS}\nQK^T: {LISTS}\nscaled scores: {LISTS}\n",
        {"weights": S, "output": S, "scores": S, "scaled": S},
    ),
    ("a.yaml", f"softmax: {LISTS}\n", {"weights": S}),
    ("a.yaml", f"scores: |\n  {LATEX}\n", {"scores": S}),
    ("a.txt", f"Step 1: Scores\n{ROWS}Step 2: Scaled\n{ROWS}", {"scores": S, "scaled": S}),
    ("a.txt", f"Scores:\n{DRAWN}My result after softmax:\n{DRAWN}", {"scores": S, "weights": S}),
    ("a.tex", rf"\[ \text{{Attention weights}} = {LATEX} \]", {"weights": S}),
    (
        "a.tex",
        rf"\[ \text{{Attention}}(Q, K, V) = \text{{softmax}}\left(\frac{{QK^T}}{{\sqrt{{d_k}}}}"
        rf"\right)V = {LATEX} \]",
        {"output": S},
    ),
    ("a.tex", rf"\[ \operatorname{{softmax}}(Z) V = {LATEX} \]", {"output": S}),
    (
        "a.tex",
        rf"\begin{{align}}\label{{eq:s}} S &= {LATEX} {LATEX} \\ &= {LATEX} \nonumber \\[4pt]"
        rf" Z &= {LATEX} \end{{align}}",
        {"scores": S, "scaled": S},
    ),
    ("a.tex", rf"\[ S = {LATEX.replace('pmatrix', 'bNiceMatrix')} \]", {"scores": S}),
    ("a.txt", f"attn_weights = {LISTS}\n", {"weights": S}),
    ("a.txt", f">>> scores\narray({LISTS})\n>>> Z.round(2)\narray({Z_LISTS})\n", BOTH),
    ("a.txt", f"In [1]: scores\nOut[1]:\narray({LISTS})\n", {"scores": S}),
    ("a.txt", f"julia> S\n3×3 Matrix{{Int64}}:\n{ROWS}", {"scores": S}),
    (
        "a.txt",
        "> S\n     [,1] [,2] [,3]\n[1,]    1    5    3\n[2,]    3    3    3\n[3,]    2    4    3\n",
        {"scores": S},
    ),
]
IN_WORDS = [
    ("Step 1: Scores", "scores"),
    ("Scores S = QK^T", "scores"),
    ("My scores:", "scores"),
    ("S (scores)", "scores"),
    ("Scores: S = QK^T", "scores"),
    ("1. S = QK^T", "scores"),
    ("# Step 1: Scores", "scores"),
    ("\\section*{Step 1: Scores}", "scores"),
    ("Scores,,", "scores"),
    ("Step 1: S = Q K^T =", "scores"),
    ("A matrix of scores", "scores"),
    ("Step 3 - Attention weights A = softmax(Z)", "weights"),
    ("Weights after softmax", "weights"),
    ("b) Scaled scores Z = S/√d_k:", "scaled"),
    ("Keys, transposed", "K_T"),
]
OF_NO_STEP = [
    ("Weights times V", "Weights times V names 2 steps: weights and V"),
    ("Scores after softmax", "Scores after softmax names 2 steps: scores and weights"),
    ("Scores, divided by 2", "Scores, divided by 2 may name another step than scores"),
    ("Socres", "no step is called Socres"),
    ("Step 1", "no step is called Step 1"),
    ("Step 1 =", "no step is called Step 1"),
    ("# Step 1", "no step is called Step 1"),
    ("", "nothing above this matrix says which step it is"),
]
MATRICES = [
    ("a.txt", ROWS),
    ("a.txt", "1,5,3\n3,3,3\n2,4,3\n"),
    ("a.txt", "1;5;3\n3;3;3\n2;4;3\n;;\n"),
    ("a.txt", "[1, 5, 3]\n[3, 3, 3]\n[2, 4, 3]\n"),
    ("a.md", f"[{ROWS.replace(chr(10), '; ')}]\n"),
    ("a.md", LISTS + "\n"),
    ("a.md", "|1|5|3|\n|-|-|-|\n|3|3|3|\n|2|4|3|\n"),
    ("a.tex", f"\\[ {LATEX} \\]\n"),
    ("a.tex", f"\\begin{{align}}\n {LATEX}\n\\end{{align}}\n"),
]
BLANK = [None, None, None]
HEAD = "| S | I | love | AI |\n|-|-|-|-|\n"
UNFINISHED = [
    ("a.yaml", "scores: [[1, 5, 3], [3, 3, 3]]", [*S[:2], BLANK]),
    ("a.yaml", "scores: [[1, 5, 3], [3, 3]]", [S[0], [3, 3, None], BLANK]),
    ("a.yaml", "scores: [[1, _, ?], [3, …, 3]]", [[1, None, None], [3, None, 3], BLANK]),
    ("a.txt", "S = [[1, 5, 3]]", [S[0], BLANK, BLANK]),
    ("a.md", f"{HEAD}| AI | 2 | 4 | 3 |\n", [BLANK, BLANK, S[2]]),
    ("a.md", f"{HEAD}| I | 1 | 5 | 3 |\n| love |\n", [S[0], BLANK, BLANK]),
    (
        "a.txt",
        "S  I  love  AI\nI    ⎡ 1  5  3 ⎤\nlove ⎣ 3  3    ⎦\n",
        [S[0], [3, 3, None], BLANK],
    ),
    (
        "a.tex",
        r"$S = \begin{pmatrix} 1 & 5 & 3 \\ 3 & \_ & \ldots \end{pmatrix}$",
        [S[0], [3, None, None], BLANK],
    ),
]


@in_one_test(("name", "text", "expected"), TEXTS)
def test_a_matrix_has_its_name_before_it_or_above_it(
    name: str, text: str, expected: dict[str, list[Any]], trace: Trace
) -> None:
    assert answered(name, text, trace) == expected


@in_one_test(("heading", "step"), IN_WORDS)
def test_a_heading_with_the_names_of_one_step_is_that_step(
    heading: str, step: str, trace: Trace
) -> None:
    text = f"A =\n{ROWS}\n" if step != "weights" else ""
    found = answered("a.txt", f"{text}{heading}\n{ROWS}", trace)
    assert found[step] == S


@in_one_test(("heading", "message"), OF_NO_STEP)
def test_a_heading_of_no_step_or_of_two_is_an_error(
    heading: str, message: str, trace: Trace
) -> None:
    with pytest.raises(AttncliError) as error:
        answered("a.txt", f"{heading}\n{ROWS}\nZ = {Z_LISTS}\n", trace)
    assert error.value.message == message
    assert error.value.help.startswith(("write the name", "did you mean", "the steps are"))


@in_one_test(
    ("text", "message", "line"),
    [
        (f"Scores:\n{ROWS}After scaling:\n{ROWS}", "no step is called After scaling", 5),
        (f"Scores:\n{ROWS}Step 4: The end\n{ROWS}", "no step is called Step 4: The end", 5),
        (
            "Scores:\n⎡1 5 3⎤\nWeights:\n⎢3 3 3⎥\n⎣2 4 3⎦\n",
            "Weights: stands between two rows of a matrix",
            3,
        ),
    ],
)
def test_words_between_rows_are_a_heading_or_wrong(
    text: str, message: str, line: int, trace: Trace
) -> None:
    with pytest.raises(AttncliError) as error:
        answered("a.txt", text, trace)
    assert error.value.message == message
    assert error.value.place is not None
    assert error.value.place.line == line


@in_one_test(("name", "matrix"), MATRICES)
def test_no_matrix_is_left_out_in_silence(name: str, matrix: str, trace: Trace) -> None:
    with pytest.raises(AttncliError, match="no step is called Step 1"):
        answered(name, f"Step 1:\n{matrix}\nZ = {Z_LISTS}\n", trace)
    assert answered(name, f"Step 1: scores\n{matrix}\nZ = {Z_LISTS}\n", trace)["scores"] == S


def test_words_below_a_matrix_of_no_step_hide_it_from_nobody(trace: Trace) -> None:
    with pytest.raises(AttncliError, match="no step is called Step 1"):
        answered("a.txt", f"Step 1\n{ROWS}and so on\n\nZ = {Z_LISTS}\n", trace)


@in_one_test("head", ["| | | |", "||||", "| | | | |"])
def test_a_table_without_names_in_markdown_is_a_matrix(head: str, trace: Trace) -> None:
    """The first row of a table has to be there, also where nothing stands in it."""
    columns = head.count("|") - 1
    labels = ("I", "love", "AI")
    rows = [
        " | ".join([label, *map(str, row)][4 - columns :])
        for label, row in zip(labels, S, strict=True)
    ]
    table = "\n".join(f"| {row} |" for row in rows)
    text = f"## Scores\n\n{head}\n{'|-' * columns}|\n{table}\n"
    assert answered("a.md", text, trace) == {"scores": S}


def test_a_matrix_of_a_spreadsheet_has_cells_to_fill_up_its_lines(trace: Trace) -> None:
    text = "Scores,,,\n,I,love,AI\nI,1,5,3\nlove,3,3,3\nAI,2,4,3\n,,,\nWeights,,,\n"
    text += "I,1,5,3\nlove,3,3,3\nAI,2,4,3\n"
    assert answered("a.csv", text, trace) == {"scores": S, "weights": S}
    for sign in ";\t":
        text = f"Scores{sign}{sign}\n{ROWS.replace(' ', sign)}"
        assert answered("a.csv", text, trace) == {"scores": S}


def test_notes_beside_a_matrix_are_no_matrix(trace: Trace) -> None:
    text = f"Ada, 2026-11-29\n\n1 5 and 3\n\nScores\n{ROWS}\n3 + 4 = 7\n4 5\n"
    assert answered("a.txt", text, trace) == {"scores": S}


@in_one_test(("name", "text", "scores"), UNFINISHED)
def test_what_is_not_there_yet_is_blank(
    name: str, text: str, scores: list[Any], trace: Trace
) -> None:
    assert answered(name, text, trace) == {"scores": scores}


@in_one_test(
    "lists",
    [
        "[[[1, 0], [0.5, 0.5]], [[1, 0], [0.25, 0.75]]]",
        # as NumPy and PyTorch print it
        "[[[1.   0.  ]\n  [0.5  0.5 ]]\n\n [[1.   0.  ]\n  [0.25 0.75]]]",
        "tensor([[[[1.00, 0.00],\n [0.50, 0.50]],\n\n [[1.00, 0.00],\n [0.25, 0.75]]]])",
    ],
)
@pytest.mark.parametrize("text", ["A = {}\n\nThat is all.\n", "A:\n{}\n", "```\nA = {}\n```\n"])
def test_matrices_in_a_list_are_those_of_the_heads(lists: str, text: str) -> None:
    """Also with an axis of length 1 before them, the entry of a batch."""
    assert weights_of_two_heads(text.format(lists)) == [
        [[1, 0], [0.5, 0.5]],
        [[1, 0], [0.25, 0.75]],
    ]


def weights_of_two_heads(text: str) -> Any:
    array = [[[1, 0], [0, 1]], [[1, 1], [0, 1]]]
    two_heads = run(build_problem(Q=array, K=array, V=array))
    cells = read_answers(Source("a.md", text), two_heads).steps["weights"].cells
    return np.vectorize(lambda cell: float(cell.value))(cells).tolist()


@in_one_test("name", ["a.md", "a.yaml"])
def test_a_matrix_in_a_list_of_its_own_is_that_matrix(name: str, trace: Trace) -> None:
    assert answered(name, f"scores: [{LISTS}]\n", trace) == {"scores": S}


SHEET = """5    Scores
    S = Q K⊤        (2 × 2) · (2 × 2) = (2 × 2)
    S   a     b
    a   7   −14
    b   4   −8

Scaled scores
    Z = S / √dk
7   −14
4   −8
"""


def test_a_formula_between_a_heading_and_its_rows_is_no_matrix() -> None:
    """As a sheet of ours is copied from a PDF, with a formula and a number before its heading."""
    problem = "Q: [[1, 0], [0, 1]]\nK: [[7, 4], [-14, -8]]\nV: [[1, 0], [0, 1]]\ntokens: [a, b]\n"
    trace = run(loads(problem.encode(), "p.yaml"))
    answers = read_answers(decode(SHEET.encode(), "sheet.txt"), trace)
    found = {
        name: [claim.text for claim in answer.claims] for name, answer in answers.steps.items()
    }
    assert found == {"scores": ["7", "-14", "4", "-8"], "scaled": ["7", "-14", "4", "-8"]}


def test_rows_that_cannot_be_read_are_an_error_and_not_missing() -> None:
    problem = "Q: [[1, 0], [0, 1]]\nK: [[7, 4], [-14, -8]]\nV: [[1, 0], [0, 1]]\n"
    trace = run(loads(problem.encode(), "p.yaml"))
    text = "Scores\n7 -14\n4 -8 and so on\n\nZ = [[7, -14], [4, -8]]\n"
    with pytest.raises(AttncliError, match="the matrix below Scores cannot be read"):
        read_answers(decode(text.encode(), "sheet.txt"), trace)


# As people write them on a phone, or in a country with decimal commas.


NAMED_ROWS = [
    "S:\nI: 1, 5, 3\nlove: 3, 3, 3\nAI: 2, 4, 3\n",
    "S:\nI: 1 5 3\nlove: 3 3 3\nAI: 2 4 3\n",
    "S:\n  I: 1; 5; 3\n  love: 3; 3; 3\n  AI: 2; 4; 3\n",
    "S:\nI: 1,5,3\nlove: 3,3,3\nAI: 2,4,3\n",
    "S:\nI: 1,0  5,0  3,0\nlove: 3,0  3,0  3,0\nAI: 2,0  4,0  3,0\n",
    "## Scores\n- I: 1, 5, 3\n- love: 3, 3, 3\n- AI: 2, 4, 3\n",
]


@in_one_test("text", NAMED_ROWS)
def test_rows_may_have_their_names_before_a_colon(text: str, trace: Trace) -> None:
    for name in ("a.txt", "a.yaml"):
        assert answered(name, text, trace) == {"scores": S}


def test_names_of_rows_in_another_order_are_told(trace: Trace) -> None:
    with pytest.raises(AttncliError, match="row 0 is called love"):
        answered("a.txt", "S:\nlove: 3, 3, 3\nI: 1, 5, 3\nAI: 2, 4, 3\n", trace)


def test_a_token_that_is_called_like_a_step_begins_no_row() -> None:
    problem = loads(b"tokens: [A, b]\nQ: [[1], [2]]\nK: [[1], [0]]\nV: [[1], [2]]\n", "p.yaml")
    found = answered("a.txt", "A: 0.73, 0.27\n", run(problem))
    assert found == {"weights": [[0.73, 0.27], [None, None]]}


DECIMAL_COMMAS = [
    "Z =\n0,58  2,89  1,73\n1,73  1,73  1,73\n1,15  2,31  1,73\n",
    "Z:\n0,58 2,89 1,73\n1,73 1,73 1,73\n1,15 2,31 1,73\n",
    "Z = [0,58 2,89 1,73; 1,73 1,73 1,73; 1,15 2,31 1,73]\n",
    "scaled: |\n  0,58 2,89 1,73\n  1,73 1,73 1,73\n  1,15 2,31 1,73\n",
    "Z =\nI     0,58 2,89 1,73\nlove  1,73 1,73 1,73\nAI    1,15 2,31 1,73\n",
]


@in_one_test("text", DECIMAL_COMMAS)
def test_decimal_commas_are_read_where_each_row_has_its_numbers(text: str, trace: Trace) -> None:
    assert answered("a.txt", text, trace) == {"scaled": Z}


def test_a_column_of_decimal_commas_is_a_list_of_numbers(trace: Trace) -> None:
    steps = read_answers(Source("a.txt", "Row sums:\n24,97\n16,92\n18,90\n"), trace).steps
    assert [float(cell.value) for cell in steps["row_sum"].cells] == [24.97, 16.92, 18.90]


def test_commas_between_other_numbers_stay_in_doubt(trace: Trace) -> None:
    """Of six numbers in a row nobody knows where one ends."""
    with pytest.raises(AttncliError, match="can be read as"):
        answered("a.txt", "Z =\n0,5 2,8\n1,7 1,7\n1,1 2,3\n", trace)


IN_PERCENT = [
    "Attention weights in %\n22.5 70 7.5\n33 33 34\n20 _ 80\n",
    "Weights (%):\n22.5 70 7.5\n33 33 34\n20 _ 80\n",
    "A in percent = [[22.5, 70, 7.5], [33, 33, 34], [20, _, 80]]\n",
    "Weights, in %:\n22.5 % 70 % 7.5 %\n33 33 34\n20 _ 80\n",
    '"weights in %": [[22.5, 70, 7.5], [33, 33, 34], [20, null, 80]]\n',
]


@in_one_test("text", IN_PERCENT)
def test_numbers_below_a_heading_in_percent_are_percentages(text: str, trace: Trace) -> None:
    expected = [[0.225, 0.7, 0.075], [0.33, 0.33, 0.34], [0.2, None, 0.8]]
    assert answered("a.txt", text, trace) == {"weights": expected}


def test_scores_that_are_masked_are_the_step_masked() -> None:
    problem = loads(b"Q: [[1], [2]]\nK: [[1], [0]]\nV: [[1], [2]]\nmask: causal\n", "p.yaml")
    # The second score of the first row is hidden.
    rows = "1 -inf\n2 0\n"
    for heading in (
        "Z masked",
        "masked Z",
        "S masked =",
        "Masked scores:",
        "Scaled scores, masked",
    ):
        found = answered("a.txt", f"{heading}\n{rows}", run(problem))
        assert found == {"masked": [[1, float("-inf")], [2, 0]]}, heading
