"""A right function is never called wrong, however it is written, and what it does where software
differs is said.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from attncli.testing.facts import facts_of
from tests.testing import right_functions
from tests.testing.drawn_cases import drawn_case
from tests.testing.in_process import asking, results_of
from tests.testing.right import IN_NUMPY, IN_TORCH, Right

# Of drawn cases, for each function and number format; `tests/tools/false_alarms/run.py` has more.
DRAWN = 40


def right_here(function: Any, kind: str, right: Right) -> None:
    results = results_of(function, kind, right.layout)
    assert [each.case.name for each in results if each.result in ("differs", "error")] == []
    facts = facts_of(results, (), right.layout.words)
    assert facts["scale"] == "1/sqrt(d_k)"
    assert facts["precision"] == "sums in float32"
    assert {name: facts[name] for name in right.facts} == dict(right.facts)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", IN_NUMPY)
def test_in_numpy(name: str) -> None:
    right_here(getattr(right_functions, name), "numpy", IN_NUMPY[name])


@pytest.mark.torch
@pytest.mark.parametrize("name", IN_TORCH)
def test_in_torch(torch: Any, name: str) -> None:
    from tests.testing import right_in_torch

    right_here(getattr(right_in_torch, name), "torch", IN_TORCH[name])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", IN_NUMPY)
def test_drawn_cases_in_numpy(name: str, dtype: str) -> None:
    none_differs(getattr(right_functions, name), "numpy", IN_NUMPY[name], dtype)


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("name", IN_TORCH)
def test_drawn_cases_in_torch(torch: Any, name: str, dtype: str) -> None:
    from tests.testing import right_in_torch

    none_differs(getattr(right_in_torch, name), "torch", IN_TORCH[name], dtype)


def none_differs(function: Any, kind: str, right: Right, dtype: str) -> None:
    asked = asking(function, kind, right.layout)
    for seed in range(DRAWN):
        result = asked.answer(replace(drawn_case(seed), dtype=dtype))
        assert result.result in ("same", "not asked"), (seed, result.error, result.agreement)
