"""Gradients as equations: those that textbooks print, and numbers held against central
differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attncli.equation.differentiation import Reader, gradient_of
from attncli.equation.evaluator import evaluate
from attncli.equation.indexing import IndexSpace
from attncli.equation.matrix_form import matrix_form
from attncli.equation.nodes import Equation, Ref, walk
from attncli.equation.notation import PYTHON
from attncli.equation.parser import parse_equation
from attncli.equation.printer import write, write_equation
from attncli.equation.shapes import index_sizes
from tests.cases import in_one_test

LENGTHS = dict(zip("abcdeghijkopqsu", (2, 2, 2, 2, 8, 2, 4, 3, 5, 4, 3, 4, 2, 4, 1), strict=True))
SCALARS = {
    "half": 2,
    "past": 1,
    "group": 2,
    "d_v": 2,
    "d_k": 4,
    "softcap": 5.0,
    "scale": 0.5,
    "base": 2.0,
}
LEADING = "bhgq"


def backward(array: str, *sources: str) -> Equation:
    """The gradient of an array, such as Q[i, k], by the equations that read it."""
    cell, equations = (
        parse_equation(f"{array} = 0").target,
        [parse_equation(source) for source in sources],
    )
    reads = [Reader(each, Ref(f"d_{each.target.name}", each.target.indices)) for each in equations]
    shape = [LENGTHS[letter] for letter in cell.letters]
    return gradient_of(cell, shape, f"d_{cell.name}", reads, IndexSpace(LENGTHS, SCALARS))


SCORES = "S[i, j] = sum(k, Q[i, k] * K[j, k])"
GROUPED = "S[b, h, i, j] = sum(k, Q[b, h, i, k] * K[b, h // group, j, k])"
LUONG = "S[i, j] = sum(k, sum(p, Q[i, p] * W_a[p, k]) * K[j, k])"
CACHED = "K[j, k] = where(j < past, past_K[j, k], new_K[j - past, k])"
HALVES = (
    "R[i, k] = where(k < half, Q[i, k] * cos(t[i + past, k]) - Q[i, k + half] * sin(t[i + past,"
    " k]), Q[i, k] * cos(t[i + past, k - half]) + Q[i, k - half] * sin(t[i + past, k - half]))"
)
PAIRS = (
    "R[i, k] = where(k % 2 == 0, Q[i, k] * cos(t[i, k // 2]) - Q[i, k + 1] * sin(t[i, k // 2]), "
    "Q[i, k] * cos(t[i, k // 2]) + Q[i, k - 1] * sin(t[i, k // 2]))"
)
INPUT = (
    "Q[i, k] = sum(d, X[i, d] * W_Q[d, k])",
    "K[j, k] = sum(d, X[j, d] * W_K[d, k])",
    "V[j, c] = sum(d, X[j, d] * W_V[d, c]) + b_V[c]",
)

AS_PRINTED = [  # the array, what reads it, its gradient, and the same in matrices
    (
        "V[j, c]",
        ("O[i, c] = sum(j, A[i, j] * V[j, c])",),
        "d_V[j, c] = sum(i, A[i, j] * d_O[i, c])",
        "transposed(A) @ d_O",
    ),
    (
        "A[i, j]",
        ("O[i, c] = sum(j, A[i, j] * V[j, c])",),
        "d_A[i, j] = sum(c, d_O[i, c] * V[j, c])",
        "d_O @ transposed(V)",
    ),
    ("Q[i, k]", (SCORES,), "d_Q[i, k] = sum(j, d_S[i, j] * K[j, k])", "d_S @ K"),
    ("K[j, k]", (SCORES,), "d_K[j, k] = sum(i, d_S[i, j] * Q[i, k])", "transposed(d_S) @ Q"),
    (
        "W_Q[h, d, k]",
        ("Q[b, h, i, k] = sum(d, X[b, i, d] * W_Q[h, d, k])",),
        "d_W_Q[h, d, k] = sum(b, sum(i, X[b, i, d] * d_Q[b, h, i, k]))",
        "sum(b, transposed(X) @ d_Q)",
    ),
    ("b_V[c]", INPUT[2:], "d_b_V[c] = sum(j, d_V[j, c])", "column_sums(d_V)"),
    (
        "S[i, j]",
        ("Z[i, j] = S[i, j] / sqrt(d_k)",),
        "d_S[i, j] = d_Z[i, j] / sqrt(d_k)",
        "d_Z / sqrt(d_k)",
    ),
    ("S[i, j]", ("Z[i, j] = S[i, j] * scale",), "d_S[i, j] = d_Z[i, j] * scale", "d_Z * scale"),
    (
        "S[i, j]",
        ("C[i, j] = softcap * tanh(S[i, j] / softcap)",),
        "d_S[i, j] = d_C[i, j] * (1 - tanh(S[i, j] / softcap) ** 2)",
        "hadamard(d_C, 1 - tanh(S / softcap) ** 2)",
    ),
    (
        "S[i, j]",
        ("Z[i, j] = add_mask(S[i, j] + B[i, j], M[i, j])",),
        "d_S[i, j] = where(M[i, j] == -inf, 0, d_Z[i, j])",
        None,
    ),
    (
        "S[i, j]",
        ("Z[b, i, j] = add_mask(S[i, j], M[b, i, j])",),
        "d_S[i, j] = sum(b, where(M[b, i, j] == -inf, 0, d_Z[b, i, j]))",
        None,
    ),
    ("S[i, j]", ("E[i, j] = exp(S[i, j])",), "d_S[i, j] = d_E[i, j] * E[i, j]", "hadamard(d_E, E)"),
    (
        "S[i, j]",
        ("E[i, j] = base ** S[i, j]",),
        "d_S[i, j] = d_E[i, j] * log(base) * E[i, j]",
        "hadamard(d_E * log(base), E)",
    ),
    (
        "K[b, g, j, k]",
        (GROUPED,),
        "d_K[b, g, j, k] = sum(q, sum(i, d_S[b, g * group + q, i, j] * Q[b, g * group + q, i, k]))",
        "sum(q, transposed(d_S) @ Q)",
    ),
    (
        "Q[i, k]",
        (LUONG,),
        "d_Q[i, p] = sum(k, sum(j, d_S[i, j] * K[j, k]) * W_a[p, k])",
        "d_S @ K @ transposed(W_a)",
    ),
    (
        "K[j, k]",
        (LUONG,),
        "d_K[j, k] = sum(p, sum(i, d_S[i, j] * Q[i, p]) * W_a[p, k])",
        "transposed(d_S) @ Q @ W_a",
    ),
    (
        "W_a[p, k]",
        (LUONG,),
        "d_W_a[p, k] = sum(j, sum(i, Q[i, p] * d_S[i, j]) * K[j, k])",
        "transposed(Q) @ d_S @ K",
    ),
    ("new_K[s, k]", (CACHED,), "d_new_K[s, k] = d_K[s + past, k]", None),
    ("past_K[u, k]", (CACHED,), "d_past_K[u, k] = d_K[u, k]", "d_K"),
    (
        "H[h, i, c]",
        ("concat[i, e] = H[e // d_v, i, e % d_v]",),
        "d_H[h, i, c] = d_concat[i, h * d_v + c]",
        None,
    ),
    (
        "Q[i, k]",
        (HALVES,),
        (
            "d_Q[i, k] = where(k < half, d_R[i, k] * cos(t[i + past, k]) + d_R[i, k + half] *"
            " sin(t[i + past, k]), d_R[i, k] * cos(t[i + past, k - half]) - d_R[i, k - half] *"
            " sin(t[i + past, k - half]))"
        ),
        None,
    ),
    (
        "Q[i, k]",
        (PAIRS,),
        (
            "d_Q[i, k] = where(k % 2 == 0, d_R[i, k] * cos(t[i, k // 2]) + d_R[i, k + 1] * sin(t[i,"
            " k // 2]), d_R[i, k] * cos(t[i, k // 2]) - d_R[i, k - 1] * sin(t[i, k // 2]))"
        ),
        None,
    ),
    (
        "X[i, d]",
        INPUT,
        (
            "d_X[i, d] = sum(k, d_Q[i, k] * W_Q[d, k]) + sum(k, d_K[i, k] * W_K[d, k]) + sum(c,"
            " d_V[i, c] * W_V[d, c])"
        ),
        "d_Q @ transposed(W_Q) + d_K @ transposed(W_K) + d_V @ transposed(W_V)",
    ),
    (
        "v[a]",
        ("S[i, j] = sum(a, v[a] * tanh(U[i, j, a]))",),
        "d_v[a] = sum(i, sum(j, d_S[i, j] * tanh(U[i, j, a])))",
        None,
    ),
    (
        "s[h]",
        ("r[b, h, i] = sum(j, E[b, h, i, j]) + exp(s[h] - m[b, h, i])",),
        "d_s[h] = sum(b, sum(i, d_r[b, h, i] * exp(s[h] - m[b, h, i])))",
        None,
    ),
    (
        "S[i, j]",
        ("T[i, j] = where(B[i, j] < 1, S[i, j], 3)",),
        "d_S[i, j] = where(B[i, j] < 1, d_T[i, j], 0)",
        None,
    ),
    (
        "S[i, j]",
        ("T[i, j] = where(B[i, j] < 1, 3, S[i, j])",),
        "d_S[i, j] = where(B[i, j] < 1, 0, d_T[i, j])",
        None,
    ),
    ("S[i, j]", ("T[i, j, k] = S[i, j] + U[k]",), "d_S[i, j] = sum(k, d_T[i, j, k])", None),
]


@in_one_test(("array", "sources", "gradient", "headline"), AS_PRINTED)
def test_gradients_read_as_textbooks_print_them(
    array: str, sources: tuple[str, ...], gradient: str, headline: str | None
) -> None:
    found = backward(array, *sources)
    assert write_equation(found, PYTHON) == gradient
    assert parse_equation(gradient) == found
    form = matrix_form(found, LEADING)
    assert (None if form is None else write(form, PYTHON)) == headline


@in_one_test(
    ("array", "source"), [(array, each) for array, all_, *_ in AS_PRINTED for each in all_[:1]]
)
def test_gradients_are_central_differences(array: str, source: str) -> None:
    random, forward = np.random.default_rng(7), parse_equation(source)
    gradient, cell = backward(array, source), parse_equation(f"{array} = 0").target
    shapes = shapes_of(source) | {cell.name: tuple(LENGTHS[letter] for letter in cell.letters)}
    arrays = {name: random.uniform(0.5, 1.5, size=shape) for name, shape in shapes.items()}
    upstream = random.normal(size=tuple(LENGTHS[letter] for letter in forward.target.letters))

    def loss(arrays: dict[str, Any]) -> float:
        return float((work(forward, arrays) * upstream).sum())

    known = arrays | {
        forward.target.name: work(forward, arrays),
        f"d_{forward.target.name}": upstream,
    }
    ours = work(gradient, known)
    for place in np.ndindex(arrays[cell.name].shape):
        near = [arrays | {cell.name: moved(arrays[cell.name], place, by)} for by in (1e-6, -1e-6)]
        assert ours[place] == pytest.approx(
            (loss(near[0]) - loss(near[1])) / 2e-6, rel=1e-6, abs=1e-6
        )


def moved(array: np.ndarray, place: tuple[int, ...], by: float) -> np.ndarray:
    found = array.copy()
    found[place] += by
    return found


def work(equation: Equation, arrays: dict[str, Any]) -> np.ndarray:
    sizes = index_sizes(equation, {name: array.shape for name, array in arrays.items()}) | {
        letter: LENGTHS[letter] for letter in "hgqsuijkce"
    }
    return np.asarray(
        evaluate(
            equation,
            arrays=arrays,
            scalars=SCALARS | {"inf": np.inf},
            sizes=sizes,
            xp=np,
            dtype=np.float64,
        )
    )


def shapes_of(source: str) -> dict[str, tuple[int, ...]]:
    """The shape of every array that an equation reads; of one read at a computed place, as far as
    that goes.
    """
    found: dict[str, tuple[int, ...]] = {}
    computed = {"past_K": (1, 4), "new_K": (4, 4), "t": (4, 2), "H": (4, 3, 2)}
    for node in walk(parse_equation(source).expression):
        if isinstance(node, Ref):
            plain = tuple(LENGTHS[index] if isinstance(index, str) else 2 for index in node.indices)
            found[node.name] = computed.get(node.name, plain)
    return found


@pytest.mark.parametrize(
    "source",
    [
        "R[i, j] = sum(k, A[k] * B[k, j])",
        "R[i, j] = sum(k, A[i, k] * B[j])",
        "R[i, j] = sum(k, A[i, j, k])",
    ],
)
def test_what_is_no_product_of_matrices_has_no_headline(source: str) -> None:
    assert matrix_form(parse_equation(source), "") is None


def test_what_nothing_reads_receives_nothing() -> None:
    assert write_equation(backward("S[i, j]"), PYTHON) == "d_S[i, j] = 0"


@pytest.mark.parametrize("power", ["exp(S[i, j])", "base ** S[i, j]"])
def test_the_softmax_as_a_whole_is_the_chain_through_its_parts(power: str) -> None:
    """dS = A ∘ (dA - rowsum(dA ∘ A)), and what comes of the division, the row sums and the
    exponentials one by one.
    """
    random = np.random.default_rng(3)
    exponentials, sums, shares = (
        f"E[i, j] = {power}", "r[i] = sum(j, E[i, j])", "A[i, j] = share(E[i, j], r[i])"
    )  # fmt: skip
    arrays = {"S": random.normal(size=(3, 5)), "d_A": random.normal(size=(3, 5))}
    arrays["S"][1] = -np.inf  # a row that sees nothing
    arrays["S"][2, 0] = -np.inf
    for source in (exponentials, sums, shares):
        forward = parse_equation(source)
        arrays[forward.target.name] = work(forward, arrays)
    for equation in (
        backward("r[i]", shares),
        backward("E[i, j]", sums, shares),
        backward("S[i, j]", exponentials),
    ):
        arrays[equation.target.name] = work(equation, arrays)
    weights, upstream = arrays["A"], arrays["d_A"]
    slope = 1 if power.startswith("exp") else np.log(SCALARS["base"])
    whole = slope * weights * (upstream - (weights * upstream).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(arrays["d_S"], whole, rtol=1e-12, atol=1e-15)
    assert not arrays["d_S"][1].any()


@pytest.mark.parametrize(
    ("source", "gradient"),
    [
        ("T[i, j] = Q[i * 2, j]", "d_Q[k, d] = sum(i, where(i * 2 == k, d_T[i, d], 0))"),
        ("T[i] = Q[i, i]", "d_Q[k, d] = where(k == d, d_T[k], 0)"),
        ("T[i] = Q[i, 0]", "d_Q[k, d] = where(0 == d, d_T[k], 0)"),
        (
            "T[i, j] = sum(k, P[k] * Q[i - j + 2, 1])",
            "d_Q[k, d] = sum(i, sum(j, sum(l, where(i - j + 2 == k, where(1 == d, d_T[i, j] * P[l],"
            " 0), 0))))",
        ),
    ],
)
def test_an_index_that_cannot_be_turned_round_is_a_condition(source: str, gradient: str) -> None:
    """By hand: a cell receives what comes to all places whose position is its own."""
    assert backward("Q[k, d]", source) == parse_equation(gradient)
