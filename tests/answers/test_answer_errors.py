"""Bad answers are answered as all bad input is: where, what is wrong, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from attncli.answers.reader import read_answers
from attncli.answers.remarks import is_blank
from attncli.errors import AttncliError, Exit
from attncli.problem.loader import load
from attncli.problem.model import Problem
from attncli.problem.text.nodes import NumberList
from attncli.problem.text.source import decode
from attncli.tracing import run
from attncli.tracing.model import Trace
from tests.cases import in_one_test

INPUTS = Path(__file__).parents[2] / "inputs"
SCORES = "[[1, 5, 3], [3, 3, 3], [2, 4, 3]]"
BLANK = "[[null, null, null], [null, null, null], [null, null, null]]"


@pytest.fixture(scope="module")
def trace(love: Problem) -> Trace:
    return run(love)


def error_of(name: str, text: str | bytes, trace: Trace) -> AttncliError:
    with pytest.raises(AttncliError) as error:
        read_answers(decode(text if isinstance(text, bytes) else text.encode(), name), trace)
    assert error.value.exit_code == Exit.INPUT
    assert error.value.place
    assert error.value.place.file == name
    return error.value


LISTS = [
    (f"scroes: {SCORES}\n", (1, 1), "scroes: no step is called scroes", "did you mean scores?"),
    (
        f"masked: {SCORES}\n",
        (1, 1),
        "masked: this problem has no step masked",
        "its steps are X, W_Q",
    ),
    (
        "tokens: [I, love, AI]\n",
        (1, 1),
        "tokens: tokens is a key of a problem, not a step",
        "another problem?",
    ),
    (
        f"scores: {SCORES}\nS: {SCORES}\n",
        (2, 1),
        "S: scores is given twice, as scores and as S",
        "keep one",
    ),
    (f"scores: {SCORES}\nscores: {SCORES}\n", (2, 1), "scores is given twice", "line 1"),
    (
        "scores: [[1, 5], [3, 3]]\n",
        (1, 9),
        "scores: is 2×2, but must be 3×3",
        "scores needs 3 queries (I, love, AI) and 3 keys",
    ),
    (
        "row_sum: [1, 2]\n",
        (1, 10),
        "row_sum: is 2, but must be 3",
        "row_sum needs 3 queries (I, love, AI); write _",
    ),
    (
        "scores: [1, 5, 3]\n",
        (1, 9),
        "scores: is 3, but must be 3×3",
        "scores needs 3 queries (I, love, AI) and 3 keys (I, love, AI)",
    ),
    (
        "W_Q: [[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1]]\n",
        (1, 6),
        "W_Q: is 3×4, but must be 4×3",
        "exchange rows",
    ),
    (
        "scores: [[1, 5, 3], [3, 3], [2, 4, 3]]\n",
        (1, 21),
        "scores[1]: has 2 entries, but the first",
        "equally long",
    ),
    (
        "A: [[0,7, 0, 1], [1, 1, 1], [1, 1, 1]]\n",
        (1, 18),
        "A[1]: has 3 entries, but the first row has 4",
        "0.7",
    ),
    (
        "scores: [[1, 5, x], [3, 3, 3], [2, 4, 3]]\n",
        (1, 17),
        "scores[0][2]: x is not a number",
        "_ leaves it blank",
    ),
    (
        "scores: [[1, 5, [3]], [3, 3, 3], [2, 4, 3]]\n",
        (1, 17),
        "scores[0][2]: must be one entry",
        "equally long",
    ),
    (
        "scores: [[1, 5, 3], [√9 ≈ 3.1, 3, 3], [2, 4, 3]]\n",
        (1, 22),
        "scores[1][0]: sqrt(9) and 3.1 are not the same number",
        "sqrt(9) is 3.0: correct one of the two",
    ),
    ("scores: 5\n", (1, 9), "scores: must be a list of rows, not 5", "write scores: [["),
    (
        "scores: {file: a.npz}\n",
        (1, 9),
        "scores: must be a list of rows, not a mapping",
        "write scores: [[",
    ),
    ("scores: []\n", (1, 9), "scores: is empty", f"write {BLANK}"),
    (
        "A: 5\n",
        (1, 4),
        "A: must be a list of rows, not 5",
        f"write A: {BLANK}, with numbers in place of null",
    ),
    (
        "row_sum: 5\n",
        (1, 10),
        "row_sum: must be a list of numbers, not 5",
        "write row_sum: [null, null, null], with",
    ),
    (
        f"scores: [[{'9' * 401}, 5, 3], [3, 3, 3], [2, 4, 3]]\n",
        (1, 11),
        "(401 characters) is too long",
        "400",
    ),
    ("scores: [[1e400, 5, 3], [3, 3, 3], [2, 4, 3]]\n", (1, 11), "1e400 is too large", "1.8e308"),
    ("- 1\n", (1, 1), "answers need the names of steps, not a list", "write scores: [["),
    ("{}\n", (1, 1), "there are no answers here", "write scores: [["),
    ("", (1, 1), "the file is empty", ""),
    (
        "steps: {}\nattncli: {}\n",
        (1, 1),
        "there are no answers here",
        "write scores: [[",
    ),
    ("scores: [[1, 5, 3], [3, 3, 3]\n", (1, 30), '"]" is missing', "write a list as [1, 2, 3]"),
]


@in_one_test(("text", "at", "message", "help"), LISTS)
def test_lists(text: str, at: tuple[int, int], message: str, help: str, trace: Trace) -> None:
    error = error_of("answers.yaml", text, trace)
    assert error.place
    assert (error.place.line, error.place.column) == at
    assert message in str(error)
    assert help in error.help


@pytest.mark.parametrize("other", ["twelve_tokens.yaml", "luong.yaml", "multi_head.yaml"])
def test_a_problem_in_the_place_of_its_answers(other: str, trace: Trace) -> None:
    error = error_of("problem.yaml", (INPUTS / other).read_text(), trace)
    assert str(error) == "this file holds a problem, not answers"
    assert error.help.startswith("check takes the problem first")


HEAD = "| $`S`$ | I | love | AI |\n| :-- | --: | --: | --: |\n"
ROWS = "| **I** | 1 | 5 | 3 |\n| **love** | 3 | 3 | 3 |\n| **AI** | 2 | 4 | 3 |\n"
MARKDOWN = [
    (
        "# Only words\n\nThere is no table here.\n",
        (1, 1),
        "there is no matrix of a step in this file",
        "its letter",
    ),
    (
        "| step | why |\n| --- | --- |\n| one | two |\n",
        (1, 1),
        "there is no matrix of a step in this file",
        "its letter",
    ),
    (
        HEAD + ROWS.replace("5", "five"),
        (3, 15),
        "scores[0][1]: five is not a number",
        "_ leaves it blank",
    ),
    (HEAD.replace("S", "Y") + ROWS, (1, 3), "no step is called Y", "the steps are X, W_Q"),
    (HEAD.replace("S", "Z'") + ROWS, (1, 3), "this problem has no step masked", "its steps are"),
    (
        HEAD + ROWS.replace(" 5 |", ""),
        (3, 11),
        "scores: this row has 2 entries, but scores has 3 columns",
        "_",
    ),
    (
        HEAD + ROWS.replace("| 3 | 3 | 3 |", "| 3 | 3 | 3 | 3 |"),
        (4, 14),
        "this row has 4 entries",
        "_",
    ),
    (
        HEAD + ROWS.replace("| 3 | 3 | 3 |", "| 3 | 3 |"),
        (4, 14),
        "this row has 2 entries, but scores has 3 columns",
        "_",
    ),
    (
        HEAD + ROWS.replace("love", "hate"),
        (1, 3),
        "row 1 is called hate, but this problem calls it love",
        "another",
    ),
    (
        HEAD.replace("AI", "IA") + ROWS,
        (1, 3),
        "scores: column 2 is called IA, but this problem calls it AI",
        "another",
    ),
    (HEAD + ROWS + "\n" + HEAD + ROWS, (7, 3), "scores: is given twice", "it is already on line 3"),
    ("## Head 1\n\n" + HEAD + ROWS, (1, 1), "there is no head 1", "another problem?"),
    (HEAD + ROWS.replace("5", "9" * 500), (3, 15), "(500 characters) is too long", "400"),
    (HEAD + ROWS.replace("5", "9" * 5000), (3, 15), "(5,000 characters) is too long", "400"),
]


@in_one_test(("text", "at", "message", "help"), MARKDOWN)
def test_markdown(text: str, at: tuple[int, int], message: str, help: str, trace: Trace) -> None:
    error = error_of("answers.md", text, trace)
    assert error.place
    assert ((error.place.line, error.place.column), message in str(error), help in error.help) == (
        at,
        True,
        True,
    ), (
        error.place,
        str(error),
        error.help,
    )


TEX = r"""\section*{5\quad Scores}
\[
\bordermatrix{
  S & \hfill\hbox{I} & \hfill\hbox{love} & \hfill\hbox{AI} \cr
  \hbox{I}\hfill & \hfill 1 & \hfill 5 & \hfill 3 \cr
  \hbox{love}\hfill & \hfill 3 & \hfill 3 & \hfill 3 \cr
  \hbox{AI}\hfill & \hfill 2 & \hfill 4 & \hfill 3 \cr
}
\]
"""
ARRAY = r"\begin{array}{@{}l@{\;}}\noalign{\vskip-\arraystretch\normalbaselineskip}"
ARRAYS = rf"""\section*{{5\quad Scores}}

