"""`attncli check` from the command line: two printed examples, exit codes, marks, every format, and
every wrong use.
"""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from attncli.cli.main import run
from attncli.features.schema.command import schemas

VERDICT_SCHEMA = json.loads(schemas()["verdict"].read_text(encoding="utf-8"))

INPUTS = Path(__file__).parents[3] / "inputs"
LOVE, LOVE_ANSWERS = str(INPUTS / "i_love_ai.yaml"), str(INPUTS / "answers" / "i_love_ai.yaml")
PRINTED, PRINTED_ANSWERS = (
    str(INPUTS / "printed_example.yaml"),
    str(INPUTS / "answers" / "printed_example.yaml"),
)
# scores 0 and 1, weights 0.26894… and 0.73105…
ONE = "Q: [[1]]\nK: [[0], [1]]\nV: [[1], [2]]\nscore: dot\n"
Checked = Callable[..., dict[str, Any]]
Written = Callable[[str], str]


@pytest.fixture
def checked(capsys: pytest.CaptureFixture[str]) -> Checked:
    """`checked(problem, answers, …, code=1)` is the check as data, which must end so."""

    def play(*arguments: str, code: int) -> dict[str, Any]:
        assert run(["check", *arguments, "--format", "json"]) == code
        out, err = capsys.readouterr()
        assert err == ""
        data: dict[str, Any] = json.loads(out)
        jsonschema.validate(data, VERDICT_SCHEMA, jsonschema.Draft7Validator)
        assert data["passed"] is (code == 0)
        return data

    return play


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """`written(text)` is a file of answers with this text."""

    def write(text: str, name: str = "answers.yaml") -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def one(tmp_path: Path) -> str:
    path = tmp_path / "one.yaml"
    path.write_text(ONE, encoding="utf-8")
    return str(path)


