"""Commas of decimals and commas between numbers: what can be read in two ways is never computed in
silence.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from attncli.cli.main import run
from attncli.errors import AttncliError
from attncli.problem.loader import loads
from attncli.problem.text import building, long_lists
from attncli.problem.text.decimal_commas import doubtful_commas
from tests.cases import in_one_test

BOTH = "(write {}, with a point in each decimal, or {}, with a blank after each comma)"
# matrix, the column of the first comma in doubt with the number around it, and both readings
IN_DOUBT = [
    ("[[0,7, 0,2], [0,1, 0,5]]", 3, "0,7", "0.7", "0 and 7", "[0.7, 0.2]", "[0, 7, 0, 2]"),
    ("[[0,7, 0,2]]", 3, "0,7", "0.7", "0 and 7", "[0.7, 0.2]", "[0, 7, 0, 2]"),
    ("[ [ 0,7 , -0,2 ] ]", 5, "0,7", "0.7", "0 and 7", "[0.7, -0.2]", "[0, 7, -0, 2]"),
    (
        "[[-1,25, 0,2, 3,5, 4,5, 6,5]]",
        3,
        "-1,25",
        "-1.25",
        "-1 and 25",
        "[-1.25, 0.2, 3.5, 4.5, …]",
        "[-1, 25, 0, 2, …]",
    ),
    ("[[1, 0,5], [0,3, 2]]", 6, "0,5", "0.5", "0 and 5", "[1, 0.5]", "[1, 0, 5]"),
    (
        "[[[1, 0,5], [0,3, 2]], [[1,5, 2], [1,5, 2]]]",
        7,
        "0,5",
        "0.5",
        "0 and 5",
        "[1, 0.5]",
        "[1, 0, 5]",
    ),
    ("[[0,7, 0,2],\n [0,1, 0,5]]", 3, "0,7", "0.7", "0 and 7", "[0.7, 0.2]", "[0, 7, 0, 2]"),
    ("[[0,7,\n0,2]]", 3, "0,7", "0.7", "0 and 7", "[0.7, 0.2]", "[0, 7, 0, 2]"),
    ("[[1,5e3, 2]," + "[1,5e3, 2]]", 3, "1,5e3", "1.5e3", "1 and 5e3", "[1.5e3, 2]", "[1, 5e3, 2]"),
]
CLEAR = [
    "[[1,2,3], [4,5,6]]",
    "[[1,2], [3,4]]",
    "[[1, 2], [3, 4]]",
    "[[1, 2,3, 4]]",
    "[[1, 2,3, 4], [5, 6, 7, 8]]",
    "[[1, 2,3, 4], [5,6, 7,8]]",
    "[[1,2,3, 4], [5,6,7, 8]]",
    "[[1,-1, 0,-1], [0,-1, 1,-1]]",
    "[[1,.5, 2], [1,.5, 2]]",
    "[[0.5,1, 2], [0.5,1, 2]]",
    "[[1,2,3,\n4,5,6],\n[1,2,3,\n4,5,6]]",
    "[[1,2, 3], [4, 5,6], [7, 8, 9]]",
    "[[1]]",
]


@pytest.fixture(params=["value by value", "in one go"], autouse=True)
def _both_ways_to_read(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "in one go":
        monkeypatch.setattr(building, "LONG_TEXT", 0)
        monkeypatch.setattr(long_lists, "SHORTEST_LONG_LIST", 0)


@in_one_test(("matrix", "column", "number", "decimal", "two", "points", "blanks"), IN_DOUBT)
@in_one_test("suffix", ["yaml", "json"])
def test_what_can_be_read_in_two_ways_is_an_error_with_both(
    matrix: str,
    column: int,
    number: str,
    decimal: str,
    two: str,
    points: str,
    blanks: str,
    suffix: str,
    problems: Callable[..., list[str]],
) -> None:
    before = '{"Q": ' if suffix == "json" else "{Q: "
    found = problems(f'{before}{matrix}, "K": [[1]], "V": [[1]]}}', f"p.{suffix}")
    what = (
        f"1:{column + len(before)}: Q: {number} can be read as {decimal}, or as the two numbers"
        f" {two}"
    )
    assert found[0] == f"{what} {BOTH.format(points, blanks)}"
    assert len([line for line in found if ": Q" in line]) == 1


@in_one_test("matrix", CLEAR)
def test_what_can_be_read_in_one_way_is_read(matrix: str) -> None:
    expected = json.loads(matrix.replace(",.5", ",0.5"))
    rows = f"[{', '.join(['[1]'] * len(expected))}]"
    problem = loads(f"{{Q: {rows}, K: {rows}, V: {matrix}}}".encode(), "p.yaml")
    assert problem.given["V"].value.tolist() == expected


@in_one_test("key", ["W_a", "past", "sink", "d_output", "additive"])
def test_every_list_of_numbers_is_looked_at(key: str, problems: Callable[..., list[str]]) -> None:
    matrix = "[[0,7, 0,2], [0,1, 0,5]]"
    value = {
        "past": f"{{K: {matrix}, V: [[1]]}}",
        "sink": "[0,7, 0,2]",
        "additive": f"{{additive: {matrix}}}",
    }.get(key, matrix)
    name = "mask" if key == "additive" else key
    assert any(
        "can be read as" in line
        for line in problems(f"Q: [[1]]\nK: [[1]]\nV: [[1]]\n{name}: {value}")
    )


@in_one_test(
    "value", ["{keep: [[1,0, 0,0], [1,1, 0,0]]}", "{padding: [1,1, 0,0]}", "{lengths: [1,2, 1,2]}"]
)
def test_what_holds_no_decimals_is_not(value: str) -> None:
    """Its size is wrong for this problem, and nothing is said of commas."""
    with pytest.raises(AttncliError) as caught:
        loads(f"{{Q: [[1]], K: [[1]], V: [[1]], mask: {value}}}".encode(), "p.yaml")
    assert "can be read" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Q: [[1,07]]",
            "1:6: Q[0][1]: 1,07 has a decimal comma (write 1.07; two numbers are written 1, 7)",
        ),
        ("{scale: 0,5}", "1:9: 0,5 has a decimal comma (write 0.5)"),
        ("scale: 0,5", "1:8: scale: 0,5 has a decimal comma (write 0.5)"),
        ("Q:\n- - 0,7\n  - 0,2", "2:5: Q[0][0]: 0,7 has a decimal comma (write 0.7)"),
        ('Q: [["-0,7"]]', "1:6: Q[0][0]: -0,7 has a decimal comma (write -0.7)"),
        (
            'V: [["1,000"]]',
            (
                "1:6: V[0][0]: 1,000 has a comma inside the number (write 1.000 for a decimal, or"
                " 1000)"
            ),
        ),
        (
            'V: [["1,000,000"]]',
            (
                "1:6: V[0][0]: 1,000,000 is not a number: it has a separator between its digits"
                " (write 1000000)"
            ),
        ),
    ],
)
def test_one_number_with_a_comma(
    text: str, expected: str, problems: Callable[..., list[str]]
) -> None:
    assert expected in problems(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"Q": [[0,07]]}',
            "1:9: 0,07 has a decimal comma (write 0.07; two numbers are written 0, 7)",
        ),
        (
            '{"scale": 0,5}',
            "1:11: 0,5 has a decimal comma (write 0.5; two numbers are written 0, 5)",
        ),
    ],
)
def test_one_number_with_a_comma_in_json(
    text: str, expected: str, problems: Callable[..., list[str]]
) -> None:
    assert problems(text, "p.json") == [expected]


def test_a_long_list_is_looked_at_up_to_the_first_clear_row() -> None:
    rows = ((at, "1, 2, 3") for at in range(10**9))
    assert doubtful_commas(rows) is None


def test_a_long_matrix_in_doubt() -> None:
    matrix = f"[{', '.join(['[0,7, 0,2]'] * 5000)}]"
    with (
        patch.object(building, "LONG_TEXT", 2**14),
        pytest.raises(AttncliError, match="0,7 can be read"),
    ):
        loads(f"{{Q: {matrix}, K: [[1, 2, 3, 4]], V: [[1]]}}".encode(), "p.yaml")


TAB = [[0.7, 0.25], [1.5, 2]]
EVERYWHERE: list[tuple[str, str, list[list[float]]]] = [  # a file, its text, and what is read
    ("v.csv", "0,7;0,25\n1,5;2\n", TAB),
    ("v.csv", "0,7\t0,25\n1,5\t2\n", TAB),
    ("v.csv", '"0,7","0,25"\n"1,5",2\n', TAB),
    ("v.tsv", "0,7\t0,25\n1,5\t2\n", TAB),
    ("v.txt", "0,7\t0,25\n1,5\t2\n", TAB),
    ("v.TSV", "0,7\n1,5\n", [[0.7], [1.5]]),
    ("v.tsv", "0,7", [[0.7]]),
    ("v.csv", "0,7\n1,5\n", [[0, 7], [1, 5]]),
    ("v.txt", "0,7\n1,5\n", [[0, 7], [1, 5]]),
]


@pytest.mark.parametrize(("name", "text", "expected"), EVERYWHERE)
def test_the_one_rule_in_files(
    name: str, text: str, expected: list[list[float]], tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    rows = [[1]] * len(expected)
    problem = loads(
        f"{{Q: [[1]], K: {rows}, V: {{file: {name}}}}}".encode(), "p.yaml", folder=tmp_path
    )
    assert problem.given["V"].value.tolist() == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("v.txt", "0,7 0,25\n1,5 2,5"),
        ("v.csv", "0,7, 0,25\n1,5, 2,5"),
        ("v.tsv", "0,7 0,25\n1,5 2,5"),
    ],
)
def test_files_in_doubt_are_refused(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(
        AttncliError, match=r"0,7 can be read as 0\.7, or as the two numbers 0 and 7"
    ):
        loads(
            f"{{Q: [[1]], K: [[1], [2]], V: {{file: {name}}}}}".encode(), "p.yaml", folder=tmp_path
        )


@in_one_test(
    "matrix",
    [
        "|\n  0,7 0,2",
        "np.array([[0,7, 0,2]])",
        "torch.tensor([[0,7, 0,2]])",
        "0,7; 0,2",
        "|\n  0,7",
    ],
)
def test_pasted_texts_in_doubt_are_refused(matrix: str, problems: Callable[..., list[str]]) -> None:
    found = problems(f"Q: {matrix}\nK: [[1]]\nV: [[1]]\n")
    assert "Q: 0,7 can be read as 0.7, or as the two numbers 0 and 7 (write " in found[0]


@pytest.mark.parametrize(
    "options", [["--scale", "0,7"], ["--step-size", "0,7"], ["--mask", "{additive: [[0,7, 0,2]]}"]]
)
def test_options_are_refused(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.yaml").write_text("Q: [[1]]\nK: [[1], [2]]\nV: [[1], [2]]\n", encoding="utf-8")
    assert run(["gradient", str(tmp_path / "p.yaml"), *options]) in (2, 3)
    assert "0.7" in capsys.readouterr().err  # what to write


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ("weights: |\n  0,5\t0,5\n", 0),
        ("weights: [[0,5, 0,5]]\n", 3),
        # A row has as many numbers as the step.
        ("weights: |\n  0,5 0,5\n", 0),
        ("weights: |\n  0,5\n", 3),
        ("weights: [['0,5', '0,5']]\n", 3),
    ],
)
def test_answers_follow_the_same_rule(answers: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("Q: [[1]]\nK: [[2], [2]]\nV: [[1], [2]]\n", encoding="utf-8")
    (tmp_path / "a.yaml").write_text(answers, encoding="utf-8")
    assert run(["check", str(tmp_path / "p.yaml"), str(tmp_path / "a.yaml")]) == code
