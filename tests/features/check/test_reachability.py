"""Which values a cell can come out as, against the corners of the box, samples of it, and
arithmetic by hand.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from attncli.equation.intervals import Interval
from attncli.equation.nodes import Expression, Ref, walk
from attncli.equation.parser import parse_expression
from attncli.features.check.reachability import (
    CELLS_THAT_SHARE,
    HALVINGS,
    NODES_IN_PARTS,
    CellEquation,
    Effort,
    ExpressionGraph,
)
from tests.cases import in_one_test

SOFTMAX = "exp(a[0]) / (exp(a[0]) + exp(a[1]) + exp(a[2]))"
MIXTURE = f"({SOFTMAX}) * v[0] + (exp(a[1]) / (exp(a[0]) + exp(a[1]) + exp(a[2]))) * v[1]"
PRODUCT = "q[0] * k[0] + q[1] * k[1]"


def variables(tree: Expression) -> list[Ref]:
    return sorted({node for node in walk(tree) if isinstance(node, Ref)}, key=str)


def box_of(tree: Expression, middles: list[float], half: float) -> dict[Ref, Interval]:
    return {
        variable: Interval(middle - half, middle + half)
        for variable, middle in zip(variables(tree), middles, strict=True)
    }


def test_a_product_of_two_rows() -> None:
    """1.07 × 0.79 + 0.77 × 0.79 of numbers with two decimals: from 1.065 · 0.785 + 0.765 · 0.785 to
    …
    """
    tree = parse_expression(PRODUCT)
    box = box_of(tree, [0.79, 0.79, 1.07, 0.77], 0.005)
    low, high = (1.065 + 0.765) * 0.785, (1.075 + 0.775) * 0.795
    assert CellEquation(tree, box.__getitem__).reaches(Interval(high - 1e-9, 2))
    assert not CellEquation(tree, box.__getitem__).reaches(Interval(high + 1e-9, 2))
    assert CellEquation(tree, box.__getitem__).reaches(Interval(0, low + 1e-9))
    assert not CellEquation(tree, box.__getitem__).reaches(Interval(0, low - 1e-9))


@in_one_test("seed", range(20))
@in_one_test("half", [0.5, 0.05, 0.005])
def test_a_softmax_reaches_just_what_its_corners_reach(seed: int, half: float) -> None:
    """A share of a row grows with its own score and falls with all others: its extremes are
    corners.
    """
    tree = parse_expression(SOFTMAX)
    middles = np.random.default_rng(seed).normal(size=3).round(2).tolist()
    box = box_of(tree, middles, half)
    ends = itertools.product(*((interval.low, interval.high) for interval in box.values()))
    values = [math.exp(corner[0]) / sum(map(math.exp, corner)) for corner in ends]
    low, high = min(values), max(values)
    margin = (high - low) / 1000
    assert CellEquation(tree, box.__getitem__).reaches(Interval(high - margin, 1))
    assert not CellEquation(tree, box.__getitem__).reaches(Interval(high + margin, 1))
    assert CellEquation(tree, box.__getitem__).reaches(Interval(0, low + margin))
    assert not CellEquation(tree, box.__getitem__).reaches(Interval(0, low - margin))


@in_one_test("seed", range(20))
def test_whatever_a_place_in_the_box_gives_is_reached(seed: int) -> None:
    """An output straight from the scores, in which every score stands four times."""
    random = np.random.default_rng(seed)
    tree = parse_expression(MIXTURE)
    middles = random.normal(size=5).round(2).tolist()
    box = box_of(tree, middles, 0.05)
    for _ in range(20):
        place = {
            variable: float(random.uniform(interval.low, interval.high))
            for variable, interval in box.items()
        }
        value = ExpressionGraph.of(tree).value(place)
        assert CellEquation(tree, box.__getitem__).reaches(Interval(value - 1e-9, value + 1e-9))
    whole = CellEquation(tree, box.__getitem__).range
    assert not CellEquation(tree, box.__getitem__).reaches(
        Interval(whole.high + 1e-6, whole.high + 1)
    )


FORMS = [
    SOFTMAX, MIXTURE, PRODUCT, "2 * tanh(a[0] / 2) + max(a[0], a[1])", "a[0] ** 2 - sqrt(a[1])",
    "cos(a[0]) * a[1] - sin(a[0])", "abs(a[0]) / a[1]", "2 ** a[0]",
]  # fmt: skip


@in_one_test("source", FORMS)
def test_slopes_are_finite_differences(source: str) -> None:
    tree, random, step = parse_expression(source), np.random.default_rng(1), 1e-6
    for _ in range(10):
        place = {variable: float(random.uniform(0.5, 2)) for variable in variables(tree)}
        graph = ExpressionGraph.of(tree)
        slopes = graph.slopes(
            graph.node_ranges({variable: Interval.at(number) for variable, number in place.items()})
        )
        for variable in place:
            more, less = (
                graph.value({**place, variable: place[variable] + way * step}) for way in (1, -1)
            )
            assert slopes[variable].middle == pytest.approx(
                (more - less) / (2 * step), rel=1e-4, abs=1e-6
            )


def test_a_variable_that_cancels_out_is_seen_to() -> None:
    """a - a is 0 whatever a is, though the ranges alone allow -1 to 1."""
    tree = parse_expression("a[0] - a[0]")
    box = {variables(tree)[0]: Interval(0, 1)}
    assert CellEquation(tree, box.__getitem__).reaches(Interval(-0.1, 0.1))
    assert not CellEquation(tree, box.__getitem__).reaches(Interval(0.5, 0.6))


def mixture(keys: int, width: int) -> Expression:
    """An output straight from a query, keys and values: every number of the query stands in it many
    times.
    """
    scores = [" + ".join(f"q[{k}] * k[{j}, {k}]" for k in range(width)) for j in range(keys)]
    total = " + ".join(f"exp({score})" for score in scores)
    return parse_expression(
        " + ".join(f"exp({score}) / ({total}) * v[{j}]" for j, score in enumerate(scores))
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("keys", "width"), [(2, 2), (3, 3), (4, 3)])
def test_what_the_best_of_many_corners_gives_is_reached(keys: int, width: int, seed: int) -> None:
    """Numbers of one decimal, and targets at the very edge of what they can come to."""
    random = np.random.default_rng(seed)
    tree = mixture(keys, width)
    graph, names = ExpressionGraph.of(tree), variables(tree)
    box = box_of(tree, random.normal(size=len(names)).round(1).tolist(), 0.05)
    corners = random.integers(0, 2, size=(500, len(names)))
    values = [
        graph.value(
            {
                name: (box[name].low, box[name].high)[end]
                for name, end in zip(names, ends, strict=True)
            }
        )
        for ends in corners.tolist()
    ]
    for edge in (min(values), max(values)):
        assert CellEquation(tree, box.__getitem__).reaches(Interval(edge - 1e-9, edge + 1e-9))
    whole = CellEquation(tree, box.__getitem__).range
    assert not CellEquation(tree, box.__getitem__).reaches(
        Interval(whole.high + 1e-6, whole.high + 1)
    )


@pytest.mark.parametrize(
    ("part", "whole", "target", "reached"),
    [
        ((0, 0.005), (0, 0.005), (0.98, 0.99), True),  # 0.00 / 0.00 may be anything from 0 on
        ((0, 0.005), (0, 0.005), (-2, -1), False),
        ((1, 2), (0, 4), (0.1, 0.2), False),
        ((1, 2), (-1, 1), (-0.5, 0.5), True),
        ((0, 0), (0, 1), (0.1, 1), False),
    ],
)
def test_a_division_by_nearly_nothing(
    part: tuple[float, float],
    whole: tuple[float, float],
    target: tuple[float, float],
    reached: bool,
) -> None:
    tree = parse_expression("a[0] / b[0]")
    box = dict(zip(variables(tree), (Interval(*part), Interval(*whole)), strict=True))
    assert CellEquation(tree, box.__getitem__).reaches(Interval(*target)) is reached


def test_beyond_the_last_number_nothing_is_reached() -> None:
    """a + a is 2 at most; what rounding outwards lets it be beyond that counts for nothing, once
    nothing may vary.
    """
    tree = parse_expression("a[0] + a[0]")
    box = {variables(tree)[0]: Interval(0, 1)}
    assert CellEquation(tree, box.__getitem__).reaches(Interval(2, 3))
    assert not CellEquation(tree, box.__getitem__).reaches(Interval(math.nextafter(2, 3), 3))


@pytest.mark.parametrize(
    ("low", "high", "reached"), [(0.5, 1.5, False), (1.5, 2.5, True), (-0.5, 0.5, True)]
)
def test_a_climb_that_begins_where_nothing_is_leads_nowhere(
    low: float, high: float, reached: bool
) -> None:
    """(a + b)/a is 1 + b/a: with b from 1 to 2 and a from -1 to 1, in the midst of which it is
    nothing, 2 and more or 0 and less.
    """
    tree = parse_expression("(a[0] + b[0]) / a[0]")
    box = dict(zip(variables(tree), (Interval(-1, 1), Interval(1, 2)), strict=True))
    equation = CellEquation(tree, box.__getitem__)
    assert equation.may_reach(Interval(low, high), Effort()) is reached


def test_what_stays_open_may_be_reached_and_is_not_said_to_be() -> None:
    """Twelve numbers, each less itself, are 0 together; but no hundred halvings of their ranges
    show it.
    """
    equation = each_less_itself(12)
    assert equation.may_reach(Interval(0.5, 0.6), Effort())
    assert not equation.reaches(Interval(0.5, 0.6))
    assert equation.reaches(Interval(-0.1, 0.1))
    assert equation.may_reach(Interval(-0.1, 0.1), Effort())


def each_less_itself(numbers: int) -> CellEquation:
    """So many numbers, each less itself: 0 together, whatever they are."""
    tree = parse_expression(" + ".join(f"(a[{at}] - a[{at}])" for at in range(numbers)))
    box = {variable: Interval(0, 1) for variable in variables(tree)}
    return CellEquation(tree, box.__getitem__)


@pytest.mark.long
@pytest.mark.parametrize("numbers", [12, pytest.param(60, marks=pytest.mark.slow)])
def test_cells_in_doubt_share_one_effort_however_many_and_long_they_are(numbers: int) -> None:
    """A solution with more of them takes no more work, and what comes first does not take it
    all.
    """
    equation, effort = each_less_itself(numbers), Effort()
    nodes = len(equation.graph.nodes)
    assert equation.may_reach(Interval(0.5, 0.6), effort)
    first = NODES_IN_PARTS - effort.nodes
    assert first <= min(HALVINGS * nodes, NODES_IN_PARTS / CELLS_THAT_SHARE)
    for _ in range(20):
        assert equation.may_reach(Interval(0.5, 0.6), effort)
    assert 0 <= effort.nodes < NODES_IN_PARTS


@pytest.mark.parametrize("joined", ["and", "or"])
def test_conditions_that_are_joined_choose(joined: str) -> None:
    """a[0] is 0.45 to 0.55, and a[1] is 1.95 to 2.05: the first condition holds, the other not."""
    tree = parse_expression(f"where(a[0] < 1 {joined} a[1] < 1, a[0], a[1])")
    box = box_of(tree, [0.5, 2], 0.05)
    inside, outside = Interval(0.5, 0.51), Interval(2, 2.01)
    if joined == "and":
        inside, outside = outside, inside
    assert CellEquation(tree, box.__getitem__).reaches(inside)
    assert not CellEquation(tree, box.__getitem__).reaches(outside)
