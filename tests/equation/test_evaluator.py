"""Evaluating equations on whole arrays, held against numpy.einsum and against plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.backend import Backend
from attncli.dtypes import DTYPES
from attncli.equation.evaluator import evaluate
from attncli.equation.parser import parse_equation, parse_expression
from attncli.equation.shapes import index_sizes, product_factors, product_text, shape_text
from tests.cases import in_one_test


def value(
    backend: Backend, source: str, *, sizes: Any = None, dtype: str = "float64", **known: Any
) -> np.ndarray:
    """The value of an equation from host arrays and scalars."""
    equation, number = parse_equation(source), DTYPES[dtype]
    arrays = {
        name: np.asarray(array, dtype=np.float64) for name, array in known.items() if np.ndim(array)
    }
    shapes = {name: array.shape for name, array in arrays.items()}
    return backend.to_host(
        evaluate(
            equation,
            arrays={name: backend.asarray(array, number) for name, array in arrays.items()},
            scalars={name: scalar for name, scalar in known.items() if name not in arrays}
            | {"inf": float("inf")},
            sizes={**index_sizes(equation, shapes), **(sizes or {})},
            xp=backend.xp,
            dtype=backend.computed(number),
        )
    )


LENGTHS = dict(zip("ijkl", (2, 3, 4, 5), strict=True))
axes = st.permutations("ijkl").flatmap(
    lambda letters: st.integers(1, 4).map(lambda count: tuple(letters[:count]))
)


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
    np.testing.assert_allclose(
        value(backend, f"{target} = {body}", A=a, B=b), expected, rtol=1e-12, atol=1e-12
    )


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


@in_one_test("dtype", ["float32", "float64"])
@in_one_test(
    "source", ["R[i, j] = where(j <= i, 0, -inf)", "R[i, j] = A[i, j] * c", "R[i, j] = i - j"]
)
def test_a_result_is_of_the_format_it_is_computed_in(
    backend: Backend, source: str, dtype: str
) -> None:
    assert value(backend, source, sizes={"i": 2, "j": 3}, dtype=dtype, A=A, c=4.0).dtype == dtype


@in_one_test(
    ("source", "expected"),
    [
        ("R[i, j] = sum(k, A[i, j])", 4 * A),
        ("R[i, j] = max(k, A[i, j])", A),
        ("R[i] = sum(k, A[i, 0] * A[i, 1])", [-8, 8]),
        ("R[i] = sum(j, 2 * A[i, j])", [4, 7]),
        ("R[i] = sum(j, A[i, j] * 2)", [4, 7]),
        ("R[i] = A[i, 0] + sum(j, 2)", [7, 6.5]),
        ("R[i] = W[i, i]", [1, 4]),
        ("R[i] = A[i, (i + 1) % 3]", [-2, -1]),
    ],
)
def test_sums_of_equal_numbers_and_cells_with_a_letter_twice(
    backend: Backend, source: str, expected: Any
) -> None:
    got = value(backend, source, sizes={"i": 2, "j": 3, "k": 4}, A=A, W=A[:, :2])
    np.testing.assert_allclose(got, expected, rtol=1e-15)


def test_sizes_are_read_off_the_arrays() -> None:
    equation = parse_equation("O[i, c] = sum(j, W[i, j] * V[j, c])")
    assert index_sizes(equation, {"W": (3, 4), "V": (4, 5)}) == {"i": 3, "j": 4, "c": 5}


def test_shapes_are_written_with_their_product() -> None:
    assert shape_text((3, 4)) == "3×4"
    assert product_text(((3, 4), (4, 2), (3, 2)), "x", "*") == "(3x4)*(4x2) = (3x2)"
    assert product_text(((3, 4),)) == "(3×4)"


def test_arrays_that_disagree_are_named_with_the_equation() -> None:
    equation = parse_equation("O[i, c] = sum(j, W[i, j] * V[j, c])")
    with pytest.raises(
        ValueError,
        match=r"^j runs to 4 and to 5 in 'O\[i, c\] = sum\(j, W\[i, j\] \* V\[j, c\]\)'$",
    ):
        index_sizes(equation, {"W": (3, 4), "V": (5, 2)})
    with pytest.raises(ValueError, match=r"^V has 1 axes in "):
        index_sizes(equation, {"W": (3, 4), "V": (4,)})


def test_the_factors_of_a_product() -> None:
    def factors(source: str) -> list[str]:
        return [
            f"{name}ᵀ" if turned else name
            for name, turned in product_factors(parse_expression(source))
        ]

    assert factors("X @ W_Q") == ["X", "W_Q"]
    assert factors("X @ W_Q + b_Q") == ["X", "W_Q"]
    assert factors("Q @ W_a @ K_T") == ["Q", "W_a", "K_T"]
    assert factors("v @ tanh(Q @ W_1 + K @ W_2)") == []
    assert factors("transposed(S) @ Q") == ["Sᵀ", "Q"]
    assert factors("sum(h, transposed(S) @ Q)") == []
    assert factors("Q @ transposed(W) + K @ transposed(W)") == []
    assert product_factors(parse_expression("scores / sqrt(d_k)")) == ()


random = np.random.default_rng(11)
K, Q = random.standard_normal((2, 4, 3)), random.standard_normal((6, 5, 3))
HEADS = random.standard_normal((3, 2, 4))
ROWS, NEW = random.standard_normal((2, 3)), random.standard_normal((3, 3))
ANGLES = random.standard_normal((7, 2))


@in_one_test(
    ("source", "sizes", "known", "expected"),
    [
        (
            "R[h, j, k] = K[h // group, j, k]",
            {"h": 6},
            {"K": K, "group": 3.0},
            np.repeat(K, 3, axis=0),
        ),
        (
            "R[h, k, j] = K[h // group, j, k]",
            {"h": 6},
            {"K": K, "group": 3.0},
            np.repeat(K, 3, axis=0).swapaxes(1, 2),
        ),
        (
            "R[h, i, j] = sum(k, Q[h, i, k] * K[h // group, j, k])",
            {},
            {"Q": Q, "K": K, "group": 3.0},
            np.einsum("hik,hjk->hij", Q, np.repeat(K, 3, axis=0)),
        ),
        (
            "R[i, e] = H[e // d_v, i, e % d_v]",
            {"e": 12},
            {"H": HEADS, "d_v": 4.0},
            HEADS.transpose(1, 0, 2).reshape(2, 12),
        ),
        (
            "R[i, o] = sum(e, H[e // d_v, i, e % d_v] * W[e, o])",
            {},
            {"H": HEADS, "d_v": 4.0, "W": np.arange(24.0).reshape(12, 2)},
            HEADS.transpose(1, 0, 2).reshape(2, 12) @ np.arange(24.0).reshape(12, 2),
        ),
        ("R[i, j] = A[0, j] + A[i, 1]", {"i": 3, "j": 3}, {"A": NEW}, NEW[0] + NEW[:, 1:2]),
        ("R = A[1, 2]", {}, {"A": NEW}, NEW[1, 2]),
        ("R[j] = A[j]", {"j": 2}, {"A": [5, 6, 7]}, [5, 6]),
        ("R[i, k] = A[2 - i, k]", {"i": 3}, {"A": NEW}, NEW[::-1]),
    ],
)
def test_positions_that_are_worked_out(
    backend: Backend, source: str, sizes: Any, known: Any, expected: Any
) -> None:
    np.testing.assert_allclose(
        value(backend, source, sizes=sizes, **known), expected, rtol=1e-13, atol=1e-14
    )


@in_one_test(
    ("source", "sizes", "known", "expected"),
    [
        (  # a cache before the new rows
            "K[j, k] = where(j < past, P[j, k], N[j - past, k])",
            {"j": 5},
            {"P": ROWS, "N": NEW, "past": 2.0},
            np.vstack([ROWS, NEW]),
        ),
        (
            "K[j, k] = where(j < past, P[j, k], N[j - past, k])",
            {"j": 3},
            {"P": NEW, "N": ROWS, "past": 3.0},
            NEW,
        ),
        (  # the partner in a pair, half a vector away
            "R[i, k] = where(k < half, -A[i, k + half], A[i, k - half])",
            {"i": 2, "k": 4},
            {"A": HEADS[0], "half": 2.0},
            np.hstack([-HEADS[0][:, 2:], HEADS[0][:, :2]]),
        ),
        (  # the partner in a pair, next to it
            "R[i, k] = where(k % 2 == 0, -A[i, k + 1], A[i, k - 1])",
            {"i": 2, "k": 4},
            {"A": HEADS[0]},
            np.stack([-HEADS[0][:, 1], HEADS[0][:, 0], -HEADS[0][:, 3], HEADS[0][:, 2]], axis=1),
        ),
        (  # an angle further down, one for each pair
            (
                "R[i, k] = where(k < half, A[i, k] * cos(T[i + past, k]), A[i, k] * sin(T[i + past,"
                " k - half]))"
            ),
            {"i": 2, "k": 4},
            {"A": HEADS[0], "T": ANGLES, "past": 5.0, "half": 2.0},
            HEADS[0] * np.hstack([np.cos(ANGLES[5:]), np.sin(ANGLES[5:])]),
        ),
    ],
)
def test_positions_outside_that_a_where_does_not_choose(
    backend: Backend, source: str, sizes: Any, known: Any, expected: Any
) -> None:
    np.testing.assert_allclose(value(backend, source, sizes=sizes, **known), expected, rtol=1e-13)


@in_one_test(
    ("body", "signature"),
    [
        ("A[i, a, k] * B[j, c, k]", "iak,jck->iajc"),  # several rows, several columns
        ("A[b, i, a, k] * B[b, j, c, k]", "biak,bjck->biajc"),
        ("A[b, h, i, k] * B[j, k]", "bhik,jk->bhij"),  # one for all entries and heads
        ("A[i, k] * B[b, h, j, k]", "ik,bhjk->ibhj"),
        ("A[h, i, k] * B[b, k, c]", "hik,bkc->hibc"),
        ("A[i, k] * B[i, k]", "ik,ik->i"),
        ("A[k] * B[b, k]", "k,bk->b"),
    ],
)
def test_rows_columns_and_batches_of_a_contraction(
    backend: Backend, body: str, signature: str
) -> None:
    lengths = {"a": 2, "b": 3, "c": 4, "h": 2, "i": 3, "j": 5, "k": 6}
    (left, right), kept = signature.split("->")[0].split(","), signature.split("->")[1]
    a, b = (random.standard_normal([lengths[axis] for axis in side]) for side in (left, right))
    for order in (kept, kept[::-1]):
        expected = np.einsum(f"{left},{right}->{order}", a, b)
        found = value(backend, f"R[{', '.join(order)}] = sum(k, {body})", A=a, B=b)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@in_one_test("dtype", ["float32", "float64"])
def test_what_is_looked_up_keeps_its_format(backend: Backend, dtype: str) -> None:
    found = value(
        backend, "R[h, j, k] = K[h // group, j, k]", sizes={"h": 6}, dtype=dtype, K=K, group=3.0
    )
    assert found.dtype == dtype


def test_a_where_between_arrays_of_other_lengths_does_not_say_how_far_an_index_runs() -> None:
    """The length comes from elsewhere, as that of K from the plan: a cache of two and three new
    rows are five.
    """
    equation = parse_equation("K[j, k] = where(j < past, P[j, k], N[j - past, k])")
    assert index_sizes(equation, {"P": (2, 3), "N": (3, 3)})["k"] == 3
    masked = parse_equation("R[i, j] = A[i, j] + where(j < 2, B[j], C[j])")
    assert index_sizes(masked, {"A": (2, 5), "B": (2,), "C": (3,)}) == {"i": 2, "j": 5}
