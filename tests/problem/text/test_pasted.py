"""Matrices as people paste them: what a spreadsheet, NumPy, PyTorch and MATLAB print, wherever a
matrix may stand.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

import attncli
from attncli.cli.main import run as command
from attncli.errors import AttncliError
from attncli.problem.loader import load, loads
from attncli.problem.model import Problem
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.keep_and_hide import Keep
from attncli.problem.parts.masks.padding import Padding
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.pasted import cells as cells_of_rows
from attncli.problem.text.pasted import long_texts
from attncli.problem.text.pasted.grammar import PastedRow
from attncli.problem.text.source import Source
from attncli.problem.text.yaml_parser import parse_yaml
from tests.cases import in_one_test

SQUARE = [[1, 0.5], [-2, 3]]
SPELLINGS = {  # of this matrix, as text
    "blanks": "1 0.5\n-2 3",
    "aligned": " 1 0.5\n -2   3  ",
    "tabs": "1\t0.5\n-2\t3",
    "commas": "1,0.5\n-2,3",
    "commas with blanks": "1, 0.5\n-2, 3",
    "semicolons": "1;0.5\n-2;3",
    "decimal commas and tabs": "1\t0,5\n-2\t3",
    "decimal commas and semicolons": "1;0,5\n-2;3",
    "decimal commas in quotes": '1,"0,5"\n-2,3',
    "commas at the end of rows": "1,0.5,\n-2,3,",
    "semicolons at the end of rows": "1 0.5;\n-2 3;",
    "commas at the end of rows with blanks": "1 0.5,\n-2 3,",
    "remarks": "# a matrix\n1 0.5  # first\n-2 3",
    "one line": "1 0.5; -2 3",
    "one line with commas": "1, 0.5; -2, 3",
    "MATLAB": "[1 0.5; -2 3]",
    "MATLAB with commas": "[1, 0.5; -2, 3]",
    "MATLAB on two lines": "[1 0.5\n -2 3]",
    "MATLAB with a name": "W_Q = [1 0.5; -2 3];",
    "as MATLAB prints it": "W_Q =\n\n    1.0000    0.5000\n   -2.0000    3.0000\n\n",
    "a name and rows": "W_Q = 1 0.5; -2 3",
    "NumPy": "[[ 1.   0.5]\n [-2.   3. ]]",
    "NumPy with its name": "array([[ 1. ,  0.5],\n       [-2. ,  3. ]])",
    "NumPy with a type": "np.array([[1, 0.5], [-2, 3]], dtype=np.float32)",
    "a type without a name": "numpy.array([[1, 0.5], [-2, 3]], float)",
    "PyTorch": (
        "tensor([[ 1.0000,  0.5000],\n        [-2.0000,  3.0000]], device='cuda:0',"
        " requires_grad=True)"
    ),
    "PyTorch with a gradient": (
        "torch.tensor([[1.0, 0.5],\n  [-2, 3]], dtype=torch.float64, grad_fn=<AddmmBackward0>)"
    ),
    "a parameter": "Parameter containing:\ntensor([[1, 0.5], [-2, 3]], requires_grad=True)",
    "JAX": "Array([[ 1. ,  0.5],\n       [-2. ,  3. ]], dtype=float32)",
    "TensorFlow": "tf.Tensor(\n[[ 1.   0.5]\n [-2.   3. ]], shape=(2, 2), dtype=float32)",
    "assigned": "W_Q = np.array([[1, 0.5],\n                [-2, 3]])",
    "nested lists": "[[1, 0.5], [-2, 3]]",
    "a comma too many": "[[1, 0.5,], [-2, 3,],]",
    "numbers in quotes": "[['1', '0.5'], ['-2', '3']]",
    "numbers in quotes with blanks": '"1" "0.5"\n"-2" " 3 "',
    "numbers in quotes in brackets": '[" 1" "0.5"; "-2" "3 "]',
    "a list below a remark": "# as NumPy prints it\n[[1 0.5]\n [-2 3]]",
    "a list in a remark": "[[1 0.5] # not [5]\n [-2 3]]",
}


def of_values(value: str) -> Problem:
    """A problem in YAML with this as its V, for two keys."""
    return loads(f"Q: [[1]]\nK: [[1], [2]]\nV: {value}\n".encode(), "p.yaml")


def in_block(text: str) -> str:
    return "|\n  " + text.replace("\n", "\n  ")


@in_one_test("text", SPELLINGS.values(), ids=SPELLINGS)
@in_one_test("write", [in_block, json.dumps], ids=["block", "in quotes"])
def test_every_spelling_means_the_same(text: str, write: Callable[[str], str]) -> None:
    assert of_values(write(text)).given["V"].value.tolist() == SQUARE


@in_one_test("text", SPELLINGS.values(), ids=SPELLINGS)
def test_in_json_and_in_python_as_well(text: str) -> None:
    given = {"Q": [[1]], "K": [[1], [2]], "V": text}
    assert loads(json.dumps(given).encode(), "p.json").given["V"].value.tolist() == SQUARE
    assert attncli.problem(**given).given["V"].value.tolist() == SQUARE


@pytest.mark.parametrize(
    "value",
    [
        "[1 0.5; -2 3]",
        "[1, 0.5; -2, 3]",
        "[[1 0.5], [-2 3]]",
        "\n- 1 0.5\n- -2 3",
        "\n- [1 0.5]\n- [-2 3]",
        "\n  1 0.5\n  -2 3",
        "\n- 1; 0.5\n- -2; 3",
        "\n- 1;0,5\n- -2;3",
        "1, 0.5; -2, 3",
        "[[1.  0.5]\n [-2. 3.]]",
        "np.array([[1, 0.5],\n          [-2, 3]])",
        "array([[1. 0.5]\n [-2. 3.]])",
        "tensor([[1, 0.5],\n        [-2, 3]], device='cuda:0')",
    ],
)
@pytest.mark.parametrize("loader", [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)])
def test_in_yaml_without_quotes(
    value: str, loader: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attncli.problem.text.yaml_parser.parse_yaml.__defaults__", (loader,))
    assert of_values(value).given["V"].value.tolist() == SQUARE


def test_everywhere_a_matrix_may_stand() -> None:
    problem = loads(
        b"""
