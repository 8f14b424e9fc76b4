"""What holds for every problem: rows sum to 1, order does not matter, and a trace survives JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.dtypes import DTYPES
from attncli.page.derivation import derivation
from attncli.page.view import View
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.keep_and_hide import Hide
from attncli.problem.parts.masks.lengths import Lengths
from attncli.problem.parts.masks.padding import Padding
from attncli.problem.parts.masks.window import Window
from attncli.render import render
from attncli.tracing import run
from attncli.tracing.serialization import from_dict, to_dict

Build = Callable[..., Problem]


@st.composite
def problems(draw: st.DrawFn, masked: bool = True) -> dict[str, Any]:
    """The arrays and settings of a problem of any kind."""
    n, m, d, c = (draw(st.integers(1, 4)) for _ in range(4))
    sizes = {"Q": (n, d), "K": (m, d), "V": (m, c)}
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    found: dict[str, Any] = {name: random.standard_normal(size) * 3 for name, size in sizes.items()}
    if draw(st.booleans()):
        found |= {
            "score": "additive",
            "W_1": random.random((d, 2)),
            "W_2": random.random((d, 2)),
            "v": [1.5, -2],
        }
    elif draw(st.booleans()):
        found |= {"score": "multiplicative", "W_a": random.random((d, d))}
    found["scale"] = draw(st.sampled_from(["default", "none", 0.5, 300.0]))
    found["softcap"] = draw(st.sampled_from([None, 2.5]))
    found["exp_base"] = draw(st.sampled_from([None, 2.0]))
    bias = random.choice([0, -1.5, 2, -np.inf], size=(n, m))
    parts = [
        Causal(), Window(1, 1), Lengths((m - 1,)), Padding((tuple(random.random(m) < 0.7),)),
        Hide(random.random((n, m)) < 0.3), Additive(Matrix(bias)),
    ]  # fmt: skip
    found["mask"] = (
        tuple(draw(st.lists(st.sampled_from(parts), max_size=3, unique=True))) if masked else ()
    )
    found["corner"] = draw(st.sampled_from(["top-left", "bottom-right"]))
    return found


@given(choices=problems(), dtype=st.sampled_from(list(DTYPES)))
def test_rows_sum_to_1_and_what_is_hidden_is_0(
    problem: Build, choices: dict[str, Any], dtype: str
) -> None:
    trace = run(problem(**choices), dtype=dtype)
    expected = [0 if row in trace.fully_masked else 1 for row in range(len(trace.tokens))]
    np.testing.assert_allclose(
        trace["weights"].sum(axis=1), expected, atol=8 * DTYPES[dtype].epsilon
    )
    assert (trace["weights"] >= 0).all()
    if "mask" in trace:
        assert (trace["weights"][trace["mask"] == -np.inf] == 0).all()
    assert (trace["output"][list(trace.fully_masked)] == 0).all()


@given(choices=problems(masked=False), data=st.data())
def test_the_order_of_tokens_does_not_matter(
    problem: Build, choices: dict[str, Any], data: st.DataObject
) -> None:
    queries, keys = (data.draw(st.permutations(range(len(choices[name])))) for name in "QK")
    moved = {"Q": choices["Q"][queries], "K": choices["K"][keys], "V": choices["V"][keys]}
    trace, other = run(problem(**choices)), run(problem(**choices | moved))
    np.testing.assert_allclose(
        other["weights"], trace["weights"][queries][:, keys], rtol=1e-9, atol=1e-300
    )
    np.testing.assert_allclose(other["output"], trace["output"][queries], rtol=1e-9, atol=1e-12)


@given(choices=problems(masked=False))
def test_an_output_lies_within_the_values(problem: Build, choices: dict[str, Any]) -> None:
    output, values = run(problem(**choices))["output"], choices["V"]
    assert (output <= values.max(axis=0) + 1e-12).all()
    assert (output >= values.min(axis=0) - 1e-12).all()


@given(choices=problems(), rounding=st.sampled_from(["shown", "paper"]))
def test_a_trace_survives_json(problem: Build, choices: dict[str, Any], rounding: str) -> None:
    trace = run(problem(title="Tést", **choices), rounding=rounding)
    written = json.dumps(to_dict(trace), allow_nan=False)
    read = from_dict(json.loads(written))
    assert json.dumps(to_dict(read), allow_nan=False) == written
    for name, step in trace.steps.items():
        np.testing.assert_array_equal(read[name], step.value)
        assert read.steps[name].labels == step.labels
        assert read.steps[name].rule == step.rule
    assert read.settings == trace.settings
    assert read.fully_masked == trace.fully_masked
    view = View(detail="cells")
    assert render(derivation(read, view), "table") == render(derivation(trace, view), "table")


@given(choices=problems())
def test_equations_read_only_what_is_there(problem: Build, choices: dict[str, Any]) -> None:
    trace = run(problem(**choices))
    known: set[str] = set(trace.parameters)
    for step in trace.steps.values():
        assert set(step.rule.inputs) <= known
        assert len(step.labels) == len(step.shape) == len(step.rule.axis_names)
        known.add(step.name)


def test_the_data_of_one_step(love: Problem) -> None:
    step = to_dict(run(love))["steps"]["scores"]
    assert step == {
        "title": "Scores",
        "symbol": "S",
        "equation": "scores[i, j] = sum(k, Q[i, k] * K_T[k, j])",
        "formula": "S = Q K^T",
        "headline": "Q @ K_T",
        "inputs": ["Q", "K_T"],
        "axes": ["query", "key"],
        "labels": [["I", "love", "AI"]] * 2,
        "shape": [3, 3],
        "value": [[1, 5, 3], [3, 3, 3], [2, 4, 3]],
        "meaning": (
            "Row `i`, column `j` is the dot product of query `i` and key `j`. It says how well the"
            " two match."
        ),
        "why": "A high score means that the key has what the query is looking for.",
    }


def test_infinities_are_words_and_whole_numbers_are_whole(problem: Build) -> None:
    trace = run(
        problem(
            Q=[[1, 2.5]],
            K=[[1, 0], [1, 1e300]],
            V=[[-0.0], [1]],
            mask=(Lengths((1,)),),
            scale="none",
        )
    )
    steps = to_dict(trace)["steps"]
    assert repr(steps["Q"]["value"]) == "[[1, 2.5]]"
    assert repr(steps["masked"]["value"]) == "[[1, '-Infinity']]"
    assert repr(steps["K"]["value"]) == "[[1, 0], [1, 1e+300]]"
    assert repr(steps["V"]["value"]) == "[[-0.0], [1]]"
    overflow = run(problem(Q=[[1e200]], K=[[1e200]], V=[[1]]))
    assert to_dict(overflow)["steps"]["scores"]["value"] == [["Infinity"]]
    assert to_dict(overflow)["steps"]["weights"]["value"] == [["NaN"]]


def test_exact_numbers_are_kept_as_they_were_written(problem: Build) -> None:
    trace = run(problem(Q=[["1/3"]], K=[["0.50"]], V=[["sqrt(2)"]]))
    steps = to_dict(trace)["steps"]
    assert (steps["Q"]["written"], steps["V"]["written"]) == ([["1/3"]], [["sqrt(2)"]])
    assert steps["K"]["written"] == [["0.50"]]
    written = from_dict(json.loads(json.dumps(to_dict(trace)))).steps["Q"].written
    assert written is not None
    assert written.tolist() == [["1/3"]]


def test_exact_settings_and_masks_are_kept_as_they_were_written(
    problem: Build, matrix: Callable[..., Matrix]
) -> None:
    mask = (Additive(matrix([["1/3", "-inf"]])),)
    trace = run(
        problem(
            Q=[[3]], K=[[1], [2]], V=[[1], [2]], mask=mask, scale="1/3", softcap="50/3", exp_base=2
        )
    )
    data = to_dict(trace)
    assert data["parameters"] == {
        "d_k": 1,
        "scale": 1 / 3,
        "softcap": 50 / 3,
        "additive": [[1 / 3, "-Infinity"]],
        "exp_base": 2,
    }
    assert data["written"] == {"scale": "1/3", "softcap": "50/3", "additive": [["1/3", "-inf"]]}
    assert data["steps"]["mask"]["written"] == [["1/3", "-inf"]]
    assert from_dict(json.loads(json.dumps(data))).parameters["scale"] == trace.parameters["scale"]
    assert to_dict(from_dict(data)) == data


def test_another_format_is_refused(love: Problem) -> None:
    data = to_dict(run(love)) | {"attncli": {"version": "9", "format": 2}}
    with pytest.raises(ValueError, match=r"^this is trace format 2; format 1 can be read$"):
        from_dict(data)
