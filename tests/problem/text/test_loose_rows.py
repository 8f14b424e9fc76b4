"""Rows below a key without blanks before them, Q = for Q:, and signs of other keyboards."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from attncli.problem.loader import loads

VALUES = [[1.0, 0.5], [-2.0, 3.0]]


@pytest.mark.parametrize(
    "text",
    [
        "V:\n1 0.5\n-2 3\n",
        "V: |\n1 0.5\n-2 3\n",
        "V: # pasted\n\n1\t0.5\n-2\t3\n\n",
        "V:\n\td1\td2\nI\t1\t0.5\nlove\t-2\t3\n",
        "V: |\n\t1\t0.5\n\t-2\t3\n",
        "V:\n  \td1\td2\n  I\t1\t0.5\n  love\t-2\t3\n",
        "V =\n\n    1.0000    0.5000\n   -2.0000    3.0000\n",
        "V:\n[[1. 0.5]\n [-2. 3.]]\n",
        "V:\n2×2 Matrix{Float64}:\n  1.0  0.5\n -2.0  3.0\n",
        "V:\n  2×2 Matrix{Float64}:\n    1.0  0.5\n   -2.0  3.0\n",
        "V:\n     [,1] [,2]\n[1,]    1  0.5\n[2,]   -2  3.0\n",
        "V:\n⎛ 1  0.5 ⎞\n⎝ -2 3 ⎠\n",
        "V:\n| 1 | 0.5 |\n| -2 | 3 |\n",
        "V:\n┌────┬─────┐\n│  1 │ 0.5 │\n│ -2 │ 3   │\n└────┴─────┘\n",
        "V: \\begin{bmatrix}\n1 & \\frac{1}{2} \\\\[4pt]\n-2 & 3\n\\end{bmatrix},\n",
        "V = \\begin{bmatrix} 1 & .5 \\\\ -2 & 3 \\end{bmatrix}\n",
        "V: <tf.Tensor: shape=(2, 2), dtype=float32, numpy=\narray([[ 1. ,  0.5],\n"
        "       [-2. ,  3. ]], dtype=float32)>\n",
        "V = [1 0.5; -2 3]\n",
        "V=[[1, 0.5], [-2, 3]]\n",
        "V:[[1, 0.5], [-2, 3]]\n",
        "V：［［１，０．５］，［-２，３］］\n",
        "V:\xa0[[1,\xa00.5], [-2, 3]]\n",
    ],
)
def test_what_is_pasted_below_a_key(text: str) -> None:
    """Also between lines that YAML reads."""
    for given in (f"Q: [[1]]\nK: [[1], [1]]\n{text}", f"{text}K: [[1], [1]]\nQ: [[1]]\n"):
        assert loads(given.encode(), "p.yaml").given["V"].value.tolist() == VALUES


def test_a_file_in_the_fence_of_a_chat() -> None:
    text = "```yaml\nQ: [[1]]\nK: [[1], [1]]\nV: [[1, 0.5], [-2, 3]]\nscale = 2\n```\n"
    problem = loads(text.encode(), "p.yaml")
    assert problem.given["V"].value.tolist() == VALUES
    assert problem.scale is not None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("V:\n1 0.5\n-2 x\n", "5:4: V[1][1]: x is not a number"),
        ("V = [[1, 0.5], [-2, x]]\n", "3:21: V[1][1]: x is not a number"),
        ("V=[[1, x]]\n", "3:8: V[0][1]: x is not a number"),
        ("V: {{1, 0.5}, {-2, 3}}\n", "3:4: V: the brackets of a matrix are [ ], not { }"),
        ("V <- matrix(c(1, 2), 1)\n", "there is no list in matrix(…)"),
        ("V: [[1, 0.5]\n-2 3\n", '"," or "]" is missing'),
        ("V:\n- [1, 0.5]\n-2 3\n", 'a ":" is missing'),
    ],
)
def test_what_is_wrong_is_told_where_it_was_written(
    text: str, said: str, problems: Callable[..., list[str]]
) -> None:
    assert said in problems(f"Q: [[1]]\nK: [[1], [1]]\n{text}")[0]


def test_a_line_is_shown_as_it_was_written() -> None:
    from attncli.errors import AttncliError

    with pytest.raises(AttncliError) as caught:
        loads(b"Q = [[1]]\nK = [[1], [x]]\nV: [[1], [2]]\n", "p.yaml")
    place = caught.value.place
    assert place is not None
    assert (place.line, place.column, place.source) == (2, 12, "K = [[1], [x]]")


def test_quotation_marks_of_a_word_processor() -> None:
    text = "tokens: [“I”, ‘love’]\nQ: [[“1/2”], [1]]\nK: [[1], [$1$]]\nV: [[„1“], [$1/2$]]\n"
    problem = loads(text.encode(), "p.yaml")
    assert problem.tokens == ("I", "love")
    assert problem.given["Q"].value.tolist() == [[0.5], [1]]
    assert problem.given["V"].value.tolist() == [[1], [0.5]]


@pytest.mark.parametrize(
    ("number", "help"),
    [
        ("l/2", "write 1/2"),
        ("sqrt 2", "write sqrt(2)"),
        ("1//2", "write 1/2 for the fraction"),
        ("0.5f", "write 0.5"),
        ("1.5D-03", "write 1.5e-03"),
        ("1x10-2", "write 1e-2"),
        ("5*2", "write 10"),
        ("-e", "write -2.718281828459045"),
        ("pi", "write 3.141592653589793"),
        ("1、2", "put a comma between numbers: 1, 2"),
        ("- 1", "write -1, without blanks"),
    ],
)
def test_the_number_to_write(number: str, help: str, problems: Callable[..., list[str]]) -> None:
    (said,) = problems(f"Q: [[1]]\nK: [[1], [1]]\nV: [[1], [{number}]]\n")
    assert help in said


def test_formulas_on_one_line_and_below_each_other() -> None:
    matrices = [
        r"\begin{bmatrix} 1 \end{bmatrix}",
        r"\begin{bmatrix} 1 \\[2pt] 1 \end{bmatrix}",
        r"\begin{bmatrix} 1 & \frac12 \\ -2 & 3 \end{bmatrix}",
    ]
    q, k, v = (f"{name} = {matrix}" for name, matrix in zip("QKV", matrices, strict=True))
    for text in (
        f"{q}\n{k}\n{v}\n",
        f"$${q}, \\quad {k}$$\n$${v}$$\n",
        f"\\[ {q},\\ {k} \\text{{ and }} {v}. \\]\n",
        f"\\begin{{equation}}\n{q}, \\qquad\n{k}, \\qquad\n{v}\n\\end{{equation}}\n",
    ):
        assert loads(text.encode(), "p.yaml").given["V"].value.tolist() == VALUES


def test_a_line_break_between_dollars_ends_no_formula() -> None:
    """Here V = M A = N says that V is N."""
    matrix = r"\begin{bmatrix} %s \end{bmatrix}"
    given = f"$Q = {matrix % 1}$ $K = {matrix % 1}$\n"
    problem = loads(f"{given}$V = {matrix % 2}\nA = {matrix % 3}$\n".encode(), "p.md")
    assert problem.given["V"].value.tolist() == [[3]]


def test_a_matrix_that_only_a_program_knows() -> None:
    from attncli.errors import AttncliError

    text = "Q = np.array([[1, 0]])\nK = np.eye(2)\nV = np.array([[1.], [2.]])\n"
    with pytest.raises(AttncliError, match=r"K is worked out by np.eye\(…\)") as caught:
        loads(text.encode(), "p.py")
    assert caught.value.help == "write K = [[1, 0], [0, 1]]"


def test_a_list_in_wide_brackets_alone() -> None:
    text = "Q: [[1]]\nK: [[1], [1]]\nV: ［［１，０．５］，［-２，３］］\n"
    assert loads(text.encode(), "p.yaml").given["V"].value.tolist() == VALUES


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        # The lengths of other rows say nothing where the first one is wrong.
        ("[[0,5 1], [3,1]]", "0,5 has a decimal comma (write 0.5)"),
        ("[[x, 1], [1, 2, 3]]", "x is not a number"),
    ],
)
def test_one_slip_is_one_error(matrix: str, said: str, problems: Callable[..., list[str]]) -> None:
    (told,) = problems(f"Q: [[1]]\nK: [[1], [1]]\nV: {matrix}\n")
    assert said in told


def test_a_row_of_two_numbers_is_no_decimal(problems: Callable[..., list[str]]) -> None:
    (told,) = problems("Q: [[1]]\nK: [[1], [1]]\nV: [[1.000,5, 7], [2,3]]\n")
    assert "2.3" not in told
