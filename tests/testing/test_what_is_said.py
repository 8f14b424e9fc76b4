"""What a page says of functions whose mistake could be taken for another, or whose case for what
another meaning makes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncli.testing.battery import WINDOW, all_cases
from attncli.testing.data import problem_data
from attncli.testing.meant import ANYTHING, Meant, meant_by
from attncli.testing.page import answer_of
from attncli.testing.trial import Trial, answers, remarks_on, trial_of, try_function
from tests.testing.in_process import asking


def softmax(scores: Any) -> Any:
    with np.errstate(all="ignore"):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)


def attention(q: Any, k: Any, v: Any, seen: Any = True) -> Any:
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    return softmax(np.where(seen, scores, -np.inf)) @ v


def narrow(q: Any, k: Any, v: Any, causal: bool = False, window: int | None = None) -> Any:
    """The window has one key too few, and ends at the last key."""
    before = k.shape[-2] - q.shape[-2] + np.arange(q.shape[-2])[:, None]
    keys = np.arange(k.shape[-2])
    seen = keys <= before if causal else True
    return attention(q, k, v, seen if window is None else seen & (keys > before - window + 1))


def all_values(q: Any, k: Any, v: Any) -> Any:
    return np.ones((*q.shape[:-1], k.shape[-2])) @ v


def hides_where_true(q: Any, k: Any, v: Any, attn_mask: Any = None) -> Any:
    return attention(q, k, v, True if attn_mask is None else ~attn_mask)


def refuses_blind_queries(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    if mask is not None and not mask.astype(bool).any(axis=-1).all():
        raise ValueError("a query sees no key")
    return attention(q, k, v, True if mask is None else mask.astype(bool))


def with_others(q: Any, k: Any, v: Any, hide: Any = None, cap: Any = None) -> Any:
    return attention(q, k, v)


def features_first(q: Any, k: Any, v: Any) -> Any:
    return np.swapaxes(attention(q, k, v), -1, -2)


def trial(function: Callable[..., Any], meant: Meant = ANYTHING, expression: str = "") -> Trial:
    asked = asking(function)
    asked.meant, asked.expression = meant, expression
    results = answers(asked, all_cases())
    words = asked.layout.words
    return trial_of(function.__name__, results, meant, words, remarks=remarks_on(asked))


@pytest.mark.long
def test_a_window_is_worked_out_from_the_corner_that_is_known() -> None:
    found = trial(narrow)
    ((mistakes, results),) = [(each.mistakes, each.results) for each in found.explanations]
    assert mistakes == ("the window was one key too narrow",)
    assert found.facts["causal"] == "bottom-right"
    (window,) = results
    assert problem_data(window.case, window.chosen)["mask"]["corner"] == "bottom-right"
    # The right output is that of the function with one key more.
    queries, keys, values = window.case.queries, window.case.keys, window.case.values
    mended = narrow(queries, keys, values, causal=True, window=WINDOW + 1)
    assert window.right.output == pytest.approx(mended, abs=1e-12)


@pytest.mark.long
def test_a_sum_of_all_values_is_no_sum_in_16_bits() -> None:
    found = trial(all_values)
    assert not found.explanations
    assert found.facts["precision"] == "unclear"


def test_what_true_means_is_said_as_it_is_meant() -> None:
    found = trial(hides_where_true, meant_by("torch-mha"))
    assert found.agrees
    assert found.facts["mask"] == "true is hidden"


def test_a_call_turns_the_mask_round_where_there_is_none() -> None:
    found = trial(hides_where_true, expression="f(q, k, v, attn_mask=~mask)")
    assert found.agrees
    assert any("mask" in each.case.asks for each in found.results if each.result == "same")


def test_a_function_may_refuse_queries_that_see_no_key() -> None:
    found = trial(refuses_blind_queries)
    assert found.agrees
    assert found.facts["sees no key"] == "refused"


@pytest.mark.long
def test_parameters_that_are_not_known_are_named() -> None:
    found = trial(with_others)
    assert found.agrees
    (said,) = found.remarks
    assert said.startswith("It has parameters that attncli does not know: hide and cap.")
    assert not trial(hides_where_true).remarks


def test_an_output_that_cannot_be_judged_is_no_call_that_failed() -> None:
    said = answer_of(trial(features_first))
    assert said == "It could not be tested: what it returns cannot be judged."


@pytest.mark.torch
def test_a_bias_belongs_to_the_weight_that_is_named(torch: Any, tmp_path: Path) -> None:
    file = tmp_path / "layer.py"
    file.write_text(LAYER, encoding="utf-8")
    weights = {"W_Q": "alpha.weight", "W_K": "beta.weight", "W_V": "gamma.weight"}
    assert try_function(f"{file}:Layer(4)", weights=weights).agrees


@pytest.mark.torch
def test_a_layer_of_numpy_gets_arrays_of_numpy_beside_an_import(torch: Any, tmp_path: Path) -> None:
    file = tmp_path / "layer.py"
    file.write_text(OF_NUMPY, encoding="utf-8")
    assert try_function(f"{file}:Layer(4)").agrees


OF_NUMPY = """
import numpy as np
import torch


class Layer:
    def __init__(self, width):
        self.W_q, self.W_k, self.W_v = np.zeros((3, width, width))

    def __call__(self, x):
        q, k, v = x @ self.W_q, x @ self.W_k, x @ self.W_v
        scores = np.einsum("...id,...jd->...ij", q, k) / np.sqrt(q.shape[-1])
        powers = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        return np.divide(powers, np.sum(powers, axis=-1, keepdims=True)) @ v
"""
LAYER = """
import torch


class Layer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.alpha, self.beta, self.gamma = (torch.nn.Linear(width, width) for _ in range(3))

    def forward(self, x):
        q, k, v = self.alpha(x), self.beta(x), self.gamma(x)
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)
"""
