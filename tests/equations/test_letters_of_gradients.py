"""Equations read steps with any letters, and these become the letters of gradients: a gradient has
the axes and the labels of its step all the same, and is right.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import attncli
from attncli.cli.main import run
from attncli.tracing.model import Trace, hidden_beside
from attncli.tracing.serialization import from_dict, to_dict
from tests.cases import in_one_test

PLAIN: dict[str, Any] = {
    "tokens": ["I", "love"],
    "context_tokens": ["one", "two", "three"],
    "Q": [[1, 0], [0, 1]],
    "K": [[1, 2], [2, 1], [0, 1]],
    "V": [[1, 3], [2, 1], [1, 1]],
}
CACHED: dict[str, Any] = {
    "X": [[1, 0], [2, 1]],
    "W_Q": [[1, 0], [2, 1]],
    "W_K": [[0, 1], [1, 1]],
    "W_V": [[1, 2], [1, 0]],
    "past": {"K": [[1, 2], [0, 1], [2, 1]], "V": [[1, 1], [0, 2], [1, 0]]},
}
SHARED: dict[str, Any] = {
    "heads": 4,
    "kv_heads": 2,
    "Q": [[1, 0, 2, 1], [0, 1, 1, 3]],
    "K": [[1, 2], [0, 1], [3, 1]],
    "V": [[1, 4], [2, 1], [0, 1]],
    "sink": [0.5, 1, 2, 0.1],
}
CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    # Letters that have a meaning elsewhere, and one that has none.
    **{
        f"a query is {letter}": (
            PLAIN,
            [f"scaled[i, j] = scores[i, j] * mean({letter}, tanh(scores[{letter}, j]) ** 2)"],
        )
        for letter in "ucdtw"
    },
    "a key is i": (PLAIN, ["row_sum[i] = exp[i, 0]", "two[j] = sum(i, V[i, 0]) * K[j, 0]"]),
    "as long as the cache": (
        CACHED,
        ["two[k, i] = max(u, tanh(X[u, k]) ** 2)", "scores[i, j] = Q[i, 0] * K[j, 1] + two[1, i]"],
    ),
    "a sink that nobody adds": (PLAIN | {"sink": 1}, ["row_sum[i] = exp(tanh(Q[i, 1]))"]),
    "shared heads have scores": (
        SHARED,
        ["scaled[i, j] = tanh(K[j, 0] + V[j, 0] * n_i) * i"],
    ),
    "all heads have the same scores": (SHARED, ["scaled[i, j] = sum(h, Q[i, 0] * K[j, 0]) / 9"]),
    "a positive part of a constant": (
        PLAIN,
        ["scaled[i, j] = min(1 * (1.25 - 3), K[j, 0] - 1.5) * scores[i, j]"],
    ),
    "powers": (PLAIN, ["exp[i, j] = (1 + K[j, 0] ** 2) ** 0.5 + (2 + Q[i, 0]) ** 2.75"]),
    "the opposite of an opposite": (
        PLAIN,
        ["exp[i, j] = 9 - (V[j, 0] - Q[i, 0] / (2 + tanh(K[j, 1])))"],
    ),
    "the smallest in a divisor": (PLAIN, ["scores[i, j] = 2 / exp(min(u, K[j, u]))"]),
}


def trace_of(name: str) -> Trace:
    problem, equations = CASES[name]
    return attncli.trace({**problem, "equations": equations}, gradient=True)


@in_one_test("name", CASES)
def test_a_gradient_has_the_axes_and_labels_of_its_step(name: str) -> None:
    trace = trace_of(name)
    for step in trace.steps.values():
        of = trace.steps.get(step.name.removeprefix("d_"))
        if of is not None:
            assert step.labels == of.labels, step.name
            assert step.rule.axis_names == of.rule.axis_names, step.name


@pytest.mark.parametrize("name", CASES)
def test_its_equations_are_read_from_json_as_they_are(name: str) -> None:
    """Also the order of signs and products, of which a page is made."""
    trace = trace_of(name)
    data = json.loads(json.dumps(to_dict(trace)))
    for step in from_dict(data).steps.values():
        before = trace.steps[step.name].rule
        assert step.rule.axis_names == before.axis_names
        if not before.given:
            assert step.rule.equation == before.equation, step.name


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", CASES)
def test_it_agrees_with_differences(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem, equations = CASES[name]
    file = tmp_path / "problem.json"
    file.write_text(json.dumps({**problem, "equations": equations}))
    assert run(["gradient", str(file), "--verify"]) == 0
    printed = capsys.readouterr().out
    assert "agree with their quotients" in printed
    assert "disagree" not in printed


def test_what_the_result_does_not_depend_on_has_no_gradient() -> None:
    assert "d_sink" not in trace_of("a sink that nobody adds")
    assert "d_sink" in trace_of("shared heads have scores")


def test_a_softmax_decides_by_the_logits_of_each_head() -> None:
    """A sink of 900 in one head alone: e^900 is no float64, whoever shares the logits."""
    equation = "scaled[i, j] = tanh(K[j, 0])"
    for sink in ([900, 0, 0, 0], [0, 0, 0, 900]):
        problem = {**SHARED, "sink": sink, "equations": [equation]}
        assert attncli.trace(problem).shifted
    assert not attncli.trace({**SHARED, "equations": [equation]}).shifted


OF_FEATURES = """
Q: [[1, 1], [0, 1], [2, 0]]
K: [[1, 0], [0, 1]]
V: [[1, 2], [3, 4]]
mask: {keep: [[1, 0], [0, 1], [1, 1]]}
equations: ["scaled[i, j] = scores[i, j] * (1 + Q[min(2, i), j] ** 2)"]
"""
OF_FEWER_KEYS = """
Q: [[1], [0], [2]]
K: [[1], [0]]
V: [[1, 2], [3, 4]]
mask: {keep: [[1, 0], [0, 1], [1, 1]]}
equations: ["fewer[i, j] = Q[i, j] ** 2"]
"""


@pytest.mark.parametrize("name", ["Q", "d_Q"])
def test_a_mask_hides_keys_and_no_features(name: str, tmp_path: Path) -> None:
    """Q[i, j] counts features by the letter of keys, of which there are as many."""
    (tmp_path / "p.yaml").write_text(OF_FEATURES, encoding="utf-8")
    trace = attncli.trace(tmp_path / "p.yaml", gradient=True)
    hidden = hidden_beside(trace.steps, trace.steps[name])
    assert hidden is not None
    masked = [[False, True], [True, False], [False, False]]
    # A row for each feature, and in it the keys.
    assert hidden.tolist() == [[row, row] for row in masked]


def test_a_step_that_counts_some_of_the_keys_has_pages(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(OF_FEWER_KEYS, encoding="utf-8")
    trace = attncli.trace(file, gradient=True)
    assert trace.steps["fewer"].shape == (3, 1)
    assert hidden_beside(trace.steps, trace.steps["fewer"]) is None
    assert run(["gradient", str(file)]) == 0
    assert run(["compute", str(file)]) == 0


def test_a_mask_hides_keys_in_a_step_that_has_them_as_rows() -> None:
    """The row of a key has its queries: the second key is hidden from the first query."""
    trace = attncli.trace(
        Q=[[1], [2]],
        K=[[1], [2]],
        V=[[1], [2]],
        mask="causal",
        equations=["turned[j, i] = masked[i, j]"],
        result="turned",
    )
    hidden = hidden_beside(trace.steps, trace.steps["turned"])
    assert hidden is not None
    assert hidden.tolist() == [[False, False], [True, False]]
    assert trace["turned"].tolist() == [[1, 2], [float("-inf"), 4]]
    # The infinity is meant: nothing overflows.
    assert trace.warnings == ()


def test_a_hidden_layer_that_does_not_fit_is_said_beside_a_mask() -> None:
    """1e308 · 2 is more than any double is, where no mask hides it: the cells of a hidden layer are
    counted by query, key and feature.
    """
    trace = attncli.trace(
        Q=[[1e308]],
        K=[[1], [2]],
        V=[[1], [2]],
        score="additive",
        W_1=[[2]],
        W_2=[[1]],
        v=[1],
        mask=[[True, False]],
        gradient=True,
    )
    assert any("does not fit" in each or "not fit" in each for each in trace.warnings)
