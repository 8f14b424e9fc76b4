"""Systems in which nothing, or not everything, has the heads of queries: each page is read back,
and each gradient agrees with its difference quotients.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import attncli
from attncli.cli.main import run
from tests.cases import in_one_test

SHARED: dict[str, Any] = {
    "heads": 4,
    "kv_heads": 2,
    "Q": [[1, 0, 2, 1], [0, 1, 1, 3]],
    "K": [[1, 2], [0, 1], [3, 1]],
    "V": [[1, 4], [2, 1], [0, 1]],
}
JOINED: dict[str, Any] = {
    "X": [[1, 2], [0, 1]],
    "W_Q": [[1, 0, 2, 1], [0, 1, 1, 0]],
    "W_K": [[1, 2, 0, 1], [0, 1, 1, 2]],
    "heads": 2,
    "W_O": [[1, 2], [0, 1]],
}
BATCH: dict[str, Any] = {
    "K": [[[[1, 2], [0, 1]]], [[[2, 1], [1, 1]]]],
    "V": [[[[1, 2], [0, 1]]], [[[3, 1], [1, 1]]]],
    "X": [[[-3, 1], [1, 1]], [[2, 1], [0, 1]]],
    "W_Q": [[1, 0], [1, 1]],
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("given", "equations", "result"),
    [
        (SHARED, ["output[i, c] = K_T[0, 2] * V[i, c]"], "output"),
        (SHARED, ["scores[i, j] = K[i, 0] * K[j, 0]"], "output"),
        (SHARED, ["it[j] = h * K[j, 0]"], "it"),
        (SHARED, ["it[i, j] = g * weights[i, j]"], "it"),
        (SHARED, ["it[i, j] = sum(g, g * weights[i, j])"], "it"),
        (SHARED, ["it[j] = sum(h, K[j, 0])"], "it"),
        (SHARED, ["it[j] = h + 0 * K[j, 0]"], "it"),
        (SHARED, ["it[g, j] = 2 * K[g, j, 0]"], "it"),
        (SHARED, ["it[j] = sum(g, K[j, 0])"], "it"),
        (SHARED, ["it = 3 * K[0, 0]"], "it"),
        (JOINED, ["concat[i, e] = sum(j, scores[i, j]) * W_O[e, 0]"], "output"),
        (JOINED, ["concat[i, e] = X[i, e]"], "output"),
        (BATCH, ["one = V[0, 0] + sum(d, X[0, d])", "scaled[i, j] = one * scores[i, j]"], "output"),
        (BATCH, ["two[d] = softmax(d, X[0, d])", "scaled[i, j] = two[0] * scores[i, j]"], "output"),
    ],
)
def test_a_page_is_read_back(
    given: dict[str, Any],
    equations: list[str],
    result: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "problem.json"
    file.write_text(json.dumps({**given, "equations": equations, "result": result}))
    assert run(["gradient", str(file), "--verify"]) == 0
    for command in ("compute", "gradient"):
        for suffix in ("md", "tex"):
            page = str(tmp_path / f"page.{suffix}")
            assert run([command, str(file), "-o", page]) == 0
            assert run(["check", str(file), page]) == 0
    capsys.readouterr()


def test_heads_that_share_nothing_are_heads(tmp_path: Path) -> None:
    """Two heads of keys and values, and no query: what they give has two heads."""
    equation = "output[i, c] = K_T[0, 2] * V[i, c]"
    trace = attncli.trace(**SHARED, equations=[equation])
    # K[2] is (3, 1): the first head has 3 there, and the second 1.
    assert trace["output"].tolist() == [[[3], [6], [0]], [[4], [1], [1]]]
    assert "## Head 1" in trace.to_markdown()
    assert "KV head" not in trace.to_markdown()


# Two heads, each with keys of its own: there, g is h.
APART: dict[str, Any] = {
    "Q": [[[1, 1], [2, 1]], [[1, 3], [4, 1]]],
    "K": [[[1, 1], [2, 1]], [[1, 3], [4, 1]]],
    "V": [[[1, 1], [2, 1]], [[1, 3], [4, 1]]],
    "arrays": {"gain[g]": [1, 2]},
}


@in_one_test(
    ("equation", "expected"),
    [
        ("it[i] = Q[g, 0]", [[1, 1], [4, 4]]),
        ("it[i] = g * Q[i, 0]", [[0, 0], [1, 4]]),
        ("it[i] = g + 0 * row_sum[i]", [[0, 0], [1, 1]]),
        ("it[i] = where(g < 1, Q[i, 0], 0)", [[1, 2], [0, 0]]),
        ("it[g, i] = 2 * V[g, i, 0]", [[2, 4], [2, 8]]),
        ("it[h, i] = g + Q[h, i, 0]", [[1, 2], [2, 5]]),
        ("it[j] = sum(g, K[j, 0])", [2, 6]),
        ("it[g, h] = gain[g] * h", [0, 2]),
        ("it[h, i] = gain[g] * Q[i, 0]", [[1, 2], [2, 8]]),
    ],
)
def test_a_head_of_keys_is_the_head_that_has_it(equation: str, expected: Any) -> None:
    problem = {**APART, "equations": [equation], "result": "it"}
    if "gain" not in equation:
        del problem["arrays"]
    assert attncli.trace(problem)["it"].tolist() == expected
