"""Evaluating equations on whole arrays, held against numpy.einsum and against plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.backend import CPU, Backend
from attncli.choices import DTYPES
from attncli.equation.evaluate import evaluate
from attncli.equation.parse import parse_equation, parse_expression
from attncli.equation.shapes import index_sizes, product_factors


def value(backend: Backend, source: str, *, sizes: Any = None, dtype: str = "float64", **known: Any) -> np.ndarray:
    """The value of an equation from host arrays and scalars."""
    equation, number = parse_equation(source), DTYPES[dtype]
    arrays = {name: np.asarray(array, dtype=np.float64) for name, array in known.items() if np.ndim(array)}
    shapes = {name: array.shape for name, array in arrays.items()}
    return backend.to_host(
        evaluate(
            equation,
            arrays={name: backend.asarray(array, number) for name, array in arrays.items()},
            scalars={name: scalar for name, scalar in known.items() if name not in arrays} | {"inf": float("inf")},
            sizes={**index_sizes(equation, shapes), **(sizes or {})},
            xp=backend.xp,
            dtype=backend.computed(number),
        )
    )


LENGTHS = dict(zip("ijkl", (2, 3, 4, 5), strict=True))
axes = st.permutations("ijkl").flatmap(lambda letters: st.integers(1, 4).map(lambda count: tuple(letters[:count])))


@given(left=axes, right=axes, data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_products_are_those_of_einsum(
    backend: Backend, left: tuple[str, ...], right: tuple[str, ...], data: st.DataObject, seed: int
) -> None:
    every = data.draw(st.permutations(sorted({*left, *right})))
    kept = every[: data.draw(st.integers(0, len(every)))]
    body = f"A[{', '.join(left)}] * B[{', '.join(right)}]"
    for index in every[len(kept) :]:
        body = f"sum({index}, {body})"
    random = np.random.default_rng(seed)
    a, b = (random.standard_normal([LENGTHS[axis] for axis in side]) for side in (left, right))
    target = f"R[{', '.join(kept)}]" if kept else "R"
    expected = np.einsum(f"{''.join(left)},{''.join(right)}->{''.join(kept)}", a, b)
    np.testing.assert_allclose(value(backend, f"{target} = {body}", A=a, B=b), expected, rtol=1e-12, atol=1e-12)


A = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("R[j, i] = A[i, j]", A.T),
        ("R[i] = max(j, A[i, j])", [3, 4]),
        ("R[i] = sum(j, A[i, j])", [2, 3.5]),
        ("R[i, j] = A[i, j] / sqrt(c)", A / 2),
        ("R[i, j] = c * tanh(A[i, j] / c)", 4 * np.tanh(A / 4)),
        ("R[i, j] = c ** A[i, j]", 4**A),
        ("R[i, j] = -A[i, j] + b[j]", -A + [10, 20, 30]),
        ("R[i, j] = where(j <= i, A[i, j], -inf)", [[1, -np.inf, -np.inf], [0.5, 4, -np.inf]]),
        ("R[i, j] = where(j < c and j == i, 0, 1)", [[0, 1, 1], [1, 0, 1]]),
        ("R[i, j] = max(A[i, j], 0)", [[1, 0, 3], [0.5, 4, 0]]),
        ("R[i, j] = c", [[4, 4, 4], [4, 4, 4]]),
        ("R[i, j] = i - j", [[0, -1, -2], [1, 0, -1]]),
        ("R[i, j] = b[j]", [[10, 20, 30]] * 2),
    ],
)
def test_every_kind_of_step(backend: Backend, source: str, expected: Any) -> None:
    if "max(A" in source and backend.device == "strict":
        pytest.skip("the standard's maximum takes no bare numbers; no rule asks for it")
    got = value(backend, source, sizes={"i": 2, "j": 3}, A=A, b=[10, 20, 30], c=4.0)
    np.testing.assert_allclose(got, expected, rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("source", ["R[i, j] = where(j <= i, 0, -inf)", "R[i, j] = A[i, j] * c", "R[i, j] = i - j"])
def test_a_result_is_of_the_format_it_is_computed_in(backend: Backend, source: str, dtype: str) -> None:
    assert value(backend, source, sizes={"i": 2, "j": 3}, dtype=dtype, A=A, c=4.0).dtype == dtype


def test_a_sum_over_an_index_that_nothing_depends_on_is_a_fault() -> None:
    with pytest.raises(TypeError, match=r"^nothing in the body of the reduction depends on k$"):
        value(CPU, "R[i, j] = sum(k, A[i, j])", A=A)


def test_sizes_are_read_off_the_arrays() -> None:
    equation = parse_equation("O[i, c] = sum(j, W[i, j] * V[j, c])")
    assert index_sizes(equation, {"W": (3, 4), "V": (4, 5)}) == {"i": 3, "j": 4, "c": 5}


def test_arrays_that_disagree_are_named_with_the_equation() -> None:
    equation = parse_equation("O[i, c] = sum(j, W[i, j] * V[j, c])")
    with pytest.raises(ValueError, match=r"^j runs to 4 and to 5 in 'O\[i, c\] = sum\(j, W\[i, j\] \* V\[j, c\]\)'$"):
        index_sizes(equation, {"W": (3, 4), "V": (5, 2)})
    with pytest.raises(ValueError, match=r"^V has 1 axes in "):
        index_sizes(equation, {"W": (3, 4), "V": (4,)})


def test_the_factors_of_a_product() -> None:
    assert product_factors(parse_expression("X @ W_Q")) == ("X", "W_Q")
    assert product_factors(parse_expression("X @ W_Q + b_Q")) == ("X", "W_Q")
    assert product_factors(parse_expression("Q @ W_a @ K_T")) == ("Q", "W_a", "K_T")
    assert product_factors(parse_expression("v @ tanh(Q @ W_1 + K @ W_2)")) == ()
    assert product_factors(parse_expression("scores / sqrt(d_k)")) == ()
