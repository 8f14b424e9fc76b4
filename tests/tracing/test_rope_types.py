"""Frequencies of RoPE by hand, each number worked out from the paper or the model's own words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import attncli

ROW = [2.0, 1.0, 0.5, 3.0, 1.0, 4.0, 2.0, 5.0]


def traced(rope: dict[str, Any], row: list[float] = ROW) -> attncli.Trace:
    rows = [row] * 3
    return attncli.trace(attncli.problem(Q=rows, K=rows, V=[[1]] * 3, position={"rope": rope}))


def test_linear_frequencies_are_divided_by_the_factor() -> None:
    trace = traced({"rope_type": "linear", "theta": 10000, "factor": 4})
    np.testing.assert_allclose(trace["frequencies"], [1 / 4, 1 / 40, 1 / 400, 1 / 4000])
    np.testing.assert_allclose(trace["angles"][2], [1 / 2, 1 / 20, 1 / 200, 1 / 2000])


def test_llama_3_slows_slow_pairs_alone() -> None:
    """In 2000π tokens the pairs make 1000, 100, 10 and 1 turns: the ramp goes from 20 down to 4."""
    trace = traced(
        {
            "rope_type": "llama3",
            "theta": 10000,
            "factor": 8,
            "low_freq_factor": 4,
            "high_freq_factor": 20,
            "original_max_position_embeddings": 2000 * math.pi,
        }
    )
    np.testing.assert_allclose(trace["base_frequencies"], [1, 0.1, 0.01, 0.001])
    # The third pair is 10/16 of the way from 20 turns to 4.
    np.testing.assert_allclose(trace["ramp"], [0, 0, 10 / 16, 1], atol=1e-15)
    third = 0.01 * (6 / 16 + 10 / 16 / 8)
    np.testing.assert_allclose(trace["frequencies"], [1, 0.1, third, 0.001 / 8])


def test_yarn_blends_between_two_pairs() -> None:
    """In 2000π tokens the pairs make 1000, 100, 10 and 1 turns: 32 turns lie between pairs 1 and
    2, and 1 turn is pair 3. So the ramp begins at pair 1, and ends at pair 3.
    """
    trace = traced(
        {
            "rope_type": "yarn",
            "theta": 10000,
            "factor": 4,
            "beta_slow": 1.01,
            "original_max_position_embeddings": 2000 * math.pi,
        }
    )
    assert (float(trace["ramp_low"]), float(trace["ramp_high"])) == (1, 3)
    np.testing.assert_allclose(trace["ramp"], [0, 0, 1 / 2, 1])
    np.testing.assert_allclose(trace["frequencies"], [1, 0.1, 0.01 * 5 / 8, 0.001 / 4])
    factor = 0.1 * math.log(4) + 1
    np.testing.assert_allclose(trace["attention_factor"], factor)
    np.testing.assert_allclose(trace["Q_rot"][0], np.array(ROW) * factor)


def test_the_ends_of_the_ramp_may_lie_between_pairs() -> None:
    """32 turns are log10(1000 / 32) pairs from the first one."""
    rope = {
        "rope_type": "yarn",
        "theta": 10000,
        "factor": 4,
        "truncate": False,
        "original_max_position_embeddings": 2000 * math.pi,
    }
    trace = traced(rope)
    np.testing.assert_allclose(trace["ramp_low"], math.log10(1000 / 32))
    np.testing.assert_allclose(trace["ramp_high"], 3)


def test_mscale_is_a_quotient_and_a_given_factor_stands() -> None:
    """DeepSeek has both alike, so that cos and sin stay as they are."""
    rope = {"rope_type": "yarn", "factor": 40, "original_max_position_embeddings": 4096}
    alike = traced(rope | {"mscale": 1.0, "mscale_all_dim": 1.0})
    assert float(alike["attention_factor"]) == 1
    others = traced(rope | {"mscale": 0.7, "mscale_all_dim": 0.2})
    expected = (0.07 * math.log(40) + 1) / (0.02 * math.log(40) + 1)
    np.testing.assert_allclose(others["attention_factor"], expected)
    given = traced(rope | {"mscale": 0.7, "attention_factor": 1.5})
    assert "attention_factor" not in given
    np.testing.assert_allclose(given["Q_rot"][0], np.array(ROW) * 1.5)


def test_dynamic_stretches_theta_with_the_length() -> None:
    """Three tokens where the model has two: theta·(4·3/2 - 3)^(8/6)."""
    rope = {"rope_type": "dynamic", "theta": 100, "factor": 4}
    trace = traced(rope | {"max_position_embeddings": 2})
    theta = 100 * 3 ** (4 / 3)
    np.testing.assert_allclose(trace["stretched_theta"], theta)
    np.testing.assert_allclose(trace["frequencies"], [theta ** (-r / 4) for r in range(4)])
    short = traced(rope | {"max_position_embeddings": 3})
    assert float(short["stretched_theta"]) == 100


def test_longrope_has_divisors_for_short_and_for_long_texts() -> None:
    rope = {
        "rope_type": "longrope",
        "theta": 10000,
        "factor": 8,
        "short_factor": [1, 2, 1, 4],
        "long_factor": [2, 4, 5, 10],
    }
    short = traced(rope | {"original_max_position_embeddings": 3})
    np.testing.assert_allclose(short["frequencies"], [1, 0.05, 0.01, 0.00025])
    long = traced(rope | {"original_max_position_embeddings": 2})
    np.testing.assert_allclose(long["frequencies"], [1 / 2, 0.025, 0.002, 0.0001])
    # √(1 + log₂ 8), since the length of training is 2.
    np.testing.assert_allclose(long["attention_factor"], 2)


def test_positions_are_where_the_problem_says() -> None:
    """Three queries that stand apart turn as those of other rows do that stand there."""
    rope = {"theta": 100}
    plain = traced(rope)
    placed = traced(rope | {"positions": {"queries": [2, 0, 1], "keys": [1, 1, 2]}})
    np.testing.assert_allclose(placed["Q_rot"], plain["Q_rot"][[2, 0, 1]])
    np.testing.assert_allclose(placed["K_rot"], plain["K_rot"][[1, 1, 2]])
    moved = traced(rope | {"positions": [10, 11, 12]})
    np.testing.assert_allclose(moved["scores"], plain["scores"], atol=1e-12)


def test_proportional_pairs_reach_over_the_whole_key() -> None:
    """A quarter of four pairs turns, and it pairs features half a key apart."""
    trace = traced({"rope_type": "proportional", "theta": 100, "partial_rotary_factor": 0.25})
    np.testing.assert_array_equal(trace["frequencies"], [1, 0, 0, 0])
    row = list(ROW)
    row[0] = ROW[0] * math.cos(1) - ROW[4] * math.sin(1)
    row[4] = ROW[0] * math.sin(1) + ROW[4] * math.cos(1)
    np.testing.assert_allclose(trace["K_rot"][1], row)


@pytest.mark.parametrize(
    ("pairing", "expected"),
    [
        # Half of eight features turn: pairs (0, 2) and (1, 3), or (0, 1) and (2, 3).
        ("half", [(0, 2, 1.0), (1, 3, 0.1)]),
        ("interleaved", [(0, 1, 1.0), (2, 3, 0.1)]),
    ],
)
def test_the_first_features_turn_and_the_others_pass(
    pairing: str, expected: list[tuple[int, int, float]]
) -> None:
    trace = traced({"theta": 100, "pairing": pairing, "partial_rotary_factor": 0.5})
    for step in ("Q_rot", "K_rot"):
        for position in range(3):
            row = list(ROW)
            for first, second, frequency in expected:
                angle = position * frequency
                cos, sin = math.cos(angle), math.sin(angle)
                row[first] = ROW[first] * cos - ROW[second] * sin
                row[second] = ROW[first] * sin + ROW[second] * cos
            np.testing.assert_allclose(trace[step][position], row, rtol=1e-12)


def test_an_odd_width_may_turn_in_part() -> None:
    trace = traced({"partial_rotary_factor": 0.8}, [1.0, 2.0, 3.0, 4.0, 5.0])
    assert trace["frequencies"].shape == (2,)
    np.testing.assert_array_equal(trace["Q_rot"][:, 4], 5.0)


def test_what_says_nothing_new_has_the_plain_steps() -> None:
    plain = traced({"theta": 10000})
    for rope in ({"rope_theta": 10000}, {"rope_type": "default"}, {"partial_rotary_factor": 1}):
        assert list(traced(rope)) == list(plain)
        np.testing.assert_array_equal(traced(rope)["output"], plain["output"])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("pairing", ["half", "interleaved"])
def test_gradients_pass_through_the_part_that_turns(pairing: str) -> None:
    """Against differences of the output, for every number of the queries and keys."""
    random = np.random.default_rng(4)
    given = {name: random.normal(size=(3, 6)) for name in "QKV"}
    rope = {"theta": 5, "partial_rotary_factor": 2 / 3, "pairing": pairing}

    def total(arrays: dict[str, Any]) -> float:
        problem = attncli.problem(**arrays, position={"rope": rope})
        return float(attncli.trace(problem)["output"].sum())

    trace = attncli.trace(attncli.problem(**given, position={"rope": rope}), gradient=True)
    for name in "QK":
        for place in np.ndindex(3, 6):
            step = np.zeros((3, 6))
            step[place] = 1e-6
            slope = total(given | {name: given[name] + step})
            slope -= total(given | {name: given[name] - step})
            np.testing.assert_allclose(trace[f"d_{name}"][place], slope / 2e-6, atol=1e-8)
