"""The table of conventions is true: the software itself gives the weights that attncli gives under
its name.

Each test needs what it compares with and is skipped without it: PyTorch, Keras, JAX, ONNX,
MLX.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from software import (
    SOFTWARE,
    Array,
    imported,
    jax_weights,
    keras_weights,
    onnx_weights,
    torch_mha_weights,
)

from attncli.errors import AttncliError
from attncli.problem.loader import loads
from attncli.problem.parts.conventions import CONVENTIONS
from attncli.tracing import run

TRUTHS = np.array([[True, False, True, True], [False, True, True, False]])
NUMBERS = np.array([[0, -1.5, -np.inf, 2], [-np.inf, 0.5, 0, 1]])
NO_KEY = np.array([[False] * 4, [True, True, False, False]])
NOT_A_GPU = [name for name in CONVENTIONS if name in SOFTWARE]  # flash-attention needs one
COMPUTES_FLOAT32 = {"jax": 1e-6, "mlx": 1e-6}  # the softmax, always; and all of it


def drawn(queries: int = 2, keys: int = 4) -> tuple[Array, Array]:
    random = np.random.default_rng(queries * 10 + keys)
    return random.normal(size=(queries, 3)), random.normal(size=(keys, 3))


def ours(q: Array, k: Array, mask: Any, convention: str | None) -> Array:
    problem = {"Q": q.tolist(), "K": k.tolist(), "V": np.eye(len(k)).tolist(), "mask": mask}
    return run(loads(json.dumps(problem).encode(), "p.json", convention=convention))["weights"]


def agree(name: str, ours: Array, theirs: Array) -> None:
    np.testing.assert_allclose(ours, theirs, atol=COMPUTES_FLOAT32.get(name, 1e-12), rtol=0)


@pytest.mark.parametrize("name", NOT_A_GPU)
def test_truth_values(name: str) -> None:
    q, k = drawn()
    agree(name, ours(q, k, TRUTHS.tolist(), name), SOFTWARE[name](q, k, TRUTHS))


@pytest.mark.parametrize("name", NOT_A_GPU)
def test_zeros_and_ones(name: str) -> None:
    q, k = drawn()
    agree(
        name,
        ours(q, k, TRUTHS.astype(float).tolist(), name),
        SOFTWARE[name](q, k, TRUTHS.astype(float)),
    )


@pytest.mark.parametrize("name", ["jax", "keras", "onnx", "mlx"])
def test_zeros_and_ones_as_integers(name: str) -> None:
    q, k = drawn()
    agree(
        name,
        ours(q, k, TRUTHS.astype(int).tolist(), name),
        SOFTWARE[name](q, k, TRUTHS.astype(int)),
    )


@pytest.mark.parametrize(
    ("name", "error"), [("torch", RuntimeError), ("torch-mha", AssertionError)]
)
def test_pytorch_takes_no_integers(name: str, error: type[Exception]) -> None:
    imported("torch")
    with pytest.raises(error, match="bool"):
        SOFTWARE[name](*drawn(), TRUTHS.astype(int))
    with pytest.raises(AttncliError, match=f"{name} does not accept a mask of integers"):
        ours(*drawn(), TRUTHS.astype(int).tolist(), name)


@pytest.mark.parametrize("name", [name for name in NOT_A_GPU if CONVENTIONS[name].adds])
def test_numbers_are_added(name: str) -> None:
    q, k = drawn()
    numbers = [["-inf" if np.isneginf(cell) else cell for cell in row] for row in NUMBERS.tolist()]
    agree(name, ours(q, k, numbers, name), SOFTWARE[name](q, k, NUMBERS))


def test_keras_takes_every_number_but_zero_for_true() -> None:
    q, k = drawn()
    agree("keras", ours(q, k, (NUMBERS != 0).tolist(), "keras"), keras_weights(q, k, NUMBERS))


@pytest.mark.parametrize("name", ["torch", "keras", "jax", "onnx"])
@pytest.mark.parametrize(("queries", "keys"), [(2, 4), (4, 2), (3, 3)])
def test_the_corner_of_a_causal_mask(name: str, queries: int, keys: int) -> None:
    q, k = drawn(queries, keys)
    agree(name, ours(q, k, "causal", name), SOFTWARE[name](q, k, causal=True))


@pytest.mark.parametrize(("queries", "keys"), [(2, 4), (3, 3)])
def test_the_corner_of_a_causal_mask_of_mlx(queries: int, keys: int) -> None:
    """With more queries than keys, the first ones see nothing: there, releases differ."""
    q, k = drawn(queries, keys)
    agree("mlx", ours(q, k, "causal", "mlx"), SOFTWARE["mlx"](q, k, causal=True))


def test_multihead_attention_needs_a_causal_mask_given() -> None:
    torch = imported("torch")
    q, k = drawn(3, 3)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(3, dtype=torch.float64).numpy()
    agree("torch-mha", ours(q, k, "causal", "torch-mha"), torch_mha_weights(q, k, mask))


@pytest.mark.filterwarnings("ignore:Lower right causal bias")  # of NaNs, which other backends give
@pytest.mark.parametrize(("queries", "keys"), [(2, 4), (4, 2)])
def test_pytorch_has_the_corner_of_flash_attention_by_name(queries: int, keys: int) -> None:
    torch = imported("torch")
    bias = imported("torch.nn.attention.bias").causal_lower_right(queries, keys)
    q, k = drawn(queries, keys)
    tensors = (torch.from_numpy(array)[None, None] for array in (q, k, np.eye(keys)))
    theirs = torch.nn.functional.scaled_dot_product_attention(*tensors, attn_mask=bias).numpy()[
        0, 0
    ]
    agree("flash", ours(q, k, "causal", "flash"), theirs)


# The pictures of flash-attention's documentation, 1 = keep, for what cannot be run without a GPU.


@pytest.mark.parametrize(
    ("queries", "keys", "picture"),
    [
        (2, 5, [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]),
        (5, 2, [[0, 0], [0, 0], [0, 0], [1, 0], [1, 1]]),
    ],
)
def test_flash_attention_as_it_is_documented(
    queries: int, keys: int, picture: list[list[int]]
) -> None:
    q, k = drawn(queries, keys)
    np.testing.assert_array_equal(ours(q, k, "causal", "flash") > 0, picture)
    np.testing.assert_array_equal(ours(q, k, picture, "flash"), ours(q, k, "causal", "flash"))


@pytest.mark.parametrize("opset", [23, 24, 25])
def test_onnx_aligns_a_cache_as_we_do(opset: int) -> None:
    q, k = drawn()
    agree("onnx", ours(q, k, {"causal": True, "corner": "bottom-right"}, None),
          onnx_weights(q, k, causal=True, past=2, opset=opset))  # fmt: skip


@pytest.mark.parametrize("opset", [24, 25])
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_onnx_aligns_lengths_at_the_bottom_right(opset: int, length: int) -> None:
    q, k = drawn()
    mask = {"causal": True, "corner": "bottom-right", "lengths": length}
    agree(
        "onnx",
        ours(q, k, mask, "onnx"),
        onnx_weights(q, k, causal=True, length=length, opset=opset),
    )


def test_windows() -> None:
    q, k = drawn(4, 4)
    agree(
        "onnx",
        ours(q, k, {"window": [2, 1]}, "onnx"),
        onnx_weights(q, k, left_window_size=2, right_window_size=1),
    )


def test_windows_of_jax() -> None:
    q, k = drawn(4, 4)
    agree("jax", ours(q, k, {"window": [2, 1]}, "jax"), jax_weights(q, k, local_window_size=(2, 1)))


# Where nothing is left to see, software differs; we say 0 and warn.


@pytest.mark.parametrize(
    ("name", "mask", "row"),
    [
        ("torch", NO_KEY, [0, 0, 0, 0]),
        ("torch-mha", ~NO_KEY, [np.nan] * 4),
        ("keras", NO_KEY, [0, 0, 0, 0]),
        ("jax", NO_KEY, [0.25] * 4),
        ("jax", np.where(NO_KEY, 0, -np.inf), [np.nan] * 4),
        ("onnx", NO_KEY, [0, 0, 0, 0]),
    ],
)
def test_a_query_that_sees_nothing(name: str, mask: Array, row: list[float]) -> None:
    q, k = drawn()
    theirs = SOFTWARE[name](q, k, mask)
    np.testing.assert_allclose(theirs[0], row)
    (
        np.testing.assert_allclose(ours(q, k, mask.tolist(), name)[0], 0)
        if mask.dtype == bool
        else None
    )
    agree(name, ours(q, k, NO_KEY.tolist(), None)[1], theirs[1])


@pytest.mark.parametrize("opset", [23, 24, 25])
def test_onnx_caps_before_it_masks(opset: int) -> None:
    q, k = drawn()
    problem = {
        "Q": q.tolist(),
        "K": k.tolist(),
        "V": np.eye(4).tolist(),
        "mask": TRUTHS.tolist(),
        "softcap": 0.5,
    }
    capped = run(loads(json.dumps(problem).encode(), "p.json"))["weights"]
    agree("onnx", capped, onnx_weights(q, k, TRUTHS, softcap=0.5, opset=opset))
