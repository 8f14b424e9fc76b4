"""The page of one query: its keys in order, each with a bar."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncli.cli.main import run

# exp(ln 4), exp(ln 2), exp(0) and exp(0) share 8 parts: 50 %, 25 % and 12.5 % twice
WEIGHTED = """tokens: [a]
context_tokens: [x, y, z, y]
score: dot
Q: [[1]]
K: [[0], [1.3862943611198906], [0], [0.6931471805599453]]
V: [[1], [2], [3], [4]]
"""


@pytest.fixture
def problem(tmp_path: Path) -> str:
    (tmp_path / "p.yaml").write_text(WEIGHTED)
    return str(tmp_path / "p.yaml")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[list[str]]:
    """The words of every line of the table."""
    assert run(["compute", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = next(place for place, line in enumerate(lines) if line.split()[:1] == ["weight"])
    return [line.split() for line in lines[start + 2 :]]


@pytest.mark.parametrize("query", ["a", "0", '"a"'])
def test_the_keys_in_order(query: str, problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, problem, "--query", query) == [
        ["50.0", "%", "y", "(key", "1)", "█" * 16],
        ["25.0", "%", "y", "(key", "3)", "█" * 8],
        ["12.5", "%", "x", "█" * 4],
        ["12.5", "%", "z", "█" * 4],
    ]


def test_what_comes_after_the_top_keys_shares_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ", ".join("[0]" for _ in range(20))
    (tmp_path / "p.yaml").write_text(f"Q: [[1]]\nK: [{rows}]\nV: [{rows}]\n")
    lines = printed(capsys, str(tmp_path / "p.yaml"), "--query", "0")
    assert [line[0] for line in lines] == ["5.0"] * 12 + ["40.0"]
    assert lines[-1] == ["40.0", "%", "the", "8", "others", "together"]


def test_a_number_is_an_index_unless_it_is_quoted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.yaml").write_text(
        "tokens: ['1', b]\nQ: [[1], [2]]\nK: [[1], [2]]\nV: [[1], [2]]\n"
    )
    for query, said in (("1", 'What "b" (query 1)'), ('"1"', 'What "1" (query 0)')):
        assert run(["compute", str(tmp_path / "p.yaml"), "--query", query]) == 0
        assert said in capsys.readouterr().out


def test_heads_each_have_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    problem = str(Path(__file__).parents[2] / "inputs" / "multi_head.yaml")
    assert run(["compute", problem, "--query", "cats"]) == 0
    out = capsys.readouterr().out
    assert out.count('What "cats" (query 2) attends to') == 2
    assert run(["compute", problem, "--query", "cats", "--head", "1"]) == 0
    assert capsys.readouterr().out.count("attends to") == 1


def test_in_words_there_are_no_bars(problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compute", problem, "--query", "a", "--ascii"]) == 0
    assert "weight: 50.0 %; token: y (key 1)\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message", "help"),
    [
        (["--query", "b"], "--query 'b': no query is called 'b'", "the labels are a"),
        (
            ["--query", "7"],
            "--query '7': query 7 does not exist; there are 1, counted from 0",
            "use 0 to 0",
        ),
        (
            ["--query", "a", "--steps", "A"],
            "--query cannot be used with --steps",
            "--query shows one row of the weights; leave out one of the two",
        ),
        (
            ["--query", "a", "--format", "json"],
            "--query cannot be used with --format json",
            "JSON holds the numbers themselves; leave out --query",
        ),
        (
            ["--query", "a", "--format", "latex"],
            "--query cannot be used with --format latex",
            "--query is for --format table, markdown or html",
        ),
    ],
)
def test_wrong_use(
    arguments: list[str], message: str, help: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compute", problem, *arguments]) == 2
    assert capsys.readouterr().err == f"attncli: error: {message}\nhelp: {help}\n"
