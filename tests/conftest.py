"""What many tests share: problems built in a line, and the array namespaces that everything runs on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest

from attncli.backend import CPU, Backend, backend_for
from attncli.errors import AttncliError
from attncli.problem.axes import sizes
from attncli.problem.model import GIVEN, Mask, MaskPart, Matrix, Problem, Rope, Scalar
from attncli.problem.numbers import as_float

hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, database=None, max_examples=100)
hypothesis.settings.register_profile("explore", deadline=None, database=None, max_examples=2000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def as_matrix(rows: Any) -> Matrix:
    """Nested numbers, or nested strings such as "1/3", which are kept as they were written."""
    array = np.asarray(rows)
    if array.dtype.kind != "U":
        return Matrix(array.astype(np.float64))
    values = np.vectorize(as_float, otypes=[np.float64])(array)
    return Matrix(values, array.astype(object))


def as_scalar(number: Any) -> Scalar:
    """A number, or a string such as "1/3", which is kept as it was written."""
    return Scalar(as_float(number), number) if isinstance(number, str) else Scalar.of(number)


def build_problem(
    *, mask: tuple[MaskPart, ...] = (), corner: Any = "top-left", title: str = "", tokens: Any = None,
    context_tokens: Any = None, score: Any = "scaled_dot", scale: Any = "default", softcap: Any = None,
    exp_base: Any = None, sink: Any = None, rope: Any = None, alibi: bool = False, slope: Any = None,
    joined: bool = False, **given: Any,
) -> Problem:  # fmt: skip
    """A problem from its arrays by name and its settings; tokens are t1, t2, … where none are given.

    `rope` is (theta, pairing); heads and batch entries are axes of the arrays, `slopes` and a `sink` per head too.
    """
    per_head = {} if np.ndim(sink) == 0 else {"sink": sink}
    given |= per_head
    matrices = {name: as_matrix(given[name]) for name in sorted(given, key=GIVEN.index)}
    queries, keys = sizes(matrices)
    tokens = tuple(tokens or (f"t{place + 1}" for place in range(queries)))
    context = tuple(context_tokens or (tokens if keys == queries else (f"c{place + 1}" for place in range(keys))))
    scale = scale if scale in ("default", "none") else as_scalar(scale)
    numbers = (softcap, exp_base, None if per_head else sink, slope)
    cap, base, rest, loss = (None if number is None else as_scalar(number) for number in numbers)
    turned = rope and Rope(as_scalar(rope[0]), rope[1])
    return Problem(
        title, tokens, context, matrices, Mask(mask, corner), score, scale, cap, base, rest, turned, alibi, loss, joined
    )


@pytest.fixture(scope="session")
def problem() -> Callable[..., Problem]:
    """`problem(Q=…, K=…, V=…, mask=(Causal(),), …)` builds one."""
    return build_problem


@pytest.fixture(scope="session")
def matrix() -> Callable[[Any], Matrix]:
    """`matrix(rows)` freezes numbers, or numbers as written."""
    return as_matrix


@pytest.fixture(scope="session")
def love() -> Problem:
    """The textbook example "I love AI": three tokens, four features, keys of length 3."""
    return build_problem(
        title="I love AI",
        tokens=("I", "love", "AI"),
        X=[[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]],
        W_Q=[[1, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 1]],
        W_K=[[0, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 0]],
        W_V=[[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]],
    )


@pytest.fixture(scope="session", params=["numpy", "strict", pytest.param("cupy", marks=pytest.mark.gpu)])
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each array namespace in turn: NumPy, the bare array API standard, and CuPy where there is a GPU."""
    if request.param == "numpy":
        return CPU
    if request.param == "strict":
        strict = pytest.importorskip("array_api_strict")
        return Backend(strict, "strict", np.asarray)
    try:
        return backend_for("gpu")
    except AttncliError as error:
        pytest.skip(error.message)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update", action="store_true", help="write the golden files anew; read the difference before committing"
    )


@pytest.fixture(scope="session")
def katex_modules() -> Path:
    """Where npm put KaTeX (`npm install --prefix .ci katex`); skips without it or without Node.js."""
    modules = Path(__file__).parents[1] / ".ci" / "node_modules"
    if not (modules / "katex").is_dir() or shutil.which("node") is None:
        pytest.skip("needs Node.js and KaTeX: npm install --prefix .ci katex")
    return modules
