"""Equations beside the other keys of problems: what these do stays as it is where no equation
stands in its place. The sweep found each case.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.cli.main import run
from tests.cases import in_one_test

HEADS: dict[str, Any] = {
    "X": [[1, 0], [0, 1], [1, 1]],
    "W_Q": [[1, 0, 2, 1], [0, 1, 1, 0]],
    "W_K": [[1, 2, 0, 1], [0, 1, 1, 2]],
    "W_V": [[1, 0, 0, 1], [2, 1, 1, 0]],
    "heads": 2,
}


@pytest.mark.each_choice
@pytest.mark.parametrize(
    "key",
    [
        {"sink": [0.5, -1]},
        {"position": {"alibi": {"slopes": [0.5, 0.25]}}},
        {"position": {"alibi": True}},
        {"sink": [0.5, -1], "position": {"alibi": {"slopes": [0.5, 0.25]}}, "mask": "causal"},
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_a_number_for_each_head_is_read_as_without_equations(
    key: dict[str, Any], size: float
) -> None:
    """With a large `size`, the softmax is shifted."""
    problem = HEADS | {"X": (np.array(HEADS["X"]) * size).tolist()} | key
    equation = "most[i] = max(j, weights[i, j])"
    plain = attncli.trace(**problem, gradient=True)
    own = attncli.trace(**problem, equations=[equation], gradient=True)
    for name in plain:
        np.testing.assert_allclose(own[name], plain[name], atol=1e-12)
    np.testing.assert_allclose(own["most"], plain["weights"].max(axis=-1))


def test_queries_of_another_length_than_keys() -> None:
    """With the additive score, and several heads that are projected together."""
    problem: dict[str, Any] = {
        "heads": 2,
        "X": [[1, 0, 2, 1], [0, 1, 1, 2]],
        "W_Q": [[1, 2, 0, 1, 1, 2], [0, 1, 2, 1, 0, 1], [1, 0, 1, 0, 1, 0], [2, 1, 0, 1, 1, 1]],
        "K": [[[3, 0], [1, 1]], [[-2, 1], [1, 0]]],
        "V": [[[1, 2], [0, 1]], [[3, 1], [1, 1]]],
        "score": "additive",
        "W_1": [[1, 0], [3, 0.5], [-1, 3]],
        "W_2": [[1, 0], [2, 1]],
        "v": [1, 2],
    }
    plain = attncli.trace(**problem, gradient=True)
    own = attncli.trace(**problem, equations=["most[i] = max(j, weights[i, j])"], gradient=True)
    for name in plain:
        np.testing.assert_allclose(own[name], plain[name], atol=1e-12)


def test_scores_of_all_heads_beside_a_sink_for_each_head() -> None:
    """Heads begin with the softmax: where it is shifted, with the shift."""
    problem = HEADS | {"sink": [0.5, -1]}
    scores = "scores[i, j] = X[i, 0] - X[j, 1]"
    for size in (1.0, 1000.0):
        x = np.array(HEADS["X"]) * size
        trace = attncli.trace(**(problem | {"X": x.tolist()}), equations=[scores])
        logits = (x[:, 0][:, None] - x[:, 1][None]) / np.sqrt(2)
        for head, sink in enumerate([0.5, -1]):
            highest = np.maximum(logits.max(axis=1), sink)[:, None]
            powers = np.exp(logits - highest)
            weights = powers / (powers.sum(axis=1, keepdims=True) + np.exp(sink - highest))
            np.testing.assert_allclose(trace["weights"][head], weights)


def file_of(folder: Path, problem: dict[str, Any]) -> str:
    file = folder / "problem.json"
    file.write_text(json.dumps(problem), encoding="utf-8")
    return str(file)


PLAIN: dict[str, Any] = {
    "Q": [[1.3, -0.9], [2, 1.1]],
    "K": [[-0.4, 0.3], [-1.1, 1.8], [-1.2, -1.2]],
    "V": [[-1.1, 0.3], [1.1, -1.4], [0.8, -0.7]],
}


@pytest.mark.long
@pytest.mark.parametrize(
    "problem",
    [
        # A number for each head of keys, which no head of queries reads.
        {
            "Q": [[[1, 0]], [[0, 1]]],
            "K": [[[2, 1]]],
            "V": [[[1, 3]]],
            "equations": ["two = tanh(V[0, 0] - min(1 * K[0, 0], 1))"],
        },
        # The letter of the model where there is no model.
        PLAIN | {"equations": ["it[i] = sum(d, Q[i, d] ** 2)"]},
        # The softcap is before a scale of the problem's own.
        PLAIN
        | {"softcap": 2, "scale": 0.5}
        | {"equations": ["scaled[i, j] = sum(t, tanh(K_T[t, j]) ** 2)"]},
        # Exponentials of its own, and a step that reads what is inside of the softmax.
        PLAIN | {"equations": [{"equation": "exp[i, j] = scores[i, j] ** 2", "symbol": "phi"}]},
        PLAIN | {"equations": ["total[i] = 2 * row_sum[i]"], "result": "total"},
        # No softmax at all.
        PLAIN | {"equations": ["it[j] = -(V[j, 0] ** 3) ** 2 / Q[0, 1] * 3"], "result": "it"},
        # A condition on keys that heads share.
        {
            "Q": [[[1, 0]], [[0, 1]]],
            "K": [[[2, 1], [1, 1]]],
            "V": [[[1, 3], [0, 2]]],
            "equations": ["it[j] = where(V[j, 0] < K[j, 0], V[j, 1], Q[0, 0] * K[j, 0])"],
            "result": "it",
        },
    ],
)
def test_every_command_takes_it(
    problem: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = file_of(tmp_path, problem)
    kept, back = str(tmp_path / "kept.json"), str(tmp_path / "back.json")
    lines = [
        ["compute", file, "-o", kept],
        ["gradient", file, "-o", back],
        ["gradient", file, "--detail", "cells"],
        ["gradient", file, "--verify"],
        ["compare", file, kept],
        ["compare", file, back],
        ["cost", file],
        ["worksheet", file],
        ["export", file, "--to", "moodle", "-o", str(tmp_path / "quiz.xml")],
    ]
    for suffix in ("md", "tex", "txt"):
        page = str(tmp_path / f"page.{suffix}")
        lines += [["gradient", file, "-o", page], ["check", file, page]]
    for line in lines:
        code = run(line)
        assert code == 0, (line, capsys.readouterr().err)
    trace = attncli.trace(attncli.load(file), gradient=True)
    again = attncli.Trace.from_dict(json.loads(json.dumps(trace.to_dict())))
    assert again.to_dict() == trace.to_dict()
    assert again.to_markdown() == trace.to_markdown()


def test_an_output_weight_that_each_head_reads() -> None:
    """It is shown in every head, and worked lines of a head have it."""
    problem = HEADS | {"W_O": [[1, 2], [0, 1], [2, 0], [1, 1]]}
    trace = attncli.trace(**problem, equations=["scaled[i, j] = W_O[0, 1] * scores[i, j]"])
    np.testing.assert_allclose(trace["scaled"], 2 * trace["scores"])
    page = trace.to_markdown(detail="cells")
    assert page.count(r"2 \cdot") > 2 * 3 * 3
    assert "W_O" in trace.at(head=1)


def test_weights_below_0_are_said_once_each() -> None:
    problem = PLAIN | {"equations": ["exp[i, j] = scores[i, j] + where(j < 1, 0, 1)"]}
    trace = attncli.trace(**problem)
    assert (trace["weights"] < 0).any()
    share = 100 * trace["weights"].min()
    assert f"{share:.1f} % to" in trace.to_markdown()


def test_exponentials_that_have_a_million_digits() -> None:
    """On paper, they are written with an exponent; no line of theirs is said to be exact."""
    trace = attncli.trace(
        Q=[[23000, 0], [0, 2]],
        K=[[100, 2], [2, 1]],
        V=[[1], [2]],
        scale="none",
        equations=["row_sum[i] = 1 + Q[i, 1]"],
        rounding="paper",
    )
    begin = time.process_time()
    page = trace.to_markdown()
    assert time.process_time() - begin < 2
    # e to the 2300000 is 10 to the 998877.308…
    assert "2.034e+998877" in page
    assert "= 2.034e+998877" not in page


def test_the_workbook_tells_the_width_of_values_from_the_gradient_of_v(tmp_path: Path) -> None:
    problem = PLAIN | {"score": "additive", "W_1": [[1], [2]], "W_2": [[1], [0]], "v": [2]}
    file = file_of(tmp_path, problem | {"equations": ["three = mean(c, V[1, c])"]})
    assert run(["gradient", file, "-o", str(tmp_path / "book.xlsx")]) == 0


def test_mistakes_of_shared_heads_where_an_equation_has_no_heads(tmp_path: Path) -> None:
    problem = {
        "Q": [[[1, 0], [0, 1]], [[0, 1], [1, 2]]],
        "V": [[[1, 3], [0, 2]]],
        "arrays": {"kept[j, k]": [[1, 2], [0, 1]]},
        "equations": ["K[j, k] = kept[j, k] ** 2"],
    }
    assert run(["generate", "--audit", file_of(tmp_path, problem)]) == 0


@pytest.mark.long
def test_the_live_page_has_queries_of_another_length(tmp_path: Path) -> None:
    problem = {
        "Q": [[1, 0, 2]],
        "K": [[1, 2], [2, 1]],
        "V": [[1], [3]],
        "score": "multiplicative",
        "W_a": [[1, 0], [2, 1], [0, 1]],
        "equations": ["it[i] = Q[i, 0] + 1"],
    }
    assert run(["compute", file_of(tmp_path, problem), "-o", str(tmp_path / "page.html")]) == 0
    projected = problem | {"X": [[1]], "W_Q": [[1, 0, 2]]}
    del projected["Q"]
    page = tmp_path / "projected.html"
    assert run(["compute", file_of(tmp_path, projected), "-o", str(page)]) == 0


@in_one_test(
    ("equation", "symbol", "message"),
    [
        ("it[i] = Q[i, 0]", "A", "A is the symbol of weights"),
        ("it[i] = Q[i, 0]", "other", "other is another step"),
        ("it[i] = Q[i, 0]", "o", "o is the symbol of other"),
        (
            "it[i] = K[g // 2, i % 2]",
            "T",
            "g is a head of keys and values, and this problem has no",
        ),
        ("it[i] = h * Q[i, 0]", "T", "h is a head, and this problem has no heads"),
        ("it[i] = max(1, b)", "T", "b is an entry of a batch, and this problem has one entry"),
    ],
)
def test_what_a_problem_cannot_have(equation: str, symbol: str, message: str) -> None:
    other = {"equation": "other[i] = 2 * Q[i, 1]", "symbol": "o"}
    with pytest.raises(attncli.AttncliError, match=message):
        attncli.trace(**PLAIN, equations=[other, {"equation": equation, "symbol": symbol}])


def test_the_letter_of_a_group_is_yours_where_there_is_none() -> None:
    """With one row of keys to each head, q runs through an array of the problem."""
    ours = {"arrays": {"mix[q]": [1, 2, 3]}, "equations": ["many[i, q] = mix[q] * Q[i, 0]"]}
    keys = {"Q": [[[1]], [[2]]], "V": [[[1]], [[1]]], "result": "many"}
    apart = attncli.trace(**ours, **keys, heads=2, K=[[[1]], [[1]]])
    assert apart["many"].tolist() == [[[1, 2, 3]], [[2, 4, 6]]]
    with pytest.raises(attncli.AttncliError, match="q is a query head of a group here"):
        attncli.trace(**{**ours, **keys, "V": [[[1]]]}, heads=2, kv_heads=1, K=[[[1]]])
