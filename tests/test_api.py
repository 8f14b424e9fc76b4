"""The Python interface: what a notebook or a script relies on, and what it is told when it asks for
nonsense.
"""

from __future__ import annotations

import json
from inspect import signature
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import attncli
from attncli import dtypes
from tests.cases import in_one_test

FILE = Path(__file__).parents[1] / "inputs" / "i_love_ai.yaml"


@pytest.fixture(scope="module")
def trace() -> attncli.Trace:
    return attncli.trace(attncli.load(FILE))


def test_steps_are_arrays_that_nobody_can_change(trace: attncli.Trace) -> None:
    np.testing.assert_array_equal(trace["scores"], [[1, 5, 3], [3, 3, 3], [2, 4, 3]])
    with pytest.raises(ValueError, match="read-only"):
        trace["scores"][0, 0] = 7
    with pytest.raises(KeyError, match="no step 'skores'; there are X, W_Q"):
        trace["skores"]


@pytest.mark.parametrize(
    ("words", "known"),
    [
        (dtypes.DtypeWord, dtypes.DTYPES),
        (dtypes.DeviceWord, dtypes.DEVICES),
        (dtypes.RoundingWord, dtypes.ROUNDINGS),
        (dtypes.DetailWord, dtypes.DETAILS),
    ],
)
def test_type_checkers_know_the_words(words: Any, known: Any) -> None:
    assert get_args(words) == tuple(known)


@pytest.mark.parametrize(
    ("function", "argument", "words"),
    [
        (attncli.trace, "dtype", "DtypeWord"),
        (attncli.trace, "device", "DeviceWord"),
        (attncli.trace, "rounding", "RoundingWord"),
        (attncli.compare, "dtype", "DtypeWord"),
        (attncli.Trace.to_markdown, "detail", "DetailWord"),
    ],
)
def test_arguments_have_the_types_of_words(function: Any, argument: str, words: str) -> None:
    assert signature(function).parameters[argument].annotation == words


def test_a_trace_survives_json(trace: attncli.Trace) -> None:
    read = attncli.Trace.from_dict(json.loads(json.dumps(trace.to_dict())))
    assert read.to_dict() == trace.to_dict()
    assert isinstance(read, attncli.Trace)
    assert read.to_markdown() == trace.to_markdown()


