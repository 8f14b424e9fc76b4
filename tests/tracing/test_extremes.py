"""Numbers at the edge of what a format holds: a page all the same, warnings in words, and none of
NumPy's.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

from attncli.page.derivation import derivation
from attncli.page.gradient import gradient_page
from attncli.page.view import View
from attncli.problem.loader import loads
from attncli.render import FORMATS, render
from attncli.tracing import Trace, run
from attncli.tracing.slices import trace_at

ADDITIVE = {"score": "additive", "W_1": [[1e308]], "W_2": [[-1e308]]}
PROBLEMS: dict[str, dict[str, Any]] = {
    "a long sum with a product beyond all": {
        "X": [[1e200, *[1] * 20]],
        "W_Q": [[1e200], *[[1]] * 20],
        "K": [[1]],
        "V": [[1]],
    },
    "a maximum of a row with NaN": {
        "Q": [[10], [1]],
        "K": [[0], [10], [1]],
        "V": [[1], [1], [1]],
        **ADDITIVE,
        "v": [1000],
    },
    "a score that only paper holds": {"Q": [[1e200, 0]], "K": [[2e108, 0]], "V": [[1]]},
    "a score of 401 digits": {"X": [[1e200]], "W_Q": [[1e200]], "W_K": [[1e200]], "W_V": [[1]]},
    "NaN in one of two heads": {
        "heads": 2,
        "Q": [[0, 1]],
        "K": [[0, 2], [0, 0]],
        "V": [[1, 1], [1, 1]],
        "scale": 1e308,
    },
    "values whose sum is beyond all": {
        "Q": [[[0], [0]], [[0], [0]]],
        "K": [[0], [0]],
        "V": [[1e308], [1e308]],
    },
    "a score that is NaN in another base": {
        "X": [[-1.11e154]],
        "context": [[1, 1], [0.5, 1]],
        "W_Q": [[-0.6, -0.4]],
        "W_K": [[2.5e154, 0.1], [5e299, 9e153]],
        "W_V": [[-2e199], [-9e299]],
        "exp_base": 2,
        "sink": [7e199],
    },
    "a huge sink": {"Q": [[0]], "K": [[0]], "V": [[1]], "sink": 1e308},
}


def traced(name: str, **choices: Any) -> Trace:
    return run(loads(json.dumps(PROBLEMS[name]).encode(), "p.json"), **choices)


@pytest.mark.long
def test_the_way_back_has_a_page_where_it_overflows() -> None:
    problem = {
        "Q": [[1e200, 1e300], [1, 2e300]],
        "K": [[1.7e300], [1]],
        "V": [[-1e100], [1]],
        "mask": [[False, True]] * 2,
        "heads": 2,
        "kv_heads": 1,
        "sink": [1, 3e300],
        "loss": {"kind": "cross_entropy", "targets": [0, 0]},
    }
    trace = run(loads(json.dumps(problem).encode(), "p.json"), gradient=True)
    for format in FORMATS:
        assert render(gradient_page(trace, View()), format)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rounding", ["shown", "paper"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_format_has_a_page(name: str, rounding: str) -> None:
    with warnings.catch_warnings(action="error"):
        trace = traced(name, rounding=rounding)
        for detail in ("rows", "cells"):
            for format in FORMATS:
                assert render(derivation(trace, View(detail=detail)), format)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_a_huge_sink_takes_everything_in_every_format(dtype: str) -> None:
    assert traced("a huge sink", dtype=dtype)["weights"].tolist() == [[0]]


def test_heads_and_entries_are_told_without_a_word_of_numpy() -> None:
    with warnings.catch_warnings(action="error"):
        trace = trace_at(traced("values whose sum is beyond all"), {"h": 1})
    assert trace.warnings == ()
    assert trace["output"].tolist() == [[1e308], [1e308]]


def test_what_paper_holds_and_a_float_does_not_is_told() -> None:
    text = json.dumps({"Q": [[10]], "K": [[10]], "V": [[1]], **ADDITIVE, "v": [0]})
    trace = run(loads(text.encode(), "p.json"), rounding="paper")
    assert trace["scores"].tolist() == [[0]]
    assert trace.warnings == (
        (
            "not rounded, scores: 1 of 1 cells is NaN, because intermediate results do not fit into"
            " float64 (the first at scores[t1,t1])"
        ),
    )


def test_sentinels_beside_scores_that_do_not_fit_warn_in_words_only() -> None:
    problem = {
        "Q": [[1e200]],
        "K": [[-1e200], [-1e200]],
        "V": [[1], [2]],
        "mask": {"additive": [[-1e4, -1e4]]},
    }
    with warnings.catch_warnings(action="error"):
        trace = run(loads(json.dumps(problem).encode(), "p.json"), rounding="paper")
    assert trace.warnings[0].startswith(
        'query "t1" (row 0) sees only keys that -10000 should hide;'
    )


def test_every_step_that_overflows_by_itself_is_told() -> None:
    """K[t1] and V[t2] are too large, each of their own; what comes of them is not told again."""
    problem = {
        "X": [[1e200, 0], [0, 1e200]], "W_Q": [[1, 0], [0, 1]],
        "W_K": [[1e200, 0], [0, 1]], "W_V": [[1, 0], [0, 1e200]],
    }  # fmt: skip
    found = run(loads(json.dumps(problem).encode(), "p.json"))
    assert found.warnings == (
        "K: 1 of 4 cells does not fit into float64 (the first at K[t1,d1])",
        "V: 1 of 4 cells does not fit into float64 (the first at V[t2,d2])",
    )


def test_large_counts_are_grouped() -> None:
    large = {"Q": {"random": [40, 2], "low": 1e200, "high": 1e201}, "V": {"random": [40, 1]}}
    (told,) = run(loads(json.dumps({**large, "K": large["Q"]}).encode(), "p.json")).warnings
    assert told.startswith("scores: 1,600 of 1,600 cells do not fit into float64 ")
