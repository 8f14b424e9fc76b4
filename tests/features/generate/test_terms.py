"""Every student of a set has as much to work out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import attncli
from attncli.features.generate.search import MOST_FURTHER_TERMS

SIZES: dict[str, dict[str, Any]] = {
    "usual": {},
    "three tokens": {"dims": (3, 2, 2, 2)},
    "wide": {"dims": (4, 4, 3, 4)},
    "qkv": {"given": "qkv"},
    "causal": {"mask": "causal"},
}


def terms(left: Sequence[Sequence[float]], right: Sequence[Sequence[float]]) -> int:
    """The terms of a product of two matrices that are not zero, counted one by one."""
    return sum(
        row[k] != 0 and right[k][j] != 0
        for row in left
        for j in range(len(right[0]))
        for k in range(len(row))
    )


def products(problem: attncli.Problem) -> Iterator[tuple[str, int]]:
    trace = attncli.trace(problem)
    value = {name: trace[name].tolist() for name in trace}
    for name in "QKV":
        if "X" in value:
            yield name, terms(value["X"], value[f"W_{name}"])
    yield "scores", terms(value["Q"], value["K_T"])
    yield "output", terms(value["weights"], value["V"])


@pytest.mark.long
@pytest.mark.parametrize("kind", SIZES)
def test_products_have_nearly_as_many_terms(kind: str) -> None:
    counts: dict[str, list[int]] = {}
    for problem in attncli.problems("terms", 12, **SIZES[kind]):
        for name, count in products(problem):
            counts.setdefault(name, []).append(count)
    for name, found in counts.items():
        # Those of given numbers are as many.
        furthest = 0 if name in "QKV" else 2 * MOST_FURTHER_TERMS * max(found)
        assert max(found) - min(found) <= furthest, (name, found)


def test_a_set_of_a_single_number_a_row_has_no_zeros() -> None:
    """A zero would make a row of zeros, so no draw with one would be taken."""
    (problem,) = attncli.problems("one", 1, dims=(3, 1, 2, 2), separate=False)
    assert (attncli.trace(problem)["X"] != 0).all()
