"""The attention functions of other software, each as one function from Q, K and a mask to the
weights it gives.

The values are the identity matrix, so that the output is the weights; one head, in double
precision.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

os.environ.setdefault("KERAS_BACKEND", "torch")
os.environ.setdefault("JAX_ENABLE_X64", "1")

Array: TypeAlias = NDArray[Any]
Weights: TypeAlias = Callable[..., Array]


def imported(name: str) -> Any:
    """The package, or a skipped test; what it says to its own developers while it loads is left
    aside.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=f"{name} is not installed", exc_type=ImportError)


def torch_weights(q: Array, k: Array, mask: Array | None = None, *, causal: bool = False) -> Array:
    torch = imported("torch")
    tensors = (torch.from_numpy(array) for array in (q, k, np.eye(len(k))))
    mask = None if mask is None else torch.from_numpy(mask)
    return torch.nn.functional.scaled_dot_product_attention(
        *tensors, attn_mask=mask, is_causal=causal
    ).numpy()


def torch_mha_weights(q: Array, k: Array, mask: Array | None = None) -> Array:
    torch = imported("torch")
    layer = torch.nn.MultiheadAttention(q.shape[1], 1, bias=False, dtype=torch.float64).eval()
    layer.in_proj_weight.data = torch.eye(q.shape[1], dtype=torch.float64).repeat(3, 1)
    query, key = torch.from_numpy(q), torch.from_numpy(k)
    mask = None if mask is None else torch.from_numpy(mask)
    return layer(query, key, key, attn_mask=mask)[1].detach().numpy()


def keras_weights(q: Array, k: Array, mask: Array | None = None, *, causal: bool = False) -> Array:
    imported("torch")
    keras = imported("keras")
    layer = keras.layers.MultiHeadAttention(1, q.shape[1], use_bias=False, dtype="float64")
    layer(q[None], k[None])
    layer.set_weights([np.eye(q.shape[1]).reshape(weight.shape) for weight in layer.weights])
    choices = {"attention_mask": None if mask is None else mask[None], "use_causal_mask": causal}
    _, weights = layer(q[None], k[None], return_attention_scores=True, **choices)
    return weights.detach().numpy()[0, 0]


def jax_weights(
    q: Array, k: Array, mask: Array | None = None, *, causal: bool = False, **more: Any
) -> Array:
    jax = imported("jax")
    # values have to be as wide as keys: both are filled up with zeros
    width = max(len(k), q.shape[1])

    def wide(array: Array) -> Array:
        return np.pad(array, ((0, 0), (0, width - array.shape[1])))[:, None]

    more |= {"is_causal": causal, "scale": 1 / np.sqrt(q.shape[1])}
    if mask is not None:
        more["mask" if mask.dtype == bool else "bias"] = mask[None, None]
    out = jax.nn.dot_product_attention(wide(q), wide(k), wide(np.eye(len(k))), **more)
    return np.asarray(out)[:, 0, : len(k)]


def onnx_attention(feeds: dict[str, Array], opset: int = 25, **attributes: Any) -> Array:
    """The output of the operator for its inputs by name, each as batch × heads × tokens ×
    features.
    """
    onnx, reference = imported("onnx"), imported("onnx.reference")
    names = ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")
    given = [name if name in feeds else "" for name in names]
    while not given[-1]:
        given.pop()
    make = onnx.helper
    types = {name: make.np_dtype_to_tensor_dtype(array.dtype) for name, array in feeds.items()}
    inputs = [
        make.make_tensor_value_info(name, types[name], array.shape) for name, array in feeds.items()
    ]
    output = make.make_tensor_value_info("Y", types["Q"], None)
    node = make.make_node("Attention", given, ["Y"], **attributes)
    graph = make.make_graph([node], "attention", inputs, [output])
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", opset)])
    return reference.ReferenceEvaluator(model).run(None, feeds)[0]


def onnx_weights(
    q: Array,
    k: Array,
    mask: Array | None = None,
    *,
    causal: bool = False,
    length: int | None = None,
    past: int = 0,
    **more: Any,
) -> Array:
    """`length` is that of nonpad_kv_seqlen; the first `past` keys are given as a cache."""
    v = np.eye(len(k))
    feeds = {"Q": q[None, None], "K": k[None, None, past:], "V": v[None, None, past:]}
    if mask is not None:
        feeds["attn_mask"] = mask
    if past:
        feeds |= {"past_key": k[None, None, :past], "past_value": v[None, None, :past]}
    if length is not None:
        feeds["nonpad_kv_seqlen"] = np.array([length])
    return onnx_attention(feeds, is_causal=int(causal), **more)[0, 0]


def mlx_weights(q: Array, k: Array, mask: Array | None = None, *, causal: bool = False) -> Array:
    """In single precision: it has no kernel for more."""
    mlx = imported("mlx.core")
    arrays = (mlx.array(array.astype(np.float32))[None, None] for array in (q, k, np.eye(len(k))))
    if causal:
        of_mlx = "causal"
    elif mask is not None and mask.dtype == float:
        of_mlx = mlx.array(mask.astype(np.float32))
    else:
        of_mlx = None if mask is None else mlx.array(mask)
    scale = q.shape[1] ** -0.5
    found = mlx.fast.scaled_dot_product_attention(*arrays, scale=scale, mask=of_mlx)
    return np.array(found)[0, 0].astype(float)


SOFTWARE: dict[str, Weights] = {
    "torch": torch_weights,
    "torch-mha": torch_mha_weights,
    "keras": keras_weights,
    "jax": jax_weights,
    "onnx": onnx_weights,
    "mlx": mlx_weights,
}
