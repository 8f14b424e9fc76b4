"""The ranks of what goes in and what comes out: rank in is rank out, and which axes each step
has.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import attncli
from tests.cases import in_one_test
from tests.conformance.problems import arrays, problem_file
from tests.reference import in_arrays, in_loops

Trace = Callable[..., attncli.Trace]
RANDOM = np.random.default_rng(0)
PROJECTIONS = {
    "W_Q": RANDOM.normal(size=(3, 8)),
    "W_K": RANDOM.normal(size=(3, 4)),
    "W_V": RANDOM.normal(size=(3, 6)),
}
OUT = {"W_O": RANDOM.normal(size=(12, 5)), "b_O": RANDOM.normal(size=5)}


def axes(
    trace: Trace, problem: dict[str, Any]
) -> dict[str, tuple[tuple[str, ...], tuple[int, ...]]]:
    steps = trace(problem).to_dict()["steps"]
    return {name: (tuple(step["axes"]), tuple(step["shape"])) for name, step in steps.items()}


@pytest.mark.parametrize("given", [2, 3, 4])
def test_rank_in_is_rank_out(trace: Trace, given: int) -> None:
    whole = arrays(RANDOM, kv_heads=4)
    kept = (0,) * (4 - given)
    found = axes(trace, problem_file(**{name: array[kept] for name, array in whole.items()}))
    leading = (("batch", "head")[4 - given :], (2, 4)[4 - given :])
    assert found["weights"] == ((*leading[0], "query", "key"), (*leading[1], 3, 5))
    assert found["output"] == ((*leading[0], "query", found["output"][0][-1]), (*leading[1], 3, 3))
    assert "concat" not in found


def test_words_in_heads(trace: Trace) -> None:
    x = RANDOM.normal(size=(2, 4, 3))
    for given, leading, sizes in ((x[0], (), ()), (x, ("batch",), (2,))):
        found = axes(trace, problem_file(X=given, heads=4, kv_heads=2, **PROJECTIONS))
        assert found["weights"] == ((*leading, "head", "query", "key"), (*sizes, 4, 4, 4))
        assert found["W_Q"][1] == (4, 3, 2)
        assert found["W_K"][1] == (2, 3, 2)
        assert found["K"][1] == (*sizes, 2, 4, 2)
        assert found["heads_output"][1] == (*sizes, 4, 4, 3)
        assert found["concat"][1] == found["output"][1] == (*sizes, 4, 12)
        found = axes(trace, problem_file(X=given, heads=4, kv_heads=2, **PROJECTIONS, **OUT))
        assert found["W_O"][1] == (12, 5)
        assert found["output"][1] == (*sizes, 4, 5)


def test_one_head_adds_no_axis(trace: Trace) -> None:
    arrays = {
        "X": RANDOM.normal(size=(4, 3)),
        **{f"W_{name}": RANDOM.normal(size=(3, 2)) for name in "QKV"},
    }
    plain = axes(trace, problem_file(**arrays))
    assert plain == axes(trace, problem_file(**arrays, heads=1, kv_heads=1))
    assert plain["weights"] == (("query", "key"), (4, 4))


def test_steps_of_a_cache(trace: Trace) -> None:
    given = {name: array[0, 0] for name, array in arrays(RANDOM, n=1, m=1).items()}
    past = {"K": RANDOM.normal(size=(3, 4)), "V": RANDOM.normal(size=(3, 3))}
    found = trace(problem_file(**given, past=past, mask="causal"))
    np.testing.assert_array_equal(found["K"], np.concatenate([past["K"], given["K"]]))
    np.testing.assert_array_equal(found["V"], np.concatenate([past["V"], given["V"]]))
    assert found["weights"].shape == (1, 4)
    assert (found["weights"] > 0).all()


@in_one_test(
    ("mask", "shape"),
    [
        ("causal", (3, 5)),
        ({"keep": [[1, 0, 1, 0, 1]] * 3}, (3, 5)),
        ({"keep": [[[[1, 0, 1, 0, 1]] * 3]]}, (3, 5)),
        ({"keep": [[[1, 0, 1, 0, 1]] * 3] * 4}, (4, 3, 5)),
        ({"lengths": [2, 3]}, (2, 3, 5)),
        ({"padding": [[1, 1, 1, 0, 0], [1, 1, 0, 0, 0]]}, (2, 3, 5)),
        ({"keep": [[[[1, 0, 1, 0, 1]] * 3] * 4] * 2}, (2, 4, 3, 5)),
        ({"lengths": [2, 3], "keep": [[[1, 0, 1, 0, 1]] * 3] * 4}, (2, 4, 3, 5)),
        ({"lengths": [2, 3], "causal": True, "corner": "bottom-right"}, (2, 3, 5)),
    ],
)
def test_a_mask_has_the_axes_it_differs_along(
    trace: Trace, mask: Any, shape: tuple[int, ...]
) -> None:
    assert trace(problem_file(**arrays(RANDOM), mask=mask))["mask"].shape == shape


@pytest.mark.parametrize("reference", [in_arrays, in_loops])
def test_a_mask_that_a_reference_does_not_know_is_told(reference: ModuleType) -> None:
    problem = {"Q": [[1.0]], "K": [[1.0]], "V": [[1.0]], "mask": {"new": True}}
    with pytest.raises(NotImplementedError, match=r'masks_in_.*py what a "new" hides'):
        reference.attention(problem)