@pytest.fixture
def page(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """`page(problem, answers, …)` is what is printed."""

    def play(*arguments: str) -> str:
        assert run(["check", *arguments]) in (0, 1)
        return capsys.readouterr().out

    return play


def verdicts(data: dict[str, Any], step: str) -> list[list[str]]:
    return [[cell["verdict"] for cell in row] for row in data["steps"][step]["cells"]]


def cells(data: dict[str, Any], step: str, *wanted: str) -> list[tuple[int, int]]:
    rows = verdicts(data, step)
    return [
        (i, j) for i, row in enumerate(rows) for j, verdict in enumerate(row) if verdict in wanted
    ]


@pytest.mark.parametrize(
    ("name", "options"), [("a.md", ()), ("a.md", ("--math", "dollars")), ("a.tex", ())]
)
def test_an_exact_page_is_a_right_answer(
    name: str, options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = str(tmp_path / name)
    assert run(["compute", LOVE, "--rounding", "exact", *options, "-o", page]) == 0
    assert run(["check", LOVE, page]) == 0
    assert run(["check", LOVE, str(tmp_path / f"a{name}")]) == 4
    assert f"help: did you mean {name}?" in capsys.readouterr().err


@pytest.mark.long
def test_a_printed_example_with_hardly_a_number_right(checked: Checked) -> None:
    """By hand: Q[0][0] = 0.5 + 0.1 + 0.02 + 0.56 = 1.18; with Q and K as printed 1.07·0.62 +
    0.77·0.41 = 0.9791.
    """
    data = checked(PRINTED, PRINTED_ANSWERS, code=1)
    assert [len(cells(data, name, "wrong", "rounding")) for name in "QKV"] == [6, 5, 6]
    assert data["first_wrong"] == {"step": "Q", "index": [0, 0]}
    first = data["steps"]["Q"]["cells"][0][0]
    assert (first["verdict"], first["given"]) == ("wrong", 1.07)
    assert (first["expected"], first["own"]) == (pytest.approx(1.18), pytest.approx(1.18))
    assert cells(data, "scores", "wrong") == [(0, 2), (1, 0)]
    assert data["steps"]["scores"]["cells"][0][2]["own"] == pytest.approx(0.9791)
    assert cells(data, "scaled", "wrong", "rounding", "missing") == []
    assert {(0, 0), (0, 2)} <= {*cells(data, "weights", "wrong")}
    assert cells(data, "output", "wrong") == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert verdicts(data, "output")[0][0] == "carried"
    assert sum(data["counts"].values()) == 51
    assert [found["mistake"] for found in data["diagnoses"]] == [
        "K_T[1][1] was used instead of K_T[1][0]"
    ]
    # 0.47·0.79 + 0.57·0.51 = 0.662 could be 0.66 by chance
    assert not data["diagnoses"][0]["likely"]


def test_a_printed_example_with_exponentials_that_its_scaled_scores_do_not_give(
    checked: Checked, page: Callable[..., str]
) -> None:
    """e^2.887 = 17.9394, e^1.732 = 5.6519 and e^2.309 = 10.0644 are printed as 17.940, 5.651 and
    10.063.
    """
    data = checked(LOVE, LOVE_ANSWERS, code=1)
    for name in ("Q", "K", "V", "K_T", "scores", "scaled", "weights", "output"):
        assert {verdict for row in verdicts(data, name) for verdict in row} == {"right"}
    assert data["counts"]["wrong"] == data["counts"]["rounding"] == 0
    rows = data["steps"]["exp"]["cells"]
    assert rows[0][1]["own"] == pytest.approx(math.exp(2.887))
    off = [
        (i, j)
        for i, row in enumerate(rows)
        for j, one in enumerate(row)
        if one["given"] is not None and abs(one["given"] - one["own"]) > 0.0005 + 1e-9
    ]
    assert off == [(0, 1), (0, 2), (2, 1), (2, 2)]
    told = page(LOVE, LOVE_ANSWERS).partition("Carried only because of rounding")[2]
    for line in ("e^2.887 ≈ 17.9394  written: 17.940", "e^1.732 ≈ 5.6519  written: 5.651",
                 "e^2.309 ≈ 10.0644  written: 10.063"):  # fmt: skip
        assert line in told
    assert "row_sum" not in told
    assert "exp, I → I" not in told


def test_exit_codes(checked: Checked, written: Written, one: str) -> None:
    right, off = "weights: [[0.269, 0.731]]", "weights: [[0.270, 0.731]]"
    assert checked(one, written(right), code=0)["first_wrong"] is None
    assert verdicts(checked(one, written(off), code=1), "weights") == [["rounding", "right"]]
    checked(one, written(off), "--lenient", code=0)
    checked(one, written("weights: [[0.269, null]]"), "--lenient", code=1)
    checked(one, written("weights: [[0.280, 0.731]]"), "--lenient", code=1)
    carried = checked(one, written("scores: [[0.0, 1.0]]\nweights: [[0.262, 0.738]]"), code=0)
    assert verdicts(carried, "weights") == [["carried", "carried"]]


def test_marks(checked: Checked, page: Callable[..., str], written: Written, one: str) -> None:
    """Of scores 0 and 1, written as 0 and 2.00, the weights are 0.1192 and 0.8808."""
    answers = written("scores: [[0, 2.00]]\nweights: [[0.119, 0.881]]\nQ: [[1]]")
    data = checked(one, answers, "--marks", "10", code=1)
    assert data["marks"] == {"of": 10, "right": 2.5, "follow_through": 7.5}
    assert "Marks: 2.5 of 10 for right numbers, 7.5 of 10 with follow-through." in page(
        one, answers, "--marks", "10"
    )
    assert "marks" not in checked(one, answers, code=1)
    off = written("weights: [[0.270, 0.731]]")
    assert checked(one, off, "--marks", "10", code=1)["marks"]["follow_through"] == 5
    assert checked(one, off, "--marks", "10", "--lenient", code=0)["marks"]["right"] == 10


@pytest.mark.long
def test_some_steps_are_judged_by_what_the_others_say(checked: Checked) -> None:
    data = checked(PRINTED, PRINTED_ANSWERS, "--steps", "Z,scores", code=1)
    assert list(data["steps"]) == ["scores", "scaled"]
    assert data["first_wrong"] == {"step": "scores", "index": [0, 2]}
    # The wrong number in the scores counts, though nobody asked for the scores.
    checked(PRINTED, PRINTED_ANSWERS, "--steps", "scaled", code=1)


def test_answers_that_make_the_rest_trivial_are_called_out(
    page: Callable[..., str], written: Written
) -> None:
    zeros = "[[0, 0, 0], [0, 0, 0], [0, 0, 0]]"
    thirds = "[[1/3, 1/3, 1/3], [1/3, 1/3, 1/3], [1/3, 1/3, 1/3]]"
    said = page(LOVE, written(f"Q: {zeros}\nscores: {zeros}\nweights: {thirds}"))
    assert "All 9 numbers of Q are 0" in said
    assert "So 15 carried numbers after them show no work of their own." in " ".join(said.split())
    assert "no work of their own" not in page(
        LOVE, written(f"Q: {zeros}\nscores: [[1, 5, 3], [3, 3, 3], [2, 4, 3]]")
    )
    assert "no work of their own" not in page(LOVE, LOVE_ANSWERS)


@pytest.mark.long
def test_the_first_wrong_number_is_worked_twice(page: Callable[..., str]) -> None:
    said = page(PRINTED, PRINTED_ANSWERS, "--steps", "scores")
    assert (
        "You wrote 1.09. Your own earlier numbers give 0.979. The true value is 1.217."
        in " ".join(said.split())
    )
    assert "from your own numbers   1.07·0.62 + 0.77·0.41     ≈ 0.979" in said
    assert "true value              1.180·0.760 + 0.780·0.410 ≈ 1.217" in said


@pytest.mark.long
def test_verdicts_read_without_color_and_in_ascii(
    page: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "t1 ⎡ 1.45 »  0.76 »  1.09 ✗ ⎤" in page(PRINTED, PRINTED_ANSWERS, "--steps", "scores")
    colored = page(PRINTED, PRINTED_ANSWERS, "--steps", "scores", "--color", "always")
    assert "\x1b[1;31m1.09 ✗\x1b[0m" in colored
    with io.TextIOWrapper(io.BytesIO(), encoding="ascii") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert run(["check", PRINTED, PRINTED_ANSWERS, "--steps", "scores"]) == 1
        monkeypatch.undo()
        stream.seek(0)
        assert "row t1: 1.45 (carried), 0.76 (carried), 1.09 (wrong)" in stream.read()


@pytest.mark.long
def test_markdown_and_latex(page: Callable[..., str]) -> None:
    markdown = page(PRINTED, PRINTED_ANSWERS, "--steps", "scores", "--format", "markdown")
    assert "| **t1** |     1.45 » | 0.76 » | **1.09** ✗ |" in markdown
    latex = page(PRINTED, PRINTED_ANSWERS, "--steps", "scores", "--format", "latex", "--fragment")
    assert r"1.09\rlap{${}^{\times}$}" in latex
    assert r"1.45\rlap{${}^{\gg}$}" in latex


def test_a_page_of_answers_reads_as_its_file(checked: Checked, tmp_path: Path) -> None:
    worked = str(tmp_path / "worked.md")
    assert run(["compute", LOVE, "-o", worked]) == 0
    data = checked(LOVE, worked, code=0)
    assert next(iter(data["steps"])) == "Q"
    assert set(data["counts"].values()) == {0, sum(data["counts"].values())}


def test_every_head_has_its_matrix(page: Callable[..., str], written: Written) -> None:
    """The second head's first score is altered: 0 in truth for both."""
    multi = str(INPUTS / "multi_head.yaml")
    said = page(multi, written("scores: [null, [[9, null, null], null, null]]"))
    assert "Head 0:" in said
    assert "dogs  ⎡    9 ✗" in said.partition("Head 1:")[2]


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("format", ["table", "markdown", "latex", "html", "json"])
def test_an_output_file_gets_the_same_page(
    format: str, page: Callable[..., str], tmp_path: Path
) -> None:
    path = tmp_path / "page"
    assert run(["check", PRINTED, PRINTED_ANSWERS, "--format", format, "-o", str(path)]) == 1
    assert path.read_text(encoding="utf-8") == page(PRINTED, PRINTED_ANSWERS, "--format", format)


def test_warnings_are_those_of_the_problem(
    capsys: pytest.CaptureFixture[str], written: Written
) -> None:
    masked = str(INPUTS / "fully_masked.yaml")
    answers = written("row_sum: [null, null, null]")
    run(["check", masked, answers])
    assert "attncli: warning: " in capsys.readouterr().err
    run(["check", masked, answers, "-q"])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((LOVE,), 2, "ANSWERS is missing"),
        (("-", "-"), 2, "standard input cannot be both files"),
        ((LOVE, LOVE_ANSWERS, "--marks", "0"), 2, "--marks cannot be '0'"),
        ((LOVE, LOVE_ANSWERS, "--marks", "ten"), 2, "--marks cannot be 'ten'"),
        ((LOVE, LOVE_ANSWERS, "--steps", "weigths"), 2, "no step is called 'weigths'"),
        ((LOVE, LOVE_ANSWERS, "--steps", "scores,d_Q"), 2, "has no answers to d_Q"),
        ((LOVE, LOVE_ANSWERS, "--steps", "X,exp"), 2, "has no answers to X"),
        ((LOVE, LOVE_ANSWERS, "--math", "dollars"), 2, "--math cannot be used with --format table"),
        ((LOVE, LOVE_ANSWERS, "--fragment"), 2, "--fragment cannot be used with --format table"),
        (
            (LOVE, LOVE_ANSWERS, "--format", "json", "-o", LOVE_ANSWERS),
            2,
            "would write over the answers",
        ),
        ((LOVE, "no_such_file.yaml"), 4, "no_such_file.yaml"),
        ((LOVE, PRINTED), 3, "this file holds a problem, not answers"),
        ((LOVE, PRINTED_ANSWERS), 3, "Q: is 3×2, but must be 3×3"),
    ],
)
def test_wrong_use(
    arguments: tuple[str, ...], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", *arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert "help: " in err


@pytest.mark.long
def test_a_mistake_is_told_by_the_equations_that_lead_to_the_step(
    page: Callable[..., str], written: Written
) -> None:
    """dZ by NumPy, written as dS: what that does to dQ and dK is not asked."""
    answers = written(
        "dS: [[-0.050, 0.207, -0.158], [-0.111, 0.222, -0.111], [-0.089, 0.249, -0.159]]"
    )
    told = page(LOVE, answers)
    assert (
        "d_scores: the scale was forgotten in the backward pass. This explains all 9\n  cells.\n"
        in told
    )
    assert (
        "  Or the scale was applied to dQ and dK, not to dS. Both mistakes give these\n  numbers.\n"
        in told
    )
    assert told.count("    dS[i, j] = dZ[i, j]\n") == 2
    assert "dQ[i, k]" not in told


def test_a_number_copied_wrong_is_printed_as_it_was_copied(
    written: Written, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two rows of Q times a K of ones: 12.5 + 3 is 15.5, and 21.5 + 3 is 24.5."""
    problem = written(
        "Q: [[12.5, 3], [1, 2]]\nK: [[1, 1], [2, 5]]\nV: [[1], [2]]\nscore: dot\n", "p.yaml"
    )
    assert (
        run(["check", problem, written("Q: [[12.5, 3], [1, 2]]\nscores: [[24.5, 40], [3, 12]]\n")])
        == 1
    )
    assert "21.5·1 + 3·1 = 24.5" in capsys.readouterr().out


@pytest.mark.long
def test_a_mistake_in_a_step_that_was_left_out_is_worked_there(
    written: Written, capsys: pytest.CaptureFixture[str]
) -> None:
    """Weights 1, 0 and 1/2, 1/2 times gradients 1 and 3, with no mean subtracted; a mask stands in
    between.
    """
    problem = written(
        "Q: [[0], [0]]\nK: [[0], [0]]\nV: [[1], [3]]\nmask: causal\ntokens: [a, b]\n", "p.yaml"
    )
    assert run(["check", problem, written("d_scaled: [[1.00, 0.00], [0.50, 1.50]]\n")]) == 1
    out = capsys.readouterr().out
    assert "the row's mean was not subtracted" in out
    assert "dZ'[i, j] = A[i, j]·dA[i, j]" in out
    assert "d_masked (dZ'), a → a   1·1 = 1" in out


def test_carried_cells_after_scores_that_were_rounded_to_whole_numbers(
    page: Callable[..., str], written: Written, tmp_path: Path
) -> None:
    """Q Kᵀ is 1.4; rounded to 1 it gives 1 / √2 = 0.707, not 0.990."""
    problem = tmp_path / "p.yaml"
    problem.write_text("Q: [[1.4, 0]]\nK: [[1, 0]]\nV: [[1]]\n", encoding="utf-8")
    said = "scores is rounded to whole numbers, and scaled has more decimals."
    assert said in page(str(problem), written("scores: [[1]]\nscaled: [[0.707]]"))
    assert said not in page(str(problem), written("scores: [[1.4]]\nscaled: [[0.990]]"))
    # which is wrong already
    assert said not in page(str(problem), written("scores: [[3]]\nscaled: [[2.121]]"))


THREE = "Q: [[1, 2], [3, 1], [0, 1]]\nK: [[1, 0], [1, 1], [2, 1]]\nV: [[1, 0], [2, 3], [-1, 1]]\n"


def test_a_mask_the_wrong_way_round_is_shown_at_a_key_that_it_hides_or_not(
    written: Written, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every query sees itself under both masks. The weights are those of the scores from the key of
    the query on: of the last one, 1.
    """
    problem = written(THREE + "mask: causal\n")
    answers = "weights: [[0.07, 0.31, 0.62], [0, 0.11, 0.89], [0, 0, 1]]\n"
    assert run(["check", problem, str(Path(written(answers, "past.yaml")))]) == 1
    said = capsys.readouterr().out
    assert "weights: the causal mask hid what comes before, not what comes after." in said
    assert "mask (M), t1 → t2   i ≤ j: 0 ≤ 1 is true, so visible: 0" in said
