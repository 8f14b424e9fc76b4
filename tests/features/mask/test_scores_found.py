"""What a score_mod does to scores: what it adds, its softcap, its factor, and what it hides."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attncli.attention.changes_of_scores import CAP_OF_SUM, CONSTANT, OTHER, PER_CELL, SCORES
from attncli.features.mask.problem import problem_of
from attncli.features.mask.words import form_words, score_keys
from attncli.problem.python_values import read_values
from attncli.tracing import run
from tests.features.mask.studied import form, studied

Mod = Callable[[Any, Any, Any, Any, Any], Any]


def causal(score: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
    return score if q >= k else -math.inf


def alibi(score: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
    return score + (k - q) * 2.0 ** (-8 * (h + 1) / 4)


NAMED: list[tuple[Mod, str]] = [
    (lambda s, b, h, q, k: s, "none"),
    (causal, "causal"),
    (lambda s, b, h, q, k: s / 4, "scale 0.25"),
    (lambda s, b, h, q, k: 50 * math.tanh(s / 50), "softcap 50"),
    (lambda s, b, h, q, k: 30 * math.tanh(s / 60), "scale 0.5 and softcap 30"),
    (lambda s, b, h, q, k: s + 0.5 * (q == k), "additive"),
    (lambda s, b, h, q, k: 20 * math.tanh(s / 20) + (q - k), "softcap 20 and additive"),
    (
        lambda s, b, h, q, k: causal(20 * math.tanh(s / 20) + 0.3 * q, b, h, q, k),
        "softcap 20 and additive and causal",
    ),
    (lambda s, b, h, q, k: alibi(s, b, h, q, k) if q >= k else -math.inf, "alibi and causal"),
    (lambda s, b, h, q, k: s - abs(q - k) / 2, "alibi {slopes: [0.5, 0.5, 0.5, 0.5]}"),
]


@pytest.mark.parametrize(("mod", "name"), NAMED)
def test_a_score_mod_has_the_name_that_people_give_it(mod: Mod, name: str) -> None:
    assert form(mod, 5, 6, heads=4) == name


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("mod", "name"), NAMED)
def test_the_problem_does_to_scores_what_the_function_does(mod: Mod, name: str) -> None:
    """The scores of the problem are all 1, and another scale makes others of them."""
    study = studied(mod, 5, 6, heads=4)
    problem = problem_of(study)
    trace = run(problem)
    name_of_last = "masked" if "masked" in trace.steps else "capped"
    if name_of_last not in trace.steps:
        name_of_last = "scaled"
    found = np.broadcast_to(trace[name_of_last], (4, 5, 6))
    for h, q, k in np.ndindex(4, 5, 6):
        assert found[h, q, k] == pytest.approx(float(mod(1.0, 0, h, q, k)), abs=1e-5)


def test_one_head_has_the_slope_of_one_head() -> None:
    def usual(s: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
        return s - abs(q - k) / 256

    assert score_keys(studied(usual, 4)) == {"position": {"alibi": True}}
    wanted = run(
        read_values({"Q": [[0]] * 4, "K": [[0]] * 4, "V": [[0]] * 4, "position": {"alibi": True}})
    )
    assert wanted["bias"][3, 0] == pytest.approx(-3 / 256)


def test_slopes_of_six_heads_are_those_of_the_paper() -> None:
    """Four of four heads, then every other one of eight: those of Press et al."""
    slopes = [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]

    def usual(s: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
        return s - abs(q - k) * slopes[h]

    assert score_keys(studied(usual, 4, heads=6)) == {"position": {"alibi": True}}


def test_distances_count_from_the_corner_of_the_mask() -> None:
    def behind(s: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
        return s - (q + 2 - k) / 4 if q + 2 >= k else -math.inf

    assert form(behind, 4, 6) == "alibi {slopes: [0.25]} and causal, corner bottom-right"


NOT_SAID: list[tuple[Mod, str]] = [
    (lambda s, b, h, q, k: s * (1 + q), PER_CELL),
    (lambda s, b, h, q, k: 9 * math.tanh((s + q - k) / 9), CAP_OF_SUM),
    (lambda s, b, h, q, k: 0.5, CONSTANT),
    (lambda s, b, h, q, k: -s, OTHER),
    (lambda s, b, h, q, k: s * s, OTHER),
    (lambda s, b, h, q, k: max(s, 0.0), OTHER),
    (lambda s, b, h, q, k: s + (s == 3.0), OTHER),
]


@pytest.mark.parametrize(("mod", "sentence"), NOT_SAID)
def test_what_no_key_of_a_problem_does_is_said(mod: Mod, sentence: str) -> None:
    study = studied(mod, 3, 4)
    assert study.score is not None
    assert study.score.why_not == sentence
    assert form_words(study) == ""
    for q, k in np.ndindex(3, 4):
        for place, score in enumerate(SCORES):
            given = study.values[0, 0, q, k, place]
            assert given == pytest.approx(float(mod(score, 0, 0, q, k)), nan_ok=True)


NO_NUMBERS: list[tuple[Mod, str, bool]] = [
    (lambda s, b, h, q, k: math.nan, "NaN of the score 0 at q_idx = 0 and kv_idx = 0", True),
    (lambda s, b, h, q, k: math.inf, "infinity of the score 0 at q_idx = 0 and kv_idx = 0", True),
    (
        lambda s, b, h, q, k: s if s >= 0 or (q, k) != (1, 2) else math.nan,
        "NaN of the score -1 at q_idx = 1 and kv_idx = 2. It does so for 1 of 12 pairs",
        True,
    ),
    (
        lambda s, b, h, q, k: s if s > 0.7 else -math.inf,
        "minus infinity of the score 0 at q_idx = 0 and kv_idx = 0. It hides a key by what",
        False,
    ),
]


@pytest.mark.parametrize(("mod", "said", "is_broken"), NO_NUMBERS)
def test_what_is_no_number_is_told_with_its_cell(mod: Mod, said: str, is_broken: bool) -> None:
    study = studied(mod, 3, 4)
    assert study.score is not None
    assert study.score.why_not.startswith(f"It makes {said}")
    assert study.is_broken == is_broken
    assert form_words(study) == ""


@pytest.mark.parametrize(("factor", "softcap"), [(1.0, 0.25), (0.125, 5000.0), (3.0, 50.0)])
def test_a_softcap_and_a_factor_of_any_size_are_found(factor: float, softcap: float) -> None:
    def capped(s: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
        return softcap * math.tanh(factor * s / softcap) + q

    wanted = {"scale": factor, "softcap": softcap}
    if factor == 1:
        del wanted["scale"]
    assert score_keys(studied(capped, 3)) == wanted


def test_all_hidden_is_a_mask() -> None:
    assert form(lambda s, b, h, q, k: -math.inf, 3, 4) == "lengths 0"


def test_a_large_negative_number_hides_and_is_told() -> None:
    def low(s: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
        return s if q >= k else -1e9

    study = studied(low, 4)
    assert form_words(study) == "causal"
    [said] = study.remarks
    assert said.startswith("It hides keys by -1e+09, not by -inf.")
    assert [each.holds for each in study.checks] == [True, True]


def test_a_large_bias_is_no_number_that_hides() -> None:
    def steep(s: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
        return s - 2000 * abs(q - k)

    study = studied(steep, 4)
    assert form_words(study) == "alibi {slopes: [2000]}"
    assert study.visible.all()
    assert study.remarks == ()
    assert [each.holds for each in study.checks] == [True, True]


def test_a_matrix_says_nothing_of_other_positions() -> None:
    checks = studied(lambda s, b, h, q, k: s + 0.5 * (q == k), 3).checks
    assert [each.holds for each in checks] == [False, False]


def test_a_softcap_of_some_positions_alone_is_told() -> None:
    def near(s: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
        return 20 * math.tanh(s / 20) if q < 4 else s

    study = studied(near, 4)
    assert form_words(study) == "softcap 20"
    assert not study.checks[0].holds
