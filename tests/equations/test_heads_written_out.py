"""Heads and entries that an equation names: `h` and `b` before the other letters are those of the
equation itself, and a sum over them adds up all.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.cli.main import run

HEADS: dict[str, Any] = {
    "X": [[1, 0], [0, 1], [1, 1]],
    "W_Q": [[1, 0, 2, 1], [0, 1, 1, 0]],
    "W_K": [[1, 2, 0, 1], [0, 1, 1, 2]],
    "W_V": [[1, 0, 0, 1], [2, 1, 1, 0]],
    "heads": 2,
}


@pytest.mark.parametrize(
    ("written", "short"),
    [
        ("it[h, i, j] = 2 * weights[h, i, j]", "it[i, j] = 2 * weights[i, j]"),
        ("it[i, j] = h * weights[h, i, j]", "it[i, j] = h * weights[i, j]"),
        ("it[h, i] = max(j, scores[h, i, j])", "it[i] = max(j, scores[i, j])"),
        ("it[i, j] = sum(h, weights[h, i, j])", "it[i, j] = sum(h, weights[i, j])"),
    ],
)
def test_a_head_may_be_written_out(written: str, short: str) -> None:
    one, other = (
        attncli.trace(**HEADS, equations=[each], result="it", gradient=True)
        for each in (written, short)
    )
    assert one["it"].tolist() == other["it"].tolist()
    assert one["d_W_Q"].tolist() == other["d_W_Q"].tolist()


@pytest.mark.long
def test_a_sum_over_heads_has_no_heads(tmp_path: Path) -> None:
    equation = "it[i, j] = sum(h, weights[i, j])"
    trace = attncli.trace(**HEADS, equations=[equation], result="it")
    assert trace.steps["it"].rule.source == "it[i, j] = sum(h, weights[h, i, j])"
    np.testing.assert_allclose(trace["it"], trace["weights"].sum(axis=0))
    assert "All heads together" in trace.to_markdown()
    file = tmp_path / "problem.json"
    file.write_text(json.dumps(HEADS | {"equations": [equation], "result": "it"}))
    assert run(["gradient", str(file), "--verify"]) == 0
    for suffix in ("md", "tex"):
        page = str(tmp_path / f"page.{suffix}")
        assert run(["gradient", str(file), "-o", page]) == 0
        assert run(["check", str(file), page]) == 0


def test_a_sum_over_heads_beside_what_heads_share(tmp_path: Path) -> None:
    """Both heads of queries read one head of keys and values: in the sum, and each for itself."""
    problem = {
        "Q": [[[1, 0]], [[0, 1]]],
        "K": [[[2, 1], [0, 1]]],
        "V": [[[1, 3], [1, 1]]],
        "equations": ["it[j] = sum(h, V[j, 0] * (1 + Q[0, 0]) * K[j, 1]) + V[j, 1]"],
        "result": "it",
    }
    # V[j, 0] is 1, K[j, 1] is 1, and Q[0, 0] is 1 in the first head and 0 in the second.
    assert attncli.trace(problem)["it"].tolist() == [[3 + 3, 3 + 1]] * 2
    file = tmp_path / "problem.json"
    file.write_text(json.dumps(problem))
    assert run(["gradient", str(file), "--verify"]) == 0


def test_heads_are_mixed_by_a_letter_of_their_own() -> None:
    """What the help line of the error says: talking heads."""
    w = np.array([[[1, 0], [2, 1]], [[0, 1], [1, 0]]])
    mix = np.array([[1, 2], [0.5, -1]])
    x = np.array(HEADS["X"])
    trace = attncli.trace(
        X=HEADS["X"],
        W_V=HEADS["W_V"],
        arrays={"W[d, a, k]": w.tolist(), "mix[r, a]": mix.tolist()},
        equations=[
            "query[a, i, k] = sum(d, X[i, d] * W[d, a, k])",
            "mixed[r, i, j] = sum(a, mix[r, a] * sum(k, query[a, i, k] * query[a, j, k]))",
        ],
        result="mixed",
    )
    q = np.einsum("id,dak->aik", x, w)
    expected = np.einsum("ra,aik,ajk->rij", mix, q, q)
    np.testing.assert_allclose(trace["mixed"], expected)


@pytest.mark.parametrize(
    ("equation", "head"),
    [
        ("it[i, j] = weights[1 - h, i, j]", "1 - h"),
        ("it[i, j] = weights[0, i, j]", "0"),
        ("it[h, i, j] = sum(g, weights[g, i, j])", "g"),
        ("it[h, i, j] = sum(t, weights[t, i, j])", "t"),
    ],
)
def test_another_head_is_refused_with_what_can_be_written(equation: str, head: str) -> None:
    with pytest.raises(attncli.AttncliError, match=f"and {head} is another head") as error:
        attncli.trace(**HEADS, equations=[equation])
    assert error.value.help
    assert "sum(h, weights[i, j])" in error.value.help


def test_a_step_is_asked_for_by_its_symbol(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    equation = {"equation": "it[i, j] = 2 * weights[i, j]", "symbol": "N_2"}
    file = tmp_path / "problem.json"
    file.write_text(json.dumps(HEADS | {"equations": [equation]}))
    pages = []
    for name in ("it", "N_2"):
        assert run(["compute", str(file), "--steps", name, "-q"]) == 0
        pages.append(capsys.readouterr().out)
    assert pages[0] == pages[1]
    assert run(["compute", str(file), "--cell", "N_2[1,0,0]", "-q"]) == 0
    assert run(["compute", str(file), "--steps", "N_3"]) == 2


@pytest.mark.parametrize(
    "equation", ["it = sum(h, Q[0, 0])", "it[i] = sum(h, Q[i, 0])", "it = Q[0, 0] * K[0, 1]"]
)
def test_the_gradient_of_a_head_begins_with_that_of_the_whole_result(
    equation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The result may be no step of a head, and then its gradient is none either."""
    file = tmp_path / "problem.json"
    given = {"Q": [[[1, 1]], [[2, 1]]], "K": [[[1, 1]], [[1, 3]]], "V": [[[1]], [[2]]]}
    file.write_text(json.dumps({**given, "equations": [equation], "result": "it"}))
    assert run(["gradient", str(file), "--head", "0"]) == 0
    assert "is 1 everywhere" in " ".join(capsys.readouterr().out.split())


