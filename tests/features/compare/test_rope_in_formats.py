"""Mistakes of RoPE in dumps of every number format: what is named is what was made, and what no
format can show is said.

Each kind of RoPE and each of its mistakes is worked out by NumPy alone, and each step is rounded as
a program rounds it that calculates in the format.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping

import numpy as np
import pytest

import attncli
from attncli.comparison.known_mistakes import explanation
from attncli.features.compare.dumps import Dump, in_order
from attncli.features.compare.operands import InputFile, operands
from attncli.problem.loader import loads
from attncli.tracing.comparison import Comparison, compare
from tests.features.compare.test_noise_in_dumps import FORMATS, Rounding
from tests.reference.mistaken_rope import D_K, ROPE_MISTAKES, SETTINGS, Wrong
from tests.reference.rope_in_arrays import Array, length_of, positions_of, said_of, turning

ROWS = 4
RANDOM = np.random.default_rng(3)
Q, K, V = (RANDOM.normal(size=(ROWS, D_K)).round(2) for _ in range(3))


def float8(array: Array) -> Array:
    """As float8_e4m3 rounds what it can hold: four binary digits."""
    mantissa, exponent = np.frexp(np.asarray(array, np.float64))
    return np.ldexp(np.round(mantissa * 16) / 16, exponent).astype(np.float32)


def exact(array: Array) -> Array:
    return array


ROUNDINGS: Mapping[str, Rounding] = {"float64": exact, **FORMATS, "float8": float8}
# No file has numbers of 8 bits, so what was worked out in them is handed over in more.
SAVED_IN = {"float8": "bfloat16"}
# With all steps, or the output alone.
FIRST = ("Q_rot", "output")


def steps_of(wrong: Wrong, rounded: Callable[[Array], Array]) -> dict[str, Array]:
    """The steps of a program with the mistake in it, from the rotated queries on."""
    said = said_of(SETTINGS[wrong.settings])
    length = length_of(said, ROWS, ROWS, 0)
    right = turning(said, D_K, length)
    made = []
    for x, which, is_wrong in ((Q, "queries", wrong.queries), (K, "keys", wrong.keys)):
        places = positions_of(said, which, 0, ROWS)
        own = rounded(x).astype(np.float64)
        made.append(
            wrong.turned(said, own, places, length) if is_wrong else right.turned(own, places)
        )
    q, k = (rounded(each) for each in made)
    scores = rounded(q @ k.T)
    scaled = rounded(scores / math.sqrt(D_K) * right.factor**wrong.in_scale)
    exp = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = rounded(exp / exp.sum(axis=-1, keepdims=True))
    return {
        "Q_rot": q,
        "K_rot": k,
        "scores": scores,
        "scaled": scaled,
        "weights": weights,
        "output": rounded(weights @ rounded(V)),
    }


def compared(wrong: Wrong, steps: Mapping[str, Array], saved_in: str) -> Comparison:
    keys = {"Q": Q.tolist(), "K": K.tolist(), "V": V.tolist()}
    position = {"position": {"rope": dict(SETTINGS[wrong.settings])}}
    problem = loads(json.dumps(keys | position).encode(), "p.json")
    files = [
        InputFile("p.json", None, None, problem, {}, None),
        InputFile("d.npz", None, None, Dump(in_order(steps), saved_in), {}, None),
    ]
    return compare(*operands(files, 3))


def names(comparison: Comparison) -> tuple[str, ...]:
    found = explanation(comparison)
    return () if found is None else tuple(map(str, found.mistakes))


@pytest.mark.slow
@pytest.mark.parametrize("worked_in", ROUNDINGS)
@pytest.mark.parametrize("wrong", ROPE_MISTAKES, ids=lambda wrong: wrong.name)
def test_what_is_named_was_made(wrong: Wrong, worked_in: str) -> None:
    """Of 46 mistakes, each in five formats. In 16 bits and fewer, some are within what is rounded:
    then no step differs, or none is named.
    """
    steps = steps_of(wrong, ROUNDINGS[worked_in])
    for first in FIRST:
        order = list(steps)
        handed_over = {name: steps[name] for name in order[order.index(first) :]}
        found = compared(wrong, handed_over, SAVED_IN.get(worked_in, worked_in))
        said = names(found)
        assert not said or wrong.name in said, (first, said)
        if worked_in in ("float64", "float32"):
            assert said, first


def test_numbers_that_are_coarser_than_their_format_are_told() -> None:
    """With the tolerance that the page gives, the mistake has its name."""
    wrong = ROPE_MISTAKES[0]
    steps = steps_of(wrong, float8)
    problem = attncli.problem(Q=Q, K=K, V=V, position={"rope": dict(SETTINGS[wrong.settings])})
    found = attncli.compare(problem, steps)
    assert found.mistakes == ()
    page = found.to_markdown()
    assert "have at most 4 binary digits, as float8" in page
    assert "--tolerance 0.0625" in page
    assert attncli.compare(problem, steps, tolerance=0.0625).mistakes == (wrong.name,)


def test_numbers_that_are_short_on_both_sides_are_not_called_coarse() -> None:
    """Whole numbers have few digits, and nobody rounded them."""
    whole = np.arange(1.0, 10.0).reshape(3, 3)
    page = attncli.compare(
        attncli.problem(Q=whole, K=whole, V=whole), {"scores": whole @ whole.T + 1}
    ).to_markdown()
    assert "binary digits" not in page
