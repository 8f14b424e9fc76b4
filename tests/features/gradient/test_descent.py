"""One step of gradient descent, by hand, beside PyTorch's, and as small steps foretell."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from attncli.features.gradient.descent import Descent, descend
from attncli.problem.loader import loads
from attncli.problem.matrix import Scalar
from attncli.problem.model import Problem
from attncli.tracing import run

SEEDED = {
    name: {"random": [3, 3], "seed": seed}
    for seed, name in enumerate(("X", "W_Q", "W_K", "W_V", "W_O"))
}
LOSS = {"kind": "cross_entropy", "targets": [0, 2, 1]}


def read(problem: dict[str, Any]) -> Problem:
    return loads(json.dumps(problem).encode(), "problem")


def step(problem: dict[str, Any], size: float, dtype: str = "float64") -> Descent:
    return descend(read(problem), run(read(problem), gradient=True, dtype=dtype), Scalar.of(size))


def test_by_hand() -> None:
    """Weights of 1/2 each, O = 2, so the loss is (2 - 1)² = 1, dO = 2, dV = [1, 1]; Q and K are 0,
    and stay so.
    """
    problem = {
        "Q": [[0]],
        "K": [[0], [0]],
        "V": [[1], [3]],
        "loss": {"kind": "mse", "target": [[1]]},
    }
    found = step(problem, 0.25)
    assert list(found.updated) == ["Q", "K", "V"]
    np.testing.assert_array_equal(found.updated["V"].value, [[0.75], [2.75]])
    assert (found.before, found.expected, found.after) == (1, 1 - 0.25 * 2, (1.75 - 1) ** 2)


def test_without_a_loss_it_is_the_sum_of_all_outputs() -> None:
    found = step({"Q": [[0]], "K": [[0], [0]], "V": [[1], [3]]}, 0.5)
    assert (found.before, found.after) == (2, 2 - 0.5 * (0.5**2 + 0.5**2))


def test_what_comes_in_stays() -> None:
    assert list(step(SEEDED | {"loss": LOSS}, 1).updated) == ["W_Q", "W_K", "W_V", "W_O"]


def test_all_that_is_learned_moves() -> None:
    arrays = {
        "Q": [[1, 0]],
        "K": [[1, 0], [0, 2]],
        "V": [[1, 0], [0, 1]],
        "past": {"K": [[1, 1]], "V": [[2, 0]]},
    }
    assert list(step({**arrays, "sink": 1}, 1).updated) == ["Q", "new_K", "new_V", "sink"]
    more = {"score": "additive", "W_1": [[1, 0], [0, 1]], "W_2": [[1, 0], [0, 1]], "v": [1, 2]}
    assert list(step({**arrays, **more}, 1).updated) == ["Q", "new_K", "new_V", "W_1", "W_2", "v"]


def test_a_small_step_does_what_the_gradients_foretell() -> None:
    found = step(SEEDED | {"loss": LOSS, "heads": 3, "kv_heads": 3}, 1e-6)
    assert found.before - found.after == pytest.approx(found.before - found.expected, rel=1e-4)


def test_in_another_format() -> None:
    assert step(SEEDED | {"loss": LOSS}, 0.5, "float32").updated["W_V"].value.dtype == np.float32


@pytest.mark.torch
def test_beside_an_optimizer(torch: Any) -> None:
    trace = run(read(SEEDED | {"loss": LOSS}), gradient=True)
    x, *weights = (torch.tensor(trace[name].copy()) for name in SEEDED)
    for each in weights:
        each.requires_grad_()

    def loss() -> Any:
        q, k, v = (x @ each for each in weights[:3])
        output = torch.nn.functional.scaled_dot_product_attention(q, k, v) @ weights[3]
        return torch.nn.functional.cross_entropy(output, torch.tensor(LOSS["targets"]))

    loss().backward()
    torch.optim.SGD(weights, lr=0.7).step()
    ours = step(SEEDED | {"loss": LOSS}, 0.7)
    for name, theirs in zip(ours.updated, weights, strict=True):
        np.testing.assert_allclose(ours.updated[name].value, theirs.detach().numpy(), atol=1e-12)
    assert ours.after == pytest.approx(loss().item(), abs=1e-12)


def test_a_step_that_is_too_large_is_told() -> None:
    """V = [1, 3] less 1e300 times its gradient of some 1e100 is too large; less 1e155, the square
    is.
    """
    problem = {"Q": [[0]], "K": [[0], [0]], "V": [[1], [3]]}
    assert step(problem, 0.25).warnings == ()
    assert step(problem, 1e308).warnings == ()
    far = {**problem, "loss": {"kind": "mse", "target": [[-1e100]]}}
    assert step(far, 1e300).warnings == (
        "after the step, V: 2 of 2 cells do not fit into float64 (the first at V[c1,d1])",
    )
    near = {**problem, "loss": {"kind": "mse", "target": [[-1]]}}
    assert step(near, 1e155).warnings == ("after the step, loss does not fit into float64",)