BEHIND = [
    "one[c, i] = concat[0, 0] + W[i] * V[i, c]",
    "two[c, i] = softmax(c, one[c, i])",
]


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize("suffix", ["md", "tex", "txt"])
@pytest.mark.parametrize("entries", [1, 2])
def test_heads_behind_their_concat_are_read_in_rows_of_all(
    suffix: str, entries: int, tmp_path: Path
) -> None:
    """A step that reads concat and has heads of its own stands below all heads, in one table."""
    given = HEADS | {"X": HEADS["X"] if entries == 1 else [HEADS["X"]] * entries}
    arrays = {"W[h, i]": [[1, 2, 3], [4, 5, 6]]}
    file = tmp_path / "problem.json"
    file.write_text(json.dumps(given | {"arrays": arrays, "equations": BEHIND}))
    page = tmp_path / f"page.{suffix}"
    assert run(["compute", str(file), "-o", str(page)]) == 0
    assert run(["check", str(file), str(page)]) == 0
    # A number of one head that is wrong is found.
    text = page.read_text()
    number = f"{attncli.trace(file)['two'][..., 1, 0, 1].flat[0]:.3f}"
    assert number in text
    page.write_text(text.replace(number, "0.123"))
    assert run(["check", str(file), str(page)]) == 1


@pytest.mark.parametrize("asked", [[], ["--steps", "d_W"]])
@pytest.mark.parametrize("suffix", ["md", "tex", "txt", "json"])
def test_gradients_of_own_arrays_ask_for_the_way_back(
    suffix: str, asked: list[str], tmp_path: Path
) -> None:
    """Where a problem has no gradient but those of its own names, answers have them, too."""
    own = {"X": [[1, 2]], "equations": ["one[i, k] = W[k] * X[i, k]"], "result": "one"}
    file = tmp_path / "problem.json"
    file.write_text(json.dumps(own | {"arrays": {"W[k]": [3, 4]}}))
    page = tmp_path / f"page.{suffix}"
    if suffix == "json":
        # The gradient of the sum of W[k] · X[i, k] is X[i, k].
        page.write_text('{"d_W": [1, 2]}')
    else:
        assert run(["gradient", str(file), "-o", str(page), *asked]) == 0
    assert run(["check", str(file), str(page)]) == 0
