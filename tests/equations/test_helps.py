"""What people write in other notations is refused with the form that is right here."""

from __future__ import annotations

import re
from typing import Any

import pytest

import attncli
from tests.cases import in_one_test

QKV: dict[str, Any] = {"Q": [[1, 0], [0, 1]], "K": [[1, 2], [2, 1]], "V": [[1], [2]]}


@in_one_test(
    ("right", "help"),
    [
        ("sum(k, Q[i, k] * K[j, k]) / sqrt(dk)", "write d_k"),
        ("Q[i, 0] / sqrt(d)", "write d_k, the length of a key"),
        ("Q[i, 0] / n", "write n_j, the number of keys"),
        ("π * Q[i, 0]", "write pi"),
        (r"\pi * Q[i, 0]", "write pi"),
        ("Q_ik", "write Q[i, k]"),
        ("Q(i, j)", "a cell has square brackets: write Q[i, j]"),
        ("softmax(scaled)", "name the letter that it runs over: softmax(j, scaled[i, j])"),
        ("max(K[j, k])", "name the letter that it runs over: max(k, K[j, k])"),
        (
            "scaled[i, j] / sum(scaled[i, j])",
            "name the letter that it runs over: sum(t, scaled[i, t])",
        ),
        ("sum(Q[i, k], k)", "name the letter that it runs over: sum(k, Q[i, k])"),
        ("sum(Q[i, t] for t in range(2))", "name the letter that it runs over: sum(t, Q[i, t])"),
        (
            "sum(Q[i, t] for t in range(2) if t < i)",
            "name the letter that it runs over: sum(t, where(t < i, Q[i, t], 0))",
        ),
        (
            "sum(j < i, scaled[i, j])",
            "name the letter that it runs over: sum(t, where(t < i, scaled[i, t], 0))",
        ),
        ("sum(t, u, K[t, u])", "write sum(t, sum(u, K[t, u]))"),
        (
            "sum(t=0..3, K[t, 0])",
            "write sum(t, …), and where(condition, …, 0) inside for a part of it",
        ),
        ("sum_k Q[i, k]", "write sum(k, …)"),
        ("Σ_k Q[i, k]", "write sum(k, …)"),
        (r"\frac{Q[i, 0]}{2}", r"write a / b for \frac{a}{b}"),
        ("Q_{i0}", "write the indices in brackets: scores[i, j]"),
        ("np.sum(Q[i, k])", "write sum(k, Q[i, k])"),
        ("Q[i, k].max()", "write max(k, Q[i, k])"),
        ("Q[i, 0] * K.T[0, j]", "write K[j, 0]"),
        ("K[j, 0] if j <= i else 0", "write where(j <= i, K[j, 0], 0)"),
        ("where(not j <= i, 1, 0)", "write where(j <= i, 0, 1)"),
        ("where(j != i, 1, 0)", "write where(j == i, 0, 1)"),
        ("where(0 <= j < i, 1, 0)", "write 0 <= j and j < i"),
        ("where(j <= i & j < 1, 1, 0)", "write j <= i and j < 1"),
        ("where((j <= i) & (j < 1), 1, 0)", "write (j <= i) and (j < 1)"),
        ("where(j <= i | j < 1, 1, 0)", "write j <= i or j < 1"),
        ("where((j <= i) | (j < 1), 1, 0)", "write (j <= i) or (j < 1)"),
        ("where(j <= i || j < 1, 1, 0)", "write or: i < 1 or i < j"),
        ("where(j <= i && j < 1, 1, 0)", "write and: 0 <= i and i < j"),
        ("tanh Q[i, 0]", "write tanh(…)"),
        ("floor(Q[i, 0])", "write x // 1"),
        ("logsumexp(k, Q[i, k])", "write log(sum(j, exp(x[i, j])))"),
        (
            "sum(Q[i, k] * K[j, k])",
            "name the letter that it runs over: sum(k, Q[i, k] * K[j, k])",
        ),
        ("Q @ K.T", "write the product with indices: sum(k, Q[i, k] * K[j, k])"),
        ("Q[i, 0] ^ 2", "write ** for a power: x ** 2"),
        ("Q[i, k] * K[j, k]", "put it on the left side, or write sum(k, …)"),
        ("Q[i, min(j, 1)]", "of two numbers, a position stands last: min(1, j)"),
        ("pow(Q[i, 0], 2)", "write ** for a power: x ** 2"),
        ("norm(Q[i, 0])", "write sqrt(sum(k, x[k] ** 2)), with the letter that it runs over"),
        ("np.exp(Q[i, 0])", "write exp(x)"),
        ("Q[i][0]", "write Q[i, 0]"),
        ("2 Q[i, 0]", "write * between them: 2 * …"),
        ("2(Q[i, 0])", "write *: 2 * (…)"),
        ("|Q[i, 0]|", "write abs(x) for the size of x"),
        ("ln(Q[i, 0])", "write log(x)"),
        ("Q[i, 0] × 2", "write *"),
        ("(j <= i) + 1", "it stands first in a choice: write where(j <= i, 1, 0)"),
        ("where(Q[i, 0] and j <= i, 1, 0)", "write 0 < Q[i, 0]"),
        ("A[i, j]", "write weights[i, j]: A is its symbol on the page"),
    ],
)
def test_the_help_has_the_right_form(right: str, help: str) -> None:
    with pytest.raises(attncli.AttncliError) as caught:
        attncli.trace(**QKV, equations=[f"scores[i, j] = {right}"])
    assert caught.value.help == help


