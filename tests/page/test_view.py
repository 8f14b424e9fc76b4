"""Which cell and which steps: by index, by label, and what is said where they are not there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from attncli.arguments import names_of
from attncli.errors import AttncliError, Exit
from attncli.features.steps.page import rule_called
from attncli.page.pictures.kinds import picture_name
from attncli.page.view import chosen_cell, chosen_names, chosen_steps
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.tracing import Trace, run
from tests.cases import in_one_test

ALL = "X, W_Q, W_K, W_V, Q, K, V, K_T, scores, scaled, exp, row_sum, weights, output"


@pytest.fixture(scope="module")
def trace(love: Problem) -> Trace:
    return run(love)


@in_one_test(
    ("text", "step", "index"),
    [
        ("scores[0,1]", "scores", (0, 1)),
        (" scores [ 0 , 1 ] ", "scores", (0, 1)),
        ("scores[I,love]", "scores", (0, 1)),
        ("scores['I', \"love\"]", "scores", (0, 1)),
        ("scores[AI,0]", "scores", (2, 0)),
        ("row_sum[love]", "row_sum", (1,)),
        ("row_sum[2]", "row_sum", (2,)),
        ("Q[love,d3]", "Q", (1, 2)),
        ("K_T[d1,AI]", "K_T", (0, 2)),
        ("W_Q[3,0]", "W_Q", (3, 0)),
        ("weights[1][2]", "weights", (1, 2)),
        ("weights[love] ['AI']", "weights", (1, 2)),
    ],
)
def test_a_cell_by_index_or_label(
    trace: Trace, text: str, step: str, index: tuple[int, ...]
) -> None:
    found, place = chosen_cell(trace, text)
    assert (found.name, place) == (step, index)


@in_one_test(
    ("text", "message", "help"),
    [
        (
            "scores",
            "--cell 'scores' is not of the form step[row,column]",
            "for example --cell 'scores[0,1]'",
        ),
        ("weights(0,1)", "--cell 'weights(0,1)' has no [ ]", "write weights[0,1]"),
        ("weights I love", "--cell 'weights I love' has no [ ]", "write weights[I,love]"),
        (
            "A_{12}",
            "--cell 'A_{12}' has no [ ]",
            "write A[0,1] for row 1 and column 2",
        ),
        ("", "--cell '' is not of the form step[row,column]", "for example --cell 'scores[0,1]'"),
        (
            "scores[0",
            "--cell 'scores[0' is not of the form step[row,column]",
            "for example --cell 'scores[0,1]'",
        ),
        (
            "scores[0]",
            "--cell 'scores[0]' has 1 index, and scores has 2",
            "write --cell 'scores[query,key]'",
        ),
        (
            "scores[]",
            "--cell 'scores[]' has 0 indices, and scores has 2",
            "write --cell 'scores[query,key]'",
        ),
        (
            "row_sum[0,1]",
            "--cell 'row_sum[0,1]' has 2 indices, and row_sum has 1",
            "write --cell 'row_sum[query]'",
        ),
        ("score[0,1]", "no step is called 'score'", "did you mean scores?"),
        ("weight[0,1]", "no step is called 'weight'", "did you mean weights?"),
        ("zzz[0,1]", "no step is called 'zzz'", f"the steps are {ALL}"),
        ("mask[0,1]", "this problem has no step mask", f"its steps are {ALL}"),
        (
            "scores[0,3]",
            "--cell 'scores[0,3]': key 3 does not exist; there are 3, counted from 0",
            "use 0 to 2",
        ),
        (
            "scores[7,0]",
            "--cell 'scores[7,0]': query 7 does not exist; there are 3, counted from 0",
            "use 0 to 2",
        ),
        (
            "scores[0,99999999999999999999]",
            (
                "--cell 'scores[0,99999999999999999999]': key 99999999999999999999 does not exist;"
                " there are 3, counted from 0"
            ),
            "use 0 to 2",
        ),
        (
            "scores[0,-1]",
            "--cell 'scores[0,-1]': no key is called '-1'",
            "the labels are I, love, AI",
        ),
        (
            "scores[0,'1']",
            "--cell \"scores[0,'1']\": no key is called '1'",
            "the labels are I, love, AI",
        ),
        ("scores[I,lov]", "--cell 'scores[I,lov]': no key is called 'lov'", "did you mean love?"),
        ("scores[I,²]", "--cell 'scores[I,²]': no key is called '²'", "the labels are I, love, AI"),
        ("Q[0,d9]", "--cell 'Q[0,d9]': no feature is called 'd9'", "the labels are d1, d2, d3"),
    ],
)
def test_a_cell_that_is_not_there(trace: Trace, text: str, message: str, help: str) -> None:
    with pytest.raises(AttncliError) as caught:
        chosen_cell(trace, text)
    assert (caught.value.exit_code, caught.value.message, caught.value.help) == (
        Exit.USAGE,
        message,
        help,
    )


def test_headings_of_pages_and_words_of_papers_name_the_step_that_is_meant(trace: Trace) -> None:
    def said(ask: Callable[[], object]) -> str:
        with pytest.raises(AttncliError) as caught:
            ask()
        return caught.value.help

    assert said(lambda: chosen_cell(trace, "Attention weights[0,1]")) == "did you mean weights?"
    assert said(lambda: chosen_cell(trace, "softmax[0,1]")) == "did you mean weights?"
    assert said(lambda: chosen_names(["Scaled scores"], ["scores", "scaled"])) == (
        "did you mean scaled?"
    )
    assert said(lambda: rule_called("scaled  scores")) == "did you mean scaled?"
    assert said(lambda: names_of("softmax")) == "did you mean weights?"
    assert said(lambda: picture_name("--of", "Output")) == "did you mean output?"


def test_labels_with_commas_and_digits_are_quoted(problem: Callable[..., Problem]) -> None:
    trace = run(problem(Q=[[1], [2]], K=[[1], [2]], V=[[1], [2]], tokens=("a, b", "0")))
    assert chosen_cell(trace, 'scores["a, b","0"]')[1] == (0, 1)
    assert chosen_cell(trace, "scores[0,0]")[1] == (0, 0)


def test_a_label_that_several_tokens_have(problem: Callable[..., Problem]) -> None:
    rows = [[1], [2], [3]]
    trace = run(problem(Q=rows, K=rows, V=rows, tokens=("the", "cat", "the")))
    assert chosen_cell(trace, "scores[cat,2]")[1] == (1, 2)
    with pytest.raises(AttncliError) as caught:
        chosen_cell(trace, "scores[cat,the]")
    assert caught.value.message == "--cell 'scores[cat,the]': several labels are 'the'"
    assert caught.value.help == "use one of the indices 0, 2"


def test_steps_come_in_the_order_of_the_trace(trace: Trace) -> None:
    assert chosen_steps(trace, ["output", "scores", "X", "scores"]) == ("X", "scores", "output")


@pytest.mark.parametrize(
    ("names", "message", "help"),
    [
        (["scores", "wieghts"], "no step is called 'wieghts'", "did you mean weights?"),
        (
            ["weights output"],
            "no step is called 'weights output'",
            "put commas between steps: weights,output",
        ),
        (["masked"], "this problem has no step masked", f"its steps are {ALL}"),
        (["Scores"], "no step is called 'Scores'", "did you mean scores?"),
    ],
)
def test_steps_that_are_not_there(trace: Trace, names: list[str], message: str, help: str) -> None:
    with pytest.raises(AttncliError) as caught:
        chosen_steps(trace, names)
    assert (caught.value.exit_code, caught.value.message, caught.value.help) == (
        Exit.USAGE,
        message,
        help,
    )


def test_a_step_of_this_problem_only(problem: Callable[..., Problem]) -> None:
    trace = run(problem(Q=[[1]], K=[[1]], V=[[1]], mask=(Causal(),)))
    assert chosen_cell(trace, "mask[0,0]")[0].name == "mask"


@pytest.mark.parametrize("letter", ["K_T", "Kᵀ", "K^T"])
def test_a_step_goes_by_every_spelling_of_its_letter(
    problem: Callable[..., Problem], letter: str
) -> None:
    step, place = chosen_cell(
        run(problem(Q=[[1]], K=[[2]], V=[[3]], mask=(Causal(),))), f"{letter}[0,0]"
    )
    assert (step.name, place) == ("K_T", (0, 0))
    assert (
        chosen_cell(run(problem(Q=[[1]], K=[[2]], V=[[3]], mask=(Causal(),))), "Z'[0,0]")[0].name
        == "masked"
    )


def test_a_step_of_the_way_back_is_not_sought_among_those_of_the_way_there() -> None:
    with pytest.raises(AttncliError, match="d_Q is a step of the backward pass") as error:
        chosen_names(["dQ"], ["X", "Q", "output"])
    assert "attncli gradient" in (error.value.help or "")
