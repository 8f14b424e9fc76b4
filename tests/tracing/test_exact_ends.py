"""Every small problem is worked out exactly in a moment, whatever it has: what grows too long goes
on in decimals.
"""

from __future__ import annotations

import json
import random
from itertools import product
from typing import Any

import numpy as np
import pytest

from attncli.page.derivation import derivation
from attncli.page.gradient import gradient_page
from attncli.page.view import View
from attncli.problem.loader import loads
from attncli.problem.model import Problem
from attncli.render import Style, render
from attncli.tracing import run

SCORES = ("scaled_dot", "dot", "multiplicative", "additive")
POSITIONS: dict[str, Any] = {
    "none": {},
    "rope": {"position": {"rope": {}}},
    "alibi": {"position": {"alibi": True}},
}
MASKS: dict[str, Any] = {
    "none": None,
    "causal": "causal",
    "window": {"window": [1, 0]},
    "lengths": {"lengths": [2]},
    "keep": {"keep": [[True, False, True], [True, True, True], [False, False, False]]},
    "added": [[0, "sqrt(2)", "-1/3"], [0, 0, "-inf"], [-1e9, 0, 1]],
}
SHAPES = {
    "one": (0, 0, 0),
    "heads": (0, 2, 2),
    "grouped": (0, 2, 1),
    "batch": (2, 0, 0),
    "both": (2, 2, 1),
}
REST: dict[str, Any] = {
    "plain": {},
    "capped": {"softcap": 5, "sink": "1/2"},
    "base": {"exp_base": 2},
    "mse": {"loss": "mse"},
    "cross_entropy": {"loss": "cross_entropy"},
}
NUMBERS = (1, 0, "sqrt(2)", "-1/3", 2, 0.1, "sqrt(3)/2", -2, 1, "1/7")


def rows(*shape: int, start: int = 0) -> Any:
    """Numbers as they are typed: fractions, roots and decimals, in turns."""
    numbers = [NUMBERS[(start + 3 * place) % len(NUMBERS)] for place in range(int(np.prod(shape)))]
    return np.array(numbers, dtype=object).reshape(shape).tolist()


def problem(score: str, position: str, mask: str, shape: str, rest: str) -> Problem:
    """Three tokens of four features, two to a head."""
    batch, heads, kv_heads = SHAPES[shape]
    entries = (batch,) if batch else ()
    data: dict[str, Any] = {
        "X": rows(*entries, 3, 4),
        "score": score,
        **POSITIONS[position],
        **REST[rest],
    }
    width, kv_width = 2 * (heads or 1), 2 * (kv_heads or 1)
    data |= {
        "W_Q": rows(4, width, start=1),
        "W_K": rows(4, kv_width, start=2),
        "W_V": rows(4, kv_width, start=4),
    }
    if heads:
        data |= {"heads": heads, "kv_heads": kv_heads, "W_O": rows(width, 2, start=5)}
    if score == "multiplicative":
        data["W_a"] = rows(2, 2)
    if score == "additive":
        data |= {"W_1": rows(2, 2), "W_2": rows(2, 2, start=1), "v": rows(2)}
    if MASKS[mask] is not None:
        data["mask"] = MASKS[mask]
    if rest == "mse":
        data["loss"] = {"kind": "mse", "target": rows(*entries, 3, 2, start=3)}
    if rest == "cross_entropy":
        targets = [0, 1, 0]
        data["loss"] = {"kind": "cross_entropy", "targets": [targets] * batch if batch else targets}
    return loads(json.dumps(data).encode(), "problem.json")


CASES = random.Random(1).sample(list(product(SCORES, POSITIONS, MASKS, SHAPES, REST)), 25)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("gradient", [False, True], ids=["compute", "gradient"])
@pytest.mark.parametrize(("score", "position", "mask", "shape", "rest"), CASES)
def test_every_problem_comes_to_an_end(
    score: str, position: str, mask: str, shape: str, rest: str, gradient: bool
) -> None:
    one = problem(score, position, mask, shape, rest)
    trace, floats = run(one, rounding="exact", gradient=gradient), run(one, gradient=gradient)
    for name in floats:
        np.testing.assert_allclose(trace[name], floats[name], rtol=1e-9, atol=1e-9, err_msg=name)
    page = gradient_page if gradient else derivation
    assert render(page(trace, View()), "table", Style(width=80)).endswith("\n")
