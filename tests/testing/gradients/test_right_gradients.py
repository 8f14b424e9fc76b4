"""Gradients that are right are never called wrong: by autograd, and as functions return them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attncli.cli.main import run
from attncli.testing.asking import CaseResult
from attncli.testing.gradients.upstream import with_upstream
from attncli.testing.layouts import AxisLayout
from attncli.testing.trial import try_function
from tests.testing.drawn_cases import drawn_case
from tests.testing.gradients import right
from tests.testing.in_process import asking_back, results_back
from tests.testing.right import FOUR, IN_TORCH, TOKENS_FIRST

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def jax() -> Any:
    """JAX, where it is installed; what it says to its own developers is left aside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("jax", reason="JAX is not installed", exc_type=ImportError)


DRAWN = 40
# With their layouts, and how many cases they can be asked.
IN_NUMPY = {
    "by_hand": (FOUR, 10),
    "upstream_first": (FOUR, 5),
    "with_the_output": (FOUR, 10),
    "from_saved": (FOUR, 4),
    "tokens_first": (TOKENS_FIRST, 3),
    "two_axes": (AxisLayout(2), 3),
    "shared_heads": (FOUR, 4),
}


def require_right(results: list[CaseResult], judged: int) -> None:
    """That no case differs or fails, and in how many the gradients were judged."""
    assert [each.case.name for each in results if each.result in ("differs", "error")] == []
    assert sum(each.is_of_gradients for each in results) == judged


@pytest.mark.sampled(3, "long")
@pytest.mark.parametrize("name", IN_NUMPY)
def test_in_numpy(name: str) -> None:
    layout, judged = IN_NUMPY[name]
    require_right(results_back(getattr(right, name), layout=layout), judged)


@pytest.mark.torch
@pytest.mark.parametrize("name", ["by_pytorch", "by_hand", "in_single_precision", "in_blocks"])
def test_by_autograd_of_torch(torch: Any, name: str) -> None:
    from tests.testing import right_in_torch

    results = results_back(getattr(right_in_torch, name), "torch", IN_TORCH[name].layout)
    judged = sum(each.result == "same" for each in results) - 1
    # Of the largest, only the output is judged.
    require_right(results, judged)
    assert judged >= 5


@pytest.mark.torch
@pytest.mark.parametrize("name", ["by_pytorch", "in_place", "own_backward"])
def test_in_torch(torch: Any, name: str) -> None:
    from tests.testing.gradients import in_torch

    results = results_back(getattr(in_torch, name), "torch")
    require_right(results, sum(each.result == "same" for each in results) - 1)


@pytest.mark.slow
def test_by_autograd_of_jax(jax: Any) -> None:
    from tests.testing.gradients import in_jax

    require_right(results_back(in_jax.by_hand, "jax"), 11)


@pytest.mark.long
@pytest.mark.torch
def test_a_layer_with_all_its_weights(torch: Any) -> None:
    trial = try_function(f"{HERE}/in_torch.py:Layer()", gradient=True)
    assert trial.agrees
    right_ones = [each.right.judged for each in trial.results if each.is_of_gradients]
    assert len(right_ones) == 2
    of_weights = {f"d_{letter}_{name}" for letter in "Wb" for name in "QKVO"}
    assert all({*judged} == {*of_weights, "d_X"} for judged in right_ones)


@pytest.mark.torch
@pytest.mark.slow
def test_the_layer_of_pytorch(torch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    layer = "torch.nn:MultiheadAttention(8,2,batch_first=True)"
    arguments = ["test", layer, "--as", "torch-mha", "--gradient", "--format", "json"]
    assert run([*arguments, "--seconds", "60"]) == 0
    cases = json.loads(capsys.readouterr().out)["cases"]
    judged = [each["gradients"]["result"] for each in cases if "gradients" in each]
    assert judged == ["same"] * 4


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["by_hand", "with_the_output", "shared_heads"])
def test_drawn_cases_in_numpy(name: str, dtype: str) -> None:
    none_differs(getattr(right, name), "numpy", FOUR, dtype)


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", IN_TORCH)
def test_drawn_cases_in_torch(torch: Any, name: str, dtype: str) -> None:
    from tests.testing import right_in_torch

    none_differs(getattr(right_in_torch, name), "torch", IN_TORCH[name].layout, dtype)


def none_differs(function: Callable[..., Any], kind: str, layout: AxisLayout, dtype: str) -> None:
    asked = asking_back(function, kind, layout)
    for seed in range(DRAWN):
        result = asked.answer(with_upstream(replace(drawn_case(seed), dtype=dtype)))
        assert result.result in ("same", "not asked"), (seed, result.error, result.agreement)