@pytest.mark.parametrize(
    "change",
    [
        {"settings": []},
        {"steps": []},
        {"parameters": []},
        {"steps": {"scores": {"value": [[1]]}}},
        {"attncli": {"format": 2}},
    ],
)
def test_what_is_no_trace_is_refused(trace: attncli.Trace, change: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        attncli.Trace.from_dict(trace.to_dict() | change)


def test_a_trace_on_paper_is_shown_at_its_own_precision() -> None:
    trace = attncli.trace(attncli.load(FILE), rounding="paper", precision=1)
    page = trace.to_markdown()
    assert "rounded to 1 decimal," in page
    assert trace.truth is not None
    np.testing.assert_array_equal(trace["weights"][1], [0.3, 0.3, 0.3])
    assert "In words" in trace.truth.to_markdown()


def test_a_notebook_shows_the_derivation(trace: attncli.Trace) -> None:
    shown = trace._repr_markdown_()
    assert shown.startswith("# I love AI\n")
    assert "$$\nS = Q \\, K^{\\top}" in shown


def test_a_notebook_shows_a_step(trace: attncli.Trace) -> None:
    shown = trace.steps["scores"]._repr_markdown_()
    assert "$$\nS = Q \\, K^{\\top}" in shown
    assert "Attention weights" not in shown
    of_head = attncli.trace(FILE.parent / "multi_head.yaml").at(head=1).steps["scores"]
    assert "K^{\\top}" in of_head._repr_markdown_()
    # Of some steps, a notebook shows the line of Python.
    some = attncli.trace(FILE, steps="output")
    assert some.steps["output"]._repr_markdown_() is None
    assert type(some.steps["output"].value) is np.ndarray


@pytest.mark.long
def test_what_python_prints_is_short(trace: attncli.Trace) -> None:
    steps = "X W_Q W_K W_V Q K V K_T scores scaled exp row_sum weights output"
    assert repr(trace) == f"<trace 'I love AI': 3 queries and 3 keys; {steps}>"
    assert (
        repr(trace.steps["scores"])
        == "<step scores: 3×3, scores[i, j] = sum(k, Q[i, k] * K_T[k, j])>"
    )
    assert repr(trace.steps["X"]) == "<step X: 3×4, given>"
    assert repr(trace.problem) == "<problem 'I love AI': X 3×4, W_Q 4×3, W_K 4×3, W_V 4×3>"
    assert (
        repr(attncli.problem(**{name: np.ones((1, 1)) for name in "QKV"}).given["Q"])
        == "Matrix(value=array([[1.]]), written=None)"
    )
    assert (
        repr(attncli.problem(Q=[[1]], K=[[2]], V=[[3]], mask="causal"))
        == "<problem: Q 1×1, K 1×1, V 1×1; mask causal>"
    )
    assert repr(attncli.problem(title="\x1b[2J" + "x" * 99, Q=[[1]], K=[[2]], V=[[3]])).startswith(
        "<problem '\\x1b[2Jx"
    )
    assert (
        repr(attncli.check(FILE, {"scores": [[1, 5, 3], [3, 3, 4], [None, 4, 3]]}))
        == "<checked 'I love AI': 7 right, 1 wrong and 1 missing>"
    )
    assert repr(trace.page()).startswith("<page 'I love AI': ≈ ")


def test_latex_as_a_document_and_as_a_fragment(trace: attncli.Trace) -> None:
    assert trace.to_latex().startswith("\\documentclass")
    assert "\\documentclass" not in trace.to_latex(fragment=True)
    assert trace.to_html().startswith("<!DOCTYPE html>")
    assert trace.to_html(fragment=True).startswith('<section class="attncli">')


@in_one_test(
    ("choices", "message", "help"),
    [
        ({"dtype": "float61"}, "dtype cannot be 'float61'", "did you mean float64?"),
        ({"dtype": "bf16"}, "dtype cannot be 'bf16'", "did you mean bfloat16?"),
        (
            {"dtype": "int8"},
            "dtype cannot be 'int8'",
            "choose float16, bfloat16, float32 or float64",
        ),
        ({"device": "cuda"}, "device cannot be 'cuda'", "did you mean gpu?"),
        ({"device": "tpu1"}, "device cannot be 'tpu1'", "choose cpu or gpu"),
        ({"rounding": "papers"}, "rounding cannot be 'papers'", "did you mean paper?"),
        ({"precision": -1}, "precision cannot be -1", "give a whole number from 0 to 15"),
        ({"precision": "3"}, "precision cannot be '3'", "give a whole number from 0 to 15"),
        (
            {"rounding": "paper", "dtype": "float16"},
            "rounding 'paper' cannot be used with dtype 'float16'",
            "paper uses decimal numbers on the CPU; leave out one of the two",
        ),
    ],
)
def test_choices_that_are_none(choices: dict[str, Any], message: str, help: str) -> None:
    with pytest.raises(attncli.AttncliError) as caught:
        attncli.trace(attncli.load(FILE), **choices)
    assert (caught.value.message, caught.value.help, int(caught.value.exit_code)) == (
        message,
        help,
        2,
    )


def test_views_that_are_none(trace: attncli.Trace) -> None:
    with pytest.raises(attncli.AttncliError, match="detail cannot be 'cell'"):
        trace.to_markdown(detail="cell")
    with pytest.raises(attncli.AttncliError, match="precision cannot be 99"):
        trace.to_latex(precision=99)


def test_a_file_is_read_where_a_problem_is_wanted(trace: attncli.Trace) -> None:
    assert attncli.trace(FILE)["weights"].tolist() == trace["weights"].tolist()
    assert attncli.check(str(FILE), {"scores": trace["scores"]}).passed


def test_there_is_nothing_else() -> None:
    with pytest.raises(AttributeError, match="module 'attncli' has no attribute 'compute'"):
        attncli.compute  # noqa: B018


ONE_KEY_WRONG = {"Q": [[2, 0, 1], [0, 2, 1], [1, 1, 1]], "K": [[0, 1, 1], [2, 1, 1], [1, 2, 1]]}


def test_a_solution_is_checked() -> None:
    """K[2][1] is 1; from 2 follow other scores."""
    checked = attncli.check(
        attncli.load(FILE), ONE_KEY_WRONG | {"scores": [[1, 5, 3], [3, 3, 5], [None, 4, "4.0"]]}
    )
    assert isinstance(checked, attncli.Checked)
    assert not checked.passed
    assert checked.solution.verdicts.first_wrong == ("K", (2, 1))
    assert checked.solution.verdicts.counts == {
        "right": 23,
        "carried": 2,
        "rounding": 0,
        "wrong": 1,
        "missing": 1,
    }
    assert checked.to_dict()["steps"]["scores"]["cells"][2][2]["verdict"] == "carried"
    assert "The first wrong number is in the keys (K)" in checked.to_markdown()
    assert checked._repr_markdown_() == checked.to_markdown()


@pytest.mark.long
def test_some_steps_are_checked_for_marks() -> None:
    """Of the nine scores eight are right; of ten marks that is 8.9. The weights are not judged."""
    answers = {"scores": [[1, 5, 3], [3, 3, 4], [2, 4, 3]], "weights": np.zeros((3, 3))}
    checked = attncli.check(FILE, answers, steps="scores", marks=10)
    assert [*checked.solution.verdicts.steps] == ["scores"]
    assert checked.solution.verdicts.counts["wrong"] == 1
    assert checked.to_dict()["marks"]["of"] == 10
    assert "Marks: 8.9 of 10 for right numbers" in checked.to_markdown()
    with pytest.raises(attncli.AttncliError, match="steps: answers has no answers to output"):
        attncli.check(FILE, answers, steps=["output"])
    for marks in (0, 1001, 2.5, True):
        with pytest.raises(attncli.AttncliError, match="marks cannot be"):
            attncli.check(FILE, answers, marks=marks)
        with pytest.raises(attncli.AttncliError, match="marks cannot be"):
            attncli.check_many([], marks=marks)


def test_pages_without_a_title_and_for_github(trace: attncli.Trace) -> None:
    assert "```math" in trace.to_markdown(math="fences")
    assert "\n$$\n" in trace.to_markdown()
    with pytest.raises(attncli.AttncliError, match="math cannot be 'fence'"):
        trace.to_markdown(math="fence")  # type: ignore[arg-type]
    for write in (trace.to_html, trace.to_latex):
        assert "I love AI" in write(title=True, fragment=True)
        assert "I love AI" not in write(title=False, fragment=True)


def test_a_file_of_answers_is_checked() -> None:
    answers = FILE.parent / "answers" / "homework.yaml"
    assert attncli.check(attncli.load(FILE), answers).diagnoses[0].step == "scaled"
    with pytest.raises(attncli.AttncliError, match="no step is called skores"):
        attncli.check(attncli.load(FILE), {"skores": [[1]]})


def test_a_trace_with_its_gradient() -> None:
    problem = attncli.load(FILE.with_name("next_token.yaml"))
    assert "d_W_Q" not in attncli.trace(problem)
    trace = attncli.trace(problem, gradient=True)
    assert trace["d_W_Q"].shape == trace["W_Q"].shape
    assert trace["loss"].shape == ()
    assert "The backward pass" in trace.to_markdown()
    assert attncli.Trace.from_dict(trace.to_dict())["d_X"].tolist() == trace["d_X"].tolist()


def test_a_trace_draws_pictures(trace: attncli.Trace, tmp_path: Path) -> None:
    picture = trace.picture("flow", query="AI")
    assert picture.title == "I love AI: who attends to whom"
    said = '"AI" pays 53.3 % of its attention to "love", 29.9 % to itself and 16.8 % to "I".'
    assert picture.description == said
    assert picture._repr_svg_().startswith("<svg ")
    for suffix, begin in {".svg": b"<svg ", ".md": b"![", ".tex": b"\\documentclass"}.items():
        picture.save(tmp_path / f"flow{suffix}")
        assert (tmp_path / f"flow{suffix}").read_bytes().startswith(begin)
    picture.save(tmp_path / "flow.tex", fragment=True)
    assert b"\\documentclass" not in (tmp_path / "flow.tex").read_bytes()
    heads = attncli.trace(FILE.with_name("multi_head.yaml"))
    assert "Head 0" not in heads.picture(head=1).to_svg()
    assert "![" in trace.to_markdown(pictures=True)
    assert "\\usepackage{tikz}" in trace.to_latex(pictures=True)
    assert "<figure " in trace.to_html(pictures=True)


@pytest.mark.parametrize("of", ["flow", "output", "softmax"])
def test_a_query_of_a_picture_is_a_label_or_an_index_from_0(trace: attncli.Trace, of: str) -> None:
    by_label = trace.picture(of, query="AI")
    for index in (2, "2", np.int64(2)):
        assert trace.picture(of, query=index).to_svg() == by_label.to_svg()
    heads = attncli.trace(FILE.with_name("multi_head.yaml"))
    assert heads.picture(of, head=np.int64(1)).to_svg() == heads.picture(of, head=1).to_svg()


@in_one_test("query", [3, -1, True, 1.0, np.array([1]), np.True_])
def test_a_query_that_is_no_index(trace: attncli.Trace, query: Any) -> None:
    with pytest.raises(
        attncli.AttncliError, match=r"^query.* does not exist: there are 3 queries"
    ) as caught:
        trace.picture("flow", query=query)
    assert caught.value.help == "use 0 to 2, or the label of a query"
    heads = attncli.trace(FILE.with_name("multi_head.yaml"))
    with pytest.raises(attncli.AttncliError, match=r"^head.* does not exist: there are 2 heads"):
        heads.picture("flow", head=query)


def test_the_softmax_is_drawn_of_the_problem_of_a_trace(trace: attncli.Trace) -> None:
    """The scores of "I" are 1, 5 and 3: e⁵ of e + e⁵ + e³ is 86.7 %. With the scale, √3 divides
    them: 70.7 %.
    """
    said = '"I" gives "love" 86.7 % without the scale, and 70.7 % with it.'
    assert trace.picture("softmax", query="I").description == said
    paper = attncli.trace(FILE, rounding="paper", precision=1).picture("softmax", query="I")
    assert "90.0 % without the scale" in paper.description  # 148.4 / (2.7 + 148.4 + 20.1), rounded
    for part in (
        attncli.Trace.from_dict(trace.to_dict()),
        attncli.trace(FILE.with_name("multi_head.yaml")).at(head=1),
    ):
        with pytest.raises(attncli.AttncliError, match="and this trace has none") as caught:
            part.picture("softmax")
        assert (
            caught.value.help
            == "draw it from attncli.trace(problem), and choose a part of it with head and entry"
        )


@in_one_test(
    ("choices", "message", "help"),
    [
        ({"of": "wieghts"}, "picture cannot be 'wieghts'", "did you mean weights?"),
        (
            {"of": "scores", "query": "AI"},
            "a picture of the scores has all queries",
            "leave out query",
        ),
        ({"precision": 99}, "precision cannot be 99", "give a whole number from 0 to 15"),
        ({"head": 1}, "head needs a problem with a head axis", "leave out head"),
        (
            {"of": "flow", "query": 3},
            "query=3 does not exist: there are 3 queries",
            "use 0 to 2, or the label of a query",
        ),
        (
            {"of": "flow", "query": -1},
            "query -1 does not exist: there are 3 queries",
            "use 0 to 2, or the label of a query",
        ),
        (
            {"of": "flow", "query": True},
            "query True does not exist: there are 3 queries",
            "use 0 to 2, or the label of a query",
        ),
        (
            {"of": "flow", "query": 1.0},
            "query=1.0 does not exist: there are 3 queries",
            "use 0 to 2, or the label of a query",
        ),
        (
            {"of": 3},
            "picture cannot be '3'",
            "use weights, scores, flow, dimensions, output or softmax, or a step",
        ),
        (
            {"of": "d_scores"},
            "d_scores is a step of the backward pass",
            "work the gradient out, too: attncli.trace(problem, gradient=True)",
        ),
    ],
)
def test_a_picture_that_there_is_not(
    trace: attncli.Trace, choices: dict[str, Any], message: str, help: str
) -> None:
    with pytest.raises(attncli.AttncliError) as caught:
        trace.picture(**choices)
    assert (caught.value.exit_code, caught.value.message, caught.value.help) == (2, message, help)


def test_a_trace_with_its_gradient_draws_it() -> None:
    picture = attncli.trace(FILE, gradient=True).picture("d_scores")
    assert repr(picture) == "<picture 'I love AI: gradient of the scores'>"


def test_errors_of_too_much_name_keywords_and_no_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = attncli.trace(Q=np.ones((65, 1, 1)), K=np.ones((65, 1, 1)), V=np.ones((65, 1, 1)))
    with pytest.raises(attncli.AttncliError) as caught:
        many.picture()
    assert caught.value.help == "choose with head=0"
    monkeypatch.setattr("attncli.page.workbook.MOST_FORMULAS", 64)
    with pytest.raises(attncli.AttncliError) as caught:
        many.to_xlsx(tmp_path / "x.xlsx")
    assert caught.value.help == "choose one head with trace.at(head=0) or write .html or .json"
    many.at(head=0).to_xlsx(tmp_path / "x.xlsx")


def test_where_no_picture_can_be_written(trace: attncli.Trace, tmp_path: Path) -> None:
    for path, code in ((tmp_path / "x.pdf", 2), (tmp_path / "no" / "x.svg", 4)):
        with pytest.raises(attncli.AttncliError) as caught:
            trace.picture().save(path)
        assert caught.value.exit_code == code
