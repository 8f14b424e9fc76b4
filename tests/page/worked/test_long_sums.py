"""Long sums worked with whole numbers: the same sentences and signs as with fractions, cell by
cell.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.page.printer import Printer, format_number
from attncli.page.worked.cells import worked
from attncli.page.worked.long_sums import Integers, printed_integers
from attncli.page.worked.worked_line import worked_line
from attncli.problem.loader import loads
from attncli.tracing import run
from attncli.tracing.model import Trace

KINDS: tuple[Callable[[random.Random], str], ...] = (
    lambda drawn: str(drawn.randint(-9, 9)),
    lambda drawn: f"{drawn.uniform(-3, 3):.3f}",
    lambda drawn: drawn.choice(["0", "-0.5", "1e7", "0.1234567", "1e-5"]),
    lambda drawn: drawn.choice(["1/3", "sqrt(2)", "2"]),
)
MASKS = ("", "mask: causal\n", "mask: [causal, {window: [5, 0]}]\n")


def matrix(drawn: random.Random, rows: int, columns: int) -> str:
    kind = drawn.choice(KINDS)
    return str([[kind(drawn) for _ in range(columns)] for _ in range(rows)]).replace("'", "")


def cell_by_cell(trace: Trace, precision: int, *, in_full: bool) -> None:
    """Each line of many is the line that stands alone."""
    printer = Printer(trace, precision)
    for step in trace.computed():
        if step.rule.is_copy:
            continue
        lines = {
            line.label: line for line in worked(printer, step, "cells" if in_full else "rows").lines
        }
        for index in np.ndindex(step.shape):
            if found := lines.get(step.cell_label(index)):
                assert found == worked_line(printer, step, index, in_full=in_full)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("seed", "in_full"), [(0, True), *((seed, False) for seed in range(8))])
def test_as_with_fractions(mask: str, in_full: bool, seed: int) -> None:
    drawn = random.Random(seed)
    given = "".join(f"{name}: {matrix(drawn, 13, 13)}\n" for name in "QKV")
    scale = drawn.choice(["1", "0.01", "1/2"])
    trace = run(loads(f"{given}{mask}scale: {scale}\n".encode(), "drawn.yaml"))
    cell_by_cell(trace, drawn.randint(0, 6), in_full=in_full)


@given(
    st.lists(st.floats(-1e30, 1e30) | st.floats(-2, 2) | st.just(-inf), min_size=1, max_size=9),
    st.integers(0, 9),
)
def test_integers_are_what_is_printed(row: list[float], precision: int) -> None:
    trace = run(loads(b"Q: [[1]]\nK: [[1]]\nV: [[1]]\n", "one.yaml"))
    step = trace.steps["scores"]
    changed = replace(trace, steps={**trace.steps, "scores": replace(step, value=np.array([row]))})
    found = printed_integers(Printer(changed, precision), "scores")
    assert found is not None
    printed = [format_number(number, precision) for number in row]
    numbers = [-inf if text == "-inf" else Fraction(text) for text in printed]
    line = found[0]
    hidden = line.hidden if line.hidden is not None else [False] * len(row)
    assert [
        -inf if out else Fraction(int(unit), 10**line.decimals)
        for unit, out in zip(line.units, hidden, strict=True)
    ] == numbers
    assert line.total() == sum(numbers)
    assert line.largest() == max(numbers)


def test_one_cell_is_read_as_the_whole_array_is() -> None:
    printer = Printer(
        run(
            loads(
                b"Q: [[1, 2]]\nK: [[0, 10000000000000001], [3, 4]]\nV: [[1], [2]]\n", "large.yaml"
            )
        ),
        4,
    )
    whole = printed_integers(printer, "scores")
    for place in range(2):
        cell = printed_integers(printer, "scores", (0, place))
        assert whole is not None
        assert cell is not None
        assert (len(cell), cell.total()) == (1, whole[0, place].total())


@given(
    st.lists(st.tuples(st.integers(-(2**61), 2**61), st.integers(0, 20)), min_size=2, max_size=5)
)
def test_numbers_too_large_for_a_word(drawn: list[tuple[int, int]]) -> None:
    parts = [Integers(np.array([unit]), decimals, abs(unit)) for unit, decimals in drawn]
    true = [Fraction(unit, 10**decimals) for unit, decimals in drawn]
    assert Integers.joined(parts).total() == sum(true)
    assert parts[0].times(parts[1]).total() == true[0] * true[1]
    assert parts[0].plus(parts[1], -1).total() == true[0] - true[1]


def test_zeros_in_units_too_small_for_a_word() -> None:
    zeros = Integers(np.zeros(2, np.int64), 0, 0)
    assert zeros.scaled(30).units.tolist() == [0, 0]
