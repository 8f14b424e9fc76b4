"""Arrays in memory: the output alone, all steps and gradients, against PyTorch, onnxruntime and
NumPy by hand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from attncli.attention import parallel
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.masks import Mask
from attncli.problem.parts.masks.causal import Causal
from attncli.tracing import run
from tests.tools.benchmarks.figures import Figure, figure

WIDTH = 64
OUTPUT = ("output",)
ENTRIES, HEADS, SHORT = 64, 8, 128  # of the batch of many small heads


def arrays(*shape: int) -> dict[str, np.ndarray]:
    """Q, K and V drawn in float32, their last axis of length WIDTH."""
    random = np.random.default_rng(0)
    return {name: random.standard_normal((*shape, WIDTH)).astype(np.float32) for name in "QKV"}


def problem(given: dict[str, np.ndarray], causal: bool = False) -> Problem:
    labels = tuple(f"t{place + 1}" for place in range(given["Q"].shape[-2]))
    matrices = {name: Matrix(array.astype(np.float64)) for name, array in given.items()}
    mask = Mask((Causal(),) * causal)
    return Problem(title="", tokens=labels, context_tokens=labels, given=matrices, mask=mask)


def output(given: Problem) -> np.ndarray:
    return run(given, dtype="float32", keep=OUTPUT)["output"]


def figures(quick: bool) -> Iterator[Figure]:
    tokens, rounds = (512, 1) if quick else (8192, 7)
    yield from _all_steps(tokens // 4, rounds)
    given = arrays(tokens)
    plain = problem(given)
    if (runtime := _onnxruntime(given)) is not None:
        what = f"the output of {tokens:,} tokens, float32; onnxruntime"
        yield figure(what, lambda: output(plain), runtime, 1.2, rounds=rounds)
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(parallel.thread_count())
    what = f"the output of {tokens:,} tokens, float32; PyTorch"
    yield figure(what, lambda: output(plain), _attention(torch, given), 0.95, rounds=rounds)

    many = arrays(ENTRIES, HEADS, SHORT)
    entries = problem(many)
    what = f"the output of {ENTRIES} entries × {HEADS} heads × {SHORT} tokens, float32; PyTorch"
    yield figure(what, lambda: output(entries), _attention(torch, many), 1.5, rounds=2 * rounds)

    short = arrays(tokens // 16)
    gradient = problem(short)
    inputs = [
        torch.from_numpy(array.astype(np.float64)).requires_grad_() for array in short.values()
    ]

    def autograd() -> object:
        q, k, v = inputs
        return torch.autograd.grad(
            (torch.softmax(q @ k.T / math.sqrt(WIDTH), dim=-1) @ v).sum(), inputs
        )

    what = f"all steps and gradients of {tokens // 16} tokens, float64; PyTorch's autograd"
    yield figure(what, lambda: run(gradient, gradient=True), autograd, 1.2, rounds=4 * rounds)


def _all_steps(tokens: int, rounds: int) -> Iterator[Figure]:
    given = arrays(tokens)
    doubles = {name: array.astype(np.float64) for name, array in given.items()}

    def by_hand(causal: bool) -> tuple[np.ndarray, ...]:
        """Every step that a trace keeps, as one would write them in NumPy."""
        scores = doubles["Q"] @ doubles["K"].T
        scaled = masked = scores / math.sqrt(WIDTH)
        if causal:
            places = np.arange(tokens)
            masked = scaled + np.where(places <= places[:, None], 0.0, -np.inf)
        exp = np.exp(masked)
        sums = exp.sum(axis=1)
        weights = exp / sums[:, None]
        return scores, scaled, masked, exp, sums, weights, weights @ doubles["V"]

    for causal, goal in ((False, 1.5), (True, 2.5)):
        ours = problem(given, causal)
        what = f"all steps of {tokens:,} tokens, float64{', causal' * causal}; NumPy by hand"
        yield figure(
            what,
            lambda ours=ours: run(ours),
            lambda causal=causal: by_hand(causal),
            goal,
            rounds=rounds,
        )


def _attention(torch: Any, given: dict[str, np.ndarray]) -> Any:
    q, k, v = (
        torch.from_numpy(array if array.ndim > 2 else array[None, None]) for array in given.values()
    )

    def attend() -> object:
        with torch.no_grad():
            return torch.nn.functional.scaled_dot_product_attention(q, k, v)

    return attend


def _onnxruntime(given: dict[str, np.ndarray]) -> Any:
    try:
        import onnxruntime
        from onnx import TensorProto, helper
    except ImportError:
        return None
    names = ("query", "key", "value")
    infos = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, None, WIDTH])
        for name in (*names, "output")
    ]
    node = helper.make_node(
        "MultiHeadAttention", list(names), ["output"], domain="com.microsoft", num_heads=1
    )
    graph = helper.make_graph([node], "attention", infos[:3], infos[3:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = parallel.thread_count()
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    feed = dict(zip(names, (array[None] for array in given.values()), strict=True))
    return lambda: session.run(None, feed)