@in_one_test(
    ("equation", "message", "help"),
    [
        ("scaled(i, j) = scores[i, j]", "a cell has square brackets", "write scaled[i, j] = …"),
        (
            "scaled[i][j] = scores[i, j]",
            "the left side must be a name with letters",
            "write scaled[i, j] = …",
        ),
        ("scaled[i, j] := scores[i, j]", ":= is no sign here", "write ="),
        (
            "scaled[i, j] == scores[i, j]",
            "== compares, and defines nothing",
            "write = between cell and expression",
        ),
        (
            "scaled[i, j] += scores[i, j]",
            "a step is worked out once, and not changed",
            "write one = and all of it",
        ),
        (
            "for i in Q: scaled[i, j] = 1",
            "for cannot be read",
            "write the equation alone: it holds for every place of its letters",
        ),
        (
            "scaled[i, j] = 1; weights[i, j] = 2",
            "two equations stand in one text",
            "write each as an equation of its own",
        ),
    ],
)
def test_what_defines_no_cell(equation: str, message: str, help: str) -> None:
    with pytest.raises(attncli.AttncliError, match=re.escape(message)) as caught:
        attncli.trace(**QKV, equations=[equation])
    assert caught.value.help == help


@in_one_test(
    "right",
    [
        "sum(t, where(t < i, scaled[i, t], 0))",
        "where(j <= i, 1, where(j < 1, 1, 0))",
        "where((j <= i) and (j < 1), 1, 0)",
        "where(scaled[i, j] == 0, 0, where(scaled[i, j] < 0, -1, 1))",
        "-(-scaled[i, j] // 1) + (scaled[i, j] + 0.5) // 1 + log(sum(t, exp(scaled[i, t])))",
        "where(scaled[i, j] == max(t, scaled[i, t]), 1, 0) * n_c * n_i * n_j",
    ],
)
def test_what_the_helps_say_can_be_written(right: str) -> None:
    attncli.trace(**QKV, equations=[f"it[i, j] = {right}"], result="it")


@in_one_test(
    ("name", "free"),
    [
        ("hidden", "my_hidden"),
        ("delta", "my_delta"),
        ("target", "my_target"),
        ("loss", "my_loss"),
        ("d_v", "my_v"),
        ("past_K", "my_past_K"),
        ("past_V", "my_past_V"),
        ("lambda", "my_lambda"),
        ("v", "V or my_v"),
    ],
)
def test_a_name_that_is_taken_comes_with_a_free_one(name: str, free: str) -> None:
    """Of a step; and that name can be used."""
    equations = ["NAME[i, j] = 2 * scores[i, j]", "scaled[i, j] = NAME[i, j]"]
    with pytest.raises(attncli.AttncliError) as caught:
        attncli.trace(**QKV, equations=[each.replace("NAME", name) for each in equations])
    assert (caught.value.help or "").endswith(free)
    used = free.split()[-1]
    trace = attncli.trace(**QKV, equations=[each.replace("NAME", used) for each in equations])
    assert (trace["scaled"] == 2 * trace["scores"]).all()


@pytest.mark.parametrize(
    ("cell", "free"),
    [
        ("W_1", "my_W_1"),
        ("scale", "my_scale"),
        ("hidden", "my_hidden"),
        ("lambda", "my_lambda"),
    ],
)
def test_an_array_whose_name_is_taken_has_a_free_one(cell: str, free: str) -> None:
    with pytest.raises(attncli.AttncliError) as caught:
        attncli.trace(
            **QKV, arrays={cell: 2.0}, equations=[f"scaled[i, j] = {cell} * scores[i, j]"]
        )
    assert (caught.value.help or "").endswith(f"such as {free}")
    attncli.trace(**QKV, arrays={free: 2.0}, equations=[f"scaled[i, j] = {free} * scores[i, j]"])
