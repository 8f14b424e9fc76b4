"""Saturation, with what is known of it: variances of d_k and 1, weights that choose one key,
gradients that die.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncli.cli.main import run as command
from attncli.errors import AttncliError
from attncli.features.scaling.study import compare_scales
from attncli.problem.loader import load, loads
from attncli.problem.model import Problem
from attncli.tracing import run

INPUTS = Path(__file__).parents[3] / "inputs"


def read(problem: dict[str, Any]) -> Problem:
    return loads(json.dumps(problem).encode(), "problem")


@pytest.mark.slow
def test_the_scale_keeps_what_d_k_would_change() -> None:
    small, large = list(
        compare_scales(load(str(INPUTS / "i_love_ai.yaml")), sizes=(4, 400), draws=200)
    )[1:]
    for row in (small, large):
        assert row.scaled.variance == pytest.approx(1, rel=0.15)
        assert row.unscaled.variance == pytest.approx(row.d_k, rel=0.15)
    assert large.scaled.entropy == pytest.approx(small.scaled.entropy, rel=0.1)
    assert large.scaled.through_softmax == pytest.approx(small.scaled.through_softmax, rel=0.15)
    assert large.unscaled.entropy < small.unscaled.entropy / 5
    assert large.unscaled.through_softmax < small.unscaled.through_softmax / 5


def test_the_first_row_has_the_problem_s_own_numbers() -> None:
    """Scores 0 and 2 of d_k = 4: weights of 0 and 1 by their exponentials, with half the scores or
    all of them.
    """
    problem = read(
        {"Q": [[1, 0, 0, 0]], "K": [[0, 0, 0, 0], [2, 0, 0, 0]], "V": [[0], [1]], "d_output": [[1]]}
    )
    (own,) = compare_scales(problem, sizes=())
    assert (own.d_k, own.drawn) == (4, False)
    for measured, apart in ((own.scaled, 1.0), (own.unscaled, 2.0)):
        a = 1 / (1 + np.exp(-apart))
        assert measured.variance == pytest.approx((apart / 2) ** 2)
        assert measured.entropy == pytest.approx(-a * np.log(a) - (1 - a) * np.log(1 - a))
        assert measured.through_softmax == pytest.approx(np.sqrt(2) * a * (1 - a))  # ± a(1 - a)


def test_the_same_seed_draws_the_same() -> None:
    problem = load(str(INPUTS / "causal.yaml"))
    one, again, other = (
        list(compare_scales(problem, sizes=(8,), draws=2, seed=seed)) for seed in (1, 1, 2)
    )
    assert one == again
    assert one[1] != other[1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name", ["grouped_query", "kv_cache", "batch", "rope", "alibi", "sink", "fully_masked"]
)
def test_any_problem_of_products(name: str) -> None:
    problem = load(str(INPUTS / f"{name}.yaml"))
    rows = list(compare_scales(problem, sizes=(8,), draws=3))
    assert rows[0].d_k == run(problem)["K"].shape[-1]
    assert all(np.isfinite([row.scaled.variance, row.unscaled.of_queries]).all() for row in rows)


def test_entries_of_a_batch_where_some_arrays_have_an_axis_of_heads() -> None:
    problem = read(
        {
            "X": [[[1], [2]], [[0], [1]]],
            "W_Q": [[1, -1]],
            "K": [[[[1, 0], [2, 1]]], [[[1, 1], [0, 1]]]],
            "W_V": [[1, 2]],
            "W_O": [[1], [0]],
        }
    )
    rows = list(compare_scales(problem, sizes=(2, 3), draws=3))
    assert [row.d_k for row in rows] == [2, 2, 3]
    assert all(np.isfinite(row.scaled.of_queries) for row in rows)


def test_values_without_heads_beside_keys_with_heads_are_for_all_of_them() -> None:
    keys = {
        name: [[[[1, 0], [2, 1]], [[0, 1], [1, 1]]], [[[1, 1], [0, 1]], [[2, 0], [1, 2]]]]
        for name in "QK"
    }
    shared = read({**keys, "X": [[[1], [2]], [[0], [1]]], "W_V": [[1, 2]]})
    repeated = read({**keys, "V": [[[[1, 2], [2, 4]]] * 2, [[[0, 0], [1, 2]]] * 2]})
    one, other = (
        list(compare_scales(problem, sizes=(2, 3), draws=3)) for problem in (shared, repeated)
    )
    assert one == other
    assert [row.d_k for row in one] == [2, 2, 3]


def test_a_cache_with_an_axis_of_heads_beside_tokens_without_one() -> None:
    identity = [[1, 0], [0, 1], [0, 0]]
    problem = read(
        {
            "X": [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 1, 2]]],
            "W_Q": identity,
            "W_K": identity,
            "W_V": identity,
            "past": {"K": [[[[1, 1]]], [[[1, 1]]]], "V": [[[[1, 2]]], [[[3, 4]]]]},
        }
    )
    rows = list(compare_scales(problem, sizes=(2, 8), draws=3))
    assert [row.d_k for row in rows] == [2, 2, 8]
    assert all(np.isfinite(row.scaled.variance) for row in rows)


def test_other_scores_have_no_such_scale() -> None:
    blind = read({"Q": [[1]], "K": [[1]], "V": [[1]], "mask": {"hide": [[1]]}})
    with pytest.raises(AttncliError, match="the mask of this problem hides all of them"):
        list(compare_scales(blind))
    with pytest.raises(AttncliError, match="the score of this problem is additive"):
        list(compare_scales(load(str(INPUTS / "bahdanau.yaml"))))


@pytest.mark.parametrize("format", ["table", "markdown", "latex", "html"])
def test_the_page(format: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        command(["scaling", str(INPUTS / "i_love_ai.yaml"), "--draws", "2", "--format", format])
        == 0
    )
    page = capsys.readouterr().out
    assert "own, 3" in page
    assert {"table": "d_k", "html": "<msub><mi>d</mi><mrow><mi>k</mi></mrow></msub>"}.get(
        format, "d_{k}"
    ) in page
    assert "d_k" not in page.replace("d_{k}", "") or format == "table"
    assert r"d\_k" not in page


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "options", [("i_love_ai",), ("gemma2_softcap",), ("i_love_ai", "8"), ("causal", "15")]
)
def test_the_page_fits_on_a_terminal(
    options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    name, *precision = options
    more = ("--precision", *precision) if precision else ()
    assert command(["scaling", str(INPUTS / f"{name}.yaml"), "--draws", "2", *more]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.slow
def test_the_gradient_of_queries_falls_later_by_the_length_of_the_keys() -> None:
    """|dQ| by |dZ| grows as the length of the keys does, √d_k, without the scale, and stays with
    it: dQ = dS·K.
    """
    small, large = list(
        compare_scales(load(str(INPUTS / "i_love_ai.yaml")), sizes=(8, 128), draws=200)
    )[1:]
    without = [row.unscaled.of_queries / row.unscaled.through_softmax for row in (small, large)]
    scaled = [row.scaled.of_queries / row.scaled.through_softmax for row in (small, large)]
    assert without[1] / without[0] == pytest.approx(4, rel=0.15)
    assert scaled[1] / scaled[0] == pytest.approx(1, rel=0.15)


def page_of(
    tmp_path: Path, text: str, capfd: pytest.CaptureFixture[str], *options: str
) -> tuple[str, str]:
    file = tmp_path / "problem.yaml"
    file.write_text(text)
    assert command(["scaling", str(file), "--draws", "3", *options]) == 0
    page, errors = capfd.readouterr()
    return " ".join(page.split()), errors


def test_a_single_key_has_no_gradient_and_the_page_says_why(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    page, _ = page_of(tmp_path, "Q: [[1]]\nK: [[2]]\nV: [[3]]\n", capfd)
    assert "No query sees more than one key. The weight of this key is always 1" in page
    assert "falls later" not in page


@pytest.mark.long
def test_numbers_too_large_are_told_on_the_page_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    large = "Q: [[1e200, 2]]\nK: [[1e200, 0], [0, 1]]\nV: [[1], [-1]]\n"
    page, errors = page_of(tmp_path, large, capfd)
    assert "inf and NaN mean that scores are too large for float64." in page
    assert errors == ""
    data, errors = page_of(tmp_path, large, capfd, "--format", "json")
    assert json.loads(data)["rows"][0]["scaled"]["entropy"] == "NaN"
    assert errors == ""


def test_no_power_of_ten_that_is_a_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        command(["scaling", str(INPUTS / "i_love_ai.yaml"), "--precision", "0", "--draws", "4"])
        == 0
    )
    assert "e+0" not in capsys.readouterr().out


def test_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        command(
            [
                "scaling",
                str(INPUTS / "causal.yaml"),
                "--draws",
                "2",
                "--d-k",
                "4",
                "--format",
                "json",
            ]
        )
        == 0
    )
    data = json.loads(capsys.readouterr().out)
    assert [(row["d_k"], row["drawn"]) for row in data["rows"]] == [(3, False), (4, True)]
    assert {*data["rows"][1]["scaled"]} == {"variance", "entropy", "through_softmax", "of_queries"}


@pytest.mark.parametrize(
    "options", [("--d-k", "0"), ("--d-k", "4,,8"), ("--draws", "0"), ("--seed", "-1")]
)
def test_options_that_are_refused(
    options: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["scaling", str(INPUTS / "causal.yaml"), *options]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith(f"attncli: error: {options[0]}")
    assert "weights" not in errors


def test_the_variance_is_that_of_all_draws_together() -> None:
    problem = load(str(INPUTS / "i_love_ai.yaml"))
    _, row = compare_scales(problem, sizes=(3,), draws=4, seed=5)
    numbers, scores = np.random.default_rng([5, 3]), []
    for _ in range(4):
        queries, keys = numbers.standard_normal((3, 3)), numbers.standard_normal((3, 3))
        scores.append(queries @ keys.T)
        numbers.standard_normal((3, 3))  # the gradient of the output
    assert row.unscaled.variance == pytest.approx(np.var(scores), rel=1e-12)