${ARRAY}
  S \\
  \hbox{{I}} \\
  \smash{{\hbox{{love}}}} \\
  \hbox{{AI}}
\end{{array}}
\left({ARRAY}
  \hbox{{I}} & \hbox{{love}} & \hbox{{AI}} \\
  1 & 5 & 3 \\
  3 & 3 & 3 \\
  2 & 4 & 3
\end{{array}}\right)$
"""
LATEX = [
    ("Only words.\n", (1, 1), "there is no matrix of a step in this file", r"\begin{pmatrix}"),
    (
        ARRAYS.replace("5 &", "five &"),
        (11, 7),
        "scores[0][1]: five is not a number",
        "_ leaves it blank",
    ),
    (
        ARRAYS.partition(r"\end{array}\right")[0],
        (3, 2),
        "the matrix that begins here is not closed",
        r"\end{array}",
    ),
    (
        TEX.replace("5 &", "five &"),
        (5, 38),
        "scores[0][1]: five is not a number",
        "_ leaves it blank",
    ),
    (
        TEX.replace("5 &", r"\input{a} &"),
        (5, 38),
        r"scores[0][1]: \input{a} is not a number",
        "blank",
    ),
    (
        TEX.replace("5 &", "{" * 300 + " &"),
        (3, 1),
        "the matrix that begins here is not closed",
        "}",
    ),
    (
        TEX.replace("5 &", "{" * 300 + "}" * 300 + " &"),
        (5, 38),
        "(600 characters) is too long",
        "400",
    ),
    (TEX.replace("  S", "  Y"), (4, 3), "no step is called Y", "the steps are"),
    (
        TEX.replace(r"& \hfill 5 ", ""),
        (5, 27),
        "this row has 2 entries, but scores has 3 columns",
        "_",
    ),
    (
        TEX.replace("{love}", "{hate}"),
        (4, 3),
        "row 1 is called hate, but this problem calls it love",
        "another",
    ),
    (TEX.rpartition("}")[0], (3, 1), "the matrix that begins here is not closed", "}"),
    (TEX + TEX, (13, 3), "scores: is given twice", "line 5"),
    (r"\section*{\Large Head 7}" + TEX, (1, 1), "there is no head 7", "another problem?"),
    # Pages of earlier versions have the titles of parts so.
    (r"\section*{\centering\LARGE Head 7}" + TEX, (1, 1), "there is no head 7", "another problem?"),
]


@in_one_test(("text", "at", "message", "help"), LATEX)
def test_latex(text: str, at: tuple[int, int], message: str, help: str, trace: Trace) -> None:
    error = error_of("answers.tex", text, trace)
    assert error.place
    assert ((error.place.line, error.place.column), message in str(error), help in error.help) == (
        at,
        True,
        True,
    ), (
        error.place,
        str(error),
        error.help,
    )


def test_heads_must_be_told_apart() -> None:
    trace = run(load(str(INPUTS / "multi_head.yaml")))
    rows = (
        "| A | dogs | chase | cats |\n|-|-|-|-|\n| dogs | 1 | 0 | 0 |\n| chase | 1 | 0 | 0 |\n|"
        " cats | 1 | 0 | 0 |\n"
    )
    error = error_of("a.md", rows, trace)
    assert str(error) == "which head does this weights belong to?"
    assert error.help == 'put it under a heading such as "Head 0"'
    assert str(error_of("a.md", f"## Head 2\n\n{rows}", trace)) == "there is no head 2"
    answers = read_answers(decode(f"## Head 1\n\n{rows}".encode(), "a.md"), trace)
    assert [claim and int(claim.value) for claim in answers.steps["weights"].cells.flat] == [
        None
    ] * 9 + [1, 0, 0] * 3


def test_many_errors_are_told_at_once(trace: Trace) -> None:
    error = error_of("a.md", HEAD + ROWS.replace("3", "x"), trace)
    assert len(error.more) == 4
    assert [other.place.line for other in (error, *error.more) if other.place] == [3, 4, 4, 4, 5]


@pytest.mark.parametrize("name", ["a.yaml", "a.md", "a.tex"])
def test_what_is_no_text(name: str, trace: Trace) -> None:
    for data, message in (
        (b"scores: [[1, \xff]]", "byte 0xff is not UTF-8"),
        ("S".encode("utf-16"), "UTF-16"),
    ):
        with pytest.raises(AttncliError) as error:
            read_answers(decode(data, name), trace)
        assert message in str(error.value)
        assert error.value.help == "save the file as UTF-8"


HOSTILE = {
    "bars": "|" * 300_000,
    "spaces": "# " + " " * 300_000 + "x\n| " + " " * 300_000 + "x",
    "rules": "| a |\n|" + "-" * 300_000 + "x",
    "fences": "```\n" * 100_000,
    "dollars": "| $`S`$ | a |\n|-|-|\n| a | " + "$" * 300_000 + " |",
    "marks": "| $`S`$ | a |\n|-|-|\n| a | 1" + " " * 300_000 + "· x |",
    "stars": "| " + "*" * 300_000 + " | a |\n|-|-|\n| a | 1 |",
    "headings": "#" * 300_000,
    "open matrices": "\\bordermatrix{" * 30_000,
    "open arrays": ARRAY * 5_000 + r"\end{array}",
    "columns of arrays": r"\begin{array}{" * 30_000 + "{}" * 300,
    "open sections": "\\section*{" * 30_000,
    "titles": r"\LARGE\bfseries " * 30_000,
    "captions": r"{\small " * 30_000,
    "labels": r"\bordermatrix{S & a \cr \hbox{" + "} " * 100_000 + r" & 1 \cr }",
    "braces": r"\bordermatrix{S & a \cr b & " + "{" * 100_000 + "}" * 100_000 + r" \cr }",
    "fractions": r"\bordermatrix{S & a \cr b & " + r"\frac " * 600 + r" \cr }",
    "approximations": r"\bordermatrix{S" + " " * 300_000 + r"x \approx & a \cr b & 1 \cr }",
    "formulas": "| $`S`$ | a |\n|-|-|\n| a | " + "$1$ ≈ " * 600 + " |",
    "calculations": "| $`S`$ | a |\n|-|-|\n| a | " + "sin(cos(tanh(9)))" * 23 + " |",
    "percents": "%" * 300_000,
    "backslashes": "\\" * 300_000,
    "numbers": "scores: [[" + "1, " * 100_000 + "1]]",
    "lists": "scores: " + "[" * 60 + "]" * 60,
    "underscores": "_" * 100_000,
    "stars alone": "*" * 100_000,
}


@pytest.mark.each_choice
@pytest.mark.parametrize("name", ["a.yaml", "a.md", "a.tex"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_is_hostile_is_refused_in_no_time(text: str, name: str, trace: Trace) -> None:
    error_of(name, text, trace)


@pytest.mark.parametrize(
    ("sign", "blank"),
    [("9", False), ("a", False), ("'", False), ("name ", False), ("_", True), (" \n", True)],
)
def test_whether_a_large_file_is_blank_is_seen_in_no_time(sign: str, blank: bool) -> None:
    assert is_blank(sign * 300_000) == blank


def test_many_matrices_side_by_side_are_refused_in_no_time(trace: Trace) -> None:
    line = "     I ⎡ 1 ⎤" * 5_000
    error_of("a.txt", f"Scores\n\n    S\n{line}\n{line}\n", trace)


@pytest.mark.slow
def test_a_large_file() -> None:
    """Half a million cells, most of them too many."""
    trace = run(load(str(INPUTS / "i_love_ai.yaml")))
    rows = "\n".join("| a |" + " 1 |" * 500 for _ in range(1000))
    error = error_of("a.md", f"| $`S`$ |{' a |' * 500}\n|-{'|-' * 500}|\n{rows}\n", trace)
    assert "is 1000×500, but must be 3×3" in str(error)


def test_of_a_long_list_that_does_not_fit_no_cell_is_read(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nodes(self: NumberList, at: int) -> NoReturn:
        raise AssertionError("a node for each cell")

    monkeypatch.setattr(NumberList, "nodes", nodes)
    for rows, found in (
        (", ".join(["[1, 2]"] * 2000), "2000×2"),
        (", ".join(["1.5"] * 2000), "2000"),
    ):
        error = error_of("a.yaml", f"scores: [{rows}]\n", trace)
        assert f"is {found}, but must be 3×3" in str(error)
        assert error.place is not None
        assert error.place.column == 9


def test_a_large_step_is_told_by_its_size() -> None:
    trace = run(load(str(INPUTS / "twelve_tokens.yaml")))
    assert (
        error_of("answers.yaml", "weights: 3\n", trace).help
        == "it takes 12×12 numbers, each row in a list"
    )
    assert (
        error_of("answers.yaml", "weights: []\n", trace).help
        == "it takes 12×12 numbers, each row in a list"
    )
