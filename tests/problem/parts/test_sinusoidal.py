"""Sines as positions: what a problem may write, and the numbers by the formula of Vaswani and
others (2017), written again in NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.problem.loader import loads
from attncli.problem.matrix import Scalar
from attncli.problem.parts.positions import Sinusoidal
from tests.cases import in_one_test

Problems = Callable[[str], list[str]]

GIVEN = (
    "X: [[1, 0, 1], [0, 1, 0]]\nW_Q: [[1], [0], [1]]\nW_K: [[0], [1], [1]]\nW_V: [[1], [1], [0]]\n"
)
QKV = "Q: [[1, 0]]\nK: [[1, 0]]\nV: [[1, 2]]\n"
USUAL = Sinusoidal(Scalar(10000, "10000"), "interleaved", 0)


def table(
    rows: int, width: int, base: float = 10000, layout: str = "interleaved", first: int = 0
) -> np.ndarray:
    """PE(pos, 2i) = sin(pos / base^(2i / d_model)), PE(pos, 2i + 1) = cos(pos / base^(2i /
    d_model)); all sines before all cosines in `halves`.
    """
    found = np.empty((rows, width))
    pairs = math.ceil(width / 2)
    for row in range(rows):
        for pair in range(pairs):
            angle = (row + first) / base ** (2 * pair / width)
            places = (2 * pair, 2 * pair + 1) if layout == "interleaved" else (pair, pair + pairs)
            found[row, places[0]] = math.sin(angle)
            if places[1] < width:
                found[row, places[1]] = math.cos(angle)
    return found


def projected(rows: int, width: int, **keys: Any) -> dict[str, Any]:
    random = np.random.default_rng(rows * 10 + width)
    given = {"X": (rows, width), "W_Q": (width, 3), "W_K": (width, 3), "W_V": (width, 2)}
    return {name: random.normal(size=shape) for name, shape in given.items()} | keys


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", USUAL),
        ("{}", USUAL),
        ("{base: 100}", Sinusoidal(Scalar(100, "100"), "interleaved", 0)),
        ("{base: 1e4, layout: interleaved, from: 1}", Sinusoidal(Scalar(1e4, "1e4"), first=1)),
    ],
)
def test_what_is_read(text: str, expected: Sinusoidal) -> None:
    problem = loads(f"{GIVEN}position: {{sinusoidal: {text}}}".encode(), "p.yaml")
    assert problem.positions == (expected,)


def test_false_is_none() -> None:
    assert loads(f"{GIVEN}position: {{sinusoidal: false}}".encode(), "p.yaml").positions == ()


@in_one_test(
    ("text", "message"),
    [
        ("1", "must be true or false, not 1 (write true or false)"),
        ("[1]", "must be a mapping, not a list (write {sinusoidal: true})"),
        ("{base: 0}", "must be greater than 0, not 0 (write a number such as 10000)"),
        (
            "{layout: half}",
            "must be one of interleaved, halves, not half (did you mean halves?)",
        ),
        (
            "{from: -1}",
            "must be a whole number of at least 0, not -1 (write the position of the first row of"
            " X, mostly 0)",
        ),
        (
            "{layout: halves}",
            "a row of X has 3 numbers, which are no two halves (give X an even number of features,"
            " or write layout: interleaved)",
        ),
    ],
)
def test_what_is_wrong(text: str, message: str, problems: Problems) -> None:
    (found,) = problems(f"{GIVEN}position: {{sinusoidal: {text}}}")
    assert found.partition(": position.sinusoidal")[2].partition(": ")[2] == message


def test_there_must_be_an_x(problems: Problems) -> None:
    assert problems(f"{QKV}position: {{sinusoidal: true}}") == [
        "4:12: position.sinusoidal: the sines are added to X, and there is no X (give X with W_Q,"
        " W_K and W_V; of Q, K and V nobody can tell what they are made of)"
    ]


@in_one_test("width", [1, 2, 5, 8])
@in_one_test(
    "said",
    [{}, {"base": 50}, {"from": 3}, {"layout": "halves"}, {"layout": "halves", "from": 1}],
    ids=str,
)
def test_the_formula_of_the_paper(width: int, said: dict[str, Any]) -> None:
    if said.get("layout") == "halves" and width % 2:
        width += 1
    given = projected(6, width)
    trace = attncli.trace(**given, position={"sinusoidal": said})
    words = {"first" if key == "from" else key: value for key, value in said.items()}
    expected = table(6, width, **words)
    np.testing.assert_allclose(trace["PE"], expected, rtol=0, atol=1e-13)
    moved = given["X"] + expected
    np.testing.assert_allclose(trace["X_pos"], moved, rtol=0, atol=1e-13)
    for name in "QKV":
        np.testing.assert_allclose(trace[name], moved @ given[f"W_{name}"], rtol=0, atol=1e-12)


def test_each_head_and_entry_reads_the_sum() -> None:
    random = np.random.default_rng(5)
    x = random.normal(size=(2, 3, 4))
    weights = {name: random.normal(size=(4, 4)) for name in ("W_Q", "W_K", "W_V", "W_O")}
    trace = attncli.trace(X=x, **weights, heads=2, position={"sinusoidal": True}, mask="causal")
    expected = attncli.trace(X=x + table(3, 4), **weights, heads=2, mask="causal")
    np.testing.assert_allclose(trace["output"], expected["output"], rtol=0, atol=1e-12)


def test_a_context_has_no_sines_added() -> None:
    given = projected(3, 4, context=np.random.default_rng(6).normal(size=(2, 4)))
    trace = attncli.trace(**given, position={"sinusoidal": True})
    expected = attncli.trace(**{**given, "X": given["X"] + table(3, 4)})
    np.testing.assert_allclose(trace["output"], expected["output"], rtol=0, atol=1e-12)


def test_behind_a_cache_positions_go_on() -> None:
    past = {"K": [[1, 2, 3], [0, 1, 0]], "V": [[1, 0], [0, 1]]}
    given = projected(3, 4, past=past, mask="causal")
    trace = attncli.trace(**given, position={"sinusoidal": {"from": 1}})
    np.testing.assert_allclose(trace["PE"], table(3, 4, first=3), rtol=0, atol=1e-13)


def test_rope_may_stand_beside() -> None:
    random = np.random.default_rng(9)
    x = random.normal(size=(3, 4))
    weights = {name: random.normal(size=(4, 2)) for name in ("W_Q", "W_K", "W_V")}
    both = {"sinusoidal": {"layout": "halves"}, "rope": True, "alibi": True}
    trace = attncli.trace(X=x, **weights, position=both)
    moved = x + table(3, 4, layout="halves")
    expected = attncli.trace(X=moved, **weights, position={"rope": True, "alibi": True})
    np.testing.assert_allclose(trace["output"], expected["output"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("layout", ["interleaved", "halves"])
def test_gradients_are_those_of_the_sum(layout: str) -> None:
    """What X gets is what it would get if the sines were added before."""
    given = projected(4, 4, mask="causal")
    trace = attncli.trace(**given, position={"sinusoidal": {"layout": layout}}, gradient=True)
    moved = {**given, "X": given["X"] + table(4, 4, layout=layout)}
    expected = attncli.trace(**moved, gradient=True)
    for name in ("d_X", "d_W_Q", "d_W_K", "d_W_V"):
        np.testing.assert_allclose(trace[name], expected[name], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(trace["d_X_pos"], trace["d_X"])


@pytest.mark.parametrize(
    "said",
    [True, {"base": "1/2", "layout": "halves", "from": 2}],
    ids=str,
)
def test_it_is_saved_as_it_was_written(said: Any, tmp_path: Path) -> None:
    problem = attncli.problem(**projected(3, 4), position={"sinusoidal": said})
    attncli.save(problem, tmp_path / "saved.yaml")
    assert attncli.load(tmp_path / "saved.yaml").positions == problem.positions