X: |
  1 0
  0 1
W_Q: "1 2; 3 4"
W_K: [1 2; 3 4]
W_V: np.array([[1, 0], [0, 1]])
b_Q: 0.5 1.5
b_K: |
  0.5
  1.5
b_V: "[1 2]"
past: {K: [[1. 2.]
           [3. 4.]], V: array([[1, 2], [3, 4]])}
sink: |
  0.5 0.25
heads: 2
mask:
- additive: |
    0 -inf 0 -1
    1/3 0 0 0
- keep: |
    TRUE TRUE TRUE FALSE
    true true true true
- padding: 1 1 0 1
d_output: 1 2; 3 4
""",
        "p.yaml",
    )
    square = [[1, 2], [3, 4]]
    weights = problem.given["W_Q"].value  # of two heads, a column each
    assert np.concatenate([*weights], axis=-1).tolist() == square
    assert problem.given["X"].value.tolist() == [[1, 0], [0, 1]]
    assert (
        problem.given["b_Q"].value.ravel().tolist()
        == problem.given["b_K"].value.ravel().tolist()
        == [0.5, 1.5]
    )
    assert (
        problem.given["past_K"].value.ravel().tolist()
        == problem.given["past_V"].value.ravel().tolist()
        == [1, 3, 2, 4]
    )
    assert problem.given["sink"].value.tolist() == [0.5, 0.25]
    assert problem.d_output is not None
    assert problem.d_output.value.tolist() == square
    added, kept, exist = problem.mask.parts
    assert isinstance(added, Additive)
    assert added.matrix.value.tolist() == [[0, -np.inf, 0, -1], [1 / 3, 0, 0, 0]]
    assert isinstance(kept, Keep)
    assert kept.matrix.tolist() == [[True, True, True, False], [True] * 4]
    assert isinstance(exist, Padding)


@pytest.mark.parametrize(
    "mask",
    [
        in_block("true false\ntrue true"),
        "[true false; true true]",
        "[[ True False]\n  [ True  True]]",
    ],
)
def test_a_mask_of_truth_values_keeps(mask: str) -> None:
    problem = loads(
        f"Q: [[1], [1]]\nK: [[1], [1]]\nV: [[1], [1]]\nmask: {mask}\n".encode(), "p.yaml"
    )
    (part,) = problem.mask.parts
    assert isinstance(part, Keep)
    assert part.matrix.tolist() == [[True, False], [True, True]]


def test_matrices_of_heads_stand_apart_by_an_empty_line() -> None:
    text = in_block("1 2\n3 4\n\n5 6\n7 8")
    problem = loads(f"Q: {text}\nK: {text}\nV: {text}\n".encode(), "p.yaml")
    assert problem.given["Q"].value.tolist() == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]


def test_numbers_keep_their_spelling() -> None:
    written = (
        of_values(in_block("1/3 sqrt(2) 0.50 1e3\n-2/5 2 * sqrt(3) 1 / 3 -.5")).given["V"].written
    )
    assert written is not None
    assert written.tolist() == [
        ["1/3", "sqrt(2)", "0.50", "1e3"],
        ["-2/5", "2 * sqrt(3)", "1 / 3", "-.5"],
    ]
    written = of_values(in_block("0,50\t1\n-1,25E-05\t2")).given["V"].written
    assert written is not None
    assert written.tolist() == [["0.50", "1"], ["-1.25E-05", "2"]]


@in_one_test("separator", [" ", "\t", ",", ", ", ";", "; "])
@in_one_test("shape", ["{}\n{}", "[{}\n{}]", "[[{}]\n[{}]]"])
def test_one_grammar_reads_the_cells_of_every_spelling(separator: str, shape: str) -> None:
    """Whatever is in a cell, and whatever stands around the rows."""
    if separator.startswith(";") and shape != "{}\n{}":
        # There, it ends a row.
        return
    cells = ["1 / 3", "2 * sqrt( 3 )", "sqrt(2 )/2", '"0.5"']
    row = separator.join(cells)
    written = of_values(json.dumps(shape.format(row, row))).given["V"].written
    assert written is not None
    assert written.tolist() == [[*cells[:3], "0.5"]] * 2


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("[[1, #N/A], [3, 4]]", "V[0][1]: #N/A is an error of a spreadsheet, not a number"),
        ("1\t(5)\n3\t4", "V[0][1]: (5) can be read in two ways"),
        ("[1, (5); 3, 4]", "V[0][1]: (5) can be read in two ways"),
    ],
)
def test_a_cell_ends_where_the_next_begins(
    value: str, said: str, problems: Callable[..., list[str]]
) -> None:
    """Neither an error of a spreadsheet nor an amount in parentheses hides what is beside it."""
    given = {"Q": [[1]], "K": [[1], [2]], "V": value}
    (found,) = problems(json.dumps(given), "p.json")
    assert said in found


@in_one_test("text", [*SPELLINGS.values(), '"', '1 "2 # 3', "\r\n\u00a0#N/A #", "(\t)"])
def test_nothing_moves_in_an_outline(text: str) -> None:
    row = PastedRow.of(text, 7)
    assert len(row.text) == len(row.outline) == len(text)
    for part in [*row.split("\n"), *row.split(",")]:
        assert row.text.startswith(part.text, part.at - 7)
    assert all(text.startswith(each.text, each.at - 7) for each in row.cells("") if '"' not in text)


@in_one_test(
    ("text", "outline"),
    [
        ('1,"2, 3" 4', "1,xxxxxx 4"),
        ("1 / 3 sqrt( 2 )", "1x/x3 sqrt(x2x)"),
        ("1 \t# 2 / 3\n#N/A", "1         \n#N/A"),
        ("1\u202f234 1\u202f23", "1x234 1\u202f23"),
        ('"# 1" # "2"', "xxxxx      "),
        ('"1\n2" 3', '"1\n2" 3'),
        ("1 /\t2", "1x/\t2"),
    ],
)
def test_an_outline_hides_what_separates_nothing(text: str, outline: str) -> None:
    assert PastedRow.of(text).outline == outline


def test_a_column_of_a_spreadsheet_is_a_vector_or_a_matrix_of_one_column() -> None:
    assert of_values(in_block("0.5\n1.5")).given["V"].value.tolist() == [[0.5], [1.5]]


@in_one_test(
    ("text", "expected"),
    [
        ("0,7\t0,25\n1,5\t2", [[0.7, 0.25], [1.5, 2]]),
        ("1,125\t0,5\n1\t2", [[1.125, 0.5], [1, 2]]),  # 0,5 has no thousands
        ("1,5;2,5\n3,5;4,5", [[1.5, 2.5], [3.5, 4.5]]),
        ("1,2\n3,4", [[1, 2], [3, 4]]),
        ("1,2,3;4,5,6", [[1, 2, 3], [4, 5, 6]]),
        ("[1,2,3; 4,5,6]", [[1, 2, 3], [4, 5, 6]]),
    ],
)
def test_commas_that_can_be_read_in_one_way_are_read(
    text: str, expected: list[list[float]]
) -> None:
    assert of_values(in_block(text)).given["V"].value.tolist() == expected


@pytest.mark.parametrize("text", ["0,7, 0,2\n0,1, 0,5", "0,7 0,2\n0,1 0,5", "0,7; 0,2"])
def test_commas_in_doubt_are_refused_in_python_as_well(text: str) -> None:
    with pytest.raises(
        attncli.AttncliError, match=r"0,7 can be read as 0\.7, or as the two numbers 0 and 7"
    ):
        attncli.problem(Q=[[1]], K=[[1], [2]], V=text)


@pytest.mark.parametrize("separator", ["\t", ",", ";", ", ", "; "])
@pytest.mark.parametrize(("row", "column"), [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)])
def test_an_empty_cell_is_an_error_wherever_it_is(
    separator: str, row: int, column: int, problems: Callable[..., list[str]], tmp_path: Path
) -> None:
    """With its place, in a text and in files."""
    rows = [["5", "6"], ["7", "8"], ["9", "4"]]
    rows[row][column] = ""
    text = "\n".join(separator.join(cells) for cells in rows)
    (said,) = problems(f"Q: [[1]]\nK: [[1], [2], [3]]\nV: {in_block(text)}")
    assert (
        said.partition(" ")[2]
        == f"V[{row}][{column}]: there is no number here (write a number, such as 0)"
    )
    assert said.startswith(f"{row + 4}:")
    for name in ("v.csv", "v.tsv", "v.txt"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(
            attncli.AttncliError, match=rf"{name}:{row + 1}:\d: there is no number here"
        ) as caught:
            loads(
                f"Q: [[1]]\nK: [[1], [2], [3]]\nV: {{file: {name}}}".encode(),
                "p.yaml",
                folder=tmp_path,
            )
        assert ("leave out names" in str(caught.value.help)) == ((row, column) == (0, 0))


@in_one_test("text", ["1; 0", "1;0", "|\n  1; 0", '"1; 0;"', "1/3; sqrt(2)", "1;2;3;4;5"])
def test_numbers_on_one_line_with_semicolons_may_be_a_row_or_a_column(
    text: str, problems: Callable[..., list[str]]
) -> None:
    assert (
        "can be read as one row, or as one column"
        in problems(f"Q: [[1]]\nK: [[1], [2]]\nV: {text}")[0]
    )


def test_the_help_for_a_row_or_a_column_says_how_to_write_each(
    problems: Callable[..., list[str]],
) -> None:
    (said,) = problems("Q: [[1]]\nK: [[1], [2]]\nV: 1; 0")
    assert (
        said
        == "3:4: V: 1; 0 can be read as one row, or as one column (write [[1, 0]] for a row, or [1;"
        " 0] for a column)"
    )
    assert of_values("[1; 0]").given["V"].value.tolist() == [[1], [0]]
    assert (
        "V: 1; 0 can be read"
        in problems(f"Q: [[1]]\nK: [[1], [2]]\nV: {in_block('1; 0 # a row')}")[0]
    )
    (said,) = problems("Q: [[1]]\nK: [[1], [2]]\nV: 1; 0; 2; 3; 5")
    assert "(write [[1, 0, 2, 3, …]] for a row, or [1; 0; 2; 3; …] for a column)" in said


def test_a_vector_of_decimal_commas_is_in_doubt(problems: Callable[..., list[str]]) -> None:
    """A matrix of two columns may have been pasted there."""
    column = in_block("0,7\n1,5")
    (said,) = problems(f"X: [[1]]\nW_Q: [[1, 2]]\nb_Q: {column}\nW_K: [[1, 2]]\nV: [[1]]")
    assert said.startswith(
        "4:3: b_Q: 0,7 can be read as 0.7, or as the two numbers 0 and 7 (write 0.7, with a point"
    )


def test_a_vector_on_one_line_is_the_same_as_a_row_and_as_a_column(tmp_path: Path) -> None:
    given = loads(b"X: [[1]]\nW_Q: [[1, 2]]\nb_Q: 1; 0\nW_K: [[1, 2]]\nV: [[1]]", "p.yaml").given
    assert given["b_Q"].value.tolist() == [1, 0]
    (tmp_path / "v.csv").write_text("1;0\n", encoding="utf-8")  # of a file, the lines are rows
    problem = loads(b"Q: [[1]]\nK: [[1]]\nV: {file: v.csv}", "p.yaml", folder=tmp_path)
    assert problem.given["V"].value.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    "text",
    [
        "d1\td2\n1\t2\n3\t4",
        ",d1,d2\nI,1,2\nAI,3,4",
        "I 1 2\nAI 3 4",
        "d1;d2\n1;2\n3;4",
        "  \td1\td2\n  I\t1\t2\n  AI\t3\t4",
    ],
)
def test_names_of_rows_and_columns_are_no_numbers(text: str) -> None:
    found = of_values(in_block(text)).given["V"]
    assert found.value.tolist() == [[1, 2], [3, 4]]
    assert found.written is not None
    assert found.written[1][0] == "3"


def test_a_remark_behind_a_tab_begins_no_cell() -> None:
    assert of_values(in_block("1\t0.5\t# first\n-2\t3")).given["V"].value.tolist() == SQUARE


@pytest.mark.parametrize("value", ["I love AI", "5", "1 / 3", "0,5", "x, y"])
def test_a_text_of_no_matrix_is_told_whole(value: str, problems: Callable[..., list[str]]) -> None:
    found = problems(f"Q: [[1]]\nK: [[1]]\nV: {value}")
    assert found == [f"3:4: V: must be a list of rows, not {value} (write V: [[1, 0], [0, 1]])"]


def test_a_long_text_is_read_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.random.default_rng(0).normal(size=(3, 4)).round(3)
    for text in (
        "\n".join(sign.join(map(str, row)) for row in numbers)
        for sign in (" ", "\t", ",", ", ", ";")
    ):
        slow = loads(f"Q: [[1]]\nK: [[1], [2], [3]]\nV: {in_block(text)}".encode(), "p.yaml").given[
            "V"
        ]
        monkeypatch.setattr(long_texts, "LONG_TEXT", 0)
        quick = loads(
            f"Q: [[1]]\nK: [[1], [2], [3]]\nV: {in_block(text)}".encode(), "p.yaml"
        ).given["V"]
        monkeypatch.undo()
        assert quick.value.tolist() == slow.value.tolist() == numbers.tolist()
        assert slow.written is not None
        assert quick.written is not None
        assert (
            quick.written.tolist()
            == slow.written.tolist()
            == [[str(number) for number in row] for row in numbers]
        )


@pytest.mark.parametrize(
    "text",
    [
        "1 2\n3 4x",
        "1 2\n3",
        "1,2\n3,,4",
        "01 2\n3 4",
        "1,2\n,\n3,4",
        "1 2\n3 1e999",
        "1 2\n3 1e-999",
        "0,7, 0,2\n0,1, 0,5",
        "1\t2 3\n4\t5 6",
    ],
)
def test_errors_of_a_long_text_are_those_of_a_short_one(
    text: str, problems: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = problems(f"Q: [[1]]\nK: [[1], [2]]\nV: {in_block(text)}")
    monkeypatch.setattr(long_texts, "LONG_TEXT", 0)
    assert problems(f"Q: [[1]]\nK: [[1], [2]]\nV: {in_block(text)}") == slow


IN_OTHER_BRACKETS = "V: the brackets of a matrix are [ ], not "
# Each text, what is said of it, and the help.
TOLD = [
    ("– 1 0; 0 1", "V: blanks separate numbers here, also in – 1", "write -1, without blanks"),
    ("nan 1; 0 1", "V[0][0]: nan is not a number", "a matrix can hold only finite numbers"),
    ("(1) 2; 0 1", "V[0][0]: (1) can be read in two ways", "write 1, or -1, which accounts"),
    ("{1 0; 0 1}", f"{IN_OTHER_BRACKETS}{{ }}", "write [[1, 0], [0, 1]]"),
    ("{{1, 0}, {0.5, 1}}", f"{IN_OTHER_BRACKETS}{{ }}", "write [[1, 0], [0.5, 1]]"),
    ("(2 0; 0 1)", f"{IN_OTHER_BRACKETS}( )", "write [[2, 0], [0, 1]]"),
    ("((1,-2),(1/3,1))", f"{IN_OTHER_BRACKETS}( )", "write [[1, -2], [1/3, 1]]"),
    ("{1, 2}, {3}}", f"{IN_OTHER_BRACKETS}{{ }}", "write [[1, 0], [0, 1]]"),
    ("1.0e+03 *\n1 2\n3 4", "V: 1.0e+03 * is a factor of all numbers of the", "multiply them, or"),
    ("-2 * [1 2; 3 4]", "V: -2 * is a factor of all numbers of the matrix", "multiply them, or"),
    ("[1 0; ...\n0 1]", "V: numbers are left out here", "if the row goes on in the next line"),
    ("[5e - 3 1]", "V: blanks separate numbers here, also in 5e - 3", "write 5e-3, without"),
    ("1 - 2", "V: blanks separate numbers here, also in - 2", "write -2, without blanks"),
    (
        "[[1 1/3]]",
        "V: 1 1/3 can be read as 4/3, or as the numbers 1 and 1/3",
        "write 4/3 for one number, or 1, 1/3 for two",
    ),
    ("-1 ½; 2 2/3", "V: -1 ½ can be read as -3/2, or as the numbers -1 and ½", "write -3/2 for"),
]


@in_one_test(("text", "said", "help"), TOLD)
def test_the_same_is_said_of_a_text_wherever_it_is_given(text: str, said: str, help: str) -> None:
    given = {"Q": [[1]], "K": [[1], [2]], "V": text}
    named = [
        (f"Q: [[1]]\nK: [[1], [2]]\nV: {in_block(text)}\n", "p.yaml"),
        (f"Q: [[1]]\nK: [[1], [2]]\nV: {json.dumps(text)}\n", "p.yaml"),
        (json.dumps(given), "p.json"),
        (json.dumps(given, ensure_ascii=False), "p.json"),
    ]
    if "\n" not in text and text[0] != "|":
        named.append((f"Q: [[1]]\nK: [[1], [2]]\nV: {text}\n", "p.yaml"))
    errors = []
    for source, name in named:
        # YAML has taken these braces apart before anybody looks at the numbers.
        if source.endswith(f": {text}\n") and text.count("{") > 1:
            continue
        with pytest.raises(attncli.AttncliError) as caught:
            loads(source.encode(), name)
        errors.append(caught.value)
    with pytest.raises(attncli.AttncliError) as caught:
        attncli.problem(**given)
    for error in (*errors, caught.value):
        first = str(error).splitlines()[0]
        assert said in f"{error.path}: {first}" or said in first
        assert error.help.startswith(help)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1 1/2; 2 3/2]", [[1, 0.5], [2, 1.5]]),
        ("[0 1/2; 2 1/2]", [[0, 0.5], [2, 0.5]]),
        ("[1 1/2 2; 2 1/2 2]", [[1, 0.5, 2], [2, 0.5, 2]]),
        ("[1, 1/2; 2, 1/4]", [[1, 0.5], [2, 0.25]]),
    ],
)
def test_fractions_that_can_be_no_part_of_a_mixed_number_are_read(
    text: str, value: list[list[float]]
) -> None:
    assert of_values(text).given["V"].value.tolist() == value


@pytest.mark.parametrize("value", ["|1 0; 0 1|", "| 1 | 0 |"])
def test_yaml_itself_takes_other_brackets_for_something_else(
    value: str, problems: Callable[..., list[str]]
) -> None:
    (said,) = problems(f"Q: [[1]]\nK: [[1], [2]]\nV: {value}\n")
    assert "a matrix as [[1, 0], [0, 1]]" in said


def test_decimals_with_a_comma_alone_in_their_rows(problems: Callable[..., list[str]]) -> None:
    """[[1,0], [0,1]] is a matrix, and few write [[0,33], [0,67]] for one of whole numbers."""
    (said,) = problems("Q: [[0,33], [0,67]]\nK: [[1], [2]]\nV: [[1], [2]]")
    assert "; 0,33 is read as 0 and 33: write 0.33 for a decimal" in said
    (said,) = problems("Q: [[1,0], [0,1]]\nK: [[1], [2]]\nV: [[1], [2]]")
    assert "decimal" not in said


@pytest.mark.long
def test_a_hostile_text_is_refused_in_no_time(problems: Callable[..., list[str]]) -> None:
    for text in (
        "[" * 10**5,
        "[ " * 10**5,
        "1 " * 10**5 + "x",
        "1 /" + " " * 10**5 + "x",
        "1" + " " * 10**5 + ",",
        "(1" + " " * 10**5 + "x",
        "{" + " " * 10**5 + "x",
        "( " * 10**5 + "1 2",
        "{1, 2}, " * 10**5,
        "1" + " " * 10**5 + "*" + " " * 10**5,
    ):
        assert problems(json.dumps({"Q": text, "K": [[1]], "V": [[1]]}), "p.json")
    long = "- [ " * 10**4
    assert parse_yaml_fails(f"Q: [1 2] [3]\nK: {long}")


def parse_yaml_fails(text: str) -> bool:
    with pytest.raises(attncli.AttncliError):
        parse_yaml(ErrorCollector(Source("p.yaml", text)))
    return True


@in_one_test("text", ["1 0.5\n-2 3", "1 0.5\n-2 3\n\n1 0.5\n-2 3", "# rows\n1\t0.5\n-2\t3\n"])
@in_one_test("style", [None, "'", '"', "|"])
def test_a_text_that_a_program_writes_as_yaml_keeps_its_rows(text: str, style: str | None) -> None:
    data = yaml.safe_dump({"Q": text, "K": text, "V": text}, default_style=style)
    expected = [SQUARE, SQUARE] if "\n\n" in text else SQUARE
    assert loads(data.encode(), "p.yaml").given["V"].value.tolist() == expected


@pytest.mark.parametrize("style", [None, "'", '"'])
def test_line_breaks_that_a_program_may_have_put_into_a_row_are_refused(
    style: str | None, problems: Callable[..., list[str]]
) -> None:
    for rows in (1, 2):
        text = "\n".join([" ".join(["0.125"] * 40)] * rows)
        data = yaml.safe_dump({"Q": text, "K": text, "V": text}, default_style=style)
        if rows == 1 or style != '"':  # where line breaks of the text are escapes
            assert any("as the end of a row, or as a blank" in line for line in problems(data))


# Files of text.


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("v.csv", "1,0.5\n-2,3\n"),
        ("v.csv", "1;0,5\r\n-2;3\r\n"),
        ("v.csv", '\ufeff"1","0.5"\n"-2","3"\n'),
        ("v.csv", "a,b\n1,0.5\n-2,3"),
        ("v.csv", '"key","d1","d2"\n"I",1,0.5\n"AI",-2,3\n'),
        ("v.csv", "I,1,0.5\nAI,-2,3"),
        ("v.csv", ";a;b\nI;1;0,5\nAI;-2;3"),
        ("v.TSV", "1\t0.5\n-2\t3\n"),
        ("v.txt", "# saved by NumPy\n1.0 5e-1\n-2.0 3\n"),
    ],
)
def test_a_file_of_rows(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "p.yaml").write_text(
        f"Q: [[1]]\nK: [[1], [2]]\nV: {{file: {name}}}\n", encoding="utf-8"
    )
    assert load(str(tmp_path / "p.yaml")).given["V"].value.tolist() == SQUARE


TOKENS = [
    "1",
    "##ing",
    "I love",
    'say "hi"',
    "a,b",
    "a;b",
    "-3",
    "=1",
    "...",
    "#",
    "[CLS]",
    "'s",
    "true",
    "nan",
    "1,5",
    "字",
]


@pytest.mark.parametrize(
    "tokens", [TOKENS, ["1", "2"], [".", "!"], ["0,7", "1,5"], ["true", "false"]]
)
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_what_attncli_wrote_is_read_again_whatever_its_labels_are(
    tokens: list[str], suffix: str, tmp_path: Path
) -> None:
    numbers = [[place, 0.25] for place, _ in enumerate(tokens)]
    given = {"tokens": tokens, "Q": [[1]] * len(tokens), "K": [[1]] * len(tokens), "V": numbers}
    (tmp_path / "p.json").write_text(json.dumps(given), encoding="utf-8")
    written = tmp_path / f"v.{suffix}"
    assert (
        command(["compute", str(tmp_path / "p.json"), "--steps", "V", "-q", "-o", str(written)])
        == 0
    )
    assert json.dumps(tokens[0], ensure_ascii=False) in written.read_text(encoding="utf-8")
    (tmp_path / "p.json").write_text(
        json.dumps(given | {"V": {"file": written.name}}), encoding="utf-8"
    )
    assert load(str(tmp_path / "p.json")).given["V"].value.tolist() == numbers


@pytest.mark.parametrize(
    "table",
    [
        ",d1,d2\nI,1,0.5\n.,-2,3",
        "d1,d2\n[CLS],1,0.5\nAI,-2,3",
        "New York,1,0.5\nIn the end,-2,3",
        "token,on the left,right\nI,1,0.5\nAI,-2,3",
        "sep=;\nd1;d2\n1;0,5\n-2;3",
        "sep=,\r\n1,0.5\r\n-2,3\r\n",
        '"","V1","V2"\n"1",1,0.5\n"2",-2,3',  # as R writes it
        "k=1,k=2\n1,0.5\n-2,3",
        "d1 d2\n1 0.5\n-2 3",
        "I 1 0.5\nAI -2 3",
        "1,0.5 # a remark\n-2,3",
        '"#x",1,0.5\n"a#2",-2,3',
    ],
)
def test_names_that_people_write_are_left_out(table: str, tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(table, encoding="utf-8", newline="")
    given = loads(b"Q: [[1]]\nK: [[1], [2]]\nV: {file: v.csv}\n", "p.yaml", folder=tmp_path).given
    assert given["V"].value.tolist() == SQUARE


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            "1,#N/A\n3,4",
            (
                "1:3: #N/A is an error of a spreadsheet, not a number (mend its formula, or write a"
                " number)"
            ),
        ),
        (
            "1,2\n#DIV/0!,4",
            "2:1: #DIV/0! is an error of a spreadsheet, not a number (mend its formula, or",
        ),
        (
            "1.000,5;2\n3;4",
            "1:1: 1.000,5 is not a number: it has a separator between its digits (write 1000.5)",
        ),
        (
            "1,000.5;2\n3;4",
            "1:1: 1,000.5 is not a number: it has a separator between its digits (write 1000.5)",
        ),
        (
            "1'000;2\n3;4",
            "1:1: 1'000 is not a number: it has a separator between its digits (write 1000)",
        ),
        ("1\u202f000,5;2\n3;4", "it has a separator between its digits (write 1000.5)"),
        ("1\u00a0000,2\n3,4", "it has a separator between its digits (write 1000)"),
        (
            "1 000\t2\n3\t4",
            "1:1: 1 000 is not a number: it has a separator between its digits (write 1000)",
        ),
        (
            "1 200\t2\n3\t4",
            "between its digits (write 1200, or with a comma between numbers 1, 200)",
        ),
        (
            "1,2\n∞,4",
            (
                "2:1: ∞ is not allowed here (only a mask can hold an infinity: -inf, which hides a"
                " key)"
            ),
        ),
        ("1,2\n3,NaN", "2:3: NaN is not a number (a matrix can hold only finite numbers)"),
        ("1,2\n3,TRUE", "2:3: TRUE is a truth value, not a number (write 1 or 0)"),
        ("true,1/2\n3,4", "1:1: true is a truth value, not a number (write 1 or 0)"),
        ("1,2\n3,4\n\n5,6\ntrue,8", "5:1: true is a truth value, not a number (write 1 or 0)"),
        (
            "   d1  d2\n0  5  6\n1  7  8",
            "2:1: this column has no name, and may only count the rows (leave it out, in",
        ),
        (
            "d1,d2\n0,5,6\n1,7,8",
            "2:1: this column has no name, and may only count the rows (leave it out, in",
        ),
        (
            ",d1,d2\n0,5,6\n1,7,8",
            "2:1: this column has no name, and may only count the rows (leave it out, in pandas",
        ),
        ("1,2\n3, ", "2:3: there is no number here (write a number, such as 0)"),
        ("-,1,2", "1:1: - is not a number (write a number such as"),
        (".,1,2\n!,3,4", "1:1: . is not a number (write a number such as"),
        ("_,1,2\nI,3,4", "1:1: _ is not a number"),
        ('"0,7","0,2"\n"1,5",a', "2:7: a is not a number (leave out names, unless"),
        (
            "[1,2] [3,4]",
            "1:7: [3,4] does not belong here (put all rows into one list: [[1, 2], [3, 4]])",
        ),
    ],
)
def test_what_is_no_number_in_a_file(table: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(table, encoding="utf-8")
    with pytest.raises(attncli.AttncliError) as caught:
        loads(b"Q: [[1]]\nK: [[1], [2]]\nV: {file: v.csv}\n", "p.yaml", folder=tmp_path)
    assert said in f"{caught.value.message} ({caught.value.help})"


def test_exact_numbers_of_a_file_stay_exact(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("1/3,sqrt(2)\n0.50,1\n", encoding="utf-8")
    given = loads(
        b"Q: [[1]]\nK: [[1], [2]]\nV: {file: v.csv, transpose: true}\n", "p.yaml", folder=tmp_path
    ).given["V"]
    assert given.written is not None
    assert given.written.tolist() == [["1/3", "0.50"], ["sqrt(2)", "1"]]
    assert given.value.tolist() == [[1 / 3, 0.5], [2**0.5, 1]]


def test_a_row_or_a_column_of_a_file_is_a_vector(tmp_path: Path) -> None:
    (tmp_path / "row.csv").write_text("1,2\n", encoding="utf-8")
    (tmp_path / "column.csv").write_text("3\n4\n", encoding="utf-8")
    given = loads(
        b"X: [[1]]\nW_Q: [[1, 2]]\nW_K: [[1, 2]]\nb_Q: {file: row.csv}\nb_K: {file: column.csv}\nV:"
        b" {file: row.csv}",
        "p.yaml",
        folder=tmp_path,
    ).given
    assert (given["b_Q"].value.tolist(), given["b_K"].value.tolist()) == ([1, 2], [3, 4])
    assert given["V"].value.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("text", "form", "kind"),
    [
        ("TRUE,FALSE\nTRUE,TRUE", "{file: m.csv}", Keep),
        ("1,0\n1,1", "{keep: {file: m.csv}}", Keep),
        ("0,-inf\n0,0", "{file: m.csv}", Additive),
    ],
)
def test_a_mask_of_a_file(text: str, form: str, kind: type, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(text, encoding="utf-8")
    given = f"Q: [[1], [1]]\nK: [[1], [1]]\nV: [[1], [1]]\nmask: {form}"
    problem = loads(given.encode(), "p.yaml", folder=tmp_path)
    (part,) = problem.mask.parts
    assert isinstance(part, kind)
    seen = part.matrix.value == 0 if isinstance(part, Additive) else part.matrix  # type: ignore[attr-defined]
    assert np.asarray(seen).tolist() == [[True, False], [True, True]]


def test_a_large_file_with_names_is_read_in_one_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_texts, "LONG_TEXT", 0)
    monkeypatch.setattr(cells_of_rows, "_row_node", None)  # which makes a node of each number
    for text in (
        "d1,d 2\n1,0.5\n-2,3\n",
        "a;b\r\n1;0.5\r\n-2;3",
        "# c\n\na\tb\n1\t0.5\n-2\t3\n",
        "a b\n1 0.5\n-2 3",
    ):
        (tmp_path / "v.csv").write_text(text, encoding="utf-8", newline="")
        given = loads(b"Q: [[1]]\nK: [[1], [2]]\nV: {file: v.csv}", "p.yaml", folder=tmp_path).given
        assert given["V"].value.tolist() == SQUARE


def test_a_large_file_is_read_in_one_go(tmp_path: Path) -> None:
    numbers = np.random.default_rng(1).normal(size=(60, 50))
    np.savetxt(tmp_path / "v.txt", numbers)
    np.savetxt(tmp_path / "v.csv", numbers, delimiter=",")
    for name in ("v.txt", "v.csv"):
        problem = f"Q: [[1]]\nK: {{random: [60, 1]}}\nV: {{file: {name}}}"
        assert (
            loads(problem.encode(), "p.yaml", folder=tmp_path).given["V"].value == numbers
        ).all()


@pytest.mark.parametrize("table", [",0,1\n0,5,6\n1,7,8", "key,0,1\n0,5,6\n1,7,8"])
def test_names_that_are_numbers_are_never_guessed(table: str, tmp_path: Path) -> None:
    """As pandas writes an index, and attncli tokens that are numbers."""
    (tmp_path / "v.csv").write_text(table, encoding="utf-8")
    with pytest.raises(attncli.AttncliError, match=r"v\.csv:1:1: ") as caught:
        loads(b"Q: [[1]]\nK: [[1], [2]]\nV: {file: v.csv}\n", "p.yaml", folder=tmp_path)
    assert (
        caught.value.help
        == "leave out names, unless all of the first row or of the first column are words"
    )


def test_a_list_of_tuples_is_one_error_in_a_line_of_yaml_too() -> None:
    with pytest.raises(AttncliError) as caught:
        loads(b"Q: [(1, 2), (3, 4)]\nK: [[1, 2]]\nV: [[1]]\n", "p.yaml")
    assert caught.value.help == "write [[1, 2], [3, 4]]"
    assert not caught.value.more


ABOVE = r"\noalign{\vskip-\arraystretch\normalbaselineskip}"
OF_OUR_PAGE = rf"""$\rule{{0pt}}{{\dimexpr\arraystretch\normalbaselineskip*13/10+1.1em\relax}}
\begin{{array}}{{@{{}}l@{{\;}}}}{ABOVE}
  NAME \\
  \hbox{{I}} \\
  \smash{{\hbox{{\'{{e}}}}}}
\end{{array}}
\left(\begin{{array}}{{@{{\,}}cc@{{\,}}}}{ABOVE}
  \hbox{{d1}} & \hbox{{d2}} \\
  \frac{{1}}{{2}} & \hfill 0.25 \\
  -1 & \hfill 3\phantom{{.25}}
\end{{array}}\right)$\hskip2em minus1em
"""


@pytest.mark.parametrize("name", ["Q", r"\smash{Q^{\top}}"])
def test_a_matrix_of_our_pages_in_latex(name: str) -> None:
    lines = OF_OUR_PAGE.replace("NAME", name).splitlines()
    pasted = "\n".join(f"  {line}" for line in lines)
    text = f"Q: |\n{pasted}\nK: [[1, 0], [0, 1]]\nV: [[1], [2]]\n"
    if name == "Q":
        assert loads(text.encode(), "p.yaml").given["Q"].value.tolist() == [[0.5, 0.25], [-1, 3]]
        return
    with pytest.raises(AttncliError):
        loads(text.encode(), "p.yaml")


def test_the_given_matrices_of_our_pages_are_a_problem() -> None:
    matrices = [
        OF_OUR_PAGE.replace("NAME", name)
        for name in ("X", *(rf"\smash{{W^{{{each}}}}}" for each in "QKV"))
    ]
    problem = loads("\n".join(matrices).encode(), "p.tex")
    for name in ("X", "W_Q", "W_K", "W_V"):
        assert problem.given[name].value.tolist() == [[0.5, 0.25], [-1, 3]]
