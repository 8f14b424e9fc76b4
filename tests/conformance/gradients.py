"""Gradients from a problem file by PyTorch's autograd, through the reference in PyTorch's tensors;
nothing of the program is used here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.reference.in_arrays import Problem, given_arrays, steps_of

STEPS = (
    *("Q", "K", "V", "Q_rot", "K_rot", "scores", "scaled", "capped"),
    *("weights", "heads_output"),
)


def gradients(
    torch: Any,
    problem: Problem,
    d_output: np.ndarray | None = None,
    loss: Callable[[Any], Any] | None = None,
) -> dict[str, np.ndarray]:
    """The gradient of Σ d_output·output, or of a loss of the output, for every array of the file
    and the steps.

    Arrays are as the file has them; steps are batch × head × row × column, of as many entries and
    heads as they have.
    """
    leaves = {
        name: torch.tensor(array, requires_grad=True)
        for name, array in given_arrays(problem).items()
    }
    steps = steps_of(torch, problem, leaves)
    output = output_of(problem, steps)
    if loss is not None:
        whole, begins = loss(output), None
    elif d_output is not None:
        whole, begins = output, torch.from_numpy(d_output.reshape(output.shape))
    else:
        whole, begins = output, torch.ones_like(output)
    wanted = {**{name: steps[name] for name in worked_out(problem, steps)}, **leaves}
    found = torch.autograd.grad(whole, list(wanted.values()), begins, allow_unused=True)
    return {
        name: np.zeros(tuple(array.shape)) if gradient is None else gradient.numpy()
        for (name, array), gradient in zip(wanted.items(), found, strict=True)
    }


def output_of(problem: Problem, steps: dict[str, Any]) -> Any:
    """The output, batch × row × column, or batch × head × row × column where heads stay apart."""
    are_joined = "W_O" in problem or "W_Q" in problem or np.ndim(problem["Q"]) == 2
    return steps["output"] if are_joined else steps["heads_output"]


def worked_out(problem: Problem, steps: dict[str, Any]) -> list[str]:
    """The steps that have a gradient of their own: Q, K and V if they are projected."""
    names = [name for name in STEPS if name in steps]
    for letter in "QKV":
        is_cached = "past" in problem and letter != "Q"
        if is_cached or f"W_{letter}" not in problem:
            names.remove(letter)
    return names
