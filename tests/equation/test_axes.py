"""Heads and batches: an equation of one head lifted to all is that equation worked for each of
them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from attncli.backend import Backend
from attncli.dtypes import DTYPES
from attncli.equation.evaluator import evaluate
from attncli.equation.indexing import add_axes, fix_axes, is_fixed
from attncli.equation.notation import PYTHON
from attncli.equation.parser import parse_equation, parse_expression
from attncli.equation.printer import write, write_equation
from attncli.equation.shapes import index_sizes
from tests.cases import in_one_test

ORDER = ("b", "h", "g")
SHARED = {"g": parse_expression("h // group")}
SCORES = "S[i, j] = sum(k, Q[i, k] * K[j, k])"


@in_one_test(
    ("source", "leads", "lifted"),
    [
        (SCORES, {}, SCORES),
        (SCORES, {"other": "bh"}, SCORES),
        (SCORES, {"Q": "h", "K": "h"}, "S[h, i, j] = sum(k, Q[h, i, k] * K[h, j, k])"),
        (SCORES, {"Q": "bh", "K": "bh"}, "S[b, h, i, j] = sum(k, Q[b, h, i, k] * K[b, h, j, k])"),
        # one for all: what has no such axis is read as it is
        (SCORES, {"Q": "bh"}, "S[b, h, i, j] = sum(k, Q[b, h, i, k] * K[j, k])"),
        (SCORES, {"Q": "h", "K": "b"}, "S[b, h, i, j] = sum(k, Q[h, i, k] * K[b, j, k])"),
        # a head of keys serves a group of query heads, but is its own where no query is read
        (SCORES, {"Q": "h", "K": "g"}, "S[h, i, j] = sum(k, Q[h, i, k] * K[h // group, j, k])"),
        (
            SCORES,
            {"Q": "bh", "K": "bg"},
            "S[b, h, i, j] = sum(k, Q[b, h, i, k] * K[b, h // group, j, k])",
        ),
        ("T[k, j] = K[j, k]", {"K": "bg"}, "T[b, g, k, j] = K[b, g, j, k]"),
        (
            "K[j, k] = sum(d, X[j, d] * W[d, k])",
            {"X": "b", "W": "g"},
            "K[b, g, j, k] = sum(d, X[b, j, d] * W[g, d, k])",
        ),
        # scalars of one head become cells: a slope, a sink
        (
            "B[i, j] = -(slopes * abs(i - j))",
            {"slopes": "h"},
            "B[h, i, j] = -(slopes[h] * abs(i - j))",
        ),
        (
            "M[i, j] = where(j < length, 0, -inf)",
            {"length": "b"},
            "M[b, i, j] = where(j < length[b], 0, -inf)",
        ),
        # an equation that names its head itself, for the slopes or in an index
        ("s[h] = 1 / 2 ** h", {}, "s[h] = 1 / 2 ** h"),
        (
            "C[i, e] = H[e // d_v, i, e % d_v]",
            {"H": "b"},
            "C[b, i, e] = H[b, e // d_v, i, e % d_v]",
        ),
        (
            "R[i, k] = where(k < 1, Q[i, k + 1], Q[i, k - 1])",
            {"Q": "h"},
            "R[h, i, k] = where(k < 1, Q[h, i, k + 1], Q[h, i, k - 1])",
        ),
    ],
)
def test_letters_before_all_others(source: str, leads: Any, lifted: str) -> None:
    equation = add_axes(
        parse_equation(source), {name: tuple(found) for name, found in leads.items()}, ORDER, SHARED
    )
    assert equation == parse_equation(lifted)


@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_the_lifted_equation_is_the_one_equation_for_each_head(
    backend: Backend, data: Any, seed: int
) -> None:
    """Held against numpy.einsum, each array with any of the axes it may have."""
    batch, kv, group = (data.draw(st.integers(1, 3)) for _ in range(3))
    lengths = {"b": batch, "h": kv * group, "g": kv, "i": 2, "j": 3, "k": 4}
    query, key = (
        data.draw(st.sampled_from(["", "b", "h", "bh"])),
        data.draw(st.sampled_from(["", "b", "g", "bg"])),
    )
    random = np.random.default_rng(seed)
    arrays = {
        "Q": random.standard_normal([lengths[axis] for axis in f"{query}ik"]),
        "K": random.standard_normal([lengths[axis] for axis in f"{key}jk"]),
    }
    leads = {"Q": tuple(query), "K": tuple(key)}
    equation = add_axes(parse_equation(SCORES), leads, ORDER, SHARED)
    shapes = {name: array.shape for name, array in arrays.items()}
    number = DTYPES["float64"]
    found = evaluate(
        equation,
        arrays={name: backend.asarray(array, number) for name, array in arrays.items()},
        scalars={"group": float(group)},
        sizes=(
            {**index_sizes(equation, shapes), "h": kv * group}
            if "h" in query
            else index_sizes(equation, shapes)
        ),
        xp=backend.xp,
        dtype=backend.computed(number),
    )
    served, letter = (
        (np.repeat(arrays["K"], group, axis=key.index("g")), key.replace("g", "h"))
        if ("h" in query and "g" in key)
        else (arrays["K"], key)
    )
    target = "".join(axis for axis in ORDER if axis in {*query, *letter})
    expected = np.einsum(f"{query}ik,{letter}jk->{target}ij", arrays["Q"], served)
    assert equation.target.letters == tuple(f"{target}ij")
    np.testing.assert_allclose(backend.to_host(found), expected, rtol=1e-12, atol=1e-12)


@in_one_test(
    ("source", "fixed", "one"),
    [
        ("sum(k, Q[b, h, i, k] * K[b, h // group, j, k])", "bh", "sum(k, Q[i, k] * K[j, k])"),
        ("sum(k, Q[b, h, i, k] * K[b, h // group, j, k])", "h", "sum(k, Q[b, i, k] * K[b, j, k])"),
        (
            "sum(k, Q[b, h, i, k] * K[b, h // group, j, k])",
            "b",
            "sum(k, Q[h, i, k] * K[h // group, j, k])",
        ),
        ("-(slopes[h] * abs(i - j))", "h", "-(slopes * abs(i - j))"),
        ("where(j < length[b], 0, -inf)", "b", "where(j < length, 0, -inf)"),
        ("H[b, e // d_v, i, e % d_v]", "b", "H[e // d_v, i, e % d_v]"),
        ("x + 2", "b", "x + 2"),
    ],
)
def test_one_head_taken_out_again(source: str, fixed: str, one: str) -> None:
    assert fix_axes(parse_expression(source), fixed) == parse_expression(one)


def test_an_index_behind_those_of_leading_axes_keeps_its_axis() -> None:
    """Where a head has one value, the heads side by side are read at the number of the head."""
    assert fix_axes(parse_expression("d_concat[b, i, h]"), {"h": 2}) == parse_expression(
        "d_concat[b, i, 2]"
    )
    assert fix_axes(parse_expression("d_concat[i, h] * Q[h, i, k]"), {"h": 0}) == parse_expression(
        "d_concat[i, 0] * Q[i, k]"
    )


@given(
    leads=st.fixed_dictionaries(
        {"Q": st.sampled_from(["", "b", "h", "bh"]), "K": st.sampled_from(["", "g", "bg"])}
    )
)
def test_taking_out_undoes_lifting(leads: Any) -> None:
    one = parse_equation(SCORES)
    lifted = add_axes(one, {name: tuple(found) for name, found in leads.items()}, ORDER, SHARED)
    assert fix_axes(lifted.expression, ORDER) == one.expression
    assert parse_equation(write_equation(lifted, PYTHON)) == lifted
    assert write(fix_axes(lifted.expression, ()), PYTHON) == write(lifted.expression, PYTHON)


def test_what_is_fixed() -> None:
    assert is_fixed("h", "bh")
    assert is_fixed(parse_expression("h // group"), "h")
    assert not is_fixed(parse_expression("e // d_v"), "bh")
    assert not is_fixed("i", "bh")
