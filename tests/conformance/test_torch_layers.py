"""PyTorch's MultiheadAttention, from the words to the output: projections, biases, heads, masks and
weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.cases import in_one_test
from tests.conformance.problems import problem_file

pytestmark = pytest.mark.torch
Solve = Callable[[dict[str, Any]], dict[str, np.ndarray]]
E, HEADS, BATCH, N, M = 6, 3, 2, 4, 5


class Layer:
    """A layer of PyTorch with random weights, and the problem file that says the same."""

    def __init__(self, torch: Any, seed: int, **options: Any) -> None:
        self.random = np.random.default_rng(seed)
        self.torch = torch
        self.layer = torch.nn.MultiheadAttention(
            E, HEADS, batch_first=True, dtype=torch.float64, **options
        ).eval()
        for parameter in self.layer.parameters():
            parameter.data = torch.from_numpy(self.random.normal(size=parameter.shape))

    def keys(self) -> dict[str, Any]:
        layer = self.layer
        if layer.in_proj_weight is None:
            thirds = [layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight]
        else:
            thirds = layer.in_proj_weight.chunk(3)
        found = {
            f"W_{name}": weight.detach().numpy().T
            for name, weight in zip("QKV", thirds, strict=True)
        }
        found["W_O"] = layer.out_proj.weight.detach().numpy().T
        if layer.in_proj_bias is not None:
            biases = layer.in_proj_bias.detach().chunk(3)
            found |= {f"b_{name}": bias.numpy() for name, bias in zip("QKV", biases, strict=True)}
            found["b_O"] = layer.out_proj.bias.detach().numpy()
        return {"heads": HEADS, **found}

    def __call__(self, *given: np.ndarray, **masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tensors = [self.torch.from_numpy(array) for array in given]
        masks = {name: self.torch.from_numpy(mask) for name, mask in masks.items()}
        with self.torch.no_grad():
            output, weights = self.layer(*tensors, **masks, average_attn_weights=False)
        return output.numpy(), weights.numpy()


def agree(found: dict[str, np.ndarray], theirs: tuple[np.ndarray, np.ndarray]) -> None:
    output, weights = theirs
    np.testing.assert_allclose(found["weights"], weights, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found["output"], output, rtol=1e-10, atol=1e-10)


@in_one_test("bias", [True, False])
@in_one_test("seed", range(5))
def test_self_attention(torch: Any, solve: Solve, seed: int, bias: bool) -> None:
    layer = Layer(torch, seed, bias=bias)
    x = layer.random.normal(size=(BATCH, N, E))
    agree(solve(problem_file(X=x, **layer.keys())), layer(x, x, x))
    one = solve(problem_file(X=x[0], **layer.keys()))
    agree({name: one[name][0] for name in ("weights", "output")}, layer(x[0], x[0], x[0]))


@in_one_test("bias", [True, False])
@in_one_test("seed", range(5))
def test_cross_attention_with_another_width(
    torch: Any, solve: Solve, seed: int, bias: bool
) -> None:
    layer = Layer(torch, seed, bias=bias, kdim=4, vdim=4)
    x, context = layer.random.normal(size=(BATCH, N, E)), layer.random.normal(size=(BATCH, M, 4))
    agree(solve(problem_file(X=x, context=context, **layer.keys())), layer(x, context, context))


@in_one_test("seed", range(10))
def test_masks_of_a_layer(torch: Any, solve: Solve, seed: int) -> None:
    """A row that sees no key is NaN there, so that the first key is always left visible."""
    layer = Layer(torch, seed)
    x, context = layer.random.normal(size=(BATCH, N, E)), layer.random.normal(size=(BATCH, M, E))
    padding, hide = layer.random.random((BATCH, M)) < 0.3, layer.random.random((N, M)) < 0.3
    apart = layer.random.random((BATCH, HEADS, N, M)) < 0.3
    for mask in (padding, hide, apart):
        mask[..., 0] = False
    added = np.where(hide, -np.inf, layer.random.normal(size=hide.shape))
    flat = apart.reshape(BATCH * HEADS, N, M)
    for mask, theirs in (
        ({"padding": ~padding}, {"key_padding_mask": padding}),
        ({"hide": hide}, {"attn_mask": hide}),
        ({"additive": added}, {"attn_mask": added}),
        ({"hide": apart}, {"attn_mask": flat}),
        ({"hide": hide, "padding": ~padding}, {"attn_mask": hide, "key_padding_mask": padding}),
        (
            ["causal", {"padding": ~padding}],
            {"attn_mask": np.triu(hide | True, 1), "key_padding_mask": padding},
        ),
    ):
        agree(
            solve(problem_file(X=x, context=context, mask=mask, **layer.keys())),
            layer(x, context, context, **theirs),
        )
