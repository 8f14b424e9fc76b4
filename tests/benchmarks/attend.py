"""The output alone and traces of which some steps are kept, against PyTorch and onnxruntime (rows 5 to 10, 15)."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from versus import Figure, medians, versus

from attncli.attention import parallel
from attncli.problem.masks.causal import Causal
from attncli.problem.model import Mask, Matrix, Problem
from attncli.tracing import run

WIDTH = 64
SMALL, KEPT = ("output",), ("scores", "weights", "output")


def arrays(tokens: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    return {name: random.standard_normal((tokens, WIDTH)).astype(np.float32) for name in "QKV"}


def problem(given: dict[str, np.ndarray], causal: bool = False) -> Problem:
    labels = tuple(f"t{place + 1}" for place in range(len(given["Q"])))
    matrices = {name: Matrix(array.astype(np.float64)) for name, array in given.items()}
    return Problem("", labels, labels, matrices, Mask((Causal(),) * causal))


def output(given: Problem) -> np.ndarray:
    return run(given, dtype="float32", keep=SMALL)["output"]


def figures(tokens: int, rounds: int) -> Iterator[Figure]:
    given = arrays(tokens)
    plain, causal = problem(given), problem(given, causal=True)
    flash, math_path = _torch(given)
    yield versus(
        5, f"output, n = {tokens}, against torch's flash kernel", lambda: output(plain), flash, 0.95, rounds=rounds
    )
    if (runtime := _onnxruntime(given)) is not None:
        yield versus(
            6, f"output, n = {tokens}, against onnxruntime", lambda: output(plain), runtime, 1.2, rounds=rounds
        )
    yield _memory(2 * tokens)
    yield versus(
        8,
        f"causal output against our own full, n = {tokens}",
        lambda: output(causal),
        lambda: output(plain),
        0.6,
        rounds=rounds,
    )
    yield versus(9, f"a trace kept, n = {tokens}, against torch's math path, which keeps none",
                 lambda: run(plain, dtype="float32", keep=KEPT), math_path, 0.45, rounds=rounds)  # fmt: skip
    yield _error(given)
    yield from _growth(rounds)


def same_bits(tokens: int) -> bool:
    """Whether 1, 2 and 4 threads give the same output to the last bit."""
    given, available, found = problem(arrays(tokens)), parallel.thread_count, set()
    try:
        for threads in (1, 2, 4):
            parallel.thread_count = lambda threads=threads: threads
            found.add(output(given).tobytes())
    finally:
        parallel.thread_count = available
    return len(found) == 1


def _torch(given: dict[str, np.ndarray]) -> tuple[Any, Any]:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    torch.set_num_threads(parallel.thread_count())
    q, k, v = (torch.from_numpy(array)[None, None] for array in given.values())

    def by(backend: Any) -> Any:
        def attend() -> object:
            with sdpa_kernel(backend), torch.no_grad():
                return torch.nn.functional.scaled_dot_product_attention(q, k, v)

        return attend

    return by(SDPBackend.FLASH_ATTENTION), by(SDPBackend.MATH)


def _onnxruntime(given: dict[str, np.ndarray]) -> Any:
    try:
        import onnxruntime
        from onnx import TensorProto, helper
    except ImportError:
        return None
    names = ("query", "key", "value")
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, None, WIDTH]) for name in (*names, "output")]
    node = helper.make_node("MultiHeadAttention", list(names), ["output"], domain="com.microsoft", num_heads=1)
    graph = helper.make_graph([node], "attention", infos[:3], infos[3:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = parallel.thread_count()
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feed = dict(zip(names, (array[None] for array in given.values()), strict=True))
    return lambda: session.run(None, feed)


def _memory(tokens: int) -> Figure:
    """What is allocated beyond the problem, its float32 copies, and the output."""
    given = problem(arrays(tokens))
    output(problem(arrays(512)))
    tracemalloc.start()
    output(given)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    beyond = peak - 4 * tokens * WIDTH * 4
    return Figure(
        7, f"memory beyond inputs and output, n = {tokens}, against 32 MiB", beyond / 2**20, 32, 1, unit="MiB"
    )


def _error(given: dict[str, np.ndarray]) -> Figure:
    q, k, v = (array.astype(np.float64) for array in given.values())
    rows = slice(0, 1024)
    exp = np.exp(q[rows] @ k.T / math.sqrt(WIDTH))
    true = exp / exp.sum(axis=1, keepdims=True) @ v
    worst = float(np.abs(output(problem(given))[rows] - true).max())
    return Figure(10, "largest error of float32 against float64, in 1e-7, against 6", worst * 1e7, 6, 1, unit="e-7")


def _growth(rounds: int) -> Iterator[Figure]:
    sizes = (2048, 4096, 8192, 16384, 32768)
    problems = {size: problem(arrays(size)) for size in sizes}
    taken = medians({str(size): (lambda size=size: output(problems[size])) for size in sizes}, max(2, rounds // 2))
    for small, large in pairwise(sizes):
        yield Figure(15, f"output, n = {large} against 4 × n = {small}", taken[str(large)], 4 * taken[str(small)], 1.1)
